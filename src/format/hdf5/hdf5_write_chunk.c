/*
 * Chunks: gathered from the contents of their samples, compressed here and
 * handed to libhdf5 whole, which only says where they go.
 */
#include "base/mem.h"
#include "format/hdf5/hdf5_write.h"

#include <string.h>

/* ---- contents */

void pr_hdf5_content_reset(struct pr_hdf5_writer *h)
{
    memset(h->block_sample, 0xff, sizeof h->block_sample);
}

/* The block that holds an offset; kept, for the next row of a chunk, or the
 * next chunk, wants its other elements. */
static const uint8_t *block_at(struct pr_hdf5_writer *h, uint64_t sample,
                               uint64_t number)
{
    size_t slot = number % PR_HDF5_BLOCKS;
    uint8_t *p = h->blocks + slot * PR_CONTENT_BLOCK;
    uint64_t off = number * PR_CONTENT_BLOCK;
    uint64_t left = h->plan.row_bytes * h->plan.sets - off;

    if (h->block_sample[slot] != sample || h->block_number[slot] != number) {
        pr_content_fill(h->spec, sample, off, p,
                        left < PR_CONTENT_BLOCK ? (size_t)left
                                                : PR_CONTENT_BLOCK);
        h->block_sample[slot] = sample;
        h->block_number[slot] = number;
    }
    return p;
}

void pr_hdf5_content_fill(struct pr_hdf5_writer *h, uint64_t sample,
                          uint64_t off, uint8_t *dst, size_t len)
{
    while (len) {
        size_t skip = off % PR_CONTENT_BLOCK;
        size_t n = PR_CONTENT_BLOCK - skip;

        if (!skip && len >= n && (uintptr_t)dst % 8 == 0) {
            n = len / PR_CONTENT_BLOCK * PR_CONTENT_BLOCK;
            pr_content_fill(h->spec, sample, off, dst, n);
        } else {
            n = n < len ? n : len;
            memcpy(dst, block_at(h, sample, off / PR_CONTENT_BLOCK) + skip, n);
        }
        dst += n;
        off += n;
        len -= n;
    }
}

/* ---- gathering */

struct piece {
    uint64_t at[PR_HDF5_AXES]; /* its first element */
    uint64_t n[PR_HDF5_AXES];  /* elements of it that there are */
    bool is_cut;               /* it goes beyond the set */
};

static void hdf5_find_piece(const struct pr_hdf5_plan *p, uint64_t index,
                            struct piece *ret)
{
    ret->is_cut = false;
    for (unsigned a = (unsigned)p->ndim; a-- > 0;) {
        uint64_t left;

        ret->at[a] = index % pr_hdf5_plan_grid(p, a) * p->chunk[a];
        index /= pr_hdf5_plan_grid(p, a);
        left = p->dim[a] - ret->at[a];
        ret->n[a] = left < p->chunk[a] ? left : p->chunk[a];
        ret->is_cut = ret->is_cut || left < p->chunk[a];
    }
}

/* The last axis that a run of elements does not go over whole; axis 0, whose
 * steps are samples, at the latest. */
static unsigned hdf5_plan_run_axis(const struct pr_hdf5_plan *p)
{
    unsigned a = (unsigned)p->ndim - 1;

    while (a > 0 && p->chunk[a] == p->dim[a])
        a--;
    return a;
}

/* Runs of one sample: those of the axes 1 to axis - 1, one after another. */
static void gather_sample(struct pr_hdf5_writer *h, uint64_t k,
                          const struct piece *c, uint64_t row, uint8_t *dst)
{
    const struct pr_hdf5_plan *p = &h->plan;
    unsigned axis = hdf5_plan_run_axis(p) ? hdf5_plan_run_axis(p) : 1;
    uint64_t i[PR_HDF5_AXES] = {0};
    uint64_t run = p->element_bytes;

    for (unsigned a = axis; a < p->ndim; a++)
        run *= c->n[a];
    for (;;) {
        uint64_t from = 0, to = row;
        unsigned a = axis;

        for (unsigned b = 1; b < p->ndim; b++) {
            from = from * p->dim[b] + c->at[b] + i[b];
            to = to * p->chunk[b] + i[b];
        }
        pr_hdf5_content_fill(h, c->at[0] + row,
                             k * p->row_bytes + from * p->element_bytes,
                             dst + to * p->element_bytes, (size_t)run);
        while (a > 1 && ++i[a - 1] == c->n[a - 1])
            i[--a] = 0;
        if (a <= 1)
            return;
    }
}

