/* Plans for readers: JSON, what a config comes to, and --explain. */
#include "plan/plan_write.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "conf/option/alias.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- the story of one parameter */

enum { MAX_VALUES = 20 };

static void put_origin(struct pr_buf *out, const struct pr_setting *set)
{
    char where[256];

    pr_buf_str(out, pr_origin_kind_text(set->origin.kind));
    if (set->origin.name && *set->origin.name)
        pr_buf_printf(out, " %s", pr_origin_text(&set->origin, where));
}

/* "set by … to …" and, below it, what that replaced. */
static void put_story(struct pr_buf *out, const struct pr_setting *set)
{
    const char *verb = "from";

    for (; set; set = set->under) {
        pr_buf_printf(out, "  %s ", verb);
        put_origin(out, set);
        pr_buf_str(out, ": ");
        pr_json_write(out, &set->value);
        pr_buf_char(out, '\n');
        verb = "over";
    }
}

static int explain_fail_unknown(struct pr_plan *p, const char *name,
                                struct pr_err *err)
{
    struct pr_nearest near;

    pr_fail(err, PR_E_USAGE, "--explain", "no experiment has a parameter '%s'",
            name);
    pr_nearest_init(&near, name);
    for (uint32_t i = 0; i < pr_names_count(p->scope.names); i++)
        pr_nearest_offer(&near, pr_names_text(p->scope.names, i));
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "'prony plan --format json --full' shows "
                                    "all of them");
}

/* One experiment's value, unless it and its story are as before. */
static bool explain_write_value(struct pr_buf *out,
                                const struct pr_experiment *e, uint32_t id,
                                const char *name, uint64_t *seen,
                                uint64_t *last)
{
    const struct pr_setting *set = pr_params_get(e->params, id);
    const struct pr_value *v = set ? pr_expanded_value(e->values, id) : NULL;

    if (!v)
        return false;
    if (++*seen > MAX_VALUES)
        return true;
    pr_buf_printf(out, "%s: %s = ", e->id, name);
    pr_json_write(out, v);
    pr_buf_char(out, '\n');
    if (set->hash != *last)
        put_story(out, set);
    *last = set->hash; /* the setting itself may be gone by the next */
    return true;
}

int pr_plan_explain(struct pr_plan *p, const char *name, struct pr_buf *out,
                    struct pr_err *err)
{
    uint32_t id = pr_names_find(p->scope.names, name, strlen(name));
    struct pr_alias_found found;
    uint64_t last = 0;
    struct pr_walk *w;
    struct pr_experiment e;
    uint64_t seen = 0;
    int rc;

    /* An older name, or a key of a map. */
    if (pr_alias_find(name, strlen(name), &found) &&
        (found.row || found.below)) {
        id = pr_names_find(p->scope.names, found.name, strlen(found.name));
        name = found.name;
    }
    if (id == PR_NO_NAME)
        return explain_fail_unknown(p, name, err);
    w = pr_walk_new(p);
    if (!w)
        return pr_fail_nomem(err);
    while ((rc = pr_walk_next(w, &e, err)) == 1)
        explain_write_value(out, &e, id, name, &seen, &last);
    pr_walk_free(w);
    if (rc)
        return rc;
    if (!seen)
        return explain_fail_unknown(p, name, err);
    if (seen > MAX_VALUES)
        pr_buf_printf(out, "… and %llu more experiments\n",
                      (unsigned long long)(seen - MAX_VALUES));
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

/* ---- JSON */

enum { FLUSH_AT = 1 << 16 };

struct writer {
    struct pr_buf buf;
    pr_plan_sink *sink;
    void *ctx;
};

static int plan_write_flush(struct writer *w, size_t at_least,
                            struct pr_err *err)
{
    int rc;

    if (!pr_buf_ok(&w->buf))
        return pr_fail_nomem(err);
    if (w->buf.len < at_least || !w->buf.len)
        return PR_OK;
    rc = w->sink(w->ctx, w->buf.data, w->buf.len, err);
    pr_buf_clear(&w->buf);
    return rc;
}

static int plan_write_default(struct writer *w, struct pr_arena *a,
                              const char *section, const struct pr_opt *opt,
                              bool *first, struct pr_err *err)
{
    struct pr_value v;
    char name[128];
    int rc;

    snprintf(name, sizeof name, "%s.%s", section, opt->name);
    v = pr_plan_default(name, opt);
    if (opt->flags & PR_OPT_PREFIX || pr_is_dynamic(&v))
        return PR_OK;
    rc = pr_opt_cast(opt, &v, a, &v, err);
    if (rc)
        return rc;
    pr_buf_str(&w->buf, *first ? "" : ", ");
    pr_json_write_string(&w->buf, name, strlen(name));
    pr_buf_str(&w->buf, ": ");
    pr_json_write(&w->buf, &v);
    *first = false;
    return PR_OK;
}

static int put_defaults(struct writer *w, const struct pr_plan *p,
                        struct pr_err *err)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    bool first = true;
    int rc = PR_OK;

