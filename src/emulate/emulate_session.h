/* Running an emulated training: data, epochs, report. */
#ifndef PR_EMULATE_SESSION_H
#define PR_EMULATE_SESSION_H

#include "job/job.h"

/* Writes to stdout and into the job's folder. Gives up when *stop becomes
 * true. */
int pr_emulate_session_run(struct pr_job *job, const bool *stop,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
