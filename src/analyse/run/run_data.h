/*
 * A run directory, read back: its experiments in plan order, each with its
 * parameters and, when it has one, its result. Also of a run that was killed,
 * is still going on, or was made last year.
 */
#ifndef PR_ANALYSE_RUN_DATA_H
#define PR_ANALYSE_RUN_DATA_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "record/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- columns */

/*
 * What is worth a column in a table of a run: the parameters that differ
 * between its experiments, and the figures they report.
 */

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

struct pr_run_data;

int pr_run_data_open(const char *dir, struct pr_run_data **ret,
                     struct pr_err *err) PR_MUST_CHECK;
void pr_run_data_close(struct pr_run_data *d);

/* Whether the plan says that experiments were meant to differ in a name; in a
 * plan that says nothing about it, true for every name. */
bool pr_run_data_is_varied(const struct pr_run_data *d, const char *name);

struct pr_run_data_row {
    const char *id;
    int64_t repeat; /* 1, 2, … */
    const struct pr_value *params;
    const struct pr_value *result; /* NULL: none yet, or … */
    bool unreadable;               /* … what is there is not a result */
};

/* 1 and the next experiment (in the arena), 0 at the end. A result that cannot
 * be read counts as none; *ret_bad (may be NULL) says what is wrong with it. */
int pr_run_data_next(struct pr_run_data *d, struct pr_arena *a,
                     struct pr_run_data_row *ret, struct pr_err *ret_bad,
                     struct pr_err *err) PR_MUST_CHECK;

/* Whether it ran is one thing, whether it met its target another: the share of
 * the time that accelerators shall be busy (metric.au), or whatever an
 * experiment reports as target_met. */
enum pr_run_target { PR_TARGET_NONE, PR_TARGET_MET, PR_TARGET_MISSED };
enum pr_run_target
pr_run_data_target(const struct pr_value *result); /* or NULL */

/* ---- whether a run came to its end */

/*
 * It may go on at this moment, or have been stopped or killed. Then something
 * of its plan is missing in every report.
 */

enum { PR_UNFINISHED_NAMES = 3 };

struct pr_run_unfinished {
    uint64_t total;   /* experiments of the plan; 0: there is no plan */
    uint64_t missing; /* without a result, or interrupted; 0: it is whole */
    uint64_t begun;   /* of these */
    bool running;     /* somebody is at it */
    /* The first of those that were begun; in the arena. */
    const char *names[PR_UNFINISHED_NAMES];
    size_t name_count;
};

/* Looks at a run directory. One without plan.json is not one of ours: PR_OK,
 * and total is 0. */
int pr_run_unfinished_find(const char *dir, struct pr_arena *a,
                           struct pr_run_unfinished *ret,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
