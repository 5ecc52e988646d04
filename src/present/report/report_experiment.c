/*
 * Reports of experiments, by what they did: trained a network, were probed,
 * emulated one. Names of figures say their units, so that new ones need nothing
 * here.
 */
#include "present/report/report_experiment.h"

#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "present/report/report_run.h"
#include "present/screen.h"
#include "present/table/measure_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the experiments of a run that are of one kind */

struct reports {
    bool (*is_of)(const struct pr_value *results);
    int (*report)(const char *id, const struct pr_value *results,
                  enum pr_table_format format,
                  const struct pr_table_style *style, struct pr_buf *out,
                  struct pr_err *err);
    enum pr_table_format format;
    const struct pr_table_style *style;
    struct pr_buf *out;
    struct pr_json_writer *jb;
    const char *key; /* of an array that is opened with the first; or NULL */
    uint64_t count;
    char id[256]; /* of the last */
};

static int add_report(void *ctx, const char *id, const struct pr_value *results,
                      struct pr_err *err)
{
    struct reports *r = ctx;

    if (!r->is_of(results))
        return PR_OK;
    r->count++;
    snprintf(r->id, sizeof r->id, "%s", id);
    pr_buf_char(r->out, '\n');
    return r->report(id, results, r->format, r->style, r->out, err);
}

static int add_json(void *ctx, const char *id, const struct pr_value *results,
                    struct pr_err *err)
{
    struct reports *r = ctx;

    (void)err;
    if (!r->is_of(results))
        return PR_OK;
    if (!r->count++ && r->key)
        pr_json_open_array(r->jb, r->key);
    pr_json_open_object(r->jb, NULL);
    pr_json_put_str(r->jb, "id", id);
    pr_json_put_value(r->jb, "results", results);
    pr_json_close(r->jb);
    return PR_OK;
}

/* ---- trained */

enum { PLOT_WIDTH = 60, MAX_LAYERS = 40 };

static const struct pr_value *find_list(const struct pr_value *results,
                                        const char *name)
{
    const struct pr_value *v = results ? pr_get(results, name) : NULL;

    return v && v->kind == PR_LIST ? v : NULL;
}

bool pr_is_trained(const struct pr_value *results)
{
    const struct pr_value *flops = results ? pr_get(results, "flops") : NULL;

    return find_list(results, "time_data") && flops &&
           pr_value_is_number(flops);
}

