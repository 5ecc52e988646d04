/*
 * The channel line by line: parameters to the caller, rates gathered, what is
 * not understood counted. Its last lines tell how far an experiment is.
 */
#include "record/channel.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/stats/histogram.h"
#include "base/stats/statistics.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Rates that say when they were measured, as slices of time: what a suite takes
 * the steady state from (base/stats/histogram.h). A rate is of the time since
 * the one before it, the first one only begins.
 */
enum { MAX_TIMINGS = 8, TIMING_NAME = 48 };

struct channel_timing {
    char task[TIMING_NAME];
    char units[TIMING_NAME]; /* rates in others are not counted */
    double first, last;      /* seconds since 1970 */
    bool broken;             /* a rate without time, or back in it */
    struct pr_rateslices slices;
};

/* All zero is an empty one. */
struct channel_timings {
    struct channel_timing each[MAX_TIMINGS];
    size_t count;
};

/* ---- what the members of a line mean */

static const struct pr_value *channel_row_get_text(const struct pr_value *map,
                                                   const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_STR ? v : NULL;
}

/* A child of milabench writes {"$event": "phase", "$data": {…}} for all that
 * is not data; its own files have {"event": "data", "data": {…}}. */
static const struct pr_value *channel_row_unwrap(const struct pr_value *line,
                                                 const char **ret_event)
{
    const struct pr_value *inner = channel_row_get_text(line, "$event");

    if (inner) {
        *ret_event = inner->s;
        return pr_get(line, "$data");
    }
    inner = pr_get(line, "data");
    if (!channel_row_get_text(line, "event") || !inner)
        return line;
    *ret_event = channel_row_get_text(line, "event")->s;
    return inner;
}

static bool is_about_machine(const struct pr_value *data)
{
    static const char *const names[] = {"gpudata", "cpudata", "iodata",
                                        "netdata", "process"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pr_value *v = pr_get(data, names[i]);

        if (v && v->kind == PR_MAP)
            return true;
    }
    return false;
}

static bool is_progress(const struct pr_value *v)
{
    if (v && v->kind == PR_LIST)
        return v->len == 2 && pr_value_is_number(&v->items[0]) &&
               pr_value_is_number(&v->items[1]);
    return v && pr_value_is_number(v);
}

struct pr_channel_row pr_channel_row_read(const struct pr_value *line)
{
    struct pr_channel_row row = {0};
    const struct pr_value *data = channel_row_unwrap(line, &row.event);

    if (row.event && strcmp(row.event, "data") == 0)
        row.event = NULL;
    if (!data || data->kind != PR_MAP)
        return row;
    row.data = data;
    row.machine = is_about_machine(data);
    row.task = channel_row_get_text(data, "task");
    row.units = channel_row_get_text(data, "units");
    row.text = channel_row_get_text(data, "text");
    row.rate = pr_get(data, "rate");
    if (row.rate && !pr_value_is_number(row.rate))
        row.rate = NULL;
    row.progress = pr_get(data, "progress");
    if (!is_progress(row.progress))
        row.progress = NULL;
    row.stamped = row.task || row.rate || row.progress;
    return row;
}

/* Whether a plain name in such a row is no parameter. */
static bool channel_row_owns(const struct pr_channel_row *row, const char *key)
{
    return (row->task && strcmp(key, "task") == 0) ||
           (row->units && strcmp(key, "units") == 0) ||
           (row->rate && strcmp(key, "rate") == 0) ||
           (row->progress && strcmp(key, "progress") == 0) ||
           (row->progress && row->text && strcmp(key, "text") == 0) ||
           (row->stamped && strcmp(key, "time") == 0);
}

/* ---- rates by task */

/* Copies as many whole characters as fit. */
static void copy_name(char to[static PR_CHANNEL_RATES_NAME], const char *s,
                      size_t len)
{
    size_t n = pr_utf8_fit(s, len, PR_CHANNEL_RATES_NAME - 1);

    memcpy(to, s, n);
    to[n] = '\0';
}

