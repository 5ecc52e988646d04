/*
 * Watching experiments: the series of DLBS's log, the looks at one experiment
 * with what becomes of them, and the thread that takes them.
 *
 * The thread sleeps until an experiment has run for a moment, so that a run of
 * many short ones is not held up: beginning and ending one of those costs a
 * lock each and wakes nobody. From then on what is watched belongs to the
 * thread, until the end is asked for.
 */
#include "monitor/monitor.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "base/value.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- DLBS's series. Sizes are in KiB, as top has them, and processors in
 * percent of one; power is in watts. What is not known is -1. */

enum { SERIES_MAX = 64, NAME_BYTES = 64, BYTES_MAX = 64 << 20 };

enum { PID, TIME, VIRT, RES, SHRD, CPU, MEM, POWER, GPUS, GPUS_MAX = 64 };

enum type { STR, INT, FLOAT, BOOL, TYPES };

static const char *const type_names[TYPES] = {"str", "int", "float", "bool"};

struct series {
    char name[NAME_BYTES];
    enum type type;
    int64_t index;
    bool list, to_end;
    int64_t count;
    struct pr_buf text; /* without the brackets */
};

struct pr_timeseries {
    struct series series[SERIES_MAX];
    size_t n, lines;
};

static int fail_timeseries_item(struct pr_err *err, const char *item,
                                const char *why)
{
    pr_fail(err, PR_E_CONF, "monitor.timeseries",
            "'%.80s' in monitor.timeseries %s", item, why);
    return pr_hint(err, "NAME:TYPE:INDEX[:[COUNT]], for example "
                        "'cpu:float:5' or 'gpus:float:8:'");
}

/* The next word up to a colon; false: there is none. */
static bool read_timeseries_word(const char **s, char *out, size_t cap)
{
    size_t n = strcspn(*s, ":");

    if (n >= cap)
        return false;
    memcpy(out, *s, n);
    out[n] = '\0';
    *s += n;
    return true;
}

static bool is_timeseries_name(const char *s)
{
    return *s &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz"
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == strlen(s);
}

