/*
 * plan.json read back, experiment by experiment and in constant memory: what
 * stands between planning and running, and what reports are ordered by.
 */
#ifndef PR_RECORD_PLAN_FILE_H
#define PR_RECORD_PLAN_FILE_H

#include "base/file.h"
#include "base/json/json.h"

struct pr_plan_file {
    struct pr_view view;
    struct pr_json_walk walk;
    uint64_t count;
    struct pr_value defaults;
    struct pr_value variables; /* names the experiments were meant to differ
                                  in; an empty list when it does not say */
    struct pr_arena *arena;    /* holds defaults */
};

int pr_plan_file_open(const char *path, struct pr_plan_file *ret,
                      struct pr_err *err) PR_MUST_CHECK;
/* The plan of a run directory, see pr_file_open_in. */
int pr_plan_file_open_in(const char *dir, const char *path,
                         struct pr_plan_file *ret,
                         struct pr_err *err) PR_MUST_CHECK;
/* The same without its defaults, which are not looked at. */
int pr_plan_file_open_brief(const char *dir, const char *path,
                            struct pr_plan_file *ret,
                            struct pr_err *err) PR_MUST_CHECK;
void pr_plan_file_close(struct pr_plan_file *f);

struct pr_plan_file_experiment {
    const char *id;
    int64_t repeat;
    struct pr_value params;
};

/* 1 and the next experiment (in the arena), 0 at the end. */
int pr_plan_file_next(struct pr_plan_file *f, struct pr_arena *a,
                      struct pr_plan_file_experiment *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* Its parameters over the plan's defaults, as a map in the arena. Returns the
 * map's members; NULL: out of memory. */
struct pr_member *pr_plan_file_params(const struct pr_plan_file *f,
                                      const struct pr_plan_file_experiment *e,
                                      struct pr_arena *a, struct pr_value *ret);

#endif