static struct pr_channel_rate_series *
channel_rates_find(struct pr_channel_rates *r, const char *task,
                   const char *units)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->series[i].task, task) == 0 &&
            strcmp(r->series[i].units, units) == 0)
            return &r->series[i];
    return NULL;
}

static bool has_title(const struct pr_channel_rates *r, const char *title)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->series[i].title, title) == 0)
            return true;
    return false;
}

/* A task with several units has its others under "task (units)": numbers of
 * different units have no mean. Somebody's task may be called just that. */
static void name_series(const struct pr_channel_rates *r,
                        struct pr_channel_rate_series *s)
{
    unsigned nth = 2;

    snprintf(s->title, sizeof s->title, "%s", s->task);
    if (has_title(r, s->title))
        snprintf(s->title, sizeof s->title, "%s (%s)", s->task, s->units);
    while (has_title(r, s->title))
        snprintf(s->title, sizeof s->title, "%s (%s) %u", s->task, s->units,
                 nth++);
}

static struct pr_channel_rate_series *
channel_rates_add_series(struct pr_channel_rates *r, const char *task,
                         const char *units)
{
    struct pr_channel_rate_series *s;

    if (r->count == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 4;

        s = pr_realloc(r->series, cap * sizeof *s);
        if (!s)
            return NULL;
        r->series = s;
        r->cap = cap;
    }
    s = &r->series[r->count];
    memset(s, 0, sizeof *s);
    memcpy(s->task, task, PR_CHANNEL_RATES_NAME);
    memcpy(s->units, units, PR_CHANNEL_RATES_NAME);
    name_series(r, s);
    r->count++;
    pr_rng_seed(&s->rng, 1, 0);
    return s;
}

static int keep_value(struct pr_channel_rate_series *s, double rate)
{
    if (s->count > PR_CHANNEL_RATES_EXACT) {
        /* Each of the values so far stays with the same chance. */
        uint64_t at = pr_rng_u64(&s->rng) % s->count;

        if (at < PR_CHANNEL_RATES_EXACT)
            s->values[at] = rate;
        return 1;
    }
    if (s->count > s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        double *more = pr_realloc(s->values, cap * sizeof *more);

        if (!more)
            return PR_E_NOMEM;
        s->values = more;
        s->cap = cap;
    }
    s->values[s->count - 1] = rate;
    return 1;
}

int pr_channel_rates_add(struct pr_channel_rates *r, const char *task,
                         size_t task_len, const char *units, size_t units_len,
                         double rate)
{
    char t[PR_CHANNEL_RATES_NAME] = "", u[PR_CHANNEL_RATES_NAME] = "";
    struct pr_channel_rate_series *s;
    double from_mean;

    copy_name(t, task, task_len);
    copy_name(u, units, units_len);
    s = channel_rates_find(r, t, u);
    if (!s && r->count == PR_CHANNEL_RATES_TASKS)
        return 0;
    if (!s)
        s = channel_rates_add_series(r, t, u);
    if (!s)
        return PR_E_NOMEM;
    if (s->count == 0 || rate < s->min)
        s->min = rate;
    if (s->count == 0 || rate > s->max)
        s->max = rate;
    s->count++;
    from_mean = rate - s->mean;
    s->mean += from_mean / (double)s->count;
    s->m2 += from_mean * (rate - s->mean);
    return keep_value(s, rate);
}

/* Of numbers in order, between two of them in proportion. */
static double channel_rates_quantile(const double *v, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < n ? low + 1 : low;

    return v[low] + (v[high] - v[low]) * (at - (double)low);
}

static size_t channel_rates_kept_count(const struct pr_channel_rate_series *s)
{
    return s->count < PR_CHANNEL_RATES_EXACT ? (size_t)s->count
                                             : PR_CHANNEL_RATES_EXACT;
}

