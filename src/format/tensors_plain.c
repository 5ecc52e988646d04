/*
 * Layout plain: a safetensors file. The length of a header in eight bytes, the
 * header, which is JSON with the place of each tensor and spaces after it so
 * that the tensors start at a multiple of 4096, and the tensors back to back.
 */
#include "format/tensors_impl.h"

#include <endian.h>
#include <string.h>

enum {
    PLAIN_ALIGN = 4096,
    ENTRY_MAX = 256,
    PLAIN_GROUP = PR_TENSOR_TEXT - ENTRY_MAX
};
enum { LENGTH, ENTRIES, SPACES, PLAIN_CONTENTS };

static const char before[] = "{\"__metadata__\":{\"format\":\"pt\"}";
static const char dtype[] = "\":{\"dtype\":\"", shape[] = "\",\"shape\":[",
                  offsets[] = "],\"data_offsets\":[", after[] = "]}";

/* ,"name":{"dtype":"F16","shape":[3],"data_offsets":[0,6]} */
static size_t entry_bytes(const struct pr_tensor *t, uint64_t from, uint64_t to)
{
    return 2 + strlen(t->name) + strlen(dtype) +
           strlen(pr_tensor_type_safe_name(t->type)) + strlen(shape) +
           pr_tensor_digits(t->elements) + strlen(offsets) +
           pr_tensor_digits(from) + 1 + pr_tensor_digits(to) + strlen(after);
}

static void tensor_plain_put_entry(struct pr_tensor_walk *w,
                                   const struct pr_tensor *t, uint64_t from,
                                   uint64_t to)
{
    pr_tensor_put_str(w, ",\"");
    pr_tensor_put_str(w, t->name);
    pr_tensor_put_str(w, dtype);
    pr_tensor_put_str(w, pr_tensor_type_safe_name(t->type));
    pr_tensor_put_str(w, shape);
    pr_tensor_put_number(w, t->elements);
    pr_tensor_put_str(w, offsets);
    pr_tensor_put_number(w, from);
    pr_tensor_put_str(w, ",");
    pr_tensor_put_number(w, to);
    pr_tensor_put_str(w, after);
}

/* The length of the header has to be known first. */
static void tensor_plain_start(struct pr_tensor_walk *w)
{
    uint64_t bytes = 8 + strlen(before) + 1, at = 0;

    for (uint64_t i = 0; i < w->list->count; i++) {
        struct pr_tensor t;
        uint64_t end;

        w->list->at(w->list->ctx, i, &t);
        end = at + pr_tensor_bytes(&t);
        bytes += entry_bytes(&t, at, end);
        at = end;
    }
    w->extent = (bytes + PLAIN_ALIGN - 1) / PLAIN_ALIGN * PLAIN_ALIGN;
}

static void put_entries(struct pr_tensor_walk *w)
{
    while (w->next < w->list->count && w->len < PLAIN_GROUP) {
        uint64_t from = w->sum;
        struct pr_tensor t;

        w->list->at(w->list->ctx, w->next++, &t);
        w->sum += pr_tensor_bytes(&t);
        tensor_plain_put_entry(w, &t, from, w->sum);
    }
    if (w->next == w->list->count)
        w->step = SPACES;
}

static void put_spaces(struct pr_tensor_walk *w)
{
    size_t n = (size_t)(w->extent - w->at); /* what is left, less than ALIGN */

    memset(w->text, ' ', n);
    w->text[0] = '}';
    w->len = n;
    w->next = 0;
    w->step = PLAIN_CONTENTS;
}

static int tensor_plain_next(struct pr_tensor_walk *w,
                             struct pr_tensor_piece *ret, struct pr_err *err)
{
    (void)err;
    ret->text = w->text;
    if (w->step == LENGTH) {
        uint64_t n = htole64(w->extent - 8);

        pr_tensor_put(w, &n, 8);
        pr_tensor_put_str(w, before);
        w->step = ENTRIES;
    } else if (w->step == ENTRIES) {
        put_entries(w);
    } else if (w->step == SPACES) {
        put_spaces(w);
    } else if (w->next < w->list->count) {
        ret->text = NULL;
        ret->tensor = w->next++;
        w->list->at(w->list->ctx, ret->tensor, &ret->info);
        ret->bytes = pr_tensor_bytes(&ret->info);
        return 1;
    } else {
        return 0;
    }
    ret->bytes = w->len;
    return 1;
}

const struct pr_tensor_layout pr_tensor_layout_plain = {
    .name = "plain",
    .start = tensor_plain_start,
    .next = tensor_plain_next,
};
