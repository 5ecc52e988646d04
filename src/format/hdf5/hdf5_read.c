/*
 * Reading HDF5 files: rows of a data set, from wherever its bytes are, and the
 * format itself.
 */
#include "base/mem.h"
#include "format/hdf5/hdf5_impl.h"
#include "format/hdf5/hdf5_write.h"

#include <endian.h>
#include <string.h>

/* ---- rows: by libhdf5 itself */

int pr_hdf5_library_rows_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                              uint64_t first, uint64_t count, uint8_t *dst,
                              struct pr_err *err)
{
    const struct pr_hdf5_api *h5 = pr_hdf5_state(r)->h5;
    hsize_t start[PR_HDF5_AXES] = {first}, n[PR_HDF5_AXES] = {count};
    hid_t file, mem, type;
    int rc = PR_OK;

    for (unsigned a = 1; a < s->ndim; a++)
        n[a] = s->dim[a];
    file = h5->H5Dget_space(s->id);
    mem = h5->H5Screate_simple((int)s->ndim, n, NULL);
    type = h5->H5Dget_type(s->id);
    if (file < 0 || mem < 0 || type < 0 ||
        h5->H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, n, NULL) <
            0 ||
        h5->H5Dread(s->id, type, mem, file, H5P_DEFAULT, dst) < 0)
        rc = pr_hdf5_io_fail(&pr_hdf5_state(r)->io, r->name, err,
                             "samples cannot be read");
    h5->H5Tclose(type);
    h5->H5Sclose(mem);
    h5->H5Sclose(file);
    return rc;
}

int pr_hdf5_convert_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                         uint8_t *data, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    const struct pr_hdf5_api *h5 = h->h5;
    hid_t from, to;
    int rc = PR_OK;

    from = h5->H5Dget_type(s->id);
    to = pr_hdf5_type_new(h5, s->type.dtype);
    if (from < 0 || to < 0 ||
        h5->H5Tconvert(from, to, (size_t)(s->row_bytes / s->type.bytes), data,
                       NULL, H5P_DEFAULT) < 0)
        rc = pr_hdf5_io_fail(&h->io, r->name, err, "cannot be converted");
    h5->H5Tclose(to);
    h5->H5Tclose(from);
    return rc;
}

/* ---- rows: boxes of elements */

/* The part of a chunk that is in the wanted rows. */
struct box {
    uint64_t from[PR_HDF5_AXES]; /* in the chunk */
    uint64_t to[PR_HDF5_AXES];   /* in the rows */
    uint64_t n[PR_HDF5_AXES];
    uint64_t dim[PR_HDF5_AXES]; /* of the rows */
};

static void box_of(const struct pr_hdf5_set *s, const uint64_t *at,
                   uint64_t first, uint64_t count, struct box *b)
{
    for (unsigned a = 0; a < s->ndim; a++) {
        uint64_t lo = a ? 0 : first;
        uint64_t hi = a ? s->dim[a] : first + count;
        uint64_t start = at[a] > lo ? at[a] : lo;
        uint64_t end = s->chunk[a] < hi - at[a] ? at[a] + s->chunk[a] : hi;

        b->from[a] = start - at[a];
        b->to[a] = start - lo;
        b->n[a] = end - start;
        b->dim[a] = hi - lo;
    }
}

static uint64_t offset_of(unsigned ndim, const uint64_t *at,
                          const uint64_t *add, const uint64_t *dim)
{
    uint64_t n = 0;

    for (unsigned a = 0; a < ndim; a++)
        n = n * dim[a] + at[a] + add[a];
    return n;
}

/* Axes after this one are whole in the box, the chunk and the rows: a run of
 * elements goes over all of them. */
static unsigned hdf5_box_run_axis(const struct pr_hdf5_set *s,
                                  const struct box *b)
{
    unsigned a = s->ndim - 1;

    while (a > 0 && b->n[a] == s->chunk[a] && b->n[a] == b->dim[a])
        a--;
    return a;
}

