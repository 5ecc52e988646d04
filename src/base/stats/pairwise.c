/* Sums as numpy makes them. */
#include "base/stats/pairwise.h"

#include <math.h>

enum { LANES = 8, BLOCK = 128 };

/* What is summed up: values, or squares of their distance from a centre. */
struct terms {
    const double *v;
    double centre;
    int squares;
};

static double pairwise_term(const struct terms *t, size_t i)
{
    double off;

    if (!t->squares)
        return t->v[i];
    off = t->v[i] - t->centre;
    return off * off;
}

static double sum_few(const struct terms *t, size_t from, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += pairwise_term(t, from + i);
    return sum;
}

static double sum_block(const struct terms *t, size_t from, size_t count)
{
    double r[LANES], sum;
    size_t i, whole = count - count % LANES;

    for (i = 0; i < LANES; i++)
        r[i] = pairwise_term(t, from + i);
    for (i = LANES; i < whole; i++)
        r[i % LANES] += pairwise_term(t, from + i);
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (i = whole; i < count; i++)
        sum += pairwise_term(t, from + i);
    return sum;
}

static double sum_part(const struct terms *t, size_t from, size_t count)
{
    size_t half;

    if (count < LANES)
        return sum_few(t, from, count);
    if (count <= BLOCK)
        return sum_block(t, from, count);
    half = count / 2;
    half -= half % LANES;
    return sum_part(t, from, half) + sum_part(t, from + half, count - half);
}

double pr_pairwise_sum(const double *v, size_t count)
{
    struct terms t = {.v = v};

    return sum_part(&t, 0, count);
}

double pr_pairwise_mean(const double *v, size_t count)
{
    return count ? pr_pairwise_sum(v, count) / (double)count : NAN;
}

double pr_pairwise_std(const double *v, size_t count)
{
    struct terms t = {v, pr_pairwise_mean(v, count), 1};

    return count ? sqrt(sum_part(&t, 0, count) / (double)count) : NAN;
}
