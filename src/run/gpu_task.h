/*
 * Tasks of GPU systems (task.name). Before: the data that they need. After: a
 * task's figure is looked for in its log, and the log is put where
 * 'prony gather' finds it.
 */
#ifndef PR_RUN_GPU_TASK_H
#define PR_RUN_GPU_TASK_H

#include "catalog/gpu_tasks.h"
#include "run/attempt.h"
#include "run/plan_jobs.h"

/* Appends what was found to log.txt, as lines __results.NAME__=; without a
 * figure the attempt has failed, whatever its exit status. Then leaves
 * SYSTEM/TASK/DATE.txt, benchmark.para and the system's file in task.results,
 * or else the run directory. Nothing to do for other experiments. */
void pr_gpu_task_finish(const struct pr_job *job, const char *log_path,
                        struct pr_attempt *a);

/* ---- the data that tasks in a plan read, each set once */

/* A folder below the root of data. */
struct pr_task_need {
    const struct pr_gpu_dataset *data;
    const char *path;
    const char *tasks;           /* which read it, with commas between */
    bool there;                  /* the folder is, and holds something */
    struct pr_plan_dataset *set; /* how it is made; NULL: not by us */
    struct pr_task_need *next;
};

/* *ret_tasks: the plan has tasks; *ret: what they need, in plan order. In the
 * arena. */
int pr_plan_task_data(struct pr_plan *p, struct pr_arena *a, bool *ret_tasks,
                      struct pr_task_need **ret,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
