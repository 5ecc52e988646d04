/* What the files that find the capacity share. */
#ifndef PR_STUDY_CAPACITY_IMPL_H
#define PR_STUDY_CAPACITY_IMPL_H

#include "emulate/emulate.h"
#include "run/attempt.h"
#include "study/capacity_study.h"

struct pr_capacity_study {
    const char *dir;
    const struct pr_capacity_watch *watch;
    struct pr_arena *arena;
    struct pr_capacity_record rec;
    struct pr_value target; /* parameters that somebody set, as they stood */
    struct pr_job job;      /* of the target, with one accelerator */
    struct pr_emulate e;
    struct pr_stop stop;
    int signo;
    /* data on disk */
    bool looked, may_grow;
    uint64_t have;    /* files to train with */
    uint64_t make_ns; /* when making more began */
};

void pr_capacity_print(const struct pr_capacity_study *s, const char *fmt, ...)
    PR_PRINTF(2, 3);

/* Says it once, and keeps it for the report. */
int pr_capacity_warn(struct pr_capacity_study *s, struct pr_err *err,
                     const char *fmt, ...) PR_PRINTF(3, 4) PR_MUST_CHECK;

/* PR_E_INTR once a signal came. */
int pr_capacity_check_interrupt(struct pr_capacity_study *s,
                                struct pr_err *err) PR_MUST_CHECK;

/* capacity.json and the chart, as things are. */
int pr_capacity_write_files(const struct pr_capacity_study *s,
                            struct pr_err *err) PR_MUST_CHECK;

/* ---- the target */

/* Writes target.json: the one experiment of a plan, without defaults. */
int pr_capacity_target_write(const char *dir, struct pr_plan *plan,
                             struct pr_err *err) PR_MUST_CHECK;

/* Reads it, and the training that it describes. PR_E_CONF: not one whose
 * capacity could be found. */
int pr_capacity_target_read(struct pr_capacity_study *s,
                            struct pr_err *err) PR_MUST_CHECK;

struct pr_capacity_param {
    const char *name;
    struct pr_value value;
};

/* A built plan of the target with some parameters changed. */
int pr_capacity_make_plan(struct pr_capacity_study *s,
                          const struct pr_capacity_param *changes, size_t count,
                          struct pr_plan **ret,
                          struct pr_err *err) PR_MUST_CHECK;

bool pr_capacity_is_set(const struct pr_capacity_study *s, const char *name);

/* Steps that count, where nobody says. */
uint64_t pr_capacity_default_steps(const struct pr_emulate *e, bool mlperf);
bool pr_capacity_is_mlperf(const struct pr_capacity_study *s);

/* ---- data */

/* Sees to it that there are files for a trial, if the disk has room.
 * *ret_files: how many it may use, needed or fewer. */
int pr_capacity_provide_files(struct pr_capacity_study *s, uint64_t needed,
                              uint64_t *ret_files,
                              struct pr_err *err) PR_MUST_CHECK;

/* Bytes that a sample takes in its file, more or less; 0: not known. */
double pr_capacity_sample_bytes(const struct pr_capacity_study *s);

/* ---- a trial */

/* Runs it and adds it to the record. 1: there is not enough data for so many
 * accelerators; opts.max says how many there may be. */
int pr_capacity_run_trial(struct pr_capacity_study *s,
                          const struct pr_capacity_step *step,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
