/*
 * Building a plan: the sources of parameters laid one over another, weakest
 * first, for each group of experiments.
 */
#include "plan/plan.h"

#include "base/mem.h"
#include "conf/option/alias.h"
#include "conf/option/override.h"
#include "conf/read/literal.h"
#include "machine/nvml.h"
#include "plan/framework_defaults.h"
#include "plan/from/from_milarun.h"
#include "plan/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- keys of maps, laid over the map that is there */

/* Room for one more member than the map has; *ret_count are taken over: all
 * but the one named. NULL when out of memory. */
static struct pr_member *map_copy_without_key(struct pr_arena *a,
                                              const struct pr_value *map,
                                              const char *key, size_t len,
                                              const struct pr_value **ret_found,
                                              uint32_t *ret_count)
{
    uint32_t have = map && map->kind == PR_MAP ? map->len : 0, n = 0;
    struct pr_member *members =
        PR_ARENA_ARRAY(a, struct pr_member, (size_t)have + 1);

    *ret_found = NULL;
    for (uint32_t i = 0; members && i < have; i++) {
        const struct pr_member *m = &map->members[i];

        if (m->key_len == len && memcmp(m->key, key, len) == 0)
            *ret_found = &m->value;
        else
            members[n++] = *m;
    }
    *ret_count = n;
    return members;
}

/* path is "type", or "a.b" for a map in the map. v is NULL to remove. */
static bool map_set_key(struct pr_arena *a, const struct pr_value *map,
                        const char *path, const struct pr_value *v,
                        const struct pr_origin *at, struct pr_value *ret)
{
    size_t len = strcspn(path, ".");
    const struct pr_value *found;
    uint32_t n;
    struct pr_member *members =
        map_copy_without_key(a, map, path, len, &found, &n);
    struct pr_member new = {
        .key_len = (uint32_t)len, .line = at->line, .col = at->col};

    if (!members || !(new.key = pr_arena_copy(a, path, len)))
        return false;
    if (path[len] && (v || found)) {
        if (!map_set_key(a, found, path + len + 1, v, at, &new.value))
            return false;
        members[n++] = new;
    } else if (v) {
        new.value = *v;
        members[n++] = new;
    }
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return true;
}

static int too_many(const char *name, const struct pr_setting *set,
                    struct pr_err *err)
{
    char where[256];

    pr_fail(err, PR_E_CONF, pr_origin_text(&set->origin, where),
            "more than %d keys of '%s' are set one by one", PR_SETTING_KEYS_MAX,
            name);
    return pr_hint(err, "give it as a map: %s={...}", name);
}

int pr_setting_merge_key(struct pr_arena *a, struct pr_names *names,
                         const struct pr_setting *present,
                         const struct pr_setting *set, bool remove,
                         const struct pr_setting **ret, struct pr_err *err)
{
    const char *name = pr_names_text(names, set->name);
    const struct pr_value *map = present ? &present->value : NULL;
    struct pr_setting *new;
    struct pr_value v;

    *ret = present;
    if (remove && (!map || map->kind != PR_MAP))
        return PR_OK; /* there is no such key */
    if (!remove && present && present->laid >= PR_SETTING_KEYS_MAX)
        return too_many(name, set, err);
    if (!map_set_key(a, map, set->below, remove ? NULL : &set->value,
                     &set->origin, &v))
        return pr_fail_nomem(err);
    new = pr_setting_new(a, names, name, strlen(name), &v, &set->origin);
    if (!new)
        return pr_fail_nomem(err);
    new->laid = present ? present->laid + 1 : 1;
    *ret = new;
    return PR_OK;
}

/* ---- names of DLIO's first documentation */

static bool is_first(const struct pr_setting *set)
{
    struct pr_alias_found found;

    return set->spelt &&
           pr_alias_find(set->spelt, strlen(set->spelt), &found) && found.row &&
           found.row->first;
}

static const struct pr_setting *first_in(const struct pr_settings *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_first(list->items[i]))
            return list->items[i];
    return NULL;
}

/* The first setting over a DLIO file, or in it, that has a name of DLIO's first
 * documentation; NULL: there is none, or the target is no DLIO file. */
