/*
 * A window over the text of a csv file: about a MiB of it, wherever the cursor
 * is. Plain files are fetched where they are needed; gzip files are inflated
 * forwards, and from the start again to go back further than the window.
 */
#include "base/mem.h"
#include "format/csv.h"

#include <string.h>

/* The text up to the last separator: whole fields. A field ends the text. */
static void csv_find_whole(struct pr_csv_window *w)
{
    size_t n = w->len;

    if (!w->last)
        while (n > w->at && w->text[n - 1] != ',' && w->text[n - 1] != '\n')
            n--;
    w->whole = n;
}

/* ---- plain */

static int fetch_at(struct pr_reader *r, struct pr_csv_window *w, uint64_t off,
                    struct pr_err *err)
{
    uint64_t left = r->obj.size - off;
    size_t len = left < w->cap ? (size_t)left : w->cap;
    const uint8_t *text = r->scratch;

    /* A fetch that fails half-way leaves nothing to be read. */
    w->base = off;
    w->len = w->at = w->whole = 0;
    w->last = false;
    if (len) {
        int rc = pr_object_fetch(&r->obj, off, len, r->scratch, r->scratch_cap,
                                 &text, err);
        if (rc)
            return rc;
    }
    w->text = text;
    w->len = len;
    w->last = left == len;
    csv_find_whole(w);
    return PR_OK;
}

/* ---- gzip */

static int fetch_input(struct pr_reader *r, struct pr_csv_window *w,
                       struct pr_err *err)
{
    uint64_t left = r->obj.size - w->in_at;
    size_t len = left < w->cap ? (size_t)left : w->cap;
    int rc;

    if (w->in_len || !len)
        return PR_OK;
    rc = pr_object_fetch(&r->obj, w->in_at, len, r->scratch, r->scratch_cap,
                         &w->in, err);
    if (rc)
        return rc;
    w->in_at += len;
    w->in_len = len;
    return PR_OK;
}

static int csv_inflate_some(struct pr_reader *r, struct pr_csv_window *w,
                            struct pr_err *err)
{
    int rc = fetch_input(r, w, err);
    size_t put = w->cap - w->len;
    bool was_input = w->in_len > 0;
    enum pr_inflate_end end;

    if (rc)
        return rc;
    end = pr_inflate_run(w->z, &w->in, &w->in_len, w->buf + w->len, &put);
    if (end == PR_INFLATE_BAD)
        return pr_reader_bad(r, w->in_at - w->in_len, err,
                             "the gzip data is damaged");
    w->len += put;
    if (w->in_len || w->in_at < r->obj.size)
        return PR_OK;
    w->last = end == PR_INFLATE_END;
    if (!w->last && !was_input && !put)
        return pr_reader_bad(r, r->obj.size, err, "the gzip data is cut short");
    return PR_OK;
}

static int inflate_more(struct pr_reader *r, struct pr_csv_window *w,
                        struct pr_err *err)
{
    int rc = PR_OK;

    memmove(w->buf, w->buf + w->at, w->len - w->at);
    w->base += w->at;
    w->len -= w->at;
    w->at = 0;
    while (!rc && !w->last && w->len < w->cap)
        rc = csv_inflate_some(r, w, err);
    csv_find_whole(w); /* what there is can be read, also before damage */
    return rc;
}

static void rewind_gzip(struct pr_csv_window *w)
{
    w->text = w->buf;
    w->base = w->in_at = 0;
    w->len = w->at = w->in_len = 0;
    w->last = false;
    pr_inflate_start(w->z, PR_WRAP_GZIP);
}

/* The window turns out to hold gzip. */
static int start_gzip(struct pr_reader *r, struct pr_csv_window *w,
                      struct pr_err *err)
{
    const uint8_t *in = w->text;
    size_t len = w->len;

    if (!w->z)
        w->z = pr_inflate_new();
    if (!w->buf)
        w->buf = pr_alloc(w->cap);
    if (!w->z || !w->buf)
        return pr_fail_nomem(err);
    w->gzip = true;
    rewind_gzip(w);
    w->in = in;
    w->in_at = w->in_len = len;
    return inflate_more(r, w, err);
}

/* ---- */

int pr_csv_window_start(struct pr_reader *r, struct pr_csv_window *w,
                        struct pr_err *err)
{
    int rc;

    w->gzip = false;
    if (!w->cap)
        w->cap = PR_CSV_WINDOW;
    if (!pr_reader_scratch(r, PR_IO_SLACK + (r->obj.size < w->cap
                                                 ? (size_t)r->obj.size
                                                 : w->cap)))
        return pr_fail_nomem(err);
    rc = fetch_at(r, w, 0, err);
    if (!rc && w->len >= 2 && w->text[0] == 0x1f && w->text[1] == 0x8b)
        rc = start_gzip(r, w, err);
    return rc;
}

int pr_csv_window_fill(struct pr_reader *r, struct pr_csv_window *w,
                       struct pr_err *err)
{
    if (w->gzip)
        return inflate_more(r, w, err);
    return fetch_at(r, w, w->base + w->at, err);
}

int pr_csv_window_seek(struct pr_reader *r, struct pr_csv_window *w,
                       uint64_t off, struct pr_err *err)
{
    int rc = PR_OK;

    if (w->gzip && off < w->base)
        rewind_gzip(w);
    while (!rc && w->gzip && !w->last && off > w->base + w->len) {
        w->at = w->len;
        rc = inflate_more(r, w, err);
    }
    if (!rc && (off < w->base || off > w->base + w->len)) {
        if (w->gzip || off > r->obj.size)
            return pr_reader_bad(r, off, err, "the text has become shorter");
        rc = fetch_at(r, w, off, err);
    }
    if (!rc)
        w->at = (size_t)(off - w->base);
    return rc;
}

void pr_csv_window_done(struct pr_csv_window *w)
{
    pr_inflate_free(w->z);
    pr_free(w->buf);
}