static bool read_timeseries_type(const char *s, enum type *ret)
{
    for (enum type i = STR; i < TYPES; i++) {
        if (strcmp(s, type_names[i]) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static int read_timeseries_count(const char *at, const char *item,
                                 struct series *s, struct pr_err *err)
{
    s->list = *at == ':';
    s->to_end = s->list && !at[1];
    if (s->list && !s->to_end &&
        (!pr_parse_int(at + 1, &s->count) || s->count < 1 ||
         s->count > GPUS + GPUS_MAX))
        return fail_timeseries_item(err, item,
                                    "has a count that is not a number");
    if (s->type != STR && s->index <= TIME &&
        (s->index == TIME || s->to_end || s->count > TIME))
        return fail_timeseries_item(
            err, item, "takes the time, which is text, for a number");
    return PR_OK;
}

static int read_timeseries_item(const char *item, struct series *s,
                                struct pr_err *err)
{
    const char *at = item;
    char text[NAME_BYTES];

    *s = (struct series){.text = PR_BUF_INIT(BYTES_MAX)};
    if (!read_timeseries_word(&at, s->name, sizeof(s->name)) ||
        !is_timeseries_name(s->name))
        return fail_timeseries_item(err, item, "has no name that can be used");
    if (*at++ != ':' || !read_timeseries_word(&at, text, sizeof(text)) ||
        !read_timeseries_type(text, &s->type))
        return fail_timeseries_item(
            err, item, "has none of the types str, int, float, bool");
    if (*at++ != ':' || !read_timeseries_word(&at, text, sizeof(text)) ||
        !pr_parse_int(text, &s->index) || s->index < 0 ||
        s->index >= GPUS + GPUS_MAX)
        return fail_timeseries_item(err, item, "has no index into the line");
    return read_timeseries_count(at, item, s, err);
}

static int timeseries_add_item(struct pr_timeseries *t, const char *item,
                               struct pr_err *err)
{
    int rc;

    if (t->n == SERIES_MAX)
        return fail_timeseries_item(err, item, "is one series too many");
    rc = read_timeseries_item(item, &t->series[t->n], err);
    for (size_t i = 0; !rc && i < t->n; i++)
        if (strcmp(t->series[i].name, t->series[t->n].name) == 0)
            return fail_timeseries_item(err, item,
                                        "has the name of a series before it");
    t->n += rc == PR_OK;
    return rc;
}

int pr_timeseries_new(const char *text, struct pr_timeseries **ret,
                      struct pr_err *err)
{
    struct pr_timeseries *t = pr_alloc_zeroed(sizeof(*t));
    int rc = t ? PR_OK : pr_fail_nomem(err);

    while (!rc) {
        size_t n = strcspn(text, ",");
        const char *from = text, *to = text + n;
        char item[160];

        while (from < to && *from == ' ')
            from++;
        while (to > from && to[-1] == ' ')
            to--;
        snprintf(item, sizeof(item), "%.*s", (int)(to - from), from);
        rc = timeseries_add_item(t, item, err);
        if (!text[n])
            break;
        text += n + 1;
    }
    if (rc)
        pr_timeseries_free(t);
    else
        *ret = t;
    return rc;
}

void pr_timeseries_free(struct pr_timeseries *t)
{
    for (size_t i = 0; t && i < t->n; i++)
        pr_buf_free(&t->series[i].text);
    pr_free(t);
}

struct line {
    char time[40];
    double number[GPUS + GPUS_MAX];
    int64_t n;
};

/* What the whole machine draws, else what its processors do. */
static double sum_machine_power_w(const struct pr_monitor_columns *c)
{
    double sum = NAN;

    for (size_t i = 0; i < c->n; i++) {
        const struct pr_monitor_column_state *s = &c->cols[i];

        if (!s->set || !pr_text_starts_with(s->is.name, "power."))
            continue;
        if (pr_text_starts_with(s->is.name, "power.power_meter"))
            return s->value;
        if (s->is.flags & PR_MONITOR_COLUMN_ENERGY)
            sum = isnan(sum) ? s->value : sum + s->value;
    }
    return sum;
}

static void format_series_time(char out[static 40], uint64_t wall_ns)
{
    time_t s = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    size_t n;

    localtime_r(&s, &tm);
    n = strftime(out, 32, "%Y-%m-%d:%H:%M:%S", &tm);
    snprintf(out + n, 40 - n, ":%03u", (unsigned)(wall_ns / 1000000 % 1000));
}

static void fill_series_line(struct line *l, const struct pr_monitor_columns *c,
                             int pid, uint64_t wall_ns)
{
    double rss = pr_monitor_columns_value(c, "job.rss_bytes");

    format_series_time(l->time, wall_ns);
    l->number[PID] = pid;
    l->number[VIRT] = pr_monitor_columns_value(c, "job.virt_bytes") / 1024;
    l->number[RES] = rss / 1024;
    l->number[SHRD] = pr_monitor_columns_value(c, "job.shared_bytes") / 1024;
    l->number[CPU] = pr_monitor_columns_value(c, "job.cpu") * 100;
    l->number[MEM] = rss / pr_monitor_columns_value(c, "mem.total_bytes") * 100;
    l->number[POWER] = sum_machine_power_w(c);
    l->n = GPUS;
    /* Without any GPU there is one of which nothing is known. */
    do {
        char name[32];

        snprintf(name, sizeof(name), "gpu.%d.power_w", (int)(l->n - GPUS));
        l->number[l->n] = pr_monitor_columns_value(c, name);
        if (isnan(l->number[l->n]) && l->n > GPUS &&
            pr_names_find(c->names, name, strlen(name)) == PR_NO_NAME)
            break;
        l->n++;
    } while (l->n < GPUS + GPUS_MAX);
    for (int64_t i = 0; i < l->n; i++)
        if (isnan(l->number[i]))
            l->number[i] = -1;
}

static void series_put_value(struct series *s, const struct line *l, int64_t i)
{
    double v = i < l->n ? l->number[i] : -1;
    char text[32];

    if (i == TIME) {
        pr_json_write_string(&s->text, l->time, strlen(l->time));
        return;
    }
    pr_monitor_column_text(text, v, 3);
    switch (s->type) {
    case STR:
        pr_buf_printf(&s->text, "\"%s\"", text);
        break;
    case INT:
        pr_buf_printf(&s->text, "%lld", (long long)v);
        break;
    case BOOL:
        pr_buf_str(&s->text, v != 0 ? "true" : "false");
        break;
    default:
        pr_buf_printf(&s->text, strchr(text, '.') ? "%s" : "%s.0", text);
    }
}

static void series_put_line(struct series *s, const struct line *l)
{
    int64_t end = s->to_end ? l->n : s->index + (s->list ? s->count : 1);

    if (s->text.len)
        pr_buf_str(&s->text, ", ");
    if (s->list)
        pr_buf_char(&s->text, '[');
    for (int64_t i = s->index; i < end; i++) {
        if (i > s->index)
            pr_buf_str(&s->text, ", ");
        series_put_value(s, l, i);
    }
    if (s->list)
        pr_buf_char(&s->text, ']');
}

void pr_timeseries_add_line(struct pr_timeseries *t,
                            const struct pr_monitor_columns *c, int pid,
                            uint64_t wall_ns)
{
    struct line l = {.n = 0};

    if (isnan(pr_monitor_columns_value(c, "job.rss_bytes")))
        return;
    fill_series_line(&l, c, pid, wall_ns);
    for (size_t i = 0; i < t->n; i++)
        series_put_line(&t->series[i], &l);
    t->lines++;
}

void pr_timeseries_write_log(struct pr_timeseries *t, struct pr_buf *out)
{
    for (size_t i = 0; t->lines && i < t->n; i++) {
        struct series *s = &t->series[i];

        if (!pr_buf_ok(&s->text))
            continue; /* half of a list would be no JSON */
        pr_buf_printf(out, "__results.use.%s__=[", s->name);
        if (s->text.len)
            pr_buf_add(out, s->text.data, s->text.len);
        pr_buf_str(out, "]\n");
    }
}

/* ---- looks at their times, lines in monitor.ndjson, the summary */

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

/* Removes a file of an attempt before; a device is nobody's to remove. */
static void watch_remove_file(const char *path)
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
    watch_remove_file(x->path);
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

/* ---- the thread */

/* An experiment is looked at for the first time after this, or after half an
 * interval. Whoever waits for the thread gives up after PATIENCE. */
static const double first_s = 0.01;
#define PATIENCE_NS 5000000000ull

enum phase {
    NOTHING, /* free for the next experiment */
    BEGUN,   /* not looked at yet: the watch is the caller's */
    WATCHED, /* the watch is the thread's */
    ENDED,   /* the sum is there for the caller */
};

struct pr_monitored {
    enum phase phase;
    bool ending;       /* the end is asked for */
    bool given_up;     /* and nobody waits for it any more */
    uint64_t first_ns; /* BEGUN: when to look */
    int pid;
    double used_s; /* of it, when it has ended */
    struct pr_watch watch;
    struct pr_monitor_sources looks; /* the thread's, once it is watched */
    struct pr_monitor_sum sum;       /* ENDED */
    struct pr_monitored *next;
};

struct pr_monitor {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* for the thread */
    pthread_cond_t idle; /* for the caller: one is ENDED, or the thread is
                            gone */
    pthread_t thread;
    bool running, quit, gone;
    bool asleep;                /* only wake wakes it */
    struct pr_monitored *first; /* all there ever were at a time */
    unsigned watched;           /* of these */
    char *root;
    struct pr_monitor_sources
        machine; /* the thread's: what all of them follow */
};

static int wait_until(struct pr_monitor *m, pthread_cond_t *c, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
                         .tv_nsec = (long)(ns % 1000000000)};

    return pthread_cond_timedwait(c, &m->lock, &t);
}

/* The lock is held by callers of sample_*(), but not during a look. */
static void sample_first(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;

    x->phase = WATCHED;
    if (!m->watched++)
        pr_monitor_sources_begin(&m->machine);
    pthread_mutex_unlock(&m->lock);
    pr_watch_first_sample(&x->watch, pid);
    pthread_mutex_lock(&m->lock);
}

static void sample_again(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;

    pthread_mutex_unlock(&m->lock);
    pr_watch_next_sample(&x->watch, pid);
    pthread_mutex_lock(&m->lock);
}

static void sample_last(struct pr_monitor *m, struct pr_monitored *x)
{
    int pid = x->pid;
    double used_s = x->used_s;

    pthread_mutex_unlock(&m->lock);
    pr_watch_end(&x->watch, pid, used_s, &x->sum);
    pthread_mutex_lock(&m->lock);
    pr_watch_close(&x->watch);
    m->watched--;
    if (x->given_up)
        pr_monitor_sum_free(&x->sum);
    x->phase = x->given_up ? NOTHING : ENDED;
    pthread_cond_broadcast(&m->idle);
}

/* When there is something to do for it; UINT64_MAX: never. */
static uint64_t monitored_due_ns(const struct pr_monitored *x)
{
    if (x->phase == BEGUN)
        return x->first_ns;
    if (x->phase == WATCHED)
        return x->ending ? 0 : pr_watch_next_ns(&x->watch);
    return UINT64_MAX;
}

static struct pr_monitored *find_most_urgent(const struct pr_monitor *m)
{
    struct pr_monitored *best = m->first;

    for (struct pr_monitored *x = best ? best->next : NULL; x; x = x->next)
        if (monitored_due_ns(x) < monitored_due_ns(best))
            best = x;
    return best && monitored_due_ns(best) != UINT64_MAX ? best : NULL;
}

static void attend_monitored(struct pr_monitor *m, struct pr_monitored *x)
{
    if (x->phase == BEGUN)
        sample_first(m, x);
    else if (x->ending)
        sample_last(m, x);
    else
        sample_again(m, x);
}

static void *monitor_thread(void *arg)
{
    struct pr_monitor *m = arg;

    pthread_mutex_lock(&m->lock);
    while (!m->quit) {
        struct pr_monitored *x = find_most_urgent(m);

        if (!x) {
            m->asleep = true;
            pthread_cond_wait(&m->wake, &m->lock);
            m->asleep = false;
        } else if (pr_clock_ns() < monitored_due_ns(x)) {
            (void)wait_until(m, &m->wake, monitored_due_ns(x));
        } else {
            attend_monitored(m, x);
        }
    }
    m->gone = true;
    pthread_cond_broadcast(&m->idle);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Signals are the caller's business. */
static int monitor_start_thread(struct pr_monitor *m, struct pr_err *err)
{
    sigset_t all, old;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&m->thread, NULL, monitor_thread, m);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r)
        return pr_fail(err, PR_E_UNAVAIL, "", "no thread can be started: %s",
                       strerror(r));
    (void)pthread_setname_np(m->thread, "prony-monitor");
    m->running = true;
    return PR_OK;
}

int pr_monitor_new(const char *root, struct pr_monitor **ret,
                   struct pr_err *err)
{
    struct pr_monitor *m = pr_alloc_zeroed(sizeof(*m));
    pthread_condattr_t attr;

    if (!m)
        return pr_fail_nomem(err);
    m->root = pr_alloc_zeroed(strlen(root ? root : "") + 1);
    if (!m->root || !pr_monitor_sources_init(&m->machine, root)) {
        pr_free(m->root);
        pr_free(m);
        return pr_fail_nomem(err);
    }
    m->machine.leads = true;
    memcpy(m->root, root ? root : "", strlen(root ? root : ""));
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &attr);
    pthread_cond_init(&m->idle, &attr);
    pthread_condattr_destroy(&attr);
    *ret = m;
    return PR_OK;
}

