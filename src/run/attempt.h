/* One attempt at one experiment: start it, end it in time, judge its end.
 * Several may be under way at once; who waits for them is in run.c. */
#ifndef PR_RUN_ATTEMPT_H
#define PR_RUN_ATTEMPT_H

#include "base/err.h"
#include "launch/keeper/keeper.h"
#include "monitor/monitor.h"
#include "record/event.h"
#include "workload/workload.h"

#include <signal.h>

/* Being asked to stop: the first SIGINT, SIGTERM or SIGHUP stops cleanly, a
 * second one at once; SIGUSR1 stops after the experiment that is running. */
struct pr_stop {
    int fd; /* polls readable when a signal waits */
    sigset_t old_mask;
    int count;         /* of signals that stop */
    int signo;         /* the first of them */
    int after_current; /* SIGUSR1 came */
};

int pr_stop_init(struct pr_stop *s, struct pr_err *err) PR_MUST_CHECK;
void pr_stop_close(struct pr_stop *s);

/* Takes in what came; does not block. */
void pr_stop_read(struct pr_stop *s);

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
    struct pr_clock *clock; /* NULL: the machine's */
};

/* What is to be started. */
struct pr_attempt_what {
    struct pr_job *job;
    const char *log_path;
    uint32_t tag;               /* its name with the keeper */
    const struct pr_slot *slot; /* where it runs; NULL: anywhere */
};

/* An attempt that is under way, with what is around it. */
struct pr_attempt_running;

/* Starts it. *ret_waiting is in the job's arena; NULL: it has ended already, as
 * it could not be started, and *ret has the answer. Fails only when the run
 * cannot go on; an experiment that fails, cannot be started or is stopped is an
 * answer. Free *ret with pr_attempt_close. */
int pr_attempt_begin(const struct pr_attempt_ctx *ctx,
                     const struct pr_attempt_what *what, struct pr_attempt *ret,
                     struct pr_attempt_running **ret_waiting,
                     struct pr_err *err) PR_MUST_CHECK;

/* What signals to us and the time ask for: to be called now and then, at the
 * latest when it is due. */
int pr_attempt_check_limits(struct pr_attempt_running *w,
                            struct pr_err *err) PR_MUST_CHECK;
uint64_t pr_attempt_due(const struct pr_attempt_running *w); /* 0: never */

/* Asks it to end, as a signal to us would: --fail-fast. */
int pr_attempt_give_up(struct pr_attempt_running *w,
                       struct pr_err *err) PR_MUST_CHECK;

/* An event of its. True: it has ended, *ret has the answer. */
bool pr_attempt_on_event(struct pr_attempt_running *w,
                         const struct pr_child_event *e);

/* The keeper is gone: clears up what it cannot have. */
void pr_attempt_abandon(struct pr_attempt_running *w);

void pr_attempt_close(struct pr_attempt *a);

/* The reason in the words that the program left among the last lines of its
 * log, if it has failed and left some. */
void pr_attempt_read_reason(const char *log_path, size_t lines,
                            struct pr_attempt *a);

/* What a forked child of the keeper does for workloads that start no program;
 * arg is the folder of the experiment. */
int pr_experiment_body(void *ctx, const char *arg);

#endif
