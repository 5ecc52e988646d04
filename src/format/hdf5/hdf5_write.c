/*
 * Writing HDF5 files. libhdf5 makes the structure and says where the bytes of
 * samples go; these are made up and written here. The structure of a file
 * without chunks follows from its plan, so the next one with the same plan
 * gets a copy of it.
 */
#include "format/hdf5/hdf5_write.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* ---- the structure of a new file: what libhdf5 does of it */

/* Data sets of this size start at a page of the file. */
enum { ALIGN_FROM = 64 << 10 };

static int set_filter(struct pr_hdf5_writer *h, hid_t list)
{
    const unsigned level = (unsigned)h->plan.level;
    const unsigned lzf[] = {PR_HDF5_LZF_REVISION, PR_HDF5_LZF_VERSION,
                            (unsigned)h->plan.chunk_bytes};

    if (h->plan.compression == PR_GZIP)
        return h->h5->H5Pset_filter(list, H5Z_FILTER_DEFLATE, H5Z_FLAG_OPTIONAL,
                                    1, &level);
    if (h->plan.compression == PR_LZF)
        return h->h5->H5Pset_filter(list, PR_HDF5_LZF, H5Z_FLAG_OPTIONAL, 3,
                                    lzf);
    return 0;
}

static int set_storage(struct pr_hdf5_writer *h, hid_t list, bool is_chunked)
{
    const struct pr_hdf5_api *h5 = h->h5;
    hsize_t chunk[PR_HDF5_AXES];

    if (h5->H5Pset_obj_track_times(list, 0) < 0 ||
        h5->H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0)
        return -1;
    if (!is_chunked)
        return h5->H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    for (unsigned a = 0; a < h->plan.ndim; a++)
        chunk[a] = h->plan.chunk[a];
    if (h5->H5Pset_chunk(list, (int)h->plan.ndim, chunk) < 0)
        return -1;
    return set_filter(h, list);
}

static hid_t make_space(struct pr_hdf5_writer *h, bool is_labels)
{
    const struct pr_hdf5_plan *p = &h->plan;
    hsize_t dim[PR_HDF5_AXES], max[PR_HDF5_AXES];

    for (unsigned a = 0; a < p->ndim; a++) {
        dim[a] = p->dim[a];
        max[a] = p->max[a]; /* UINT64_MAX is H5S_UNLIMITED */
    }
    return h->h5->H5Screate_simple(is_labels ? 1 : (int)p->ndim, dim,
                                   !is_labels && p->max[0] ? max : NULL);
}

/* The data set stays open if it is in chunks. */
static int hdf5_make_set(struct pr_hdf5_writer *h, const char *name,
                         bool is_labels, struct pr_hdf5_spot *ret)
{
    const struct pr_hdf5_api *h5 = h->h5;
    bool is_chunked = !is_labels && h->plan.chunk[0];
    enum pr_dtype dtype = is_labels ? PR_I64 : (enum pr_dtype)h->plan.dtype;
    hid_t type = pr_hdf5_type_new(h5, dtype);
    hid_t space = make_space(h, is_labels);
    hid_t list = h5->H5Pcreate(*h5->H5P_CLS_DATASET_CREATE_ID_g);
    hid_t id = -1;

    if (type >= 0 && space >= 0 && list >= 0 &&
        set_storage(h, list, is_chunked) >= 0)
        id = h5->H5Dcreate2(h->file, name, type, space, H5P_DEFAULT, list,
                            H5P_DEFAULT);
    h5->H5Pclose(list);
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    if (id < 0)
        return -1;
    ret->id = id;
    if (is_chunked)
        return 0;
    ret->offset = h5->H5Dget_offset(id);
    h5->H5Dclose(id);
    return ret->offset == HADDR_UNDEF ? -1 : 0;
}

