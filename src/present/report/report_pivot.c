/* DLBS's layout: inputs to the left, outputs to the right, widths from what is
 * in the columns of times and throughputs. */
#include "present/report/report_pivot.h"

#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum figure { TIME, RATE, SPEEDUP, EFFICIENCY, TIME_CI, RATE_CI };

struct layout {
    const struct pr_pivot *p;
    size_t input_width[PR_PIVOT_INPUTS];
    size_t *output_width;
    struct pr_buf *out;
};

static const char *pivot_column_title(const struct pr_pivot *p,
                                      const char *name)
{
    static const char *const titles[][2] = {
        {"exp.model_title", "Model"},
        {"exp.replica_batch", "Replica Batch"},
        {"exp.effective_batch", "Effective Batch"},
        {"exp.num_gpus", "Num GPUs"},
        {"exp.gpus", "GPUs"},
        {"exp.dtype", "Precision"},
        {"exp.docker_image", "Docker Image"},
        {"exp.device_type", "DeviceType"},
    };

    if (p->processors && strcmp(name, "exp.num_gpus") == 0)
        return "Num Devices";
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], name) == 0)
            return titles[i][1];
    return name;
}

/* ---- words */

static void pivot_print_value(const struct pr_value *v, struct pr_buf *out)
{
    if (v->kind == PR_STR)
        pr_screen_clean(out, v->s, v->len);
    else if (v->kind == PR_FLOAT)
        pr_buf_printf(out, "%.2f", v->f);
    else if (v->kind == PR_BOOL)
        pr_buf_printf(out, "%d", v->b);
    else
        pr_value_write_text(out, v);
}

static void pivot_print_number(double f, bool whole, struct pr_buf *out)
{
    if (isnan(f))
        pr_buf_char(out, '-');
    else if (whole)
        pr_buf_printf(out, "%.0f", f);
    else
        pr_buf_printf(out, "%.2f", f);
}

static double pivot_get_measure(const struct pr_pivot *p,
                                const struct pr_pivot_row *row, size_t col,
                                enum figure f, bool *ret_whole)
{
    const struct pr_pivot_cell *c = &row->cells[col];
    const struct pr_pivot_measure *x =
        f == TIME || f == TIME_CI ? &c->time : &c->rate;

    *ret_whole = (f == TIME || f == RATE) && x->whole;
    switch (f) {
    case SPEEDUP:
        return pr_pivot_speedup(p, row, col);
    case EFFICIENCY:
        return pr_pivot_efficiency(p, row, col);
    case TIME_CI:
    case RATE_CI:
        return x->n > 1 ? x->ci : NAN;
    default:
        return x->n ? x->mean : NAN;
    }
}

/* ---- widths */

static size_t pivot_value_width(const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pivot_print_value(v, &text);
    return text.data ? pr_screen_columns(text.data, text.len) : 0;
}

static void pivot_widen(size_t *width, size_t other)
{
    if (other > *width)
        *width = other;
}

static void widen_by(const struct layout *l, const struct pr_pivot_row *row,
                     size_t col, enum figure f)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1024);
    bool whole;
    double x = pivot_get_measure(l->p, row, col, f, &whole);

    pivot_print_number(x, whole, &text);
    pivot_widen(&l->output_width[col], text.len);
}

static void find_widths(struct layout *l)
{
    const struct pr_pivot *p = l->p;

    for (size_t i = 0; i < p->spec.input_count; i++) {
        l->input_width[i] = strlen(pivot_column_title(p, p->spec.inputs[i]));
        for (size_t k = 0; k < p->axes[i].count; k++)
            pivot_widen(&l->input_width[i],
                        pivot_value_width(&p->axes[i].values[k]));
    }
    for (size_t k = 0; k < p->columns.count; k++) {
        l->output_width[k] = pivot_value_width(&p->columns.values[k]);
        for (size_t i = 0; i < p->row_count; i++) {
            widen_by(l, &p->rows[i], k, TIME);
            widen_by(l, &p->rows[i], k, RATE);
        }
    }
}

/* ---- tables */

static void pivot_print_left(struct layout *l, size_t i,
                             const struct pr_value *v)
{
    pr_buf_str(l->out, "  ");
    pivot_print_value(v, l->out);
    pr_screen_blanks(l->out, l->input_width[i] - pivot_value_width(v));
}

static void pivot_print_right(struct layout *l, size_t col,
                              const struct pr_buf *text)
{
    size_t n = pr_screen_columns(text->data, text->len);

    pr_screen_blanks(l->out,
                     n < l->output_width[col] ? l->output_width[col] - n : 0);
    pr_buf_add(l->out, text->data, text->len);
    pr_buf_str(l->out, "  ");
}

