/*
 * The format npz: a ZIP archive with an array x of samples and an array y of
 * their labels, as numpy.savez writes it, or deflated as savez_compressed
 * does. This is the table and the writer; npz_read.c has the reader.
 */
#include "base/codec/checksum.h"
#include "format/fill.h"
#include "format/npy_write.h"
#include "format/npz_impl.h"
#include "format/squeeze.h"

enum { MEMBERS = 2, PIECE = 4 * PR_CONTENT_BLOCK };

static const char *const names[MEMBERS] = {"x.npy", "y.npy"};

struct writing {
    struct pr_out out;
    struct pr_squeeze squeeze;
    struct pr_zip_member m[MEMBERS];
    struct pr_content_piece block;
    uint64_t piece[PIECE / 8]; /* to be deflated */
};

static int npz_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN && spec->compression != PR_ZIP)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "npz files have zip or no compression");
    return pr_npy_check(spec, err);
}

static unsigned member_count(const struct pr_file_spec *spec)
{
    return spec->labels_inside && !spec->labels_alone ? 2 : 1;
}

static void array_of(const struct pr_file_spec *spec, unsigned k,
                     struct pr_npy *ret)
{
    if (k == 0)
        pr_npy_describe_samples(spec, ret);
    else
        pr_npy_describe_labels(spec, ret);
}

/* The structures are built, for their lengths depend on what is in them. */
static uint64_t npz_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    uint8_t buf[PR_ZIP_ENTRY_MAX];
    struct pr_zip zip = {.members = member_count(spec)};
    uint64_t at = 0;

    *ret_exact = spec->compression == PR_PLAIN;
    for (unsigned k = 0; k < zip.members; k++) {
        struct pr_zip_member m = {.at = at};
        struct pr_npy a;

        array_of(spec, k, &a);
        m.bytes = a.head_bytes + a.data_bytes;
        m.packed = *ret_exact ? m.bytes : pr_deflate_bound(m.bytes);
        at += pr_zip_build_local(&m, names[k], buf) + m.packed;
        zip.dir_bytes += pr_zip_build_entry(&m, names[k], buf);
    }
    zip.dir_at = at;
    return at + zip.dir_bytes + pr_zip_build_end(&zip, buf);
}

/* ---- a member's bytes */

static int npz_put_bytes(struct writing *d, struct pr_zip_member *m,
                         const void *data, size_t len, bool last,
                         struct pr_err *err)
{
    uint64_t before = pr_out_offset(&d->out);
    int rc;

    m->crc = pr_crc32(m->crc, data, len);
    m->bytes += len;
    rc = m->method == PR_ZIP_DEFLATED
             ? pr_squeeze_put(&d->squeeze, &d->out, data, len, last, err)
             : pr_out_put(&d->out, data, len, err);
    m->packed += pr_out_offset(&d->out) - before;
    return rc;
}

static int npz_put_sample(struct pr_writer *w, struct pr_zip_member *m,
                          const struct pr_file_spec *spec, uint64_t sample,
                          struct pr_err *err)
{
    struct writing *d = w->data;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    bool is_last = sample + 1 == spec->samples;

    if (m->method != PR_ZIP_DEFLATED) {
        m->bytes += bytes;
        m->packed += bytes;
        return pr_content_put_sample(w, &d->out, &d->block, spec, sample,
                                     pr_crc32, &m->crc, err);
    }
    for (uint64_t off = 0; off < bytes; off += PIECE) {
        size_t n = bytes - off < PIECE ? (size_t)(bytes - off) : PIECE;
        int rc;

        pr_content_fill(spec, sample, off, d->piece, n);
        rc = npz_put_bytes(d, m, d->piece, n, is_last && off + n == bytes, err);
        if (rc)
            return rc;
        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return PR_OK;
}

static int put_samples(struct pr_writer *w, struct pr_zip_member *m,
                       const struct pr_file_spec *spec, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < spec->samples; i++)
        rc = npz_put_sample(w, m, spec, i, err);
    return rc;
}

