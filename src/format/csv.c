/*
 * csv: a row for each sample, its elements as decimal numbers with commas
 * between, no header, as DLIO lays it out. With gzip the whole file is
 * compressed and keeps its name.
 */
#include "format/csv.h"

#include "base/mem.h"

#include <string.h>

/* ---- a window over the text: about a MiB of it, wherever the cursor is. Plain
 * files are fetched where they are needed; gzip files are inflated forwards,
 * and from the start again to go back further than the window. */

/* The text up to the last separator: whole fields. A field ends the text. */
static void csv_find_whole(struct pr_csv_window *w)
{
    size_t n = w->len;

    if (!w->last)
        while (n > w->at && w->text[n - 1] != ',' && w->text[n - 1] != '\n')
            n--;
    w->whole = n;
}

/* ---- the window: plain */

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

/* ---- the window: gzip */

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

/* ---- the window: both */

static int csv_window_start(struct pr_reader *r, struct pr_csv_window *w,
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

/* Lets go of what is before the cursor, and gets more. */
static int csv_window_fill(struct pr_reader *r, struct pr_csv_window *w,
                           struct pr_err *err)
{
    if (w->gzip)
        return inflate_more(r, w, err);
    return fetch_at(r, w, w->base + w->at, err);
}

static int csv_window_seek(struct pr_reader *r, struct pr_csv_window *w,
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

static void csv_window_done(struct pr_csv_window *w)
{
    pr_inflate_free(w->z);
    pr_free(w->buf);
}

/* ---- reading: a cursor that goes from row to row, and marks to find rows
 * again. Memory does not depend on the size of the file. */

struct line {
    uint64_t bytes, commas;
    bool blank; /* nothing but blanks */
    bool end;   /* the text ended with it */
};

static bool is_all_blank(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

/* Moves the cursor behind the line it is in. */
static int pass_line(struct pr_reader *r, struct line *ret, struct pr_err *err)
{
    struct pr_csv_window *w = &((struct pr_csv_reader *)r->data)->w;

    *ret = (struct line){.blank = true};
    for (;;) {
        const uint8_t *p = w->text + w->at;
        size_t left = w->len - w->at;
        const uint8_t *newline = left ? memchr(p, '\n', left) : NULL;
        size_t len = newline ? (size_t)(newline - p) : left;
        int rc;

        ret->bytes += len;
        ret->commas += pr_csv_count(p, len, ',');
        ret->blank = ret->blank && is_all_blank(p, len);
        w->at += len + (newline != NULL);
        ret->end = !newline && w->last;
        if (newline || w->last)
            return PR_OK;
        rc = csv_window_fill(r, w, err);
        if (rc)
            return rc;
    }
}

/* ---- reading: marks */

/* Remembers where a row starts, if it is one of those. When the table is full
 * every second mark makes room. */
static void csv_mark_row(struct pr_csv_reader *x, uint64_t row, uint64_t off)
{
    if (row != x->mark_count * x->step)
        return;
    if (x->mark_count == PR_CSV_MARKS) {
        for (size_t i = 0; i < PR_CSV_MARKS / 2; i++)
            x->marks[i] = x->marks[2 * i];
        x->mark_count = PR_CSV_MARKS / 2;
        x->step *= 2;
    }
    x->marks[x->mark_count++] = off;
}

/* The nearest known place at or before a row. */
static uint64_t csv_find_nearest(const struct pr_csv_reader *x, uint64_t row,
                                 uint64_t *ret_off)
{
    uint64_t best = row / x->step;

    if (best >= x->mark_count)
        best = x->mark_count - 1;
    *ret_off = x->marks[best];
    best *= x->step;
    if (x->seen_row <= row && x->seen_row > best) {
        best = x->seen_row;
        *ret_off = x->seen_off;
    }
    if (x->row <= row && x->row >= best) {
        best = x->row;
        *ret_off = pr_csv_window_offset(&x->w);
    }
    return best;
}

static int too_few(struct pr_reader *r, uint64_t rows, struct pr_err *err)
{
    struct pr_csv_reader *x = r->data;

    x->row = UINT64_MAX;
    return pr_reader_bad(r, pr_csv_window_offset(&x->w), err,
                         "the file has %llu rows, %llu were expected",
                         (unsigned long long)rows,
                         (unsigned long long)r->samples);
}

/* Puts the cursor at the start of a row. */
static int seek_row(struct pr_reader *r, uint64_t row, struct pr_err *err)
{
    struct pr_csv_reader *x = r->data;
    uint64_t off, at = csv_find_nearest(x, row, &off);
    struct line line;
    int rc;

    x->row = UINT64_MAX;
    rc = csv_window_seek(r, &x->w, off, err);
    for (; !rc && at < row; at++) {
        rc = pass_line(r, &line, err);
        if (!rc && line.end)
            return too_few(r, at + (line.bytes > 0), err);
        csv_mark_row(x, at + 1, pr_csv_window_offset(&x->w));
    }
    if (!rc && x->w.at == x->w.len && !x->w.last)
        rc = csv_window_fill(r, &x->w, err);
    if (!rc && x->w.at == x->w.len && x->w.last)
        return too_few(r, row, err);
    return rc;
}

/* ---- reading: opening */

/* Buffer for so many elements, and some to be fast. */
static size_t need_for(const struct pr_reader *r, uint64_t elements)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(elements, pr_dtype_bytes(r->opts.dtype),
                               &bytes) ||
        __builtin_add_overflow(bytes, (uint64_t)PR_CSV_PAD, &bytes) ||
        bytes > SIZE_MAX)
        return SIZE_MAX;
    return (size_t)bytes;
}

/* Counts rows, and the elements of the longest. */
static int count_rows(struct pr_reader *r, struct pr_err *err)
{
    struct pr_csv_reader *x = r->data;
    uint64_t most = 0, rows = 0;
    struct line line = {0};
    int rc = PR_OK;

    for (uint64_t row = 0; !rc && !line.end; row++) {
        csv_mark_row(x, row, pr_csv_window_offset(&x->w));
        rc = pass_line(r, &line, err);
        if (rc || line.blank) /* nothing, if only such lines follow */
            continue;
        rows = row + 1;
        if (line.commas >= most)
            most = line.commas + 1;
    }
    if (!rc)
        rc = csv_window_seek(r, &x->w, 0, err);
    r->samples = rows;
    r->need = need_for(r, most);
    return rc;
}

/* Elements of the first row. When it is longer than the window: what rows of
 * this file should have, judging by the start. A guess that is too low costs a
 * failed read that sets the right number. */
#define GUESS_MAX 33554432.0 /* elements */

static uint64_t guess_elements(const struct pr_reader *r)
{
    const struct pr_csv_window *w = &((struct pr_csv_reader *)r->data)->w;
    const uint8_t *newline = w->len ? memchr(w->text, '\n', w->len) : NULL;
    size_t len = newline ? (size_t)(newline - w->text) : w->len;
    uint64_t n = pr_csv_count(w->text, len, ',') + 1;
    double times, text = (double)r->obj.size;

    if (newline || w->last)
        return n;
    if (w->gzip)
        text *= (double)w->len / (double)(w->in_at - w->in_len);
    times = 1.25 * text / (double)r->samples / (double)w->len;
    /* A guess asks for no more than this; a row that needs it says so. */
    if (times > GUESS_MAX / (double)n)
        times = GUESS_MAX / (double)n;
    return (uint64_t)((double)n * (times < 1.25 ? 1.25 : times));
}

/* ---- reading: stored bytes alone */

/* Rows cannot be told without looking: equal shares of the file. */
static uint64_t share_start(const struct pr_reader *r, uint64_t i)
{
    uint64_t each = r->obj.size / r->samples, more = r->obj.size % r->samples;

    return each * i + (i < more ? i : more);
}

static int read_stored(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                       struct pr_sample *ret, struct pr_err *err)
{
    uint64_t off = share_start(r, i);
    size_t len = (size_t)(share_start(r, i + 1) - off);
    const uint8_t *data = buf;
    int rc = PR_OK;

    if (cap < len + PR_IO_SLACK)
        return pr_fail(err, PR_E_CONF, r->name,
                       "a buffer of %zu bytes is too small, %zu are needed",
                       cap, len + PR_IO_SLACK);
    if (len)
        rc = pr_object_fetch(&r->obj, off, len, buf, cap, &data, err);
    if (!rc)
        *ret = (struct pr_sample){.data = data,
                                  .size = len,
                                  .dtype = PR_U8,
                                  .shape = {.ndim = 1, .dim = {len}}};
    return rc;
}

static int csv_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_csv_reader *x = r->data;
    bool counts = !r->opts.samples;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    x->mark_count = x->row = x->seen_row = x->seen_off = 0;
    x->step = 1;
    x->is_open = rc == PR_OK;
    if (rc)
        return rc;
    r->samples = r->opts.samples;
    if (counts || !r->opts.skip_decode)
        rc = csv_window_start(r, &x->w, err);
    if (!rc && counts)
        rc = count_rows(r, err);
    else if (!rc && !r->opts.skip_decode)
        r->need = need_for(r, guess_elements(r));
    csv_mark_row(x, 0, 0);
    if (!rc && r->opts.skip_decode)
        r->need = (size_t)(r->samples ? r->obj.size / r->samples + 1 : 0) +
                  PR_IO_SLACK;
    return rc;
}

