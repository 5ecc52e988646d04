/*
 * Figures of suites, with the digits of numpy's: sums are taken in its order
 * (base/stats/statistics.h).
 */
#include "analyse/suite/suite_impl.h"
#include "base/mem.h"
#include "base/stats/statistics.h"

#include <math.h>

void pr_suite_compute_stats(const double *v, size_t n,
                            struct pr_suite_stats *ret)
{
    double nan = (double)NAN;

    *ret = (struct pr_suite_stats){n, nan, nan, nan, nan};
    if (!n)
        return;
    ret->mean = pr_pairwise_mean(v, n);
    ret->std = pr_pairwise_std(v, n);
    ret->min = ret->max = v[0];
    for (size_t i = 1; i < n; i++) { /* NaN wins, as in numpy */
        if (!(v[i] >= ret->min))
            ret->min = isnan(ret->min) ? nan : v[i];
        if (!(v[i] <= ret->max))
            ret->max = isnan(ret->max) ? nan : v[i];
    }
}

int pr_suite_numbers_add(struct pr_suite_numbers *n, double d)
{
    if (n->count == n->cap) {
        size_t cap = n->cap ? n->cap * 2 : 64;
        double *v = pr_realloc(n->v, cap * sizeof *v);
        if (!v)
            return PR_E_NOMEM;
        n->v = v;
        n->cap = cap;
    }
    n->v[n->count++] = d;
    return PR_OK;
}

/* ---- slices */

const char *pr_suite_window_text(enum pr_suite_kind kind)
{
    switch (kind) {
    case PR_SUITE_RESULTS:
        return "slices [-20:-2] of each run";
    case PR_SUITE_MILABENCH:
        return "all rates but the lowest and the highest";
    case PR_SUITE_RUN:
        return "what each run reported";
    case PR_SUITE_SUMMARY:
    case PR_SUITE_SYSTEMS:
        break;
    }
    return NULL;
}

/* A full curve becomes one of half as many points. */
static void slices_halve_curve(struct pr_suite_slices *s)
{
    for (uint32_t i = 0; i < s->used / 2; i++)
        s->points[i] = (s->points[2 * i] + s->points[2 * i + 1]) / 2;
    s->used /= 2;
    s->each *= 2;
}

static void slices_add_point(struct pr_suite_slices *s, double rate)
{
    if (s->part && s->part < s->each) {
        double *last = &s->points[s->used - 1];
        *last += (rate - *last) / (s->part + 1);
        s->part++;
        return;
    }
    if (s->used == s->room)
        slices_halve_curve(s);
    s->points[s->used++] = rate;
    s->part = 1;
}

void pr_suite_slices_add(struct pr_suite_slices *s, double rate)
{
    s->last[s->count++ % PR_SUITE_STEADY] = rate;
    if (s->points)
        slices_add_point(s, rate);
}

/* rates[-20:-2]: of the last twenty without the last two. */
void pr_suite_slices_end(const struct pr_suite_slices *s,
                         struct pr_suite_rate *ret)
{
    uint64_t from = s->count > PR_SUITE_STEADY ? s->count - PR_SUITE_STEADY : 0;
    uint64_t to = s->count > PR_SUITE_LAST ? s->count - PR_SUITE_LAST : 0;
    double window[PR_SUITE_STEADY];
    struct pr_suite_stats stats;
    size_t n = 0;

    for (uint64_t i = from; i < to; i++)
        window[n++] = s->last[i % PR_SUITE_STEADY];
    pr_suite_compute_stats(window, n, &stats);
    *ret = (struct pr_suite_rate){
        .rate = stats.mean,
        .std = stats.std,
        .steady = (uint32_t)n,
        .slices = s->count > UINT32_MAX ? UINT32_MAX : (uint32_t)s->count,
    };
}
