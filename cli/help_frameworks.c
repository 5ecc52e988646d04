/* `prony help --frameworks`: the list, and what is known of each. */
#include "cli/help_frameworks.h"

#include "base/json/json.h"
#include "cli/help_json.h"
#include "present/table/table.h"
#include "workload/framework_workload.h"

#include <string.h>

/* ---- a page */

/* "built in", "by a program of Prony's", "by a launcher of yours". */
static const char *framework_how(const struct pr_framework *f)
{
    static const char *const words[] = {
        [PR_FRAMEWORK_NATIVE] = "built in",
        [PR_FRAMEWORK_PYTHON] = "by a program of Prony's",
        [PR_FRAMEWORK_SCRIPT] = "by a launcher of yours",
    };

    return words[f->kind];
}

enum { FACT_COLUMN = 15, HELP_COLUMN = 6 };

/* "  name:        text", wrapped. */
static void help_framework_write_fact(struct pr_buf *out, const char *name,
                                      const char *text)
{
    pr_buf_printf(out, "  %s:", name);
    text_blanks(out, FACT_COLUMN - strlen(name) - 3);
    text_wrap(out, text, FACT_COLUMN, FACT_COLUMN);
}

static const char *choose_phrase(bool a, bool b, const char *all,
                                 const char *one, const char *other)
{
    return a && b ? all : a ? one : other;
}

static const char *framework_phases_text(const struct pr_framework *f)
{
    return choose_phrase(f->trains, f->infers, "training, inference",
                         "training", "inference");
}

static const char *framework_places_text(const struct pr_framework *f)
{
    return choose_phrase(f->bare, f->contained,
                         "on bare metal or in a container", "on bare metal",
                         "in a container");
}

static void help_framework_write_names(struct pr_buf *out, const char *name,
                                       const char **items)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(DOCS_MAX);

    for (const char **i = items; *i; i++)
        pr_buf_printf(&all, "%s%s", i == items ? "" : ", ", *i);
    help_framework_write_fact(out, name, all.data ? all.data : "none");
    text_clear(&all, out);
}

static void put_here(struct pr_buf *out, const struct framework_row *r)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(DOCS_MAX);

    pr_buf_printf(&text, "%s%s",
                  r->state == PR_FRAMEWORK_HERE     ? "yes: "
                  : r->state == PR_FRAMEWORK_ABSENT ? "no: "
                                                    : "",
                  r->detail);
    if (r->state == PR_FRAMEWORK_ABSENT && r->f->remedy)
        pr_buf_printf(&text, "; %s", r->f->remedy);
    help_framework_write_fact(out, "found here",
                              pr_buf_ok(&text) ? text.data : "");
    text_clear(&text, out);
}

static void help_framework_write_param(struct pr_buf *out,
                                       const struct pr_framework_param *p)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(DOCS_MAX);

    pr_buf_printf(out, "  %s", p->name);
    if (p->def.kind != PR_NULL) {
        pr_buf_str(out, " = ");
        pr_json_write(out, &p->def);
    }
    pr_buf_char(out, '\n');
    pr_buf_str(&text, p->help);
    if (p->choices) {
        pr_buf_str(&text, text.len ? " One of " : "One of ");
        text_choices(&text, p->choices, NULL);
        pr_buf_char(&text, '.');
    }
    if (p->contract)
        pr_buf_str(&text, text.len ? " For a launcher of yours."
                                   : "For a launcher of yours.");
    if (text.len) {
        text_blanks(out, HELP_COLUMN);
        text_wrap(out, text.data ? text.data : "", HELP_COLUMN, HELP_COLUMN);
    }
    text_clear(&text, out);
}

static bool has_param(const struct pr_framework *f, const char *name)
{
    size_t n = strlen(f->family);

    for (size_t i = 0; i < f->param_count; i++)
        if (strncmp(f->params[i].name, f->family, n) == 0 &&
            f->params[i].name[n] == '.' &&
            strcmp(f->params[i].name + n + 1, name) == 0)
            return true;
    return false;
}

/* What every framework has, for what the user brings. */
static const struct {
    const char *name, *help;
} common[] = {
    {"launcher", "Script or program that runs an experiment; it gets all "
                 "parameters as --NAME VALUE."},
    {"launcher_args", "Parameters that it gets, separated by blanks; without "
                      "it, all."},
    {"command", "What runs inside a container, with the same arguments, when "
                "there is no launcher."},
    {"docker_image", "Container image: exp.docker_image, for this framework "
                     "alone."},
    {"data_dir", "Folder of the data set: exp.data_dir, for this framework "
                 "alone."},
};

static void help_framework_write_common(struct pr_buf *out,
                                        const struct pr_framework *f)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        if (has_param(f, common[i].name))
            continue;
        pr_buf_printf(out, "  %s.%s\n", f->family, common[i].name);
        text_blanks(out, HELP_COLUMN);
        text_wrap(out, common[i].help, HELP_COLUMN, HELP_COLUMN);
    }
}

