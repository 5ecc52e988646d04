/* The list of workloads, and which of them a job is for. */
#ifndef PR_WORKLOAD_H
#define PR_WORKLOAD_H

#include "base/err.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL when i is too large. */
const struct pr_workload *pr_workload_at(size_t i);
const struct pr_workload *pr_workload_find(const char *name);

/* The workload of a job: exp.workload, or what follows from the rest.
 * PR_E_UNAVAIL when this build lacks it. */
int pr_workload_find_for_job(const struct pr_job *job,
                             const struct pr_workload **ret,
                             struct pr_err *err) PR_MUST_CHECK;

/* Estimates any job: that of its workload, and its timeout. */
int pr_job_estimate_cost(struct pr_job *job, struct pr_cost *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* The version of oneDNN; false: err has what is missing, and the remedy. */
bool pr_engine_is_there(char version[static 32], struct pr_err *err);

#endif
