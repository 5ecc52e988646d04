/* The table, a row for each task of each system. */
#include "present/report/gather_report.h"

#include "analyse/gpu_systems.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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