    pr_buf_str(&w->buf, "\"defaults\": {");
    for (; *s && !p->opts.no_defaults; s++)
        for (size_t i = 0; i < (*s)->count && !rc; i++)
            rc = plan_write_default(w, p->scope.arena, (*s)->name,
                                    &(*s)->opts[i], &first, err);
    pr_buf_char(&w->buf, '}');
    return rc;
}

/* What the experiments were meant to differ in: variables, and what cases of
 * extensions set. Reports make columns of them. */
static void put_varied(struct writer *w, const struct pr_plan *p)
{
    const char *const *names = pr_plan_variable_names(p, p->scope.arena);

    pr_buf_str(&w->buf, "\"variables\": [");
    for (size_t i = 0; names && names[i]; i++) {
        pr_buf_str(&w->buf, i ? ", " : "");
        pr_json_write_string(&w->buf, names[i], strlen(names[i]));
    }
    w->buf.failed |= !names;
    pr_buf_str(&w->buf, "], ");
}

static bool plan_write_is_stored(const struct pr_plan *p,
                                 const struct pr_setting *set, bool full)
{
    return full || set->origin.kind != PR_FROM_DEFAULT || set->dynamic ||
           set->name == p->id_name;
}

bool pr_experiment_json(const struct pr_plan *p, const struct pr_experiment *e,
                        bool full, struct pr_buf *out)
{
    bool first = true;

    pr_buf_char(out, '{');
    for (uint32_t i = 0; i < e->params->count; i++) {
        uint32_t name = e->params->order[i];
        const char *json;
        size_t len;

        if (!plan_write_is_stored(p, e->params->slot[name], full))
            continue;
        json = pr_expanded_json(e->values, name, &len);
        if (!json)
            return false;
        if (!first)
            pr_buf_add(out, ", ", 2);
        pr_buf_add(out, json, len);
        first = false;
    }
    pr_buf_char(out, '}');
    return pr_buf_ok(out);
}

static int put_experiment(struct writer *w, const struct pr_plan *p,
                          const struct pr_experiment *e, bool full, bool first,
                          struct pr_err *err)
{
    pr_buf_printf(&w->buf, "%s{\"id\": \"%s\", ", first ? "\n" : ",\n", e->id);
    if (p->opts.repeat > 1)
        pr_buf_printf(&w->buf, "\"repeat\": %u, ", e->repeat);
    pr_buf_str(&w->buf, "\"params\": ");
    if (!pr_experiment_json(p, e, full, &w->buf))
        return pr_fail_nomem(err);
    pr_buf_char(&w->buf, '}');
    return plan_write_flush(w, FLUSH_AT, err);
}

static int put_experiments(struct writer *w, struct pr_plan *p, bool full,
                           uint64_t *ret_count, struct pr_err *err)
{
    struct pr_walk *walk = pr_walk_new(p);
    struct pr_experiment e;
    uint64_t n = 0;
    int rc;

    if (!walk)
        return pr_fail_nomem(err);
    while ((rc = pr_walk_next(walk, &e, err)) == 1) {
        rc = put_experiment(w, p, &e, full, n == 0, err);
        if (rc)
            break;
        n++;
    }
    pr_walk_free(walk);
    if (rc == PR_OK && ret_count)
        *ret_count = n;
    return rc;
}

int pr_plan_write(struct pr_plan *p, bool full, pr_plan_sink *sink, void *ctx,
                  uint64_t *ret_count, struct pr_err *err)
{
    struct writer w = {PR_BUF_INIT(SIZE_MAX / 2), sink, ctx};
    uint64_t count;
    int rc = p->built
                 ? pr_plan_count(p, &count, err)
                 : pr_fail(err, PR_E_USAGE, "", "the plan is not built yet");

    if (!rc) {
        pr_buf_printf(&w.buf,
                      "{\"schema\": \"prony.plan/1\", \"count\": %llu, ",
                      (unsigned long long)count);
        put_varied(&w, p);
        rc = put_defaults(&w, p, err);
    }
    if (!rc) {
        pr_buf_str(&w.buf, ", \"experiments\": [");
        rc = put_experiments(&w, p, full, ret_count, err);
    }
    if (!rc) {
        pr_buf_str(&w.buf, "\n]}\n");
        rc = plan_write_flush(&w, 0, err);
    }
    pr_buf_free(&w.buf);
    return rc;
}