/* Whether a figure is items a second. */
static bool is_rate(const char *name)
{
    return strcmp(name, "throughput") == 0 ||
           (pr_text_starts_with(name, "steady_") &&
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
        const char *name = m->key;
        char value[64], label[96];

        if (!trained_measure_text(results, m, value))
            continue;
        if (strcmp(name, "steady_correlation") == 0) /* of older runs */
            name = "steady_autocorrelation";
        pr_table_row(t);
        pr_table_set_str(t, 0, pr_measure_label(name, label));
        pr_table_set_str(t, 1, value);
    }
    pr_report_heading(out, format, "Figures");
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- trained: the loss */

static int trained_print_loss(const struct pr_value *results,
                              enum pr_table_format format, struct pr_buf *out,
                              struct pr_err *err)
{
    const struct pr_value *list = find_list(results, "loss_data");
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

/* ---- trained: the layers, the slowest first */

static double trained_layer_ms(const struct pr_value *layer)
{
    return pr_number_at(layer, "forward_ms", 0) +
           pr_number_at(layer, "backward_ms", 0) +
           pr_number_at(layer, "update_ms", 0);
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
    const struct pr_value *list = find_list(results, "layers");
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

/* ---- trained: a whole run */

int pr_trained_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err)
{
    struct reports r = {.is_of = pr_is_trained,
                        .report = pr_trained_report,
                        .format = format,
                        .style = style,
                        .out = out};

    return pr_run_each_result(dir, add_report, &r, err);
}

int pr_trained_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, struct pr_err *err)
{
    struct reports r = {.is_of = pr_is_trained, .jb = jb, .key = key};
    int rc = pr_run_each_result(dir, add_json, &r, err);

    if (r.count)
        pr_json_close(jb);
    return rc;
}

/* ---- probed */

static const char *const phases[] = {"io", "synthetic", "full"};

static const struct pr_table_column columns[] = {
    {"phase", PR_COL_STR, NULL, PR_ALIGN_AUTO, "phase"},
    {"samples/s", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "samples_per_s"},
    {"+/-", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "stdev"},
    {"fetch p50 (ms)", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "fetch_p50_ms"},
    {"p99", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "fetch_p99_ms"},
    {"step p50 (ms)", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "step_p50_ms"},
    {"p99", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "step_p99_ms"},
};

/* How the results call what a column shows. */
static const char *const endings[] = {
    NULL,
    "",
    "_stdev",
    "_fetch_p50_ms",
    "_fetch_p99_ms",
    "_step_p50_ms",
    "_step_p99_ms",
};

enum { COLUMNS = sizeof columns / sizeof *columns };

bool pr_is_probed(const struct pr_value *results)
{
    const struct pr_value *bound = results ? pr_get(results, "bound") : NULL;

    return bound && bound->kind == PR_STR;
}

static void probe_add_phase_row(struct pr_table *t,
                                const struct pr_value *results,
                                const char *phase)
{
    pr_table_row(t);
    pr_table_set_str(t, 0, phase);
    for (size_t i = 1; i < COLUMNS; i++) {
        const struct pr_value *v;
        char key[64];

        snprintf(key, sizeof key, "%s%s", phase, endings[i]);
        v = pr_get(results, key);
        if (v && pr_value_is_number(v))
            pr_table_set_float(t, i, pr_value_number(v));
    }
}

static void put_slowest(const struct pr_value *results, const char *phase,
                        enum pr_table_format format, struct pr_buf *out)
{
    static const char *const parts[] = {"fetch", "step"};
    static const char *const what[] = {"ms", "p50_ms", "p99_ms", "max_ms"};

    for (int p = 0; p < 2; p++) {
        char names[4][48], title[48];
        const char *list[4];

        for (int i = 0; i < 4; i++) {
            snprintf(names[i], sizeof names[i], "%s_%s_%s", phase, parts[p],
                     what[i]);
            list[i] = names[i];
        }
        snprintf(title, sizeof title, "%s %s", phase, parts[p]);
        pr_report_slowest(out, format, title, results, list);
    }
}

int pr_probe_report(const char *id, const struct pr_value *results,
                    enum pr_table_format format,
                    const struct pr_table_style *style, struct pr_buf *out,
                    struct pr_err *err)
{
    struct pr_table *t = pr_table_new(columns, COLUMNS);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (pr_get(results, phases[i]))
            probe_add_phase_row(t, results, phases[i]);
    if (format != PR_TABLE_CSV) {
        pr_report_title(out, format, id, results);
        pr_report_heading(out, format, "Phases");
    }
    rc = pr_table_print(t, format, style, out, err);
    pr_table_free(t);
    for (size_t i = 0;
         format != PR_TABLE_CSV && i < sizeof phases / sizeof *phases; i++)
        put_slowest(results, phases[i], format, out);
    return rc;
}

int pr_probe_report_run(const char *dir, enum pr_table_format format,
                        const struct pr_table_style *style, struct pr_buf *out,
                        struct pr_err *err)
{
    struct reports r = {.is_of = pr_is_probed,
                        .report = pr_probe_report,
                        .format = format,
                        .style = style,
                        .out = out};

    return pr_run_each_result(dir, add_report, &r, err);
}

/* ---- emulated */

/* Whether a results map (may be NULL) is of an emulated training. */
static bool is_emulated(const struct pr_value *results)
{
    return find_list(results, "by_epoch") || find_list(results, "checkpoints");
}

struct verdicts {
    struct pr_buf *out;
    uint64_t said, max, more;
};

static int add_verdict(void *ctx, const char *id,
                       const struct pr_value *results, struct pr_err *err)
{
    struct verdicts *v = ctx;
    const char *text = pr_run_result_verdict(results);

    (void)err;
    if (!text)
        return PR_OK;
    if (v->said == v->max) {
        v->more++;
        return PR_OK;
    }
    v->said++;
    pr_buf_printf(v->out, "%s: ", id);
    pr_screen_clean(v->out, text, strlen(text));
    pr_buf_char(v->out, '\n');
    return PR_OK;
}

int pr_emulate_verdicts(const char *dir, uint64_t max, struct pr_buf *out,
                        struct pr_err *err)
{
    struct verdicts v = {.out = out, .max = max};
    int rc = pr_run_each_result(dir, add_verdict, &v, err);

    if (!rc && v.more)
        pr_buf_printf(out, "… and %llu more, see 'prony report'\n",
                      (unsigned long long)v.more);
    return rc;
}

/* ---- emulated: one experiment */

enum { MAX_ACCELERATORS = 32 }; /* rows of a table */

static int emulate_print_measures(const struct pr_value *results, bool dlio,
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
        if (strcmp(m->key, "exit_status") == 0 ||
            pr_text_starts_with(m->key, "dlio.") != dlio ||
            !pr_measure_text(m->key, &m->value, value))
            continue;
        pr_table_row(t);
        pr_table_set_str(t, 0,
                         pr_measure_label(m->key + (dlio ? 5 : 0), label));
        pr_table_set_str(t, 1, value);
    }
    if (pr_table_rows(t))
        pr_report_heading(out, format, dlio ? "By DLIO's formulas" : "Figures");
    rc = pr_table_rows(t) ? pr_table_print(t, format, style, out, err) : PR_OK;
    pr_table_free(t);
    return rc;
}

