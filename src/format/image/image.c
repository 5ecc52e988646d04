/* What the image formats share: shapes, contents, and whole files. */
#include "format/image/image.h"

#include "base/mem.h"
#include "format/content.h"

static bool has_channels(const struct pr_shape *s,
                         const struct pr_image_rule *rule)
{
    return s->ndim == 3 && s->dim[2] < 8 && rule->channels >> s->dim[2] & 1;
}

static int check_shape(const struct pr_shape *s,
                       const struct pr_image_rule *rule, struct pr_err *err)
{
    static const char where[] = "dataset.record_dims";

    if (s->ndim < 2)
        return pr_fail(err, PR_E_CONF, where,
                       "%s format needs 2 dimensions, but got %u", rule->name,
                       s->ndim);
    if (s->ndim > 2 && !has_channels(s, rule)) {
        pr_fail(err, PR_E_CONF, where,
                "%s format does not support more than 2 dimensions, but got %u "
                "dimensions",
                rule->name, s->ndim);
        return pr_hint(err, "%s", rule->possible);
    }
    for (int i = 0; i < 2; i++)
        if (s->dim[i] < 1 || s->dim[i] > rule->side)
            return pr_fail(err, PR_E_CONF, where,
                           "the sides of a %s image are 1 to %llu, got %llu",
                           rule->name, (unsigned long long)rule->side,
                           (unsigned long long)s->dim[i]);
    return PR_OK;
}

int pr_image_check(const struct pr_file_spec *spec,
                   const struct pr_image_rule *rule, struct pr_err *err)
{
    int rc = check_shape(&spec->shape, rule, err);

    if (rc)
        return rc;
    if (pr_spec_sample_bytes(spec) > (uint64_t)1 << PR_IMAGE_MAX_SHIFT)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "a %s image has at most 2 GiB", rule->name);
    if (spec->samples != 1)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "a %s file holds 1 sample, not %llu", rule->name,
                       (unsigned long long)spec->samples);
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "%s has its own compression, use none", rule->name);
    return PR_OK;
}

struct pr_image pr_image_of(const struct pr_file_spec *spec)
{
    const struct pr_shape *s = &spec->shape;

    return (struct pr_image){
        .height = (uint32_t)s->dim[0],
        .width = (uint32_t)s->dim[1],
        .channels = s->ndim > 2 ? (unsigned)s->dim[2] : 1,
    };
}

uint8_t *pr_image_buf_grow(struct pr_image_buf *buf, size_t bytes)
{
    if (bytes > buf->cap) {
        pr_free(buf->data);
        buf->data = pr_alloc(bytes);
        buf->cap = buf->data ? bytes : 0;
    }
    return buf->data;
}

void pr_image_buf_done(struct pr_image_buf *buf)
{
    pr_free(buf->data);
}

int pr_image_make(struct pr_writer *w, const struct pr_file_spec *spec,
                  struct pr_image_buf *buf, struct pr_err *err)
{
    enum { PIECE = 64 * PR_CONTENT_BLOCK };
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *data = pr_image_buf_grow(buf, bytes);

    if (!data)
        return pr_fail_nomem(err);
    for (size_t off = 0; off < bytes; off += PIECE) {
        size_t len = bytes - off < PIECE ? bytes - off : PIECE;

        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_content_fill(spec, 0, off, data + off, len);
    }
    return PR_OK;
}

int pr_image_write_raw(struct pr_writer *w, struct pr_out *out,
                       const struct pr_file_spec *spec, const char *name,
                       uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_content_piece piece;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    int rc = pr_out_create(out, name, bytes, err);

    if (!rc)
        rc = pr_content_put_sample(w, out, &piece, spec, 0, NULL, NULL, err);
    if (!rc)
        rc = pr_out_commit(out, err);
    if (rc)
        pr_out_discard(out);
    else
        *ret_bytes = bytes;
    return rc;
}

uint64_t pr_image_pad(uint64_t left, unsigned head, uint64_t most)
{
    uint64_t part = left < most ? left : most;

    /* What would be too little for another part is left a whole head. */
    return left - part && left - part < head ? part - head : part;
}

