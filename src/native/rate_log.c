/* Rates while a workload works. */
#include "native/rate_log.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>

/* With nn.steady alone, when it never is. */
static const double longest_s = 60;

/* Before that nothing is steady: an interval of few values is luck. */
enum { LEAST_SLICES = 10, LEAST_ITERATIONS = 10 };

/* More are not written: nine hours of half seconds. */
enum { WRITTEN = 65536 };

int pr_rate_log_init(struct pr_rate_log *l, const struct pr_nn_opts *nn,
                     struct pr_err *err)
{
    *l = (struct pr_rate_log){.steady = nn->steady,
                              .min_s = nn->min_time,
                              .max_s = nn->max_time,
                              .next_look = LEAST_SLICES};
    if (l->steady > 0 && !(l->max_s > 0))
        l->max_s = longest_s;
    return pr_rateslices_init(&l->slices, nn->sample_duration, err);
}

void pr_rate_log_free(struct pr_rate_log *l)
{
    pr_rateslices_free(&l->slices);
}

static struct pr_slices slices_of(const struct pr_rate_log *l, double total_s)
{
    return (struct pr_slices){.rates = l->slices.rates,
                              .count = l->slices.len,
                              .slice_s = l->slices.slice_s,
                              .total_s = total_s};
}

/* Looked at when a slice is full; in a long run rarely, as it goes through all
 * of them. */
static void rate_log_check_steady(struct pr_rate_log *l)
{
    const struct pr_rateslices *s = &l->slices;
    struct pr_slices all = slices_of(l, 0);
    struct pr_steady t;

    if (!(l->steady > 0) || s->len < l->next_look || s->total_time < l->min_s ||
        s->iterations < LEAST_ITERATIONS)
        return;
    l->next_look = s->len + 1 + s->len / 64;
    pr_steady_compute(&all, NULL, &t);
    l->is_steady = t.settled && pr_steady_error(&t) <= l->steady;
}

bool pr_rate_log_add(struct pr_rate_log *l, uint64_t start_ns, uint64_t end_ns,
                     uint64_t items)
{
    if (!l->start_ns) {
        l->start_ns = start_ns;
        l->start_wall_ns = pr_wall_clock_ns() - (end_ns - start_ns);
    }
    l->end_ns = end_ns;
    if (pr_rateslices_add(&l->slices, (double)(end_ns - start_ns) / 1e9,
                          (double)items))
        rate_log_check_steady(l);
    return l->is_steady || (l->max_s > 0 && l->slices.total_time >= l->max_s);
}

void pr_rate_log_end(struct pr_rate_log *l)
{
    l->end_wall_ns = l->start_wall_ns + (l->end_ns - l->start_ns);
    pr_rateslices_end(&l->slices);
}

double pr_rate_log_time_share(const struct pr_rate_log *l)
{
    return l->max_s > 0 ? fmin(1, l->slices.total_time / l->max_s) : -1;
}

/* ---- results */

struct pr_rate_log_timing pr_rate_log_get_timing(const struct pr_rate_log *l)
{
    const struct pr_rateslices *s = &l->slices;
    size_t count = s->len < WRITTEN ? s->len : WRITTEN;

    return (struct pr_rate_log_timing){
        .start_wall_ns = l->start_wall_ns,
        .end_wall_ns = l->end_wall_ns,
        .wall_s = (double)(l->end_ns - l->start_ns) / 1e9,
        .time_s = s->total_time,
        .slice_s = s->slice_s,
        .rates = s->rates + (s->len - count),
        .count = count,
    };
}

static void timing_put_metrics(const struct pr_rate_log_timing *t,
                               struct pr_json_writer *jb)
{
    pr_json_open_object(jb, "metrics");
    for (size_t i = 0; i < t->metric_count; i++)
        if (isfinite(t->values[i]))
            pr_json_put_float(jb, t->metrics[i], t->values[i]);
        else
            pr_json_put_null(jb, t->metrics[i]);
    pr_json_close(jb);
}

void pr_rate_log_put_timing(const struct pr_rate_log_timing *t,
                            struct pr_result_lines *k, const char *name)
{
    struct pr_json_writer *jb = k->at;
    char full[64], when[32];

    snprintf(full, sizeof full, "timings.%.40s", name);
    pr_json_open_object(jb, pr_result_lines_begin(k, full));
    pr_json_put_str(jb, "type", "milabench.experiment.RateLogger");
    pr_json_put_str(jb, "start", pr_time_local(when, t->start_wall_ns));
    pr_json_put_str(jb, "end", pr_time_local(when, t->end_wall_ns));
    pr_json_put_float(jb, "wall_time", t->wall_s);
    pr_json_put_float(jb, "time", t->time_s);
    pr_json_put_float(jb, "overhead", t->wall_s - t->time_s);
    pr_json_put_float(jb, "sample_duration", t->slice_s);
    pr_json_open_array(jb, "rates");
    for (size_t i = 0; i < t->count; i++)
        pr_json_put_float(jb, NULL, t->rates[i]);
    pr_json_close(jb);
    timing_put_metrics(t, jb);
    pr_json_close(jb);
    pr_result_lines_end(k);
}

static void steady_put_measures(const struct pr_steady *t,
                                struct pr_result_lines *k)
{
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"steady_rate", t->mean},
        {"steady_std", t->std},
        {"steady_sem", t->sem},
        {"steady_low", t->low},
        {"steady_high", t->high},
        {"steady_p5", t->p5},
        {"steady_p50", t->p50},
        {"steady_p95", t->p95},
        {"steady_autocorrelation", t->correlation},
        {"steady_index_rate", t->index_rate},
        {"steady_time_rate", t->time_rate},
        {"warmup_s", t->warmup_s},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pr_result_lines_put_float(k, all[i].name, all[i].value);
    pr_result_lines_put_bool(k, "settled", t->settled);
}

int pr_rate_log_put_steady(const struct pr_rate_log *l,
                           struct pr_result_lines *k, struct pr_err *err)
{
    struct pr_slices s = slices_of(l, l->slices.total_time);
    struct pr_steady t;
    double *room;

    if (!s.count)
        return PR_OK;
    /* Those that were dropped took their time with them. */
    s.total_s -= (double)l->slices.dropped * s.slice_s;
    room = pr_alloc(s.count * sizeof *room);
    if (!room)
        return pr_fail_nomem(err);
    pr_steady_compute(&s, room, &t);
    pr_free(room);
    if (t.count < 2)
        return PR_OK; /* too short to say anything */
    steady_put_measures(&t, k);
    if (l->steady > 0)
        pr_result_lines_put_bool(k, "steady", l->is_steady);
    return PR_OK;
}
