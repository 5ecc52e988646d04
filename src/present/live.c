/*
 * The live progress: the words, the bar and the guess at what remains; when to
 * write, and where.
 */
#include "present/live.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/units.h"
#include "present/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum live_channel {
    LIVE_OFF,
    LIVE_LINE,
    LIVE_LINES,
    LIVE_OBJECTS,
};

struct pr_live_line {
    struct pr_live_opts opts;
    enum live_channel channel;
    bool ascii;
    bool started;               /* the first update has come */
    bool painted;               /* the line is on the screen */
    bool finished;              /* pr_live_close was called, or fd is dead */
    uint64_t start_ns, last_ns; /* of the command, of the last paint */
    uint64_t done, total, failed;
    struct pr_buf label, extra; /* clean */
    struct pr_buf out;          /* of one write */

    /* The eta: seconds an item takes, smoothed over windows of at least one
     * second in which at least one was done. */
    uint64_t base_done, window_ns, window_done;
    unsigned windows;
    double item_s;
};

/* ---- what is written */

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

/* Without its line end, at most columns wide. */
static void live_add_line(struct pr_live_line *l, uint64_t now_ns,
                          unsigned columns)
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

static void live_add_plain(struct pr_live_line *l, uint64_t now_ns)
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

static void live_add_object(struct pr_live_line *l, uint64_t now_ns,
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

#define SECOND ((uint64_t)1000000000)
#define FIRST_PAINT SECOND
#define REPAINT (SECOND / 4)
#define PLAIN_EVERY (30 * SECOND)

static const char erase[] = "\r\x1b[K";

/* ---- when and where */

static uint64_t now_of(const struct pr_live_line *l)
{
    return l->opts.clock_ns ? l->opts.clock_ns(l->opts.ctx) : pr_clock_ns();
}

static unsigned live_terminal_width(const struct pr_live_line *l)
{
    struct winsize w;

    if (l->opts.width)
        return l->opts.width(l->opts.ctx);
    if (ioctl(l->opts.fd, TIOCGWINSZ, &w) == 0 && w.ws_col)
        return w.ws_col;
    return 80;
}

static bool locale_is_ascii(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && *v) /* the first that is set decides */
            return !strstr(v, "UTF-8") && !strstr(v, "utf8") &&
                   !strstr(v, "UTF8") && !strstr(v, "utf-8");
    }
    return true;
}

static bool can_redraw(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) && !(term && strcmp(term, "dumb") == 0);
}

static enum live_channel channel_of(const struct pr_live_opts *o)
{
    switch (o->mode) {
    case PR_LIVE_ALWAYS:
        return LIVE_LINE;
    case PR_LIVE_JSON:
        return LIVE_OBJECTS;
    case PR_LIVE_PLAIN:
        return LIVE_LINES;
    case PR_LIVE_NEVER:
        return LIVE_OFF;
    case PR_LIVE_AUTO:
        break;
    }
    return can_redraw(o->fd) ? LIVE_LINE : LIVE_LINES;
}

struct pr_live_line *pr_live_new(const struct pr_live_opts *opts)
{
    struct pr_live_line *l = pr_alloc_zeroed(sizeof *l);

    if (!l)
        return NULL;
    l->opts = *opts;
    l->channel = channel_of(opts);
    l->ascii = opts->chars == PR_LIVE_CHARS_ASCII ||
               (opts->chars == PR_LIVE_CHARS_AUTO && locale_is_ascii());
    l->label.max = l->extra.max = 4096;
    l->out.max = (size_t)1 << 20;
    l->start_ns = l->last_ns = l->window_ns = now_of(l);
    return l;
}

void pr_live_free(struct pr_live_line *l)
{
    if (!l)
        return;
    pr_live_close(l);
    pr_buf_free(&l->label);
    pr_buf_free(&l->extra);
    pr_buf_free(&l->out);
    pr_free(l);
}

/* In the background the terminal belongs to another; a terminal that is not
 * the one that controls us has no foreground of ours. */
static bool may_paint(const struct pr_live_line *l)
{
    pid_t group;

    if (l->opts.mode != PR_LIVE_AUTO)
        return true;
    group = tcgetpgrp(l->opts.fd);
    return group < 0 || group == getpgrp();
}

/* Progress is not worth an error: what cannot be written is dropped, and a
 * file that is gone is left alone from then on. */
static void live_flush(struct pr_live_line *l)
{
    if (pr_buf_ok(&l->out) && l->out.len &&
        !pr_write_all(l->opts.fd, l->out.data, l->out.len) && errno != EAGAIN)
        l->finished = true;
    pr_buf_clear(&l->out);
}