static void hdf5_gather_chunk(struct pr_hdf5_writer *h, uint64_t k,
                              const struct piece *c)
{
    if (c->is_cut)
        memset(h->chunk.data, 0, (size_t)h->plan.chunk_bytes);
    for (uint64_t row = 0; row < c->n[0]; row++)
        gather_sample(h, k, c, row, h->chunk.data);
}

/* ---- compressing */

static int need_deflate(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int level = (int)h->plan.level;

    if (h->deflate && h->deflate_level == level)
        return PR_OK;
    pr_deflate_free(h->deflate);
    h->deflate = pr_deflate_new(level);
    h->deflate_level = level;
    return h->deflate ? PR_OK : pr_fail_nomem(err);
}

static size_t run_deflate(struct pr_hdf5_writer *h)
{
    const uint8_t *in = h->chunk.data;
    size_t in_len = (size_t)h->plan.chunk_bytes, used = 0;
    bool is_done = false;

    pr_deflate_start(h->deflate, PR_WRAP_ZLIB);
    while (!is_done && used < h->packed.cap) {
        size_t n = h->packed.cap - used;

        is_done = pr_deflate_run(h->deflate, &in, &in_len, true,
                                 h->packed.data + used, &n);
        used += n;
    }
    return is_done ? used : 0;
}

struct packed {
    const uint8_t *data;
    size_t len;
    uint32_t mask; /* 1: stored without the filter */
};

static int hdf5_prepare_chunks(struct pr_hdf5_writer *h, struct pr_err *err)
{
    uint64_t bytes = h->plan.chunk_bytes;
    int rc = PR_OK;

    if (!pr_hdf5_buf_grow(&h->chunk, bytes) ||
        !pr_hdf5_buf_grow(&h->packed, pr_deflate_bound(bytes)))
        return pr_fail_nomem(err);
    if (h->plan.compression == PR_GZIP)
        rc = need_deflate(h, err);
    if (h->plan.compression == PR_LZF && !h->lzf)
        h->lzf = pr_alloc(sizeof *h->lzf);
    if (h->plan.compression == PR_LZF && !h->lzf)
        rc = pr_fail_nomem(err);
    return rc;
}

/* What does not get smaller is stored as it is, as lzf is optional; gzip is
 * what was asked for, so it is always gzip. */
static void hdf5_pack_chunk(struct pr_hdf5_writer *h, struct packed *ret)
{
    size_t bytes = (size_t)h->plan.chunk_bytes, n = 0;

    if (h->plan.compression == PR_GZIP)
        n = run_deflate(h);
    else if (h->plan.compression == PR_LZF)
        n = pr_lzf_encode(h->lzf, h->chunk.data, bytes, h->packed.data,
                          bytes - 1);
    if (n)
        *ret = (struct packed){h->packed.data, n, 0};
    else
        *ret =
            (struct packed){h->chunk.data, bytes, h->plan.compression ? 1 : 0};
}

static int hdf5_store_chunk(struct pr_hdf5_writer *h, uint64_t k,
                            const struct piece *c, const struct packed *p,
                            struct pr_err *err)
{
    hsize_t at[PR_HDF5_AXES];
    herr_t done;
    int rc = PR_OK;

    for (unsigned a = 0; a < h->plan.ndim; a++)
        at[a] = c->at[a];
    pr_hdf5_enter(h->h5);
    h->io.is_learning = true;
    h->io.has_raw = false;
    done = h->h5->H5Dwrite_chunk(h->sets[k].id, H5P_DEFAULT, p->mask, at,
                                 p->len, p->data);
    h->io.is_learning = false;
    if (done < 0 || !h->io.has_raw || h->io.raw_len != p->len)
        rc = pr_hdf5_io_fail(&h->io, h->obj.name, err, "cannot add a chunk");
    pr_hdf5_leave(h->h5);
    return rc ? rc
              : pr_object_write(&h->obj, h->io.raw_off, p->data, p->len, err);
}

int pr_hdf5_write_chunks(struct pr_hdf5_writer *h, uint64_t k,
                         struct pr_err *err)
{
    uint64_t count = pr_hdf5_plan_chunks(&h->plan);
    int rc = hdf5_prepare_chunks(h, err);

    for (uint64_t i = 0; !rc && i < count; i++) {
        struct packed p;
        struct piece c;

        if (pr_writer_is_stopped(h->w))
            return pr_fail(err, PR_E_INTR, h->obj.name, "interrupted");
        hdf5_find_piece(&h->plan, i, &c);
        hdf5_gather_chunk(h, k, &c);
        hdf5_pack_chunk(h, &p);
        rc = hdf5_store_chunk(h, k, &c, &p, err);
    }
    return rc;
}
