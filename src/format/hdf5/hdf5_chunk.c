/* Chunks: where they are, their bytes, and what is in them. */
#include "base/mem.h"
#include "format/hdf5/hdf5_impl.h"

#include <string.h>

static struct pr_hdf5_reader *hdf5_chunk_state(struct pr_reader *r)
{
    return r->data;
}

uint8_t *pr_hdf5_buf_grow(struct pr_hdf5_buf *b, uint64_t bytes)
{
    uint8_t *p;

    if (bytes <= b->cap && b->data)
        return b->data;
    pr_free(b->data);
    b->cap = 0;
    p = bytes < SIZE_MAX - PR_IO_ALIGN
            ? pr_alloc_aligned(PR_IO_ALIGN, (size_t)bytes + 1)
            : NULL;
    b->data = p;
    if (p)
        b->cap = (size_t)bytes;
    return p;
}

static uint64_t hdf5_axis_chunks(const struct pr_hdf5_set *s, unsigned axis)
{
    return s->dim[axis] / s->chunk[axis] + (s->dim[axis] % s->chunk[axis] != 0);
}

/* The first element of a chunk. */
void pr_hdf5_chunk_start(const struct pr_hdf5_set *s, uint64_t index,
                         uint64_t *at)
{
    for (unsigned a = s->ndim; a-- > 0;) {
        at[a] = index % hdf5_axis_chunks(s, a) * s->chunk[a];
        index /= hdf5_axis_chunks(s, a);
    }
}

/* ---- where a chunk is */

/* libhdf5 reads the chunk, as it thinks; the driver notes where from. That is
 * one look into the index: H5Dget_chunk_info_by_coord goes through all of it,
 * and leaves the user block out of the address. */
int pr_hdf5_find_place_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                            uint64_t index, struct pr_hdf5_place *ret,
                            struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_chunk_state(r);
    uint64_t at[PR_HDF5_AXES];
    hsize_t start[PR_HDF5_AXES], len = 0;
    uint32_t mask = 0;
    uint8_t nothing;
    herr_t rc;

    pr_hdf5_chunk_start(s, index, at);
    for (unsigned a = 0; a < s->ndim; a++)
        start[a] = at[a];
    h->io.is_learning = true;
    h->io.has_raw = false;
    rc = h->h5->H5Dread_chunk(s->id, H5P_DEFAULT, start, &mask, &nothing);
    h->io.is_learning = false;
    if (rc >= 0 && h->io.has_raw) {
        *ret =
            (struct pr_hdf5_place){h->io.raw_off, h->io.raw_len, mask, false};
        return PR_OK;
    }
    h->h5->H5Eclear2(H5E_DEFAULT);
    if (h->h5->H5Dget_chunk_info_by_coord(s->id, start, NULL, NULL, &len) < 0 ||
        len)
        return pr_hdf5_io_fail(&h->io, r->name, err, "a chunk cannot be found");
    *ret = (struct pr_hdf5_place){.is_missing = true};
    return PR_OK;
}

static int hdf5_locate_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                             uint64_t index, struct pr_hdf5_place *ret,
                             struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_chunk_state(r);

    if (!h->lay.has_places)
        return pr_hdf5_find_place(r, s, index, ret, err);
    *ret = h->lay.place[s->first_place + index];
    return PR_OK;
}

/* ---- bytes of the object */

/* *ret points to the bytes: in memory already, or in h->raw. */
static int hdf5_fetch_chunk(struct pr_reader *r, uint64_t off, uint64_t len,
                            const uint8_t **ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_chunk_state(r);
    uint8_t *buf;

    if (off > r->obj.size || len > r->obj.size - off)
        return pr_reader_bad(r, off, err, "a chunk ends after the file");
    if (off <= h->io.head_len && len <= h->io.head_len - off) {
        *ret = h->io.head + off;
        return PR_OK;
    }
    buf = pr_hdf5_buf_grow(&h->raw, len + PR_IO_SLACK);
    if (!buf)
        return pr_fail_nomem(err);
    return pr_object_fetch(&r->obj, off, (size_t)len, buf, h->raw.cap, ret,
                           err);
}

