/* Suites as CSV and Markdown: one row for each test, raw numbers. */
#include "present/report/suite_frame.h"
#include "present/report/suite_report.h"

#include <math.h>

enum { NAME, WEIGHT, N, FAIL, PERF, STD, ADJ, FAIR, PEAK, FIXED };

static const char *suite_table_number_name(struct pr_arena *a, const char *name,
                                           size_t base)
{
    return base ? pr_arena_printf(a, "%s_%zu", name, base + 1) : name;
}

/* A program reads it in a column, a person below the table. */
static bool suite_table_has_window(const struct pr_suite_report *r,
                                   enum pr_table_format format)
{
    return format == PR_TABLE_CSV && pr_suite_window_text(r->suite->kind);
}

static struct pr_table *suite_table_make(const struct pr_suite_report *r,
                                         enum pr_table_format format,
                                         struct pr_arena *a)
{
    static const struct pr_table_column fixed[FIXED] = {
        [NAME] = {"test", PR_COL_STR, NULL, PR_ALIGN_AUTO, "test"},
        [WEIGHT] = {"weight", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "weight"},
        [N] = {"n", PR_COL_INT, NULL, PR_ALIGN_AUTO, "n"},
        [FAIL] = {"fail", PR_COL_INT, NULL, PR_ALIGN_AUTO, "fail"},
        [PERF] = {"perf", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "perf"},
        [STD] = {"std%", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO, "std_percent"},
        [ADJ] = {"perf_adj", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "perf_adj"},
        [FAIR] = {"perf_penalised", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                  "perf_penalised"},
        [PEAK] = {"peak MiB", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                  "peak_memory_mib"},
    };
    struct pr_table_column *cols =
        PR_ARENA_ARRAY(a, struct pr_table_column, FIXED + 2 * r->bases + 1);

    if (!cols)
        return NULL;
    for (size_t i = 0; i < FIXED; i++)
        cols[i] = fixed[i];
    for (size_t i = 0; i < r->bases; i++) {
        struct pr_table_column *c = &cols[FIXED + 2 * i];
        c[0] = (struct pr_table_column){
            .title = suite_table_number_name(a, "perf_base", i),
            .kind = PR_COL_FLOAT};
        c[1] = (struct pr_table_column){
            .title = suite_table_number_name(a, "perf_ratio", i),
            .kind = PR_COL_FLOAT};
        c[0].key = c[0].title;
        c[1].key = c[1].title;
        if (!c[0].title || !c[1].title)
            return NULL;
    }
    cols[FIXED + 2 * r->bases] = (struct pr_table_column){
        "perf of", PR_COL_STR, NULL, PR_ALIGN_AUTO, "perf_of"};
    return pr_table_new(cols, FIXED + 2 * r->bases +
                                  suite_table_has_window(r, format));
}

static void suite_table_fill_row(struct pr_table *t,
                                 const struct pr_suite_report *r,
                                 enum pr_table_format format,
                                 const struct pr_suite_row *row)
{
    pr_table_row(t);
    pr_table_set_str(t, NAME, row->name);
    pr_table_set_float(t, WEIGHT, row->weight);
    if (row->test) {
        pr_table_set_int(t, N, (int64_t)row->test->n);
        pr_table_set_int(t, FAIL, (int64_t)row->test->failures);
        if (row->test->peak_memory > 0)
            pr_table_set_float(t, PEAK, row->test->peak_memory);
    }
    pr_table_set_float(t, PERF, row->perf);
    pr_table_set_float(t, STD, row->std_share * 100);
    pr_table_set_float(t, ADJ, row->plain_adj);
    pr_table_set_float(t, FAIR, row->fair_adj);
    for (size_t i = 0; i < r->bases; i++) {
        pr_table_set_float(t, FIXED + 2 * i, row->beside[i].perf);
        pr_table_set_float(t, FIXED + 2 * i + 1, row->beside[i].ratio);
    }
    if (suite_table_has_window(r, format))
        pr_table_set_str(t, FIXED + 2 * r->bases,
                         pr_suite_window_text(r->suite->kind));
}

static void score_line(struct pr_buf *out, const char *name, double v)
{
    static const struct pr_text_frame_number plain = {0, 2, false, NULL};

    pr_buf_printf(out, "| %s | ", name);
    pr_text_frame_number(out, v, &plain);
    pr_buf_str(out, " |\n");
}

static void markdown_scores(const struct pr_suite_report *r, struct pr_buf *out)
{
    const char *window = pr_suite_window_text(r->suite->kind);

    if (window)
        pr_buf_printf(out, "\nperf: %s\n", window);
    pr_buf_printf(out, "\n| score | %s |\n|---|---:|\n",
                  r->pass ? "PASS" : "FAIL");
    score_line(out, "failure rate %", r->failure_rate * 100);
    if (r->suite->kind == PR_SUITE_MILABENCH)
        score_line(out, "milabench", r->score);
    if (!r->scored)
        return;
    score_line(out, "milarun", r->milarun);
    score_line(out, "with the variance penalty", r->penalised);
    score_line(out, "strict", r->strict);
    score_line(out, "covered weights %", r->coverage * 100);
    for (size_t i = 0; i < r->bases; i++)
        if (!r->base_scores[i].empty)
            score_line(out, i ? "baseline, next" : "baseline",
                       r->base_scores[i].score);
}

int pr_suite_table(const struct pr_suite_report *r, enum pr_table_format format,
                   struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_table *t = a ? suite_table_make(r, format, a) : NULL;
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < r->count; i++)
        suite_table_fill_row(t, r, format, &r->rows[i]);
    rc = pr_table_print(t, format, NULL, out, err);
    pr_table_free(t);
    if (!rc && format == PR_TABLE_MARKDOWN)
        markdown_scores(r, out);
    return rc;
}
