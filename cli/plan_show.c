/* A plan as a table for people: its experiments, its networks, and what this
 * machine lacks for it. */
#include "cli/plan_show.h"

#include "base/json/json_write.h"
#include "cli/targets.h"
#include "job/job.h"
#include "present/screen.h"
#include "present/table/table.h"
#include "run/plan_jobs.h"
#include "run/validate/validate.h"

#include <stdio.h>
#include <string.h>

/* ---- the networks it would compute: a line for each model and batch */

enum { MAX_LINES = 8 };

struct models {
    struct pr_buf lines;
    unsigned count;
};

/* "393 GFLOP" */
static const char *flop_text(struct pr_arena *a, double x)
{
    static const char letters[] = " kMGTPE";
    size_t i = 0;

    for (; x >= 999.5 && i + 2 < sizeof letters; i++)
        x /= 1000;
    return pr_arena_printf(a, "%.3g %.*sFLOP", x, i > 0, letters + i);
}

static void add_model_line(struct models *all, const struct pr_job *job,
                           const struct pr_model *m)
{
    bool trains = strcmp(job->exp.phase, "training") == 0;
    const char *flop = flop_text(
        job->arena, (double)m->flops * (double)job->exp.replica_batch);
    const char *line =
        pr_arena_printf(job->arena,
                        "%s, batch %lld: %llu parameters; a step has %s "
                        "forward%s\n",
                        m->name, (long long)job->exp.replica_batch,
                        (unsigned long long)m->params, flop ? flop : "?",
                        trains ? ", about three times that with backward" : "");

    if (!line || (all->lines.len && strstr(all->lines.data, line)))
        return;
    pr_buf_str(&all->lines, line);
    all->count++;
}

/* A model that cannot be read is a matter of the cost, which says why. */
static int plan_model_add_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct models *all = ctx;
    const struct pr_workload *w;
    struct pr_model *m;
    int rc;

    if (all->count == MAX_LINES || pr_job_is_off(job) ||
        pr_workload_find_for_job(job, &w, NULL) ||
        strcmp(w->name, "native") != 0)
        return PR_OK;
    rc = pr_job_read_model(job, &m, NULL);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (!rc)
        add_model_line(all, job, m);
    return PR_OK;
}

/* Appends a line for each network and batch that the native engine computes:
 * how large a step is. */
static int plan_model_text(struct pr_plan *p, struct pr_buf *out,
                           struct pr_err *err)
{
    struct models all = {.lines = PR_BUF_INIT(65536)};
    int rc = pr_plan_each_job(p, NULL, plan_model_add_job, &all, err);

    if (!rc && all.lines.len)
        pr_buf_str(out, all.lines.data);
    pr_buf_free(&all.lines);
    return rc;
}

typedef unsigned long long ull;

/* ---- what is missing, for people */

/* Whom it concerns, in brackets. */
static void validation_write_concerned(const struct pr_validation *v,
                                       const struct pr_requirement *l,
                                       struct pr_buf *out)
{
    uint64_t active = v->experiments - v->off;

    if (l->count == 1)
        pr_buf_printf(out, " (%s)", l->first);
    else if (l->count == active)
        pr_buf_printf(out, " (all %llu experiments)", (ull)l->count);
    else
        pr_buf_printf(out, " (%llu experiments, the first is %s)",
                      (ull)l->count, l->first);
}

static void validation_write_requirement(const struct pr_validation *v,
                                         const struct pr_requirement *l,
                                         struct pr_buf *out)
{
    pr_buf_printf(out, "%-10s ", pr_requirement_kind_word(l->kind));
    pr_screen_clean(out, l->what, strlen(l->what));
    validation_write_concerned(v, l, out);
    pr_buf_str(out, l->stops ? "\n" : "; a run is not refused for it\n");
    if (!*l->remedy)
        return;
    pr_buf_printf(out, "%-10s ", "");
    pr_screen_clean(out, l->remedy, strlen(l->remedy));
    pr_buf_char(out, '\n');
}

