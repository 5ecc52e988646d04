/*
 * The table of tests, with the columns and figures of milarun's own report,
 * and a card for each test: its rate over time, and its runs on a line.
 */
#include "present/html/html_impl.h"
#include "present/report/suite_frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "nan" as milarun's page has it. */
static const struct pr_text_frame_number html_tests_whole = {0, 0, false, NULL};
static const struct pr_text_frame_number fixed = {0, 2, false, NULL};
static const struct pr_text_frame_number share = {0, 1, true, NULL};
static const struct pr_text_frame_number memory = {0, 0, false, "–"};

static void html_put_test_head(struct pr_html *h, const char *name)
{
    pr_html_printf(h, "<th scope=\"col\">%s</th>", name);
}

static void put_base_head(struct pr_html *h, const char *name, size_t base)
{
    if (base)
        pr_html_printf(h, "<th scope=\"col\">%s_%zu</th>", name, base + 1);
    else
        html_put_test_head(h, name);
}

static void html_put_test_heads(struct pr_html *h,
                                const struct pr_suite_report *r)
{
    pr_html_raw(h, "<thead><tr><th scope=\"col\">test</th>");
    if (r->has_weights)
        html_put_test_head(h, "weight");
    html_put_test_head(h, "n");
    html_put_test_head(h, "fail");
    html_put_test_head(h, "perf");
    for (size_t i = 0; i < r->bases; i++) {
        put_base_head(h, "perf_base", i);
        put_base_head(h, "perf_ratio", i);
    }
    html_put_test_head(h, "std%");
    html_put_test_head(h, "perf_adj");
    for (size_t i = 0; i < r->bases; i++) {
        put_base_head(h, "perf_base_adj", i);
        put_base_head(h, "perf_ratio_adj", i);
    }
    html_put_test_head(h, "memory&nbsp;MiB");
    pr_html_raw(h, "</tr></thead>\n");
}

static void html_put_test_cell(struct pr_html *h, double v,
                               const struct pr_text_frame_number *how,
                               const char *look)
{
    if (isnan(v) && !*look)
        look = "none";
    pr_html_raw(h, *look ? "<td class=\"" : "<td");
    pr_html_raw(h, look);
    pr_html_raw(h, *look ? "\">" : ">");
    pr_text_frame_number(&h->out, v, how);
    pr_html_raw(h, "</td>");
}

/* As milarun colours them; the number beside the colour says it, too. */
static const char *ratio_look(double ratio)
{
    if (!isfinite(ratio))
        return "";
    return ratio >= 1.1    ? "good"
           : ratio >= 0.9  ? ""
           : ratio >= 0.75 ? "fair"
                           : "bad";
}

static const char *fail_look(double fail)
{
    return fail > 0 ? "bad" : "";
}

static const char *spread_look(double s)
{
    return s > 0.25 ? "bad" : s > 0.1 ? "fair" : "";
}

static void html_put_test_row(struct pr_html *h,
                              const struct pr_suite_report *r,
                              const struct pr_suite_row *row)
{
    pr_html_raw(h, "<tr><th scope=\"row\">");
    pr_html_text(h, row->name);
    pr_html_raw(h, "</th>");
    if (r->has_weights)
        html_put_test_cell(h, row->weight, &fixed, "");
    html_put_test_cell(h, row->n, &html_tests_whole, "");
    html_put_test_cell(h, row->fail, &html_tests_whole, fail_look(row->fail));
    html_put_test_cell(h, row->perf, &fixed, row->missing ? "bad" : "");
    for (size_t i = 0; i < r->bases; i++) {
        html_put_test_cell(h, row->beside[i].perf, &fixed, "");
        html_put_test_cell(h, row->beside[i].ratio, &fixed,
                           ratio_look(row->beside[i].ratio));
    }
    html_put_test_cell(h, row->std_share, &share, spread_look(row->std_share));
    html_put_test_cell(h, row->adj, &fixed, "");
    for (size_t i = 0; i < r->bases; i++) {
        html_put_test_cell(h, row->beside[i].adj, &fixed, "");
        html_put_test_cell(h, row->beside[i].ratio_adj, &fixed,
                           ratio_look(row->beside[i].ratio_adj));
    }
    /* None is what milarun's formula gives without a GPU. */
    html_put_test_cell(h,
                       row->test && row->test->peak_memory > 0
                           ? row->test->peak_memory
                           : (double)NAN,
                       &memory, "");
    pr_html_raw(h, "</tr>\n");
}

void pr_html_tests(struct pr_html *h, const struct pr_suite_report *r)
{
    const char *window = pr_suite_window_text(r->suite->kind);

    pr_html_section(h, "tests", "Tests");
    if (!r->count) {
        pr_html_raw(h, "<p>There are no results.</p>\n");
        pr_html_section_end(h);
        return;
    }
    pr_html_raw(h, "<p class=\"soft\">perf is the mean rate a second of the "
                   "runs that succeeded");
    if (window)
        pr_html_printf(h, " (of %s)", window);
    pr_html_raw(h, ", std% how much they differ, perf_adj the rate less what "
                   "failed. A click on a heading sorts.</p>\n");
    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Tests\"><table class=\"sort\">\n");
    html_put_test_heads(h, r);
    pr_html_raw(h, "<tbody>\n");
    for (size_t i = 0; i < r->count; i++)
        html_put_test_row(h, r, &r->rows[i]);
    pr_html_raw(h, "</tbody></table></div>\n");
    pr_html_section_end(h);
}

