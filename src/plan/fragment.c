/* Building fragments, and a plan's list of warnings. Older names end here. */
#include "plan/fragment.h"

#include "base/names.h"
#include "conf/option/alias.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- warnings */

bool pr_warn(struct pr_warnings *w, const char *where, const char *remedy,
             const char *fmt, ...)
{
    struct pr_warning *new = PR_ARENA_NEW(w->arena, struct pr_warning);
    char text[512];
    va_list ap;

    if (!new)
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    new->where = pr_arena_str(w->arena, where ? where : "");
    new->text = pr_arena_str(w->arena, text);
    new->remedy = pr_arena_str(w->arena, remedy ? remedy : "");
    if (!new->where || !new->text || !new->remedy)
        return false;
    if (w->last)
        w->last->next = new;
    else
        w->first = new;
    w->last = new;
    return true;
}

/* ---- settings */

/* A setting under today's name. *ret is NULL when an older name's value says
 * nothing. */
static int make_setting(struct pr_plan_scope *s, const char *name, size_t len,
                        const struct pr_value *value,
                        const struct pr_origin *origin, struct pr_setting **ret,
                        struct pr_err *err)
{
    struct pr_alias_found found;
    struct pr_setting *set;
    struct pr_value v;

    *ret = NULL;
    if (!pr_alias_find(name, len, &found)) {
        *ret = pr_setting_new(s->arena, s->names, name, len, value, origin);
        return *ret ? PR_OK : pr_fail_nomem(err);
    }
    if (!pr_alias_value(found.row, value, &v))
        return PR_OK;
    set = pr_setting_new(s->arena, s->names, found.name, strlen(found.name), &v,
                         origin);
    if (!set)
        return pr_fail_nomem(err);
    if (found.below && !(set->below = pr_arena_str(s->arena, found.below)))
        return pr_fail_nomem(err);
    if (found.row && !(set->spelt = pr_arena_copy(s->arena, name, len)))
        return pr_fail_nomem(err);
    *ret = set;
    return PR_OK;
}

static int push_setting(struct pr_plan_scope *s, struct pr_settings *list,
                        struct pr_setting *set, struct pr_err *err)
{
    struct pr_setting **item = PR_PUSH(s->arena, list);

    if (!item)
        return pr_fail_nomem(err);
    *item = set;
    return PR_OK;
}

static int add_setting(struct pr_plan_scope *s, struct pr_settings *list,
                       const char *name, size_t len,
                       const struct pr_value *value,
                       const struct pr_origin *origin, struct pr_err *err)
{
    struct pr_setting *set;
    int rc = make_setting(s, name, len, value, origin, &set, err);

    return rc || !set ? rc : push_setting(s, list, set, err);
}

/* ---- the same parameter twice */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool setting_is_same_place(struct pr_plan_scope *s,
                                  const struct pr_setting *a,
                                  const struct pr_setting *b)
{
    s->comparisons++;
    return a->name == b->name && same_text(a->below, b->below);
}

static size_t setting_hash_place(const struct pr_settings *list,
                                 const struct pr_setting *set)
{
    uint64_t h =
        set->below ? pr_hash_bytes(set->below, strlen(set->below), 1) : 0;

    return pr_hash_mix(h + set->name) & list->mask;
}

/* A file says a thing once, or once by each of its names: what stands for one
 * place in the table is little. */
static void put_place(struct pr_plan_scope *s, struct pr_settings *list,
                      struct pr_setting *set)
{
    size_t i = setting_hash_place(list, set);

    for (; list->by_place[i]; i = (i + 1) & list->mask)
        if (setting_is_same_place(s, list->by_place[i], set) &&
            same_text(list->by_place[i]->spelt, set->spelt))
            break;
    list->placed += !list->by_place[i];
    list->by_place[i] = set;
}

static int setting_add_place(struct pr_plan_scope *s, struct pr_settings *list,
                             struct pr_setting *set, struct pr_err *err)
{
    struct pr_setting **old = list->by_place;
    size_t room = old ? list->mask + 1 : 0;