static void add_painting(struct pr_live_line *l, uint64_t now)
{
    unsigned width = live_terminal_width(l);

    /* Not the last column: some terminals wrap when it is written. */
    pr_buf_char(&l->out, '\r');
    live_add_line(l, now, width > 1 ? width - 1 : 1);
    pr_buf_str(&l->out, erase + 1);
    l->painted = true;
}

static uint64_t live_due_ns(const struct pr_live_line *l)
{
    switch (l->channel) {
    case LIVE_LINE:
        return l->last_ns == l->start_ns ? l->start_ns + FIRST_PAINT
                                         : l->last_ns + REPAINT;
    case LIVE_LINES:
        return l->last_ns + PLAIN_EVERY;
    default:
        return l->last_ns + SECOND;
    }
}

void pr_live_tick(struct pr_live_line *l)
{
    uint64_t now;

    if (!l || !l->started || l->finished || l->channel == LIVE_OFF)
        return;
    now = now_of(l);
    if (now < live_due_ns(l))
        return;
    l->last_ns = now;
    if (l->channel == LIVE_LINES)
        live_add_plain(l, now);
    else if (l->channel == LIVE_OBJECTS)
        live_add_object(l, now, "progress");
    else if (may_paint(l))
        add_painting(l, now);
    live_flush(l);
}

/* Closes a window of the eta once something was done in it and it is long
 * enough: many short items would give a rate of noise. */
static void note_done(struct pr_live_line *l, uint64_t done)
{
    uint64_t now = now_of(l);
    double x;

    if (!l->started || done < l->window_done) {
        l->base_done = l->window_done = done;
        l->window_ns = now;
        l->windows = 0;
        return;
    }
    if (done == l->window_done || now - l->window_ns < SECOND)
        return;
    x = (double)(now - l->window_ns) / 1e9 / (double)(done - l->window_done);
    l->item_s = l->windows ? 0.7 * l->item_s + 0.3 * x : x;
    l->windows++;
    l->window_ns = now;
    l->window_done = done;
}

static void live_set_text(struct pr_live_line *l, struct pr_buf *to,
                          const char *s)
{
    size_t n = 0;

    pr_buf_clear(to);
    if (!s)
        return;
    pr_screen_clean(to, s, strnlen(s, 512));
    if (!pr_buf_ok(to))
        pr_buf_clear(to);
    if (!l->ascii)
        return;
    for (size_t i = 0; i < to->len; i++) {
        unsigned char c = (unsigned char)to->data[i];
        if (c < 0x80)
            to->data[n++] = (char)c;
        else if ((c & 0xc0) != 0x80)
            to->data[n++] = '?';
    }
    if (to->data)
        to->data[n] = '\0';
    to->len = n;
}

void pr_live_update(struct pr_live_line *l, uint64_t done, uint64_t total,
                    uint64_t failed, const char *label, const char *extra)
{
    if (!l || l->finished || l->channel == LIVE_OFF)
        return;
    note_done(l, done);
    l->started = true;
    l->done = done;
    l->total = total;
    l->failed = failed;
    live_set_text(l, &l->label, label);
    live_set_text(l, &l->extra, extra);
    pr_live_tick(l);
}

int pr_live_wait_ms(const struct pr_live_line *l)
{
    uint64_t now, due;

    if (!l || l->finished || l->channel == LIVE_OFF)
        return -1;
    now = now_of(l);
    due = live_due_ns(l);
    return due > now ? (int)((due - now + 999999) / 1000000) : 0;
}

static void add_message_object(struct pr_live_line *l, const char *text)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &l->out, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "event", "message");
    pr_json_put_strn(&jb, "text", text, strlen(text));
    pr_json_close(&jb);
    pr_buf_char(&l->out, '\n');
}

void pr_live_message(struct pr_live_line *l, const char *text)
{
    size_t len = strlen(text);
    bool paint;

    if (!l)
        return;
    if (l->channel == LIVE_OBJECTS) {
        add_message_object(l, text);
        live_flush(l);
        return;
    }
    paint = l->painted && may_paint(l);
    if (paint)
        pr_buf_str(&l->out, erase);
    l->painted = false;
    pr_buf_add(&l->out, text, len);
    if (!len || text[len - 1] != '\n')
        pr_buf_char(&l->out, '\n');
    if (paint)
        add_painting(l, now_of(l));
    live_flush(l);
}

void pr_live_hide(struct pr_live_line *l)
{
    if (!l || !l->painted)
        return;
    if (may_paint(l))
        pr_buf_str(&l->out, erase);
    l->painted = false;
    live_flush(l);
}

void pr_live_close(struct pr_live_line *l)
{
    if (!l || l->finished)
        return;
    pr_live_hide(l);
    if (l->channel == LIVE_OBJECTS && l->started) {
        live_add_object(l, now_of(l), "done");
        live_flush(l);
    }
    l->finished = true;
}