static int hdf5_make_lists(struct pr_hdf5_writer *h)
{
    const struct pr_hdf5_api *h5 = h->h5;

    if (h->creation > 0)
        return 0;
    if (h->access <= 0)
        h->access = pr_hdf5_io_access(&h->io);
    if (h->access < 0 ||
        h5->H5Pset_libver_bounds(h->access, H5F_LIBVER_LATEST,
                                 H5F_LIBVER_LATEST) < 0 ||
        h5->H5Pset_alignment(h->access, ALIGN_FROM, PR_IO_ALIGN) < 0)
        return -1;
    h->creation = h5->H5Pcreate(*h5->H5P_CLS_FILE_CREATE_ID_g);
    return h->creation < 0 ? -1 : h5->H5Pset_obj_track_times(h->creation, 0);
}

static int make_sets(struct pr_hdf5_writer *h)
{
    char name[32];
    int rc = 0;

    for (uint64_t k = 0; rc >= 0 && k < h->plan.sets; k++) {
        snprintf(name, sizeof name, "records_%llu", (unsigned long long)k);
        rc = hdf5_make_set(h, name, false, &h->sets[k]);
    }
    if (rc >= 0 && h->plan.has_labels)
        rc = hdf5_make_set(h, "labels", true, &h->labels);
    return rc;
}

/* Makes the file and its data sets in libhdf5, and says where they are. */
static int hdf5_make_file(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    pr_hdf5_enter(h->h5);
    if (hdf5_make_lists(h) >= 0)
        h->file = pr_hdf5_io_create(&h->io, h->creation, h->access);
    if (h->file <= 0 || make_sets(h) < 0)
        rc = pr_hdf5_io_fail(&h->io, h->obj.name, err, "cannot be made");
    pr_hdf5_leave(h->h5);
    return rc;
}

int pr_hdf5_finish_file(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->file <= 0)
        return PR_OK;
    pr_hdf5_enter(h->h5);
    if (pr_hdf5_io_close(&h->io, h->file) < 0 || h->io.rc)
        rc = pr_hdf5_io_fail(&h->io, h->obj.name, err, "cannot be finished");
    pr_hdf5_leave(h->h5);
    h->file = 0;
    return rc;
}

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

/* Chunks of one set. */
static uint64_t hdf5_plan_chunks(const struct pr_hdf5_plan *p)
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
    uint64_t chunks = hdf5_plan_chunks(p), each, all;

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

/* ---- chunks: gathered from the contents of their samples, compressed here and
 * handed to libhdf5 whole, which only says where they go */

static void hdf5_content_reset(struct pr_hdf5_writer *h)
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