uint8_t *pr_image_pad_noise(const struct pr_file_spec *spec, uint64_t off,
                            size_t len, struct pr_image_buf *buf)
{
    struct pr_file_spec bytes = *spec;
    uint8_t *data = pr_image_buf_grow(buf, len);

    bytes.dtype = PR_U8;
    if (data)
        pr_content_fill(&bytes, 1, off, data, len);
    return data;
}

int pr_image_check_stored(const struct pr_file_spec *spec, const char *format,
                          uint64_t least, struct pr_err *err)
{
    if (spec->payload != PR_FILE || spec->stored >= least)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "dataset.record_length_bytes",
            "a %s file of %llu x %llu pixels takes at least %llu bytes, not "
            "%llu",
            format, (unsigned long long)spec->shape.dim[0],
            (unsigned long long)spec->shape.dim[1], (unsigned long long)least,
            (unsigned long long)spec->stored);
    return pr_hint(err, "with dataset.payload=file it is the size of the file: "
                        "use a larger one, or smaller dataset.record_dims");
}

/* ---- reading */

int pr_image_undecodable(int rc, struct pr_err *err)
{
    return rc == PR_E_FORMAT
               ? pr_hint(err,
                         "to read files of raw bytes, such as the engine of "
                         "MLPerf Storage v3 makes, set "
                         "dataset.payload=raw")
               : rc;
}

int pr_image_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_image_reader *x = r->data;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    x->file = NULL;
    if (rc)
        return rc;
    x->is_open = true;
    if (r->obj.size > SIZE_MAX / 2)
        return pr_fail(err, PR_E_FORMAT, r->name, "the file is too large");
    r->samples = 1;
    r->need = (size_t)r->obj.size + PR_IO_SLACK;
    if (r->opts.skip_decode)
        return PR_OK;
    x->file = pr_reader_scratch(r, r->need);
    if (!x->file)
        return pr_fail_nomem(err);
    return r->obj.size ? pr_object_fetch(&r->obj, 0, (size_t)r->obj.size,
                                         r->scratch, r->need, &x->file, err)
                       : PR_OK;
}

void pr_image_close(struct pr_reader *r)
{
    struct pr_image_reader *x = r->data;

    if (x->is_open)
        pr_object_close(&r->obj);
    x->is_open = false;
}

/* Of at most 2^31 pixels. */
static uint64_t image_bytes(const struct pr_image_reader *x)
{
    return (uint64_t)x->image.width * x->image.height * x->image.channels *
           pr_dtype_bytes(x->dtype);
}

int pr_image_set_need(struct pr_reader *r, struct pr_err *err)
{
    const struct pr_image_reader *x = r->data;
    uint64_t pixels = (uint64_t)x->image.width * x->image.height;

    if (pixels > (uint64_t)1 << PR_IMAGE_MAX_SHIFT ||
        image_bytes(x) > (uint64_t)1 << PR_IMAGE_MAX_SHIFT)
        return pr_fail(
            err, PR_E_FORMAT, r->name, "an image of %lu x %lu is too large",
            (unsigned long)x->image.width, (unsigned long)x->image.height);
    r->need = (size_t)image_bytes(x);
    return PR_OK;
}

int pr_image_check_room(const struct pr_reader *r, size_t cap,
                        struct pr_err *err)
{
    if (cap >= r->need)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, r->name,
                   "a buffer of %zu bytes is too small, %zu are needed", cap,
                   r->need);
}

struct pr_sample pr_image_sample(const struct pr_reader *r, const void *buf)
{
    const struct pr_image_reader *x = r->data;
    bool flat = x->image.channels == 1;

    return (struct pr_sample){
        .data = buf,
        .size = r->need,
        .dtype = x->dtype,
        .shape = {.ndim = flat ? 2 : 3,
                  .dim = {x->image.height, x->image.width,
                          flat ? 0 : x->image.channels}},
    };
}

int pr_image_read_stored(struct pr_reader *r, void *buf, size_t cap,
                         struct pr_sample *ret, struct pr_err *err)
{
    size_t len = (size_t)r->obj.size;
    const uint8_t *data = buf;
    int rc = pr_image_check_room(r, cap, err);

    if (!rc && len)
        rc = pr_object_fetch(&r->obj, 0, len, buf, cap, &data, err);
    if (!rc)
        *ret = (struct pr_sample){.data = data,
                                  .size = len,
                                  .dtype = PR_U8,
                                  .shape = {.ndim = 1, .dim = {len}}};
    return rc;
}