static void pivot_print_header(struct layout *l)
{
    const struct pr_pivot *p = l->p;
    size_t left = 4;

    for (size_t i = 0; i < p->spec.input_count; i++)
        left += 2 + l->input_width[i];
    pr_screen_blanks(l->out, left);
    pr_buf_printf(l->out, "%s\n", pivot_column_title(p, p->spec.output));
    for (size_t i = 0; i < p->spec.input_count; i++) {
        struct pr_value title =
            pr_str(pivot_column_title(p, p->spec.inputs[i]));
        pivot_print_left(l, i, &title);
    }
    pr_buf_str(l->out, "    ");
    for (size_t k = 0; k < p->columns.count; k++) {
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
        pivot_print_value(&p->columns.values[k], &text);
        if (text.data)
            pivot_print_right(l, k, &text);
    }
    pr_buf_char(l->out, '\n');
}

/* A row of nothing is left out. */
static void pivot_print_row(struct layout *l, const struct pr_pivot_row *row,
                            enum figure f)
{
    const struct pr_pivot *p = l->p;
    bool any = false, whole;

    for (size_t k = 0; k < p->columns.count; k++)
        any |= !isnan(pivot_get_measure(p, row, k, f, &whole));
    if (!any)
        return;
    for (size_t i = 0; i < p->spec.input_count; i++)
        pivot_print_left(l, i, row->keys[i]);
    pr_buf_str(l->out, "    ");
    for (size_t k = 0; k < p->columns.count; k++) {
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1024);
        double x = pivot_get_measure(p, row, k, f, &whole);
        pivot_print_number(x, whole, &text);
        if (text.data)
            pivot_print_right(l, k, &text);
    }
    pr_buf_char(l->out, '\n');
}

static void pivot_print_table(struct layout *l, const char *title,
                              enum figure f)
{
    pr_buf_str(l->out, title);
    if (f == SPEEDUP || f == EFFICIENCY) {
        pr_buf_printf(l->out, ", relative to first output column (%s = ",
                      l->p->spec.output);
        if (l->p->columns.count)
            pr_value_write_text(l->out, &l->p->columns.values[0]);
        pr_buf_str(l->out, "))");
    }
    pr_buf_char(l->out, '\n');
    pivot_print_header(l);
    for (size_t i = 0; i < l->p->row_count; i++)
        pivot_print_row(l, &l->p->rows[i], f);
    pr_buf_str(l->out, "\n\n\n");
}

static const char *python_bool(bool b)
{
    return b ? "True" : "False";
}

static void pivot_print_spec(const struct pr_pivot_spec *s, struct pr_buf *out)
{
    pr_buf_str(out, "This report is configured with the following parameters:\n"
                    " inputs = [");
    for (size_t i = 0; i < s->input_count; i++) {
        struct pr_value name = pr_str(s->inputs[i]);
        pr_buf_str(out, i ? ", " : "");
        pr_value_write_repr(out, &name);
    }
    pr_buf_printf(out, "]\n output = %s\n output_cols = ", s->output);
    if (s->output_cols)
        pr_value_write_text(out, s->output_cols);
    else
        pr_buf_str(out, "None");
    pr_buf_printf(out, "\n report_speedup = %s\n report_efficiency = %s\n",
                  python_bool(s->speedup), python_bool(s->efficiency));
}

static void pivot_print_tables(struct layout *l)
{
    const struct pr_pivot_spec *s = &l->p->spec;

    find_widths(l);
    if (!s->no_times)
        pivot_print_table(l, "Batch time (milliseconds)", TIME);
    pivot_print_table(l, "Throughput (instances per second e.g. images/sec)",
                      RATE);
    if (s->speedup)
        pivot_print_table(l, "Speedup (based on instances per second table",
                          SPEEDUP);
    if (s->efficiency)
        pivot_print_table(l, "Efficiency (based on batch times table",
                          EFFICIENCY);
    if (!l->p->repeats)
        return;
    if (!s->no_times)
        pivot_print_table(l, "Batch time, 95% confidence: +/- milliseconds",
                          TIME_CI);
    pivot_print_table(l, "Throughput, 95% confidence: +/- instances per second",
                      RATE_CI);
}

int pr_pivot_text(const struct pr_pivot *p, struct pr_arena *a,
                  struct pr_buf *out, struct pr_err *err)
{
    struct layout l = {.p = p, .out = out};

    l.output_width = PR_ARENA_ARRAY(a, size_t, p->columns.count);
    if (!l.output_width)
        return pr_fail_nomem(err);
    pivot_print_tables(&l);
    if (!p->spec.no_specs)
        pivot_print_spec(&p->spec, out);
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
