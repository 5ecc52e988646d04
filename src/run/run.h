/*
 * Running a plan: one experiment after another from plan.json, each with one
 * result whatever happens to it. The same code starts a run and resumes one:
 * what has a result is skipped.
 */
#ifndef PR_RUN_H
#define PR_RUN_H

#include "record/event.h"
#include "record/rundir.h"

struct pr_run_opts {
    struct pr_rundir *dir; /* open; plan.json is in it */
    bool fail_fast;        /* stop after the first failure */
    int retry; /* more attempts for a failed experiment; -1: exp.retry. When
                  resuming, >= 0 also runs again what failed before */

    /* Called for every event recorded, and with NULL several times a second
     * while an experiment runs. May be NULL. */
    void (*watch)(void *ctx, const struct pr_event *e);
    void *watch_ctx;

    /* By which experiments time out; NULL: the machine's. */
    struct pr_clock *clock;
};

struct pr_run_summary {
    uint64_t total;
    uint64_t by_status[PR_STATUS_COUNT];
    uint64_t jobs;    /* of suites, that were begun now */
    uint64_t earlier; /* of these, finished by an earlier run */
    double elapsed_s;
    int signo; /* that stopped it; 0: it went to the end */
};

/* PR_OK when everything went well; PR_E_JOB, PR_E_PARTIAL or PR_E_TIMEOUT when
 * experiments failed; PR_E_INTR; others when the run itself could not go on.
 * ret is filled in any case. While it runs, SIGINT, SIGTERM, SIGHUP and
 * SIGUSR1 belong to it. */
int pr_run(const struct pr_run_opts *opts, struct pr_run_summary *ret,
           struct pr_err *err) PR_MUST_CHECK;

#endif
