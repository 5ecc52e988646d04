/*
 * Reading run directories: what is missing of them, their experiments one by
 * one, and the columns worth showing.
 */
#include "analyse/run/run_data.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/event.h"
#include "record/plan_file.h"
#include "record/result.h"
#include "record/rundir.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- whether a run came to its end */

/*
 * The plan says what there should be, the events what was begun and
 * interrupted, and a result is a file that is there.
 */

struct events {
    struct pr_names *ids;
    bool *interrupted; /* by id: the last event is such an end */
    size_t cap;
    struct pr_arena *scratch;
};

static int unfinished_keep_event(struct events *v, const struct pr_event *e,
                                 struct pr_err *err)
{
    uint32_t id = pr_names_add(v->ids, e->id, strlen(e->id));

    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (id >= v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 256;
        bool *more = pr_realloc(v->interrupted, cap * sizeof *more);

        if (!more)
            return pr_fail_nomem(err);
        v->interrupted = more;
        v->cap = cap;
    }
    v->interrupted[id] = e->kind == PR_EVENT_EXPERIMENT_END &&
                         e->status == PR_STATUS_INTERRUPTED;
    return PR_OK;
}

static int unfinished_read_line(struct events *v, const char *line, size_t len,
                                struct pr_err *err)
{
    struct pr_event e;
    int rc = pr_event_read(line, len, v->scratch, &e, NULL);

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    rc = rc == 1 && e.id ? unfinished_keep_event(v, &e, err)
                         : PR_OK; /* half a line is none */
    pr_arena_reset(v->scratch);
    return rc;
}

/* A folder without events was copied, or never run. */
static int read_events(struct events *v, const char *dir, struct pr_err *err)
{
    struct pr_view text = {0};
    char path[4096];
    int rc = PR_OK;

    snprintf(path, sizeof path, "%s/events.ndjson", dir);
    if (access(path, R_OK) || pr_file_map_in(dir, path, &text, NULL))
        return PR_OK;
    for (size_t at = 0; !rc && at < text.len;) {
        const char *line = text.data + at;
        const char *end = memchr(line, '\n', text.len - at);
        size_t len = end ? (size_t)(end - line) : text.len - at;

        rc = unfinished_read_line(v, line, len, err);
        at += len + 1;
    }
    pr_file_unmap(&text);
    return rc;
}

static int unfinished_add_name(struct pr_run_unfinished *u,
                               const struct pr_plan_file_experiment *p,
                               struct pr_arena *a, struct pr_err *err)
{
    const struct pr_value *v = pr_get(&p->params, "exp.name");
    const char *name;

    if (u->name_count == PR_UNFINISHED_NAMES)
        return PR_OK;
    name = v && v->kind == PR_STR && v->len
               ? pr_arena_printf(a, "%s (%s)", v->s, p->id)
               : pr_arena_str(a, p->id);
    if (!name)
        return pr_fail_nomem(err);
    u->names[u->name_count++] = name;
    return PR_OK;
}

static int unfinished_check_experiment(struct pr_run_unfinished *u,
                                       const struct events *v, const char *dir,
                                       const struct pr_plan_file_experiment *p,
                                       struct pr_arena *a, struct pr_err *err)
{
    uint32_t id = pr_names_find(v->ids, p->id, strlen(p->id));
    char path[4096 + 64];

    u->total++;
    snprintf(path, sizeof path, "%s/experiments/%s/result.json", dir, p->id);
    if (access(path, F_OK) == 0 && (id == PR_NO_NAME || !v->interrupted[id]))
        return PR_OK;
    u->missing++;
    if (id == PR_NO_NAME)
        return PR_OK;
    u->begun++;
    return unfinished_add_name(u, p, a, err);
}

static int walk_plan(struct pr_run_unfinished *u, struct events *v,
                     const char *dir, struct pr_arena *a, struct pr_err *err)
{
    struct pr_plan_file plan;
    struct pr_plan_file_experiment p;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/plan.json", dir);
    rc = pr_plan_file_open_in(dir, path, &plan, err);
    if (rc)
        return rc;
    while ((rc = pr_plan_file_next(&plan, v->scratch, &p, err)) == 1) {
        rc = unfinished_check_experiment(u, v, dir, &p, a, err);
        if (rc)
            break;
        pr_arena_reset(v->scratch);
    }
    pr_plan_file_close(&plan);
    return rc;
}

int pr_run_unfinished_find(const char *dir, struct pr_arena *a,
                           struct pr_run_unfinished *ret, struct pr_err *err)
{
    struct events v = {.ids = pr_names_new(), .scratch = pr_arena_new(65536)};
    struct pr_run_unfinished u = {0};
    char path[4096];
    int rc = v.ids && v.scratch ? PR_OK : pr_fail_nomem(err);