/* ---- cards */

/* Curves and rates of the good runs of a test, in the arena. */
struct shown {
    struct pr_html_curve *curves;
    double *rates;
    size_t curve_count, rate_count;
    size_t slices; /* of the longest curve */
};

static bool html_collect_test_rates(const struct pr_suite_test *t,
                                    struct pr_arena *a, struct shown *s)
{
    size_t ranks = 0;

    for (size_t i = 0; i < t->run_count; i++)
        ranks += t->runs[i]->rate_count;
    *s = (struct shown){
        .curves = PR_ARENA_ARRAY(a, struct pr_html_curve, t->run_count + 1),
        .rates = PR_ARENA_ARRAY(a, double, ranks + 1)};
    if (!s->curves || !s->rates)
        return false;
    for (size_t i = 0; i < t->run_count; i++) {
        const struct pr_suite_child *r = t->runs[i];

        if (!r->good)
            continue;
        for (uint32_t k = 0; k < r->rate_count; k++)
            if (isfinite(r->rates[k].rate))
                s->rates[s->rate_count++] = r->rates[k].rate;
        if (r->curve_len > 1) {
            size_t slices = r->rate_count ? r->rates[0].slices : r->curve_len;

            s->curves[s->curve_count++] = (struct pr_html_curve){
                r->curve, r->curve_len, slices, r->job_id};
            if (slices > s->slices)
                s->slices = slices;
        }
    }
    return true;
}

static void html_put_test_card(struct pr_html *h,
                               const struct pr_suite_row *row, struct shown *s)
{
    const struct pr_suite_test *t = row->test;
    char label[160];

    pr_html_raw(h, "<article class=\"card\"><h3>");
    pr_html_text(h, t->name);
    pr_html_raw(h, "</h3>\n<p class=\"big\">");
    pr_html_number(h, row->perf);
    pr_html_raw(h, " <span class=\"soft\">a second");
    if (t->train.n == 1)
        pr_html_raw(h, ", one run");
    else if (isfinite(row->std_share))
        pr_html_printf(h, " ± %.1f %%", 100 * row->std_share);
    if (t->failures)
        pr_html_printf(h, ", %llu of %llu failed",
                       (unsigned long long)t->failures,
                       (unsigned long long)t->n);
    pr_html_raw(h, "</span></p>\n");
    if (s->curve_count) {
        snprintf(label, sizeof label, "rate over time, %zu slices, %zu run%s",
                 s->slices, s->curve_count, s->curve_count == 1 ? "" : "s");
        pr_html_curves(h, s->curves, s->curve_count, label);
        pr_html_printf(h, "<p class=\"soft\">%s</p>\n", label);
    }
    if (s->rate_count) {
        snprintf(label, sizeof label, "%zu rate%s, one by one", s->rate_count,
                 s->rate_count == 1 ? "" : "s");
        pr_html_strip(h, s->rates, s->rate_count, label);
        pr_html_printf(h, "<p class=\"soft\">%s</p>\n", label);
    }
    pr_html_raw(h, "</article>\n");
}

void pr_html_cards(struct pr_html *h, const struct pr_suite_report *r,
                   struct pr_arena *a)
{
    size_t shown = 0, left = 0;
    struct shown s;

    if (r->suite->kind == PR_SUITE_SUMMARY)
        return;
    pr_html_section(h, "curves", "Over time, and run by run");
    pr_html_printf(
        h,
        "<p class=\"soft\">Curves: the rate in slices of time, from "
        "start to end. Up to %d runs are lines; more are a band from "
        "the lowest to the highest, with their median. Dots: the "
        "steady rate of each run, from the slowest to the fastest; "
        "the box holds the middle half.</p>\n",
        PR_HTML_LINES);
    pr_html_raw(h, "<div class=\"cards\">\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct pr_suite_test *t = r->rows[i].test;

        if (!t || !t->run_count)
            continue;
        if (shown == PR_HTML_CARDS) {
            left++;
            continue;
        }
        pr_arena_reset(a);
        if (!html_collect_test_rates(t, a, &s)) {
            h->out.failed = true;
            return;
        }
        if (!s.rate_count && !s.curve_count)
            continue;
        html_put_test_card(h, &r->rows[i], &s);
        pr_html_flush(h);
        shown++;
    }
    pr_html_raw(h, "</div>\n");
    if (!shown)
        pr_html_raw(h, "<p>No run told a rate.</p>\n");
    if (left)
        pr_html_printf(h,
                       "<p class=\"soft\">The first %d tests are drawn; %zu "
                       "more are in the table above.</p>\n",
                       PR_HTML_CARDS, left);
    pr_html_section_end(h);
}
