/* Reports of emulated experiments. Names of figures say their units, so that
 * new ones need nothing here. */
#include "present/report/emulate_report.h"

#include "present/report/report_text.h"
#include "present/report/results_each.h"
#include "present/screen.h"
#include "present/table/emulate_figure.h"

#include <stdio.h>
#include <string.h>

static bool has_list(const struct pr_value *results, const char *name)
{
    const struct pr_value *v = results ? pr_get(results, name) : NULL;

    return v && v->kind == PR_LIST;
}

/* Whether a results map (may be NULL) is of an emulated training. */
static bool is_emulated(const struct pr_value *results)
{
    return has_list(results, "by_epoch") || has_list(results, "checkpoints");
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

/* ---- one experiment */

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
            (strncmp(m->key, "dlio.", 5) == 0) != dlio ||
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

/* ---- a whole run */

struct reports {
    enum pr_table_format format;
    const struct pr_table_style *style;
    struct pr_buf *out;
    struct pr_json_writer *jb;
    uint64_t count;
    char id[256];
};

static int emulate_add_report(void *ctx, const char *id,
                              const struct pr_value *results,
                              struct pr_err *err)
{
    struct reports *r = ctx;

    if (!is_emulated(results))
        return PR_OK;
    r->count++;
    snprintf(r->id, sizeof r->id, "%s", id);
    pr_buf_char(r->out, '\n');
    return pr_emulate_report(id, results, r->format, r->style, r->out, err);
}

int pr_emulate_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, uint64_t *ret_count,
                          char ret_id[static 256], struct pr_err *err)
{
    struct reports r = {.format = format, .style = style, .out = out};
    int rc = pr_run_each_result(dir, emulate_add_report, &r, err);

    if (!rc) {
        *ret_count = r.count;
        memcpy(ret_id, r.id, sizeof r.id);
    }
    return rc;
}

static int emulate_add_json(void *ctx, const char *id,
                            const struct pr_value *results, struct pr_err *err)
{
    struct reports *r = ctx;

    (void)err;
    if (!is_emulated(results))
        return PR_OK;
    r->count++;
    pr_json_open_object(r->jb, NULL);
    pr_json_put_str(r->jb, "id", id);
    pr_json_put_value(r->jb, "results", results);
    pr_json_close(r->jb);
    return PR_OK;
}

int pr_emulate_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, uint64_t *ret_count,
                           struct pr_err *err)
{
    struct reports r = {.jb = jb};
    int rc;

    pr_json_open_array(jb, key);
    rc = pr_run_each_result(dir, emulate_add_json, &r, err);
    pr_json_close(jb);
    if (!rc)
        *ret_count = r.count;
    return rc;
}
