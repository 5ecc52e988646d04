/* What the files that judge by MLPerf's rules share. */
#ifndef PR_ANALYSE_MLPERF_IMPL_H
#define PR_ANALYSE_MLPERF_IMPL_H

#include "analyse/mlperf.h"
#include "conf/option/option.h"

#include <stdarg.h>

/* A workload of MLPerf's. */
struct pr_mlperf_model {
    const char *name;                /* "unet3d", "llama3-8b" */
    const char *model_name;          /* model.name in its file */
    uint64_t tensor, pipeline, data; /* of a checkpoint; 0: a training */
};

/* By model.name; the names that mlpstorage uses are known, too. */
const struct pr_mlperf_model *pr_mlperf_find_model(const char *model_name);

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
enum pr_mlperf_class pr_mlperf_classify_param(const struct pr_mlperf_model *m,
                                              const char *key,
                                              const char *value);

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

/* Appends to a list; false when out of memory. */
bool pr_mlperf_checks_add(struct pr_mlperf_checks *list, struct pr_arena *a,
                          const char *rule, enum pr_mlperf_status status,
                          const char *fmt, va_list args);

/* Adds a finding. A failed one makes the experiment invalid. */
void pr_mlperf_add_check(struct pr_mlperf_judge *j, const char *rule,
                         enum pr_mlperf_status status, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds something that only OPEN allows: right there, wrong in CLOSED. */
void pr_mlperf_add_open_check(struct pr_mlperf_judge *j, const char *rule,
                              const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The parts. */
int pr_mlperf_judge_params(struct pr_mlperf_judge *j);
void pr_mlperf_judge_training(struct pr_mlperf_judge *j);
void pr_mlperf_judge_checkpoint(struct pr_mlperf_judge *j);

/* A number among the results, NaN: it is not there. */
double pr_mlperf_result_number(const struct pr_mlperf_judge *j,
                               const char *name);

#endif
