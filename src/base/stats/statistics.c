/* Order, sums, Student's t, and from them the steady state of a run. */
#include "base/stats/statistics.h"

#include "base/stats/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order
 * Hoare's selection: of the two parts of a list only the one that holds place
 * k is looked at again, so that a median takes a few looks at each value. */

static void swap_doubles(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

/* The middle of three: what is in order already is no bad case. */
static double pick_pivot(double *low, double *mid, double *high)
{
    if (*mid < *low)
        swap_doubles(mid, low);
    if (*high < *low)
        swap_doubles(high, low);
    if (*high < *mid)
        swap_doubles(high, mid);
    return *mid;
}

void pr_select_nth(double *v, size_t n, size_t k)
{
    double *low = v, *high = v + n - 1, *want = v + k;

    while (low < high) {
        double pivot = pick_pivot(low, low + (high - low) / 2, high);
        double *i = low, *j = high;

        while (i <= j) {
            for (; *i < pivot; i++)
                ;
            for (; *j > pivot; j--)
                ;
            if (i > j)
                break;
            swap_doubles(i++, j);
            if (j == v)
                break; /* nothing is before it */
            j--;
        }
        if (want >= i)
            low = i;
        else if (want <= j && j < i)
            high = j;
        else
            return; /* between the parts, where all are equal */
    }
}

int pr_double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- sums as numpy makes them */

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

/* ---- Student's distribution, by the incomplete beta function */

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

/* ---- the steady state of a run */

/* milarun's window, and the same in seconds. */
enum { INDEX_FIRST = 20, INDEX_LAST = 2 };
static const double window_s = 10, skip_s = 1;

/* Fewer whole slices than these say nothing about warming up. */
enum { LEAST = 8 };

static const double about = 1.25;   /* of the least, is as good */
static const double chance = 0.025; /* on each side: 95 % lie between */

/* ---- steady state: windows */

double pr_steady_by_index(const double *rates, size_t count)
{
    size_t from = count > INDEX_FIRST ? count - INDEX_FIRST : 0;

    return count > INDEX_LAST
               ? pr_pairwise_mean(rates + from, count - INDEX_LAST - from)
               : NAN;
}

static double slice_s(const struct pr_slices *s)
{
    return s->slice_s > 0 ? s->slice_s : PR_RATESLICES_S;
}

/* How long the last slice is. */
static double last_s(const struct pr_slices *s)
{
    double each = slice_s(s);
    double left = s->total_s - (double)(s->count - 1) * each;

    return s->total_s > 0 && left > 0 && left < each ? left : each;
}

double pr_steady_by_time(const struct pr_slices *s)
{
    double each = slice_s(s), items = 0, seconds = 0, end = 0;

    /* Backwards, end being the time from the end of the run. */
    for (size_t i = s->count; i-- > 0 && end < window_s;) {
        double start = end + (i + 1 == s->count ? last_s(s) : each);
        double in = fmin(start, window_s) - fmax(end, skip_s);

        if (in > 0) {
            items += in * s->rates[i];
            seconds += in;
        }
        end = start;
    }
    return seconds > 0 ? items / seconds : NAN;
}

/* ---- steady state: warming up */

/* What the mean of the batches from each on is worth, from the last one back:
 * their spread over their number. Equal but for rounding is equal. */
struct mser {
    const double *v;
    size_t batch, next; /* the batch that was taken last */
    double count, mean, squares;
};

static double mser_add_batch(struct mser *m)
{
    size_t from = --m->next * m->batch;
    double x = pr_pairwise_mean(m->v + from, m->batch), off = x - m->mean;

    m->count++;
    m->mean += off / m->count;
    m->squares += off * (x - m->mean);
    if (m->squares <= m->count * (1e-9 * m->mean) * (1e-9 * m->mean))
        m->squares = 0;
    return m->squares / (m->count * m->count);
}

/* The smallest of these in the first half, and the first batch, from where it
 * is no larger than most. */
static double mser_scan_backward(struct mser m, double most, size_t *ret_first)
{
    size_t half = m.next / 2;
    double least = INFINITY;

    *ret_first = half;
    while (m.next > 0) {
        double unsure = mser_add_batch(&m);

        if (m.next <= half) {
            least = fmin(least, unsure);
            if (unsure <= most)
                *ret_first = m.next;
        }
    }
    return least;
}

/*
 * MSER: as many values are left out as make the mean of the rest surest, half
 * of them at most. Where others are about as good the fewest are left out: by
 * chance alone the best may leave out many. Many values are taken in batches
 * of five, so that a few quick ones are not mistaken for the end of a warm-up.
 * What rises steadily has its best at the half, and about as good from three
 * eighths on: more than a third means that it never settled.
 */
size_t pr_steady_warmup(const double *v, size_t count, bool *ret_settled)
{
    size_t batch = count >= 50 ? 5 : 1, batches = count / batch, first;
    struct mser m = {.v = v, .batch = batch, .next = batches};
    double least;

    *ret_settled = false;
    if (count < LEAST)
        return 0;
    /* What does not make a whole batch is the oldest. */
    m.v += count - batches * batch;
    least = mser_scan_backward(m, INFINITY, &first);
    (void)mser_scan_backward(m, least * about, &first);
    *ret_settled = 3 * first <= batches;
    return first ? count - (batches - first) * batch : 0;
}

/* ---- steady state: how sure */

static double lag_covariance(const double *v, size_t count, double mean,
                             size_t lag)
{
    double sum = 0;

    for (size_t i = lag; i < count; i++)
        sum += (v[i] - mean) * (v[i - lag] - mean);
    return sum / (double)count;
}

/*
 * Geyer's initial monotone sequence: correlations are added in pairs, each no
 * larger than the one before, until one is not above 0. Slices that pull each
 * other back, as those do that share an iteration, count no better than
 * independent ones.
 */
static double steady_correlation(const double *v, size_t count)
{
    enum { FURTHEST = 2000 };
    double mean = pr_pairwise_mean(v, count);
    double spread = count > 1 ? lag_covariance(v, count, mean, 0) : 0;
    double sum = 0, before = INFINITY;

    if (!(spread > (1e-9 * mean) * (1e-9 * mean)))
        return 1;
    for (size_t lag = 0; lag + 1 < count && lag < FURTHEST; lag += 2) {
        double pair = lag_covariance(v, count, mean, lag) +
                      lag_covariance(v, count, mean, lag + 1);

        if (!(pair > 0))
            break;
        before = fmin(before, pair);
        sum += before;
    }
    return fmax(1, 2 * sum / spread - 1);
}

static void steady_set_error(struct pr_steady *t)
{
    double n = (double)t->count, alone = n / t->correlation;
    double half;

    if (t->count < 2)
        return;
    t->sem = t->std * sqrt(t->correlation / (n - 1));
    half = t->sem * pr_student_t(chance, fmax(alone - 1, 1));
    t->low = t->mean - half;
    t->high = t->mean + half;
}

/* ---- steady state: spread */

double pr_steady_quantile(const double *sorted, size_t count, double p)
{
    double at = count ? p * (double)(count - 1) : 0;
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;

    return count
               ? sorted[low] + (at - (double)low) * (sorted[high] - sorted[low])
               : NAN;
}

static void steady_set_spread(const double *v, double *room,
                              struct pr_steady *t)
{
    for (size_t i = 0; i < t->count; i++) {
        t->min = fmin(t->min, v[i]);
        t->max = fmax(t->max, v[i]);
    }
    if (!room)
        return;
    memcpy(room, v, t->count * sizeof *v);
    qsort(room, t->count, sizeof *room, pr_double_compare);
    t->p5 = pr_steady_quantile(room, t->count, 0.05);
    t->p50 = pr_steady_quantile(room, t->count, 0.5);
    t->p95 = pr_steady_quantile(room, t->count, 0.95);
}

void pr_steady_compute(const struct pr_slices *s, double *room,
                       struct pr_steady *ret)
{
    struct pr_steady t = {.correlation = 1};
    size_t whole = s->count;

    t.mean = t.std = t.sem = t.low = t.high = NAN;
    t.min = t.max = t.p5 = t.p50 = t.p95 = NAN;
    t.index_rate = pr_steady_by_index(s->rates, s->count);
    t.time_rate = pr_steady_by_time(s);
    if (whole && last_s(s) < slice_s(s) * (1 - 1e-9))
        whole--;
    t.warmup = pr_steady_warmup(s->rates, whole, &t.settled);
    t.warmup_s = (double)t.warmup * slice_s(s);
    t.count = whole - t.warmup;
    if (t.count) {
        const double *v = s->rates + t.warmup;

        t.mean = pr_pairwise_mean(v, t.count);
        t.std = pr_pairwise_std(v, t.count);
        t.correlation = steady_correlation(v, t.count);
        steady_set_error(&t);
        steady_set_spread(v, room, &t);
    }
    *ret = t;
}

double pr_steady_error(const struct pr_steady *s)
{
    return s->mean > 0 ? (s->high - s->low) / 2 / s->mean : NAN;
}
