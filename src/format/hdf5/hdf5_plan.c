/* The layout of a file, from its specification. */
#include "format/hdf5/hdf5_plan.h"

#include <string.h>

enum {
    CHUNK_WHOLE = 4 << 20, /* a sample up to this size is one chunk */
    CHUNK_GOOD = 1 << 20,  /* larger ones are cut to about this */
};

/* As DLIO does it: the first axis is divided over the data sets, and an axis
 * of one that this leaves is dropped. */
static int hdf5_plan_split(const struct pr_file_spec *spec,
                           struct pr_hdf5_plan *p, struct pr_err *err)
{
    uint64_t k = spec->dataset_count ? spec->dataset_count : 1;
    unsigned from = 0;

    if (k > 1 &&
        (!spec->shape.ndim || spec->shape.dim[0] % k || !spec->shape.dim[0]))
        return pr_fail(err, PR_E_CONF, "dataset.hdf5.num_dset_per_record",
                       "the first dimension of a sample is not a multiple "
                       "of %llu",
                       (unsigned long long)k);
    p->sets = k;
    p->dim[p->ndim++] = spec->samples;
    if (k > 1 && spec->shape.dim[0] == k)
        from = 1;
    for (unsigned i = from; i < spec->shape.ndim; i++)
        p->dim[p->ndim++] = spec->shape.dim[i];
    if (k > 1 && !from)
        p->dim[1] /= k;
    return PR_OK;
}

static int hdf5_plan_row_bytes(const struct pr_file_spec *spec,
                               struct pr_hdf5_plan *p, struct pr_err *err)
{
    uint64_t n = p->element_bytes, all;

    for (unsigned i = 1; i < p->ndim; i++)
        if (__builtin_mul_overflow(n, p->dim[i], &n))
            n = UINT64_MAX;
    p->row_bytes = n;
    if (!n || n == UINT64_MAX || !spec->samples ||
        __builtin_mul_overflow(n, spec->samples, &all) ||
        __builtin_mul_overflow(all, p->sets, &all) || all > INT64_MAX / 4)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "hdf5 cannot hold samples of this shape");
    return PR_OK;
}

static int set_max(const struct pr_file_spec *spec, struct pr_hdf5_plan *p,
                   struct pr_err *err)
{
    if (!spec->max.ndim)
        return PR_OK;
    if (spec->max.ndim + 1 != p->ndim)
        return pr_fail(err, PR_E_CONF, "dataset.hdf5.max_shape",
                       "it has %u dimensions but a sample's data set has %u",
                       spec->max.ndim, (unsigned)p->ndim - 1);
    p->max[0] = p->dim[0];
    for (unsigned i = 1; i < p->ndim; i++) {
        p->max[i] = spec->max.dim[i - 1];
        if (p->max[i] < p->dim[i])
            return pr_fail(err, PR_E_CONF, "dataset.hdf5.max_shape",
                           "dimension %u is %llu, less than a sample's %llu", i,
                           (unsigned long long)p->max[i],
                           (unsigned long long)p->dim[i]);
    }
    return PR_OK;
}

/* One sample, or what is left of it when its first axes are cut. */
static void choose_chunk(struct pr_hdf5_plan *p)
{
    uint64_t bytes = p->row_bytes;

    memcpy(p->chunk, p->dim, sizeof p->chunk);
    p->chunk[0] = 1;
    if (bytes <= CHUNK_WHOLE)
        return;
    for (unsigned i = 1; i < p->ndim && bytes > CHUNK_GOOD; i++) {
        uint64_t rest = bytes / p->dim[i]; /* of one step on this axis */

        p->chunk[i] = rest < CHUNK_GOOD ? CHUNK_GOOD / rest : 1;
        if (p->chunk[i] > p->dim[i])
            p->chunk[i] = p->dim[i];
        bytes = rest * p->chunk[i];
    }
}

