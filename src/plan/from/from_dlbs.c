/*
 * DLBS configs: {"parameters": …, "variables": …, "extensions": …}. A
 * parameter is a plain value or a map with val, type, desc, val_domain and
 * val_regexp. Files of others are read leniently: what is unknown is warned
 * of and left out.
 */
#include "plan/source.h"

#include <string.h>

static int from_dlbs_warn_unknown(struct pr_plan_scope *s,
                                  const struct pr_config_source *src,
                                  const struct pr_member *m, const char *what,
                                  const char *known, struct pr_err *err)
{
    const char *where =
        pr_arena_printf(s->arena, "%s:%u:%u", src->path, m->line, m->col);

    if (!where || !pr_warn(&s->warnings, where, known,
                           "unknown key '%s' %s, ignored", m->key, what))
        return pr_fail_nomem(err);
    return PR_OK;
}

static int declare_regexp(struct pr_plan_scope *s,
                          const struct pr_config_source *src,
                          struct pr_decl *decl, const struct pr_value *v,
                          struct pr_err *err)
{
    struct pr_regex *re;
    int rc;

    if (v->kind != PR_STR)
        return pr_fail_at(err, PR_E_CONF, src->path, v->line, v->col,
                          "val_regexp must be text");
    rc = pr_regex_new(v->s, v->len, 0, &re, err);
    if (rc == PR_E_CONF && err)
        return pr_fail_at(err, rc, src->path, v->line, v->col, "val_regexp: %s",
                          err->msg);
    if (rc)
        return rc;
    if (!pr_plan_scope_keep_regex(s, re)) {
        pr_regex_free(re);
        return pr_fail_nomem(err);
    }
    decl->regexp = re;
    decl->regexp_text = v->s;
    return PR_OK;
}

static int declare_one(struct pr_plan_scope *s,
                       const struct pr_config_source *src, struct pr_decl *decl,
                       const struct pr_member *m, struct pr_err *err)
{
    const struct pr_value *v = &m->value;

    if (strcmp(m->key, "val") == 0 || strcmp(m->key, "desc") == 0)
        return PR_OK;
    if (strcmp(m->key, "type") == 0) {
        enum pr_decl_type type =
            v->kind == PR_STR ? pr_decl_find_type(v->s) : PR_DECL_NONE;
        if (type == PR_DECL_NONE)
            return pr_fail_at(err, PR_E_CONF, src->path, v->line, v->col,
                              "type must be one of str, int, float, bool");
        decl->type = type;
        return PR_OK;
    }
    if (strcmp(m->key, "val_domain") == 0) {
        if (v->kind != PR_LIST)
            return pr_fail_at(err, PR_E_CONF, src->path, v->line, v->col,
                              "val_domain must be a list of values");
        decl->domain = v;
        return PR_OK;
    }
    if (strcmp(m->key, "val_regexp") == 0)
        return declare_regexp(s, src, decl, v, err);
    return from_dlbs_warn_unknown(
        s, src, m, "in a parameter",
        "a parameter has the keys val, type, desc, val_domain "
        "and val_regexp",
        err);
}

/* A plain value declares its own type, as in DLBS. */
static void declare_plain(struct pr_decl *decl, const struct pr_value *v)
{
    static const enum pr_decl_type types[] = {
        [PR_BOOL] = PR_DECL_BOOL,   [PR_INT] = PR_DECL_INT,
        [PR_FLOAT] = PR_DECL_FLOAT, [PR_STR] = PR_DECL_STR,
        [PR_LIST] = PR_DECL_STR,
    };

    decl->type = types[v->kind];
}

static int from_dlbs_declare_param(struct pr_plan_scope *s,
                                   const struct pr_config_source *src,
                                   const struct pr_member *m,
                                   const struct pr_value **ret_val,
                                   struct pr_err *err)
{
    uint32_t name = pr_names_add(s->names, m->key, m->key_len);
    struct pr_decl *decl, later = {0};

