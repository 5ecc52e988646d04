/* Histograms of durations, and rates over slices of time. */
#include "base/stats/histogram.h"

#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- rates over slices of time */

int pr_rateslices_init(struct pr_rateslices *s, double slice_s,
                       struct pr_err *err)
{
    *s = (struct pr_rateslices){.slice_s = slice_s};
    s->rates = pr_alloc(PR_RATESLICES_MOST * sizeof *s->rates);
    return s->rates ? PR_OK : pr_fail_nomem(err);
}

void pr_rateslices_free(struct pr_rateslices *s)
{
    pr_free(s->rates);
    s->rates = NULL;
}

/* The newest are those that a rate is told from: the older half goes. */
static void rateslices_make_room(struct pr_rateslices *s)
{
    size_t half = PR_RATESLICES_MOST / 2;

    memmove(s->rates, s->rates + half,
            (PR_RATESLICES_MOST - half) * sizeof *s->rates);
    s->len -= half;
    s->dropped += half;
}

static void rateslices_add_rate(struct pr_rateslices *s, double rate)
{
    if (s->len == PR_RATESLICES_MOST)
        rateslices_make_room(s);
    s->rates[s->len++] = rate;
}

/* One iteration of days must not take minutes to note: slices that would be
 * dropped at once are only counted. */
static double rateslices_skip_dropped(struct pr_rateslices *s, double slices)
{
    double most = PR_RATESLICES_MOST, over = slices - most;

    if (over <= 0)
        return slices;
    s->dropped += (uint64_t)fmin(over, 1e18);
    return most;
}

bool pr_rateslices_add(struct pr_rateslices *s, double seconds, double count)
{
    double slices, each;

    s->time += seconds;
    s->count += count;
    s->total_time += seconds;
    s->total_count += count;
    s->iterations++;
    if (!(s->time >= s->slice_s))
        return false;
    slices = s->time / s->slice_s;
    for (double i = rateslices_skip_dropped(s, floor(slices)); i >= 1; i--)
        rateslices_add_rate(s, s->count / s->time);
    each = s->count / slices;
    s->time = fmod(s->time, s->slice_s);
    s->count = each > 0 ? fmod(s->count, each) : 0;
    return true;
}

void pr_rateslices_end(struct pr_rateslices *s)
{
    if (s->time > 0)
        rateslices_add_rate(s, s->count / s->time);
    s->time = s->count = 0;
}

/* ---- the histogram
 * Buckets as floating-point numbers have them: the power of two and the five
 * bits that follow its leading one. Below 64 every value has its own. */

enum { SUB_BITS = 5, SUB = 1 << SUB_BITS, LAST = PR_HISTOGRAM_BUCKETS - 1 };

static size_t bucket_of(uint64_t v)
{
    unsigned shift;
    size_t i;

    if (v < SUB)
        return (size_t)v;
    shift = 63u - SUB_BITS - (unsigned)__builtin_clzll(v);
    i = (size_t)(shift + 1) * SUB + (v >> shift) % SUB;
    return i < LAST ? i : LAST;
}

/* The middle of a bucket: off by at most half of its width, 1/64. */
static uint64_t histogram_bucket_value(size_t i)
{
    unsigned shift;

    if (i < SUB)
        return i;
    shift = (unsigned)(i / SUB - 1);
    return ((uint64_t)(SUB + i % SUB) << shift) + ((uint64_t)1 << shift) / 2;
}

static void add_u32(uint32_t *to, uint32_t n)
{
    *to = *to > UINT32_MAX - n ? UINT32_MAX : *to + n;
}

static void add_u64(uint64_t *to, uint64_t n)
{
    *to = *to > UINT64_MAX - n ? UINT64_MAX : *to + n;
}

void pr_histogram_add(struct pr_histogram *h, uint64_t ns)
{
    if (!h->count || ns < h->min)
        h->min = ns;
    if (ns > h->max)
        h->max = ns;
    h->count++;
    add_u64(&h->sum, ns);
    add_u32(&h->bucket[bucket_of(ns)], 1);
}

void pr_histogram_merge(struct pr_histogram *to, const struct pr_histogram *h)
{
    if (!h->count)
        return;
    if (!to->count || h->min < to->min)
        to->min = h->min;
    if (h->max > to->max)
        to->max = h->max;
    to->count += h->count;
    add_u64(&to->sum, h->sum);
    for (size_t i = 0; i < PR_HISTOGRAM_BUCKETS; i++)
        add_u32(&to->bucket[i], h->bucket[i]);
}

/* The number, from 1, of the value that is asked for among n in order. */
static uint64_t histogram_rank(double p, uint64_t n)
{
    double r = p * (double)n;
    uint64_t rank;

    if (!(r > 1))
        return 1;
    if (r >= (double)n)
        return n;
    rank = (uint64_t)r;
    return rank + ((double)rank < r);
}

uint64_t pr_histogram_at(const struct pr_histogram *h, double p)
{
    uint64_t n = 0, rank, seen = 0, v;
    size_t i = 0;

    /* Not count: a bucket that is full has forgotten some. */
    for (size_t k = 0; k < PR_HISTOGRAM_BUCKETS; k++)
        n += h->bucket[k];
    if (!n)
        return 0;
    rank = histogram_rank(p, n);
    if (rank == 1)
        return h->min;
    if (rank == n)
        return h->max;
    while ((seen += h->bucket[i]) < rank)
        i++;
    v = histogram_bucket_value(i);
    return v < h->min ? h->min : v > h->max ? h->max : v;
}

double pr_histogram_mean(const struct pr_histogram *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}
