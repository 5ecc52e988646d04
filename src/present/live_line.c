/* The live progress: the words, the bar and the guess at what remains. */
#include "base/json/json_write.h"
#include "base/units.h"
#include "present/live_impl.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_COLUMNS = 14, LEAST_LABEL = 8 };

/* Seconds until all is done; false while that cannot be told. */
static bool live_eta(const struct pr_live_line *l, uint64_t now_ns,
                     double *ret_s)
{
    double end_s, least_s, since_s = (double)(now_ns - l->window_ns) / 1e9;

    /* One item is no rate, and the first seconds tell little. */
    if (l->total <= l->done || !l->windows || l->done < l->base_done + 2 ||
        now_ns - l->start_ns < 2000000000u)
        return false;
    end_s = l->item_s * (double)(l->total - l->window_done) - since_s;
    /* An item that takes longer than usual does not speed up the others. */
    least_s = l->item_s * (double)(l->total - l->done - 1);
    *ret_s = end_s > least_s ? end_s : least_s;
    return *ret_s >= 0.5;
}

static void add_eta(struct pr_live_line *l, uint64_t now_ns, const char *before)
{
    char text[24];
    double s;

    if (!live_eta(l, now_ns, &s))
        return;
    if (s < 59.5)
        pr_buf_printf(&l->out, "%seta %.0f s", before, s);
    else
        pr_buf_printf(&l->out, "%seta %s", before, pr_format_seconds(text, s));
}

/* How many of so many parts are done; whole numbers, since 58 of 100 in
 * floating point is 57.99 %. */
static unsigned parts_done(const struct pr_live_line *l, unsigned parts)
{
    if (l->done >= l->total)
        return parts;
    if (l->total > UINT64_MAX / parts)
        return (unsigned)(l->done / (l->total / parts + 1));
    return (unsigned)(l->done * parts / l->total);
}

/* Whole blocks, one of 8 parts of a block, blanks. */
static void live_add_bar(struct pr_live_line *l)
{
    static const char part[8][4] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned eighths = parts_done(l, BAR_COLUMNS * 8);

    for (unsigned i = 0; i < BAR_COLUMNS; i++) {
        if (i < eighths / 8)
            pr_buf_str(&l->out, l->ascii ? "#" : "█");
        else if (l->ascii)
            pr_buf_char(&l->out, '.');
        else
            pr_buf_str(&l->out, part[i == eighths / 8 ? eighths % 8 : 0]);
    }
    pr_buf_char(&l->out, ' ');
}

/* "58%  58/100  1 failed  812 img/s  eta 12 s" */
static void live_add_counts(struct pr_live_line *l, uint64_t now_ns)
{
    if (l->total)
        pr_buf_printf(&l->out, "%3u%%  %" PRIu64 "/%" PRIu64,
                      parts_done(l, 100), l->done, l->total);
    else
        pr_buf_printf(&l->out, "%" PRIu64 " done", l->done);
    if (l->failed)
        pr_buf_printf(&l->out, "  %" PRIu64 " failed", l->failed);
    if (l->extra.len) {
        pr_buf_str(&l->out, "  ");
        pr_buf_add(&l->out, l->extra.data, l->extra.len);
    }
    add_eta(l, now_ns, "  ");
}

static size_t live_counts_columns(struct pr_live_line *l, uint64_t now_ns)
{
    size_t start = l->out.len, columns;

    live_add_counts(l, now_ns);
    if (!pr_buf_ok(&l->out))
        return 0;
    columns = pr_screen_columns(l->out.data + start, l->out.len - start);
    l->out.len = start;
    return columns;
}

/* Where it is narrow the bar goes first, then the label; figures are cut only
 * when there is nothing else. */
static void add_parts(struct pr_live_line *l, uint64_t now_ns, size_t columns)
{
    size_t figures = live_counts_columns(l, now_ns) + 1, room;
    size_t bar = l->total ? BAR_COLUMNS + 1 : 0;
    size_t label =
        l->label.len ? pr_screen_columns(l->label.data, l->label.len) + 2 : 0;
    size_t least = label < LEAST_LABEL + 2 ? label : LEAST_LABEL + 2;

    if (figures + bar + least > columns)
        bar = 0;
    room = columns > figures + bar ? columns - figures - bar : 0;
    pr_buf_char(&l->out, ' ');
    if (label && room >= least) {
        pr_screen_cut(&l->out, l->label.data, l->label.len, room - 2, l->ascii);
        pr_buf_str(&l->out, "  ");
    }
    if (bar)
        live_add_bar(l);
    live_add_counts(l, now_ns);
}

void pr_live_add_line(struct pr_live_line *l, uint64_t now_ns, unsigned columns)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 16);
    size_t start = l->out.len;

    add_parts(l, now_ns, columns);
    if (!pr_buf_ok(&l->out))
        return;
    pr_screen_cut(&line, l->out.data + start, l->out.len - start, columns,
                  l->ascii);
    l->out.len = start;
    if (line.len && pr_buf_ok(&line))
        pr_buf_add(&l->out, line.data, line.len);
}

void pr_live_add_plain(struct pr_live_line *l, uint64_t now_ns)
{
    const char *unit = l->opts.unit ? l->opts.unit : "";
    const char *blank = *unit ? " " : "";

    if (l->total)
        pr_buf_printf(&l->out, "%" PRIu64 " of %" PRIu64 "%s%s done", l->done,
                      l->total, blank, unit);
    else
        pr_buf_printf(&l->out, "%" PRIu64 "%s%s done", l->done, blank, unit);
    if (l->failed)
        pr_buf_printf(&l->out, ", %" PRIu64 " failed", l->failed);
    if (l->label.len)
        pr_buf_printf(&l->out, ", now %s", l->label.data);
    if (l->extra.len)
        pr_buf_printf(&l->out, ", %s", l->extra.data);
    add_eta(l, now_ns, ", ");
    pr_buf_char(&l->out, '\n');
}

void pr_live_add_object(struct pr_live_line *l, uint64_t now_ns,
                        const char *event)
{
    struct pr_json_writer jb;
    double s;

    pr_json_writer_init(&jb, &l->out, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "event", event);
    pr_json_put_uint(&jb, "done", l->done);
    if (l->total)
        pr_json_put_uint(&jb, "total", l->total);
    pr_json_put_uint(&jb, "failed", l->failed);
    pr_json_put_str(&jb, "unit", l->opts.unit);
    pr_json_put_str(&jb, "label", l->label.len ? l->label.data : NULL);
    pr_json_put_str(&jb, "extra", l->extra.len ? l->extra.data : NULL);
    pr_json_put_float(&jb, "elapsed_s",
                      round((double)(now_ns - l->start_ns) / 1e6) / 1e3);
    if (live_eta(l, now_ns, &s))
        pr_json_put_float(&jb, "eta_s", (double)(uint64_t)(s * 10 + 0.5) / 10);
    pr_json_close(&jb);
    pr_buf_char(&l->out, '\n');
}
