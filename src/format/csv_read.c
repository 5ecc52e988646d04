/*
 * Reading csv: a cursor that goes from row to row, and marks to find rows
 * again. Memory does not depend on the size of the file.
 */
#include "format/csv.h"

#include <string.h>

/* ---- lines */

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
        rc = pr_csv_window_fill(r, w, err);
        if (rc)
            return rc;
    }
}

/* ---- marks */

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
    rc = pr_csv_window_seek(r, &x->w, off, err);
    for (; !rc && at < row; at++) {
        rc = pass_line(r, &line, err);
        if (!rc && line.end)
            return too_few(r, at + (line.bytes > 0), err);
        csv_mark_row(x, at + 1, pr_csv_window_offset(&x->w));
    }
    if (!rc && x->w.at == x->w.len && !x->w.last)
        rc = pr_csv_window_fill(r, &x->w, err);
    if (!rc && x->w.at == x->w.len && x->w.last)
        return too_few(r, row, err);
    return rc;
}

/* ---- opening */

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
        rc = pr_csv_window_seek(r, &x->w, 0, err);
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

/* ---- stored bytes alone */

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

int pr_csv_open(struct pr_reader *r, struct pr_err *err)
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
        rc = pr_csv_window_start(r, &x->w, err);
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

/* ---- rows */

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
        rc = pr_csv_window_fill(r, w, err);
        if (rc)
            return rc;
        if (w->whole == 0 && !w->last)
            return pr_reader_bad(r, w->base, err,
                                 "row %llu has a field of more than a MiB",
                                 (unsigned long long)row + 1);
    }
}

int pr_csv_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
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

void pr_csv_close(struct pr_reader *r)
{
    struct pr_csv_reader *x = r->data;

    if (x->is_open)
        pr_object_close(&r->obj);
    x->is_open = false;
}

void pr_csv_reader_done(struct pr_reader *r)
{
    struct pr_csv_reader *x = r->data;

    pr_csv_window_done(&x->w);
}
