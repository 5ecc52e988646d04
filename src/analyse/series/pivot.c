/*
 * Results by columns: what a report is told to show, and building it. A result
 * becomes an entry of places on each axis; the entries sorted are the rows.
 */
#include "analyse/series/pivot.h"

#include "analyse/series/scaling.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a report is told to show */

static const struct named {
    const char *names[3];
    struct pr_pivot_spec spec;
} named[] = {
    {{"regular"},
     {.inputs = {"exp.model_title", "exp.device_type"},
      .input_count = 2,
      .output = "exp.replica_batch"}},
    {{"weak-scaling", "weak"},
     {.inputs = {"exp.model_title", "exp.replica_batch"},
      .input_count = 2,
      .output = "exp.num_gpus",
      .speedup = true,
      .efficiency = true}},
    {{"strong-scaling", "strong"},
     {.inputs = {"exp.model_title", "exp.effective_batch"},
      .input_count = 2,
      .output = "exp.num_gpus",
      .speedup = true,
      .efficiency = true}},
    {{"exploration"},
     {.inputs = {"exp.model_title", "exp.gpus"},
      .input_count = 2,
      .output = "exp.effective_batch"}},
};

static int pivot_fail_spec(struct pr_err *err, const char *what)
{
    pr_fail(err, PR_E_USAGE, "--report", "%s", what);
    return pr_hint(err, "regular, weak-scaling, strong-scaling, exploration, "
                        "or '{\"inputs\": [\"exp.model_title\"], \"output\": "
                        "\"exp.replica_batch\"}'");
}

static int read_inputs(const struct pr_value *list, struct pr_pivot_spec *s,
                       struct pr_err *err)
{
    if (!list || list->kind != PR_LIST || !list->len ||
        list->len > PR_PIVOT_INPUTS)
        return pivot_fail_spec(err, "'inputs' is a list of one to eight names");
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->items[i].kind != PR_STR)
            return pivot_fail_spec(err,
                                   "'inputs' is a list of one to eight names");
        s->inputs[s->input_count++] = list->items[i].s;
    }
    return PR_OK;
}

static int read_flag(const struct pr_value *v, const char *key, bool *flag,
                     struct pr_err *err)
{
    const struct pr_value *f = pr_get(v, key);

    if (!f)
        return PR_OK;
    if (f->kind != PR_BOOL)
        return pivot_fail_spec(err,
                               "what begins with 'report_' is true or false");
    *flag = f->b;
    return PR_OK;
}

static int pivot_read_flags(const struct pr_value *v, struct pr_pivot_spec *s,
                            struct pr_err *err)
{
    bool times = true, specs = true;
    int rc = read_flag(v, "report_speedup", &s->speedup, err);

    if (!rc)
        rc = read_flag(v, "report_efficiency", &s->efficiency, err);
    if (!rc)
        rc = read_flag(v, "report_batch_times", &times, err);
    if (!rc)
        rc = read_flag(v, "report_input_specs", &specs, err);
    s->no_times = !times;
    s->no_specs = !specs;
    return rc;
}

static bool has_input(const struct pr_pivot_spec *s, const char *name)
{
    for (size_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i], name) == 0)
            return true;
    return false;
}

static int pivot_check_spec(const struct pr_pivot_spec *s, struct pr_err *err)
{
    bool replica = has_input(s, "exp.replica_batch");
    bool effective = has_input(s, "exp.effective_batch");

    if (s->efficiency &&
        (replica == effective || strcmp(s->output, "exp.num_gpus") != 0))
        return pivot_fail_spec(
            err, "an efficiency wants exp.replica_batch or "
                 "exp.effective_batch among the inputs, and the output "
                 "exp.num_gpus");
    return PR_OK;
}

int pr_pivot_spec_read(const char *text, struct pr_arena *a,
                       struct pr_pivot_spec *ret, struct pr_err *err)
{
    struct pr_json_in in = {
        .text = text, .len = strlen(text), .name = "--report"};
    struct pr_value *v = PR_ARENA_NEW(a, struct pr_value);
    const struct pr_value *output;
    struct pr_pivot_spec s = {0};
    int rc;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        for (size_t k = 0; named[i].names[k]; k++)
            if (strcmp(text, named[i].names[k]) == 0) {
                *ret = named[i].spec;
                return PR_OK;
            }
    if (!v)
        return pr_fail_nomem(err);
    rc = pr_json_read(&in, a, v, NULL, err);
    if (rc || v->kind != PR_MAP)
        return rc == PR_E_NOMEM
                   ? rc
                   : pivot_fail_spec(err, "no report of that name");
    rc = read_inputs(pr_get(v, "inputs"), &s, err);
    output = pr_get(v, "output");
    if (!rc && (!output || output->kind != PR_STR))
        rc = pivot_fail_spec(err, "'output' is the name of a parameter");
    if (rc)
        return rc;
    s.output = output->s;
    s.output_cols = pr_get(v, "output_cols");
    if (s.output_cols && s.output_cols->kind != PR_LIST)
        s.output_cols = NULL;
    rc = pivot_read_flags(v, &s, err);
    if (!rc)
        rc = pivot_check_spec(&s, err);
    if (!rc)
        *ret = s;
    return rc;
}

