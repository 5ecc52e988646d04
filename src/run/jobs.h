/* A plan as jobs, one after another, without running them. */
#ifndef PR_RUN_JOBS_H
#define PR_RUN_JOBS_H

#include "plan/plan.h"
#include "workload/workload.h"

/* Called for each experiment; everything is borrowed until it returns. */
typedef int pr_each_job(void *ctx, struct pr_job *job, struct pr_err *err);

/* Stops at the first that fails. With a workload, only those experiments whose
 * exp.workload is that. */
int pr_plan_each_job(struct pr_plan *p, const char *workload, pr_each_job *each,
                     void *ctx, struct pr_err *err) PR_MUST_CHECK;

#endif
