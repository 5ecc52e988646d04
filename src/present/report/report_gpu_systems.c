/*
 * Lambda's tables, and our own of the same results.
 *
 * In Lambda's numbers are written as Python writes them, and computed in its
 * order: a sum over logs, divided by their number and a little more, rounded to
 * two places, cut. Published tables depend on each of these steps.
 */
#include "present/report/report_gpu_systems.h"

#include "analyse/gpu_systems.h"
#include "present/screen.h"
#include "present/table/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- our own: a row for each task of each system */

enum column {
    SYSTEM,
    TASK,
    PRECISION,
    GPUS,
    BATCH,
    RUNS,
    FAILED,
    MEAN,
    DEVIATION,
    MIN,
    MAX,
    UNIT,
    PRINTED,
    PER_DOLLAR,
    PER_WATT,
    NOTES,
    COLUMNS,
};

static const struct pr_table_column columns[COLUMNS] = {
    [SYSTEM] = {.title = "system", .kind = PR_COL_STR},
    [TASK] = {.title = "task", .kind = PR_COL_STR},
    [PRECISION] = {.title = "prec", .kind = PR_COL_STR, .key = "precision"},
    [GPUS] = {.title = "gpus", .kind = PR_COL_INT},
    [BATCH] = {.title = "batch", .kind = PR_COL_INT, .key = "global_batch"},
    [RUNS] = {.title = "n", .kind = PR_COL_INT},
    [FAILED] = {.title = "failed", .kind = PR_COL_INT},
    [MEAN] = {.title = "mean", .kind = PR_COL_FLOAT},
    [DEVIATION] = {.title = "sd", .kind = PR_COL_FLOAT, .key = "deviation"},
    [MIN] = {.title = "min", .kind = PR_COL_FLOAT},
    [MAX] = {.title = "max", .kind = PR_COL_FLOAT},
    [UNIT] = {.title = "unit", .kind = PR_COL_STR},
    [PRINTED] = {.title = "printed", .kind = PR_COL_FLOAT},
    [PER_DOLLAR] = {.title = "per $",
                    .kind = PR_COL_FLOAT,
                    .key = "per_dollar"},
    [PER_WATT] = {.title = "per W", .kind = PR_COL_FLOAT, .key = "per_watt"},
    [NOTES] = {.title = "notes", .kind = PR_COL_STR},
};

static void gpu_systems_print_warning(struct pr_buf *out, const char *text)
{
    pr_buf_str(out, out->len ? "; " : "");
    pr_buf_str(out, text);
}

/* A failure is told from a task that never ran, and both from a figure. */
static void gpu_systems_print_warnings(const struct pr_gpu_systems_cell *c,
                                       const struct pr_gpu_systems_stat *s,
                                       struct pr_buf *out)
{
    if (!c->count)
        gpu_systems_print_warning(out, "not run");
    if (s->failed) {
        gpu_systems_print_warning(out, "failed: ");
        pr_buf_str(out, pr_gpu_task_end_words(s->why));
    }
    if (s->failed && *s->words) {
        size_t n = strlen(s->words);
        pr_buf_str(out, ": ");
        pr_screen_clean(out, s->words, n > 60 ? 60 : n);
    }
    if (s->flags & PR_GPU_SYSTEMS_CORRECTED)
        gpu_systems_print_warning(out,
                                  "corrected: steps not done were counted");
    if (s->flags & PR_GPU_SYSTEMS_IMPLAUSIBLE)
        gpu_systems_print_warning(out,
                                  "implausible: more than such a GPU can do");
    if (s->flags & PR_GPU_SYSTEMS_SPREAD)
        gpu_systems_print_warning(out, "runs differ by a tenth and more");
    if (s->flags & PR_GPU_SYSTEMS_NO_DONE)
        gpu_systems_print_warning(out, "a log does not end with DONE!");
}

static void gpu_systems_set_measures(struct pr_table *t,
                                     const struct pr_gpu_systems_stat *s)
{
    if (!s->n)
        return;
    pr_table_set_float(t, MEAN, s->mean);
    pr_table_set_float(t, DEVIATION, s->deviation);
    pr_table_set_float(t, MIN, s->min);
    pr_table_set_float(t, MAX, s->max);
    if (s->flags & PR_GPU_SYSTEMS_CORRECTED)
        pr_table_set_float(t, PRINTED, s->printed);
    pr_table_set_float(t, PER_DOLLAR, s->per_dollar);
    pr_table_set_float(t, PER_WATT, s->per_watt);
}

static void gpu_systems_add_table_row(struct pr_table *t,
                                      const struct pr_gpu_systems_row *row,
                                      const struct pr_gpu_systems_cell *c)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(4096);
    struct pr_gpu_systems_stat s;

    pr_gpu_systems_compute_stat(row, c, &s);
    gpu_systems_print_warnings(c, &s, &notes);
    pr_table_row(t);
    pr_table_set_str(t, SYSTEM, row->name);
    pr_table_set_str(t, TASK, c->task->column);
    pr_table_set_str(t, PRECISION, pr_gpu_task_precision(c->name));
    pr_table_set_int(t, GPUS, c->para.has_gpus ? c->para.gpus : row->gpus);
    if (c->para.has_batch)
        pr_table_set_int(t, BATCH, c->para.batch);
    pr_table_set_int(t, RUNS, (int64_t)s.n);
    pr_table_set_int(t, FAILED, (int64_t)s.failed);
    pr_table_set_str(t, UNIT, c->task->unit);
    gpu_systems_set_measures(t, &s);
    if (notes.len)
        pr_table_set_strn(t, NOTES, notes.data, notes.len);
}