static double channel_rates_median(const struct pr_channel_rates *r, size_t i)
{
    return channel_rates_quantile(r->series[i].values,
                                  channel_rates_kept_count(&r->series[i]), .5);
}

static void channel_rates_write_series(struct pr_json_writer *jb,
                                       struct pr_channel_rate_series *s)
{
    size_t n = channel_rates_kept_count(s);

    qsort(s->values, n, sizeof *s->values, pr_double_compare);
    pr_json_open_object(jb, s->title);
    pr_json_put_uint(jb, "count", s->count);
    pr_json_put_float(jb, "mean", s->mean);
    pr_json_put_float(jb, "std", sqrt(s->m2 / (double)s->count));
    pr_json_put_float(jb, "min", s->min);
    pr_json_put_float(jb, "q1", channel_rates_quantile(s->values, n, .25));
    pr_json_put_float(jb, "median", channel_rates_quantile(s->values, n, .5));
    pr_json_put_float(jb, "q3", channel_rates_quantile(s->values, n, .75));
    pr_json_put_float(jb, "max", s->max);
    if (n < s->count)
        pr_json_put_uint(jb, "quartiles_from", n);
    pr_json_put_str(jb, "units", *s->units ? s->units : NULL);
    pr_json_close(jb);
}

void pr_channel_rates_write(struct pr_channel_rates *r, struct pr_buf *out)
{
    struct pr_json_writer jb;

    if (!r->count)
        return;
    pr_json_writer_init(&jb, out, 0);
    pr_json_open_object(&jb, NULL);
    for (size_t i = 0; i < r->count; i++)
        channel_rates_write_series(&jb, &r->series[i]);
    pr_json_close(&jb);
}

void pr_channel_rates_close(struct pr_channel_rates *r)
{
    for (size_t i = 0; i < r->count; i++)
        pr_free(r->series[i].values);
    pr_free(r->series);
    *r = (struct pr_channel_rates){0};
}

/* ---- rates as slices of time */

/* Of a timing, at most: nine hours of half seconds. */
enum { MOST = 65536 };

static void channel_timings_close(struct channel_timings *t)
{
    for (size_t i = 0; i < t->count; i++)
        pr_rateslices_free(&t->each[i].slices);
    t->count = 0;
}

static int channel_timing_begin(struct channel_timings *t, const char *task,
                                const char *units, double at,
                                struct pr_err *err)
{
    struct channel_timing *x = &t->each[t->count];
    int rc;

    if (t->count == MAX_TIMINGS)
        return PR_OK;
    *x = (struct channel_timing){.first = at, .last = at};
    snprintf(x->task, sizeof x->task, "%s", task);
    snprintf(x->units, sizeof x->units, "%s", units);
    x->broken = !isfinite(at);
    rc = pr_rateslices_init(&x->slices, PR_RATESLICES_S, err);
    t->count += !rc;
    return rc;
}

static void channel_timing_add_rate(struct channel_timing *x, const char *units,
                                    double at, double rate)
{
    char cut[TIMING_NAME];

    snprintf(cut, sizeof cut, "%s", units);
    if (strcmp(cut, x->units) != 0)
        return;
    if (!isfinite(at) || at < x->last || !isfinite(rate * (at - x->last)))
        x->broken = true;
    if (x->broken)
        return;
    (void)pr_rateslices_add(&x->slices, at - x->last, rate * (at - x->last));
    x->last = at;
}

/* A row with a finite rate. Of tasks, those of training are looked at: names
 * that begin with "train", and rates without a task. */
static int channel_timings_add(struct channel_timings *t,
                               const struct pr_channel_row *row,
                               struct pr_err *err)
{
    const struct pr_value *time = pr_get(row->data, "time");
    double at = time && pr_value_is_number(time) ? pr_value_number(time) : NAN;
    const char *task = row->task && row->task->len ? row->task->s : "main";
    const char *units = row->units ? row->units->s : "";
    char cut[TIMING_NAME];

