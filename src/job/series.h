/*
 * A series of numbers that may become long: its mean, deviation and extremes
 * exactly, its values as they came, up to PR_SERIES_KEPT of them. A longer one
 * is thinned: then every second value is kept, every fourth, and so on.
 */
#ifndef PR_JOB_SERIES_H
#define PR_JOB_SERIES_H

#include "base/err.h"
#include "job/result_lines.h"

#include <stdint.h>

enum { PR_SERIES_KEPT = 10000 };

struct pr_series {
    uint64_t count;
    double mean, squares; /* of the distances from the mean, summed up */
    double min, max, last;
    double *kept; /* room for PR_SERIES_KEPT */
    size_t kept_count;
    uint64_t stride; /* every so many-th is kept */
};

int pr_series_init(struct pr_series *s, struct pr_err *err) PR_MUST_CHECK;
void pr_series_free(struct pr_series *s);
void pr_series_add(struct pr_series *s, double v);

/* Of all values: 0 when there is none. */
double pr_series_std(const struct pr_series *s);

/* The value below which a share p lies, between neighbours as numpy has it; of
 * the values that were kept. Sorts a copy: PR_E_NOMEM. */
int pr_series_quantiles(const struct pr_series *s, const double *p,
                        size_t count, double *ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* The values that were kept, as the result NAME, a list. */
void pr_series_put(const struct pr_series *s, struct pr_result_lines *k,
                   const char *name);

/* What a sentence needs of times, in ms. */
struct pr_series_summary {
    double mean, p50, p99, max;
};

/* Times in ms as results: time, time_data, time_std, and so on. */
int pr_series_put_times(const struct pr_series *s, struct pr_result_lines *k,
                        struct pr_series_summary *ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* "2.53 s, p99 2.61 s"; where the mean is above that, the median and the
 * outlier instead. */
enum { PR_SERIES_TEXT = 96 };
const char *pr_series_text(const struct pr_series_summary *s,
                           char out[static PR_SERIES_TEXT]);

#endif
