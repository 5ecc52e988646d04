/*
 * DLIO and MLPerf Storage workloads: sections of keys, perhaps under
 * `workload:` as hydra composes them. Sections and keys keep their names, the
 * older ones of conf/option/aliases.def get today's; besides,
 *     data_reader          is reader, and replaces a reader beside it
 *     data_loader          is reader, too, and adds to it
 *     workflow.profiling   was the name of a profiler, before it was a truth
 * Keys without a value say nothing. Names we do not know are warned of. Files
 * for the engine of MLPerf Storage v3 get dataset.payload=raw.
 */
#include "conf/option/alias.h"
#include "plan/source.h"

#include <string.h>

struct reader {
    struct pr_plan_scope *scope;
    const struct pr_config_source *src;
    enum pr_origin_kind origin;
    struct pr_config_part *out;
    struct pr_err *err;
};

static int from_dlio_set_value(struct reader *r, const char *name,
                               const struct pr_member *m,
                               const struct pr_value *value)
{
    struct pr_origin at = {r->origin, r->src->path, m->line, m->col};

    return pr_config_part_add_param(r->scope, r->out, name, strlen(name), value,
                                    &at, r->err);
}

/* `workflow: {profiling: iostat}`: the profiler, and that it is wanted. */
static int set_profiling(struct reader *r, const struct pr_member *m)
{
    static const struct pr_opt as_bool = {.kind = PR_OPT_BOOL};
    struct pr_value on = pr_bool(m->value.len && strcmp(m->value.s, "none"));
    struct pr_value b;
    int rc;

    if (pr_opt_cast(&as_bool, &m->value, NULL, &b, NULL) == PR_OK)
        return from_dlio_set_value(r, "workflow.profiling", m, &b);
    rc = from_dlio_set_value(r, "workflow.profiling", m, &on);
    if (!rc && on.b)
        rc = from_dlio_set_value(r, "profiling.profiler", m, &m->value);
    return rc;
}

static int from_dlio_set_param(struct reader *r, const char *name,
                               const struct pr_member *m)
{
    if (m->value.kind == PR_STR && strcmp(name, "workflow.profiling") == 0)
        return set_profiling(r, m);
    return from_dlio_set_value(r, name, m, &m->value);
}

/* A map is a section below, unless it is the value of a known parameter. */
static bool from_dlio_is_section(const char *name, const struct pr_value *v)
{
    struct pr_alias_found found;
    const struct pr_opt *opt = NULL;

    if (pr_alias_find(name, strlen(name), &found) && !found.below)
        opt = pr_opt_find(found.name, NULL);
    return v->kind == PR_MAP && !(opt && opt->kind == PR_OPT_ANY);
}

static int from_dlio_read_section(struct reader *r, const char *prefix,
                                  const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        const char *name =
            pr_arena_printf(r->scope->arena, "%s.%s", prefix, m->key);
        int rc = PR_OK;

        if (!name)
            return pr_fail_nomem(r->err);
        if (from_dlio_is_section(name, &m->value))
            rc = from_dlio_read_section(r, name, &m->value);
        else if (m->value.kind != PR_NULL)
            rc = from_dlio_set_param(r, name, m);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* ---- the engine of MLPerf Storage v3 */

static const struct pr_value *from_dlio_find_key(const struct pr_value *tree,
                                                 const char *section,
                                                 const char *key)
{
    const struct pr_value *map = pr_get(tree, section);

    return map && map->kind == PR_MAP ? pr_get(map, key) : NULL;
}

static bool from_dlio_is_text(const struct pr_value *v, const char *text)
{
    return v && v->kind == PR_STR && strcmp(v->s, text) == 0;
}

/* Its only image workload, or keys that only its engine has. */
static bool is_of_v3(const struct pr_value *tree)
{
    static const char *const keys[][2] = {
        {"storage", "storage_library"},
        {"dataset", "skip_listing"},
        {"dataset", "listing_validation_interval"},
        {"dataset", "data_gen_method"},
        {"dataset", "post_generation_settle_seconds"},
        {"reader", "write_threads"},
    };
    const struct pr_value *options =
        from_dlio_find_key(tree, "storage", "storage_options");

    if (from_dlio_is_text(from_dlio_find_key(tree, "model", "name"),
                          "retinanet") ||
        from_dlio_is_text(from_dlio_find_key(tree, "storage", "storage_type"),
                          "direct_fs") ||
        (options && options->kind == PR_MAP &&
         (pr_get(options, "storage_library") || pr_get(options, "uri_scheme"))))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (from_dlio_find_key(tree, keys[i][0], keys[i][1]))
            return true;
    return false;
}

/* That engine writes raw bytes where older ones write images, unless DALI is
 * to decode them, and never decodes. */
static int set_payload(struct reader *r, const struct pr_value *tree)
{
    const struct pr_value *set = pr_get(tree, "dataset");
    const struct pr_value *format =
        from_dlio_find_key(tree, "dataset", "format");
    struct pr_origin at = {r->origin, r->src->path, 0, 0};
    struct pr_value raw = pr_str("raw");
    char where[256];

    if ((!from_dlio_is_text(format, "jpeg") &&
         !from_dlio_is_text(format, "png")) ||
        pr_get(set, "payload") || !is_of_v3(tree) ||
        from_dlio_is_text(from_dlio_find_key(tree, "reader", "data_loader"),
                          "native_dali"))
        return PR_OK;
    for (uint32_t i = 0; i < set->len; i++)
        if (strcmp(set->members[i].key, "format") == 0) {
            at.line = set->members[i].line;
            at.col = set->members[i].col;
        }
    if (!pr_warn(&r->scope->warnings, pr_origin_text(&at, where),
                 "dataset.payload=pixels makes images as DLIO 2.x does, file "
                 "makes images of the size that is stated",
                 "a workload of MLPerf Storage v3: unless it is set, "
                 "dataset.payload is raw, files of bytes that are not "
                 "decoded"))
        return pr_fail_nomem(r->err);
    return pr_config_part_add_param(r->scope, r->out, "dataset.payload",
                                    strlen("dataset.payload"), &raw, &at,
                                    r->err);
}

/* A key beside the sections. */
static int set_top(struct reader *r, const struct pr_member *m)
{
    const struct pr_alias *top = pr_alias_top(m->key);

    return from_dlio_set_param(r, top ? top->now : m->key, m);
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
        rc = m->value.kind == PR_MAP
                 ? from_dlio_read_section(r, m->key, &m->value)
                 : set_top(r, m);
        if (rc)
            return rc;
    }
    return set_payload(r, tree);
}

int pr_from_dlio(struct pr_plan_scope *s, const struct pr_config_source *src,
                 enum pr_origin_kind origin, struct pr_config_part **ret,
                 size_t *ret_count, struct pr_err *err)
{
    static const struct pr_member workload = {
        .key = "exp.workload",
        .key_len = 12,
        .value = {.kind = PR_STR, .len = 7, .s = "emulate"}};
    const struct pr_value *tree = pr_get(&src->root, "workload");
    struct pr_config_part *f = PR_ARENA_NEW(s->arena, struct pr_config_part);
    struct reader r = {s, src, origin, f, err};
    int rc;

    if (!f)
        return pr_fail_nomem(err);
    f->file = src->path;
    f->peer = f->dlio = true;
    rc = from_dlio_set_param(&r, workload.key, &workload);
    if (!rc)
        rc = read_top(&r, tree && tree->kind == PR_MAP ? tree : &src->root);
    if (rc)
        return rc;
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}
