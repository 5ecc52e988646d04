/* The inside of a plan, shared by the files that build and walk it. */
#ifndef PR_PLAN_SPEC_H
#define PR_PLAN_SPEC_H

#include "plan/fragment.h"
#include "plan/plan.h"

/* A group of experiments with one product of variables. */
struct pr_plan_group {
    const char *name;
    struct pr_params params; /* all layers below the variables */
    struct pr_variable *vars;
    size_t var_count;
    struct pr_extension *exts;
    size_t ext_count;
};

struct pr_framework_defaults;

struct pr_plan {
    struct pr_plan_opts opts;
    struct pr_plan_scope scope;
    bool built;
    struct pr_config_part *targets;
    size_t target_count, target_cap;
    struct pr_config_part *configs;
    size_t config_count, config_cap;
    struct pr_config_part cli; /* parameters in the order given */
    uint8_t *cli_ops;          /* enum pr_override_op for each of them */
    size_t cli_op_count, cli_op_cap;
    struct pr_config_part cli_vars; /* -V and -E */
    struct pr_plan_group *groups;
    size_t group_count;
    uint32_t id_name;        /* exp.id */
    uint32_t name_name;      /* exp.name */
    uint32_t task_name;      /* task.name */
    uint32_t framework_name; /* exp.framework */
    const struct pr_framework_defaults *
        *weaks; /* of frameworks it may be: plan/weak.h */
    size_t weak_count, weak_cap;
    bool all_weak; /* of all frameworks there are */
};

/* The first setting over a DLIO file, or in it, that has a name of DLIO's first
 * documentation; NULL: there is none, or the target is no DLIO file. */
const struct pr_setting *pr_plan_old_style(const struct pr_plan *p,
                                           const struct pr_config_part *target);

/* What a parameter is on this machine when nobody sets it. */
struct pr_value pr_plan_default(const char *name, const struct pr_opt *opt);

/* Refuses a product of variables that nobody can mean. */
int pr_plan_check_size(const struct pr_plan *p,
                       struct pr_err *err) PR_MUST_CHECK;

/* Refuses names that a section with a table does not have; in a peer's file
 * it warns of them. */
int pr_plan_check_names(struct pr_plan *p, struct pr_err *err) PR_MUST_CHECK;

/* Refuses opts.only when it names jobs that the profiles do not have. */
int pr_plan_check_only(const struct pr_plan *p,
                       struct pr_err *err) PR_MUST_CHECK;

/* Refuses the Python classes that a DLIO config may name. */
int pr_plan_check_plugins(const struct pr_plan *p,
                          const struct pr_plan_group *g,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