static void copy_box(const struct pr_hdf5_set *s, const struct box *b,
                     const uint8_t *src, uint8_t *dst)
{
    unsigned axis = hdf5_box_run_axis(s, b);
    uint64_t at[PR_HDF5_AXES] = {0};
    uint64_t run = s->type.bytes;

    for (unsigned a = axis; a < s->ndim; a++)
        run *= b->n[a];
    for (;;) {
        unsigned a = axis;

        memcpy(dst + offset_of(s->ndim, b->to, at, b->dim) * s->type.bytes,
               src + offset_of(s->ndim, b->from, at, s->chunk) * s->type.bytes,
               (size_t)run);
        while (a > 0 && ++at[a - 1] == b->n[a - 1])
            at[--a] = 0;
        if (!a)
            return;
    }
}

/* A chunk that is one piece of the rows: it can be decoded to its place. */
static bool is_one_piece(const struct pr_hdf5_set *s, const struct box *b)
{
    unsigned axis = hdf5_box_run_axis(s, b);

    for (unsigned a = 0; a < axis; a++)
        if (b->n[a] != 1)
            return false;
    for (unsigned a = 0; a < s->ndim; a++)
        if (b->n[a] != s->chunk[a])
            return false;
    return true;
}

static int chunk_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                      uint64_t index, uint64_t first, uint64_t count,
                      uint8_t *dst, struct pr_err *err)
{
    static const uint64_t none[PR_HDF5_AXES];
    uint64_t at[PR_HDF5_AXES];
    const uint8_t *chunk = NULL;
    struct box b;
    int rc;

    pr_hdf5_chunk_start(s, index, at);
    box_of(s, at, first, count, &b);
    if (is_one_piece(s, &b)) {
        dst += offset_of(s->ndim, b.to, none, b.dim) * s->type.bytes;
        return pr_hdf5_chunk_read(r, s, index, dst, err);
    }
    rc = pr_hdf5_chunk_load(r, s, index, &chunk, err);
    if (!rc)
        copy_box(s, &b, chunk, dst);
    return rc;
}

int pr_hdf5_read_rows(struct pr_reader *r, const struct pr_hdf5_set *s,
                      uint64_t first, uint64_t count, uint8_t *dst,
                      struct pr_err *err)
{
    uint64_t begin, end;