/* ---- reading: rows */

/* The text of the field at p, as far as it can be shown. */
static void show_field(const struct pr_csv_scan *s, char out[static 32])
{
    const uint8_t *p = s->p;
    size_t n = 0;

    while (p < s->end && (*p == ' ' || *p == '\t'))
        p++;
    for (; p < s->end && *p != ',' && *p != '\n' && n < 28; p++)
        out[n++] = *p >= ' ' && *p < 127 ? (char)*p : '?';
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

static int bad_field(struct pr_reader *r, const struct pr_csv_scan *s,
                     uint64_t row, uint64_t column, struct pr_err *err)
{
    const struct pr_csv_window *w = &((struct pr_csv_reader *)r->data)->w;
    const char *type = pr_dtype_name(r->opts.dtype);
    const char *of = w->gzip ? " of the inflated text" : "";
    unsigned long long y = row + 1, c = column + 1;
    uint64_t off = w->base + (uint64_t)(s->p - w->text);
    char text[32];

    show_field(s, text);
    if (s->why == PR_CSV_EMPTY)
        return pr_reader_bad(r, off, err, "row %llu, column %llu%s is empty", y,
                             c, of);
    if (s->why == PR_CSV_RANGE)
        return pr_reader_bad(r, off, err,
                             "row %llu, column %llu%s: '%s' is out of range "
                             "for %s",
                             y, c, of, text, type);
    return pr_reader_bad(r, off, err, "row %llu, column %llu%s: '%s' is no %s",
                         y, c, of, text, type);
}

/* The buffer is too small: says how large it should be. */
static int ask_for_more(struct pr_reader *r, size_t cap, uint64_t elements,
                        struct pr_err *err)
{
    struct line rest;
    int rc = pass_line(r, &rest, err);

    if (rc)
        return rc;
    r->need = need_for(r, elements + rest.commas + 1);
    return pr_fail(err, PR_E_CONF, r->name,
                   "a buffer of %zu bytes is too small, %zu are needed", cap,
                   r->need);
}

/* The row at the cursor; *ret_bytes of elements. */
static int csv_read_row(struct pr_reader *r, uint64_t row, uint8_t *buf,
                        size_t cap, size_t *ret_bytes, struct pr_err *err)
{
    struct pr_csv_window *w = &((struct pr_csv_reader *)r->data)->w;
    struct pr_csv_scan s = {.out = buf, .out_end = buf + cap};
    size_t size = pr_dtype_bytes(r->opts.dtype);

    for (;;) {
        enum pr_csv_end end;
        int rc;

        s.p = w->text + w->at;
        s.end = w->text + w->whole;
        s.last = w->last;
        end = pr_csv_parse(r->opts.dtype, &s);
        w->at = (size_t)(s.p - w->text);
        *ret_bytes = (size_t)(s.out - buf);
        if (end == PR_CSV_ROW)
            return PR_OK;
        if (end == PR_CSV_FULL)
            return ask_for_more(r, cap, *ret_bytes / size, err);
        if (end == PR_CSV_BAD)
            return bad_field(r, &s, row, *ret_bytes / size, err);
        rc = csv_window_fill(r, w, err);
        if (rc)
            return rc;
        if (w->whole == 0 && !w->last)
            return pr_reader_bad(r, w->base, err,
                                 "row %llu has a field of more than a MiB",
                                 (unsigned long long)row + 1);
    }
}

static int csv_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                    struct pr_sample *ret, struct pr_err *err)
{
    struct pr_csv_reader *x = r->data;
    size_t bytes;
    int rc;

    if (r->opts.skip_decode)
        return read_stored(r, i, buf, cap, ret, err);
    rc = seek_row(r, i, err);
    if (rc)
        return rc;
    x->seen_row = i;
    x->seen_off = pr_csv_window_offset(&x->w);
    rc = csv_read_row(r, i, buf, cap, &bytes, err);
    if (rc)
        return rc;
    x->row = i + 1;
    csv_mark_row(x, i + 1, pr_csv_window_offset(&x->w));
    *ret = (struct pr_sample){
        .data = buf,
        .size = bytes,
        .dtype = r->opts.dtype,
        .shape = {.ndim = 1, .dim = {bytes / pr_dtype_bytes(r->opts.dtype)}},
    };
    return PR_OK;
}

