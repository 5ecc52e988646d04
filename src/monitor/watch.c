/* Looks at their times, lines in monitor.ndjson, the summary. */
#include "monitor/watch.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json_write.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINES_BYTES = 64 << 20,
    FULL_BYTES = 64 << 10, /* lines are written when there are so many, */
    FLUSH_NS = 1000000000, /* or after this time */
    /* Told in words when more than one look in so many is lost, and not just a
     * few: any machine has a bad moment. */
    TOLERATED = 20,
    FEW = 10,
    SUM_BYTES = 4 << 20,
    LOG_BYTES = 256 << 20,
};

/* A look takes a good part of this. */
static const double least_s = 0.001;

int pr_watch_init(struct pr_watch *x, const struct pr_monitor_watch_opts *w,
                  struct pr_err *err)
{
    int rc = PR_OK;

    *x = (struct pr_watch){.looks = x->looks, .fd = -1};
    if (strlen(w->path) >= sizeof(x->path))
        return pr_fail(err, PR_E_IO, w->path, "the name is too long");
    if (w->timeseries && *w->timeseries)
        rc = pr_timeseries_new(w->timeseries, &x->series, err);
    if (rc)
        return rc;
    memcpy(x->path, w->path, strlen(w->path) + 1);
    x->interval_s = w->interval_s < least_s ? least_s : w->interval_s;
    x->interval_ns = (uint64_t)(x->interval_s * 1e9 + 0.5);
    x->begin_ns = pr_clock_ns();
    x->wall_ns = pr_wall_clock_ns();
    x->due = 1;
    x->lines = (struct pr_buf)PR_BUF_INIT(LINES_BYTES);
    return PR_OK;
}

void pr_watch_close(struct pr_watch *x)
{
    pr_timeseries_free(x->series);
    x->series = NULL;
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
    pr_buf_free(&x->lines);
}

void pr_watch_remove_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        (void)unlink(path);
}

static double seconds_since_begin(const struct pr_watch *x, uint64_t ns)
{
    return ns > x->begin_ns ? (double)(ns - x->begin_ns) / 1e9 : 0;
}

/* Looks whose time has come, but for the one that is taken now. */
static void count_lost_samples(struct pr_watch *x)
{
    uint64_t due = (pr_clock_ns() - x->begin_ns) / x->interval_ns;

    if (due > x->due) {
        x->lost += due - x->due;
        x->due = due;
    }
}

void pr_watch_first_sample(struct pr_watch *x, int pid)
{
    pr_monitor_sources_begin(x->looks);
    x->first_ns = x->last_ns = pr_clock_ns();
    count_lost_samples(x);
    pr_monitor_sources_sample(x->looks, x->interval_s, pid);
    /* It may take a while to find all devices; until then nothing is due. */
    x->due = (pr_clock_ns() - x->begin_ns) / x->interval_ns + 1;
}

uint64_t pr_watch_next_ns(const struct pr_watch *x)
{
    return x->begin_ns + x->due * x->interval_ns;
}

