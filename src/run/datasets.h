/* The data sets that the experiments of a plan use, each once. */
#ifndef PR_RUN_DATASETS_H
#define PR_RUN_DATASETS_H

#include "generate/generate.h"
#include "plan/plan.h"

struct pr_plan_dataset {
    struct pr_dataset set;
    struct pr_storage_opts storage;
    bool later;  /* run.fsync is false */
    char id[40]; /* of the first experiment that uses it */
    struct pr_plan_dataset *next;
};

/* In plan order, in the arena. Two different ones in one folder: PR_E_CONF.
 * NULL when the plan has no experiments. */
int pr_plan_datasets(struct pr_plan *p, struct pr_arena *a,
                     struct pr_plan_dataset **ret,
                     struct pr_err *err) PR_MUST_CHECK;

#endif
