/*
 * The result file that a job of a suite leaves in the run directory, as milarun
 * writes it: <suite>.<job>.J<run>.<device>[.FAIL].<UTC>.json. It is made from
 * result.json and params.json alone, so that a run which was killed between the
 * two writes it when it is resumed.
 */
#ifndef PR_RUN_SUITE_RESULT_H
#define PR_RUN_SUITE_RESULT_H

#include "run/session.h"
#include "workload/workload.h"

/* Writes it, unless it is there already or the experiment is none of a suite
 * (params, those of params.json, have no suite.name). */
int pr_suite_result_write(const char *dir, const char *id,
                          const struct pr_value *params, struct pr_gpus *gpus,
                          struct pr_arena *a, struct pr_err *err) PR_MUST_CHECK;

/* The same for an experiment of an earlier run, of which there is the plan. */
int pr_suite_result_mend(const char *dir, const char *id,
                         const struct pr_value *planned, struct pr_gpus *gpus,
                         struct pr_arena *a, struct pr_err *err) PR_MUST_CHECK;

/* Removes the one of an experiment that is about to be run again. */
int pr_suite_result_remove(const char *dir, const char *id,
                           const struct pr_value *params, struct pr_arena *a,
                           struct pr_err *err) PR_MUST_CHECK;

/* Whether a job of a suite can be run by anybody here: before anything is
 * started for it. Adds warnings of what it will lack. PR_OK for what is no job
 * of a suite. */
int pr_suite_result_check(struct pr_job *job, struct pr_buf *warnings,
                          struct pr_err *err) PR_MUST_CHECK;

/* Appends to the members of a results map who ran the job, and what milarun
 * itself wrote in the experiment's folder: its timings as timings.NAME, the
 * rest as milarun.NAME. Nothing for what is no job of a suite. */
int pr_suite_result_gather(struct pr_job *job, struct pr_buf *results,
                           struct pr_err *err) PR_MUST_CHECK;

/* Whether milarun says there that it failed, whatever its exit status. */
bool pr_suite_result_has_failed(struct pr_job *job);

#endif