static int to_file(void *ctx, const char *data, size_t len, struct pr_err *err)
{
    return pr_file_append(ctx, data, len, err);
}

int pr_plan_write_file(struct pr_plan *p, const char *path, bool full,
                       bool later, uint64_t *ret_count, struct pr_err *err)
{
    struct pr_new_file f;
    int rc = pr_file_create(path, &f, err);

    f.later = later;
    if (!rc)
        rc = pr_plan_write(p, full, to_file, &f, ret_count, err);
    if (!rc)
        return pr_file_commit(&f, err);
    pr_file_discard(&f);
    return rc;
}

/* ---- what the sources come to */

static void plan_write_settings(struct pr_buf *out, const struct pr_plan *p,
                                const struct pr_plan_group *g)
{
    bool first = true;

    for (uint32_t i = 0; i < g->params.count; i++) {
        const struct pr_setting *set = g->params.slot[g->params.order[i]];
        const char *name = pr_names_text(p->scope.names, set->name);

        /* What the command line sets is not config. */
        while (set && set->origin.kind > PR_FROM_CONFIG)
            set = set->under;
        if (!set)
            continue;
        pr_buf_str(out, first ? "\n        " : ",\n        ");
        pr_json_write_string(out, name, strlen(name));
        pr_buf_str(out, ": ");
        pr_json_write_indented(out, &set->value, 4, 2);
        first = false;
    }
}

static void put_vars(struct pr_buf *out, const struct pr_plan *p,
                     const struct pr_plan_group *g)
{
    for (size_t i = 0; i < g->var_count; i++) {
        const char *name = pr_names_text(p->scope.names, g->vars[i].name);

        pr_buf_str(out, i ? ",\n        " : "\n        ");
        pr_json_write_string(out, name, strlen(name));
        pr_buf_str(out, ": [");
        for (size_t v = 0; v < g->vars[i].values.count; v++) {
            pr_buf_str(out, v ? ", " : "");
            pr_json_write(out, &g->vars[i].values.items[v]->value);
        }
        pr_buf_char(out, ']');
    }
}

static void plan_write_name(struct pr_buf *out, const char *name,
                            const char *below)
{
    PR_AUTO_BUF struct pr_buf full = PR_BUF_INIT(4096);

    pr_buf_printf(&full, below ? "%s.%s" : "%s", name, below);
    if (pr_buf_ok(&full))
        pr_json_write_string(out, full.data, full.len);
    else
        out->failed = true;
}

static void plan_write_list(struct pr_buf *out, const struct pr_plan *p,
                            const struct pr_settings *list)
{
    pr_buf_char(out, '{');
    for (size_t i = 0; i < list->count; i++) {
        const char *name = pr_names_text(p->scope.names, list->items[i]->name);
        pr_buf_str(out, i ? ", " : "");
        plan_write_name(out, name, list->items[i]->below);
        pr_buf_str(out, ": ");
        pr_json_write(out, &list->items[i]->value);
    }
    pr_buf_char(out, '}');
}

static void put_ext(struct pr_buf *out, const struct pr_plan *p,
                    const struct pr_extension *e)
{
    pr_buf_char(out, '{');
    if (e->condition) {
        pr_buf_str(out, "\"condition\": ");
        pr_json_write(out, e->condition);
        pr_buf_str(out, ", ");
    }
    pr_buf_str(out, "\"parameters\": ");
    plan_write_list(out, p, &e->params);
    for (size_t c = 0; c < e->case_count; c++) {
        pr_buf_str(out, c ? ", " : ", \"cases\": [");
        plan_write_list(out, p, &e->cases[c]);
    }
    pr_buf_str(out, e->case_count ? "]}" : "}");
}

void pr_plan_print_config(const struct pr_plan *p, struct pr_buf *out)
{
    const struct pr_plan_group *g = &p->groups[0];

    pr_buf_str(out, "{\n    \"parameters\": {");
    plan_write_settings(out, p, g);
    pr_buf_str(out, "\n    },\n    \"variables\": {");
    put_vars(out, p, g);
    pr_buf_str(out, "\n    },\n    \"extensions\": [");
    for (size_t i = 0; i < g->ext_count; i++) {
        pr_buf_str(out, i ? ",\n        " : "\n        ");
        put_ext(out, p, &g->exts[i]);
    }
    pr_buf_str(out, "\n    ]\n}\n");
}
