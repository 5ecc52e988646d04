/* The inside of a run, shared by the files that make it. */
#ifndef PR_RUN_RUNNER_H
#define PR_RUN_RUNNER_H

#include "monitor/monitor.h"
#include "record/plan_file.h"
#include "run/attempt.h"
#include "run/run.h"
#include "run/slot_sets.h"
#include "run/suite_result.h"

/* What events say of an experiment. */
struct pr_recorded {
    bool ended;          /* the last one is its end */
    unsigned attempt;    /* of the last one */
    uint64_t started_ns; /* its last start; 0: none */
};

struct pr_runner {
    const struct pr_run_opts *opts;
    struct pr_run_summary *sum;
    struct pr_plan_file plan;
    struct pr_keeper *keeper;
    struct pr_monitor *monitor;
    struct pr_stop stop;
    struct pr_attempt_ctx attempts;
    struct pr_gpus gpus;
    struct pr_slot_sets slots;
    struct pr_arena *arena; /* of the experiments that run together */
    struct pr_arena *spare; /* of what comes after them */
    struct pr_plan_file_experiment ahead; /* read already; in spare */
    bool has_ahead, read_all;
    struct pr_buf line;    /* an event being written */
    struct pr_names *seen; /* ids that earlier runs recorded; NULL: a new run */
    struct pr_recorded *told_of; /* by id: what they say of it */
    size_t told_cap;
    uint64_t last_done, last_failed; /* as the last event there has them */
    struct pr_keeper_trace *traces;  /* of those of them that recorded no end */
    size_t n_traces, cap_traces;
    struct pr_pids left; /* processes that we had to end first */
    uint64_t done, failed;
    bool give_up;  /* --fail-fast struck */
    bool told;     /* that we were asked to stop */
    uint32_t tags; /* given so far */
};

/* Records an event and shows it to whoever watches. */
int pr_runner_record(struct pr_runner *r, struct pr_event e,
                     struct pr_err *err) PR_MUST_CHECK;

/* An experiment ended so. */
void pr_runner_count(struct pr_runner *r, enum pr_status status);

/* One experiment on its way through. */
struct pr_experiment_run {
    struct pr_plan_file_experiment planned;
    struct pr_job job;
    struct pr_suite_opts suite;
    const struct pr_slot *slot;   /* NULL: anywhere */
    const struct pr_slots *slots; /* that it is of */
    char dir[4096], log[4096];
    struct pr_buf params; /* as JSON */
    struct pr_buf notes;  /* warnings that the result is to have */
    struct pr_value full; /* the parameters with the plan's defaults */
    struct pr_attempt last;
    struct pr_attempt_running *going; /* NULL: nothing is under way */
    uint32_t tag;                     /* of that */
    bool over;                        /* it has its result */
    unsigned attempts, earlier;       /* all; of these, by earlier runs */
};

void pr_experiment_run_close(struct pr_experiment_run *t);

/* Its folder and parameters; what is not to be run has its result after it
 * (over). All of these fail only when the run cannot go on. */
int pr_experiment_run_prepare(struct pr_runner *r, struct pr_experiment_run *t,
                              struct pr_err *err) PR_MUST_CHECK;

/* The first attempt. Over, when it cannot be started. */
int pr_experiment_run_start(struct pr_runner *r, struct pr_experiment_run *t,
                            struct pr_err *err) PR_MUST_CHECK;

/* What became of the attempt under way. It may be followed by another. */
int pr_experiment_run_on_event(struct pr_runner *r, struct pr_experiment_run *t,
                               const struct pr_child_event *e,
                               struct pr_err *err) PR_MUST_CHECK;

/* Experiments that are started at the same time, to the end of the last one. */
struct pr_run_group {
    struct pr_experiment_run **items;
    size_t count, cap;
};

/* ---- what earlier runs did */

/* Which ends they have recorded. */
int pr_runner_read_ended(struct pr_runner *r, struct pr_err *err) PR_MUST_CHECK;

/* Ends what they left of processes. Call before anything is started. */
void pr_runner_end_leftovers(struct pr_runner *r);

/* Says whom we ended: theirs and those of other runs that are gone. */
int pr_runner_record_leftovers(struct pr_runner *r,
                               struct pr_err *err) PR_MUST_CHECK;

/* Room in the run directory, kept for what pr_runner_write_lost has to write
 * when the disk is full; and its end. */
void pr_runner_reserve_space(const struct pr_runner *r);
void pr_runner_release_space(const struct pr_runner *r);

/* Gives what was begun and has no result one that says interrupted, and why:
 * for a run that cannot go on, when nothing of it is alive any more. As much
 * as can be written. */
void pr_runner_write_lost(struct pr_runner *r, const char *reason);

/* The same, called by the keeper of a runner that was killed (ctx). */
void pr_runner_orphaned(void *ctx);

/* Whether one of them finished it. 1: yes, counted; 0: to be run. */
int pr_runner_finished_before(struct pr_runner *r,
                              const struct pr_plan_file_experiment *planned,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
