/* Parameters of frameworks in a plan. */
#include "plan/framework_defaults.h"

#include <string.h>

/* What the file of one framework sets. */
struct pr_framework_defaults {
    const char *framework;
    const struct pr_setting **items; /* FAMILY.something */
    bool *contract;                  /* only with a launcher */
    size_t count;
    const struct pr_setting *replace[4]; /* defaults of exp.*; NULL: none */
    size_t replace_count;
    struct {
        uint32_t from; /* FAMILY.docker_image; PR_NO_NAME: none */
        const struct pr_setting *to;
    } follow[4]; /* the first that is set is taken, before replace */
    size_t follow_count;
    uint32_t launcher;
};

/* ---- reading */

struct loader {
    struct pr_plan *p;
    const struct pr_framework *f;
    struct pr_framework_defaults *w;
    struct pr_err *err;
};

static const struct pr_setting *
defaults_make_setting(struct loader *l, const char *name,
                      const struct pr_value *v, uint32_t line, uint32_t col)
{
    struct pr_origin at = {PR_FROM_FRAMEWORK, l->f->path, line, col};

    return pr_setting_new(l->p->scope.arena, l->p->scope.names, name,
                          strlen(name), v, &at);
}

/* exp.NAME is text of the file when nobody sets it. */
static int defaults_add_text(struct loader *l, const char *name,
                             const char *text)
{
    struct pr_value v = pr_str(text ? text : "");
    const struct pr_setting *s;

    if (!text || !*text)
        return PR_OK;
    s = defaults_make_setting(l, name, &v, 0, 0);
    if (!s)
        return pr_fail_nomem(l->err);
    l->w->replace[l->w->replace_count++] = s;
    return PR_OK;
}

/* exp.NAME is ${PREFIX.NAME} when somebody sets that. */
static int defaults_add_reference(struct loader *l, const char *prefix,
                                  const char *name)
{
    struct pr_arena *a = l->p->scope.arena;
    const char *from = pr_arena_printf(a, "%s.%s", prefix, name);
    const char *to = pr_arena_printf(a, "exp.%s", name);
    const char *text = pr_arena_printf(a, "${%s.%s}", prefix, name);
    size_t n = l->w->follow_count++;
    struct pr_value v;

    if (!from || !to || !text)
        return pr_fail_nomem(l->err);
    v = pr_str(text);
    l->w->follow[n].from = pr_names_add(l->p->scope.names, from, strlen(from));
    l->w->follow[n].to = defaults_make_setting(l, to, &v, 0, 0);
    if (l->w->follow[n].from == PR_NO_NAME || !l->w->follow[n].to)
        return pr_fail_nomem(l->err);
    return PR_OK;
}

/* What the file says of values, unless a config said something before. */
static int defaults_declare_param(struct loader *l, uint32_t name,
                                  const char *type, const char *choices)
{
    static const struct pr_opt list = {.kind = PR_OPT_LIST, .name = ""};
    static const struct pr_opt any = {.kind = PR_OPT_ANY, .name = ""};
    static const struct pr_opt words = {.kind = PR_OPT_WORDS, .name = ""};
    struct pr_arena *a = l->p->scope.arena;
    struct pr_decl *d = pr_plan_scope_decl(&l->p->scope, name);
    struct pr_value *items, *domain;
    uint32_t n = 1;

    if (!d)
        return pr_fail_nomem(l->err);
    if (d->declared)
        return PR_OK;
    d->declared = true;
    d->type = pr_decl_find_type(type);
    d->opt = strcmp(type, "list") == 0    ? &list
             : strcmp(type, "any") == 0   ? &any
             : strcmp(type, "words") == 0 ? &words
                                          : NULL;
    if (!choices)
        return PR_OK;
    for (const char *c = choices; (c = strchr(c, '|')); c++)
        n++;
    domain = PR_ARENA_NEW(a, struct pr_value);
    items = PR_ARENA_ARRAY(a, struct pr_value, n);
    if (!domain || !items)
        return pr_fail_nomem(l->err);
    *domain = (struct pr_value){.kind = PR_LIST, .len = n, .items = items};
    for (uint32_t i = 0; i < n; i++) {
        size_t len = strcspn(choices, "|");
        const char *copy = pr_arena_copy(a, choices, len);

        if (!copy)
            return pr_fail_nomem(l->err);
        items[i] = pr_strn(copy, len);
        choices += len + 1;
    }
    d->domain = domain;
    return PR_OK;
}

