/* A plan as jobs, one after another, without running them: whether each can be
 * run, what all of them cost and which data they use. */
#ifndef PR_RUN_PLAN_JOBS_H
#define PR_RUN_PLAN_JOBS_H

#include "generate/generate.h"
#include "plan/plan.h"
#include "workload/workload.h"

/* A data set that experiments of a plan use. */
struct pr_plan_dataset {
    struct pr_dataset set;
    struct pr_storage_opts storage;
    bool later;  /* run.fsync is false */
    char id[40]; /* of the first experiment that uses it */
    struct pr_plan_dataset *next;
};

/* In plan order, in the arena. Two different ones in one folder: PR_E_CONF.
 * NULL when the plan has no experiments. */
int pr_plan_datasets(struct pr_plan *p, struct pr_arena *a,
                     struct pr_plan_dataset **ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* ---- before a plan is run */

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

/* Called for each experiment; everything is borrowed until it returns. */
typedef int pr_each_job(void *ctx, struct pr_job *job, struct pr_err *err);

/* Stops at the first that fails. With a workload, only those experiments whose
 * exp.workload is that. */
int pr_plan_each_job(struct pr_plan *p, const char *workload, pr_each_job *each,
                     void *ctx, struct pr_err *err) PR_MUST_CHECK;

#endif
