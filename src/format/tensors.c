/* Types of tensors, and what the walks of all layouts have in common. */
#include "format/tensors.h"

#include "format/tensors_impl.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static const struct {
    const char *name, *safe, *torch;
    uint64_t one;
    size_t bytes;
} types[] = {
#define X(id, name, bytes, safe, torch, one) {name, safe, torch, one, bytes},
    PR_TENSOR_TYPES(X)
#undef X
};

static const struct pr_tensor_layout *const layouts[] = {
    &pr_tensor_layout_plain,
    &pr_tensor_layout_torch,
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

const char *pr_tensor_type_safe_name(enum pr_tensor_type t)
{
    return types[t].safe;
}

const char *pr_tensor_type_torch_name(enum pr_tensor_type t)
{
    return types[t].torch;
}

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

/* ---- text */

void pr_tensor_put(struct pr_tensor_walk *w, const void *bytes, size_t len)
{
    assert(len <= sizeof w->text - w->len);
    memcpy(w->text + w->len, bytes, len);
    w->len += len;
}

void pr_tensor_put_str(struct pr_tensor_walk *w, const char *s)
{
    pr_tensor_put(w, s, strlen(s));
}

size_t pr_tensor_digits(uint64_t n)
{
    size_t digits = 1;

    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

void pr_tensor_put_number(struct pr_tensor_walk *w, uint64_t n)
{
    char digit[20], *p = digit + sizeof digit;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    pr_tensor_put(w, p, (size_t)(digit + sizeof digit - p));
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