static void watch_open_file(struct pr_watch *x)
{
    x->fd = open(x->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (x->fd < 0)
        x->error = errno;
    x->flush_ns = x->last_ns + FLUSH_NS;
}

/* Half a file is worth less than the room it takes: without it, there may be
 * some for the result. */
static void watch_drop_file(struct pr_watch *x)
{
    x->error = errno;
    close(x->fd);
    x->fd = -1;
    pr_watch_remove_file(x->path);
}

static void watch_flush_lines(struct pr_watch *x)
{
    if (x->fd >= 0 && x->lines.len &&
        !pr_write_all(x->fd, x->lines.data, x->lines.len))
        watch_drop_file(x);
    if (!pr_buf_ok(&x->lines) && !x->error)
        x->error = ENOMEM;
    pr_buf_clear(&x->lines);
    x->flush_ns = x->last_ns + FLUSH_NS;
}

static void watch_put_head(struct pr_watch *x)
{
    char text[32];

    pr_buf_str(&x->lines, "{\"schema\":\"prony.monitor/1\",\"interval_s\":");
    pr_float_write_repr(&x->lines, x->interval_s);
    pr_buf_printf(&x->lines, ",\"started\":\"%s\",",
                  pr_time_text(text, x->wall_ns));
}

/* The columns that have come since: in the first line, or one of their own. */
static void watch_announce_columns(struct pr_watch *x)
{
    size_t before = x->lines.len;

    if (x->samples == 1)
        watch_put_head(x);
    else
        pr_buf_char(&x->lines, '{');
    pr_buf_str(&x->lines, "\"columns\":{");
    if (!pr_monitor_columns_announce(&x->looks->columns, &x->lines) &&
        x->samples > 1)
        x->lines.len = before;
    else
        pr_buf_str(&x->lines, "}}\n");
}

static void watch_write_line(struct pr_watch *x)
{
    char text[32];

    if (x->samples == 1)
        watch_open_file(x);
    watch_announce_columns(x);
    pr_monitor_column_text(text, seconds_since_begin(x, x->last_ns), 4);
    pr_buf_str(&x->lines, "{\"t\":");
    pr_buf_str(&x->lines, text);
    pr_monitor_columns_write_line(&x->looks->columns, &x->lines);
    pr_buf_str(&x->lines, "}\n");
    if (x->lines.len >= FULL_BYTES || x->last_ns >= x->flush_ns)
        watch_flush_lines(x);
}

static void watch_take_sample(struct pr_watch *x, int pid)
{
    x->last_ns = pr_clock_ns();
    pr_monitor_sources_sample(x->looks, x->interval_s, pid);
    x->samples++;
    if (x->series)
        pr_timeseries_add_line(x->series, &x->looks->columns, pid,
                               x->wall_ns + (x->last_ns - x->begin_ns));
    watch_write_line(x);
}

void pr_watch_next_sample(struct pr_watch *x, int pid)
{
    count_lost_samples(x);
    watch_take_sample(x, pid);
    x->due++;
}

static void watch_write_summary(const struct pr_watch *x, struct pr_buf *out)
{
    double seconds = (double)(x->last_ns - x->first_ns) / 1e9;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 0);
    pr_json_open_object(&jb, NULL);
    pr_json_put_uint(&jb, "samples", x->samples);
    pr_json_put_uint(&jb, "lost", x->lost);
    pr_json_put_float(&jb, "interval_s", x->interval_s);
    pr_json_put_float(&jb, "seconds", round(seconds * 1e4) / 1e4);
    pr_monitor_columns_write_sums(&x->looks->columns, &jb);
    pr_json_close(&jb);
    if (!pr_buf_ok(out))
        pr_buf_clear(out);
}

static void describe_watch_trouble(const struct pr_watch *x, char *out,
                                   size_t cap)
{
    uint64_t all = x->samples + x->lost;

    if (x->error)
        snprintf(out, cap, "monitor.ndjson was not written: %s",
                 strerror(x->error));
    else if (x->lost >= FEW && x->lost * TOLERATED > all)
        snprintf(out, cap, "it missed %llu of %llu looks",
                 (unsigned long long)x->lost, (unsigned long long)all);
}

void pr_watch_end(struct pr_watch *x, int pid, double used_s,
                  struct pr_monitor_sum *ret)
{
    uint64_t now = pr_clock_ns();
    double gap = (double)(now - x->last_ns) / 1e9;

    ret->summary = (struct pr_buf)PR_BUF_INIT(SUM_BYTES);
    ret->log = (struct pr_buf)PR_BUF_INIT(LOG_BYTES);
    ret->trouble[0] = '\0';
    if (!x->samples && seconds_since_begin(x, now) < x->interval_s)
        return;
    /* What came in since, for the totals; over too short a time, though, a rate
     * means nothing. */
    count_lost_samples(x);
    x->looks->last = true;
    x->looks->used_s = used_s;
    if (!x->samples || gap > x->interval_s / 10)
        watch_take_sample(x, pid);
    watch_flush_lines(x);
    watch_write_summary(x, &ret->summary);
    if (x->series)
        pr_timeseries_write_log(x->series, &ret->log);
    if (!pr_buf_ok(&ret->log))
        pr_buf_clear(&ret->log);
    describe_watch_trouble(x, ret->trouble, sizeof(ret->trouble));
}
