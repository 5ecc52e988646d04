/*
 * A plan: what is to be run. Sources are added, weakest first or in any order;
 * then the plan is built, and written as JSON or run (prony/run.h).
 *
 *     struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
 *     struct pr_plan *plan = pr_plan_new(&opts);
 *     pr_plan_param(plan, "exp.command=\"sleep ${t}\"", &err);
 *     pr_plan_variable(plan, "t=[1, 2, 4]", &err);
 *     pr_plan_build(plan, &err);
 */
#ifndef PRONY_PLAN_H
#define PRONY_PLAN_H

#include "prony/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pr_plan;

struct pr_plan_opts {
    size_t size;      /* of this struct, for later versions */
    bool no_defaults; /* none of Prony's own parameters */
    unsigned repeat;  /* 0 means 1; repeats are the outer loop */
    const char *only; /* "a,b": experiments whose exp.name is one of these;
                         NULL: all. Borrowed */
};
#define PR_PLAN_OPTS_INIT                           \
    {                                               \
        sizeof(struct pr_plan_opts), false, 1, NULL \
    }

/* NULL when out of memory. The caller frees it with pr_plan_free. */
PR_API struct pr_plan *pr_plan_new(const struct pr_plan_opts *opts);
PR_API void pr_plan_free(struct pr_plan *p); /* NULL is fine */

/* Sources. Texts are copied. Errors name the file or the argument. */
PR_API int pr_plan_target(struct pr_plan *p, const char *path,
                          struct pr_err *err) PR_MUST_CHECK;
PR_API int pr_plan_config(struct pr_plan *p, const char *path,
                          struct pr_err *err) PR_MUST_CHECK;
/* -P name=JSON */
PR_API int pr_plan_param(struct pr_plan *p, const char *assignment,
                         struct pr_err *err) PR_MUST_CHECK;
/* --set-file name=FILE */
PR_API int pr_plan_param_file(struct pr_plan *p, const char *assignment,
                              struct pr_err *err) PR_MUST_CHECK;
/* hydra's name=value, +name=value, ++name=value, ~name */
PR_API int pr_plan_override(struct pr_plan *p, const char *arg,
                            struct pr_err *err) PR_MUST_CHECK;
/* -V name=[…] */
PR_API int pr_plan_variable(struct pr_plan *p, const char *assignment,
                            struct pr_err *err) PR_MUST_CHECK;
/* -E JSON */
PR_API int pr_plan_extension(struct pr_plan *p, const char *json,
                             struct pr_err *err) PR_MUST_CHECK;

/* Lays the sources over one another and checks names. No source may be added
 * afterwards. */
PR_API int pr_plan_build(struct pr_plan *p, struct pr_err *err) PR_MUST_CHECK;

/* How many experiments the plan has. */
PR_API int pr_plan_count(struct pr_plan *p, uint64_t *ret,
                         struct pr_err *err) PR_MUST_CHECK;

struct pr_warning {
    const struct pr_warning *next;
    const char *where;  /* "run.yaml:12:7"; may be empty */
    const char *text;   /* lower case, no full stop */
    const char *remedy; /* what to do about it; may be empty */
};

/* Warnings so far, in order; NULL: none. Borrowed. */
PR_API const struct pr_warning *pr_plan_warnings(const struct pr_plan *p);

/* Takes bytes of a document as they come; not PR_OK stops it. */
typedef int pr_plan_sink(void *ctx, const char *data, size_t len,
                         struct pr_err *err);

/* The plan as JSON, schema prony.plan/1. full: defaults are merged into each
 * experiment. *ret_count (may be NULL): experiments written. */
PR_API int pr_plan_write(struct pr_plan *p, bool full, pr_plan_sink *sink,
                         void *ctx, uint64_t *ret_count,
                         struct pr_err *err) PR_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