/* Whether the thread has ended. One that is stuck in a device is left to it,
 * with all it uses. */
static bool monitor_stop_thread(struct pr_monitor *m)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;
    bool gone;

    if (!m->running)
        return true;
    pthread_mutex_lock(&m->lock);
    m->quit = true;
    pthread_cond_signal(&m->wake);
    while (!m->gone && pr_clock_ns() < until)
        (void)wait_until(m, &m->idle, until);
    gone = m->gone;
    pthread_mutex_unlock(&m->lock);
    if (gone)
        pthread_join(m->thread, NULL);
    else
        pthread_detach(m->thread);
    return gone;
}

void pr_monitor_free(struct pr_monitor *m)
{
    if (!m || !monitor_stop_thread(m))
        return;
    for (struct pr_monitored *x = m->first, *next; x; x = next) {
        next = x->next;
        if (x->phase == BEGUN || x->phase == WATCHED)
            pr_watch_close(&x->watch);
        pr_monitor_sum_free(&x->sum);
        pr_monitor_sources_close(&x->looks);
        pr_free(x);
    }
    pr_monitor_sources_close(&m->machine);
    pthread_cond_destroy(&m->wake);
    pthread_cond_destroy(&m->idle);
    pthread_mutex_destroy(&m->lock);
    pr_free(m->root);
    pr_free(m);
}

