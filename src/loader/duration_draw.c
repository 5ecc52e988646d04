/*
 * Draws of a distribution. Gamma by Marsaglia and Tsang (2000); Poisson by
 * products for a small mean, for others by Hörmann's transformed rejection
 * (PTRS, 1993), which takes the same time for any mean.
 */
#include "loader/duration.h"

#include <math.h>

/* Of mean 1. */
static double draw_exponential(struct pr_rng *rng)
{
    return -log1p(-pr_rng_double(rng));
}

/* Of scale 1. */
static double gamma_draw(double shape, struct pr_rng *rng)
{
    double boost = 1, d, c;

    if (shape == 0)
        return 0;
    if (shape < 1) {
        boost = exp(-draw_exponential(rng) / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = pr_rng_gauss(rng), v = 1 + c * x, u;
        if (v <= 0)
            continue;
        v = v * v * v;
        u = 1 - pr_rng_double(rng);
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return boost * d * v;
    }
}

static double poisson_small(double lam, struct pr_rng *rng)
{
    double limit = exp(-lam), product = pr_rng_double(rng), n = 0;

    for (; product > limit; n++)
        product *= pr_rng_double(rng);
    return n;
}

static double draw_poisson(double lam, struct pr_rng *rng)
{
    double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    double v_r = 0.9277 - 3.6224 / (b - 2);

    if (lam < 10)
        return poisson_small(lam, rng);
    for (;;) {
        double u = pr_rng_double(rng) - 0.5, v = 1 - pr_rng_double(rng);
        double us = 0.5 - fabs(u), k;
        int sign;

        if (us == 0)
            continue;
        k = floor((2 * a / us + b) * u + lam + 0.43);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        /* Not lgamma, which writes a global. */
        if (log(v * inverse_alpha / (a / (us * us) + b)) <=
            k * log(lam) - lam - lgamma_r(k + 1, &sign))
            return k;
    }
}

static double duration_draw_seconds(const struct pr_duration *d,
                                    struct pr_rng *rng)
{
    switch (d->kind) {
    case PR_DURATION_NORMAL:
        return d->a + d->b * pr_rng_gauss(rng);
    case PR_DURATION_UNIFORM:
        return d->a + (d->b - d->a) * pr_rng_double(rng);
    case PR_DURATION_GAMMA:
        return d->b * gamma_draw(d->a, rng);
    case PR_DURATION_EXPONENTIAL:
        return d->a * draw_exponential(rng);
    case PR_DURATION_POISSON:
        return draw_poisson(d->a, rng);
    case PR_DURATION_FIXED:
        return d->a;
    case PR_DURATION_NONE:
        break;
    }
    return 0;
}

uint64_t pr_duration_draw(const struct pr_duration *d, struct pr_rng *rng)
{
    double ns = fabs(duration_draw_seconds(d, rng)) * 1e9;

    /* A century and a half: as good as for ever, and a deadline fits. */
    return ns < 0x1p62 ? (uint64_t)(ns + 0.5) : (uint64_t)1 << 62;
}
