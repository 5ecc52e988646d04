/*
 * Buckets as floating-point numbers have them: the power of two and the five
 * bits that follow its leading one. Below 64 every value has its own.
 */
#include "base/stats/histogram.h"

#include <stddef.h>

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
