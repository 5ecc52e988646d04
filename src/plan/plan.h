/*
 * A plan as the rest of Prony uses it; prony/plan.h has what everybody may
 * use. Its experiments are walked one by one; they are made as they are asked
 * for, so a plan of a million experiments takes the memory of ten.
 */
#ifndef PR_PLAN_H
#define PR_PLAN_H

#include "conf/expr/expand.h"
#include "conf/option/parameters.h"
#include "plan/fragment.h"
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

/* ---- one key in the map that a parameter takes */

/* As in train.computation_time.type=uniform. */

/* With each key the map is made anew; a map that is given whole may have any
 * number. */
enum { PR_SETTING_KEYS_MAX = 1000 };

/* A setting of the whole parameter: what it is at present (NULL: not set) with
 * the key of set->below in it, or without it when remove is true. A value that
 * is no map is replaced by one. PR_E_CONF: more than PR_SETTING_KEYS_MAX keys.
 */
int pr_setting_merge_key(struct pr_arena *a, struct pr_names *names,
                         const struct pr_setting *present,
                         const struct pr_setting *set, bool remove,
                         const struct pr_setting **ret,
                         struct pr_err *err) PR_MUST_CHECK;

/*
 * ---- plan.json, the file between planning and running
 * One experiment a line, so that it can be read by line tools, and written and
 * read in constant memory:
 *     {"schema": "prony.plan/1", "count": 2, "defaults": {…}, "experiments": [
 *     {"id": "0001-…", "params": {…}},
 *     {"id": "0002-…", "params": {…}}
 *     ]}
 */

/* The same to a file, whole or not at all; later: as struct pr_new_file. */
int pr_plan_write_file(struct pr_plan *p, const char *path, bool full,
                       bool later, uint64_t *ret_count,
                       struct pr_err *err) PR_MUST_CHECK;

/* The parameters of an experiment that a plan stores: set, derived or read;
 * with full, all. Appends `{"a": 1, …}`. False when out of memory. */
bool pr_experiment_json(const struct pr_plan *p, const struct pr_experiment *e,
                        bool full, struct pr_buf *out);

/* ---- the inside, shared by the files that build and walk a plan */

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
        *weaks; /* of frameworks it may be: plan/framework_defaults.h */
    size_t weak_count, weak_cap;
    bool all_weak; /* of all frameworks there are */
};

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
