/*
 * Whether a run came to its end: it may go on at this moment, or have been
 * stopped or killed. Then something of its plan is missing in every report.
 */
#ifndef PR_ANALYSE_UNFINISHED_H
#define PR_ANALYSE_UNFINISHED_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
