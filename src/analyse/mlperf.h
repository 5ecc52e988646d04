/*
 * The rules of MLPerf Storage v2.0, as its rules document (Submission
 * guidelines v2.0) numbers them: how much data an experiment needs, and which
 * rules it keeps. Parameters and results in, findings out; nothing is read.
 */
#ifndef PR_ANALYSE_MLPERF_H
#define PR_ANALYSE_MLPERF_H

#include "base/err.h"
#include "base/value.h"
#include "conf/option/option.h"

#include <stdarg.h>

enum pr_mlperf_status {
    PR_MLPERF_PASS,
    PR_MLPERF_FAIL,
    PR_MLPERF_WARN,
    PR_MLPERF_NOT_CHECKED,
    PR_MLPERF_STATUS_COUNT,
};

enum pr_mlperf_verdict {
    PR_MLPERF_CLOSED, /* nothing against it, and so nothing against OPEN */
    PR_MLPERF_OPEN,   /* parameters were changed that only OPEN lets change */
    PR_MLPERF_INVALID,
};

struct pr_mlperf_check {
    const char *rule; /* "6.6" */
    enum pr_mlperf_status status;
    const char *text; /* one sentence, with what to do about it */
    struct pr_mlperf_check *next;
};

struct pr_mlperf_checks {
    struct pr_mlperf_check *first, *last;
    uint64_t by_status[PR_MLPERF_STATUS_COUNT];
};

/* The data set that an experiment needs. */
struct pr_mlperf_size {
    uint64_t by_memory;  /* files, for five times the memory of all hosts */
    uint64_t by_steps;   /* files, for 500 steps in an epoch */
    uint64_t files;      /* the larger of both */
    uint64_t bytes;      /* of these, by the mean size of a sample */
    uint64_t subfolders; /* to spread them over; 0: need not be */
};

struct pr_mlperf_in {
    const struct pr_value *params;  /* what is missing has its default */
    const struct pr_value *results; /* of result.json; NULL: not run yet */
    uint64_t memory; /* of this machine, for mlperf.host_memory=0 */
};

struct pr_mlperf {
    const char *division; /* asked for: "none", "closed", "open" */
    const char *workload; /* "unet3d_h100", "llama3-8b"; NULL: none of theirs */
    bool is_checkpoint;   /* a model whose checkpoints are measured */
    uint64_t hosts, host_memory, accelerators;
    struct pr_mlperf_size size; /* of a training */
    uint64_t ranks;             /* that CLOSED wants of a checkpoint */
    enum pr_mlperf_verdict verdict;
    struct pr_mlperf_checks checks;
};

/* Whether an experiment trains one of MLPerf's models, or says that it is
 * meant for MLPerf (mlperf.division). */
bool pr_mlperf_is_concerned(const struct pr_value *params);

/* Whether mlperf.division asks for the rules. */
bool pr_mlperf_is_asked(const struct pr_value *params);

/* Judges one experiment; everything in *ret lives in the arena. */
int pr_mlperf_judge_experiment(const struct pr_mlperf_in *in,
                               struct pr_arena *a, struct pr_mlperf *ret,
                               struct pr_err *err) PR_MUST_CHECK;

const char *pr_mlperf_status_word(enum pr_mlperf_status s);
const char *pr_mlperf_verdict_word(enum pr_mlperf_verdict v);

/* What the size follows from. */
struct pr_mlperf_need {
    uint64_t memory; /* of all hosts together */
    uint64_t accelerators, batch, samples_per_file;
    double record_length;
};
void pr_mlperf_compute_size(const struct pr_mlperf_need *n,
                            struct pr_mlperf_size *ret);

/* ---- between the files that judge by MLPerf's rules */

/* A workload of MLPerf's. */
struct pr_mlperf_model {
    const char *name;                /* "unet3d", "llama3-8b" */
    const char *model_name;          /* model.name in its file */
    uint64_t tensor, pipeline, data; /* of a checkpoint; 0: a training */
};

/* The accelerators there are figures for. NULL at the end. */
struct pr_mlperf_accelerator {
    const char *model, *name;
    double computation_time;
};
const struct pr_mlperf_accelerator *pr_mlperf_accelerator_at(size_t i);

/* What MLPerf's file sets a key to, as text; NULL: it does not. Some keys
 * have two values that are right: i counts them. */
const char *pr_mlperf_model_value(const struct pr_mlperf_model *m,
                                  const char *key, size_t i);

/* What a key may be changed to, and where. */
enum pr_mlperf_class {
    PR_MLPERF_FREE, /* does not touch what is measured */
    PR_MLPERF_IN_CLOSED,
    PR_MLPERF_IN_OPEN,
    PR_MLPERF_NOWHERE,
    PR_MLPERF_APART, /* has a rule of its own */
};

struct pr_mlperf_judge {
    const struct pr_mlperf_in *in;
    struct pr_arena *arena;
    struct pr_mlperf *ret;
    const struct pr_mlperf_model *model; /* NULL: none of theirs */
    struct pr_mlperf_opts opts;
    struct pr_dataset_opts dataset;
    struct pr_reader_opts reader;
    struct pr_train_opts train;
    struct pr_workflow_opts workflow;
    struct pr_checkpoint_opts checkpoint;
    struct pr_model_parallelism_opts parallelism;
    struct pr_storage_opts storage;
    bool open;    /* something that only OPEN allows */
    bool invalid; /* something that nobody allows */
    bool no_memory;
    struct pr_err *err;
};

/* Adds a finding. A failed one makes the experiment invalid. */
void pr_mlperf_add_check(struct pr_mlperf_judge *j, const char *rule,
                         enum pr_mlperf_status status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds something that only OPEN allows: right there, wrong in CLOSED. */
void pr_mlperf_add_open_check(struct pr_mlperf_judge *j, const char *rule,
                              const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The parts. */
void pr_mlperf_judge_training(struct pr_mlperf_judge *j);
void pr_mlperf_judge_checkpoint(struct pr_mlperf_judge *j);

/* A number among the results, NaN: it is not there. */
double pr_mlperf_result_number(const struct pr_mlperf_judge *j,
                               const char *name);

/* ---- several runs */

/*
 * Rules that take several runs to judge: how many there were, that they had
 * different seeds, and how far apart they are. Experiments that differ in
 * nothing but the seed are runs of one benchmark.
 */

enum { PR_MLPERF_RUNS = 5 }; /* that count */

struct pr_mlperf_group {
    const char *workload;
    bool is_checkpoint;
    uint64_t accelerators;
    uint64_t runs;    /* with results */
    uint64_t invalid; /* of these */
    uint64_t hash;
    int64_t seed; /* of the first */
    bool seeds_differ;
    double rate[PR_MLPERF_RUNS]; /* of the last ones, in turn */
    struct pr_mlperf_checks checks;
    struct pr_mlperf_group *next;
};

struct pr_mlperf_groups {
    struct pr_mlperf_group *first, *last;
};

/* Adds an experiment that was judged and has results; in the arena. */
int pr_mlperf_groups_add(struct pr_mlperf_groups *g, const struct pr_mlperf *m,
                         const struct pr_mlperf_in *in, struct pr_arena *a,
                         struct pr_err *err) PR_MUST_CHECK;

/* Judges each group, once all are there. */
int pr_mlperf_groups_judge(struct pr_mlperf_groups *g, struct pr_arena *a,
                           struct pr_err *err) PR_MUST_CHECK;

/* Memory of the machine a run directory is of, by its env.json; 0: it does
 * not say. */
uint64_t pr_mlperf_read_run_memory(const char *dir);

#endif