/* Bytes [off, off + len) of a sample, any that are whole elements. */
static void hdf5_content_fill(struct pr_hdf5_writer *h, uint64_t sample,
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

/* ---- chunks: gathering */

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
        hdf5_content_fill(h, c->at[0] + row,
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

/* ---- chunks: compressing */

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

/* All chunks of set k, open in libhdf5. */
static int hdf5_write_chunks(struct pr_hdf5_writer *h, uint64_t k,
                             struct pr_err *err)
{
    uint64_t count = hdf5_plan_chunks(&h->plan);
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

/* ---- bytes on their way */

static int out_flush(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->out_used)
        rc = pr_object_write(&h->obj, h->out_base, h->out, h->out_used, err);
    h->out_base += h->out_used;
    h->out_used = 0;
    return rc;
}

static int out_seek(struct pr_hdf5_writer *h, uint64_t off, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->is_image) {
        h->out_used = (size_t)off;
        return PR_OK;
    }
    if (h->out_base + h->out_used != off) {
        rc = out_flush(h, err);
        h->out_base = off;
    }
    return rc;
}

/* Room for want bytes or fewer. */
static int out_room(struct pr_hdf5_writer *h, uint64_t want, size_t *ret,
                    struct pr_err *err)
{
    int rc = h->out_used == PR_HDF5_OUT ? out_flush(h, err) : PR_OK;
    size_t room = PR_HDF5_OUT - h->out_used;

    *ret = want < room ? (size_t)want : room;
    return rc;
}

/* A set's part of one sample. */
static int put_part(struct pr_hdf5_writer *h, uint64_t k, uint64_t sample,
                    struct pr_err *err)
{
    uint64_t off = k * h->plan.row_bytes, left = h->plan.row_bytes;

    while (left) {
        size_t n;
        int rc = out_room(h, left, &n, err);

        if (rc)
            return rc;
        if (pr_writer_is_stopped(h->w))
            return pr_fail(err, PR_E_INTR, h->obj.name, "interrupted");
        if (n < left && n > PR_CONTENT_BLOCK) /* stay at whole blocks */
            n -= (off + n) % PR_CONTENT_BLOCK;
        hdf5_content_fill(h, sample, off, h->out + h->out_used, n);
        h->out_used += n;
        off += n;
        left -= n;
    }
    return PR_OK;
}

static int put_set(struct pr_hdf5_writer *h, uint64_t k, struct pr_err *err)
{
    int rc = out_seek(h, h->sets[k].offset, err);

    for (uint64_t i = 0; !rc && i < h->plan.dim[0]; i++)
        rc = put_part(h, k, i, err);
    return rc;
}

static int hdf5_write_labels(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = out_seek(h, h->labels.offset, err);

    for (uint64_t i = 0; !rc && i < h->plan.dim[0]; i++) {
        int64_t label = pr_content_label(h->spec, i);

        if (PR_HDF5_OUT - h->out_used < sizeof label)
            rc = out_flush(h, err);
        memcpy(h->out + h->out_used, &label, sizeof label);
        h->out_used += sizeof label;
    }
    return rc;
}

static int hdf5_write_contents(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t k = 0; !rc && k < h->plan.sets; k++)
        rc = h->plan.chunk[0] ? hdf5_write_chunks(h, k, err)
                              : put_set(h, k, err);
    if (!rc && h->plan.has_labels)
        rc = hdf5_write_labels(h, err);
    return rc;
}

/* ---- files */

/* Space that libhdf5 wants at the end and nobody wrote to. */
static int hdf5_extend_file(struct pr_hdf5_writer *h, uint64_t end,
                            struct pr_err *err)
{
    if (end >= h->io.wanted)
        return PR_OK;
    return pr_object_write(&h->obj, h->io.wanted - 1, "", 1, err);
}

static uint64_t data_end(const struct pr_hdf5_writer *h)
{
    const struct pr_hdf5_plan *p = &h->plan;
    uint64_t end = h->io.end;

    for (uint64_t k = 0; !p->chunk[0] && k < p->sets; k++)
        if (h->sets[k].offset + p->row_bytes * p->dim[0] > end)
            end = h->sets[k].offset + p->row_bytes * p->dim[0];
    if (p->has_labels && h->labels.offset + 8 * p->dim[0] > end)
        end = h->labels.offset + 8 * p->dim[0];
    return end;
}

static int write_new(struct pr_hdf5_writer *h, uint64_t *ret_bytes,
                     struct pr_err *err)
{
    uint64_t end;
    int rc, finish;

    h->is_known = false;
    h->is_image = false;
    h->io.trail = h->plan.chunk[0] ? NULL : h->trail;
    rc = hdf5_make_file(h, err);
    if (!rc)
        rc = hdf5_write_contents(h, err);
    if (!rc)
        rc = out_flush(h, err);
    finish = pr_hdf5_finish_file(h, rc ? NULL : err); /* in any case */
    if (rc || finish)
        return rc ? rc : finish;
    end = data_end(h);
    rc = hdf5_extend_file(h, end, err);
    *ret_bytes = end > h->io.wanted ? end : h->io.wanted;
    h->is_known = !rc && h->io.trail && !h->trail->is_full;
    h->known = h->plan;
    h->known_size = *ret_bytes;
    return rc;
}

/* The structure of the file before, and contents of this one's own. A small
 * file is put together in memory and written at once. */
