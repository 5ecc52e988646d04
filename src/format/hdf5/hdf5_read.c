/* Opening HDF5 files and giving their samples. */
#include "format/hdf5/hdf5_read.h"

#include "base/mem.h"

#include <endian.h>
#include <string.h>

enum {
    WHOLE_MAX = 1 << 20, /* such a file is read at once */
    HEAD = 16 << 10,     /* of a larger one: what libhdf5 looks at, mostly */
};

static struct pr_hdf5_reader *hdf5_reader_state(struct pr_reader *r)
{
    return r->data;
}

/* ---- opening */

static int hdf5_reader_start(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_reader_state(r);

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
    struct pr_hdf5_reader *h = hdf5_reader_state(r);
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
    const struct pr_hdf5_io *io = &hdf5_reader_state(r)->io;
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
    const struct pr_hdf5_layout *lay = &hdf5_reader_state(r)->lay;
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

int pr_hdf5_reader_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_hdf5_reader *h = hdf5_reader_state(r);
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

void pr_hdf5_reader_close(struct pr_reader *r)
{
    struct pr_hdf5_reader *h = hdf5_reader_state(r);

    if (!h->is_open)
        return;
    h->aside.is_attached = false;
    h->block.set = NULL;
    pr_object_close(&r->obj);
    h->is_open = false;
}

void pr_hdf5_reader_done(struct pr_reader *r)
{
    struct pr_hdf5_reader *h = hdf5_reader_state(r);

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
    struct pr_hdf5_reader *h = hdf5_reader_state(r);
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
    struct pr_hdf5_reader *h = hdf5_reader_state(r);
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
    const struct pr_hdf5_io *io = &hdf5_reader_state(r)->io;
    const struct pr_hdf5_set *s = &hdf5_reader_state(r)->lay.sets[0];
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
    const struct pr_hdf5_layout *lay = &hdf5_reader_state(r)->lay;
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
    const struct pr_hdf5_layout *lay = &hdf5_reader_state(r)->lay;
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

int pr_hdf5_reader_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                        struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_hdf5_layout *lay = &hdf5_reader_state(r)->lay;
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
