/* Numbers from what was timed. */
#include "probe/probe_impl.h"

#include <math.h>
#include <string.h>

static const char *const probe_figures_names[PR_PROBE_PHASES] = {
    "IO", "SYNTHETIC", "FULL"};

const char *pr_probe_phase_name(enum pr_probe_phase phase)
{
    return (unsigned)phase < PR_PROBE_PHASES ? probe_figures_names[phase] : "";
}

void pr_probe_spread(const struct pr_probe_record *r, double *ret_mean,
                     double *ret_deviation)
{
    double n = (double)r->count, sum = 0, squares = 0, mean;

    for (size_t i = 0; i < r->count; i++)
        sum += r->trials[i].t.rate;
    mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < r->count; i++) {
        double off = r->trials[i].t.rate - mean;

        squares += off * off;
    }
    *ret_mean = mean;
    *ret_deviation = n > 0 ? sqrt(squares / n) : 0;
}

static void probe_fill_times(const struct pr_histogram *h,
                             struct pr_probe_times *ret, double *ret_sum)
{
    ret->mean = pr_histogram_mean(h) / 1e9;
    ret->min = (double)h->min / 1e9;
    ret->p50 = (double)pr_histogram_at(h, 0.5) / 1e9;
    ret->p90 = (double)pr_histogram_at(h, 0.9) / 1e9;
    ret->p99 = (double)pr_histogram_at(h, 0.99) / 1e9;
    ret->max = (double)h->max / 1e9;
    *ret_sum = (double)h->sum / 1e9;
}

static void probe_fill_phase(const struct pr_probe_record *r,
                             struct pr_probe_figures *ret)
{
    ret->trials = r->count;
    ret->short_trials = r->short_trials;
    ret->batches = r->batches;
    pr_probe_spread(r, &ret->rate, &ret->deviation);
    probe_fill_times(&r->fetch, &ret->fetch, &ret->fetch_s);
    probe_fill_times(&r->step, &ret->step, &ret->step_s);
}

void pr_probe_numbers(const struct pr_probe *p, struct pr_probe_numbers *ret)
{
    struct pr_probe_numbers n = {.batch_size = p->o.batch_size,
                                 .ranks = p->o.ranks};
    size_t size = ret->size < sizeof n ? ret->size : sizeof n;

    n.size = ret->size;
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        probe_fill_phase(&p->phase[i], &n.phase[i]);
    memcpy(ret, &n, size);
}

bool pr_probe_trial(const struct pr_probe *p, enum pr_probe_phase phase,
                    size_t trial, struct pr_probe_trial *ret)
{
    if ((unsigned)phase >= PR_PROBE_PHASES || trial >= p->phase[phase].count)
        return false;
    *ret = p->phase[phase].trials[trial].t;
    return true;
}
