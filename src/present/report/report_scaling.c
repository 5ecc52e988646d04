/* DLBS's tables: fixed columns, a blank at the end of each, three empty lines
 * after a table. */
#include "present/report/report_scaling.h"

#include "base/json/json_write.h"
#include "base/number.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum figure {
    TIME,
    RATE,
    SPEEDUP,
    EFFICIENCY,
    TIME_CI,
    EFFICIENCY_CI,
    REPEATS,
};

/* Blanks up to a width, of what was written since. */
static void fill_up(struct pr_buf *out, size_t columns, size_t width)
{
    size_t n = columns < width ? width - columns : 0;

    if (!n || !pr_buf_reserve(out, n))
        return;
    memset(out->data + out->len, ' ', n);
    out->len += n;
    out->data[out->len] = '\0';
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

static void scaling_pad_text(struct pr_buf *out, const char *text,
                             unsigned width)
{
    size_t before = out->len, len = strlen(text);

    if (is_plain(text, len)) {
        pr_buf_add(out, text, len);
        fill_up(out, len, width);
        return;
    }
    pr_screen_clean(out, text, len);
    if (pr_buf_ok(out) && out->data)
        fill_up(out, pr_screen_columns(out->data + before, out->len - before),
                width);
}

/* " %-10.2f" or " %-10.0f": reports have hundreds of thousands of these. */
static bool put_fixed(struct pr_buf *out, double f, unsigned digits)
{
    char *cell;
    size_t n;

    if (!pr_buf_reserve(out, 1 + PR_DECIMAL_FIXED_MAX))
        return true;
    cell = out->data + out->len;
    memset(cell, ' ', 11);
    n = pr_decimal_fixed(f, digits, cell + 1);
    if (!n)
        return false;
    out->len += 1 + (n > 10 ? n : 10);
    out->data[out->len] = '\0';
    return true;
}

static void scaling_print_float(struct pr_buf *out, double f)
{
    if (!put_fixed(out, f, 2))
        pr_buf_printf(out, " %-10.2f", f);
}

/* round(time, 3), then two digits: as DLBS has it. */
static double scaling_round_time(double f)
{
    char text[400];
    int n = snprintf(text, sizeof text, "%.3f", f);

    return n > 0 && (size_t)n < sizeof text ? pr_decimal_read(text, (size_t)n)
                                            : f;
}

static void scaling_print_none(struct pr_buf *out)
{
    pr_buf_add(out, " -         ", 11);
}

/* Whole samples a second; of less than one, what there is of it. */
static void scaling_print_rate(struct pr_buf *out, double rate)
{
    if (rate >= 1 && put_fixed(out, trunc(rate), 0))
        return;
    if (rate >= 1 && rate < 9e15)
        pr_buf_printf(out, " %-10" PRId64, (int64_t)rate);
    else
        scaling_print_float(out, rate);
}

static void scaling_print_cell(const struct pr_scaling *s,
                               const struct pr_scaling_cell *c, enum figure f,
                               struct pr_buf *out)
{
    if (!c->n || ((f == SPEEDUP || f == EFFICIENCY) && !c->rated) ||
        (f == RATE && isnan(c->rate)) || (f == SPEEDUP && isnan(c->speedup)) ||
        (f == TIME_CI && c->n < 2) ||
        (f == EFFICIENCY_CI && !(c->efficiency_ci > 0)))
        scaling_print_none(out);
    else if (f == TIME)
        scaling_print_float(out, s->type == PR_SCALING_EXPLORATION
                                     ? scaling_round_time(c->time)
                                     : c->time);
    else if (f == RATE)
        scaling_print_rate(out, c->rate);
    else if (f == SPEEDUP && c->base)
        pr_buf_add(out, " 1         ", 11);
    else
        scaling_print_float(out, f == SPEEDUP      ? c->speedup
                                 : f == EFFICIENCY ? c->efficiency
                                 : f == TIME_CI    ? c->time_ci
                                                   : c->efficiency_ci);
}

static void scaling_print_header(const struct pr_scaling *s, struct pr_buf *out)
{
    bool batches = s->type == PR_SCALING_EXPLORATION;

    pr_buf_printf(out, "%-20s %-10s", "Network", batches ? "Device" : "Batch");
    for (size_t i = 0; i < s->column_count; i++)
        pr_buf_printf(out, " %-10" PRId64,
                      batches ? s->columns[i].batch : s->columns[i].count);
    pr_buf_char(out, '\n');
}

/* What stands before the cells of each row, in every table: made once. */
struct labels {
    struct pr_buf text;
    struct pr_buf ends; /* of size_t, one a row */
};

static void scaling_print_label(const struct pr_scaling_row *r,
                                struct pr_buf *out)
{
    size_t before;

    scaling_pad_text(out, r->net, 20);
    pr_buf_char(out, ' ');
    before = out->len;
    if (r->device) {
        scaling_pad_text(out, r->device, 10);
    } else {
        pr_buf_int(out, r->batch);
        fill_up(out, out->len - before, 10);
    }
}

static void scaling_make_labels(const struct pr_scaling *s, struct labels *ret)
{
    for (size_t i = 0; i < s->row_count; i++) {
        scaling_print_label(&s->rows[i], &ret->text);
        pr_buf_add(&ret->ends, &ret->text.len, sizeof ret->text.len);
    }
}

static void scaling_print_table(const struct pr_scaling *s,
                                const struct labels *labels, const char *title,
                                enum figure f, struct pr_buf *out)
{
    size_t start = 0, end;

    pr_buf_printf(out, "%s\n", title);
    scaling_print_header(s, out);
    for (size_t i = 0; i < s->row_count; i++, start = end) {
        memcpy(&end, labels->ends.data + i * sizeof end, sizeof end);
        pr_buf_add(out, labels->text.data + start, end - start);
        for (size_t k = 0; k < s->column_count; k++)
            scaling_print_cell(s, &s->rows[i].cells[k], f, out);
        pr_buf_char(out, '\n');
    }
    pr_buf_str(out, "\n\n\n");
}

static void scaling_print_tables(const struct pr_scaling *s,
                                 const struct labels *l, struct pr_buf *out)
{
    bool compared = s->type != PR_SCALING_EXPLORATION;

    scaling_print_table(s, l, "Batch time (milliseconds)", TIME, out);
    scaling_print_table(s, l, "Inferences Per Second (IPS, throughput)", RATE,
                        out);
    if (compared) {
        scaling_print_table(s, l, "Speedup (instances per second)", SPEEDUP,
                            out);
        scaling_print_table(s, l,
                            s->type == PR_SCALING_WEAK
                                ? "Efficiency  = 100% * t1 / tN"
                                : "Efficiency = 100% * t1 / (N * tN)",
                            EFFICIENCY, out);
    }
    if (!s->repeats)
        return;
    scaling_print_table(s, l, "Batch time, 95% confidence: +/- milliseconds",
                        TIME_CI, out);
    if (compared)
        scaling_print_table(s, l, "Efficiency, 95% confidence: +/-",
                            EFFICIENCY_CI, out);
}

void pr_scaling_text(const struct pr_scaling *s, struct pr_buf *out)
{
    struct labels labels = {PR_BUF_INIT(out->max), PR_BUF_INIT(SIZE_MAX / 4)};
    size_t tables = s->type == PR_SCALING_EXPLORATION ? 2 : 4;

    scaling_make_labels(s, &labels);
    if (!pr_buf_ok(&labels.text) || !pr_buf_ok(&labels.ends)) {
        out->failed = true;
    } else {
        /* At once: a report of megabytes is copied with each doubling. */
        (void)pr_buf_reserve(
            out,
            tables * (labels.text.len + s->row_count * (11 * s->column_count)));
        scaling_print_tables(s, &labels, out);
    }
    pr_buf_free(&labels.text);
    pr_buf_free(&labels.ends);
}

/* ---- JSON */

static void scaling_write_profile(struct pr_json_writer *jb, const char *net,
                                  const char *kind, int64_t batch)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "m", net);
    pr_json_open_object(jb, "hw");
    pr_json_put_str(jb, "name", "");
    pr_json_put_str(jb, "pu", "");
    pr_json_put_int(jb, "n", 1);
    pr_json_open_object(jb, "cluster");
    pr_json_put_int(jb, "sz", 1);
    pr_json_put_str(jb, "interconnect", "");
    pr_json_close(jb);
    pr_json_close(jb);
    pr_json_open_object(jb, "sw");
    pr_json_put_str(jb, "rtm", "");
    pr_json_put_int(jb, "bsz", batch);
    pr_json_put_str(jb, "btype", kind);
    pr_json_close(jb);
}