static int write_again(struct pr_hdf5_writer *h, uint64_t *ret_bytes,
                       struct pr_err *err)
{
    const struct pr_hdf5_trail *t = h->trail;
    int rc = PR_OK;

    h->is_image = h->known_size <= PR_HDF5_OUT;
    if (h->is_image)
        memset(h->out, 0, (size_t)h->known_size);
    for (unsigned i = 0; !rc && i < t->count; i++) {
        const struct pr_hdf5_range *g = &t->range[i];
        const uint8_t *p = t->bytes + g->at;

        if (h->is_image)
            memcpy(h->out + g->off, p, g->len);
        else
            rc = pr_object_write(&h->obj, g->off, p, g->len, err);
    }
    if (!rc)
        rc = hdf5_write_contents(h, err);
    if (h->is_image)
        h->out_used = (size_t)h->known_size;
    if (!rc)
        rc = out_flush(h, err);
    if (!rc && !h->is_image)
        rc = hdf5_extend_file(h, data_end(h), err);
    *ret_bytes = h->known_size;
    return rc;
}

static int hdf5_writer_start(struct pr_hdf5_writer *h, struct pr_writer *w,
                             const struct pr_file_spec *spec,
                             struct pr_err *err)
{
    int rc = h->h5 ? PR_OK : pr_hdf5_library_load(&h->h5, err);

    if (rc)
        return rc;
    if (!h->out)
        h->out = pr_storage_buffer(w->st, PR_HDF5_OUT);
    if (!h->blocks)
        h->blocks =
            pr_alloc_aligned(64, (size_t)PR_HDF5_BLOCKS * PR_CONTENT_BLOCK);
    if (!h->trail)
        h->trail = pr_alloc(sizeof *h->trail);
    if (!h->out || !h->blocks || !h->trail)
        return pr_fail_nomem(err);
    h->w = w;
    h->spec = spec;
    h->io.h5 = h->h5;
    h->io.obj = &h->obj;
    h->io.is_new = true;
    h->out_used = 0;
    h->out_base = 0;
    hdf5_content_reset(h);
    return PR_OK;
}

static bool is_again(const struct pr_hdf5_writer *h)
{
    return h->is_known && memcmp(&h->plan, &h->known, sizeof h->plan) == 0;
}

int pr_hdf5_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                         const char *name, uint64_t *ret_bytes,
                         struct pr_err *err)
{
    struct pr_hdf5_writer *h = w->data;
    uint64_t bytes = 0;
    int rc = pr_hdf5_plan_init(spec, &h->plan, err);

    if (!rc)
        rc = hdf5_writer_start(h, w, spec, err);
    if (!rc && !is_again(h)) {
        h->is_known = false;
        h->sets = (struct pr_hdf5_spot *)(void *)pr_hdf5_buf_grow(
            &h->set_mem, h->plan.sets * sizeof *h->sets);
        if (!h->sets)
            rc = pr_fail_nomem(err);
    }
    if (!rc)
        rc = pr_object_create(w->st, name, is_again(h) ? h->known_size : 0,
                              &h->obj, err);
    if (rc)
        return rc;
    rc = is_again(h) ? write_again(h, &bytes, err) : write_new(h, &bytes, err);
    if (rc) {
        pr_object_discard(&h->obj);
        return rc;
    }
    rc = pr_object_commit(&h->obj, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

void pr_hdf5_writer_done(struct pr_writer *w)
{
    struct pr_hdf5_writer *h = w->data;

    if (h->h5) {
        pr_hdf5_enter(h->h5);
        if (h->access > 0)
            h->h5->H5Pclose(h->access);
        if (h->creation > 0)
            h->h5->H5Pclose(h->creation);
        pr_hdf5_leave(h->h5);
    }
    pr_deflate_free(h->deflate);
    pr_free(h->lzf);
    pr_free(h->chunk.data);
    pr_free(h->packed.data);
    pr_free(h->set_mem.data);
    pr_free(h->blocks);
    pr_free(h->trail);
}
