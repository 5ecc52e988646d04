/*
 * The statistics of a comparison: moments, errors of means that hang together,
 * and variances that learn from each other. Pure functions.
 */
#include "analyse/compare/compare_impl.h"

#include <math.h>

enum {
    LEAST_SLICES = 8,
    LEAST_BATCHES = 4,
    MOST_BATCHES = 30,
    LEAST_VARIANCES = 6, /* to learn from, */
    LEAST_FREEDOM = 10,  /* and degrees of freedom of all of them */
};

/* Runs of one thing never agree better than this (deviation, a share): timers,
 * and figures that were rounded. */
static const double least_deviation = 0.0005;

/* Variances of others are worth so many degrees of freedom at most: noise has
 * heavier tails than the theory. Few of them are worth less. */
static const double most_prior = 4, prior_share = 0.1, prior_excess = 1.4;

/* Degrees of freedom of what is assumed and not measured. */
static const double assumed_freedom = 20;

void pr_compare_moments(const double *v, size_t n, double *ret_mean,
                        double *ret_var)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    *ret_mean = n ? sum / (double)n : (double)NAN;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - *ret_mean) * (v[i] - *ret_mean);
    *ret_var = n > 1 ? squares / (double)(n - 1) : (double)NAN;
}

/* ---- values that follow one another */

/* How much neighbours hang together, from 0 to 0.9. */
static double correlate_neighbours(const double *v, size_t n, double mean,
                                   double var)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < n; i++)
        sum += (v[i] - mean) * (v[i + 1] - mean);
    if (!(var > 0))
        return 0;
    /* Estimates from few values are too low, by about (1 + 3 r) / n. */
    sum = sum / ((double)(n - 1) * var) + 1.0 / (double)n;
    return fmin(0.9, fmax(0, sum));
}

bool pr_compare_batch_error(const double *v, size_t n, double *ret_error2,
                            double *ret_freedom)
{
    size_t batches = (size_t)sqrt((double)n), size;
    double means[MOST_BATCHES], mean, var, ignored, r;

    if (n < LEAST_SLICES)
        return false;
    if (batches < LEAST_BATCHES)
        batches = LEAST_BATCHES;
    if (batches > MOST_BATCHES)
        batches = MOST_BATCHES;
    size = n / batches;
    for (size_t i = 0; i < batches; i++) /* what is left over is the start */
        pr_compare_moments(v + n - (batches - i) * size, size, &means[i],
                           &ignored);
    pr_compare_moments(means, batches, &mean, &var);
    r = correlate_neighbours(means, batches, mean, var);
    *ret_error2 = var / (double)batches * (1 + r) / (1 - r);
    *ret_freedom = (double)(batches - 1);
    return true;
}

/* ---- variances that learn from each other */

/* The second derivative of log gamma's first, by its series. */
static double compute_trigamma(double x)
{
    double sum = 0, y;

    for (; x < 6; x++)
        sum += 1 / (x * x);
    y = 1 / (x * x);
    return sum + y / 2 +
           (1 + y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30)))) / x;
}

static double compute_digamma(double x)
{
    double sum = 0, y;

    for (; x < 6; x++)
        sum -= 1 / x;
    y = 1 / (x * x);
    return sum + log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

/* The x whose trigamma is y, above zero: it falls as x grows. */
static double trigamma_inverse(double y)
{
    double low = 1e-3, high = 1e6;

    for (int i = 0; i < 100; i++) {
        double mid = sqrt(low * high);

        if (compute_trigamma(mid) > y)
            low = mid;
        else
            high = mid;
    }
    return sqrt(low * high);
}

void pr_compare_fit_prior(const double *variances, const double *freedoms,
                          size_t n, struct pr_variance_prior *ret)
{
    double sum = 0, squares = 0, noise = 0, freedom = 0;
    double mean, spread, half, most;

    *ret = (struct pr_variance_prior){0};
    if (n < LEAST_VARIANCES)
        return;
    for (size_t i = 0; i < n; i++) {
        double v = fmax(variances[i], least_deviation * least_deviation);

        half = freedoms[i] / 2;
        sum += log(v) - compute_digamma(half) + log(half);
        noise += compute_trigamma(half);
        freedom += freedoms[i];
    }
    if (freedom < LEAST_FREEDOM)
        return;
    mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double v = fmax(variances[i], least_deviation * least_deviation);

        half = freedoms[i] / 2;
        v = log(v) - compute_digamma(half) + log(half) - mean;
        squares += v * v;
    }
    /* What the logarithms differ more than chance would have it. */
    spread = squares / (double)(n - 1) - noise / (double)n;
    most = fmin(most_prior, prior_share * freedom) / 2;
    half = fmin(most, spread > 0 ? trigamma_inverse(spread) : most);
    ret->freedom = 2 * half;
    ret->variance =
        prior_excess * exp(mean + compute_digamma(half) - log(half));
}

/* ---- errors of means */

static struct pr_log_estimate
estimate_from_variance(const struct pr_compare_side *s, double variance,
                       double freedom, const struct pr_variance_prior *prior)
{
    double floor = least_deviation * least_deviation;
    double all = freedom + prior->freedom;

    variance = (variance * freedom + prior->variance * prior->freedom) / all;
    return (struct pr_log_estimate){.mean = s->mean,
                                    .error2 = fmax(variance, floor) /
                                              (double)s->repeats,
                                    .freedom = all};
}

struct pr_log_estimate
pr_compare_estimate(const struct pr_compare_side *s,
                    const struct pr_compare_side *other,
                    const struct pr_variance_prior *prior, double between_runs)
{
    struct pr_log_estimate e = {.mean = s->mean}, run, within;

    if (isfinite(s->variance))
        return estimate_from_variance(s, s->variance, s->freedom, prior);
    if (isfinite(other->variance))
        return estimate_from_variance(s, other->variance, other->freedom,
                                      prior);
    /* One run each: what lies between runs cannot be seen. Where not even what
     * lies within one is known, twice as much is assumed. */
    if (!isfinite(s->within2))
        between_runs *= 2;
    run = (struct pr_log_estimate){.error2 = between_runs * between_runs,
                                   .freedom = assumed_freedom};
    if (!isfinite(s->within2)) {
        e.error2 = run.error2;
        e.freedom = run.freedom;
        return e;
    }
    within = (struct pr_log_estimate){.error2 = s->within2,
                                      .freedom = s->within_freedom};
    within = pr_compare_difference(&run, &within);
    e.error2 = within.error2;
    e.freedom = within.freedom;
    return e;
}

struct pr_log_estimate pr_compare_difference(const struct pr_log_estimate *a,
                                             const struct pr_log_estimate *b)
{
    double sum = a->error2 + b->error2;
    double parts =
        a->error2 * a->error2 / a->freedom + b->error2 * b->error2 / b->freedom;

    return (struct pr_log_estimate){
        .mean = b->mean - a->mean,
        .error2 = sum,
        .freedom = parts > 0 ? sum * sum / parts : a->freedom + b->freedom};
}