static int take_chunk(const struct pr_file_spec *spec, struct pr_hdf5_plan *p,
                      struct pr_err *err)
{
    if (spec->chunk.ndim != p->ndim)
        return pr_fail(err, PR_E_CONF, "dataset.hdf5.chunk_dims",
                       "it has %u dimensions but the data set has %u, the "
                       "axis of samples included",
                       spec->chunk.ndim, (unsigned)p->ndim);
    for (unsigned i = 0; i < p->ndim; i++) {
        uint64_t most = p->max[i] ? p->max[i] : p->dim[i];

        p->chunk[i] = spec->chunk.dim[i];
        if (!p->chunk[i] || p->chunk[i] > most)
            return pr_fail(err, PR_E_CONF, "dataset.hdf5.chunk_dims",
                           "dimension %u is %llu, not between 1 and %llu", i,
                           (unsigned long long)p->chunk[i],
                           (unsigned long long)most);
    }
    return PR_OK;
}

static int set_chunk(const struct pr_file_spec *spec, struct pr_hdf5_plan *p,
                     struct pr_err *err)
{
    int rc = PR_OK;

    if (!spec->chunk.ndim && !spec->max.ndim && !p->compression)
        return PR_OK;
    if (spec->chunk.ndim)
        rc = take_chunk(spec, p, err);
    else
        choose_chunk(p);
    p->chunk_bytes = p->element_bytes;
    for (unsigned i = 0; !rc && i < p->ndim; i++)
        if (__builtin_mul_overflow(p->chunk_bytes, p->chunk[i],
                                   &p->chunk_bytes) ||
            p->chunk_bytes >= UINT32_MAX)
            rc = pr_fail(err, PR_E_CONF, "dataset.hdf5.chunk_dims",
                         "a chunk has 4 GiB or more");
    return rc;
}

int pr_hdf5_plan_init(const struct pr_file_spec *spec, struct pr_hdf5_plan *ret,
                      struct pr_err *err)
{
    struct pr_hdf5_plan p;
    int rc;

    memset(&p, 0, sizeof p); /* all of it: plans are compared as bytes */
    if (spec->compression != PR_PLAIN && spec->compression != PR_GZIP &&
        spec->compression != PR_LZF)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "hdf5 has the compressions none, gzip and lzf");
    p.dtype = spec->dtype;
    p.element_bytes = pr_dtype_bytes(spec->dtype);
    p.compression = spec->compression;
    p.level = spec->compression == PR_GZIP ? (uint64_t)spec->level : 0;
    p.has_labels = spec->labels_inside;
    if (spec->compression == PR_GZIP && (spec->level < 1 || spec->level > 9))
        return pr_fail(err, PR_E_CONF, "dataset.compression_level",
                       "it must be 1 to 9");
    rc = hdf5_plan_split(spec, &p, err);
    if (!rc)
        rc = hdf5_plan_row_bytes(spec, &p, err);
    if (!rc)
        rc = set_max(spec, &p, err);
    if (!rc)
        rc = set_chunk(spec, &p, err);
    if (!rc)
        *ret = p;
    return rc;
}

uint64_t pr_hdf5_plan_chunks(const struct pr_hdf5_plan *p)
{
    uint64_t n = 1;

    if (!p->chunk[0])
        return 0;
    for (unsigned a = 0; a < p->ndim; a++)
        if (__builtin_mul_overflow(n, pr_hdf5_plan_grid(p, a), &n))
            return UINT64_MAX;
    return n;
}

/* Measured: a header and a link are below 400 bytes, an entry of an index
 * below 24, and an index has pages and blocks that are not full. */
uint64_t pr_hdf5_plan_bytes(const struct pr_hdf5_plan *p)
{
    enum { BASE = 64 << 10, SET = 4096, ENTRY = 64 };
    uint64_t chunks = pr_hdf5_plan_chunks(p), each, all;

    if (!p->chunk[0]) {
        each = p->row_bytes * p->dim[0];
    } else {
        uint64_t bytes = p->compression == PR_GZIP
                             ? pr_deflate_bound(p->chunk_bytes)
                             : p->chunk_bytes;
        if (__builtin_mul_overflow(bytes + ENTRY, chunks, &each))
            return UINT64_MAX;
    }
    if (__builtin_add_overflow(each, SET, &each) ||
        __builtin_mul_overflow(each, p->sets, &all) ||
        __builtin_add_overflow(all, BASE, &all) ||
        __builtin_add_overflow(all, p->dim[0] * 8 * p->has_labels, &all))
        return UINT64_MAX;
    return all;
}