static const struct pr_setting *
plan_old_style(const struct pr_plan *p, const struct pr_config_part *target)
{
    const struct pr_setting *found;

    if (!target->dlio)
        return NULL;
    found = first_in(&target->params);
    for (size_t i = 0; i < p->config_count && !found; i++)
        found = first_in(&p->configs[i].params);
    if (!found)
        found = first_in(&p->cli.params);
    for (size_t i = 0; i < p->cli_vars.var_count && !found; i++)
        found = first_in(&p->cli_vars.vars[i].values);
    return found;
}

/* ---- what a plan is made from */

struct pr_plan *pr_plan_new(const struct pr_plan_opts *opts)
{
    struct pr_plan *p = pr_alloc_zeroed(sizeof *p);

    if (!p)
        return NULL;
    /* A caller built against an older header knows fewer members. */
    memcpy(&p->opts, opts,
           opts->size && opts->size < sizeof p->opts ? opts->size
                                                     : sizeof p->opts);
    if (!p->opts.repeat)
        p->opts.repeat = 1;
    p->cli.file = p->cli_vars.file = "";
    p->scope.arena = pr_arena_new(65536);
    p->scope.names = pr_names_new();
    p->scope.warnings.arena = p->scope.arena;
    if (!p->scope.arena || !p->scope.names) {
        pr_plan_free(p);
        return NULL;
    }
    return p;
}

void pr_plan_free(struct pr_plan *p)
{
    if (!p)
        return;
    pr_plan_scope_close(&p->scope);
    pr_free(p);
}

const struct pr_warning *pr_plan_warnings(const struct pr_plan *p)
{
    return p->scope.warnings.first;
}

const struct pr_names *pr_plan_names(const struct pr_plan *p)
{
    return p->scope.names;
}

int pr_plan_devices(struct pr_plan *p, const char *text, struct pr_err *err)
{
    return pr_devices_set(&p->scope, text, err);
}

static int add_source(struct pr_plan *p, const char *path,
                      enum pr_origin_kind origin, struct pr_config_part **list,
                      size_t *count, size_t *cap, struct pr_err *err)
{
    struct pr_config_source src;
    struct pr_config_part *frags = NULL;
    size_t n = 0;
    const char *copy = pr_arena_str(p->scope.arena, path);
    int rc;

    if (!copy)
        return pr_fail_nomem(err);
    rc = pr_config_source_read(copy, p->scope.arena, &src, err);
    if (!rc)
        rc = pr_config_source_read_parts(&p->scope, &src, origin, &frags, &n,
                                         err);
    if (!rc && n > 1 && origin == PR_FROM_CONFIG) {
        pr_fail(err, PR_E_CONF, copy,
                "has %zu groups of experiments, --config lays one over all", n);
        rc = pr_hint(err, "give it as a target, without --config");
    }
    for (size_t i = 0; i < n && !rc; i++) {
        struct pr_config_part *grown =
            pr_arena_grow(p->scope.arena, *list, *count, cap, sizeof **list);
        if (!grown)
            return pr_fail_nomem(err);
        *list = grown;
        grown[(*count)++] = frags[i];
    }
    return rc;
}

int pr_plan_target(struct pr_plan *p, const char *path, struct pr_err *err)
{
    return add_source(p, path, PR_FROM_TARGET, &p->targets, &p->target_count,
                      &p->target_cap, err);
}

int pr_plan_config(struct pr_plan *p, const char *path, struct pr_err *err)
{
    return add_source(p, path, PR_FROM_CONFIG, &p->configs, &p->config_count,
                      &p->config_cap, err);
}

/* ---- settings over settings */

/* Lays a setting over what is there. Settings are shared by groups, so the
 * one that remembers what it replaced is a copy. */
static int plan_apply_setting(struct pr_plan *p, struct pr_params *params,
                              const struct pr_setting *set, struct pr_err *err)
{
    struct pr_setting *copy;

    if (!pr_params_reserve(params, p->scope.arena,
                           pr_names_count(p->scope.names)))
        return pr_fail_nomem(err);
    if (set->below) {
        int rc = pr_setting_merge_key(p->scope.arena, p->scope.names,
                                      params->slot[set->name], set, false, &set,
                                      err);
        if (rc)
            return rc;
    }
    if (params->slot[set->name]) {
        copy = PR_ARENA_NEW(p->scope.arena, struct pr_setting);
        if (!copy)
            return pr_fail_nomem(err);
        *copy = *set;
        copy->under = params->slot[set->name];
        set = copy;
    }
    pr_params_set(params, set);
    return PR_OK;
}

