/*
 * Figures of suites, to the last bit those of numpy: sums are taken in its
 * order (eight partial sums for up to 128 values, halves beyond), so that a
 * summary has the same digits.
 */
#include "analyse/suite_impl.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, BLOCK = 128 };

/* value(i) is v[i], or with a mean its squared distance. */
struct series {
    const double *v;
    double mean;
    bool squares;
};

static double at(const struct series *s, size_t i)
{
    double d = s->v[i];

    if (!s->squares)
        return d;
    d -= s->mean;
    return d * d;
}

static double sum_block(const struct series *s, size_t from, size_t n)
{
    double lane[LANES], sum = 0;
    size_t i = 0;

    if (n >= LANES) {
        for (; i < LANES; i++)
            lane[i] = at(s, from + i);
        for (; i + LANES <= n; i += LANES)
            for (size_t k = 0; k < LANES; k++)
                lane[k] += at(s, from + i + k);
        sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
              ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    for (; i < n; i++)
        sum += at(s, from + i);
    return sum;
}

static double sum_pairs(const struct series *s, size_t from, size_t n)
{
    size_t half = n / 2;

    if (n <= BLOCK)
        return sum_block(s, from, n);
    half -= half % LANES;
    return sum_pairs(s, from, half) + sum_pairs(s, from + half, n - half);
}

double pr_suite_mean(const double *v, size_t n)
{
    struct series s = {.v = v};

    return n ? sum_pairs(&s, 0, n) / (double)n : (double)NAN;
}

void pr_suite_stats(const double *v, size_t n, struct pr_suite_stats *ret)
{
    struct series s = {.v = v, .squares = true};
    double nan = (double)NAN;

    *ret = (struct pr_suite_stats){n, nan, nan, nan, nan};
    if (!n)
        return;
    s.mean = pr_suite_mean(v, n);
    ret->mean = s.mean;
    ret->std = sqrt(sum_pairs(&s, 0, n) / (double)n);
    ret->min = ret->max = v[0];
    for (size_t i = 1; i < n; i++) { /* NaN wins, as in numpy */
        if (v[i] < ret->min || isnan(v[i]))
            ret->min = isnan(ret->min) ? nan : v[i];
        if (v[i] > ret->max || isnan(v[i]))
            ret->max = isnan(ret->max) ? nan : v[i];
    }
}

/* ---- slices */

/* A full curve becomes one of half as many points. */
static void fold(struct pr_suite_slices *s)
{
    for (uint32_t i = 0; i < s->used / 2; i++)
        s->points[i] = (s->points[2 * i] + s->points[2 * i + 1]) / 2;
    s->used /= 2;
    s->each *= 2;
}

static void add_point(struct pr_suite_slices *s, double rate)
{
    if (s->part && s->part < s->each) {
        double *last = &s->points[s->used - 1];
        *last += (rate - *last) / (s->part + 1);
        s->part++;
        return;
    }
    if (s->used == s->room)
        fold(s);
    s->points[s->used++] = rate;
    s->part = 1;
}

void pr_suite_slices_add(struct pr_suite_slices *s, double rate)
{
    s->last[s->count++ % PR_SUITE_STEADY] = rate;
    if (s->points)
        add_point(s, rate);
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
    pr_suite_stats(window, n, &stats);
    *ret = (struct pr_suite_rate){
        .rate = stats.mean,
        .std = stats.std,
        .steady = (uint32_t)n,
        .slices = s->count > UINT32_MAX ? UINT32_MAX : (uint32_t)s->count,
    };
}
