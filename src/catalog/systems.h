/*
 * Systems that tables of results may have: what a folder of results is called,
 * its GPUs, and what one of them draws and costs (systems/lambda-systems.yaml,
 * and lists of users' own).
 */
#ifndef PR_CATALOG_SYSTEMS_H
#define PR_CATALOG_SYSTEMS_H

#include "catalog/gpu_tasks.h"

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
