/*
 * Files of tensors: types of tensors, the layouts plain and torch, and what the
 * walks of both have in common.
 */
#include "format/tensor_file.h"

#include "base/codec/checksum.h"
#include "base/names.h"
#include "format/zip.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

/* ---- types */

static const struct {
    const char *name, *safe, *torch;
    uint64_t one;
    size_t bytes;
} types[] = {
#define X(id, name, bytes, safe, torch, one) {name, safe, torch, one, bytes},
    PR_TENSOR_TYPES(X)
#undef X
};

size_t pr_tensor_type_bytes(enum pr_tensor_type t)
{
    return types[t].bytes;
}

const char *pr_tensor_type_name(enum pr_tensor_type t)
{
    return types[t].name;
}

bool pr_tensor_type_find(const char *name, enum pr_tensor_type *ret)
{
    for (int i = 0; i < PR_TENSOR_TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *ret = (enum pr_tensor_type)i;
            return true;
        }
    }
    return false;
}

uint64_t pr_tensor_type_one(enum pr_tensor_type t)
{
    uint64_t word = types[t].one;

    for (size_t n = types[t].bytes; n < sizeof word; n *= 2)
        word |= word << 8 * n;
    return htole64(word);
}

static const char *tensor_type_safe_name(enum pr_tensor_type t)
{
    return types[t].safe;
}

const char *pr_tensor_type_torch_name(enum pr_tensor_type t)
{
    return types[t].torch;
}

/* ---- text of a walk: a layout leaves room for what it adds */

static void tensor_put(struct pr_tensor_walk *w, const void *bytes, size_t len)
{
    assert(len <= sizeof w->text - w->len);
    memcpy(w->text + w->len, bytes, len);
    w->len += len;
}

static void tensor_put_str(struct pr_tensor_walk *w, const char *s)
{
    tensor_put(w, s, strlen(s));
}

/* decimal */
static void tensor_put_number(struct pr_tensor_walk *w, uint64_t n)
{
    char digit[20], *p = digit + sizeof digit;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    tensor_put(w, p, (size_t)(digit + sizeof digit - p));
}

/* ---- layout plain */

/* A safetensors file. The length of a header in eight bytes, the header, which
 * is JSON with the place of each tensor and spaces after it so that the tensors
 * start at a multiple of 4096, and the tensors back to back. */

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
           strlen(tensor_type_safe_name(t->type)) + strlen(shape) +
           pr_count_digits(t->elements) + strlen(offsets) +
           pr_count_digits(from) + 1 + pr_count_digits(to) + strlen(after);
}

