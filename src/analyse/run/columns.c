/* Finding the columns of a run, in one pass over its experiments. */
#include "analyse/run/columns.h"

#include "analyse/run/rundata.h"
#include "base/names.h"
#include "record/result.h"

#include <string.h>

struct seen {
    struct pr_value first;
    uint64_t times;
    bool varies;
};

struct finder {
    struct pr_arena *arena; /* for what is kept */
    struct pr_names *names;
    struct seen *params; /* by name */
    size_t param_cap;
    uint64_t rows;
};

/* Not worth a column: they differ by their nature. */
static bool is_noise(const char *name)
{
    static const char *const names[] = {"exp.id", "exp.log_file", "exp.status",
                                        "exp.status_msg"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int run_columns_read_param(struct finder *f, const struct pr_member *m,
                                  struct pr_err *err)
{
    uint32_t name = pr_names_add(f->names, m->key, m->key_len);
    struct seen *params, *s;

    if (name == PR_NO_NAME)
        return pr_fail_nomem(err);
    while (name >= f->param_cap) {
        size_t cap = f->param_cap;
        params = pr_arena_grow(f->arena, f->params, f->param_cap, &f->param_cap,
                               sizeof *params);
        if (!params)
            return pr_fail_nomem(err);
        memset(params + cap, 0, (f->param_cap - cap) * sizeof *params);
        f->params = params;
    }
    s = &f->params[name];
    if (!s->times && !pr_value_copy(f->arena, &m->value, &s->first))
        return pr_fail_nomem(err);
    /* One that was missing before differs, too. */
    if (s->times != f->rows || !pr_value_equal(&s->first, &m->value))
        s->varies = true;
    s->times++;
    return PR_OK;
}

static void run_columns_add_measure(struct pr_run_columns *c,
                                    struct pr_arena *a,
                                    const struct pr_member *m)
{
    static const char *const own[] = {"exit_status", "signal", NULL};

    if (!pr_value_is_number(&m->value) || c->metric_count == PR_MAX_COLUMNS)
        return;
    for (size_t i = 0; own[i]; i++)
        if (strcmp(m->key, own[i]) == 0)
            return;
    for (size_t i = 0; i < c->metric_count; i++)
        if (strcmp(c->metrics[i], m->key) == 0)
            return;
    c->metrics[c->metric_count] = pr_arena_str(a, m->key);
    c->metric_count += c->metrics[c->metric_count] != NULL;
}

/* An experiment with many figures names those that matter in `prony.main`. */
static bool is_main_measure(const struct pr_value *results, const char *name)
{
    const struct pr_value *list = pr_get(results, "prony.main");

    if (!list || list->kind != PR_LIST || strcmp(name, "elapsed_s") == 0)
        return true;
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i].kind == PR_STR &&
            strcmp(list->items[i].s, name) == 0)
            return true;
    return false;
}

static void run_columns_read_target(struct pr_run_columns *c,
                                    struct pr_arena *a,
                                    const struct pr_run_data_row *row)
{
    enum pr_run_target t = pr_run_data_target(row->result);

    c->targets += t != PR_TARGET_NONE;
    if (t == PR_TARGET_MISSED && !c->missed++)
        c->first_missed = pr_arena_str(a, row->id);
}

static bool is_test(const struct pr_value *params,
                    const struct pr_value *results)
{
    const struct pr_value *kind = pr_get(params, "exp.workload");

    return kind && kind->kind == PR_STR && strcmp(kind->s, "suite") == 0 &&
           results && pr_get(results, "throughput");
}

static int run_columns_read_row(struct finder *f, struct pr_run_columns *c,
                                const struct pr_run_data_row *row,
                                struct pr_err *err)
{
    const struct pr_value *results =
        row->result ? pr_get(row->result, "results") : NULL;
    enum pr_status status =
        row->result ? pr_result_status(row->result) : PR_STATUS_COUNT;

    for (uint32_t i = 0; i < row->params->len; i++) {
        int rc = is_noise(row->params->members[i].key)
                     ? PR_OK
                     : run_columns_read_param(f, &row->params->members[i], err);
        if (rc)
            return rc;
    }
    for (uint32_t i = 0; results && results->kind == PR_MAP && i < results->len;
         i++)
        if (is_main_measure(results, results->members[i].key))
            run_columns_add_measure(c, f->arena, &results->members[i]);
    run_columns_read_target(c, f->arena, row);
    c->warned += row->result && pr_get(row->result, "warnings");
    c->tests += is_test(row->params, results);
    if (status == PR_STATUS_COUNT)
        c->without_result += !row->unreadable;
    else
        c->by_status[status]++;
    f->rows++;
    return PR_OK;
}

static void run_columns_add_param(const struct finder *f, uint32_t name,
                                  struct pr_run_columns *c)
{
    const struct seen *s = &f->params[name];
    const char *text;

    if ((!s->varies && s->times == f->rows) || c->param_count == PR_MAX_COLUMNS)
        return;
    text = pr_arena_str(f->arena, pr_names_text(f->names, name));
    c->params[c->param_count] = text;
    c->param_count += text != NULL;
}

/* The name of the group, then what was meant to vary. Other parameters that
 * differ are computed from these. */
static void pick_params(const struct finder *f, const struct pr_run_data *d,
                        struct pr_run_columns *c)
{
    uint32_t name = pr_names_find(f->names, "exp.name", 8);

    if (name != PR_NO_NAME)
        run_columns_add_param(f, name, c);
    for (uint32_t i = 0; i < pr_names_count(f->names); i++)
        if (i != name && pr_run_data_is_varied(d, pr_names_text(f->names, i)))
            run_columns_add_param(f, i, c);
}

static int run_columns_read_rows(struct finder *f, struct pr_run_data *d,
                                 struct pr_run_columns *c, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *row_arena = pr_arena_new(65536);
    struct pr_run_data_row row;
    struct pr_err bad;
    int rc;

    if (!row_arena)
        return pr_fail_nomem(err);
    while ((rc = pr_run_data_next(d, row_arena, &row, &bad, err)) == 1) {
        rc = run_columns_read_row(f, c, &row, err);
        if (row.unreadable && !c->unreadable++)
            c->first_bad = bad;
        if (rc)
            return rc;
        pr_arena_reset(row_arena);
    }
    return rc;
}

int pr_run_columns_find(const char *dir, struct pr_arena *a,
                        struct pr_run_columns *ret, struct pr_err *err)
{
    struct finder f = {.arena = a, .names = pr_names_new()};
    struct pr_run_columns c = {0};
    struct pr_run_data *d = NULL;
    int rc;

    if (!f.names)
        return pr_fail_nomem(err);
    rc = pr_run_data_open(dir, &d, err);
    if (!rc)
        rc = run_columns_read_rows(&f, d, &c, err);
    if (!rc) {
        pick_params(&f, d, &c);
        c.experiments = f.rows;
        *ret = c;
    }
    pr_run_data_close(d);
    pr_names_free(f.names);
    return rc;
}
