/*
 * What a sample is. A picture: what a format of pictures gives; bytes in rows
 * of columns, perhaps of channels. Numbers: as many as the model's input has.
 * All else does not fit, and is never cut or repeated until it does.
 */
#include "base/mem.h"
#include "loader/augment.h"

#include <stdio.h>
#include <string.h>

/* ---- shapes */

static void augment_format_shape(const struct pr_shape *s, char *out,
                                 size_t cap)
{
    int at = snprintf(out, cap, "[");

    for (unsigned i = 0; i < s->ndim && at > 0 && (size_t)at < cap; i++)
        at += snprintf(out + at, cap - (size_t)at, i ? ", %llu" : "%llu",
                       (unsigned long long)s->dim[i]);
    if (at > 0 && (size_t)at < cap)
        (void)snprintf(out + at, cap - (size_t)at, "]");
}

static struct pr_shape augment_wanted_shape(const struct pr_augment *a)
{
    struct pr_shape s = {.ndim = a->dims};

    memcpy(s.dim, a->shape, a->dims * sizeof *s.dim);
    return s;
}

static bool is_same_sample_shape(const struct pr_shape *x,
                                 const struct pr_shape *y)
{
    return x->ndim == y->ndim &&
           memcmp(x->dim, y->dim, x->ndim * sizeof *x->dim) == 0;
}

static int augment_refuse_shape(const struct pr_augment *a,
                                const struct pr_sample *s,
                                const struct pr_shape *shape, const char *where,
                                struct pr_err *err)
{
    struct pr_shape want = augment_wanted_shape(a);
    char have_text[128], want_text[128];

    augment_format_shape(shape, have_text, sizeof have_text);
    augment_format_shape(&want, want_text, sizeof want_text);
    (void)pr_fail(err, PR_E_CONF, where,
                  "a sample of %s %s does not fit the model's input %s",
                  pr_dtype_name(s->dtype), have_text, want_text);
    if (a->dims == 3)
        return pr_hint(err,
                       "make the data with dataset.record_dims=%s, or with "
                       "uint8 in two dimensions (dataset.record_length_bytes) "
                       "or [rows, columns, 3], which is a picture",
                       want_text);
    return pr_hint(err, "make the data with dataset.record_dims=%s", want_text);
}

/* ---- order in memory */

/* From the first dimension fastest to the last one fastest. */
static void sample_to_row_major(const struct pr_shape *s, size_t each,
                                const uint8_t *from, uint8_t *to)
{
    uint64_t at[PR_MAX_DIMS] = {0}, step[PR_MAX_DIMS] = {0}, n = 1, off = 0;
    unsigned last = s->ndim - 1;

    for (unsigned i = 0; i < s->ndim; i++) {
        step[i] = n;
        n *= s->dim[i];
    }
    for (uint64_t k = 0; k < n; k++, to += each) {
        unsigned i = last;

        memcpy(to, from + off * each, each);
        off += step[i];
        while (++at[i] == s->dim[i] && i > 0) {
            off -= at[i] * step[i];
            at[i--] = 0;
            off += step[i];
        }
    }
}

static int in_c_order(struct pr_augment *a, const struct pr_sample *s,
                      const struct pr_shape *shape, const void **ret,
                      struct pr_err *err)
{
    *ret = s->data;
    if (!s->fortran || shape->ndim < 2 || !s->size)
        return PR_OK;
    if (s->size > a->turned_room) {
        pr_free(a->turned);
        a->turned = pr_alloc_aligned(64, s->size);
        a->turned_room = a->turned ? s->size : 0;
    }
    if (!a->turned)
        return pr_fail_nomem(err);
    sample_to_row_major(shape, pr_dtype_bytes(s->dtype), s->data, a->turned);
    *ret = a->turned;
    return PR_OK;
}

/* ---- what it is */

static bool as_picture(const struct pr_augment *a, const struct pr_sample *s,
                       const struct pr_shape *shape, struct pr_picture *ret)
{
    struct pr_shape want = augment_wanted_shape(a);
    bool is_flat = shape->ndim == 2;

    if (a->dims != 3 || (s->dtype != PR_U8 && s->dtype != PR_U16) ||
        (!is_flat && shape->ndim != 3))
        return false;
    if (!a->is_image &&
        (is_flat ? pr_shape_count(shape) == a->count
                 : is_same_sample_shape(shape, &want) || shape->dim[2] > 4))
        return false;
    *ret =
        (struct pr_picture){.rows = shape->dim[0],
                            .columns = shape->dim[1],
                            .channels = is_flat ? 1 : (unsigned)shape->dim[2],
                            .is_16 = s->dtype == PR_U16,
                            .is_cmyk = a->is_cmyk,
                            .part = s->part};
    return true;
}

static void choose_crop(const struct pr_augment *a, uint64_t rows,
                        uint64_t columns, struct pr_rng *rng,
                        struct pr_crop *ret)
{
    if (a->random)
        pr_crop_draw(rng, rows, columns, ret);
    else
        pr_crop_middle(rows, columns, a->shape[1], a->shape[2], ret);
}

void pr_augment_part(const struct pr_augment *a, const struct pr_shape *whole,
                     struct pr_rng *rng, struct pr_part *ret)
{
    struct pr_crop crop;

    choose_crop(a, whole->dim[0], whole->dim[1], rng, &crop);
    pr_crop_part(a, &crop, whole->dim[0], whole->dim[1], ret);
}

static int give_picture(struct pr_augment *a, const struct pr_picture *p,
                        struct pr_rng *rng, const char *where, float *out,
                        struct pr_err *err)
{
    struct pr_crop crop;
    int rc;

    choose_crop(a, p->rows, p->columns, rng, &crop);
    rc = pr_augment_picture(a, p, &crop, out, err);
    if (rc == PR_E_CONF && err)
        return pr_reword(err, where, "%s", err->msg);
    return rc;
}

/* Elements that should be there. */
static uint64_t sample_count_elements(const struct pr_sample *s,
                                      const struct pr_shape *shape)
{
    if (!s->part.rows)
        return pr_shape_count(shape);
    return s->part.rows * s->part.columns *
           (shape->ndim > 2 ? shape->dim[2] : 1);
}

int pr_augment_sample(struct pr_augment *a, const struct pr_sample *s,
                      struct pr_rng *rng, const char *where, float *out,
                      struct pr_err *err)
{
    const struct pr_shape *shape = &s->shape;
    struct pr_picture picture;
    const void *data;
    int rc;

    if (shape->ndim == 1 && shape->dim[0] == pr_shape_count(&a->as))
        shape = &a->as;
    /* What the shape promises is there: formats see to it, this is so that a
     * mistake of theirs does not become one of ours. */
    if (sample_count_elements(s, shape) > s->size / pr_dtype_bytes(s->dtype))
        return augment_refuse_shape(a, s, shape, where, err);
    rc = in_c_order(a, s, shape, &data, err);
    if (rc)
        return rc;
    if (as_picture(a, s, shape, &picture)) {
        picture.data = data;
        return give_picture(a, &picture, rng, where, out, err);
    }
    if (s->part.rows || pr_shape_count(shape) != a->count)
        return augment_refuse_shape(a, s, shape, where, err);
    pr_augment_numbers(a, data, s->dtype, out);
    return PR_OK;
}
