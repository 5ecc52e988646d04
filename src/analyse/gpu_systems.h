/*
 * A folder of results in Lambda's layout, SYSTEM/TASK/DATE.txt with
 * benchmark.para beside, as rows of systems and cells of tasks. Logs are read
 * by several threads. present/report/report_gpu_systems.h writes Lambda's
 * tables from it, and what can be said besides.
 */
#ifndef PR_ANALYSE_GPU_SYSTEMS_H
#define PR_ANALYSE_GPU_SYSTEMS_H

#include "catalog/gpu_tasks.h"
#include "record/gpu_task_log.h"

#include <stdatomic.h>

enum { PR_GPU_SYSTEMS_MAX_THREADS = 16 };

enum pr_gpu_systems_precision {
    PR_GPU_SYSTEMS_FP32,
    PR_GPU_SYSTEMS_FP16, /* FP16 and AMP */
    PR_GPU_SYSTEMS_BOTH, /* for the full table */
};

struct pr_gpu_systems_opts {
    const struct pr_gpu_tasks *tasks;
    const struct pr_systems *systems;
    enum pr_gpu_systems_precision precision;
    enum pr_gpu_task_dialect_kind dialect;
    const char *system; /* all, single, multiple, or one's folder or name */
    bool full;          /* every folder and task, every log as a whole */
    bool no_logs;       /* only benchmark.para */
    unsigned threads;   /* 0: one for each processor */
};

struct pr_gpu_systems_log {
    const char *file; /* its name */
    double value;     /* by the dialect's rule; 0: none above it */
    struct pr_gpu_task_reading reading; /* with full */
};

/* One task of one system. */
struct pr_gpu_systems_cell {
    const struct pr_gpu_task *task;
    const char *name;                    /* PyTorch_SSD_FP32 */
    const struct pr_gpu_task_rule *rule; /* of the dialect; NULL: it has none */
    bool there;                          /* the folder is */
    struct pr_gpu_task_para para;
    struct pr_gpu_systems_log *logs; /* in the order of their names */
    size_t count, cap;
};

struct pr_gpu_systems_row {
    const char *folder, *name;
    const struct pr_system *system; /* NULL: nobody knows it */
    int gpus;
    struct pr_gpu_systems_cell *cells;
    size_t count, cap;
};

struct pr_gpu_systems {
    const char *dir;
    struct pr_gpu_systems_row *rows;
    size_t count, cap;
    uint64_t logs, found, bytes; /* read; with a figure; of them */
};

/* The dialect of a folder: that of the first system in it that is known, v2
 * when none is. PR_E_IO. */
int pr_gpu_systems_find_dialect(const char *dir,
                                const struct pr_systems *systems,
                                enum pr_gpu_task_dialect_kind *ret,
                                struct pr_err *err) PR_MUST_CHECK;

/* In the arena. PR_E_IO for a folder that cannot be read, PR_E_USAGE for a
 * system that is nowhere. */
int pr_gpu_systems_read(const char *dir, const struct pr_gpu_systems_opts *opts,
                        struct pr_arena *a, struct pr_gpu_systems *ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* Whether a folder has this layout: SYSTEM/PyTorch_TASK in it. */
bool pr_gpu_systems_is_tree(const char *dir);
/* Whether it is the folder of one system. */
bool pr_gpu_systems_is_system(const char *dir);

/* ---- logs */

/*
 * Those of a cell are found first, then read by threads that take one at a
 * time.
 */

struct pr_gpu_systems_item {
    const char *path;
    struct pr_gpu_systems_cell *cell;
    size_t log; /* which of the cell */
};

struct pr_gpu_systems_work {
    const char *dir;
    const struct pr_gpu_systems_opts *opts;
    struct pr_gpu_systems_item *items;
    size_t count, cap;
    atomic_size_t next;
    atomic_bool failed; /* out of memory */
    atomic_ullong bytes;
};

/* Looks into the folder of a cell: benchmark.para, and the logs there are. */
int pr_gpu_systems_find_logs(struct pr_gpu_systems_work *w,
                             const struct pr_gpu_systems_row *row,
                             struct pr_gpu_systems_cell *cell,
                             struct pr_arena *a,
                             struct pr_err *err) PR_MUST_CHECK;

/* What a thread does, with a struct pr_gpu_systems_work. */
void *pr_gpu_systems_read_logs(void *work);

/* ---- one task of one system, over its runs */

enum pr_gpu_systems_flag {
    PR_GPU_SYSTEMS_CORRECTED = 1 << 0,   /* steps not done were counted */
    PR_GPU_SYSTEMS_IMPLAUSIBLE = 1 << 1, /* more than such a GPU can do */
    PR_GPU_SYSTEMS_SPREAD = 1 << 2,      /* runs differ by a tenth and more */
    PR_GPU_SYSTEMS_NO_DONE = 1 << 3, /* a log with a figure does not end well */
};

struct pr_gpu_systems_stat {
    size_t n, failed;
    double mean, min, max;
    double deviation;            /* of a sample; NaN: fewer than two */
    double printed;              /* the mean of what the logs say */
    unsigned flags;              /* enum pr_gpu_systems_flag */
    enum pr_gpu_task_end why;    /* of the first that failed */
    const char *words;           /* what its log says, or "" */
    double per_dollar, per_watt; /* NaN: price or watt is not known */
};

void pr_gpu_systems_compute_stat(const struct pr_gpu_systems_row *row,
                                 const struct pr_gpu_systems_cell *cell,
                                 struct pr_gpu_systems_stat *ret);

#endif