static int plan_apply_settings(struct pr_plan *p, struct pr_params *params,
                               const struct pr_settings *list,
                               struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < list->count && !rc; i++)
        rc = plan_apply_setting(p, params, list->items[i], err);
    return rc;
}

struct pr_value pr_plan_default(const char *name, const struct pr_opt *opt)
{
    const char *data = getenv("PRONY_DATA");

    if (strcmp(name, "exp.gpus") == 0 && pr_machine_has_gpu())
        return pr_str("0");
    if (strcmp(name, "task.data_root") == 0 && data && *data)
        return pr_str(data);
    return pr_opt_default(opt);
}

static int plan_apply_default(struct pr_plan *p, struct pr_params *params,
                              const char *name, const struct pr_opt *opt,
                              struct pr_err *err)
{
    struct pr_origin at = {PR_FROM_DEFAULT, "", 0, 0};
    struct pr_value v = pr_plan_default(name, opt);
    struct pr_setting *set = pr_setting_new(p->scope.arena, p->scope.names,
                                            name, strlen(name), &v, &at);

    return set ? plan_apply_setting(p, params, set, err) : pr_fail_nomem(err);
}

static int plan_apply_defaults(struct pr_plan *p, struct pr_params *params,
                               struct pr_err *err)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    for (; *s; s++) {
        for (size_t i = 0; i < (*s)->count; i++) {
            const struct pr_opt *o = &(*s)->opts[i];
            char name[128];
            int rc;

            if (o->flags & PR_OPT_PREFIX)
                continue;
            snprintf(name, sizeof name, "%s.%s", (*s)->name, o->name);
            rc = plan_apply_default(p, params, name, o, err);
            if (rc)
                return rc;
        }
    }
    return PR_OK;
}

/* Variables of ours that are no parameters. */
static bool is_reserved(const char *env)
{
    static const char *const names[] = {
        "PRONY_DATA",    "PRONY_SHARE",      "PRONY_EXPERIMENT", "PRONY_FD",
        "PRONY_CHANNEL", "PRONY_FRAMEWORKS", "PRONY_NVML",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(env, names[i]) == 0)
            return true;
    return false;
}

/* Sets a parameter by the variable of one of its names. */
static int plan_apply_env_name(struct pr_plan *p, struct pr_params *params,
                               const char *text, const char *written,
                               struct pr_err *err)
{
    struct pr_origin at = {PR_FROM_ENVIRONMENT, NULL, 0, 0};
    struct pr_alias_found found = {.row = NULL};
    struct pr_setting *set;
    const char *value;
    struct pr_value v;
    char env[160];
    int rc;

    if (!pr_opt_env_name(written, env) || is_reserved(env) ||
        !(value = getenv(env)))
        return PR_OK;
    rc = pr_literal_read(text, value, strlen(value), p->scope.arena, &v, NULL,
                         err);
    if (rc)
        return rc;
    (void)pr_alias_find(written, strlen(written), &found);
    if (!pr_alias_value(found.row, &v, &v))
        return PR_OK;
    at.name = pr_arena_str(p->scope.arena, env);
    set = pr_setting_new(p->scope.arena, p->scope.names, text, strlen(text), &v,
                         &at);
    return set && at.name ? plan_apply_setting(p, params, set, err)
                          : pr_fail_nomem(err);
}

/* By its older names, and those of their sections; then by today's. */
static int plan_apply_env_variable(struct pr_plan *p, struct pr_params *params,
                                   uint32_t name, struct pr_err *err)
{
    const char *text = pr_names_text(p->scope.names, name);
    char old[160], older[160];
    int rc = PR_OK;

    for (size_t i = 0; !rc && pr_alias_older_name(text, i, old); i++) {
        for (size_t j = 0; !rc && pr_alias_older_name(old, j, older); j++)
            rc = plan_apply_env_name(p, params, text, older, err);
        if (!rc)
            rc = plan_apply_env_name(p, params, text, old, err);
    }
    return rc ? rc : plan_apply_env_name(p, params, text, text, err);
}

