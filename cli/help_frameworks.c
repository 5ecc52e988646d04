/* `prony help --frameworks`: the list, and which of them is asked for. */
#include "cli/help_frameworks.h"

#include "cli/docs.h"
#include "present/table/table.h"
#include "workload/framework_workload.h"

#include <string.h>

struct rows {
    struct pr_arena *arena;
    struct framework_row *items;
    size_t count, cap;
};

const char *framework_how(const struct pr_framework *f)
{
    static const char *const words[] = {
        [PR_FRAMEWORK_NATIVE] = "built in",
        [PR_FRAMEWORK_PYTHON] = "by a program of Prony's",
        [PR_FRAMEWORK_SCRIPT] = "by a launcher of yours",
    };

    return words[f->kind];
}

static int framework_rows_add(void *ctx, const struct pr_framework *f,
                              struct pr_err *err)
{
    struct rows *r = ctx;
    struct framework_row row = {.f = f};
    struct framework_row *items =
        pr_arena_grow(r->arena, r->items, r->count, &r->cap, sizeof row);

    if (!items)
        return pr_fail_nomem(err);
    row.state =
        pr_framework_find_installed(f, "python3", r->arena, &row.detail, err);
    if (row.state < 0)
        return row.state;
    r->items = items;
    items[r->count++] = row;
    return PR_OK;
}

static int framework_rows_add_named(struct rows *r, const char *name,
                                    struct pr_err *err)
{
    const struct pr_framework *f;
    int rc = pr_framework_find(name, r->arena, &f, err);

    if (rc == 1)
        return framework_rows_add(r, f, err);
    if (rc)
        return rc;
    pr_fail(err, PR_E_USAGE, "--frameworks", "there is no framework '%.128s'",
            name);
    return pr_framework_hint(name, err);
}

/* Those that are named, after the option or anywhere; none: all. */
static int framework_rows_fill(const struct cli *c, struct rows *r,
                               bool *ret_named, struct pr_err *err)
{
    int rc = PR_OK;

    *ret_named = c->rest_count > 0;
    for (size_t i = 0; i < c->arg_count && !rc; i++) {
        /* The first entry of an option that takes many is empty. */
        if (c->args[i].id != A_FRAMEWORKS || !*c->args[i].value)
            continue;
        *ret_named = true;
        rc = framework_rows_add_named(r, c->args[i].value, err);
    }
    for (size_t i = 0; i < c->rest_count && !rc; i++)
        rc = framework_rows_add_named(r, c->rest[i], err);
    if (rc || *ret_named)
        return rc;
    return pr_framework_each(r->arena, framework_rows_add, r, err);
}

static int print_frameworks_json(const struct rows *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &out, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.frameworks/1");
    pr_json_open_array(&jb, "frameworks");
    for (size_t i = 0; i < r->count; i++)
        framework_json(&r->items[i], &jb);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(&out, '\n');
    return answer_print_buf(&out, err);
}

static int answer_list(struct cli *c, const struct rows *r, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {.title = "name"},
        {.title = "title"},
        {.title = "how it runs"},
        {.title = "found here"},
    };
    static const char *const states[] = {
        [PR_FRAMEWORK_ABSENT] = "no",
        [PR_FRAMEWORK_HERE] = "yes",
        [PR_FRAMEWORK_UNKNOWN] = "",
    };
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_table *t = pr_table_new(cols, sizeof cols / sizeof *cols);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < r->count; i++) {
        const struct framework_row *row = &r->items[i];

        pr_table_row(t);
        pr_table_set_str(t, 0, row->f->name);
        pr_table_set_str(t, 1, row->f->title);
        pr_table_set_str(t, 2, framework_how(row->f));
        pr_table_set_str(t, 3, states[row->state]);
    }
    rc = pr_table_print(t, PR_TABLE_TEXT, &style, &out, err);
    pr_table_free(t);
    pr_buf_str(&out, "\n'prony help --frameworks NAME' says more of one.\n");
    return rc ? rc : answer_print_buf(&out, err);
}

int help_frameworks(struct cli *c, bool json, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    struct rows r = {.arena = c->arena};
    bool named;
    int rc = framework_rows_fill(c, &r, &named, err);

    if (rc)
        return rc;
    if (json)
        return print_frameworks_json(&r, err);
    if (!named)
        return answer_list(c, &r, err);
    for (size_t i = 0; i < r.count; i++) {
        if (i)
            pr_buf_char(&out, '\n');
        framework_page(&r.items[i], &out);
    }
    return answer_print_buf(&out, err);
}
