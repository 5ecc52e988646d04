/*
 * Writing csv: elements are made a piece at a time and become text straight in
 * the stream, or in a block that is then compressed.
 */
#include "base/mem.h"
#include "format/content.h"
#include "format/csv.h"

enum { TEXT_BLOCK = 64 << 10 };

/* Moves the block of text into the stream, compressed. */
static int flush_text(struct pr_csv_writer *x, bool last, struct pr_err *err)
{
    size_t len = x->used;

    x->used = 0;
    return pr_squeeze_put(&x->squeeze, &x->out, x->text, len, last, err);
}

/* Room for text, at least as much as an element needs unless it is at the end
 * of the stream's block. */
static int text_room(struct pr_csv_writer *x, bool gzip, char **ret,
                     size_t *ret_len, struct pr_err *err)
{
    uint8_t *room;
    int rc;

    if (gzip) {
        rc = TEXT_BLOCK - x->used < 32 ? flush_text(x, false, err) : PR_OK;
        *ret = x->text + x->used;
        *ret_len = TEXT_BLOCK - x->used;
        return rc;
    }
    rc = pr_out_room(&x->out, PR_OUT_BLOCK, &room, ret_len, err);
    if (!rc)
        *ret = (char *)room;
    return rc;
}

static void text_advance(struct pr_csv_writer *x, bool gzip, size_t len)
{
    if (gzip)
        x->used += len;
    else
        pr_out_advance(&x->out, len);
}

/* Elements of the piece; with the last of a row the row ends. */
static int put_elements(struct pr_csv_writer *x,
                        const struct pr_file_spec *spec, size_t n, bool ends,
                        struct pr_err *err)
{
    const uint8_t *data = (const uint8_t *)x->piece;
    size_t widest = pr_csv_widest(spec->dtype), done = 0;
    bool gzip = spec->compression == PR_GZIP;

    while (done < n) {
        char *room, *end, one[32];
        size_t len, fit;
        int rc = text_room(x, gzip, &room, &len, err);

        if (rc)
            return rc;
        fit = len / widest < n - done ? len / widest : n - done;
        end = pr_csv_text(&x->table, spec->dtype,
                          data + done * pr_dtype_bytes(spec->dtype),
                          fit ? fit : 1, fit ? room : one);
        done += fit ? fit : 1;
        if (ends && done == n)
            end[-1] = '\n';
        if (fit)
            text_advance(x, gzip, (size_t)(end - room));
        else
            rc = pr_out_put(&x->out, one, (size_t)(end - one), err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int csv_write_row(struct pr_writer *w, const struct pr_file_spec *spec,
                         uint64_t sample, struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    size_t size = pr_dtype_bytes(spec->dtype);

    for (uint64_t off = 0; off < bytes; off += sizeof x->piece) {
        uint64_t left = bytes - off;
        bool ends = left <= sizeof x->piece;
        size_t len = ends ? (size_t)left : sizeof x->piece;
        int rc;

        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_content_fill(spec, sample, off, x->piece, len);
        rc = put_elements(x, spec, len / size, ends, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* What lasts for all files of the writer. */
static int csv_writer_prepare(struct pr_writer *w,
                              const struct pr_file_spec *spec,
                              struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;

    if (!x->out.block) {
        int rc = pr_out_init(&x->out, w->st, err);
        if (rc)
            return rc;
        pr_csv_table_init(&x->table);
    }
    if (spec->compression != PR_GZIP)
        return PR_OK;
    if (!x->text)
        x->text = pr_alloc(TEXT_BLOCK);
    if (!x->text)
        return pr_fail_nomem(err);
    x->used = 0;
    return pr_squeeze_start(&x->squeeze, spec->level, PR_WRAP_GZIP, err);
}

int pr_csv_write(struct pr_writer *w, const struct pr_file_spec *spec,
                 const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;
    uint64_t bytes;
    int rc = csv_writer_prepare(w, spec, err);

    /* The size is not known before, so none is asked for. */
    if (!rc)
        rc = pr_out_create(&x->out, name, 0, err);
    for (uint64_t i = 0; !rc && i < spec->samples; i++)
        rc = csv_write_row(w, spec, i, err);
    if (!rc && spec->compression == PR_GZIP)
        rc = flush_text(x, true, err);
    bytes = pr_out_offset(&x->out);
    if (!rc)
        rc = pr_out_commit(&x->out, err);
    if (rc)
        pr_out_discard(&x->out);
    else
        *ret_bytes = bytes;
    return rc;
}

void pr_csv_writer_done(struct pr_writer *w)
{
    struct pr_csv_writer *x = w->data;

    pr_squeeze_done(&x->squeeze);
    pr_free(x->text);
}