/* The cells of a row that have a value, one for each number of devices. */
static void scaling_write_measures(const struct pr_scaling *s,
                                   const struct pr_scaling_cell *cells,
                                   size_t count, enum figure f, const char *key,
                                   struct pr_json_writer *jb)
{
    char name[24];

    pr_json_open_object(jb, key);
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count || s->type == PR_SCALING_EXPLORATION ||
                    s->columns[i + 1].count != s->columns[i].count ||
                    !cells[i + 1].n;
        if (!cells[i].n || !last || (f == TIME_CI && cells[i].n < 2))
            continue;
        snprintf(name, sizeof name, "%" PRId64,
                 s->type == PR_SCALING_EXPLORATION ? 1 : s->columns[i].count);
        if (f == REPEATS)
            pr_json_put_uint(jb, name, cells[i].n);
        else
            pr_json_put_float(jb, name,
                              f == TIME ? cells[i].time : cells[i].time_ci);
    }
    pr_json_close(jb);
}

static void scaling_write_perf(const struct pr_scaling *s,
                               const struct pr_scaling_cell *cells,
                               size_t count, struct pr_json_writer *jb)
{
    bool repeats = false;

    for (size_t i = 0; i < count; i++)
        repeats |= cells[i].n > 1;
    pr_json_open_object(jb, "perf");
    scaling_write_measures(s, cells, count, TIME, "data", jb);
    pr_json_open_array(jb, "estimates");
    pr_json_close(jb);
    if (repeats) {
        scaling_write_measures(s, cells, count, REPEATS, "repeats", jb);
        scaling_write_measures(s, cells, count, TIME_CI, "ci95", jb);
    }
    pr_json_close(jb);
    pr_json_close(jb);
}

void pr_scaling_json(const struct pr_scaling *s, struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 4);
    pr_json_open_object(&jb, NULL);
    pr_json_open_array(&jb, "data");
    for (size_t i = 0; i < s->row_count; i++) {
        const struct pr_scaling_row *r = &s->rows[i];

        if (s->type != PR_SCALING_EXPLORATION) {
            scaling_write_profile(
                &jb, r->net, s->type == PR_SCALING_WEAK ? "weak" : "strong",
                r->batch);
            scaling_write_perf(s, r->cells, s->column_count, &jb);
            continue;
        }
        for (size_t k = 0; k < s->column_count; k++)
            if (r->cells[k].n) {
                scaling_write_profile(&jb, r->net, "strong",
                                      s->columns[k].batch);
                scaling_write_perf(s, &r->cells[k], 1, &jb);
            }
    }
    pr_json_close(&jb);
    pr_json_close(&jb);
}