/* Most environments set nothing: then no name need be tried. */
static bool environment_sets(void)
{
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, "PRONY_", 6) == 0) {
            char name[160];
            size_t n = strcspn(*e, "=");

            if (n >= sizeof name)
                return true;
            memcpy(name, *e, n);
            name[n] = '\0';
            if (!is_reserved(name))
                return true;
        }
    return false;
}

/* The environment can set what is a parameter already, by table or source. */
static int plan_apply_environment(struct pr_plan *p, struct pr_params *params,
                                  struct pr_err *err)
{
    uint32_t count = environment_sets() ? params->count : 0;
    int rc = PR_OK;

    for (uint32_t i = 0; i < count && !rc; i++)
        rc = plan_apply_env_variable(p, params, params->order[i], err);
    return rc;
}

/* Takes a key out of a map. */
static int plan_apply_key_removal(struct pr_plan *p, struct pr_params *params,
                                  const struct pr_setting *set,
                                  struct pr_err *err)
{
    const struct pr_setting *present = pr_params_get(params, set->name);
    const struct pr_setting *left;
    int rc;

    if (!present)
        return PR_OK;
    rc = pr_setting_merge_key(p->scope.arena, p->scope.names, present, set,
                              true, &left, err);
    return rc || left == present ? rc
                                 : plan_apply_setting(p, params, left, err);
}

static int plan_apply_command_line(struct pr_plan *p, struct pr_params *params,
                                   struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < p->cli.params.count && !rc; i++) {
        const struct pr_setting *set = p->cli.params.items[i];
        if (p->cli_ops[i] != PR_OVERRIDE_DELETE)
            rc = plan_apply_setting(p, params, set, err);
        else if (set->below)
            rc = plan_apply_key_removal(p, params, set, err);
        else
            pr_params_unset(params, set->name);
    }
    return rc;
}

/* ---- groups */

static int merge_vars(struct pr_plan *p, struct pr_plan_group *g, size_t *cap,
                      const struct pr_config_part *f, struct pr_err *err)
{
    for (size_t i = 0; i < f->var_count; i++) {
        struct pr_variable *vars;
        size_t j = 0;

        while (j < g->var_count && g->vars[j].name != f->vars[i].name)
            j++;
        if (j == g->var_count) {
            if (j == PR_MAX_VARIABLES)
                return pr_config_part_fail_variables(&f->vars[i].origin, err);
            vars = pr_arena_grow(p->scope.arena, g->vars, j, cap, sizeof *vars);
            if (!vars)
                return pr_fail_nomem(err);
            g->vars = vars;
            g->var_count++;
        }
        g->vars[j] = f->vars[i];
    }
    return PR_OK;
}

static int merge_exts(struct pr_plan *p, struct pr_plan_group *g, size_t *cap,
                      const struct pr_config_part *f, struct pr_err *err)
{
    for (size_t i = 0; i < f->ext_count; i++) {
        struct pr_extension *exts = pr_arena_grow(
            p->scope.arena, g->exts, g->ext_count, cap, sizeof *exts);
        if (!exts)
            return pr_fail_nomem(err);
        g->exts = exts;
        exts[g->ext_count++] = f->exts[i];
    }
    return PR_OK;
}

/* Variables named by sys.plan_builder.var_order come first, in its order. */
static void order_vars(struct pr_plan *p, struct pr_plan_group *g)
{
    uint32_t id =
        pr_names_find(p->scope.names, "sys.plan_builder.var_order", 26);
    const struct pr_setting *set =
        id == PR_NO_NAME ? NULL : pr_params_get(&g->params, id);
    size_t placed = 0;

    if (!set || set->value.kind != PR_LIST)
        return;
    for (uint32_t i = 0; i < set->value.len; i++) {
        const struct pr_value *item = &set->value.items[i];
        for (size_t j = placed; item->kind == PR_STR && j < g->var_count; j++) {
            struct pr_variable var = g->vars[j];
            if (pr_alias_find_number(p->scope.names, item->s, item->len) !=
                var.name)
                continue;
            memmove(&g->vars[placed + 1], &g->vars[placed],
                    (j - placed) * sizeof var);
            g->vars[placed++] = var;
            break;
        }
    }
}

static int plan_apply_group_name(struct pr_plan *p, struct pr_plan_group *g,
                                 struct pr_err *err)
{
    struct pr_origin at = {PR_FROM_TARGET, "", 0, 0};
    struct pr_value v = pr_str(g->name);
    struct pr_setting *set =
        pr_setting_new(p->scope.arena, p->scope.names, "exp.name", 8, &v, &at);