enum { MAX_CELLS = 20000000, AXES = PR_PIVOT_INPUTS + 1 };

struct axis {
    const char *name;
    struct pr_names *names;  /* of the values, as text */
    struct pr_value *values; /* by number */
    size_t cap;
    uint32_t *place; /* by number, in order */
};

struct entry {
    uint32_t at[AXES]; /* inputs, then the output */
    const struct pr_results_row *row;
};

struct maker {
    const struct pr_pivot_spec *spec;
    struct pr_arena *arena;
    struct axis axes[AXES]; /* inputs, then the output */
    struct entry *entries;
    size_t count, cap;
    struct pr_pivot *p;
    struct pr_scaling_student_t last;
};

/* ---- values */

static bool is_missing(const struct pr_value *v)
{
    return !v || v->kind == PR_NULL || v->kind == PR_LIST || v->kind == PR_MAP;
}

/* Without GPUs devices are replicas on processors. */
static bool devices_value(struct maker *m, const struct pr_results_row *row,
                          const struct pr_value *v, struct pr_value *ret)
{
    const char *device;

    if (v && !(pr_value_is_number(v) && pr_value_number(v) <= 0))
        return false;
    *ret = pr_int(pr_scaling_row_devices(row, m->arena, &device));
    m->p->processors = true;
    return true;
}

/* A batch of a run of ours is the one it had, not the one it was asked for. */
static bool batch_value(struct maker *m, const struct pr_results_row *row,
                        const char *name, struct pr_value *ret)
{
    bool all = strcmp(name, "exp.effective_batch") == 0;
    const char *device;
    int64_t devices, batch;

    if ((!all && strcmp(name, "exp.replica_batch") != 0) ||
        !pr_results_is_ours(row))
        return false;
    devices = pr_scaling_row_devices(row, m->arena, &device);
    batch = pr_scaling_row_batch(row, devices);
    *ret = pr_int(all ? batch : batch / devices);
    return batch && (all || batch % devices == 0);
}

/* The value of an axis in a row, changed where processors computed. */
static bool pivot_get_value(struct maker *m, const struct pr_results_row *row,
                            const char *name, struct pr_value *ret)
{
    const struct pr_value *v = pr_get(&row->params, name);

    if (strcmp(name, "exp.num_gpus") == 0 && devices_value(m, row, v, ret))
        return true;
    if (batch_value(m, row, name, ret))
        return true;
    if (strcmp(name, "exp.model_title") == 0 &&
        (is_missing(v) || (v->kind == PR_STR && !v->len)))
        v = pr_get(&row->params, "exp.model");
    if (is_missing(v))
        return false;
    *ret = *v;
    if (v->kind == PR_STR && !v->len && strcmp(name, "exp.gpus") == 0)
        *ret = pr_str("cpu");
    return true;
}

