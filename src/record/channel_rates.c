/* Rates by task: adding them, and what is said of them. */
#include "record/channel_rates.h"

#include "base/err.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int channel_rates_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
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

double pr_channel_rates_median(const struct pr_channel_rates *r, size_t i)
{
    return channel_rates_quantile(r->series[i].values,
                                  channel_rates_kept_count(&r->series[i]), .5);
}

static void channel_rates_write_series(struct pr_json_writer *jb,
                                       struct pr_channel_rate_series *s)
{
    size_t n = channel_rates_kept_count(s);

    qsort(s->values, n, sizeof *s->values, channel_rates_compare);
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