static void tensor_plain_put_entry(struct pr_tensor_walk *w,
                                   const struct pr_tensor *t, uint64_t from,
                                   uint64_t to)
{
    tensor_put_str(w, ",\"");
    tensor_put_str(w, t->name);
    tensor_put_str(w, dtype);
    tensor_put_str(w, tensor_type_safe_name(t->type));
    tensor_put_str(w, shape);
    tensor_put_number(w, t->elements);
    tensor_put_str(w, offsets);
    tensor_put_number(w, from);
    tensor_put_str(w, ",");
    tensor_put_number(w, to);
    tensor_put_str(w, after);
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

        tensor_put(w, &n, 8);
        tensor_put_str(w, before);
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

/* ---- layout torch */

/*
 * The archive that torch.save writes and torch.load reads. A ZIP
 * file with members that are stored: a pickle of a dict of tensors, which names
 * a member with contents for each, these members, and a few short ones that
 * tell the version. Contents start at multiples of 64, and where they do
 * follows from the sizes alone, as torch.load may rely on.
 *
 * A CRC comes after the contents it is of, so a file is made in one go.
 */

#define ROOT "archive/"

enum {
    TORCH_ALIGN = 64,
    ITEM_MAX = 512,
    SMALL_MAX =
        4 * (30 + 64 + 28 + 4 + TORCH_ALIGN + 64 + PR_ZIP_DESCRIPTOR_MAX),
    TORCH_GROUP = PR_TENSOR_TEXT - SMALL_MAX - ITEM_MAX,
};
enum { PICKLE, ITEMS, HEADERS, TORCH_CONTENTS, DIRECTORY, END };

/* ---- torch: members */

/* m->at and m->bytes of a member whose contents come next. */
static void open_member(struct pr_tensor_walk *w, const char *name,
                        uint64_t bytes)
{
    struct pr_zip_member m = {.bytes = bytes, .packed = bytes};

    m.at = w->record = w->at + w->len;
    m.flags = PR_ZIP_UTF8 | (bytes ? PR_ZIP_DESCRIPTOR : 0);
    w->len += pr_zip_build_streamed(&m, name, TORCH_ALIGN, w->text + w->len);
    w->crc = 0;
}

/* Its contents are there, and their CRC is in w->crc. */
static void close_member(struct pr_tensor_walk *w, const char *name,
                         uint64_t bytes)
{
    struct pr_zip_member m = {
        .at = w->record, .bytes = bytes, .packed = bytes, .crc = w->crc};
    uint8_t entry[PR_ZIP_ENTRY_MAX];
    size_t n;

    m.flags = PR_ZIP_UTF8 | (bytes ? PR_ZIP_DESCRIPTOR : 0);
    if (bytes)
        w->len += pr_zip_build_descriptor(&m, w->text + w->len);
    n = pr_zip_build_entry(&m, name, entry);
    if (!w->is_counted)
        pr_buf_add(&w->later, entry, n);
    w->extent += n;
    w->members++;
    w->sum = pr_hash_mix(w->sum ^ w->crc);
}

static void tensor_torch_put_member(struct pr_tensor_walk *w, const char *name,
                                    const char *text)
{
    size_t n = strlen(text);

    open_member(w, name, n);
    tensor_put(w, text, n);
    w->crc = pr_crc32(0, text, n);
    close_member(w, name, n);
}

static void tensor_torch_name_member(char out[static 48], uint64_t tensor)
{
    snprintf(out, 48, ROOT "data/%llu", (unsigned long long)tensor);
}

/* ---- torch: the pickle, protocol 2. What every tensor needs is remembered
 * with the first one. */

static void tensor_torch_put_text(struct pr_tensor_walk *w, const char *text,
                                  size_t n)
{
    uint32_t len = htole32((uint32_t)n);

    tensor_put_str(w, "X");
    tensor_put(w, &len, 4);
    tensor_put(w, text, n);
}

static void put_decimal(struct pr_tensor_walk *w, uint64_t n)
{
    uint32_t len = htole32((uint32_t)pr_count_digits(n));

    tensor_put_str(w, "X");
    tensor_put(w, &len, 4);
    tensor_put_number(w, n);
}

/* In the shortest form: BININT1, BININT2, BININT, LONG1. */
static void tensor_torch_put_int(struct pr_tensor_walk *w, uint64_t n)
{
    uint64_t le = htole64(n);

    if (n < 1 << 8) {
        tensor_put_str(w, "K");
        tensor_put(w, &le, 1);
    } else if (n < 1 << 16) {
        tensor_put_str(w, "M");
        tensor_put(w, &le, 2);
    } else if (n <= INT32_MAX) {
        tensor_put_str(w, "J");
        tensor_put(w, &le, 4);
    } else { /* nine bytes: the sign is in the last one */
        tensor_put_str(w, "\x8a\x09");
        tensor_put(w, &le, 8);
        tensor_put(w, "", 1);
    }
}

/* What was put just now is number slot; or it is put again. */
static void tensor_torch_put_memo(struct pr_tensor_walk *w, bool is_first,
                                  char slot)
{
    char op[2] = {is_first ? 'q' : 'h', slot}; /* BINPUT, BINGET */

    tensor_put(w, op, 2);
}

static void put_shared_text(struct pr_tensor_walk *w, bool is_first, char slot,
                            const char *text)
{
    if (is_first)
        tensor_torch_put_text(w, text, strlen(text));
    tensor_torch_put_memo(w, is_first, slot);
}

static void put_shared_global(struct pr_tensor_walk *w, bool is_first,
                              char slot, const char *op)
{
    if (is_first)
        tensor_put_str(w, op);
    tensor_torch_put_memo(w, is_first, slot);
}

/* name: _rebuild_tensor_v2(storage, 0, (elements,), (1,), False, {}) */
static void tensor_torch_put_item(struct pr_tensor_walk *w,
                                  const struct pr_tensor *t, uint64_t i)
{
    tensor_torch_put_text(w, t->name, strlen(t->name));
    put_shared_global(w, !i, 0, "ctorch._utils\n_rebuild_tensor_v2\n");
    tensor_put_str(w, "((");
    put_shared_text(w, !i, 1, "storage");
    tensor_put_str(w, "ctorch\n");
    tensor_put_str(w, pr_tensor_type_torch_name(t->type));
    tensor_put_str(w, "\n");
    put_decimal(w, i);
    put_shared_text(w, !i, 2, "cpu");
    tensor_torch_put_int(w, t->elements);
    tensor_put_str(w, "tQ"); /* persistent id */
    tensor_torch_put_int(w, 0);
    tensor_torch_put_int(w, t->elements);
    tensor_put_str(w, "\x85");
    tensor_torch_put_int(w, 1);
    tensor_put_str(w, "\x85\x89");
    put_shared_global(w, !i, 3, "ccollections\nOrderedDict\n");
    tensor_put_str(w, ")RtR");
}

static void put_pickle(struct pr_tensor_walk *w)
{
    size_t from = w->len;

    if (w->step == PICKLE)
        tensor_put_str(w, "\x80\x02}(");
    while (w->next < w->list->count && w->len < TORCH_GROUP) {
        struct pr_tensor t;

        w->list->at(w->list->ctx, w->next, &t);
        tensor_torch_put_item(w, &t, w->next++);
    }
    w->step = ITEMS;
    if (w->next == w->list->count) {
        tensor_put_str(w, "u.");
        w->step = HEADERS;
    }
    if (!w->is_counted)
        w->crc = pr_crc32(w->crc, w->text + from, w->len - from);
    w->pickled += w->len - from;
}

/* A part of it; the last one with the short members that come next. */
static void put_first_members(struct pr_tensor_walk *w)
{
    if (w->step == PICKLE)
        open_member(w, ROOT "data.pkl", 1); /* 1: not empty */
    put_pickle(w);
    if (w->step != HEADERS)
        return;
    close_member(w, ROOT "data.pkl", w->pickled);
    tensor_torch_put_member(w, ROOT ".format_version", "1");
    tensor_torch_put_member(w, ROOT ".storage_alignment", "64");
    tensor_torch_put_member(w, ROOT "byteorder", "little");
    w->next = 0;
}

/* ---- torch: the rest */

/* torch.save: digits from all names and CRCs, to tell files apart. */
static void put_last_members(struct pr_tensor_walk *w)
{
    char id[41];

    tensor_torch_put_member(w, ROOT "version", "3\n");
    snprintf(id, sizeof id, "%020llu%020llu", (unsigned long long)w->sum,
             (unsigned long long)pr_hash_mix(w->sum + 1));
    tensor_torch_put_member(w, ROOT ".data/serialization_id", id);
    w->step = DIRECTORY;
}

/* Between the contents of two tensors. */
static void put_headers(struct pr_tensor_walk *w)
{
    char name[48];

    if (w->next) {
        tensor_torch_name_member(name, w->next - 1);
        close_member(w, name, pr_tensor_bytes(&w->info));
    }
    if (w->next == w->list->count) {
        put_last_members(w);
        return;
    }
    w->list->at(w->list->ctx, w->next, &w->info);
    tensor_torch_name_member(name, w->next);
    open_member(w, name, pr_tensor_bytes(&w->info));
    w->step = TORCH_CONTENTS;
}

static void give_contents(struct pr_tensor_walk *w, struct pr_tensor_piece *ret)
{
    ret->text = NULL;
    ret->info = w->info;
    ret->bytes = pr_tensor_bytes(&w->info);
    ret->tensor = w->next++;
    w->step = HEADERS;
}

static int give_directory(struct pr_tensor_walk *w, struct pr_tensor_piece *ret,
                          struct pr_err *err)
{
    struct pr_zip zip = {w->at, w->extent, w->members};
    uint8_t end[PR_ZIP_END_MAX];
    size_t n = pr_zip_build_end(&zip, end);

    if (!w->is_counted)
        pr_buf_add(&w->later, end, n);
    if (!pr_buf_ok(&w->later))
        return pr_fail_nomem(err);
    ret->text = w->later.data;
    ret->bytes = w->extent + n;
    w->step = END;
    return 1;
}

static int tensor_torch_next(struct pr_tensor_walk *w,
                             struct pr_tensor_piece *ret, struct pr_err *err)
{
    if (w->step == END)
        return 0;
    if (w->step == DIRECTORY)
        return give_directory(w, ret, err);
    if (w->step == TORCH_CONTENTS) {
        give_contents(w, ret);
        return 1;
    }
    if (w->step == HEADERS)
        put_headers(w);
    else
        put_first_members(w);
    ret->text = w->text;
    ret->bytes = w->len;
    return 1;
}

const struct pr_tensor_layout pr_tensor_layout_torch = {
    .name = "torch",
    .wants_crc = true,
    .next = tensor_torch_next,
};

/* ---- layouts */

static const struct pr_tensor_layout *const layouts[] = {
    &pr_tensor_layout_plain,
    &pr_tensor_layout_torch,
};

const struct pr_tensor_layout *pr_tensor_layout_find(const char *name)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(layouts[i]->name, name) == 0)
            return layouts[i];
    return NULL;
}

