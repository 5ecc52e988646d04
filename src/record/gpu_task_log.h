/*
 * Logs of the tasks of GPU systems: the figure that a rule finds, what became
 * of the run, and how many steps it really did.
 */
#ifndef PR_RECORD_GPU_TASK_LOG_H
#define PR_RECORD_GPU_TASK_LOG_H

#include "catalog/gpu_tasks.h"

#include <stdint.h>

/* benchmark.para: "GLOBAL_BATCH 2048", "GPU 8". */
struct pr_gpu_task_para {
    bool there;
    bool has_batch, has_gpus;
    int64_t batch, gpus;
};

void pr_gpu_task_para_read(const char *text, size_t len,
                           struct pr_gpu_task_para *ret);

/* The figure of the last line that fits the rule, as Python's float() reads
 * it. The text may be the end of a log: then a line is only looked at when it
 * begins in it. False: no line of it fits. */
bool pr_gpu_task_log_find(const struct pr_gpu_task_rule *rule, const char *text,
                          size_t len, bool is_end, double *ret);

enum pr_gpu_task_end {
    PR_GPU_TASK_OK,        /* a figure above zero is there */
    PR_GPU_TASK_EMPTY,     /* nothing was written */
    PR_GPU_TASK_OOM,       /* it ran out of memory */
    PR_GPU_TASK_ERROR,     /* it says what went wrong */
    PR_GPU_TASK_TRUNCATED, /* it stops without saying so */
    PR_GPU_TASK_NO_FIGURE, /* it ended well, without a figure */
    PR_GPU_TASK_UNREADABLE,
};

const char *pr_gpu_task_end_words(enum pr_gpu_task_end end);

/* A whole log, read by the rules of all ages. */
struct pr_gpu_task_reading {
    double printed; /* what the log says; 0: nothing */
    double value;   /* … with the steps that were really done */
    uint64_t steps; /* really done; 0: not known */
    enum pr_gpu_task_end end;
    bool done;       /* its last line says DONE! */
    char words[160]; /* the line that tells what went wrong, or "" */
};

void pr_gpu_task_log_read(const struct pr_gpu_task *task, const char *text,
                          size_t len, const struct pr_gpu_task_para *para,
                          struct pr_gpu_task_reading *ret);

#endif