    if (s->way == PR_HDF5_FLAT)
        return pr_hdf5_read_bytes(r, s->offset + first * s->row_bytes,
                                  count * s->row_bytes, dst, err);
    if (s->way == PR_HDF5_LIBRARY)
        return pr_hdf5_library_rows(r, s, first, count, dst, err);
    begin = first / s->chunk[0] * s->row_chunks;
    end = ((first + count - 1) / s->chunk[0] + 1) * s->row_chunks;
    for (uint64_t i = begin; i < end; i++) {
        int rc = chunk_rows(r, s, i, first, count, dst, err);

        if (rc == 1) /* libhdf5 knows what stands for those never written */
            return pr_hdf5_library_rows(r, s, first, count, dst, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* ---- opening */

enum {
    WHOLE_MAX = 1 << 20, /* such a file is read at once */
    HEAD = 16 << 10,     /* of a larger one: what libhdf5 looks at, mostly */
};

static int hdf5_reader_start(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);

    if (!h->trail)
        h->trail = pr_alloc(sizeof *h->trail);
    if (!h->labels)
        h->labels = pr_alloc(PR_HDF5_LABELS * sizeof *h->labels);
    if (!h->trail || !h->labels)
        return pr_fail_nomem(err);
    h->io.head_len = 0;
    h->label_count = 0;
    for (size_t i = 0; i < PR_HDF5_KEPT; i++)
        h->kept[i].set = NULL;
    return PR_OK;
}

static int fetch_head(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    size_t len = r->obj.size <= WHOLE_MAX ? (size_t)r->obj.size : HEAD;
    int rc;

    if (!pr_hdf5_buf_grow(&h->head, len + PR_IO_SLACK))
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&r->obj, 0, len, h->head.data, h->head.cap,
                         &h->io.head, err);
    if (!rc)
        h->io.head_len = len;
    return rc;
}

/* libhdf5 looks for the signature at 0, 512, 1024 and so on, to the end of the
 * file; a file that does not have it early is some other file. */
static int check_signature(struct pr_reader *r, struct pr_err *err)
{
    static const uint8_t want[8] = "\x89HDF\r\n\x1a\n";
    const struct pr_hdf5_io *io = &pr_hdf5_state(r)->io;
    size_t at = 0;

    while (io->head_len - at >= sizeof want) {
        if (memcmp(io->head + at, want, sizeof want) == 0)
            return PR_OK;
        at = at ? 2 * at : 512;
        if (at > io->head_len)
            break;
    }
    return pr_reader_bad(r, 0, err, "not an HDF5 file");
}

/* What a read may put into the buffer: what is stored, or what it becomes. */
static uint64_t hdf5_compute_need(struct pr_reader *r)
{
    const struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    uint64_t need = 0;

    for (size_t i = 0; i < lay->count; i++) {
        const struct pr_hdf5_set *s = &lay->sets[i];
        uint64_t part = s->row_bytes, sum;

        if (part < s->out_bytes)
            part = s->out_bytes;
        if (r->opts.skip_decode && s->way == PR_HDF5_CHUNKED) {
            part = pr_deflate_bound(s->chunk_bytes) + 4 * PR_HDF5_FILTERS;
            if (part > r->obj.size)
                part = r->obj.size;
            if (__builtin_mul_overflow(part, s->row_chunks, &part))
                return UINT64_MAX;
        }
        if (__builtin_add_overflow(need, part, &sum))
            return UINT64_MAX;
        need = sum;
    }
    return need;
}

static int hdf5_reader_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    uint64_t need;
    int rc = hdf5_reader_start(r, err);

    if (!rc)
        rc = pr_object_open(r->st, r->name, &r->obj, err);
    if (rc)
        return rc;
    h->is_open = true;
    rc = fetch_head(r, err);
    if (!rc)
        rc = check_signature(r, err);
    if (!rc)
        rc = pr_hdf5_recall_layout(r, err);
    if (rc == 0)
        rc = pr_hdf5_read_layout(r, err);
    if (rc < 0)
        return rc;
    need = hdf5_compute_need(r);
    if (need > SIZE_MAX / 2)
        return pr_reader_bad(r, 0, err, "samples are larger than memory");
    r->samples = h->lay.samples;
    r->need = (size_t)need + PR_IO_SLACK;
    return PR_OK;
}

static void hdf5_reader_close(struct pr_reader *r)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);

    if (!h->is_open)
        return;
    h->aside.is_attached = false;
    h->block.set = NULL;
    pr_object_close(&r->obj);
    h->is_open = false;
}

static void hdf5_reader_done(struct pr_reader *r)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);

    pr_hdf5_process_stop(r);
    pr_free(h->aside.buf.data);
    pr_free(h->block.place);
    pr_inflate_free(h->inflate);
    for (size_t i = 0; i < PR_HDF5_KEPT; i++)
        pr_free(h->kept[i].chunk.data);
    pr_free(h->tmp[0].data);
    pr_free(h->tmp[1].data);
    pr_free(h->raw.data);
    pr_free(h->head.data);
    pr_free(h->lay.sets);
    pr_free(h->labels);
    pr_free(h->trail);
}

/* ---- labels */

static int64_t label_of(const uint8_t *p, enum pr_dtype t)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
    } v;

    memcpy(&v, p, pr_dtype_bytes(t));
    switch (t) {
    case PR_U8:
        return v.u8;
    case PR_I8:
        return v.i8;
    case PR_U16:
        return v.u16;
    case PR_I16:
        return v.i16;
    case PR_U32:
        return v.u32;
    case PR_I32:
        return v.i32;
    default:
        return v.i64;
    }
}

/* Labels [first, …) as they are, then each at its place, from the last on:
 * none is wider than it will be. */