    return set ? plan_apply_setting(p, &g->params, set, err)
               : pr_fail_nomem(err);
}

static int merge_sweep(struct pr_plan *p, struct pr_plan_group *g,
                       const struct pr_config_part *target, struct pr_err *err)
{
    size_t var_cap = 0, ext_cap = 0;
    int rc = PR_OK;

    if (target) {
        rc = merge_vars(p, g, &var_cap, target, err);
        if (!rc)
            rc = merge_exts(p, g, &ext_cap, target, err);
    }
    for (size_t i = 0; i < p->config_count && !rc; i++) {
        rc = merge_vars(p, g, &var_cap, &p->configs[i], err);
        if (!rc)
            rc = merge_exts(p, g, &ext_cap, &p->configs[i], err);
    }
    if (!rc)
        rc = merge_vars(p, g, &var_cap, &p->cli_vars, err);
    if (!rc)
        rc = merge_exts(p, g, &ext_cap, &p->cli_vars, err);
    return rc;
}

/* In DLIO's first documentation total_training_steps counts the whole run, so
 * with its names it does, unless somebody says otherwise. */
static int plan_apply_old_style(struct pr_plan *p, struct pr_params *params,
                                const struct pr_config_part *target,
                                struct pr_err *err)
{
    static const char name[] = "train.total_training_steps_of";
    const struct pr_setting *old = plan_old_style(p, target);
    struct pr_value v = pr_str("run");
    struct pr_origin at;
    struct pr_setting *set;

    if (!old)
        return PR_OK;
    at = old->origin;
    at.kind = PR_FROM_TARGET;
    set = pr_setting_new(p->scope.arena, p->scope.names, name, sizeof name - 1,
                         &v, &at);
    return set ? plan_apply_setting(p, params, set, err) : pr_fail_nomem(err);
}

/* Weakest first: CLI.md, "Setting parameters". */
static int build_group(struct pr_plan *p, const struct pr_config_part *target,
                       struct pr_plan_group *g, struct pr_err *err)
{
    int rc = PR_OK;

    g->name = target ? target->name : NULL;
    if (!p->opts.no_defaults)
        rc = plan_apply_defaults(p, &g->params, err);
    if (!rc && g->name)
        rc = plan_apply_group_name(p, g, err);
    if (!rc && target)
        rc = plan_apply_old_style(p, &g->params, target, err);
    if (!rc && target)
        rc = plan_apply_settings(p, &g->params, &target->params, err);
    for (size_t i = 0; i < p->config_count && !rc; i++)
        rc = plan_apply_settings(p, &g->params, &p->configs[i].params, err);
    if (!rc)
        rc = plan_apply_environment(p, &g->params, err);
    if (!rc)
        rc = plan_apply_command_line(p, &g->params, err);
    if (!rc)
        rc = merge_sweep(p, g, target, err);
    if (!rc)
        order_vars(p, g);
    return rc;
}

static int warn_beaten(struct pr_plan *p, const struct pr_plan_group *g,
                       struct pr_err *err)
{
    for (size_t i = 0; i < p->cli.params.count; i++) {
        const struct pr_setting *set = p->cli.params.items[i];
        const char *name = pr_names_text(p->scope.names, set->name);
        char where[256], remedy[160];

        for (size_t j = 0; j < g->var_count; j++) {
            if (g->vars[j].name != set->name)
                continue;
            snprintf(remedy, sizeof remedy, "use -V %.60s='[…]' instead", name);
            if (!pr_warn(&p->scope.warnings,
                         pr_origin_text(&set->origin, where), remedy,
                         "'%s' is a variable too, whose values win", name))
                return pr_fail_nomem(err);
        }
    }
    return PR_OK;
}

