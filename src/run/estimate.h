/*
 * Looking at a plan before it is run: whether every experiment can be run, and
 * what all of them will cost.
 */
#ifndef PR_RUN_ESTIMATE_H
#define PR_RUN_ESTIMATE_H

#include "plan/plan.h"

/* Whether every experiment can be run at all: refused before anything starts
 * rather than failed one by one. Data that are missing are left to the run, as
 * DLIO does it. validate.h has all that is missing. */
int pr_plan_check(struct pr_plan *p, struct pr_err *err) PR_MUST_CHECK;

/* What a plan will cost, added up over its experiments. */
struct pr_plan_cost {
    uint64_t experiments, skipped, unknown;
    uint64_t write_bytes, read_bytes;
    double seconds, at_most_s;
    bool limited; /* every experiment has a timeout */
    uint64_t
        refused; /* experiments that cannot be run by this version or here */
    struct pr_err why; /* the first of them */
};

int pr_plan_cost(struct pr_plan *p, struct pr_plan_cost *ret,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