static void csv_close(struct pr_reader *r)
{
    struct pr_csv_reader *x = r->data;

    if (x->is_open)
        pr_object_close(&r->obj);
    x->is_open = false;
}

static void csv_reader_done(struct pr_reader *r)
{
    struct pr_csv_reader *x = r->data;

    csv_window_done(&x->w);
}

static int csv_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t count = pr_shape_count(&spec->shape), bytes;

    if (!count)
        return pr_fail(err, PR_E_CONF, "dataset.record_dims",
                       "csv cannot hold samples without elements");
    if (spec->compression != PR_PLAIN && spec->compression != PR_GZIP)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "csv takes none or gzip");
    if (__builtin_mul_overflow(count, pr_csv_widest(spec->dtype), &bytes) ||
        __builtin_mul_overflow(bytes, spec->samples, &bytes) ||
        bytes > INT64_MAX)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "a file would be too large");
    return PR_OK;
}

static uint64_t csv_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    uint64_t bytes = pr_shape_count(&spec->shape) * spec->samples *
                     pr_csv_widest(spec->dtype);

    *ret_exact = false;
    return spec->compression == PR_GZIP ? pr_deflate_bound(bytes) : bytes;
}

const struct pr_format pr_format_csv = {
    .abi = PR_FORMAT_ABI,
    .name = "csv",
    .desc = "rows of decimal numbers, one for each sample",
    .flags = PR_FORMAT_STREAM,
    .compressions = "none|gzip",
    .check = csv_check,
    .bytes = csv_bytes,
    .writer_bytes = sizeof(struct pr_csv_writer),
    .write = pr_csv_write,
    .writer_done = pr_csv_writer_done,
    .reader_bytes = sizeof(struct pr_csv_reader),
    .open = csv_open,
    .read = csv_read,
    .close = csv_close,
    .reader_done = csv_reader_done,
};