static int hdf5_load_labels(struct pr_reader *r, uint64_t first,
                            struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    const struct pr_hdf5_set *s = &h->lay.labels;
    uint64_t left = h->lay.samples - first;
    uint64_t n = left < PR_HDF5_LABELS ? left : PR_HDF5_LABELS;
    uint8_t *raw = (uint8_t *)h->labels;
    int rc;

    h->label_count = 0;
    rc = pr_hdf5_read_rows(r, s, first, n, raw, err);
    if (rc)
        return rc;
    if (s->type.is_swapped)
        pr_dtype_swap(s->type.dtype, raw, (size_t)(n * s->type.bytes));
    for (uint64_t i = n; i-- > 0;)
        h->labels[i] = label_of(raw + i * s->type.bytes, s->type.dtype);
    h->label_first = first;
    h->label_count = n;
    return PR_OK;
}

static int give_label(struct pr_reader *r, uint64_t i, struct pr_sample *ret,
                      struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    int rc = PR_OK;

    ret->has_label = h->lay.has_labels;
    if (!ret->has_label)
        return PR_OK;
    if (i < h->label_first || i - h->label_first >= h->label_count)
        rc = hdf5_load_labels(r, i / PR_HDF5_LABELS * PR_HDF5_LABELS, err);
    if (!rc)
        ret->label = h->labels[i - h->label_first];
    return rc;
}

/* ---- samples */

static bool is_same_shape(const struct pr_hdf5_set *a,
                          const struct pr_hdf5_set *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim) == 0;
}

/* Parts that are alike are joined along their first axis, others are a list of
 * elements, or of bytes. */
static void give_shape(const struct pr_hdf5_layout *lay, struct pr_sample *ret)
{
    const struct pr_hdf5_set *s = &lay->sets[0];
    bool alike = true;

    ret->dtype = s->type.dtype;
    for (size_t i = 1; i < lay->count; i++) {
        if (lay->sets[i].type.dtype != s->type.dtype)
            ret->dtype = PR_U8;
        alike = alike && is_same_shape(s, &lay->sets[i]) &&
                lay->sets[i].type.bytes == s->type.bytes &&
                lay->sets[i].type.is_blob == s->type.is_blob;
    }
    if (!alike || ret->dtype != s->type.dtype ||
        (lay->count > 1 && s->ndim == 1 && s->type.is_blob)) {
        ret->shape.ndim = 1;
        ret->shape.dim[0] = lay->sample_bytes / pr_dtype_bytes(ret->dtype);
        return;
    }
    ret->shape.ndim = s->ndim - 1;
    for (unsigned a = 1; a < s->ndim; a++)
        ret->shape.dim[a - 1] = s->dim[a];
    if (s->type.is_blob)
        ret->shape.dim[ret->shape.ndim++] = s->type.bytes;
    if (lay->count > 1 && !ret->shape.ndim)
        ret->shape.dim[ret->shape.ndim++] = 1;
    if (lay->count > 1)
        ret->shape.dim[0] *= lay->count;
}

/* One piece of the object: nothing is copied if it is in memory. */
static int give_piece(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                      struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_hdf5_io *io = &pr_hdf5_state(r)->io;
    const struct pr_hdf5_set *s = &pr_hdf5_state(r)->lay.sets[0];
    uint64_t off = s->offset + i * s->row_bytes;
    const uint8_t *p = NULL;
    int rc;

    ret->size = (size_t)s->row_bytes;
    if (off <= io->head_len && ret->size <= io->head_len - off) {
        ret->data = io->head + off;
        return PR_OK;
    }
    rc = pr_object_fetch(&r->obj, off, ret->size, buf, cap, &p, err);
    ret->data = p;
    return rc;
}