int pr_gpu_systems_report(const struct pr_gpu_systems *g,
                          enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err)
{
    struct pr_table *t = pr_table_new(columns, COLUMNS);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->rows[i].count; k++)
            gpu_systems_add_table_row(t, &g->rows[i], &g->rows[i].cells[k]);
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- Lambda's tables */

/* A name that needs it is quoted as Python's csv does. */
static void gpu_systems_write_name(struct pr_buf *out, const char *name)
{
    const char *mark = pr_table_is_formula(name, strlen(name)) ? "'" : "";

    if (!strpbrk(name, ",\"\r\n")) {
        pr_buf_printf(out, "%s%s", mark, name);
        return;
    }
    pr_buf_printf(out, "\"%s", mark);
    for (; *name; name++) {
        if (*name == '"')
            pr_buf_char(out, '"');
        pr_buf_char(out, *name);
    }
    pr_buf_char(out, '"');
}

static void gpu_systems_write_header(const struct pr_gpu_systems_opts *o,
                                     struct pr_buf *out)
{
    const struct pr_gpu_task_dialect *d = &o->tasks->dialects[o->dialect];

    if (o->dialect != PR_GPU_TASK_V2)
        pr_buf_str(out, "name_gpu,num_gpu,watt,price");
    for (size_t i = 0; i < d->count; i++) {
        pr_buf_char(out, ',');
        pr_buf_str(out, d->columns[i]->column);
    }
    pr_buf_char(out, '\n');
}

/* round(f, 2): the decimal that is nearest, back as a double. */
static double round_cents(double f)
{
    char text[400];

    snprintf(text, sizeof text, "%.2f", f);
    return strtod(text, NULL);
}

static double gpu_systems_log_mean(const struct pr_gpu_systems_cell *c,
                                   double offset)
{
    double sum = 0, n = offset;

    for (size_t i = 0; i < c->count; i++)
        if (c->logs[i].value > 0) {
            n += 1;
            sum += c->logs[i].value;
        }
    return trunc(round_cents(sum / n));
}

/* Of all GPUs; a whole number stays one. */
static struct pr_value multiply_by_gpus(const struct pr_value *one, int gpus)
{
    if (one->kind == PR_INT && one->i < INT64_MAX / 100000)
        return pr_int(one->i * gpus);
    return pr_value_is_number(one) ? pr_float(pr_value_number(one) * gpus)
                                   : pr_null();
}

static void gpu_systems_write_number(struct pr_buf *out,
                                     const struct pr_value *v, bool as_float)
{
    pr_buf_char(out, ',');
    if (v->kind == PR_INT && !as_float)
        pr_buf_printf(out, "%" PRId64, v->i);
    else if (pr_value_is_number(v))
        pr_float_write_repr(out, pr_value_number(v));
}

static void gpu_systems_write_system(const struct pr_gpu_systems_row *row,
                                     const struct pr_gpu_systems_opts *o,
                                     bool as_float, struct pr_buf *out)
{
    struct pr_value none = pr_null(), gpus = pr_int(row->gpus), watt, price;
    const struct pr_system *s = row->system;

    gpu_systems_write_name(out, row->name);
    if (o->dialect == PR_GPU_TASK_V2)
        return;
    watt = multiply_by_gpus(s ? &s->watt : &none, row->gpus);
    price = multiply_by_gpus(s ? &s->price : &none, row->gpus);
    gpu_systems_write_number(out, &gpus, as_float);
    gpu_systems_write_number(out, &watt, as_float);
    gpu_systems_write_number(out, &price, as_float);
}

void pr_gpu_systems_csv(const struct pr_gpu_systems *g,
                        const struct pr_gpu_systems_opts *o, struct pr_buf *out)
{
    double offset = o->tasks->dialects[o->dialect].offset;

    gpu_systems_write_header(o, out);
    for (size_t i = 0; i < g->count; i++) {
        gpu_systems_write_system(&g->rows[i], o, true, out);
        for (size_t k = 0; k < g->rows[i].count; k++) {
            const struct pr_gpu_systems_cell *c = &g->rows[i].cells[k];

            pr_buf_char(out, ',');
            pr_float_write_repr(out, c->rule ? gpu_systems_log_mean(c, offset)
                                             : -1.0);
        }
        pr_buf_char(out, '\n');
    }
}

void pr_gpu_systems_csv_batches(const struct pr_gpu_systems *g,
                                const struct pr_gpu_systems_opts *o,
                                struct pr_buf *out)
{
    gpu_systems_write_header(o, out);
    for (size_t i = 0; i < g->count; i++) {
        gpu_systems_write_system(&g->rows[i], o, false, out);
        for (size_t k = 0; k < g->rows[i].count; k++) {
            const struct pr_gpu_task_para *p = &g->rows[i].cells[k].para;

            pr_buf_char(out, ',');
            if (p->has_batch)
                pr_buf_printf(out, "%" PRId64, p->batch);
        }
        pr_buf_char(out, '\n');
    }
}
