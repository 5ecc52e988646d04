/*
 * DLIO and MLPerf Storage workloads: sections of keys, perhaps under
 * `workload:` as hydra composes them. Sections and keys keep their names, the
 * older ones of conf/aliases.def get today's; besides,
 *     data_reader          is reader, and replaces a reader beside it
 *     data_loader          is reader, too, and adds to it
 *     workflow.profiling   was the name of a profiler, before it was a truth
 * Keys without a value say nothing. Names we do not know are warned of.
 */
#include "conf/alias.h"
#include "plan/source.h"

#include <string.h>

struct reader {
    struct pr_scope *scope;
    const struct pr_source *src;
    enum pr_origin_kind origin;
    struct pr_fragment *out;
    struct pr_err *err;
};

static int set_value(struct reader *r, const char *name,
                     const struct pr_member *m, const struct pr_value *value)
{
    struct pr_origin at = {r->origin, r->src->path, m->line, m->col};

    return pr_fragment_param(r->scope, r->out, name, strlen(name), value, &at,
                             r->err);
}

/* `workflow: {profiling: iostat}`: the profiler, and that it is wanted. */
static int set_profiling(struct reader *r, const struct pr_member *m)
{
    static const struct pr_opt as_bool = {.kind = PR_OPT_BOOL};
    struct pr_value on = pr_bool(m->value.len && strcmp(m->value.s, "none"));
    struct pr_value b;
    int rc;

    if (pr_opt_cast(&as_bool, &m->value, NULL, &b, NULL) == PR_OK)
        return set_value(r, "workflow.profiling", m, &b);
    rc = set_value(r, "workflow.profiling", m, &on);
    if (!rc && on.b)
        rc = set_value(r, "profiling.profiler", m, &m->value);
    return rc;
}

static int set(struct reader *r, const char *name, const struct pr_member *m)
{
    if (m->value.kind == PR_STR && strcmp(name, "workflow.profiling") == 0)
        return set_profiling(r, m);
    return set_value(r, name, m, &m->value);
}

/* A map is a section below, unless it is the value of a known parameter. */
static bool is_section(const char *name, const struct pr_value *v)
{
    struct pr_alias_found found;
    const struct pr_opt *opt = NULL;

    if (pr_alias_find(name, strlen(name), &found) && !found.below)
        opt = pr_opt_find(found.name, NULL);
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

/* A key beside the sections. */
static int set_top(struct reader *r, const struct pr_member *m)
{
    const struct pr_alias *top = pr_alias_top(m->key);

    return set(r, top ? top->now : m->key, m);
}

static int read_top(struct reader *r, const struct pr_value *tree)
{
    bool replaced = pr_get(tree, "data_reader") != NULL;

    for (uint32_t i = 0; i < tree->len; i++) {
        const struct pr_member *m = &tree->members[i];
        int rc = PR_OK;

        if ((replaced && strcmp(m->key, "reader") == 0) ||
            m->value.kind == PR_NULL)
            continue;
        rc = m->value.kind == PR_MAP ? read_section(r, m->key, &m->value)
                                     : set_top(r, m);
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
    f->peer = f->dlio = true;
    rc = set(&r, workload.key, &workload);
    if (!rc)
        rc = read_top(&r, tree && tree->kind == PR_MAP ? tree : &src->root);
    if (rc)
        return rc;
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}
