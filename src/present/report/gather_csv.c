/*
 * Numbers are written as Python writes them, and computed in its order: a sum
 * over logs, divided by their number and a little more, rounded to two places,
 * cut. Published tables depend on each of these steps.
 */
#include "present/report/gather_csv.h"

#include "present/table/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
