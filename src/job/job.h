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
#include "nn/model/model.h"

#include <stdint.h>

/* The program's verb for one experiment alone: PRONY __rank EXPERIMENT, as a
 * process of mpirun or in a container. */
#define PR_MPI_VERB "__rank"

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

/* From now on signals end the work: SIGTERM and SIGINT make what is returned
 * true, which is to be looked at after every step. */
const bool *pr_job_watch_signals(void);

/* Whether exp.status says that it is planned but not to be run. */
bool pr_job_is_off(const struct pr_job *job);

/* ---- the arguments of a program that an experiment starts: words joined into
 * one list, with those of runtime.launcher in front */

struct pr_argv {
    struct pr_job *job; /* everything is in its arena */
    const char **items;
    size_t count, cap;
    size_t assignments; /* NAME=value words of the launcher, at the front */
};

/* Begins with the words of runtime.launcher. */
int pr_argv_init(struct pr_argv *a, struct pr_job *job,
                 struct pr_err *err) PR_MUST_CHECK;

/* Adds a word, or several; they are borrowed. */
int pr_argv_add_word(struct pr_argv *a, const char *word,
                     struct pr_err *err) PR_MUST_CHECK;

int pr_argv_add_words(struct pr_argv *a, const char *const *words, size_t count,
                      struct pr_err *err) PR_MUST_CHECK;

/* Adds the items of a list as text, each one word; what names the list in
 * errors. */
int pr_argv_add_list(struct pr_argv *a, const char *what,
                     const struct pr_value *list,
                     struct pr_err *err) PR_MUST_CHECK;

/* Adds text, split into words. */
int pr_argv_add_text(struct pr_argv *a, const char *what, const char *text,
                     struct pr_err *err) PR_MUST_CHECK;

/* Adds either of the two, by its kind. */
int pr_argv_add_words_of(struct pr_argv *a, const char *what,
                         const struct pr_value *v,
                         struct pr_err *err) PR_MUST_CHECK;

/* How many words of the program itself there are so far. */
size_t pr_argv_word_count(const struct pr_argv *a);

/* The whole: arguments, and the environment with the launcher's. */
int pr_argv_fill_start(struct pr_argv *a, struct pr_start *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* ---- the environment of an experiment's program: ours with the experiment's
 * own variables laid over */

/* Fills ret->env and ret->own_env: runtime.env.*, then the extra NAME=value
 * words. In the job's arena; the words are borrowed. */
int pr_job_set_start_env(struct pr_job *job, const char *const *extra,
                         size_t count, struct pr_start *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* Our environment with NAME=value words laid over; words is NULL-terminated.
 * In the arena. */
int pr_job_env_overlay(const char *const *words, struct pr_arena *a,
                       const char ***ret, struct pr_err *err) PR_MUST_CHECK;

/* ---- the network that an experiment names: exp.model, exp.model_opts,
 * nn.tiny */

/* In the job's arena. exp.model_opts is a map, or the text of one. */
int pr_job_read_model(struct pr_job *job, struct pr_model **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* ---- the files and folders of this machine that an experiment's parameters
 * name */

enum pr_place_use {
    PR_PLACE_KEPT, /* may be there, and may be written to then */
    PR_PLACE_READ, /* may be there, is only read */
    PR_PLACE_MADE, /* a folder that the experiment makes if it is missing */
};

struct pr_place {
    const char *path; /* as given: relative ones are those of where we are */
    enum pr_place_use use;
};

/* In the job's arena; none is empty. A file that is written counts as the
 * folder it is in. */
int pr_job_find_places(const struct pr_job *job, struct pr_place **ret,
                       size_t *ret_count, struct pr_err *err) PR_MUST_CHECK;

/* The same path from any folder: whole, without dots, links as they are. */
int pr_job_absolute_path(const char *path, struct pr_arena *a, const char **ret,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