static int defaults_add_params(struct loader *l)
{
    const struct pr_framework *f = l->f;
    struct pr_arena *a = l->p->scope.arena;
    struct pr_framework_defaults *w = l->w;

    w->items = PR_ARENA_ARRAY(a, const struct pr_setting *, f->param_count);
    w->contract = PR_ARENA_ARRAY(a, bool, f->param_count);
    if (!w->items || !w->contract)
        return pr_fail_nomem(l->err);
    for (size_t i = 0; i < f->param_count; i++) {
        const struct pr_framework_param *p = &f->params[i];
        uint32_t name =
            pr_names_add(l->p->scope.names, p->name, strlen(p->name));
        int rc;

        if (name == PR_NO_NAME)
            return pr_fail_nomem(l->err);
        rc = defaults_declare_param(l, name, p->type, p->choices);
        if (rc)
            return rc;
        if (p->def.kind == PR_NULL)
            continue;
        w->items[w->count] =
            defaults_make_setting(l, p->name, &p->def, p->line, p->col);
        if (!w->items[w->count])
            return pr_fail_nomem(l->err);
        w->contract[w->count++] = p->contract;
    }
    return PR_OK;
}

/* Parameters that every framework has, for what the user brings. */
static int add_contract(struct loader *l)
{
    const struct pr_framework *f = l->f;
    struct pr_names *names = l->p->scope.names;
    struct pr_arena *a = l->p->scope.arena;
    const char *launcher = pr_arena_printf(a, "%s.launcher", f->family);
    const char *command = pr_arena_printf(a, "%s.command", f->family);
    uint32_t id;

    if (!launcher || !command)
        return pr_fail_nomem(l->err);
    l->w->launcher = pr_names_add(names, launcher, strlen(launcher));
    id = pr_names_add(names, command, strlen(command));
    if (l->w->launcher == PR_NO_NAME || id == PR_NO_NAME)
        return pr_fail_nomem(l->err);
    return defaults_declare_param(l, id, "words", NULL);
}

static int add_exp(struct loader *l)
{
    static const char *const followed[] = {"docker_image", "data_dir"};
    const struct pr_framework *f = l->f;
    bool forked = strcmp(f->family, f->name) != 0;
    int rc = defaults_add_text(l, "exp.framework_title", f->title);

    if (!rc)
        rc = defaults_add_text(l, "exp.docker_image", f->image);
    if (!rc && forked)
        rc = defaults_add_text(l, "exp.framework_family", f->family);
    for (size_t i = 0; i < 2 && !rc; i++) {
        rc = defaults_add_reference(l, f->name, followed[i]);
        if (!rc && forked)
            rc = defaults_add_reference(l, f->family, followed[i]);
    }
    return rc;
}

static const struct pr_framework_defaults *
defaults_find(const struct pr_plan *p, const char *name)
{
    for (size_t i = 0; i < p->weak_count; i++)
        if (strcmp(p->weaks[i]->framework, name) == 0)
            return p->weaks[i];
    return NULL;
}

static int defaults_add_framework(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err)
{
    struct pr_plan *p = ctx;
    struct loader l = {
        p, f, PR_ARENA_NEW(p->scope.arena, struct pr_framework_defaults), err};
    const struct pr_framework_defaults **all = pr_arena_grow(
        p->scope.arena, p->weaks, p->weak_count, &p->weak_cap, sizeof *all);
    int rc;

    if (!l.w || !all)
        return pr_fail_nomem(err);
    p->weaks = all;
    l.w->framework = f->name;
    rc = pr_framework_defaults_check(p, f, err);
    if (!rc)
        rc = add_contract(&l);
    if (!rc)
        rc = defaults_add_params(&l);
    if (!rc)
        rc = add_exp(&l);
    if (!rc)
        all[p->weak_count++] = l.w;
    return rc;
}

/* What a condition captured may become any name. */
static bool is_captured(const struct pr_value *v)
{
    return v->kind == PR_STR && strstr(v->s, "${__condition.");
}

static int defaults_add_named(struct pr_plan *p, const struct pr_setting *s,
                              struct pr_err *err)
{
    const struct pr_framework *f;
    int rc;