    if (strncmp(task, "train", 5) != 0 && strcmp(task, "main") != 0)
        return PR_OK;
    snprintf(cut, sizeof cut, "%s", task);
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->each[i].task, cut) == 0) {
            channel_timing_add_rate(&t->each[i], units, at,
                                    pr_value_number(row->rate));
            return PR_OK;
        }
    return channel_timing_begin(t, task, units, at, err);
}

static bool channel_timings_has_task(const struct channel_timings *t,
                                     const char *task)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->each[i].task, task) == 0)
            return true;
    return false;
}

static void channel_timing_set_member(struct pr_member *m, uint32_t *n,
                                      const char *key, struct pr_value v)
{
    m[(*n)++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

/* A time of day in the arena; NULL: out of memory. */
static const char *channel_timing_clock_text(struct pr_arena *a, double seconds)
{
    char text[32];
    double ns = fmin(fmax(seconds, 0), 4e9) * 1e9;

    return pr_arena_str(a, pr_time_local(text, (uint64_t)ns));
}

static const struct pr_value *list_rates(const struct pr_rateslices *s,
                                         struct pr_arena *a,
                                         uint32_t *ret_count)
{
    size_t count = s->len < MOST ? s->len : MOST;
    struct pr_value *items = PR_ARENA_ARRAY(a, struct pr_value, count + 1);

    for (size_t i = 0; items && i < count; i++)
        items[i] = pr_float(s->rates[s->len - count + i]);
    *ret_count = (uint32_t)count;
    return items;
}

static int channel_timing_make_value(const struct channel_timing *x,
                                     struct pr_arena *a, struct pr_value *ret,
                                     struct pr_err *err)
{
    struct pr_member *m = PR_ARENA_ARRAY(a, struct pr_member, 9);
    const char *start = channel_timing_clock_text(a, x->first),
               *end = channel_timing_clock_text(a, x->last);
    struct pr_value rates = {.kind = PR_LIST};
    uint32_t n = 0;

    rates.items = list_rates(&x->slices, a, &rates.len);
    if (!m || !start || !end || !rates.items)
        return pr_fail_nomem(err);
    channel_timing_set_member(m, &n, "type",
                              pr_str("milabench.experiment.RateLogger"));
    channel_timing_set_member(m, &n, "start", pr_str(start));
    channel_timing_set_member(m, &n, "end", pr_str(end));
    channel_timing_set_member(m, &n, "wall_time", pr_float(x->last - x->first));
    channel_timing_set_member(m, &n, "time", pr_float(x->slices.total_time));
    channel_timing_set_member(m, &n, "overhead", pr_float(0));
    channel_timing_set_member(m, &n, "sample_duration",
                              pr_float(x->slices.slice_s));
    channel_timing_set_member(m, &n, "rates", rates);
    channel_timing_set_member(m, &n, "metrics",
                              (struct pr_value){.kind = PR_MAP});
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

/* The i-th as milarun writes one, in the arena, and its name, "timings.train".
 * 1: there; 0: its rates do not say when; once for each. */
static int channel_timings_get(struct channel_timings *t, size_t i,
                               struct pr_arena *a,
                               char name[static TIMING_NAME + 8],
                               struct pr_value *ret, struct pr_err *err)
{
    struct channel_timing *x = &t->each[i];
    bool is_main = strcmp(x->task, "main") == 0;
    int rc;

    pr_rateslices_end(&x->slices);
    if (x->broken || !x->slices.len ||
        (is_main && channel_timings_has_task(t, "train")))
        return 0;
    snprintf(name, TIMING_NAME + 8, "timings.%s", is_main ? "train" : x->task);
    rc = channel_timing_make_value(x, a, ret, err);
    return rc ? rc : 1;
}

/* ---- the scanner */

enum {
    MAX_NAME = 512,
    MAX_RATES = 1 << 20, /* as JSON */
};

static const char prefix[] = "results.";

struct pr_channel_scanner {
    const char *name;
    pr_log_param *param;
    void *ctx;
    struct pr_arena *arena; /* of one line */
    struct pr_buf line;     /* the beginning of a line that goes on */
    uint64_t number;        /* of the line, empty ones counted */
    bool too_long;          /* the line is */
    struct pr_channel_rates rates;
    struct channel_timings timings;
    struct pr_channel_sum sum;
};

struct pr_channel_scanner *
pr_channel_scanner_new(const char *name, pr_log_param *param, void *ctx)
{
    struct pr_channel_scanner *s = pr_alloc_zeroed(sizeof *s);

    if (!s)
        return NULL;
    s->name = name;
    s->param = param;
    s->ctx = ctx;
    s->line = (struct pr_buf)PR_BUF_INIT(PR_LOG_MAX_LINE);
    s->arena = pr_arena_new(16384);
    if (!s->arena) {
        pr_free(s);
        return NULL;
    }
    return s;
}

void pr_channel_scanner_free(struct pr_channel_scanner *s)
{
    if (!s)
        return;
    pr_channel_rates_close(&s->rates);
    channel_timings_close(&s->timings);
    pr_buf_free(&s->line);
    pr_arena_free(s->arena);
    pr_free(s);
}

static void channel_count_bad(struct pr_channel_scanner *s,
                              const struct pr_err *e)
{
    struct pr_channel_sum *sum = &s->sum;

    if (sum->bad++ > 0)
        return;
    sum->first_bad_line = s->number;
    sum->first_bad = *e;
    snprintf(sum->first_bad.where, sizeof sum->first_bad.where, "%.200s:%llu",
             s->name, (unsigned long long)s->number);
}

static void channel_count_bad_line(struct pr_channel_scanner *s,
                                   const char *words)
{
    struct pr_err e = {0};

    (void)!pr_fail(&e, PR_E_FORMAT, "", "%s", words);
    channel_count_bad(s, &e);
}

static int channel_set_param(struct pr_channel_scanner *s, const char *key,
                             size_t len, const struct pr_value *value,
                             struct pr_err *err)
{
    s->sum.params++;
    return s->param ? s->param(s->ctx, key, len, value, err) : PR_OK;
}

static bool channel_is_param_name(const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return false;
    return len > 0 && len <= MAX_NAME;
}

/* A plain name is one of results; that of a warning is known to all. */
static int channel_read_member(struct pr_channel_scanner *s,
                               const struct pr_member *m, struct pr_err *err)
{
    char full[sizeof prefix + MAX_NAME];

    if (!channel_is_param_name(m->key, m->key_len)) {
        channel_count_bad_line(
            s, "a name is empty, too long or has control characters");
        return PR_OK;
    }
    if (memchr(m->key, '.', m->key_len) ||
        (strcmp(m->key, "warning") == 0 && m->value.kind == PR_STR))
        return channel_set_param(s, m->key, m->key_len, &m->value, err);
    memcpy(full, prefix, sizeof prefix - 1);
    memcpy(full + sizeof prefix - 1, m->key, m->key_len);
    return channel_set_param(s, full, sizeof prefix - 1 + m->key_len, &m->value,
                             err);
}

static int channel_read_rate(struct pr_channel_scanner *s,
                             const struct pr_channel_row *row,
                             struct pr_err *err)
{
    const struct pr_value *task = row->task, *units = row->units;
    bool named = task && task->len;
    double rate = pr_value_number(row->rate);
    int rc;

    if (!isfinite(rate)) {
        channel_count_bad_line(s, "a rate is not finite");
        return PR_OK;
    }
    rc = pr_channel_rates_add(&s->rates, named ? task->s : "main",
                              named ? task->len : 4, units ? units->s : "",
                              units ? units->len : 0, rate);
    if (rc < 0)
        return pr_fail_nomem(err);
    s->sum.dropped += rc == 0;
    return channel_timings_add(&s->timings, row, err);
}

/* What went wrong in there, as its words have it. */
static int channel_read_error(struct pr_channel_scanner *s,
                              const struct pr_value *data, struct pr_err *err)
{
    const struct pr_value *type = pr_get(data, "type");
    const struct pr_value *words = pr_get(data, "message");
    struct pr_value text;
    const char *t;

    if (!words || words->kind != PR_STR)
        return PR_OK;
    t = pr_arena_printf(s->arena, "%s%s%s",
                        type && type->kind == PR_STR ? type->s : "",
                        type && type->kind == PR_STR ? ": " : "", words->s);
    if (!t)
        return pr_fail_nomem(err);
    text = pr_str(t);
    return channel_set_param(s, "warning", 7, &text, err);
}

static int channel_read_row(struct pr_channel_scanner *s,
                            const struct pr_value *line, struct pr_err *err)
{
    struct pr_channel_row row = pr_channel_row_read(line);
    int rc = PR_OK;

    if (row.event && row.data && strcmp(row.event, "error") == 0)
        return channel_read_error(s, row.data, err);
    if (row.event || !row.data)
        return PR_OK;
    if (row.machine) {
        s->sum.machine++;
        return PR_OK;
    }
    if (row.rate)
        rc = channel_read_rate(s, &row, err);
    for (uint32_t i = 0; !rc && i < row.data->len; i++)
        if (!channel_row_owns(&row, row.data->members[i].key))
            rc = channel_read_member(s, &row.data->members[i], err);
    return rc;
}

static bool channel_is_blank_line(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

static int channel_read_line(struct pr_channel_scanner *s, const char *p,
                             size_t len, struct pr_err *err)
{
    struct pr_json_in in = {.text = p, .len = len, .name = s->name};
    struct pr_value line;
    struct pr_err why = {0};
    int rc;

    if (channel_is_blank_line(p, len))
        return PR_OK;
    s->sum.lines++;
    rc = pr_json_read(&in, s->arena, &line, NULL, &why);
    if (!rc && line.kind != PR_MAP) {
        channel_count_bad_line(s, "not a JSON object");
    } else if (!rc) {
        rc = channel_read_row(s, &line, err);
    } else if (rc == PR_E_FORMAT) {
        channel_count_bad(s, &why);
        rc = PR_OK;
    } else if (err) {
        *err = why;
    }
    pr_arena_reset(s->arena);
    return rc;
}

/* Keeps a part of a line whose end has not come yet. */
static int channel_keep_part(struct pr_channel_scanner *s, const char *p,
                             size_t len, struct pr_err *err)
{
    if (s->too_long)
        return PR_OK;
    pr_buf_add(&s->line, p, len);
    if (pr_buf_ok(&s->line))
        return PR_OK;
    if (!s->line.over)
        return pr_fail_nomem(err);
    s->too_long = true;
    pr_buf_free(&s->line);
    return PR_OK;
}

/* The line ends after these last bytes of it. */
static int channel_end_line(struct pr_channel_scanner *s, const char *p,
                            size_t len, struct pr_err *err)
{
    int rc = PR_OK;

    s->number++;
    if (!s->line.len && !s->too_long && len <= PR_LOG_MAX_LINE)
        return channel_read_line(s, p, len, err);
    rc = channel_keep_part(s, p, len, err);
    if (s->too_long) {
        s->sum.lines++;
        channel_count_bad_line(s, "the line is too long");
    } else if (!rc) {
        rc = channel_read_line(s, s->line.data, s->line.len, err);
    }
    pr_buf_clear(&s->line);
    s->too_long = false;
    return rc;
}

int pr_channel_scanner_feed(struct pr_channel_scanner *s, const char *bytes,
                            size_t len, struct pr_err *err)
{
    const char *p = bytes, *end = bytes + len;

    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        int rc;

        if (!nl)
            return channel_keep_part(s, p, (size_t)(end - p), err);
        rc = channel_end_line(s, p, (size_t)(nl - p), err);
        if (rc)
            return rc;
        p = nl + 1;
    }
    return PR_OK;
}

/* One figure a task for tables, in results.TASK_rate. */
static int set_medians(struct pr_channel_scanner *s, struct pr_err *err)
{
    for (size_t i = 0; i < s->rates.count; i++) {
        char full[sizeof prefix + PR_CHANNEL_RATES_TITLE + 8];
        struct pr_value median = pr_float(channel_rates_median(&s->rates, i));
        int n = snprintf(full, sizeof full, "%s%s_rate", prefix,
                         s->rates.series[i].title);
        int rc = channel_set_param(s, full, (size_t)n, &median, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* What tells when it was measured is a timing of a suite's test, too. */
static int set_timings(struct pr_channel_scanner *s, struct pr_err *err)
{
    char name[sizeof prefix + TIMING_NAME + 16];
    struct pr_value v;
    int rc = 1;

    for (size_t i = 0; rc > 0 && i < s->timings.count; i++) {
        rc = channel_timings_get(&s->timings, i, s->arena, name + 8, &v, err);
        if (rc <= 0)
            continue;
        memcpy(name, prefix, 8);
        rc = channel_set_param(s, name, strlen(name), &v, err);
        rc = rc ? rc : 1;
    }
    pr_arena_reset(s->arena);
    return rc < 0 ? rc : PR_OK;
}

int pr_channel_scanner_finish(struct pr_channel_scanner *s,
                              struct pr_channel_sum *ret, struct pr_err *err)
{
    bool open = s->line.len || s->too_long;
    struct pr_buf rates = PR_BUF_INIT(MAX_RATES);
    int rc = open ? channel_end_line(s, "", 0, err) : PR_OK;

    if (rc)
        return rc;
    pr_channel_rates_write(&s->rates, &rates);
    rc = pr_buf_ok(&rates) ? set_medians(s, err) : pr_fail_nomem(err);
    if (!rc)
        rc = set_timings(s, err);
    if (rc) {
        pr_buf_free(&rates);
        return rc;
    }
    *ret = s->sum;
    ret->rates = rates;
    return PR_OK;
}

/* ---- from a file: all of it, and its last lines */

enum { PIECE_BYTES = 64 << 10, TAIL_BYTES = 8 << 10, WORDS = 160 };

/* Of the child's own text and units, so that both fit. */
enum { TEXT = 100, UNITS = 32 };

static int channel_feed_file(struct pr_channel_scanner *s, int fd,
                             const char *path, char *piece, struct pr_err *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        int rc;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        if (n == 0)
            return PR_OK;
        rc = pr_channel_scanner_feed(s, piece, (size_t)n, err);
        if (rc)
            return rc;
    }
}

/* A child may have put anything there, also a pipe that never ends. 1: open;
 * 0: nothing to read; PR_E_FORMAT: what is there cannot be read. */
static int channel_open(const char *path, int *ret_fd, struct stat *ret_st,
                        struct pr_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool file;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    if (fd < 0)
        return pr_fail_errno(err, PR_E_FORMAT, path, "cannot open");
    file = fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode);
    if (file && ret_st->st_size > 0) {
        *ret_fd = fd;
        return 1;
    }
    close(fd);
    return file ? 0
                : pr_fail(err, PR_E_FORMAT, path, "it is not a file any more");
}

int pr_channel_collect(const char *path, pr_log_param *param, void *ctx,
                       struct pr_channel_sum *ret, struct pr_err *err)
{
    struct pr_channel_sum none = {0};
    struct pr_channel_scanner *s;
    struct stat st;
    char *piece;
    int fd, rc = channel_open(path, &fd, &st, &none.first_bad);

    if (rc == 0 || rc == PR_E_FORMAT) {
        none.bad = rc != 0;
        *ret = none;
        return PR_OK;
    }
    if (rc < 0 && err)
        *err = none.first_bad;
    if (rc < 0)
        return rc;
    s = pr_channel_scanner_new(path, param, ctx);
    piece = pr_alloc(PIECE_BYTES);
    rc = s && piece ? channel_feed_file(s, fd, path, piece, err)
                    : pr_fail_nomem(err);
    if (!rc)
        rc = pr_channel_scanner_finish(s, ret, err);
    pr_free(piece);
    pr_channel_scanner_free(s);
    close(fd);
    return rc;
}

/* What was found so far, going back from the end. */
struct tail {
    bool has_progress, has_rate;
    double done;
    char words[TEXT], rate[UNITS + 16];
};

/* As much of it as fits. */
static void copy_words(char *to, size_t room, const struct pr_value *text)
{
    size_t n = pr_utf8_fit(text->s, text->len, room - 1);

    memcpy(to, text->s, n);
    to[n] = '\0';
}

static void channel_tail_read_progress(struct tail *t,
                                       const struct pr_channel_row *row)
{
    const struct pr_value *p = row->progress;

    t->done = -1;
    if (p->kind == PR_LIST) {
        double at = pr_value_number(&p->items[0]),
               of = pr_value_number(&p->items[1]);

        if (of > 0 && at >= 0)
            t->done = at < of ? at / of : 1;
        if (of > 0)
            snprintf(t->words, TEXT, "%.10g of %.10g", at, of);
        else
            snprintf(t->words, TEXT, "%.10g", at);
    } else if (pr_value_number(p) >= 0 && pr_value_number(p) <= 1) {
        t->done = pr_value_number(p);
        snprintf(t->words, TEXT, "%.0f %%", 100 * t->done);
    }
    if (row->text && row->text->len)
        copy_words(t->words, TEXT, row->text);
    t->has_progress = t->done >= 0 || *t->words;
}

static void channel_tail_read_rate(struct tail *t,
                                   const struct pr_channel_row *row)
{
    char units[UNITS] = "";
    double rate = pr_value_number(row->rate);

    if (!isfinite(rate))
        return;
    if (row->units)
        copy_words(units, UNITS, row->units);
    snprintf(t->rate, sizeof t->rate, "%.4g %s", rate, *units ? units : "/s");
    t->has_rate = true;
}

static void channel_tail_read_line(struct tail *t, const char *p, size_t len,
                                   struct pr_arena *a)
{
    struct pr_json_in in = {.text = p, .len = len, .name = ""};
    struct pr_channel_row row;
    struct pr_value line;

    if (len && pr_json_read(&in, a, &line, NULL, NULL) == PR_OK) {
        row = pr_channel_row_read(&line);
        if (!t->has_progress && !row.event && row.progress)
            channel_tail_read_progress(t, &row);
        if (!t->has_rate && !row.event && row.rate)
            channel_tail_read_rate(t, &row);
    }
    pr_arena_reset(a);
}

/* From the last whole line back, until both are known. */
static void channel_tail_read_back(struct tail *t, const char *text, size_t len,
                                   struct pr_arena *a)
{
    const char *end = memrchr(text, '\n', len);

    while (end && !(t->has_progress && t->has_rate)) {
        const char *nl = memrchr(text, '\n', (size_t)(end - text));
        const char *start = nl ? nl + 1 : text;

        channel_tail_read_line(t, start, (size_t)(end - start), a);
        end = nl;
    }
}

bool pr_channel_progress(const char *path, double *ret_done,
                         char words[static 160])
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct tail t = {.done = -1};
    char text[TAIL_BYTES];
    struct stat st;
    ssize_t n;
    int fd;

    if (!a || channel_open(path, &fd, &st, NULL) != 1)
        return false;
    n = pread(fd, text, sizeof text,
              st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0);
    close(fd);
    if (n > 0)
        channel_tail_read_back(&t, text, (size_t)n, a);
    if (!t.has_progress && !t.has_rate)
        return false;
    *ret_done = t.done;
    snprintf(words, WORDS, "%s%s%s", t.words, *t.words && *t.rate ? ", " : "",
             t.rate);
    return true;
}
