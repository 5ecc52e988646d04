/*
 * What libhdf5 says about one data set, checked against the file's size; and
 * whether that holds for the next file, too.
 */
#include "format/hdf5/hdf5_layout.h"

#include "format/hdf5/hdf5_impl.h"

#include <string.h>

/* ---- whether a file is like the one before; see struct pr_hdf5_trail */

/* A header of version 2 can have four times of four bytes, after its first six
 * bytes; a checksum ends it. */
enum { TIMES_AT = 6, TIMES = 16, SUM = 4, HAS_TIMES = 0x20, HAS_PHASES = 0x10 };

/* Bytes of a header with times that starts at p; 0: it is none. */
static size_t header_len(const uint8_t *p, size_t len)
{
    static const uint8_t start[5] = "OHDR\2";
    size_t at = TIMES_AT + TIMES, width;
    uint64_t body = 0;

    if (len < at + 4 + 8 || memcmp(p, start, sizeof start) != 0 ||
        !(p[5] & HAS_TIMES))
        return 0;
    if (p[5] & HAS_PHASES)
        at += 4;
    width = (size_t)1 << (p[5] & 3);
    for (size_t i = width; i-- > 0;)
        body = body << 8 | p[at + i];
    at += width;
    return body <= len && at + body + SUM <= len ? at + (size_t)body + SUM : 0;
}

/* Files written one after another, by DLIO for one, differ in the times of
 * their root group, and so in its checksum. Neither says anything about
 * samples; all other bytes must be the same. */
static bool hdf5_is_range_like(const uint8_t *have, const uint8_t *want,
                               size_t len)
{
    size_t end = header_len(want, len), from = TIMES_AT + TIMES;

    if (!end)
        return memcmp(have, want, len) == 0;
    return memcmp(have, want, TIMES_AT) == 0 &&
           memcmp(have + from, want + from, end - SUM - from) == 0 &&
           memcmp(have + end, want + end, len - end) == 0;
}

static int hdf5_is_range_unchanged(struct pr_reader *r,
                                   const struct pr_hdf5_range *g,
                                   struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    const uint8_t *want = h->trail->bytes + g->at;
    uint8_t *have;
    int rc;

    if (g->off <= h->io.head_len && g->len <= h->io.head_len - g->off)
        return hdf5_is_range_like(h->io.head + g->off, want, g->len);
    have = pr_hdf5_buf_grow(&h->raw, g->len);
    if (!have)
        return pr_fail_nomem(err);
    rc = pr_object_read(&r->obj, g->off, g->len, have, err);
    return rc ? rc : hdf5_is_range_like(have, want, g->len);
}

int pr_hdf5_recall_layout(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    int rc = h->is_known && h->known_size == r->obj.size;

    for (unsigned i = 0; rc == 1 && i < h->trail->count; i++)
        rc = hdf5_is_range_unchanged(r, &h->trail->range[i], err);
    return rc;
}

/* ---- one data set */

/* No filter of ours makes more of a byte, and no sample is larger than all
 * bytes of the file can become. */
enum { RATIO_MAX = 1032, EXTRA = 1 << 20 };

static uint64_t bytes_max(uint64_t size)
{
    uint64_t n;

    if (__builtin_mul_overflow(size, RATIO_MAX, &n) ||
        __builtin_add_overflow(n, EXTRA, &n))
        return UINT64_MAX;
    return n;
}

static const char *learn_shape(const struct pr_hdf5_api *h5, hid_t id,
                               struct pr_hdf5_set *s)
{
    hid_t space = h5->H5Dget_space(id);
    hsize_t dims[H5S_MAX_RANK];
    int n = h5->H5Sget_simple_extent_ndims(space);

    if (n > 0 && n <= H5S_MAX_RANK)
        n = h5->H5Sget_simple_extent_dims(space, dims, NULL);
    h5->H5Sclose(space);
    if (n <= 0)
        return "has no axis of samples";
    if (n > PR_HDF5_AXES)
        return "has too many dimensions";
    s->ndim = (unsigned)n;
    for (int i = 0; i < n; i++)
        s->dim[i] = dims[i];
    return NULL;
}

/* The bytes of a row, and that the file can hold all of them. */
static const char *count_bytes(struct pr_hdf5_set *s, uint64_t size)
{
    uint64_t n = s->type.bytes;

    for (unsigned i = 1; i < s->ndim; i++)
        if (__builtin_mul_overflow(n, s->dim[i], &n))
            return "is larger than memory";
    s->row_bytes = n;
    if (!n)
        return "has samples without elements";
    s->out_bytes = n;
    if (s->type.is_odd &&
        __builtin_mul_overflow(n / s->type.bytes, pr_dtype_bytes(s->type.dtype),
                               &s->out_bytes))
        return "is larger than memory";
    if (__builtin_mul_overflow(n, s->dim[0], &n) || n > bytes_max(size))
        return "has more elements than the file can hold";
    if (s->type.is_blob && s->ndim == PR_HDF5_AXES)
        return "has too many dimensions";
    return NULL;
}

