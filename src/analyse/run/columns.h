/*
 * What is worth a column in a table of a run: the parameters that differ
 * between its experiments, and the figures they report.
 */
#ifndef PR_ANALYSE_COLUMNS_H
#define PR_ANALYSE_COLUMNS_H

#include "base/err.h"
#include "base/value.h"
#include "record/event.h"

#include <stdint.h>

enum { PR_MAX_COLUMNS = 24 };

struct pr_run_columns {
    const char *params[PR_MAX_COLUMNS]; /* in order of the parameter set */
    size_t param_count;
    const char *metrics[PR_MAX_COLUMNS]; /* numbers, in order of appearance */
    size_t metric_count;
    uint64_t experiments;
    uint64_t by_status[PR_STATUS_COUNT];
    uint64_t warned;          /* results with warnings */
    uint64_t targets, missed; /* that had a target; of these, missed it */
    const char *first_missed; /* its id */
    uint64_t tests;           /* of a suite, with a throughput */
    uint64_t without_result;
    uint64_t unreadable;     /* there is a file, but not a result */
    struct pr_err first_bad; /* of these */
};

/* Looks at a whole run directory. Names are in the arena. */
int pr_run_columns_find(const char *dir, struct pr_arena *a,
                        struct pr_run_columns *ret,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
