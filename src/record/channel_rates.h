/*
 * Rates that a child reported, by task and units. Count, mean, deviation and
 * the extremes are exact however many there are; quartiles are exact up to
 * PR_CHANNEL_RATES_EXACT values of a task, and from as many drawn evenly from
 * all of them afterwards.
 */
#ifndef PR_RECORD_CHANNEL_RATES_H
#define PR_RECORD_CHANNEL_RATES_H

#include "base/buf.h"
#include "base/random.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PR_CHANNEL_RATES_EXACT = 16384,
    PR_CHANNEL_RATES_TASKS = 64, /* at most; 128 KB each when full */
    PR_CHANNEL_RATES_NAME = 64,  /* bytes of a task's name, or units; cut */
};

enum { PR_CHANNEL_RATES_TITLE = 2 * PR_CHANNEL_RATES_NAME + 8 };

struct pr_channel_rate_series {
    char task[PR_CHANNEL_RATES_NAME], units[PR_CHANNEL_RATES_NAME];
    char title[PR_CHANNEL_RATES_TITLE]; /* no two have the same */
    uint64_t count;
    double mean, m2; /* m2: sum of squared distances from the mean */
    double min, max;
    double *values;
    size_t cap; /* of values */
    struct pr_rng rng;
};

struct pr_channel_rates {
    struct pr_channel_rate_series *series;
    size_t count, cap;
};

/* task and units are text of that many bytes. 1: kept; 0: too many tasks;
 * PR_E_NOMEM. */
int pr_channel_rates_add(struct pr_channel_rates *r, const char *task,
                         size_t task_len, const char *units, size_t units_len,
                         double rate);

/* {"train": {"count": 60, "mean": …}}; nothing when there are none. Puts the
 * values in order, so it comes last. */
void pr_channel_rates_write(struct pr_channel_rates *r, struct pr_buf *out);

/* Of one of them; after pr_channel_rates_write. */
double pr_channel_rates_median(const struct pr_channel_rates *r, size_t i);
void pr_channel_rates_close(struct pr_channel_rates *r);

#endif