bool pr_tensor_needs_crc(const struct pr_tensor_layout *l)
{
    return l->wants_crc;
}

/* ---- walks */

void pr_tensor_walk_init(struct pr_tensor_walk *w,
                         const struct pr_tensor_layout *l,
                         const struct pr_tensor_list *list)
{
    memset(w, 0, offsetof(struct pr_tensor_walk, text));
    w->layout = l;
    w->list = list;
    w->later = (struct pr_buf)PR_BUF_INIT(SIZE_MAX / 2);
    if (l->start)
        l->start(w);
}

void pr_tensor_walk_done(struct pr_tensor_walk *w)
{
    pr_buf_free(&w->later);
}

int pr_tensor_walk_next(struct pr_tensor_walk *w, struct pr_tensor_piece *ret,
                        struct pr_err *err)
{
    struct pr_tensor_piece piece;
    int rc;

    do {
        w->len = 0;
        piece.bytes = 0;
        rc = w->layout->next(w, &piece, err);
    } while (rc == 1 && !piece.bytes);
    if (rc != 1)
        return rc;
    w->at += piece.bytes;
    *ret = piece;
    return 1;
}

void pr_tensor_walk_crc(struct pr_tensor_walk *w, uint32_t crc)
{
    w->crc = crc;
}

uint64_t pr_tensor_file_bytes(const struct pr_tensor_layout *l,
                              const struct pr_tensor_list *list)
{
    struct pr_tensor_piece piece;
    struct pr_tensor_walk w;
    uint64_t bytes;

    pr_tensor_walk_init(&w, l, list);
    w.is_counted = true; /* nothing is kept, so nothing can fail */
    while (pr_tensor_walk_next(&w, &piece, NULL) == 1)
        continue;
    bytes = w.at;
    pr_tensor_walk_done(&w);
    return bytes;
}