static void framework_page(const struct framework_row *r, struct pr_buf *out)
{
    const struct pr_framework *f = r->f;

    pr_buf_printf(out, "%s: %s\n", f->name, f->title);
    if (*f->desc) {
        pr_buf_str(out, "  ");
        text_wrap(out, f->desc, 2, 2);
    }
    pr_buf_char(out, '\n');
    help_framework_write_fact(out, "runs", framework_how(f));
    put_here(out, r);
    help_framework_write_fact(out, "phases", framework_phases_text(f));
    help_framework_write_fact(out, "where", framework_places_text(f));
    if (f->image)
        help_framework_write_fact(out, "image", f->image);
    if (f->models)
        help_framework_write_names(out, "models", f->models);
    else if (f->kind != PR_FRAMEWORK_SCRIPT)
        help_framework_write_fact(out, "models",
                                  "those that 'prony model' lists");
    if (f->results)
        help_framework_write_names(out, "results", f->results);
    help_framework_write_fact(out, "file", f->path);
    if (f->kind == PR_FRAMEWORK_NATIVE && !f->param_count)
        return;
    pr_buf_str(out, "\nparameters:\n");
    for (size_t i = 0; i < f->param_count; i++)
        help_framework_write_param(out, &f->params[i]);
    if (f->kind != PR_FRAMEWORK_NATIVE)
        help_framework_write_common(out, f);
}

/* ---- JSON */

static void json_names(struct pr_json_writer *jb, const char *key,
                       const char **items)
{
    if (!items)
        return;
    pr_json_open_array(jb, key);
    for (; *items; items++)
        pr_json_put_str(jb, NULL, *items);
    pr_json_close(jb);
}

static void json_two(struct pr_json_writer *jb, const char *key, bool a,
                     const char *one, bool b, const char *other)
{
    pr_json_open_array(jb, key);
    if (a)
        pr_json_put_str(jb, NULL, one);
    if (b)
        pr_json_put_str(jb, NULL, other);
    pr_json_close(jb);
}

static void json_params(struct pr_json_writer *jb, const struct pr_framework *f)
{
    pr_json_open_array(jb, "parameters");
    for (size_t i = 0; i < f->param_count; i++) {
        const struct pr_framework_param *p = &f->params[i];

        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "name", p->name);
        pr_json_put_str(jb, "type", p->type);
        if (p->def.kind != PR_NULL)
            pr_json_put_value(jb, "default", &p->def);
        if (p->choices) {
            const char *at = p->choices, *item;
            size_t len;

            pr_json_open_array(jb, "choices");
            while ((item = choice_next(&at, &len)))
                pr_json_put_strn(jb, NULL, item, len);
            pr_json_close(jb);
        }
        pr_json_put_bool(jb, "launcher", p->contract);
        pr_json_put_str(jb, "help", p->help);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

/* A page on one, and a JSON object. */
static void framework_json(const struct framework_row *r,
                           struct pr_json_writer *jb)
{
    static const char *const states[] = {
        [PR_FRAMEWORK_ABSENT] = "absent",
        [PR_FRAMEWORK_HERE] = "here",
        [PR_FRAMEWORK_UNKNOWN] = "unknown",
    };
    const struct pr_framework *f = r->f;

    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "name", f->name);
    pr_json_put_str(jb, "title", f->title);
    pr_json_put_str(jb, "about", f->desc);
    pr_json_put_str(jb, "family", f->family);
    pr_json_put_str(jb, "kind", pr_framework_kind_name(f->kind));
    pr_json_put_str(jb, "state", states[r->state]);
    pr_json_put_str(jb, "detail", r->detail);
    if (f->remedy)
        pr_json_put_str(jb, "remedy", f->remedy);
    json_two(jb, "phases", f->trains, "training", f->infers, "inference");
    json_two(jb, "places", f->bare, "host", f->contained, "container");
    if (f->image)
        pr_json_put_str(jb, "image", f->image);
    json_names(jb, "models", f->models);
    json_names(jb, "results", f->results);
    pr_json_put_str(jb, "file", f->path);
    json_params(jb, f);
    pr_json_close(jb);
}

/* ---- the list */

struct rows {
    struct pr_arena *arena;
    struct framework_row *items;
    size_t count, cap;
};

static int framework_rows_add(void *ctx, const struct pr_framework *f,
                              struct pr_err *err)
{
    struct rows *r = ctx;
    struct framework_row *row = PR_PUSH(r->arena, r);

    if (!row)
        return pr_fail_nomem(err);
    row->f = f;
    row->state =
        pr_framework_find_installed(f, "python3", r->arena, &row->detail, err);
    return row->state < 0 ? row->state : PR_OK;
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