int pr_hdf5_read_bytes(struct pr_reader *r, uint64_t off, uint64_t len,
                       uint8_t *dst, struct pr_err *err)
{
    const struct pr_hdf5_io *io = &hdf5_chunk_state(r)->io;

    if (off > r->obj.size || len > r->obj.size - off)
        return pr_reader_bad(r, off, err, "a chunk ends after the file");
    if (off <= io->head_len && len <= io->head_len - off) {
        memcpy(dst, io->head + off, (size_t)len);
        return PR_OK;
    }
    return pr_object_read(&r->obj, off, (size_t)len, dst, err);
}

/* ---- chunks */

/* The filters can make so many bytes of what is stored, before memory is
 * asked for. */
static int hdf5_check_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                            const struct pr_hdf5_place *at, struct pr_err *err)
{
    uint64_t most;

    if (at->off > r->obj.size || at->len > r->obj.size - at->off)
        return pr_reader_bad(r, at->off, err, "a chunk ends after the file");
    if (!__builtin_mul_overflow(at->len, pr_hdf5_filter_ratio(s), &most) &&
        most < s->chunk_bytes)
        return pr_reader_bad(
            r, at->off, err, "%llu bytes cannot be a chunk of %llu",
            (unsigned long long)at->len, (unsigned long long)s->chunk_bytes);
    return pr_reader_limit(r, s->chunk_bytes, err);
}

static bool is_unfiltered(const struct pr_hdf5_set *s, uint32_t mask)
{
    uint32_t all = (uint32_t)((1u << s->filter_count) - 1);

    return (mask & all) == all;
}

static int hdf5_decode_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                             const struct pr_hdf5_place *at, uint8_t *dst,
                             struct pr_err *err)
{
    const uint8_t *raw;
    int rc;

    if (is_unfiltered(s, at->mask) && at->len == s->chunk_bytes)
        return pr_hdf5_read_bytes(r, at->off, at->len, dst, err);
    rc = hdf5_fetch_chunk(r, at->off, at->len, &raw, err);
    return rc ? rc : pr_hdf5_undo_filters(r, s, at, raw, dst, err);
}

/* Decodes to dst, or else to memory that the stored bytes justify. */
static int hdf5_read_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                           uint64_t index, uint8_t *dst,
                           struct pr_hdf5_buf *buf, struct pr_err *err)
{
    struct pr_hdf5_place at;
    int rc = hdf5_locate_chunk(r, s, index, &at, err);

    if (rc || at.is_missing)
        return rc ? rc : 1;
    rc = hdf5_check_chunk(r, s, &at, err);
    if (rc)
        return rc;
    if (buf)
        dst = pr_hdf5_buf_grow(buf, s->chunk_bytes);
    if (!dst)
        return pr_fail_nomem(err);
    return hdf5_decode_chunk(r, s, &at, dst, err);
}

int pr_hdf5_chunk_read(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, uint8_t *dst, struct pr_err *err)
{
    return hdf5_read_chunk(r, s, index, dst, NULL, err);
}

int pr_hdf5_chunk_load(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, const uint8_t **ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_chunk_state(r);
    struct pr_hdf5_kept_chunk *k = &h->kept[s->slot];
    int rc;

    if (k->set == s && k->index == index) {
        *ret = k->chunk.data;
        return PR_OK;
    }
    k->set = NULL;
    rc = hdf5_read_chunk(r, s, index, NULL, &k->chunk, err);
    if (rc)
        return rc;
    k->set = s;
    k->index = index;
    *ret = k->chunk.data;
    return PR_OK;
}

int pr_hdf5_read_stored(struct pr_reader *r, const struct pr_hdf5_set *s,
                        uint64_t row, uint8_t *dst, size_t cap, size_t *ret_len,
                        struct pr_err *err)
{
    uint64_t begin = row / s->chunk[0] * s->row_chunks;
    size_t used = 0;

    for (uint64_t i = begin; i < begin + s->row_chunks; i++) {
        struct pr_hdf5_place at;
        int rc = hdf5_locate_chunk(r, s, i, &at, err);

        if (rc)
            return rc;
        if (at.is_missing)
            continue;
        if (at.len > cap - used)
            return pr_reader_bad(r, at.off, err,
                                 "a chunk is larger stored than not");
        rc = pr_hdf5_read_bytes(r, at.off, at.len, dst + used, err);
        if (rc)
            return rc;
        used += (size_t)at.len;
    }
    *ret_len = used;
    return PR_OK;
}
