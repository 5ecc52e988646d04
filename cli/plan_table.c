/* A plan as a table for people. */
#include "cli/targets.h"
#include "present/table/table.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAMES = 10 };

static void plan_table_set_param(struct pr_table *t, size_t col,
                                 struct pr_plan *p,
                                 const struct pr_experiment *e,
                                 const char *name)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    uint32_t id = pr_names_find(pr_plan_names(p), name, strlen(name));
    const struct pr_value *v =
        id == PR_NO_NAME ? NULL : pr_expanded_value(e->values, id);

    if (!v)
        return;
    pr_value_write_joined(&text, v);
    if (strcmp(name, "exp.command") == 0) { /* and what stands after -- */
        id = pr_names_find(pr_plan_names(p), "exp.args", 8);
        v = id == PR_NO_NAME ? NULL : pr_expanded_value(e->values, id);
        pr_buf_str(&text, v && v->len ? " " : "");
        if (v)
            pr_value_write_joined(&text, v);
    }
    pr_table_set_strn(t, col, text.data ? text.data : "", text.len);
}

static int plan_table_fill(struct pr_table *t, struct pr_plan *p,
                           const char *const *names, size_t count,
                           uint64_t max_rows, uint64_t *ret_more,
                           struct pr_err *err)
{
    struct pr_walk *w = pr_walk_new(p);
    struct pr_experiment e;
    int rc;

    if (!w)
        return pr_fail_nomem(err);
    *ret_more = 0;
    while ((rc = pr_walk_next(w, &e, err)) == 1) {
        if (pr_table_rows(t) == max_rows) {
            ++*ret_more;
            continue;
        }
        pr_table_row(t);
        pr_table_set_str(t, 0, e.id);
        for (size_t i = 0; i < count; i++)
            plan_table_set_param(t, 1 + i, p, &e, names[i]);
    }
    pr_walk_free(w);
    return rc;
}

/* Whether the first experiment, and so most likely all, has a value there. */
static bool plan_table_is_set(struct pr_plan *p, const char *name)
{
    uint32_t id = pr_names_find(pr_plan_names(p), name, strlen(name));
    struct pr_walk *w = pr_walk_new(p);
    const struct pr_value *v = NULL;
    struct pr_experiment e;
    bool found;

    if (w && id != PR_NO_NAME && pr_walk_next(w, &e, NULL) == 1)
        v = pr_expanded_value(e.values, id);
    found = v && v->len;
    pr_walk_free(w);
    return found;
}

/* Whether somebody gave it a value there. */
static bool plan_table_is_given(struct pr_plan *p, const char *name)
{
    uint32_t id = pr_names_find(pr_plan_names(p), name, strlen(name));
    struct pr_walk *w = pr_walk_new(p);
    const struct pr_setting *set = NULL;
    struct pr_experiment e;
    bool found;

    if (w && id != PR_NO_NAME && pr_walk_next(w, &e, NULL) == 1)
        set = pr_params_get(e.params, id);
    found = set && set->origin.kind != PR_FROM_DEFAULT;
    pr_walk_free(w);
    return found;
}

/* Whether a network is computed, rather than a command run. */
static bool plan_has_network(struct pr_plan *p)
{
    return plan_table_is_given(p, "exp.framework") &&
           plan_table_is_set(p, "exp.framework") &&
           plan_table_is_set(p, "exp.model") &&
           !plan_table_is_set(p, "exp.command") &&
           !plan_table_is_set(p, "exp.workload");
}

/* Unless it is there: a variable. */
static void plan_table_add_name(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return;
    names[(*n)++] = name;
}

static int plan_table_write(struct cli *c, struct pr_plan *p, uint64_t max_rows,
                            struct pr_buf *out, struct pr_err *err)
{
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_table_column cols[MAX_NAMES + 1] = {{.title = "id"}};
    const char *const *varied = pr_plan_variable_names(p, c->arena);
    const char *names[MAX_NAMES];
    struct pr_table *t;
    uint64_t more = 0;
    size_t n = 0;
    int rc;

    if (!varied)
        return pr_fail_nomem(err);
    if (pr_plan_groups(p) > 1)
        names[n++] = "exp.name";
    for (; n < MAX_NAMES - 1 && *varied; varied++)
        names[n++] = *varied;
    if (plan_has_network(p))
        plan_table_add_name(names, &n, "exp.model");
    else if (plan_table_is_set(p, "suite.experiment"))
        plan_table_add_name(names, &n, "suite.experiment");
    else if (plan_table_is_set(p, "exp.command") ||
             !plan_table_is_set(p, "exp.workload"))
        names[n++] = "exp.command";
    else if (plan_table_is_given(p, "model.name"))
        names[n++] = "model.name";
    else
        names[n++] = "dataset.format";
    for (size_t i = 0; i < n; i++)
        cols[1 + i] = (struct pr_table_column){.title = names[i]};
    t = pr_table_new(cols, n + 1);
    if (!t)
        return pr_fail_nomem(err);
    rc = plan_table_fill(t, p, names, n, max_rows, &more, err);
    if (!rc && pr_table_rows(t))
        rc = pr_table_print(t, PR_TABLE_TEXT, &style, out, err);
    if (!rc && more)
        pr_buf_printf(out, "… and %llu more\n", (unsigned long long)more);
    pr_table_free(t);
    return rc;
}

/* The document ends with "}\n", which is kept back so that members can be
 * added to it. */
struct document {
    char end[2];
    size_t kept;
};

static int plan_json_to_stdout(void *ctx, const char *data, size_t len,
                               struct pr_err *err)
{
    struct document *d = ctx;
    int rc = answer_print(d->end, d->kept, err);

    d->kept = len < sizeof d->end ? len : sizeof d->end;
    memcpy(d->end, data + len - d->kept, d->kept);
    return rc ? rc : answer_print(data, len - d->kept, err);
}

static int show_checkpoints(const struct pr_buf *list, struct pr_err *err)
{
    int rc =
        list->len ? answer_print(", \"checkpoints\": [\n", 19, err) : PR_OK;

    if (!rc)
        rc = answer_print_buf(list, err);
    return !rc && list->len ? answer_print("\n]", 2, err) : rc;
}

/* What is wrong with checkpoints is found before anything is answered. */
static int plan_print_json(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf list = PR_BUF_INIT(SIZE_MAX / 2);
    struct document d = {.kept = 0};
    int rc = plan_checkpoint_json(p, &list, err);

    if (!rc)
        rc = pr_plan_write(p, arg_on(c, A_FULL), plan_json_to_stdout, &d, NULL,
                           err);
    if (!rc)
        rc = show_checkpoints(&list, err);
    if (!rc)
        rc = plan_mlperf_json(c, p, err);
    return rc ? rc : answer_print(d.end, d.kept, err);
}

int plan_show(struct cli *c, struct pr_plan *p, bool json, uint64_t max_rows,
              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct pr_plan_cost cost;
    int rc;

    if (json)
        return plan_print_json(c, p, err);
    rc = plan_table_write(c, p, max_rows, &text, err);
    if (!rc)
        rc = pr_plan_cost(p, &cost, err);
    if (!rc)
        rc = plan_checkpoint_text(c, p, &text, err);
    if (rc)
        return rc;
    if (text.len)
        pr_buf_char(&text, '\n');
    if (plan_has_network(p))
        rc = plan_model_text(p, &text, err);
    if (rc)
        return rc;
    plan_cost_text(&cost, &text);
    rc = plan_mlperf_text(c, p, &text, err);
    return rc ? rc : answer_print_buf(&text, err);
}