/* One that is free, or a new one. NULL: out of memory. */
static struct pr_monitored *take_free_monitored(struct pr_monitor *m)
{
    struct pr_monitored *x = m->first;

    while (x && x->phase != NOTHING)
        x = x->next;
    if (x)
        return x;
    x = pr_alloc_zeroed(sizeof(*x));
    if (!x || !pr_monitor_sources_init(&x->looks, m->root)) {
        pr_free(x);
        return NULL;
    }
    x->looks.lead = &m->machine;
    x->watch.looks = &x->looks;
    x->next = m->first;
    m->first = x;
    return x;
}

static int monitor_begin_locked(struct pr_monitor *m,
                                const struct pr_monitor_watch_opts *w,
                                struct pr_monitored **ret, struct pr_err *err)
{
    double wait_s = w->interval_s / 2 < first_s ? w->interval_s / 2 : first_s;
    struct pr_monitored *x = take_free_monitored(m);
    int rc = x ? pr_watch_init(&x->watch, w, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    x->phase = BEGUN;
    x->ending = x->given_up = false;
    x->pid = 0;
    x->used_s = 0;
    x->first_ns = x->watch.begin_ns + (uint64_t)(wait_s * 1e9);
    /* Awake, it looks at the others in time; this one may be due earlier. */
    if (m->asleep || m->watched)
        pthread_cond_signal(&m->wake);
    *ret = x;
    return PR_OK;
}

int pr_monitor_begin(struct pr_monitor *m,
                     const struct pr_monitor_watch_opts *w,
                     struct pr_monitored **ret, struct pr_err *err)
{
    int rc = m->running ? PR_OK : monitor_start_thread(m, err);

