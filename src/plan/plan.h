/*
 * A plan as the rest of Prony uses it; prony/plan.h has what everybody may
 * use. Its experiments are walked one by one; they are made as they are asked
 * for, so a plan of a million experiments takes the memory of ten.
 */
#ifndef PR_PLAN_H
#define PR_PLAN_H

#include "conf/expr/expand.h"
#include "prony/plan.h"

int pr_plan_param_text(struct pr_plan *p, const char *name, const char *text,
                       const char *from,
                       struct pr_err *err) PR_MUST_CHECK; /* as it stands */
int pr_plan_param_value(struct pr_plan *p, const char *name,
                        const struct pr_value *value, const char *from,
                        struct pr_err *err) PR_MUST_CHECK;

/* What copies of a job are spread over: "auto", a number, or a list. To be
 * called before targets are added. PR_E_USAGE. */
int pr_plan_devices(struct pr_plan *p, const char *text,
                    struct pr_err *err) PR_MUST_CHECK;

const struct pr_names *pr_plan_names(const struct pr_plan *p);

/* The merged config as DLBS's print-config shows it: parameters, variables,
 * extensions of the first group. Indented JSON. */
void pr_plan_print_config(const struct pr_plan *p, struct pr_buf *out);

struct pr_experiment {
    uint64_t index;  /* 1, 2, … in plan order */
    char id[40];     /* index and a hash of what was set */
    unsigned repeat; /* 1, 2, … */
    const struct pr_params *params;
    struct pr_expander *values; /* expanded; pr_expanded_value(values, name) */
};

struct pr_walk;

/* Walks a built plan. Free with pr_walk_free. NULL: out of memory. */
struct pr_walk *pr_walk_new(struct pr_plan *p);
void pr_walk_free(struct pr_walk *w);

/* Only the experiments that have this text there: of the others nothing else
 * is computed. Borrows the text. */
void pr_walk_only(struct pr_walk *w, const char *name, const char *text);

/* 1 and the next experiment, 0 at the end, negative: failed (a name that is
 * not defined, a value out of its range, …). Borrowed until the next call. */
int pr_walk_next(struct pr_walk *w, struct pr_experiment *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* Groups of experiments: one for each target and group in it. */
size_t pr_plan_groups(const struct pr_plan *p);

/* What experiments are meant to differ in: the variables of all groups, then
 * what cases of extensions set. In the arena, NULL at the end; NULL: out of
 * memory. */
const char *const *pr_plan_variable_names(const struct pr_plan *p,
                                          struct pr_arena *a);

#endif
