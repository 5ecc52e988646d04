/* Samples of an array; see npy_array.h. */
#include "format/npy_array.h"

#include <string.h>

enum { NO_AXIS = -1, WRONG = -2 };

/* The axis that counts n samples. */
static int find_axis(const struct pr_shape *s, uint64_t n)
{
    if (!n)
        return NO_AXIS;
    if (s->ndim && s->dim[s->ndim - 1] == n)
        return (int)s->ndim - 1;
    if (s->ndim && s->dim[0] == n)
        return 0;
    return n == 1 ? NO_AXIS : WRONG;
}

static int bad_count(const struct pr_npy *npy, const struct pr_reader *r,
                     uint64_t at, uint64_t n, struct pr_err *err)
{
    const struct pr_shape *s = &npy->shape;

    if (!s->ndim)
        return pr_reader_bad(r, at, err,
                             "a single number was found, not %llu samples",
                             (unsigned long long)n);
    return pr_reader_bad(
        r, at, err,
        "neither the last nor the first dimension, %llu and %llu, counts %llu "
        "samples",
        (unsigned long long)s->dim[s->ndim - 1], (unsigned long long)s->dim[0],
        (unsigned long long)n);
}

static void drop_axis(struct pr_shape *s, unsigned axis)
{
    s->ndim--;
    for (unsigned i = axis; i < s->ndim; i++)
        s->dim[i] = s->dim[i + 1];
}

int pr_npy_array_init(struct pr_npy_array *a, const struct pr_npy *npy,
                      const struct pr_reader *r, uint64_t at, uint64_t n,
                      struct pr_err *err)
{
    int axis = find_axis(&npy->shape, n);
    bool is_slowest;

    if (axis == WRONG)
        return bad_count(npy, r, at, n, err);
    *a = (struct pr_npy_array){
        .npy = *npy, .samples = n ? n : 1, .shape = npy->shape, .step = 1};
    is_slowest = npy->fortran ? axis == (int)npy->shape.ndim - 1 : axis == 0;
    if (axis != NO_AXIS)
        drop_axis(&a->shape, (unsigned)axis);
    a->count = npy->count / a->samples;
    a->bytes = npy->data_bytes / a->samples;
    if (axis != NO_AXIS && !is_slowest && a->count > 1)
        a->step = n;
    a->fortran = npy->fortran && a->shape.ndim > 1;
    return PR_OK;
}

/* All of ret but the label; the bytes lie in the file's order. */
static void npy_array_sample(const struct pr_npy_array *a, const void *data,
                             struct pr_sample *ret)
{
    *ret = (struct pr_sample){
        .data = data,
        .size = (size_t)a->bytes,
        .dtype = a->npy.dtype,
        .shape = a->shape,
        .fortran = a->fortran,
    };
}

void pr_npy_array_native(const struct pr_npy_array *a, const uint8_t *data,
                         uint8_t *buf, struct pr_sample *ret)
{
    if (a->npy.is_swapped) {
        if (a->bytes)
            memmove(buf, data, (size_t)a->bytes);
        pr_dtype_swap(a->npy.dtype, buf, (size_t)a->bytes);
        data = buf;
    }
    npy_array_sample(a, data, ret);
}

/* ---- picking out */

#define PICK(bytes)                \
    for (size_t k = 0; k < n; k++) \
    memcpy(out + k * (bytes), in + k * step, bytes)

/* n elements, step bytes from one to the next. */
static void npy_pick_elements(uint8_t *out, const uint8_t *in, size_t n,
                              size_t step, size_t bytes)
{
    switch (bytes) {
    case 1:
        PICK(1);
        break;
    case 2:
        PICK(2);
        break;
    case 4:
        PICK(4);
        break;
    default:
        PICK(8);
        break;
    }
}

int pr_npy_array_pick(const struct pr_npy_array *a, uint64_t i, uint8_t *out,
                      int (*get)(void *ctx, uint64_t off, size_t len,
                                 const uint8_t **ret, struct pr_err *err),
                      void *ctx, struct pr_err *err)
{
    size_t el = pr_dtype_bytes(a->npy.dtype);
    uint64_t step = a->step * el, off = i * el, left = a->count;

    while (left) {
        /* As many as a piece holds; the last one's successor is not needed. */
        uint64_t n = step < PR_NPY_PIECE ? (PR_NPY_PIECE - el) / step + 1 : 1;
        const uint8_t *in;
        int rc;

        if (n > left)
            n = left;
        rc = get(ctx, off, (size_t)((n - 1) * step + el), &in, err);
        if (rc)
            return rc;
        npy_pick_elements(out, in, (size_t)n, (size_t)step, el);
        out += n * el;
        off += n * step;
        left -= n;
    }
    return PR_OK;
}

/* ---- as they lie in a file */

struct place {
    struct pr_reader *r;
    const struct pr_window *win;
    uint64_t base;
};

static int get_piece(void *ctx, uint64_t off, size_t len, const uint8_t **ret,
                     struct pr_err *err)
{
    struct place *p = ctx;
    uint8_t *buf;

    if (pr_window_is_whole(p->win, p->r)) {
        *ret = p->win->data + p->base + off;
        return PR_OK;
    }
    buf = pr_reader_scratch(p->r, PR_NPY_PIECE + PR_IO_SLACK);
    if (!buf)
        return pr_fail_nomem(err);
    return pr_object_fetch(&p->r->obj, p->base + off, len, buf,
                           p->r->scratch_cap, ret, err);
}

int pr_npy_array_read(const struct pr_npy_array *a, struct pr_reader *r,
                      const struct pr_window *win, uint64_t base, uint64_t i,
                      uint8_t *buf, size_t cap, struct pr_sample *ret,
                      struct pr_err *err)
{
    uint64_t off = base + i * a->bytes;
    struct place place = {r, win, base};
    const uint8_t *data = buf;
    int rc = pr_npy_array_check_room(r, cap, err);

    if (rc)
        return rc;
    if (a->step > 1)
        rc = pr_npy_array_pick(a, i, buf, get_piece, &place, err);
    else if (pr_window_is_whole(win, r))
        data = win->data + off;
    else
        rc = pr_object_fetch(&r->obj, off, (size_t)a->bytes, buf, cap, &data,
                             err);
    if (!rc)
        pr_npy_array_native(a, data, buf, ret);
    return rc;
}

int pr_npy_array_check_room(const struct pr_reader *r, size_t cap,
                            struct pr_err *err)
{
    if (cap >= r->need)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, r->name,
                   "a buffer of %zu bytes is too small, %zu are needed", cap,
                   r->need);
}
