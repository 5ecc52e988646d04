/*
 * DLIO and MLPerf Storage workloads: sections of keys, perhaps under
 * `workload:` as hydra composes them. Sections keep their names; what has
 * another name here:
 *     framework            emulate.framework, for exp.framework would launch it
 *     data_reader          reader, and it replaces a reader beside it
 * Keys without a value say nothing. Names we do not know are warned of.
 */
#include "plan/source.h"

#include <string.h>

struct reader {
    struct pr_scope *scope;
    const struct pr_source *src;
    enum pr_origin_kind origin;
    struct pr_fragment *out;
    struct pr_err *err;
};

static int set(struct reader *r, const char *name, const struct pr_member *m)
{
    struct pr_origin at = {r->origin, r->src->path, m->line, m->col};

    return pr_fragment_param(r->scope, r->out, name, strlen(name), &m->value,
                             &at, r->err);
}

/* A map is a section below, unless it is the value of a known parameter. */
static bool is_section(const char *name, const struct pr_value *v)
{
    const struct pr_opt *opt = pr_opt_find(name, NULL);

    return v->kind == PR_MAP && !(opt && opt->kind == PR_OPT_ANY);
}

static int read_section(struct reader *r, const char *prefix,
                        const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        const char *name =
            pr_arena_printf(r->scope->arena, "%s.%s", prefix, m->key);
        int rc = PR_OK;

        if (!name)
            return pr_fail_nomem(r->err);
        if (is_section(name, &m->value))
            rc = read_section(r, name, &m->value);
        else if (m->value.kind != PR_NULL)
            rc = set(r, name, m);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static const char *our_name(const char *key)
{
    if (strcmp(key, "framework") == 0)
        return "emulate.framework";
    return strcmp(key, "data_reader") == 0 ? "reader" : key;
}

static int read_top(struct reader *r, const struct pr_value *tree)
{
    bool replaced = pr_get(tree, "data_reader") != NULL;

    for (uint32_t i = 0; i < tree->len; i++) {
        const struct pr_member *m = &tree->members[i];
        const char *name = our_name(m->key);
        int rc = PR_OK;

        if ((replaced && strcmp(m->key, "reader") == 0) ||
            m->value.kind == PR_NULL)
            continue;
        rc = m->value.kind == PR_MAP ? read_section(r, name, &m->value)
                                     : set(r, name, m);
        if (rc)
            return rc;
    }
    return PR_OK;
}

int pr_from_dlio(struct pr_scope *s, const struct pr_source *src,
                 enum pr_origin_kind origin, struct pr_fragment **ret,
                 size_t *ret_count, struct pr_err *err)
{
    static const struct pr_member workload = {
        .key = "exp.workload",
        .key_len = 12,
        .value = {.kind = PR_STR, .len = 7, .s = "emulate"}};
    const struct pr_value *tree = pr_get(&src->root, "workload");
    struct pr_fragment *f = PR_ARENA_NEW(s->arena, struct pr_fragment);
    struct reader r = {s, src, origin, f, err};
    int rc;

    if (!f)
        return pr_fail_nomem(err);
    f->file = src->path;
    f->peer = true;
    rc = set(&r, workload.key, &workload);
    if (!rc)
        rc = read_top(&r, tree && tree->kind == PR_MAP ? tree : &src->root);
    if (rc)
        return rc;
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}
