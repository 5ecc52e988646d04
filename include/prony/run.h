/*
 * Running a plan. The result is a run directory: plan.json, env.json,
 * events.ndjson and, for each experiment, params.json, log.txt, result.json.
 */
#ifndef PRONY_RUN_H
#define PRONY_RUN_H

#include "prony/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pr_session_opts {
    size_t size;    /* of this struct, for later versions */
    bool fail_fast; /* stop after the first failure */
    int retry;      /* more attempts for what fails; -1: as exp.retry says */

    /* Called for every event, one line of JSON as in events.ndjson. */
    void (*event)(void *ctx, const char *line, size_t len);
    void *ctx;
};
#define PR_SESSION_OPTS_INIT                                  \
    {                                                         \
        sizeof(struct pr_session_opts), false, -1, NULL, NULL \
    }

/* Runs a built plan in a new directory. PR_OK, or PR_E_JOB, PR_E_PARTIAL,
 * PR_E_TIMEOUT when experiments failed, PR_E_INTR, or what went wrong. Forks:
 * call it before the process has threads of its own. SIGINT, SIGTERM, SIGHUP
 * and SIGUSR1 belong to it while it runs. */
PR_API int pr_session_start(struct pr_plan *plan, const char *dir,
                            const struct pr_session_opts *opts,
                            struct pr_err *err) PR_MUST_CHECK;

/* Goes on with the run in a directory. */
PR_API int pr_session_resume(const char *dir,
                             const struct pr_session_opts *opts,
                             struct pr_err *err) PR_MUST_CHECK;

/* "0.1.0". */
PR_API const char *pr_version(void);

#ifdef __cplusplus
}
#endif
#endif
