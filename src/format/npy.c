/* The format npy: one array a file. */
#include "format/fill.h"
#include "format/npy_array.h"
#include "format/npy_write.h"
#include "format/window.h"

/* ---- reading */

struct reading {
    bool is_open;
    struct pr_window win;
    struct pr_npy_last_head head;
    bool has_array; /* array fits head */
    struct pr_npy_array array;
};

static int npy_read_head(struct pr_reader *r, struct reading *d,
                         struct pr_err *err)
{
    const struct pr_npy *npy = &d->head.npy;
    const uint8_t *head;
    size_t len;
    int rc = pr_window_get(&d->win, r, 0, PR_NPY_FIXED, &head, err);

    if (!rc)
        rc = pr_npy_head_length(r, 0, head, &len, err);
    if (!rc)
        rc = pr_window_get(&d->win, r, 0, len, &head, err);
    if (!rc)
        rc = pr_npy_parse_head(&d->head, r, 0, head, len, err);
    if (rc)
        return rc;
    if (!d->head.is_same)
        d->has_array = false;
    if (npy->data_bytes > r->obj.size - npy->head_bytes)
        return pr_reader_bad(r, r->obj.size, err,
                             "the file ends, its array has %llu bytes",
                             (unsigned long long)npy->data_bytes);
    if (!d->has_array)
        rc = pr_npy_array_init(&d->array, npy, r, 0, r->opts.samples, err);
    d->has_array = rc == PR_OK;
    return rc;
}

static int npy_open(struct pr_reader *r, struct pr_err *err)
{
    struct reading *d = r->data;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    d->is_open = rc == PR_OK;
    if (!rc)
        rc = pr_window_open(&d->win, r, err);
    if (!rc)
        rc = npy_read_head(r, d, err);
    if (rc)
        return rc;
    if (r->opts.skip_decode) { /* as the bytes lie there */
        d->array.step = 1;
        d->array.npy.is_swapped = false;
    }
    r->samples = d->array.samples;
    r->need = (size_t)d->array.bytes + PR_IO_SLACK;
    return PR_OK;
}

static int npy_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                    struct pr_sample *ret, struct pr_err *err)
{
    struct reading *d = r->data;

    return pr_npy_array_read(&d->array, r, &d->win, d->array.npy.head_bytes, i,
                             buf, cap, ret, err);
}

static void npy_close(struct pr_reader *r)
{
    struct reading *d = r->data;

    if (d->is_open)
        pr_object_close(&r->obj);
    d->is_open = false;
}

/* ---- writing */

struct writing {
    struct pr_out out;
    struct pr_content_piece piece;
};

static int npy_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "npy files are not compressed");
    return pr_npy_check(spec, err);
}

static uint64_t npy_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_npy a;

    pr_npy_describe_samples(spec, &a);
    *ret_exact = true;
    return a.head_bytes + a.data_bytes;
}

static int put_array(struct pr_writer *w, const struct pr_file_spec *spec,
                     const struct pr_npy *a, struct pr_err *err)
{
    struct writing *d = w->data;
    uint8_t head[PR_NPY_HEAD_BUF];
    int rc = pr_out_put(&d->out, head, pr_npy_build(a, head), err);

    for (uint64_t s = 0; !rc && s < spec->samples; s++)
        rc = pr_content_put_sample(w, &d->out, &d->piece, spec, s, NULL, NULL,
                                   err);
    return rc;
}

static int npy_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writing *d = w->data;
    struct pr_npy a;
    uint64_t bytes;
    int rc = d->out.block ? PR_OK : pr_out_init(&d->out, w->st, err);

    if (rc)
        return rc;
    pr_npy_describe_samples(spec, &a);
    rc = pr_out_create(&d->out, name, a.head_bytes + a.data_bytes, err);
    if (rc)
        return rc;
    rc = put_array(w, spec, &a, err);
    bytes = pr_out_offset(&d->out);
    if (rc)
        pr_out_discard(&d->out);
    else
        rc = pr_out_commit(&d->out, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

const struct pr_format pr_format_npy = {
    .abi = PR_FORMAT_ABI,
    .name = "npy",
    .desc = "one numpy array a file",
    .compressions = "none",
    .check = npy_check,
    .bytes = npy_bytes,
    .writer_bytes = sizeof(struct writing),
    .write = npy_write,
    .reader_bytes = sizeof(struct reading),
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
};