static bool learn_filters(const struct pr_hdf5_api *h5, hid_t list,
                          struct pr_hdf5_set *s)
{
    int n = h5->H5Pget_nfilters(list);

    if (n < 0 || n > PR_HDF5_FILTERS)
        return false;
    for (int i = 0; i < n; i++) {
        unsigned flags, values[8] = {0};
        size_t count = sizeof values / sizeof *values;
        int id = h5->H5Pget_filter2(list, (unsigned)i, &flags, &count, values,
                                    0, NULL, NULL);

        if (!pr_hdf5_is_filter_known(id))
            return false;
        if (id == H5Z_FILTER_SHUFFLE) {
            if (s->shuffle_bytes && s->shuffle_bytes != values[0])
                return false;
            s->shuffle_bytes = values[0];
        }
        s->filter[i] = id;
    }
    s->filter_count = (unsigned)n;
    return true;
}

static const char *learn_chunks(const struct pr_hdf5_api *h5, hid_t list,
                                uint64_t size, struct pr_hdf5_set *s)
{
    hsize_t dims[H5S_MAX_RANK];
    uint64_t bytes = s->type.bytes;

    if (h5->H5Pget_chunk(list, H5S_MAX_RANK, dims) != (int)s->ndim)
        return "has chunks of another rank";
    s->chunk_count = 1;
    s->row_chunks = 1;
    for (unsigned i = 0; i < s->ndim; i++) {
        uint64_t n;

        if (!dims[i] || __builtin_mul_overflow(bytes, dims[i], &bytes))
            return "has chunks of no size";
        s->chunk[i] = dims[i];
        n = s->dim[i] / dims[i] + (s->dim[i] % dims[i] != 0);
        if (__builtin_mul_overflow(s->chunk_count, n, &s->chunk_count))
            return "has more chunks than the file can hold";
        if (i)
            s->row_chunks *= n; /* at most chunk_count, or there are none */
    }
    /* Each has an entry of some bytes in an index. */
    if (s->chunk_count > size)
        return "has more chunks than the file can hold";
    s->chunk_bytes = bytes;
    s->way = learn_filters(h5, list, s) ? PR_HDF5_CHUNKED : PR_HDF5_LIBRARY;
    return NULL;
}

static const char *learn_flat(uint64_t off, uint64_t size,
                              struct pr_hdf5_set *s)
{
    uint64_t end;

    if (__builtin_add_overflow(off, s->row_bytes * s->dim[0], &end) ||
        end > size)
        return "ends after the file";
    s->offset = off;
    s->way = PR_HDF5_FLAT;
    return NULL;
}

/* libhdf5 does not look whether there are as many bytes as elements. */
static const char *learn_compact(const struct pr_hdf5_api *h5, hid_t id,
                                 struct pr_hdf5_set *s)
{
    return h5->H5Dget_storage_size(id) < s->row_bytes * s->dim[0]
               ? "has more elements than bytes"
               : NULL;
}

static const char *learn_list(const struct pr_hdf5_api *h5, hid_t id,
                              hid_t list, uint64_t size, struct pr_hdf5_set *s)
{
    s->way = PR_HDF5_LIBRARY;
    switch (h5->H5Pget_layout(list)) {
    case H5D_CHUNKED:
        return learn_chunks(h5, list, size, s);
    case H5D_COMPACT:
        return learn_compact(h5, id, s);
    case H5D_CONTIGUOUS: /* never written: all is the fill value */
        return h5->H5Pget_external_count(list) == 0
                   ? NULL
                   : "keeps its elements in other files";
    default:
        return "keeps its elements in other files";
    }
}

static const char *learn_storage(const struct pr_hdf5_api *h5, hid_t id,
                                 uint64_t size, struct pr_hdf5_set *s)
{
    haddr_t off = h5->H5Dget_offset(id);
    const char *why;
    hid_t list;

    /* Only one that is in one piece in this file has an offset; making the
     * list of properties takes longer than all the rest. */
    if (off != HADDR_UNDEF)
        return learn_flat(off, size, s);
    list = h5->H5Dget_create_plist(id);
    if (list < 0)
        return "has properties that cannot be read";
    why = learn_list(h5, id, list, size, s);
    h5->H5Pclose(list);
    return why;
}

const char *pr_hdf5_read_set(const struct pr_hdf5_api *h5, hid_t id,
                             uint64_t size, struct pr_hdf5_set *s)
{
    const char *why;
    hid_t type;

    memset(s, 0, sizeof *s);
    s->id = id;
    why = learn_shape(h5, id, s);
    if (why)
        return why;
    type = h5->H5Dget_type(id);
    if (type < 0)
        return "has a broken type";
    why = pr_hdf5_read_type(h5, type, &s->type);
    h5->H5Tclose(type);
    if (!why)
        why = count_bytes(s, size);
    return why ? why : learn_storage(h5, id, size, s);
}
