/* Where the records of a TFRecord file are, in bounded memory. */
#include "base/mem.h"
#include "format/tfrecord.h"

void pr_tfrecord_offsets_clear(struct pr_tfrecord_offsets *o)
{
    o->len = 0;
    o->stride = 1;
}

void pr_tfrecord_offsets_done(struct pr_tfrecord_offsets *o)
{
    pr_free(o->at);
    *o = (struct pr_tfrecord_offsets){0};
}

/* Every second one is enough, from now on. */
static void tfrecord_thin_offsets(struct pr_tfrecord_offsets *o)
{
    size_t n = 0;

    for (size_t i = 0; i < o->len; i += 2)
        o->at[n++] = o->at[i];
    o->len = n;
    o->stride *= 2;
}

static int tfrecord_grow_offsets(struct pr_tfrecord_offsets *o,
                                 struct pr_err *err)
{
    size_t cap = o->cap ? 2 * o->cap : 128;
    uint64_t *at = pr_realloc(o->at, cap * sizeof *at);

    if (!at)
        return pr_fail_nomem(err);
    o->at = at;
    o->cap = cap;
    return PR_OK;
}

int pr_tfrecord_offsets_add(struct pr_tfrecord_offsets *o, uint64_t i,
                            uint64_t off, struct pr_err *err)
{
    int rc = PR_OK;

    if (i != o->len * o->stride)
        return PR_OK;
    if (o->len == PR_TFRECORD_OFFSETS_MAX) /* even: i is one that stays */
        tfrecord_thin_offsets(o);
    else if (o->len == o->cap)
        rc = tfrecord_grow_offsets(o, err);
    if (!rc)
        o->at[o->len++] = off;
    return rc;
}

uint64_t pr_tfrecord_offsets_near(const struct pr_tfrecord_offsets *o,
                                  uint64_t i, uint64_t *ret_off)
{
    uint64_t n = i / o->stride;

    if (n >= o->len)
        n = o->len - 1;
    *ret_off = o->at[n];
    return n * o->stride;
}