/* 1: its number; 0: the row has no such value. */
static int pivot_number_value(struct maker *m, struct axis *x,
                              const struct pr_results_row *row, uint32_t *ret,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_value v, *values;
    uint32_t before = pr_names_count(x->names);

    if (!pivot_get_value(m, row, x->name, &v))
        return 0;
    pr_value_write_text(&text, &v);
    if (!pr_buf_ok(&text))
        return text.over ? 0 : pr_fail_nomem(err);
    *ret = pr_names_add(x->names, text.len ? text.data : "", text.len);
    if (*ret == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (*ret < before)
        return 1;
    values =
        pr_arena_grow(m->arena, x->values, before, &x->cap, sizeof *values);
    if (!values)
        return pr_fail_nomem(err);
    x->values = values;
    values[before] = v;
    return 1;
}

/* ---- entries */

static int pivot_add_entry(struct maker *m, const struct pr_results_row *row,
                           struct pr_err *err)
{
    struct entry e = {.row = row}, *entries;
    bool whole = true;

    m->p->results++;
    for (size_t i = 0; i <= m->spec->input_count; i++) {
        int rc = pivot_number_value(m, &m->axes[i], row, &e.at[i], err);
        if (rc < 0)
            return rc;
        whole = whole && rc == 1;
    }
    if (!pr_results_is_good(row)) {
        m->p->failed++;
        return PR_OK;
    }
    if (!whole) {
        m->p->without++;
        return PR_OK;
    }
    entries =
        pr_arena_grow(m->arena, m->entries, m->count, &m->cap, sizeof *entries);
    if (!entries)
        return pr_fail_nomem(err);
    m->entries = entries;
    entries[m->count++] = e;
    return PR_OK;
}

/* ---- order */

struct ranked {
    struct pr_value value;
    uint32_t number;
};

/* Numbers before text. */
static int by_ranked_value(const void *x, const void *y)
{
    const struct pr_value *a = &((const struct ranked *)x)->value;
    const struct pr_value *b = &((const struct ranked *)y)->value;
    double p, q;

    if ((a->kind == PR_STR) != (b->kind == PR_STR))
        return a->kind == PR_STR ? 1 : -1;
    if (a->kind == PR_STR)
        return strcmp(a->s, b->s);
    p = a->kind == PR_BOOL ? a->b : pr_value_number(a);
    q = b->kind == PR_BOOL ? b->b : pr_value_number(b);
    return (p > q) - (p < q);
}

static int pivot_rank_axis(struct maker *m, struct axis *x,
                           struct pr_pivot_axis *ret, struct pr_err *err)
{
    uint32_t n = pr_names_count(x->names);
    struct ranked *list = PR_ARENA_ARRAY(m->arena, struct ranked, n);
    struct pr_value *values = PR_ARENA_ARRAY(m->arena, struct pr_value, n);

    x->place = PR_ARENA_ARRAY(m->arena, uint32_t, n);
    if (!list || !values || !x->place)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        list[i] = (struct ranked){x->values[i], i};
    if (n)
        qsort(list, n, sizeof *list, by_ranked_value);
    for (uint32_t i = 0; i < n; i++) {
        values[i] = list[i].value;
        x->place[list[i].number] = i;
    }
    *ret = (struct pr_pivot_axis){values, n};
    return PR_OK;
}

/* The columns that were asked for, in that order; others vanish. */
static int choose_columns(struct maker *m, struct axis *x,
                          struct pr_pivot_axis *columns, struct pr_err *err)
{
    const struct pr_value *want = m->spec->output_cols;
    uint32_t n = pr_names_count(x->names);

    for (uint32_t i = 0; i < n; i++) {
        x->place[i] = UINT32_MAX;
        for (uint32_t k = 0; k < want->len; k++)
            if (pr_value_equal(&want->items[k], &x->values[i]))
                x->place[i] = k;
    }
    *columns = (struct pr_pivot_axis){want->items, want->len};
    return want->len
               ? PR_OK
               : pr_fail(err, PR_E_USAGE, "--report", "'output_cols' is empty");
}

static int by_places(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;

    for (size_t i = 0; i < AXES; i++)
        if (a->at[i] != b->at[i])
            return a->at[i] < b->at[i] ? -1 : 1;
    return 0;
}

static int pivot_sort_entries(struct maker *m, struct pr_err *err)
{
    size_t inputs = m->spec->input_count, kept = 0;
    int rc = PR_OK;

    for (size_t i = 0; !rc && i <= inputs; i++)
        rc = pivot_rank_axis(m, &m->axes[i],
                             i < inputs ? &m->p->axes[i] : &m->p->columns, err);
    if (!rc && m->spec->output_cols)
        rc = choose_columns(m, &m->axes[inputs], &m->p->columns, err);
    if (rc)
        return rc;
    for (size_t k = 0; k < m->count; k++) {
        struct entry e = m->entries[k];
        for (size_t i = 0; i <= inputs; i++)
            e.at[i] = m->axes[i].place[e.at[i]];
        if (e.at[inputs] != UINT32_MAX)
            m->entries[kept++] = e;
    }
    m->count = kept;
    if (kept)
        qsort(m->entries, kept, sizeof *m->entries, by_places);
    return PR_OK;
}

/* ---- rows */

static void pivot_add_measure(struct maker *m, struct pr_pivot_measure *f,
                              const struct pr_value *v)
{
    double x, delta;

    if (!v || !pr_value_is_number(v) || !isfinite(pr_value_number(v)))
        return;
    x = pr_value_number(v);
    f->n++;
    f->whole = f->n == 1 && v->kind == PR_INT;
    delta = x - f->mean;
    f->mean += delta / (double)f->n;
    f->m2 += delta * (x - f->mean);
    f->ci = pr_scaling_half_width(&m->last, f->n, f->m2);
}

static int begin_row(struct maker *m, const struct entry *e, struct pr_err *err)
{
    struct pr_pivot *p = m->p;
    struct pr_pivot_row *row = &p->rows[p->row_count++];

    if (p->row_count * p->columns.count > MAX_CELLS) {
        pr_fail(err, PR_E_CONF, "", "the report would have more than %d cells",
                MAX_CELLS);
        return pr_hint(err, "--select picks what belongs together");
    }
    row->cells =
        PR_ARENA_ARRAY(m->arena, struct pr_pivot_cell, p->columns.count);
    if (!row->cells)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < m->spec->input_count; i++)
        row->keys[i] = &p->axes[i].values[e->at[i]];
    return PR_OK;
}