    if (2 * (list->placed + 1) > room) {
        size_t cap = room ? 2 * room : 64;

        list->by_place = PR_ARENA_ARRAY(s->arena, struct pr_setting *, cap);
        if (!list->by_place)
            return pr_fail_nomem(err);
        list->mask = cap - 1;
        list->placed = 0;
        for (size_t i = 0; i < room; i++)
            if (old[i])
                put_place(s, list, old[i]);
    }
    put_place(s, list, set);
    return PR_OK;
}

/* In one file, today's name is stronger than an older one wherever they stand:
 * so it is in DLIO, which knows today's only. *ret_keep: set is to be added. */
static int settle_twice(struct pr_plan_scope *s, const struct pr_settings *list,
                        const struct pr_setting *set, bool *ret_keep,
                        struct pr_err *err)
{
    size_t i = list->by_place ? setting_hash_place(list, set) : 0;

    for (; list->by_place && list->by_place[i]; i = (i + 1) & list->mask) {
        const struct pr_setting *old = list->by_place[i];
        const struct pr_setting *weak = old->spelt ? old : set;
        char where[256];

        if (!setting_is_same_place(s, old, set) || (!old->spelt && !set->spelt))
            continue;
        if (!old->spelt)
            *ret_keep = false;
        if (pr_value_equal(&old->value, &set->value))
            continue;
        if (!pr_warn(&s->warnings, pr_origin_text(&weak->origin, where),
                     "keep one of the two",
                     "'%s' is not used: '%s' is set as well, to another value",
                     weak->spelt,
                     weak == set || !set->spelt
                         ? pr_names_text(s->names, set->name)
                         : set->spelt))
            return pr_fail_nomem(err);
    }
    return PR_OK;
}

int pr_config_part_add_param(struct pr_plan_scope *s, struct pr_config_part *f,
                             const char *name, size_t len,
                             const struct pr_value *value,
                             const struct pr_origin *origin, struct pr_err *err)
{
    struct pr_setting *set;
    bool keep = true;
    int rc = make_setting(s, name, len, value, origin, &set, err);

    if (rc || !set)
        return rc;
    if (f->file && *f->file)
        rc = settle_twice(s, &f->params, set, &keep, err);
    if (!rc && keep && f->file && *f->file)
        rc = setting_add_place(s, &f->params, set, err);
    return rc || !keep ? rc : push_setting(s, &f->params, set, err);
}

/* ---- variables */

int pr_config_part_fail_variables(const struct pr_origin *origin,
                                  struct pr_err *err)
{
    char where[256];

    pr_fail(err, PR_E_CONF, pr_origin_text(origin, where),
            "more than %d variables", PR_MAX_VARIABLES);
    return pr_hint(err, "one that has a single value is a parameter");
}

static int config_part_get_variable(struct pr_plan_scope *s,
                                    struct pr_config_part *f, uint32_t name,
                                    const struct pr_origin *origin,
                                    struct pr_variable **ret,
                                    struct pr_err *err)
{
    struct pr_variable *vars;

    for (size_t i = 0; i < f->var_count; i++)
        if (f->vars[i].name == name) {
            *ret = &f->vars[i];
            return PR_OK;
        }
    if (f->var_count == PR_MAX_VARIABLES)
        return pr_config_part_fail_variables(origin, err);
    vars = pr_arena_grow(s->arena, f->vars, f->var_count, &f->var_cap,
                         sizeof *vars);
    if (!vars)
        return pr_fail_nomem(err);
    f->vars = vars;
    *ret = &vars[f->var_count++];
    return PR_OK;
}

/* In a sweep what says nothing stands for the default. */
static int config_part_add_value(struct pr_plan_scope *s,
                                 struct pr_settings *list, const char *name,
                                 size_t len, const struct pr_value *value,
                                 const struct pr_origin *origin,
                                 struct pr_err *err)
{
    size_t before = list->count;
    int rc = add_setting(s, list, name, len, value, origin, err);
    struct pr_alias_found found;
    struct pr_value v;