static void validation_write_requirements(const struct pr_validation *v,
                                          bool stops_alone, struct pr_buf *out)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->lacks[i].stops || !stops_alone)
            validation_write_requirement(v, &v->lacks[i], out);
    if (v->more)
        pr_buf_printf(out, "… and %llu more\n", (ull)v->more);
}

static int validation_print_text(const struct pr_validation *v,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    ull active = v->experiments - v->off;

    validation_write_requirements(v, false, &text);
    if (v->count)
        return answer_print_buf(&text, err);
    pr_buf_printf(&text, "nothing is missing: %llu experiment%s can be run",
                  active, active == 1 ? "" : "s");
    if (v->off)
        pr_buf_printf(&text, "; %llu more %s switched off", (ull)v->off,
                      v->off == 1 ? "is" : "are");
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* ---- what is missing, for programs */

static void validation_write_json(const struct pr_validation *v,
                                  struct pr_json_writer *jb)
{
    pr_json_put_uint(jb, "experiments", v->experiments);
    pr_json_put_uint(jb, "switched_off", v->off);
    pr_json_put_uint(jb, "concerned", v->concerned);
    pr_json_open_array(jb, "lacks");
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];

        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "kind", pr_requirement_kind_word(l->kind));
        pr_json_put_str(jb, "what", l->what);
        pr_json_put_str(jb, "remedy", l->remedy);
        pr_json_put_bool(jb, "stops", l->stops);
        pr_json_put_uint(jb, "experiments", l->count);
        pr_json_put_str(jb, "first", l->first);
        pr_json_close(jb);
    }
    pr_json_close(jb);
    if (v->more)
        pr_json_put_uint(jb, "more", v->more);
    if (!v->warnings.first)
        return;
    pr_json_open_array(jb, "warnings");
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next) {
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "where", w->where);
        pr_json_put_str(jb, "what", w->text);
        pr_json_put_str(jb, "remedy", w->remedy);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static int validation_print_json(const struct pr_validation *v,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.validation/1");
    pr_json_put_bool(&jb, "ok", !v->count);
    validation_write_json(v, &jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* As any error in JSON, with the list. */
static int refuse_json(const struct pr_validation *v, const struct pr_err *why,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &text, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.error/1");
    pr_json_put_str(&jb, "error", why->msg);
    pr_json_put_str(&jb, "where", why->where);
    pr_json_put_str(&jb, "hint", why->hint);
    pr_json_put_int(&jb, "exit_status", pr_code_exit_status(why->code));
    validation_write_json(v, &jb);
    pr_json_close(&jb);
    pr_buf_char(&text, '\n');
    return answer_print_buf(&text, err);
}

/* ---- the places where it is asked for */

static void validation_print_params(const struct pr_validation *v)
{
    for (const struct pr_warning *w = v->warnings.first; w; w = w->next)
        message_print_warning(w->where, w->text, w->remedy);
}

int validation_show(const struct pr_validation *v, bool json,
                    struct pr_err *err)
{
    int rc;

    validation_print_params(v);
    rc = json ? validation_print_json(v, err) : validation_print_text(v, err);

    return rc ? rc : pr_validation_error(v, false, err);
}

static void validation_print_warnings(const struct pr_validation *v)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct pr_requirement *l = &v->lacks[i];
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

        if (l->stops)
            continue;
        pr_buf_str(&text, l->what);
        validation_write_concerned(v, l, &text);
        if (pr_buf_ok(&text))
            message_print_warning("", text.data, l->remedy);
    }
}

int validation_refuse(const struct pr_validation *v, bool json,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);
    struct pr_err why = {0};
    int rc = pr_validation_error(v, true, &why);

    validation_print_params(v);
    validation_print_warnings(v);
    if (!rc)
        return PR_OK;
    if (!*why.where) { /* several */
        validation_write_requirements(v, true, &text);
        if (pr_buf_ok(&text))
            message_print_text(SAY_CRITICAL, text.data);
        pr_hint(&why, "'prony plan --validate' shows this list, "
                      "--no-validation runs all the same");
    }
    *err = why;
    return json && refuse_json(v, &why, err) ? err->code : rc;
}

/* ---- the table */

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
