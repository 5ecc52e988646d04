/*
 * What one source says: parameters, variables and extensions, as read, before
 * anything is merged. Every reader of a config (plan/from, plan/source.c) and
 * every command-line option makes fragments; plan.c lays them one over another.
 */
#ifndef PR_PLAN_FRAGMENT_H
#define PR_PLAN_FRAGMENT_H

#include "base/mem.h"
#include "conf/option/parameters.h"
#include "conf/option/query.h"
#include "prony/plan.h"

#include <stdbool.h>

/* ---- warnings */

/* What a plan has to say besides failing, in the order it was given; text in
 * the arena. */
struct pr_warnings {
    struct pr_arena *arena;
    const struct pr_warning *first;
    struct pr_warning *last;
};

/* False when out of memory. */
bool pr_warn(struct pr_warnings *w, const char *where, const char *remedy,
             const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A growing list of settings. */
struct pr_settings {
    struct pr_setting **items;
    size_t count, cap;
    struct pr_setting **by_place; /* the last of each name, key and spelling,
                                     hashed; NULL: not looked for */
    size_t mask, placed;
};

/* Nobody sweeps over more: what there is of each is compared with all others.
 */
enum { PR_MAX_VARIABLES = 1000 };

struct pr_variable {
    uint32_t name;
    struct pr_origin origin;
    struct pr_settings values;
};

struct pr_extension {
    const struct pr_value *condition;
    struct pr_query *when;
    struct pr_origin origin;
    struct pr_settings params;
    struct pr_settings *cases;
    size_t case_count;
};

struct pr_config_part {
    const char *name; /* of the group of experiments; NULL: none */
    const char *file; /* "" for the command line */
    bool peer;  /* a foreign file: unknown names are warned of, not refused */
    bool dlio;  /* a DLIO file */
    bool suite; /* a job of a profile */
    struct pr_settings params;
    struct pr_variable *vars;
    size_t var_count, var_cap;
    struct pr_extension *exts;
    size_t ext_count, ext_cap;
};

/* What all readers share; it belongs to the plan. */
struct pr_plan_scope {
    struct pr_arena *arena;
    struct pr_names *names;
    struct pr_warnings warnings;
    struct pr_decl **decls; /* by name; NULL: nothing declared */
    size_t decl_cap;
    struct pr_query **queries; /* to free */
    size_t query_count, query_cap;
    int64_t *devices; /* that copies of a job are spread over; NULL: not asked
                         for yet */
    size_t device_count;
    struct pr_regex **regexes; /* to free */
    size_t regex_count, regex_cap;
    uint64_t comparisons; /* of settings with one another: a test looks at it */
};

/* Adds a parameter. Dotted names are the caller's to build. */
int pr_config_part_add_param(struct pr_plan_scope *s, struct pr_config_part *f,
                             const char *name, size_t len,
                             const struct pr_value *value,
                             const struct pr_origin *origin,
                             struct pr_err *err) PR_MUST_CHECK;

/* Adds a variable; a value that is no list is a list of one. A variable of
 * the same name is replaced. At most PR_MAX_VARIABLES. */
int pr_config_part_add_variable(struct pr_plan_scope *s,
                                struct pr_config_part *f, const char *name,
                                size_t len, const struct pr_value *value,
                                const struct pr_origin *origin,
                                struct pr_err *err) PR_MUST_CHECK;

/* Adds an extension: a map with condition, parameters and cases. */
int pr_config_part_add_extension(struct pr_plan_scope *s,
                                 struct pr_config_part *f,
                                 const struct pr_value *value,
                                 const struct pr_origin *origin,
                                 struct pr_err *err) PR_MUST_CHECK;

/* The declaration of a name, made on first use; NULL: out of memory. */
struct pr_decl *pr_plan_scope_decl(struct pr_plan_scope *s, uint32_t name);

/* That there are too many variables. */
int pr_config_part_fail_variables(const struct pr_origin *origin,
                                  struct pr_err *err);

/* Keeps a compiled pattern until the plan is freed. */
bool pr_plan_scope_keep_regex(struct pr_plan_scope *s, struct pr_regex *re);

void pr_plan_scope_close(struct pr_plan_scope *s);

#endif
