/* The environment of an experiment's program: ours with the experiment's own
 * variables laid over. */
#ifndef PR_JOB_ENV_H
#define PR_JOB_ENV_H

#include "job/job.h"

/* Fills ret->env and ret->own_env: runtime.env.*, then the extra NAME=value
 * words. In the job's arena; the words are borrowed. */
int pr_job_set_start_env(struct pr_job *job, const char *const *extra,
                         size_t count, struct pr_start *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* Our environment with NAME=value words laid over; words is NULL-terminated.
 * In the arena. */
int pr_job_env_overlay(const char *const *words, struct pr_arena *a,
                       const char ***ret, struct pr_err *err) PR_MUST_CHECK;

#endif
