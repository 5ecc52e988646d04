/*
 * The list of tasks of GPU systems (systems/lambda-tasks.yaml): how each is
 * started, what its arguments mean, which line of its log has the figure. It
 * is data that users may replace; nothing of it is in code.
 */
#ifndef PR_CATALOG_GPU_TASKS_H
#define PR_CATALOG_GPU_TASKS_H

#include "base/err.h"
#include "base/value.h"

/* Ages of the containers that tasks run in, with lines of their own. */
enum pr_gpu_task_age {
    PR_GPU_TASK_OLD, /* 20.01 */
    PR_GPU_TASK_MID, /* 20.10 */
    PR_GPU_TASK_NEW, /* 22.09 and later */
    PR_GPU_TASK_AGES,
};

struct pr_gpu_task_rule {
    const char *text; /* NULL: this age has none */
    size_t len;
    int word;      /* from 0, or from the end, negative */
    bool per_step; /* it is the time of a step */
};

/* A folder of data, below the root of it. */
struct pr_gpu_dataset {
    const char *folder;
    const char *prepare;         /* Lambda's name for making it; NULL: none */
    const struct pr_value *make; /* parameters that make it here; NULL: none */
};

struct pr_gpu_task {
    const char *name;   /* PyTorch_NAME_FP32 */
    const char *column; /* of tables */
    const char *unit;
    const char *half[PR_GPU_TASK_AGES]; /* FP16 or AMP */
    struct pr_gpu_task_rule rules[PR_GPU_TASK_AGES];
    bool by_para;              /* benchmark.para tells the age */
    const char *batch_flag;    /* NULL: batch_place counts */
    int batch_place;           /* after the word args; -1: none */
    bool batch_of_all;         /* of all GPUs, not of one */
    const char *subset_flag;   /* NULL: none */
    const char *steps_bar;     /* begins a progress bar; NULL: none */
    const char *steps_seconds; /* stands before the time of all steps */
    const struct pr_value *launch, *launch_old; /* lists of text */
    const struct pr_gpu_dataset **data;         /* that it reads */
    size_t data_count;
    double most; /* of one GPU that can be believed; 0: anything */
};

enum pr_gpu_task_dialect_kind {
    PR_GPU_TASK_G1,
    PR_GPU_TASK_V1,
    PR_GPU_TASK_V2,
    PR_GPU_TASK_DIALECTS,
};

/* How one of the kinds of tables is made. */
struct pr_gpu_task_dialect {
    double offset;
    enum pr_gpu_task_age rules;
    const struct pr_gpu_task **columns;
    size_t count;
};

struct pr_gpu_tasks {
    struct pr_gpu_task *items;
    size_t count;
    struct pr_gpu_dataset *datasets;
    size_t dataset_count;
    struct pr_gpu_task_dialect dialects[PR_GPU_TASK_DIALECTS];
};

/* "g1", "v1", "v2". */
const char *pr_gpu_task_dialect_word(enum pr_gpu_task_dialect_kind kind);

/* The bundled list. In the arena. PR_E_UNAVAIL when it is not there. */
int pr_gpu_tasks_load(struct pr_arena *a, struct pr_gpu_tasks *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* A list of that form; name is for errors. */
int pr_gpu_tasks_parse(const char *text, size_t len, const char *name,
                       struct pr_arena *a, struct pr_gpu_tasks *ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* The task of PyTorch_NAME_PRECISION, exactly; NULL: none. */
const struct pr_gpu_task *pr_gpu_task_find(const struct pr_gpu_tasks *t,
                                           const char *name);

/* Whether a person's word for tasks selects one: parts between '_' must be in
 * its name one after another, whatever their case. "all" selects all. */
bool pr_gpu_task_is_selected(const char *name, const char *words, size_t len);

/* "fp32", "fp16", "amp"; "" for a name without a precision. */
const char *pr_gpu_task_precision(const char *name);

/* ---- systems
 * Those that tables of results may have: what a folder of results is called,
 * its GPUs, and what one of them draws and costs (systems/lambda-systems.yaml,
 * and lists of users' own). */

struct pr_system {
    const char *folder;
    const char *name;
    int gpus;
    struct pr_value watt, price; /* of one GPU; null: not known */
    enum pr_gpu_task_dialect_kind dialect;
    int age; /* enum pr_gpu_task_age of its logs; -1: what the dialect says */
};

struct pr_systems {
    struct pr_system *items;
    size_t count, cap;
};

/* Adds the bundled list. In the arena. */
int pr_systems_load(struct pr_systems *s, struct pr_arena *a,
                    struct pr_err *err) PR_MUST_CHECK;

/* Adds a list of a user's: a row of a folder that is there replaces it. */
int pr_systems_read(struct pr_systems *s, const char *path, struct pr_arena *a,
                    struct pr_err *err) PR_MUST_CHECK;

const struct pr_system *pr_system_find(const struct pr_systems *s,
                                       const char *folder);

/* The number of GPUs that a name tells: 8 of "SMC_8xH100", 1 without one. */
int pr_system_gpus(const char *name);

#endif
