/*
 * How long things took: a histogram of nanoseconds with buckets of about 3 %,
 * from 1 ns to days, in fixed memory. Adding is a few instructions; a value
 * in it is off by less than 2 %, minimum and maximum are exact.
 */
#ifndef PR_BASE_HISTOGRAM_H
#define PR_BASE_HISTOGRAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
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

/* ---- rates over slices of time
 * As milarun's RateLogger has them. Iterations are added as they end. When
 * those since the last slice took as long as a slice (half a second) or longer,
 * their rate is noted once for each whole slice in that time; what is left of
 * time and count, in proportion, is carried over into the next. The end notes
 * what is left as one more, partial slice.
 *
 * Time here is the sum of what was measured: what lies between iterations is
 * nobody's. Slice i is of the time from i to i + 1 times the length.
 *
 * Adding allocates nothing. Where milarun ends with a division by zero, as an
 * iteration that counts nothing fills a slice, its rate is 0 and no count is
 * carried. */

/* Half a second each: six days. Memory that is not reached is not touched. */
enum { PR_RATESLICES_MOST = 1 << 20 };

#define PR_RATESLICES_S 0.5 /* milarun's --sample-duration */

struct pr_rateslices {
    double slice_s;
    double time, count; /* that are in no slice yet */
    double total_time, total_count;
    uint64_t iterations;
    double *rates; /* room for PR_RATESLICES_MOST; oldest first */
    size_t len;
    uint64_t dropped; /* the oldest, when there was no more room */
};

/* slice_s: more than 0. */
int pr_rateslices_init(struct pr_rateslices *s, double slice_s,
                       struct pr_err *err) PR_MUST_CHECK;
void pr_rateslices_free(struct pr_rateslices *s); /* all zero is fine */

/* An iteration that took so long and did so many items. True: a slice is
 * full. */
bool pr_rateslices_add(struct pr_rateslices *s, double seconds, double count);

/* Notes what is left, if time is. */
void pr_rateslices_end(struct pr_rateslices *s);

#endif