    if (rc || list->count != before || !pr_alias_find(name, len, &found))
        return rc;
    v = pr_opt_default(pr_opt_find(found.name, NULL));
    return add_setting(s, list, name, len, &v, origin, err);
}

/* Keys of one map are variables of their own. */
static uint32_t variable_name(struct pr_plan_scope *s, const char *name,
                              size_t len)
{
    struct pr_alias_found found;

    if (!pr_alias_find(name, len, &found))
        return pr_names_add(s->names, name, len);
    if (found.below)
        found.name[strlen(found.name)] = '.';
    return pr_names_add(s->names, found.name, strlen(found.name));
}

int pr_config_part_add_variable(struct pr_plan_scope *s,
                                struct pr_config_part *f, const char *name,
                                size_t len, const struct pr_value *value,
                                const struct pr_origin *origin,
                                struct pr_err *err)
{
    const struct pr_value *values = value;
    uint32_t id = variable_name(s, name, len);
    uint32_t count = 1;
    struct pr_variable *var = NULL;
    int rc = id == PR_NO_NAME
                 ? pr_fail_nomem(err)
                 : config_part_get_variable(s, f, id, origin, &var, err);

    if (rc)
        return rc;
    *var = (struct pr_variable){.name = id, .origin = *origin};
    if (value->kind == PR_LIST) {
        values = value->items;
        count = value->len;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct pr_origin at = *origin;

        if (values[i].line && at.line) {
            at.line = values[i].line;
            at.col = values[i].col;
        }
        rc = config_part_add_value(s, &var->values, name, len, &values[i], &at,
                                   err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int add_map(struct pr_plan_scope *s, struct pr_settings *list,
                   const struct pr_value *map, const struct pr_origin *origin,
                   const char *what, struct pr_err *err)
{
    if (map->kind != PR_MAP)
        return pr_fail_at(err, PR_E_CONF, origin->name, map->line, map->col,
                          "%s of an extension must be a map of names to "
                          "values, got %s",
                          what, pr_kind_name(map->kind));
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_origin at = *origin;
        int rc;

        if (at.line) {
            at.line = m->line;
            at.col = m->col;
        }
        rc = add_setting(s, list, m->key, m->key_len, &m->value, &at, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int add_cases(struct pr_plan_scope *s, struct pr_extension *e,
                     const struct pr_value *cases, struct pr_err *err)
{
    if (cases->kind != PR_LIST)
        return pr_fail_at(err, PR_E_CONF, e->origin.name, cases->line,
                          cases->col, "cases of an extension must be a list");
    e->cases = PR_ARENA_ARRAY(s->arena, struct pr_settings, cases->len);
    if (!e->cases)
        return pr_fail_nomem(err);
    e->case_count = cases->len;
    for (uint32_t i = 0; i < cases->len; i++) {
        int rc = add_map(s, &e->cases[i], &cases->items[i], &e->origin,
                         "a case", err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int add_condition(struct pr_plan_scope *s, struct pr_extension *e,
                         const struct pr_value *condition, struct pr_err *err)
{
    struct pr_query **queries;
    int rc;

    e->condition = condition;
    queries = pr_arena_grow(s->arena, s->queries, s->query_count, &s->query_cap,
                            sizeof *queries);
    if (!queries)
        return pr_fail_nomem(err);
    s->queries = queries;
    rc = pr_query_new(condition, e->origin.name, &e->when, err);
    if (rc)
        return rc;
    queries[s->query_count++] = e->when;
    return PR_OK;
}

/* In a peer's file users may have left notes. */
static int config_part_report_unknown(struct pr_plan_scope *s,
                                      const struct pr_config_part *f,
                                      const struct pr_extension *e,
                                      const struct pr_member *m,
                                      struct pr_err *err)
{
    static const char known[] = "an extension has the keys condition, "
                                "parameters and cases";
    struct pr_origin at = {e->origin.kind, e->origin.name, m->line, m->col};
    char where[256];

    pr_origin_text(&at, where);
    if (!f->peer) {
        pr_fail(err, PR_E_CONF, where, "unknown key '%s' in an extension",
                m->key);
        return pr_hint(err, "%s", known);
    }
    if (!pr_warn(&s->warnings, where, known,
                 "unknown key '%s' in an extension, ignored", m->key))
        return pr_fail_nomem(err);
    return PR_OK;
}

static int fill_extension(struct pr_plan_scope *s,
                          const struct pr_config_part *f,
                          struct pr_extension *e, const struct pr_value *value,
                          struct pr_err *err)
{
    const struct pr_value *condition = pr_get(value, "condition");
    const struct pr_value *params = pr_get(value, "parameters");
    const struct pr_value *cases = pr_get(value, "cases");
    int rc;

    for (uint32_t i = 0; i < value->len; i++) {
        const struct pr_member *m = &value->members[i];
        if (&m->value == condition || &m->value == params || &m->value == cases)
            continue;
        rc = config_part_report_unknown(s, f, e, m, err);
        if (rc)
            return rc;
    }
    rc = add_condition(s, e, condition, err);
    if (!rc && params)
        rc = add_map(s, &e->params, params, &e->origin, "parameters", err);
    if (!rc && cases)
        rc = add_cases(s, e, cases, err);
    return rc;
}

int pr_config_part_add_extension(struct pr_plan_scope *s,
                                 struct pr_config_part *f,
                                 const struct pr_value *value,
                                 const struct pr_origin *origin,
                                 struct pr_err *err)
{
    struct pr_extension *exts;
    int rc;

    if (value->kind != PR_MAP)
        return pr_fail_at(err, PR_E_CONF, origin->name, value->line, value->col,
                          "an extension must be a map, got %s",
                          pr_kind_name(value->kind));
    exts = pr_arena_grow(s->arena, f->exts, f->ext_count, &f->ext_cap,
                         sizeof *exts);
    if (!exts)
        return pr_fail_nomem(err);
    f->exts = exts;
    exts[f->ext_count] = (struct pr_extension){.origin = *origin};
    rc = fill_extension(s, f, &exts[f->ext_count], value, err);
    if (!rc)
        f->ext_count++;
    return rc;
}

struct pr_decl *pr_plan_scope_decl(struct pr_plan_scope *s, uint32_t name)
{
    if (name >= s->decl_cap) {
        size_t cap = s->decl_cap ? s->decl_cap : 256;
        struct pr_decl **decls;

        while (cap <= name)
            cap *= 2;
        decls = PR_ARENA_ARRAY(s->arena, struct pr_decl *, cap);
        if (!decls)
            return NULL;
        if (s->decl_cap)
            memcpy(decls, s->decls, s->decl_cap * sizeof *decls);
        s->decls = decls;
        s->decl_cap = cap;
    }
    if (!s->decls[name])
        s->decls[name] = PR_ARENA_NEW(s->arena, struct pr_decl);
    return s->decls[name];
}

bool pr_plan_scope_keep_regex(struct pr_plan_scope *s, struct pr_regex *re)
{
    struct pr_regex **all = pr_arena_grow(s->arena, s->regexes, s->regex_count,
                                          &s->regex_cap, sizeof *all);

    if (!all)
        return false;
    s->regexes = all;
    all[s->regex_count++] = re;
    return true;
}

void pr_plan_scope_close(struct pr_plan_scope *s)
{
    for (size_t i = 0; i < s->query_count; i++)
        pr_query_free(s->queries[i]);
    for (size_t i = 0; i < s->regex_count; i++)
        pr_regex_free(s->regexes[i]);
    pr_names_free(s->names);
    pr_arena_free(s->arena);
}
