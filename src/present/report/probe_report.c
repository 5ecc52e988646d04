/* Reports of experiments that were probed. */
#include "present/report/probe_report.h"

#include "present/report/report_text.h"
#include "present/report/results_each.h"

#include <stdio.h>

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

struct probe_report_reports {
    enum pr_table_format format;
    const struct pr_table_style *style;
    struct pr_buf *out;
};

static int probe_add_report(void *ctx, const char *id,
                            const struct pr_value *results, struct pr_err *err)
{
    struct probe_report_reports *r = ctx;

    if (!pr_is_probed(results))
        return PR_OK;
    pr_buf_char(r->out, '\n');
    return pr_probe_report(id, results, r->format, r->style, r->out, err);
}

int pr_probe_report_run(const char *dir, enum pr_table_format format,
                        const struct pr_table_style *style, struct pr_buf *out,
                        struct pr_err *err)
{
    struct probe_report_reports r = {
        .format = format, .style = style, .out = out};

    return pr_run_each_result(dir, probe_add_report, &r, err);
}
