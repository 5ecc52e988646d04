/*
 * Rates that say when they were measured, as slices of time: what a suite takes
 * the steady state from (base/stats/histogram.h). A rate is of the time since
 * the one before it, the first one only begins.
 */
#ifndef PR_RECORD_CHANNEL_TIMINGS_H
#define PR_RECORD_CHANNEL_TIMINGS_H

#include "base/err.h"
#include "base/stats/histogram.h"
#include "record/channel_row.h"

enum { PR_CHANNEL_TIMINGS = 8, PR_CHANNEL_TIMING_NAME = 48 };

struct pr_channel_timing {
    char task[PR_CHANNEL_TIMING_NAME];
    char units[PR_CHANNEL_TIMING_NAME]; /* rates in others are not counted */
    double first, last;                 /* seconds since 1970 */
    bool broken;                        /* a rate without time, or back in it */
    struct pr_rateslices slices;
};

/* All zero is an empty one. */
struct pr_channel_timings {
    struct pr_channel_timing each[PR_CHANNEL_TIMINGS];
    size_t count;
};

/* A row with a finite rate. Of tasks, those of training are looked at: names
 * that begin with "train", and rates without a task. */
int pr_channel_timings_add(struct pr_channel_timings *t,
                           const struct pr_channel_row *row,
                           struct pr_err *err) PR_MUST_CHECK;

/* The i-th as milarun writes one, in the arena, and its name, "timings.train".
 * 1: there; 0: its rates do not say when; once for each. */
int pr_channel_timings_get(struct pr_channel_timings *t, size_t i,
                           struct pr_arena *a,
                           char name[static PR_CHANNEL_TIMING_NAME + 8],
                           struct pr_value *ret,
                           struct pr_err *err) PR_MUST_CHECK;

void pr_channel_timings_close(struct pr_channel_timings *t);

#endif
