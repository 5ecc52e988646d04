/* One attempt at one experiment: start it, wait for it, end it in time. */
#ifndef PR_RUN_ATTEMPT_H
#define PR_RUN_ATTEMPT_H

#include "launch/keeper.h"
#include "monitor/monitor.h"
#include "record/status.h"
#include "run/stop.h"
#include "workload/workload.h"

struct pr_attempt {
    enum pr_status status;
    char reason[256];
    char left[128]; /* what could not be cleared away, in words; "" */
    struct pr_child_event end;  /* figures; zero when it never started */
    struct pr_monitor_sum seen; /* of the machine meanwhile; may be empty */
    bool wrote_log_file;        /* the program itself made exp.log_file */
    bool ended_inside; /* the exit status is that of the program in a container,
                          although its launcher has the same one */
};

struct pr_attempt_ctx {
    struct pr_keeper *keeper;
    struct pr_monitor *monitor; /* NULL: nothing is watched */
    struct pr_stop *stop;
    void (*tick)(void *ctx);     /* several times a second while waiting */
    void (*stopping)(void *ctx); /* a first signal came, it is being ended */
    void *watch_ctx;             /* of both */
};

/* Fails only when the run cannot go on; an experiment that fails, cannot be
 * started or is stopped is an answer. Free *ret with pr_attempt_done. */
int pr_attempt_run(const struct pr_attempt_ctx *ctx, struct pr_job *job,
                   const char *log_path, struct pr_attempt *ret,
                   struct pr_err *err) PR_MUST_CHECK;

void pr_attempt_done(struct pr_attempt *a);

/* What a forked child of the keeper does for workloads that start no program;
 * arg is the folder of the experiment. */
int pr_attempt_body(void *ctx, const char *arg);

#endif
