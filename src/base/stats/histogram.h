/*
 * How long things took: a histogram of nanoseconds with buckets of about 3 %,
 * from 1 ns to days, in fixed memory. Adding is a few instructions; a value
 * in it is off by less than 2 %, minimum and maximum are exact.
 */
#ifndef PR_BASE_HISTOGRAM_H
#define PR_BASE_HISTOGRAM_H

#include <stdint.h>

enum { PR_HISTOGRAM_BUCKETS = 32 * 44 };

struct pr_histogram {
    uint64_t count, sum, min, max;         /* min, max: 0 while it is empty */
    uint32_t bucket[PR_HISTOGRAM_BUCKETS]; /* stay at their largest value */
};

/* All zero bytes is an empty one. */
void pr_histogram_add(struct pr_histogram *h, uint64_t ns);
void pr_histogram_merge(struct pr_histogram *to, const struct pr_histogram *h);

/* The value that a share p of all values does not exceed; 0 when empty. */
uint64_t pr_histogram_at(const struct pr_histogram *h, double p);
double pr_histogram_mean(const struct pr_histogram *h);

#endif