static int npz_put_labels(struct pr_writer *w, struct pr_zip_member *m,
                          const struct pr_file_spec *spec, struct pr_err *err)
{
    struct writing *d = w->data;
    const size_t most = PIECE / sizeof(int64_t);
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < spec->samples;) {
        size_t n = 0;

        for (; n < most && i < spec->samples; n++, i++)
            d->piece[n] = (uint64_t)pr_content_label(spec, i);
        rc = npz_put_bytes(d, m, d->piece, n * sizeof *d->piece,
                           i == spec->samples, err);
        if (!rc && pr_writer_is_stopped(w))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return rc;
}

/* ---- the archive */

/* The local header is written twice: the checksum and the packed size are not
 * known before. Its length does not change. */
static int npz_put_member(struct pr_writer *w, const struct pr_file_spec *spec,
                          unsigned k, struct pr_err *err)
{
    struct writing *d = w->data;
    struct pr_zip_member *m = &d->m[k];
    uint8_t local[PR_ZIP_LOCAL_MAX], head[PR_NPY_HEAD_BUF];
    struct pr_npy a;
    size_t len;
    int rc;

    array_of(spec, k, &a);
    *m = (struct pr_zip_member){.at = pr_out_offset(&d->out)};
    if (spec->compression == PR_ZIP) {
        m->method = PR_ZIP_DEFLATED;
        rc = pr_squeeze_start(&d->squeeze, spec->level, PR_WRAP_NONE, err);
        if (rc)
            return rc;
    }
    len = pr_zip_build_local(m, names[k], local);
    pr_out_lead(&d->out, len + a.head_bytes);
    rc = pr_out_put(&d->out, local, len, err);
    if (!rc)
        rc = npz_put_bytes(d, m, head, pr_npy_build(&a, head), !a.data_bytes,
                           err);
    if (!rc)
        rc = k == 0 ? put_samples(w, m, spec, err)
                    : npz_put_labels(w, m, spec, err);
    if (rc)
        return rc;
    pr_zip_build_local(m, names[k], local);
    return pr_out_patch(&d->out, m->at, local, len, err);
}

static int put_directory(struct writing *d, unsigned members,
                         struct pr_err *err)
{
    struct pr_zip zip = {.dir_at = pr_out_offset(&d->out), .members = members};
    uint8_t buf[PR_ZIP_ENTRY_MAX];
    int rc = PR_OK;

    for (unsigned k = 0; !rc && k < members; k++) {
        size_t n = pr_zip_build_entry(&d->m[k], names[k], buf);

        rc = pr_out_put(&d->out, buf, n, err);
        zip.dir_bytes += n;
    }
    return rc ? rc : pr_out_put(&d->out, buf, pr_zip_build_end(&zip, buf), err);
}

static int npz_write(struct pr_writer *w, const struct pr_file_spec *spec,
                     const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct writing *d = w->data;
    unsigned members = member_count(spec);
    bool exact;
    uint64_t bytes = npz_bytes(spec, &exact);
    int rc = d->out.block ? PR_OK : pr_out_init(&d->out, w->st, err);

    if (!rc)
        rc = pr_out_create(&d->out, name, exact ? bytes : 0, err);
    if (rc)
        return rc;
    for (unsigned k = 0; !rc && k < members; k++)
        rc = npz_put_member(w, spec, k, err);
    if (!rc)
        rc = put_directory(d, members, err);
    bytes = pr_out_offset(&d->out);
    if (rc)
        pr_out_discard(&d->out);
    else
        rc = pr_out_commit(&d->out, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

static void npz_writer_done(struct pr_writer *w)
{
    struct writing *d = w->data;

    pr_squeeze_done(&d->squeeze);
}

const struct pr_format pr_format_npz = {
    .abi = PR_FORMAT_ABI,
    .name = "npz",
    .desc = "numpy arrays of samples and labels in a ZIP archive",
    .flags = PR_FORMAT_LABELS | PR_FORMAT_STREAM,
    .compressions = "none|zip",
    .check = npz_check,
    .bytes = npz_bytes,
    .writer_bytes = sizeof(struct writing),
    .write = npz_write,
    .writer_done = npz_writer_done,
    .reader_bytes = sizeof(struct pr_npz),
    .open = pr_npz_open,
    .read = pr_npz_read,
    .close = pr_npz_close,
    .reader_done = pr_npz_reader_done,
};
