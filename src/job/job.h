/*
 * One experiment as its executor sees it, and what an executor is: a workload.
 * One struct, one list, one file a kind. A workload either names a program to
 * start (prepare gives arguments) or runs in a process of its own (run); both
 * write metrics as lines
 *     __results.NAME__= JSON
 * to their output, which is the experiment's log.
 */
#ifndef PR_JOB_H
#define PR_JOB_H

#include "catalog/framework.h"
#include "conf/option/option.h"

#include <stdint.h>

enum { PR_WORKLOAD_ABI = 1 };

struct pr_clock;
struct pr_names;
struct pr_params;
struct pr_expander;

/* One experiment, as a workload sees it. */
struct pr_job {
    const char *id;
    const char *dir;               /* experiments/ID */
    const struct pr_value *params; /* full names to values */
    struct pr_exp_opts exp;
    struct pr_runtime_opts runtime;
    struct pr_arena *arena;           /* freed when the experiment has ended */
    struct pr_frameworks *frameworks; /* kept for many jobs; NULL: files are
                                         read anew */
    /* Who set what, and what that was computed from, while a plan is checked;
     * else NULL. */
    const struct pr_names *names;
    const struct pr_params *settings;
    struct pr_expander *values;
    struct pr_clock *clock; /* time to run in; NULL: the machine's */
};

/* How to start it: NULL-terminated lists in the job's arena. */
struct pr_start {
    const char **argv;    /* NULL: no program, call run instead */
    const char **env;     /* the whole environment */
    const char **own_env; /* of these, what the experiment itself sets; inside
                             a container nothing else is */
    const char *log_file; /* the program appends to this file, which begins
                             with DLBS's header; NULL: to stdout alone */
    bool contains_itself; /* exp.docker is the program's own business */
    bool runs_ours;       /* the program, or what it starts, comes with Prony:
                             it takes relative paths from where we are */
};

/* What it will cost, as far as can be told beforehand. */
struct pr_cost {
    uint64_t write_bytes, read_bytes;
    double seconds;     /* at least, or an estimate */
    bool seconds_known; /* false: it takes as long as it takes */
    double at_most_s;   /* by its timeout; 0: no limit */
};

struct pr_workload {
    int abi;                              /* PR_WORKLOAD_ABI */
    const char *name;                     /* as in exp.workload */
    const char *desc;                     /* one line */
    const struct pr_opt_section *options; /* NULL: none of its own */
    const struct pr_honour *honours;      /* parameters that have an effect;
                                             NULL: the framework says */
    bool program; /* … on a program of the user's, which may read others from
                     params.json: nothing is certain of those */

    /* Checks the job and says how to start it. */
    int (*prepare)(struct pr_job *job, struct pr_start *ret,
                   struct pr_err *err);
    /* Does the work, in a process of its own, writing to stdout. NULL for
     * workloads that start a program. */
    int (*run)(struct pr_job *job, struct pr_err *err);
    /* Optional. */
    int (*estimate)(struct pr_job *job, struct pr_cost *ret,
                    struct pr_err *err);
};

/* A parameter that is text; "" when it is not there. */
const char *pr_job_param_text(const struct pr_job *job, const char *name);

/* run.fsync: what it leaves is to outlive a power cut. */
bool pr_job_needs_sync(const struct pr_value *params);

/* The framework of exp.framework. 1: there; 0: it has no file. */
int pr_job_find_framework(const struct pr_job *job,
                          const struct pr_framework **ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* Fills a job from its parameters. id, dir, params are borrowed. */
int pr_job_init(struct pr_job *job, const char *id, const char *dir,
                const struct pr_value *params, struct pr_arena *a,
                struct pr_err *err) PR_MUST_CHECK;

/* Whether exp.status says that it is planned but not to be run. */
bool pr_job_is_off(const struct pr_job *job);

#endif