static int pivot_fill_rows(struct maker *m, struct pr_err *err)
{
    size_t inputs = m->spec->input_count;
    struct pr_pivot *p = m->p;

    p->rows = PR_ARENA_ARRAY(m->arena, struct pr_pivot_row, m->count);
    if (!p->rows)
        return pr_fail_nomem(err);
    for (size_t k = 0; k < m->count; k++) {
        const struct entry *e = &m->entries[k];
        const struct pr_value *rate =
            pr_get(&e->row->params, "results.throughput");
        struct pr_value reported = pr_float(pr_results_rate(e->row));
        struct pr_pivot_cell *c;

        if (!k || memcmp(e->at, e[-1].at, inputs * sizeof *e->at) != 0) {
            int rc = begin_row(m, e, err);
            if (rc)
                return rc;
        }
        c = &p->rows[p->row_count - 1].cells[e->at[inputs]];
        pivot_add_measure(m, &c->time, pr_get(&e->row->params, "results.time"));
        pivot_add_measure(m, &c->rate, rate ? rate : &reported);
        p->repeats |= c->time.n > 1 || c->rate.n > 1;
    }
    return PR_OK;
}

int pr_pivot_build(const struct pr_results *set,
                   const struct pr_pivot_spec *spec, struct pr_arena *a,
                   struct pr_pivot *ret, struct pr_err *err)
{
    struct pr_pivot p = {.spec = *spec};
    struct maker m = {.spec = spec, .arena = a, .p = &p};
    int rc = PR_OK;

    for (size_t i = 0; i <= spec->input_count; i++) {
        m.axes[i].name = i < spec->input_count ? spec->inputs[i] : spec->output;
        m.axes[i].names = pr_names_new();
        if (!m.axes[i].names)
            rc = pr_fail_nomem(err);
    }
    for (size_t i = 0; !rc && i < pr_results_size(set); i++)
        rc = pivot_add_entry(&m, pr_results_row_at(set, i), err);
    if (!rc)
        rc = pivot_sort_entries(&m, err);
    if (!rc)
        rc = pivot_fill_rows(&m, err);
    for (size_t i = 0; i <= spec->input_count; i++)
        pr_names_free(m.axes[i].names);
    if (!rc)
        *ret = p;
    return rc;
}

/* ---- what follows from them */

double pr_pivot_speedup(const struct pr_pivot *p,
                        const struct pr_pivot_row *row, size_t column)
{
    const struct pr_pivot_measure *base = &row->cells[0].rate;
    const struct pr_pivot_measure *f = &row->cells[column].rate;

    (void)p;
    if (!base->n || !f->n || !(base->mean > 0))
        return NAN;
    return column ? f->mean / base->mean : 1;
}

static double get_work_share(const struct pr_pivot *p, size_t column)
{
    const struct pr_value *first = &p->columns.values[0];
    const struct pr_value *v = &p->columns.values[column];

    for (size_t i = 0; i < p->spec.input_count; i++)
        if (strcmp(p->spec.inputs[i], "exp.effective_batch") == 0 &&
            pr_value_is_number(v) && pr_value_is_number(first) &&
            pr_value_number(first) > 0)
            return pr_value_number(v) / pr_value_number(first);
    return 1;
}

double pr_pivot_efficiency(const struct pr_pivot *p,
                           const struct pr_pivot_row *row, size_t column)
{
    const struct pr_pivot_measure *base = &row->cells[0].time;
    const struct pr_pivot_measure *f = &row->cells[column].time;
    double percent;

    if (!base->n || !f->n || !(f->mean > 0))
        return NAN;
    if (!column)
        return 100;
    percent =
        trunc(10000.0 * base->mean / (get_work_share(p, column) * f->mean)) /
        100.0;
    return percent > 100 ? 100 : percent;
}
