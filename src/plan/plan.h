/*
 * A plan: what is to be run. First sources are added, then it is built, then
 * its experiments are walked one by one; they are made as they are asked for,
 * so a plan of a million experiments takes no more memory than one of ten.
 */
#ifndef PR_PLAN_PLAN_H
#define PR_PLAN_PLAN_H

#include "conf/expand.h"
#include "plan/warn.h"

struct pr_plan;

struct pr_plan_opts {
    bool no_defaults; /* none of Prony's own parameters */
    unsigned repeat;  /* 0 means 1; repeats are the outer loop */
    const char *only; /* "a,b": experiments whose exp.name is one of these;
                         NULL: all */
};

/* NULL when out of memory. */
struct pr_plan *pr_plan_new(const struct pr_plan_opts *opts);
void pr_plan_free(struct pr_plan *p);

/* Sources. Texts are copied. Errors name the file or the argument. */
int pr_plan_target(struct pr_plan *p, const char *path,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_plan_config(struct pr_plan *p, const char *path,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_plan_param(struct pr_plan *p, const char *assignment,
                  struct pr_err *err) PR_MUST_CHECK; /* -P name=JSON */
int pr_plan_param_text(struct pr_plan *p, const char *name, const char *text,
                       const char *from,
                       struct pr_err *err) PR_MUST_CHECK; /* as it stands */
int pr_plan_param_value(struct pr_plan *p, const char *name,
                        const struct pr_value *value, const char *from,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_plan_param_file(struct pr_plan *p, const char *assignment,
                       struct pr_err *err) PR_MUST_CHECK; /* name=FILE */
int pr_plan_override(struct pr_plan *p, const char *arg,
                     struct pr_err *err) PR_MUST_CHECK; /* hydra */
int pr_plan_variable(struct pr_plan *p, const char *assignment,
                     struct pr_err *err) PR_MUST_CHECK; /* -V name=[…] */
int pr_plan_extension(struct pr_plan *p, const char *json,
                      struct pr_err *err) PR_MUST_CHECK; /* -E */

/* Lays the sources over one another and checks names. No source may be added
 * afterwards. */
int pr_plan_build(struct pr_plan *p, struct pr_err *err) PR_MUST_CHECK;

/* Warnings so far; borrowed. */
const struct pr_warning *pr_plan_warnings(const struct pr_plan *p);

const struct pr_names *pr_plan_names(const struct pr_plan *p);

/* The merged config as DLBS's print-config shows it: parameters, variables,
 * extensions of the first group. Indented JSON. */
void pr_plan_print_config(const struct pr_plan *p, struct pr_buf *out);

struct pr_experiment {
    uint64_t index;   /* 1, 2, … in plan order */
    char id[40];      /* index and a hash of what was set */
    unsigned repeat;  /* 1, 2, … */
    const struct pr_params *params;
    struct pr_expander *values; /* expanded; pr_expanded(values, name) */
};

struct pr_walk;

/* Walks a built plan. Free with pr_walk_free. NULL: out of memory. */
struct pr_walk *pr_walk_new(struct pr_plan *p);
void pr_walk_free(struct pr_walk *w);

/* 1 and the next experiment, 0 at the end, negative: failed (a name that is
 * not defined, a value out of its range, …). Borrowed until the next call. */
int pr_walk_next(struct pr_walk *w, struct pr_experiment *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* How many experiments a walk gives, without expanding them. With opts.only
 * set they must be expanded, and are. */
int pr_plan_count(struct pr_plan *p, uint64_t *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* What experiments are meant to differ in: the variables of all groups, then
 * what cases of extensions set. NULL when i is too large. */
const char *pr_plan_variable_name(const struct pr_plan *p, size_t i);

#endif
