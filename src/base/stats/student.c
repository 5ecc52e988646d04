/* Student's distribution, by the incomplete beta function. */
#include "base/stats/student.h"

#include <math.h>

enum { TERMS = 300 };

/* Lentz's way through the continued fraction of the incomplete beta
 * function. */
static double beta_continued_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    double f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m <= TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd =
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        f *= d * (fabs(c) < tiny ? tiny : c);
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        step = d * (fabs(c) < tiny ? tiny : c);
        f *= step;
        if (fabs(step - 1) < 1e-14)
            break;
    }
    return f;
}

static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* The share of the beta distribution below x. */
static double beta_below(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) +
                b * log1p(-x));
    /* Each side has the half in which its fraction converges. */
    return x < (a + 1) / (a + b + 2)
               ? front * beta_continued_fraction(a, b, x) / a
               : 1 - front * beta_continued_fraction(b, a, 1 - x) / b;
}

double pr_student_above(double t, double freedom)
{
    double n = freedom, half;

    if (!(freedom > 0) || isnan(t))
        return 0.5;
    if (isinf(t))
        return t > 0 ? 0 : 1;
    half = 0.5 * beta_below(n / 2, 0.5, n / (n + t * t));
    return t >= 0 ? half : 1 - half;
}

double pr_student_t(double chance, double freedom)
{
    double low = 0, high = 1;

    while (pr_student_above(high, freedom) > chance && high < 1e9)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;

        if (pr_student_above(mid, freedom) > chance)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}
