/*
 * Finding the capacity for real: trials are ordinary runs in DIR/trials, and
 * DIR/capacity.json, which is written anew after each, is all that is needed
 * to go on. A new search and a resumed one are the same code.
 *     DIR/target.json  capacity.json  capacity.svg  trials/0001-a1-r1/…
 */
#ifndef PR_STUDY_CAPACITY_SEARCH_H
#define PR_STUDY_CAPACITY_SEARCH_H

#include "analyse/capacity/capacity_record.h"
#include "emulate/emulate.h"
#include "present/live.h"
#include "run/attempt.h"
#include "run/session.h"

/* What is asked for; 0 stands for what the workload or the search says. */
struct pr_capacity_ask {
    const char *target; /* its name, for the report */
    double threshold;   /* of utilisation, 0 to 1 */
    double confidence;
    uint64_t min, max, repeats, steps;
    bool no_generate; /* use the data that is there */
};

/* Makes the folder, or fills an empty one. The plan must have one experiment,
 * an emulated training that computes; PR_E_CONF. */
int pr_capacity_create(const char *dir, struct pr_plan *plan,
                       const struct pr_capacity_ask *ask,
                       struct pr_err *err) PR_MUST_CHECK;

/* Takes the folder of a search that never had a trial away again. False: it
 * had one. */
bool pr_capacity_remove_unused(const char *dir);

struct pr_capacity_watch {
    struct pr_live_line *live; /* may be NULL */
    /* A line for people; may be NULL. */
    void (*say)(void *ctx, const char *text);
    /* Whether to go on; may be NULL: yes. stop_fd polls readable when a signal
     * came, which ends the question. */
    bool (*ask)(void *ctx, const char *question, int stop_fd);
    void *ctx;
};

/* Does what is left to do. ret (in the arena) is filled as far as things went,
 * also on failure; *ret_signo is the signal that stopped it, or 0. */
int pr_capacity_run(const char *dir, const struct pr_capacity_watch *watch,
                    struct pr_arena *a, struct pr_capacity_record *ret,
                    int *ret_signo, struct pr_err *err) PR_MUST_CHECK;

/* What the files that find the capacity share. */
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

/* Sees to it that there are files for a trial, if the disk has room.
 * *ret_files: how many it may use, needed or fewer. */
int pr_capacity_provide_files(struct pr_capacity_study *s, uint64_t needed,
                              uint64_t *ret_files,
                              struct pr_err *err) PR_MUST_CHECK;

/* Bytes that a sample takes in its file, more or less; 0: not known. */
double pr_capacity_sample_bytes(const struct pr_capacity_study *s);

#endif
