/*
 * Prony's own configs. Either flat or nested parameters,
 *     exp.command: [sleep, "0.1"]        exp: {command: [sleep, "0.1"]}
 * or groups of experiments,
 *     parameters: {…}                    shared by all groups; optional, as
 *     experiments:                       are variables and extensions
 *       - name: warm
 *         parameters: {…}
 *         variables: {exp.replica_batch: [16, 32]}
 *         extensions: [{condition: {…}, parameters: {…}, cases: […]}]
 * A map inside parameters or variables nests names; unknown keys are errors.
 */
#include "base/text.h"
#include "conf/option/alias.h"
#include "plan/source.h"

#include <string.h>

struct reader {
    struct pr_plan_scope *scope;
    const char *path;
    enum pr_origin_kind origin;
    struct pr_err *err;
};

static struct pr_origin from_prony_origin(const struct reader *r,
                                          enum pr_origin_kind kind,
                                          const struct pr_member *m)
{
    return (struct pr_origin){kind, r->path, m->line, m->col};
}

/* A parameter whose value may itself be a map. */
static bool from_prony_can_be_map(const char *name)
{
    struct pr_alias_found found;
    const struct pr_opt *opt;

    if (!pr_alias_find(name, strlen(name), &found))
        return false;
    opt = found.below ? NULL : pr_opt_find(found.name, NULL);
    return opt && opt->kind == PR_OPT_ANY && !(opt->flags & PR_OPT_PREFIX);
}

/* NULL when out of memory. */
static const char *full_name(struct reader *r, const char *prefix,
                             const struct pr_member *m)
{
    return *prefix ? pr_arena_printf(r->scope->arena, "%s.%s", prefix, m->key)
                   : m->key;
}

static int from_prony_read_params(struct reader *r, struct pr_config_part *f,
                                  const char *prefix,
                                  const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_origin at = from_prony_origin(r, r->origin, m);
        const char *name = full_name(r, prefix, m);
        int rc;

        if (!name)
            return pr_fail_nomem(r->err);
        if (m->value.kind == PR_MAP && !from_prony_can_be_map(name))
            rc = from_prony_read_params(r, f, name, &m->value);
        else
            rc = pr_config_part_add_param(r->scope, f, name, strlen(name),
                                          &m->value, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_prony_read_variables(struct reader *r, struct pr_config_part *f,
                                     const char *prefix,
                                     const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_origin at = from_prony_origin(r, PR_FROM_VARIABLE, m);
        const char *name = full_name(r, prefix, m);
        int rc;

        if (!name)
            return pr_fail_nomem(r->err);
        if (m->value.kind == PR_MAP)
            rc = from_prony_read_variables(r, f, name, &m->value);
        else
            rc = pr_config_part_add_variable(r->scope, f, name, strlen(name),
                                             &m->value, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_prony_read_extensions(struct reader *r,
                                      struct pr_config_part *f,
                                      const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *v = &list->items[i];
        struct pr_origin at = {PR_FROM_EXTENSION, r->path, v->line, v->col};
        int rc = pr_config_part_add_extension(r->scope, f, v, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int wrong_kind(struct reader *r, const struct pr_member *m,
                      enum pr_kind wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->path, m->value.line, m->value.col,
                      "'%s' must be %s, got %s", m->key, pr_kind_name(wanted),
                      pr_kind_name(m->value.kind));
}

static int from_prony_fail_unknown(struct reader *r, const struct pr_member *m,
                                   const char *const *known)
{
    struct pr_nearest near;

    pr_fail_at(r->err, PR_E_CONF, r->path, m->line, m->col, "unknown key '%s'",
               m->key);
    pr_nearest_init(&near, m->key);
    for (; *known; known++)
        pr_nearest_offer(&near, *known);
    if (near.best)
        return pr_hint(r->err, "did you mean '%s'?", near.best);
    return pr_hint(r->err, "a group of experiments has the keys name, "
                           "parameters, variables and extensions");
}

/* One key of a group, or of the top where it is shared by all groups. */
static int from_prony_read_key(struct reader *r, struct pr_config_part *f,
                               const struct pr_member *m, bool top)
{
    static const char *const in_group[] = {"name", "parameters", "variables",
                                           "extensions", NULL};
    static const char *const at_top[] = {"experiments", "parameters",
                                         "variables", "extensions", NULL};
    bool exts = strcmp(m->key, "extensions") == 0;
    bool params = strcmp(m->key, "parameters") == 0;
    bool vars = strcmp(m->key, "variables") == 0;

    if (!top && strcmp(m->key, "name") == 0) {
        if (m->value.kind != PR_STR)
            return wrong_kind(r, m, PR_STR);
        f->name = m->value.s;
        return PR_OK;
    }
    if (!exts && !params && !vars)
        return from_prony_fail_unknown(r, m, top ? at_top : in_group);
    if (m->value.kind != (exts ? PR_LIST : PR_MAP))
        return wrong_kind(r, m, exts ? PR_LIST : PR_MAP);
    if (params)
        return from_prony_read_params(r, f, "", &m->value);
    return vars ? from_prony_read_variables(r, f, "", &m->value)
                : from_prony_read_extensions(r, f, &m->value);
}

static int from_prony_read_group(struct reader *r, const struct pr_value *root,
                                 const struct pr_value *group,
                                 struct pr_config_part *f)
{
    int rc = PR_OK;

    if (group->kind != PR_MAP)
        return pr_fail_at(r->err, PR_E_CONF, r->path, group->line, group->col,
                          "a group of experiments must be a map, got %s",
                          pr_kind_name(group->kind));
    f->file = r->path;
    for (uint32_t i = 0; i < root->len && !rc; i++)
        if (strcmp(root->members[i].key, "experiments") != 0)
            rc = from_prony_read_key(r, f, &root->members[i], true);
    for (uint32_t i = 0; i < group->len && !rc; i++)
        rc = from_prony_read_key(r, f, &group->members[i], false);
    return rc;
}

static int read_groups(struct reader *r, const struct pr_value *root,
                       const struct pr_value *groups,
                       struct pr_config_part **ret, size_t *ret_count)
{
    struct pr_config_part *f;

    if (groups->kind != PR_LIST || !groups->len)
        return pr_fail_at(r->err, PR_E_CONF, r->path, groups->line, groups->col,
                          "'experiments' must be a list of groups");
    f = PR_ARENA_ARRAY(r->scope->arena, struct pr_config_part, groups->len);
    if (!f)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < groups->len; i++) {
        int rc = from_prony_read_group(r, root, &groups->items[i], &f[i]);
        if (rc)
            return rc;
    }
    *ret = f;
    *ret_count = groups->len;
    return PR_OK;
}

int pr_from_prony(struct pr_plan_scope *s, const struct pr_config_source *src,
                  enum pr_origin_kind origin, struct pr_config_part **ret,
                  size_t *ret_count, struct pr_err *err)
{
    struct reader r = {s, src->path, origin, err};
    const struct pr_value *groups = pr_get(&src->root, "experiments");
    struct pr_config_part *f;
    int rc;

    if (groups)
        return read_groups(&r, &src->root, groups, ret, ret_count);
    f = PR_ARENA_NEW(s->arena, struct pr_config_part);
    if (!f)
        return pr_fail_nomem(err);
    f->file = src->path;
    rc = from_prony_read_params(&r, f, "", &src->root);
    if (rc)
        return rc;
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}
