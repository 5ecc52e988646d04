/* The inside of a run, shared by the files that make it. */
#ifndef PR_RUN_RUNNER_H
#define PR_RUN_RUNNER_H

#include "monitor/monitor.h"
#include "record/plan_file.h"
#include "run/attempt.h"
#include "run/run.h"

struct pr_runner {
    const struct pr_run_opts *opts;
    struct pr_run_summary *sum;
    struct pr_plan_file plan;
    struct pr_keeper *keeper;
    struct pr_monitor *monitor;
    struct pr_stop stop;
    struct pr_arena *arena; /* of one experiment */
    struct pr_buf line;     /* an event being written */
    struct pr_names *seen; /* ids that earlier runs recorded; NULL: a new run */
    bool *ended;           /* by id: its last event there is its end */
    size_t ended_cap;
    uint64_t done, failed;
    bool give_up; /* --fail-fast struck */
};

bool pr_runner_is_failure(enum pr_status s);

/* Records an event and shows it to whoever watches. */
int pr_runner_record(struct pr_runner *r, struct pr_event e,
                     struct pr_err *err) PR_MUST_CHECK;

/* An experiment ended so. */
void pr_runner_count(struct pr_runner *r, enum pr_status status);

/* One experiment on its way through. */
struct pr_trip {
    struct pr_planned planned;
    struct pr_job job;
    char dir[4096], log[4096];
    struct pr_buf params; /* as JSON */
    struct pr_value full; /* the parameters with the plan's defaults */
    struct pr_attempt last;
    unsigned attempts, earlier; /* all; of these, by earlier runs */
};

/* From its parameters to its result. Fails only when the run cannot go on. */
int pr_trip_travel(struct pr_runner *r, struct pr_trip *t,
                   struct pr_err *err) PR_MUST_CHECK;

/* ---- what earlier runs did */

/* Which ends they have recorded. */
int pr_runner_read_ended(struct pr_runner *r, struct pr_err *err) PR_MUST_CHECK;

/* Whether one of them finished it. 1: yes, counted; 0: to be run. */
int pr_runner_finished_before(struct pr_runner *r, struct pr_trip *t,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
