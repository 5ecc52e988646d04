/*
 * A run directory, read back: its experiments in plan order, each with its
 * parameters and, when it has one, its result. Also of a run that was killed,
 * is still going on, or was made last year.
 */
#ifndef PR_ANALYSE_RUNDATA_H
#define PR_ANALYSE_RUNDATA_H

#include "base/err.h"
#include "base/value.h"

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

#endif