static int give_parts(struct pr_reader *r, uint64_t i, uint8_t *buf,
                      struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    size_t used = 0;

    for (size_t k = 0; k < lay->count; k++) {
        const struct pr_hdf5_set *s = &lay->sets[k];
        int rc = pr_hdf5_read_rows(r, s, i, 1, buf + used, err);

        if (rc)
            return rc;
        if (s->type.is_odd)
            rc = pr_hdf5_convert(r, s, buf + used, err);
        if (rc)
            return rc;
        if (s->type.is_swapped)
            pr_dtype_swap(s->type.dtype, buf + used, (size_t)s->row_bytes);
        used += (size_t)s->out_bytes;
    }
    ret->data = buf;
    ret->size = used;
    return PR_OK;
}

/* The bytes as they are in the file. */
static int give_stored(struct pr_reader *r, uint64_t i, uint8_t *buf,
                       size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    size_t used = 0;

    for (size_t k = 0; k < lay->count; k++) {
        const struct pr_hdf5_set *s = &lay->sets[k];
        size_t n = (size_t)s->row_bytes;
        int rc;

        /* Chunks before it may have been larger than anybody expected. */
        if (s->way != PR_HDF5_CHUNKED && n > cap - used)
            return pr_fail(err, PR_E_FORMAT, r->name,
                           "its chunks are larger than what they hold");
        rc = s->way == PR_HDF5_CHUNKED
                 ? pr_hdf5_read_stored(r, s, i, buf + used, cap - used, &n, err)
                 : pr_hdf5_read_rows(r, s, i, 1, buf + used, err);
        if (rc)
            return rc;
        used += n;
    }
    ret->data = buf;
    ret->size = used;
    ret->dtype = PR_U8;
    ret->shape.ndim = 1;
    ret->shape.dim[0] = used;
    return PR_OK;
}

static int hdf5_reader_read(struct pr_reader *r, uint64_t i, void *buf,
                            size_t cap, struct pr_sample *ret,
                            struct pr_err *err)
{
    const struct pr_hdf5_layout *lay = &pr_hdf5_state(r)->lay;
    struct pr_sample s = {0};
    int rc;

    if (cap < r->need)
        return pr_fail(err, PR_E_CONF, r->name,
                       "a buffer of %zu bytes is too small for a sample that "
                       "needs %zu",
                       cap, r->need);
    give_shape(lay, &s);
    if (lay->count == 1 && lay->sets[0].way == PR_HDF5_FLAT &&
        !lay->sets[0].type.is_swapped && !lay->sets[0].type.is_odd)
        rc = give_piece(r, i, buf, cap, &s, err);
    else if (r->opts.skip_decode)
        rc = give_stored(r, i, buf, cap - PR_IO_SLACK, &s, err);
    else
        rc = give_parts(r, i, buf, &s, err);
    if (!rc)
        rc = give_label(r, i, &s, err);
    if (!rc)
        *ret = s;
    return rc;
}

static int hdf5_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    struct pr_hdf5_plan plan;

    if (spec->shape.ndim > PR_MAX_DIMS)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "a sample has at most %d dimensions", PR_MAX_DIMS);
    return pr_hdf5_plan_init(spec, &plan, err);
}

static uint64_t hdf5_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_hdf5_plan plan;

    *ret_exact = false;
    return pr_hdf5_plan_init(spec, &plan, NULL) ? UINT64_MAX
                                                : pr_hdf5_plan_bytes(&plan);
}

const struct pr_format pr_format_hdf5 = {
    .abi = PR_FORMAT_ABI,
    .name = "hdf5",
    .alias = "h5",
    .desc = "HDF5 files with data sets records_0, records_1, … and labels",
    .flags = PR_FORMAT_LABELS,
    .compressions = "none|gzip|lzf",
    .check = hdf5_check,
    .bytes = hdf5_bytes,
    .writer_bytes = sizeof(struct pr_hdf5_writer),
    .write = pr_hdf5_writer_write,
    .writer_done = pr_hdf5_writer_done,
    .reader_bytes = sizeof(struct pr_hdf5_reader),
    .open = hdf5_reader_open,
    .read = hdf5_reader_read,
    .close = hdf5_reader_close,
    .reader_done = hdf5_reader_done,
};
