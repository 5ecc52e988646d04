/* The data that tasks of GPU systems in a plan read, each set once. */
#ifndef PR_RUN_TASK_DATA_H
#define PR_RUN_TASK_DATA_H

#include "catalog/gpu_tasks.h"
#include "run/datasets.h"

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