    if (!s || s->name != p->framework_name || s->value.kind != PR_STR)
        return PR_OK;
    if (is_captured(&s->value) && !p->all_weak) {
        p->all_weak = true;
        p->weak_count = 0;
        return pr_framework_each(p->scope.arena, defaults_add_framework, p,
                                 err);
    }
    if (s->dynamic || p->all_weak || defaults_find(p, s->value.s))
        return PR_OK;
    rc = pr_framework_find(s->value.s, p->scope.arena, &f, err);
    return rc == 1 ? defaults_add_framework(p, f, err) : rc;
}

static int add_list(struct pr_plan *p, const struct pr_settings *list,
                    struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < list->count && !rc; i++)
        rc = defaults_add_named(p, list->items[i], err);
    return rc;
}

static int defaults_add_group(struct pr_plan *p, const struct pr_plan_group *g,
                              struct pr_err *err)
{
    int rc = defaults_add_named(p, pr_params_get(&g->params, p->framework_name),
                                err);

    for (size_t i = 0; i < g->var_count && !rc; i++)
        rc = add_list(p, &g->vars[i].values, err);
    for (size_t i = 0; i < g->ext_count && !rc; i++) {
        rc = add_list(p, &g->exts[i].params, err);
        for (size_t c = 0; c < g->exts[i].case_count && !rc; c++)
            rc = add_list(p, &g->exts[i].cases[c], err);
    }
    return rc;
}

int pr_framework_defaults_load(struct pr_plan *p, struct pr_err *err)
{
    int rc = PR_OK;

    p->framework_name = pr_names_add(p->scope.names, "exp.framework", 13);
    if (p->framework_name == PR_NO_NAME)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->group_count && !p->opts.no_defaults && !rc; i++)
        rc = defaults_add_group(p, &p->groups[i], err);
    return rc;
}

/* ---- laying */

/* Whether nobody set it yet, the file neither. */
static bool is_free(const struct pr_params *params, uint32_t name)
{
    const struct pr_setting *s = pr_params_get(params, name);

    return !s || s->origin.kind == PR_FROM_DEFAULT;
}

static bool defaults_apply_setting(struct pr_arena *a, struct pr_params *params,
                                   const struct pr_setting *s)
{
    struct pr_setting *copy;

    if (!is_free(params, s->name))
        return true;
    if (params->slot[s->name]) {
        copy = PR_ARENA_NEW(a, struct pr_setting);
        if (!copy)
            return false;
        *copy = *s;
        copy->under = params->slot[s->name];
        s = copy;
    }
    pr_params_set(params, s);
    return true;
}

/* Takes out what a file set. */
static void defaults_remove_applied(struct pr_params *params)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < params->count; i++) {
        uint32_t name = params->order[i];
        const struct pr_setting *s = params->slot[name];

        if (s->origin.kind == PR_FROM_FRAMEWORK)
            params->slot[name] = s->under;
        if (params->slot[name])
            params->order[kept++] = name;
    }
    params->count = kept;
}

static bool defaults_is_set(const struct pr_params *params, uint32_t name)
{
    const struct pr_setting *s = pr_params_get(params, name);

    return s && !(s->value.kind == PR_STR && !s->value.len);
}

bool pr_framework_defaults_apply(const struct pr_plan *p, struct pr_arena *a,
                                 struct pr_params *params)
{
    const struct pr_setting *named = pr_params_get(params, p->framework_name);
    const struct pr_framework_defaults *w = NULL;
    bool contract, ok = true;

    if (!p->weak_count)
        return true;
    if (named && named->value.kind == PR_STR && !named->dynamic)
        w = defaults_find(p, named->value.s);
    defaults_remove_applied(params);
    if (!w)
        return true;
    contract = defaults_is_set(params, w->launcher);
    for (size_t i = 0; i < w->follow_count && ok; i++)
        if (defaults_is_set(params, w->follow[i].from))
            ok = defaults_apply_setting(a, params, w->follow[i].to);
    for (size_t i = 0; i < w->replace_count && ok; i++)
        ok = defaults_apply_setting(a, params, w->replace[i]);
    for (size_t i = 0; i < w->count && ok; i++)
        if (contract || !w->contract[i])
            ok = defaults_apply_setting(a, params, w->items[i]);
    return ok;
}