    if (rc)
        return rc;
    watch_remove_file(w->path);
    pthread_mutex_lock(&m->lock);
    rc = monitor_begin_locked(m, w, ret, err);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void pr_monitor_set_pid(struct pr_monitor *m, struct pr_monitored *x, int pid)
{
    pthread_mutex_lock(&m->lock);
    x->pid = pid;
    pthread_mutex_unlock(&m->lock);
}

static void describe_hang(struct pr_monitor *m, struct pr_monitored *x,
                          char *out, size_t cap)
{
    const char *asking =
        atomic_load_explicit(&m->machine.asking, memory_order_relaxed);

    if (!*asking)
        asking = atomic_load_explicit(&x->looks.asking, memory_order_relaxed);
    if (*asking)
        snprintf(out, cap, "it hangs: '%s' does not answer", asking);
    else
        snprintf(out, cap,
                 "it hangs: monitor.ndjson cannot be written, or it "
                 "gets no processor");
}

/* The thread has it, or should have: asks for the end, and waits. */
static void end_watched(struct pr_monitor *m, struct pr_monitored *x,
                        struct pr_monitor_sum *ret)
{
    uint64_t until = pr_clock_ns() + PATIENCE_NS;

    x->ending = true;
    pthread_cond_signal(&m->wake);
    while (x->phase != ENDED && pr_clock_ns() < until)
        (void)wait_until(m, &m->idle, until);
    if (x->phase != ENDED) {
        x->given_up = true;
        describe_hang(m, x, ret->trouble, sizeof(ret->trouble));
        return;
    }
    *ret = x->sum;
    x->sum = (struct pr_monitor_sum){.trouble = ""};
    x->phase = NOTHING;
}

/* Whether an interval has passed. On a machine that is very busy the thread may
 * not have come round to it all the same. */
static bool has_interval_passed(const struct pr_monitored *x)
{
    return pr_clock_ns() >= x->watch.begin_ns + x->watch.interval_ns;
}

void pr_monitor_end(struct pr_monitor *m, struct pr_monitored *x, double used_s,
                    struct pr_monitor_sum *ret)
{
    *ret = (struct pr_monitor_sum){.trouble = ""};
    pthread_mutex_lock(&m->lock);
    x->used_s = used_s;
    if (x->phase == BEGUN && !has_interval_passed(x)) {
        pr_watch_close(&x->watch);
        x->phase = NOTHING;
    } else {
        end_watched(m, x, ret);
    }
    pthread_mutex_unlock(&m->lock);
}

void pr_monitor_sum_free(struct pr_monitor_sum *s)
{
    pr_buf_free(&s->summary);
    pr_buf_free(&s->log);
}