    if (!rc && (size_t)snprintf(path, sizeof path, "%s/events.ndjson", dir) <
                   sizeof path) {
        snprintf(path, sizeof path, "%s/plan.json", dir);
        /* Before the rest: what ends meanwhile is there then. */
        u.running = pr_rundir_is_live(dir);
        rc = access(path, R_OK) ? PR_OK : read_events(&v, dir, err);
        if (!rc && access(path, R_OK) == 0)
            rc = walk_plan(&u, &v, dir, a, err);
    }
    if (!rc)
        *ret = u;
    pr_free(v.interrupted);
    pr_names_free(v.ids);
    pr_arena_free(v.scratch);
    return rc;
}

struct pr_run_data {
    char dir[2048];
    struct pr_plan_file plan;
};

int pr_run_data_open(const char *dir, struct pr_run_data **ret,
                     struct pr_err *err)
{
    struct pr_run_data *d = pr_alloc_zeroed(sizeof *d);
    char path[4096];
    int rc;

    if (!d)
        return pr_fail_nomem(err);
    if ((size_t)snprintf(d->dir, sizeof d->dir, "%s", dir) >= sizeof d->dir) {
        pr_free(d);
        return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long", dir);
    }
    snprintf(path, sizeof path, "%s/plan.json", d->dir);
    rc = pr_plan_file_open_brief(d->dir, path, &d->plan, err);
    if (rc) {
        pr_free(d);
        if (rc == PR_E_IO)
            pr_hint(err, "expected a run directory, as 'prony run' makes one");
        return rc;
    }
    *ret = d;
    return PR_OK;
}

void pr_run_data_close(struct pr_run_data *d)
{
    if (!d)
        return;
    pr_plan_file_close(&d->plan);
    pr_free(d);
}

bool pr_run_data_is_varied(const struct pr_run_data *d, const char *name)
{
    const struct pr_value *list = &d->plan.variables;

    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i].kind == PR_STR &&
            strcmp(list->items[i].s, name) == 0)
            return true;
    return list->len == 0;
}

int pr_run_data_next(struct pr_run_data *d, struct pr_arena *a,
                     struct pr_run_data_row *ret, struct pr_err *ret_bad,
                     struct pr_err *err)
{
    struct pr_value *values = PR_ARENA_ARRAY(a, struct pr_value, 2);
    struct pr_plan_file_experiment planned;
    int rc = pr_plan_file_next(&d->plan, a, &planned, err);

    if (rc != 1)
        return rc;
    if (!values)
        return pr_fail_nomem(err);
    values[0] = planned.params;
    *ret = (struct pr_run_data_row){planned.id, planned.repeat, &values[0],
                                    NULL, false};
    if (ret_bad)
        *ret_bad = (struct pr_err){0};
    rc = pr_result_read(d->dir, planned.id, a, &values[1], ret_bad);
    if (rc == 1)
        ret->result = &values[1];
    ret->unreadable = rc < 0;
    return rc == PR_E_NOMEM ? pr_fail_nomem(err) : 1;
}

/* Before there was target_met; 0.9 is the default of metric.au. */
static enum pr_run_target by_utilisation(const struct pr_value *result,
                                         const struct pr_value *results)
{
    const struct pr_value *params = pr_get(result, "params");
    const struct pr_value *asked = params ? pr_get(params, "metric.au") : NULL;
    const struct pr_value *is = pr_get(results, "utilisation");

    if (!is || !pr_value_is_number(is) || pr_value_number(is) <= 0 ||
        !pr_get(results, "dlio.train_au_meet_expectation"))
        return PR_TARGET_NONE;
    return pr_value_number(is) >= (asked && pr_value_is_number(asked)
                                       ? pr_value_number(asked)
                                       : 0.9)
               ? PR_TARGET_MET
               : PR_TARGET_MISSED;
}

enum pr_run_target pr_run_data_target(const struct pr_value *result)
{
    const struct pr_value *results =
        result && pr_result_status(result) == PR_STATUS_OK
            ? pr_get(result, "results")
            : NULL;
    const struct pr_value *met = results ? pr_get(results, "target_met") : NULL;

    if (met && met->kind == PR_BOOL)
        return met->b ? PR_TARGET_MET : PR_TARGET_MISSED;
    return results ? by_utilisation(result, results) : PR_TARGET_NONE;
}

/* ---- the columns of a run, in one pass over its experiments */

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