/* Room for every name in every set, and the rows of the option tables. */
static int plan_reserve_names(struct pr_plan *p, struct pr_err *err)
{
    uint32_t n;

    p->id_name = pr_names_add(p->scope.names, "exp.id", 6);
    p->name_name = pr_names_add(p->scope.names, "exp.name", 8);
    p->task_name = pr_names_add(p->scope.names, "task.name", 9);
    n = pr_names_count(p->scope.names);
    if (p->id_name == PR_NO_NAME || p->name_name == PR_NO_NAME ||
        p->task_name == PR_NO_NAME ||
        !pr_plan_scope_decl(&p->scope, n ? n - 1 : 0))
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->group_count; i++)
        if (!pr_params_reserve(&p->groups[i].params, p->scope.arena, n))
            return pr_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = pr_names_text(p->scope.names, i);
        const struct pr_opt *opt = pr_opt_find(name, NULL);
        struct pr_decl *decl;

        /* A command is a list of arguments even without any defaults, and so
         * are the lists of a suite. */
        if (!opt ||
            (p->opts.no_defaults && opt->kind != PR_OPT_WORDS &&
             strcmp(name, "exp.args") != 0 && strncmp(name, "suite.", 6) != 0))
            continue;
        decl = pr_plan_scope_decl(&p->scope, i);
        if (!decl)
            return pr_fail_nomem(err);
        decl->opt = opt;
    }
    return PR_OK;
}

int pr_plan_build(struct pr_plan *p, struct pr_err *err)
{
    int rc;

    p->group_count = p->target_count ? p->target_count : 1;
    p->groups =
        PR_ARENA_ARRAY(p->scope.arena, struct pr_plan_group, p->group_count);
    if (!p->groups)
        return pr_fail_nomem(err);
    rc = p->opts.no_defaults ? PR_OK : pr_plan_check_names(p, err);
    for (size_t i = 0; i < p->group_count && !rc; i++) {
        rc = build_group(p, p->target_count ? &p->targets[i] : NULL,
                         &p->groups[i], err);
        if (!rc)
            rc = pr_plan_check_plugins(p, &p->groups[i], err);
        if (!rc && i == 0) /* -V is the same for all groups */
            rc = warn_beaten(p, &p->groups[i], err);
    }
    if (!rc)
        rc = pr_plan_check_only(p, err);
    if (!rc)
        rc = pr_framework_defaults_load(p, err);
    if (!rc)
        rc = plan_reserve_names(p, err);
    if (!rc)
        rc = pr_plan_check_size(p, err);
    p->built = rc == PR_OK;
    return rc;
}

/* ---- what is asked of a plan */

size_t pr_plan_groups(const struct pr_plan *p)
{
    return p->group_count;
}

/* Of what makes a copy of a job, suite.devices is enough to tell them apart. */
static bool plan_is_name_shown(const struct pr_plan *p, uint32_t name)
{
    const char *text = pr_names_text(p->scope.names, name);

    return strcmp(text, "suite.device") != 0 &&
           strncmp(text, "suite.slot", 10) != 0;
}

/* The parameter that a variable changes, which it may be only a key of. */
static uint32_t shown_name(const struct pr_variable *v)
{
    return v->values.count ? v->values.items[0]->name : v->name;
}

struct varied {
    const struct pr_plan *plan;
    const char **names;
    uint8_t *seen; /* by number of the name */
    size_t count;
};

static void plan_add_varied_name(struct varied *v, uint32_t name)
{
    if (v->seen[name] || !plan_is_name_shown(v->plan, name))
        return;
    v->seen[name] = 1;
    v->names[v->count++] = pr_names_text(v->plan->scope.names, name);
}

const char *const *pr_plan_variable_names(const struct pr_plan *p,
                                          struct pr_arena *a)
{
    uint32_t all = pr_names_count(p->scope.names);
    struct varied v = {.plan = p,
                       .names = PR_ARENA_ARRAY(a, const char *, all + 1),
                       .seen = PR_ARENA_ARRAY(a, uint8_t, all + 1)};

    if (!v.names || !v.seen)
        return NULL;
    for (size_t g = 0; g < p->group_count; g++)
        for (size_t i = 0; i < p->groups[g].var_count; i++)
            plan_add_varied_name(&v, shown_name(&p->groups[g].vars[i]));
    for (size_t g = 0; g < p->group_count; g++)
        for (size_t e = 0; e < p->groups[g].ext_count; e++)
            for (size_t c = 0; c < p->groups[g].exts[e].case_count; c++) {
                const struct pr_settings *s = &p->groups[g].exts[e].cases[c];

                for (size_t k = 0; k < s->count; k++)
                    plan_add_varied_name(&v, s->items[k]->name);
            }
    return v.names;
}
