/* Rates of the channel as slices of time. */
#include "record/channel_timings.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a timing, at most: nine hours of half seconds. */
enum { MOST = 65536 };

void pr_channel_timings_close(struct pr_channel_timings *t)
{
    for (size_t i = 0; i < t->count; i++)
        pr_rateslices_free(&t->each[i].slices);
    t->count = 0;
}

static int channel_timing_begin(struct pr_channel_timings *t, const char *task,
                                const char *units, double at,
                                struct pr_err *err)
{
    struct pr_channel_timing *x = &t->each[t->count];
    int rc;

    if (t->count == PR_CHANNEL_TIMINGS)
        return PR_OK;
    *x = (struct pr_channel_timing){.first = at, .last = at};
    snprintf(x->task, sizeof x->task, "%s", task);
    snprintf(x->units, sizeof x->units, "%s", units);
    x->broken = !isfinite(at);
    rc = pr_rateslices_init(&x->slices, PR_RATESLICES_S, err);
    t->count += !rc;
    return rc;
}

static void channel_timing_add_rate(struct pr_channel_timing *x,
                                    const char *units, double at, double rate)
{
    char cut[PR_CHANNEL_TIMING_NAME];

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

int pr_channel_timings_add(struct pr_channel_timings *t,
                           const struct pr_channel_row *row, struct pr_err *err)
{
    const struct pr_value *time = pr_get(row->data, "time");
    double at = time && pr_value_is_number(time) ? pr_value_number(time) : NAN;
    const char *task = row->task && row->task->len ? row->task->s : "main";
    const char *units = row->units ? row->units->s : "";
    char cut[PR_CHANNEL_TIMING_NAME];

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

static bool channel_timings_has_task(const struct pr_channel_timings *t,
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

static int channel_timing_make_value(const struct pr_channel_timing *x,
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

int pr_channel_timings_get(struct pr_channel_timings *t, size_t i,
                           struct pr_arena *a,
                           char name[static PR_CHANNEL_TIMING_NAME + 8],
                           struct pr_value *ret, struct pr_err *err)
{
    struct pr_channel_timing *x = &t->each[i];
    bool is_main = strcmp(x->task, "main") == 0;
    int rc;

    pr_rateslices_end(&x->slices);
    if (x->broken || !x->slices.len ||
        (is_main && channel_timings_has_task(t, "train")))
        return 0;
    snprintf(name, PR_CHANNEL_TIMING_NAME + 8, "timings.%s",
             is_main ? "train" : x->task);
    rc = channel_timing_make_value(x, a, ret, err);
    return rc ? rc : 1;
}