/* A list of maps under a name: a table with this heading. */
static int emulate_print_rows(const struct pr_value *results, const char *name,
                              const char *text, enum pr_table_format format,
                              const struct pr_table_style *style,
                              struct pr_buf *out, struct pr_err *err)
{
    const struct pr_value *list = pr_get(results, name);

    if (!list || list->kind != PR_LIST || !list->len)
        return PR_OK;
    pr_report_heading(out, format, text);
    return pr_measure_rows(list, format, style, out, err);
}

static int emulate_print_by_accelerator(const struct pr_value *results,
                                        enum pr_table_format format,
                                        const struct pr_table_style *style,
                                        struct pr_buf *out, struct pr_err *err)
{
    const struct pr_value *map = pr_get(results, "by_accelerator");

    if (!map || map->kind != PR_MAP || !map->len)
        return PR_OK;
    if (map->members[0].value.kind == PR_LIST &&
        map->members[0].value.len > MAX_ACCELERATORS)
        return PR_OK; /* nobody reads so many rows; JSON has them */
    pr_report_heading(out, format, "By accelerator");
    return pr_measure_lists(map, format, style, out, err);
}

int pr_emulate_report(const char *id, const struct pr_value *results,
                      enum pr_table_format format,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err)
{
    static const char *const step[] = {"time", "step_ms_p50", "step_ms_p99",
                                       "step_ms_max"};
    int rc;

    pr_report_title(out, format, id, results);
    if (results->kind != PR_MAP)
        return PR_OK;
    rc = emulate_print_measures(results, false, format, style, out, err);
    pr_report_slowest(out, format, "step", results, step);
    if (!rc)
        rc = emulate_print_rows(results, "by_epoch", "By epoch", format, style,
                                out, err);
    if (!rc)
        rc = emulate_print_rows(results, "checkpoints", "Checkpoints", format,
                                style, out, err);
    if (!rc)
        rc = emulate_print_by_accelerator(results, format, style, out, err);
    return rc ? rc
              : emulate_print_measures(results, true, format, style, out, err);
}

/* ---- emulated: a whole run */

int pr_emulate_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, uint64_t *ret_count,
                          char ret_id[static 256], struct pr_err *err)
{
    struct reports r = {.is_of = is_emulated,
                        .report = pr_emulate_report,
                        .format = format,
                        .style = style,
                        .out = out};
    int rc = pr_run_each_result(dir, add_report, &r, err);

    if (!rc) {
        *ret_count = r.count;
        memcpy(ret_id, r.id, sizeof r.id);
    }
    return rc;
}

int pr_emulate_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, uint64_t *ret_count,
                           struct pr_err *err)
{
    struct reports r = {.is_of = is_emulated, .jb = jb};
    int rc;

    pr_json_open_array(jb, key);
    rc = pr_run_each_result(dir, add_json, &r, err);
    pr_json_close(jb);
    if (!rc)
        *ret_count = r.count;
    return rc;
}