    if (name == PR_NO_NAME || !(decl = pr_plan_scope_decl(s, name)))
        return pr_fail_nomem(err);
    /* The first declaration stands, a later one is read for its value. */
    if (decl->declared)
        decl = &later;
    decl->declared = true;
    *ret_val = &m->value;
    if (m->value.kind == PR_MAP) {
        *ret_val = pr_get(&m->value, "val");
        if (!*ret_val)
            return pr_fail_at(err, PR_E_CONF, src->path, m->value.line,
                              m->value.col, "parameter '%s' has no 'val'",
                              m->key);
        for (uint32_t i = 0; i < m->value.len; i++) {
            int rc = declare_one(s, src, decl, &m->value.members[i], err);
            if (rc)
                return rc;
        }
    }
    if ((*ret_val)->kind == PR_NULL || (*ret_val)->kind == PR_MAP)
        return pr_fail_at(err, PR_E_CONF, src->path, (*ret_val)->line,
                          (*ret_val)->col,
                          "parameter '%s' must be text, a number, true or "
                          "false, or a list, got %s",
                          m->key, pr_kind_name((*ret_val)->kind));
    if (m->value.kind != PR_MAP)
        declare_plain(decl, *ret_val);
    return PR_OK;
}

static int from_dlbs_read_params(struct pr_plan_scope *s,
                                 const struct pr_config_source *src,
                                 struct pr_config_part *f,
                                 const struct pr_value *params,
                                 struct pr_origin at, struct pr_err *err)
{
    for (uint32_t i = 0; i < params->len; i++) {
        const struct pr_member *m = &params->members[i];
        const struct pr_value *value = NULL;
        int rc = from_dlbs_declare_param(s, src, m, &value, err);

        if (rc)
            return rc;
        at.line = m->line;
        at.col = m->col;
        rc =
            pr_config_part_add_param(s, f, m->key, m->key_len, value, &at, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_dlbs_read_variables(struct pr_plan_scope *s,
                                    struct pr_config_part *f,
                                    const struct pr_value *vars,
                                    struct pr_origin at, struct pr_err *err)
{
    for (uint32_t i = 0; i < vars->len; i++) {
        const struct pr_member *m = &vars->members[i];
        int rc;

        at.line = m->line;
        at.col = m->col;
        rc = pr_config_part_add_variable(s, f, m->key, m->key_len, &m->value,
                                         &at, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_dlbs_read_extensions(struct pr_plan_scope *s,
                                     struct pr_config_part *f,
                                     const struct pr_value *exts,
                                     struct pr_origin at, struct pr_err *err)
{
    for (uint32_t i = 0; i < exts->len; i++) {
        int rc;

        at.line = exts->items[i].line;
        at.col = exts->items[i].col;
        rc = pr_config_part_add_extension(s, f, &exts->items[i], &at, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_dlbs_read_root(struct pr_plan_scope *s,
                               const struct pr_config_source *src,
                               struct pr_config_part *f,
                               const struct pr_member *m,
                               enum pr_origin_kind origin, struct pr_err *err)
{
    bool params = strcmp(m->key, "parameters") == 0;
    bool vars = strcmp(m->key, "variables") == 0;
    bool exts = strcmp(m->key, "extensions") == 0;
    enum pr_kind wanted = exts ? PR_LIST : PR_MAP;
    struct pr_origin at = {.kind = origin, .name = src->path};

    if (!params && !vars && !exts)
        return from_dlbs_warn_unknown(
            s, src, m, "at the top",
            "a DLBS config has the keys parameters, variables "
            "and extensions",
            err);
    if (m->value.kind != wanted)
        return pr_fail_at(err, PR_E_CONF, src->path, m->value.line,
                          m->value.col, "'%s' must be %s, got %s", m->key,
                          pr_kind_name(wanted), pr_kind_name(m->value.kind));
    if (params)
        return from_dlbs_read_params(s, src, f, &m->value, at, err);
    at.kind = vars ? PR_FROM_VARIABLE : PR_FROM_EXTENSION;
    return vars ? from_dlbs_read_variables(s, f, &m->value, at, err)
                : from_dlbs_read_extensions(s, f, &m->value, at, err);
}

int pr_from_dlbs(struct pr_plan_scope *s, const struct pr_config_source *src,
                 enum pr_origin_kind origin, struct pr_config_part **ret,
                 size_t *ret_count, struct pr_err *err)
{
    struct pr_config_part *f = PR_ARENA_NEW(s->arena, struct pr_config_part);

    if (!f)
        return pr_fail_nomem(err);
    f->file = src->path;
    f->peer = true;
    for (uint32_t i = 0; i < src->root.len; i++) {
        int rc =
            from_dlbs_read_root(s, src, f, &src->root.members[i], origin, err);
        if (rc)
            return rc;
    }
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}
