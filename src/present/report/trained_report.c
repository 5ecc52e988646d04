/* Reports of experiments that trained a network. */
#include "present/report/trained_report.h"

#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "present/report/emulate_report.h"
#include "present/report/report_text.h"
#include "present/report/results_each.h"
#include "present/table/emulate_figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT_WIDTH = 60, MAX_LAYERS = 40 };

static const struct pr_value *trained_find_list(const struct pr_value *results,
                                                const char *name)
{
    const struct pr_value *v = results ? pr_get(results, name) : NULL;

    return v && v->kind == PR_LIST ? v : NULL;
}

bool pr_is_trained(const struct pr_value *results)
{
    const struct pr_value *flops = results ? pr_get(results, "flops") : NULL;

    return trained_find_list(results, "time_data") && flops &&
           pr_value_is_number(flops);
}

/* Whether a figure is items a second. */
static bool is_rate(const char *name)
{
    static const char steady[] = "steady_";

    return strcmp(name, "throughput") == 0 ||
           (strncmp(name, steady, sizeof steady - 1) == 0 &&
            !strstr(name, "correlation"));
}

/* A figure for people; false: it is none. */
static bool trained_measure_text(const struct pr_value *results,
                                 const struct pr_member *m, char out[static 64])
{
    const struct pr_value *item = pr_get(results, "item");

    if (strcmp(m->key, "exit_status") == 0 ||
        !pr_measure_text(m->key, &m->value, out))
        return false;
    if (is_rate(m->key) && item && item->kind == PR_STR)
        snprintf(out, 64,
                 pr_value_number(&m->value) < 1000 ? "%.4g %.40ss/s"
                                                   : "%.0f %.40ss/s",
                 pr_value_number(&m->value), item->s);
    return true;
}

/* What older runs called otherwise. */
static const char *trained_measure_name(const char *key)
{
    return strcmp(key, "steady_correlation") == 0 ? "steady_autocorrelation"
                                                  : key;
}

static int trained_print_measures(const struct pr_value *results,
                                  enum pr_table_format format,
                                  const struct pr_table_style *style,
                                  struct pr_buf *out, struct pr_err *err)
{
    static const struct pr_table_column cols[] = {
        {"figure", PR_COL_STR, NULL, PR_ALIGN_AUTO, "figure"},
        {"value", PR_COL_STR, NULL, PR_ALIGN_RIGHT, "value"}};
    struct pr_table *t = pr_table_new(cols, 2);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < results->len; i++) {
        const struct pr_member *m = &results->members[i];
        char value[64], label[96];

        if (!trained_measure_text(results, m, value))
            continue;
        pr_table_row(t);
        pr_table_set_str(t, 0,
                         pr_measure_label(trained_measure_name(m->key), label));
        pr_table_set_str(t, 1, value);
    }
    pr_report_heading(out, format, "Figures");
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- the loss */

static int trained_print_loss(const struct pr_value *results,
                              enum pr_table_format format, struct pr_buf *out,
                              struct pr_err *err)
{
    const struct pr_value *list = trained_find_list(results, "loss_data");
    double *numbers;
    size_t n = 0;

    if (!list || list->len < 2)
        return PR_OK;
    numbers = pr_alloc(list->len * sizeof *numbers);
    if (!numbers)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < list->len; i++)
        if (pr_value_is_number(&list->items[i]) &&
            isfinite(pr_value_number(&list->items[i])))
            numbers[n++] = pr_value_number(&list->items[i]);
    if (n > 1) {
        pr_report_heading(out, format, "Loss");
        pr_buf_printf(out, "%.4g ", numbers[0]);
        pr_spark_write(numbers, n, PLOT_WIDTH, out);
        pr_buf_printf(out, " %.4g\n", numbers[n - 1]);
    }
    pr_free(numbers);
    return PR_OK;
}

/* ---- the layers, the slowest first */

static double trained_read_number(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && pr_value_is_number(v) ? pr_value_number(v) : 0;
}

static double trained_layer_ms(const struct pr_value *layer)
{
    return trained_read_number(layer, "forward_ms") +
           trained_read_number(layer, "backward_ms") +
           trained_read_number(layer, "update_ms");
}

static int trained_compare_layer_ms(const void *a, const void *b)
{
    double x = trained_layer_ms(a), y = trained_layer_ms(b);

    return (x < y) - (x > y);
}

static int trained_print_layers(const struct pr_value *results,
                                enum pr_table_format format,
                                const struct pr_table_style *style,
                                struct pr_buf *out, struct pr_err *err)
{
    const struct pr_value *list = trained_find_list(results, "layers");
    struct pr_value *sorted, shown;
    int rc;

    if (!list || !list->len)
        return PR_OK;
    sorted = pr_alloc(list->len * sizeof *sorted);
    if (!sorted)
        return pr_fail_nomem(err);
    memcpy(sorted, list->items, list->len * sizeof *sorted);
    qsort(sorted, list->len, sizeof *sorted, trained_compare_layer_ms);
    shown = *list;
    shown.items = sorted;
    shown.len = list->len < MAX_LAYERS ? list->len : MAX_LAYERS;
    pr_report_heading(out, format, "Layers");
    rc = pr_measure_rows(&shown, format, style, out, err);
    if (!rc && shown.len < list->len)
        pr_buf_printf(out, "… and %u more, see result.json\n",
                      list->len - shown.len);
    pr_free(sorted);
    return rc;
}

int pr_trained_report(const char *id, const struct pr_value *results,
                      enum pr_table_format format,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err)
{
    int rc;

    pr_report_title(out, format, id, results);
    rc = trained_print_loss(results, format, out, err);
    if (!rc)
        rc = trained_print_measures(results, format, style, out, err);
    return rc ? rc : trained_print_layers(results, format, style, out, err);
}

/* ---- a whole run */

struct trained_report_reports {
    enum pr_table_format format;
    const struct pr_table_style *style;
    struct pr_buf *out;
    struct pr_json_writer *jb;
    const char *key;
    uint64_t count;
};

static int trained_add_report(void *ctx, const char *id,
                              const struct pr_value *results,
                              struct pr_err *err)
{
    struct trained_report_reports *r = ctx;

    if (!pr_is_trained(results))
        return PR_OK;
    pr_buf_char(r->out, '\n');
    return pr_trained_report(id, results, r->format, r->style, r->out, err);
}

int pr_trained_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err)
{
    struct trained_report_reports r = {
        .format = format, .style = style, .out = out};

    return pr_run_each_result(dir, trained_add_report, &r, err);
}

static int trained_add_json(void *ctx, const char *id,
                            const struct pr_value *results, struct pr_err *err)
{
    struct trained_report_reports *r = ctx;

    (void)err;
    if (!pr_is_trained(results))
        return PR_OK;
    if (!r->count++)
        pr_json_open_array(r->jb, r->key);
    pr_json_open_object(r->jb, NULL);
    pr_json_put_str(r->jb, "id", id);
    pr_json_put_value(r->jb, "results", results);
    pr_json_close(r->jb);
    return PR_OK;
}

int pr_trained_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, struct pr_err *err)
{
    struct trained_report_reports r = {.jb = jb, .key = key};
    int rc = pr_run_each_result(dir, trained_add_json, &r, err);

    if (r.count)
        pr_json_close(jb);
    return rc;
}
