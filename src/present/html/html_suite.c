/* The report of a suite as a page: in short, scores, the table of tests. */
#include "present/html/html_impl.h"
#include "present/report/report_suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table of tests */

/*
 * It has the columns and figures of milarun's own report, and a card for each
 * test: its rate over time, and its runs on a line.
 */

/* "nan" as milarun's page has it. */
static const struct pr_text_frame_number whole_number = {0, 0, false, NULL};
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
    html_put_test_cell(h, row->n, &whole_number, "");
    html_put_test_cell(h, row->fail, &whole_number, row->fail > 0 ? "bad" : "");
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

static void html_tests(struct pr_html *h, const struct pr_suite_report *r)
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

static void html_cards(struct pr_html *h, const struct pr_suite_report *r,
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

static const char *html_plural_ending(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- in short */

struct totals {
    uint64_t runs, failed, devices;
    const struct pr_suite_row *widest;
    const struct pr_suite_row *most, *least; /* beside the first baseline */
};

static struct totals totals_of(const struct pr_suite_report *r)
{
    struct totals t = {0};

    for (size_t i = 0; i < r->count; i++) {
        const struct pr_suite_row *row = &r->rows[i];

        if (row->test) {
            t.runs += row->test->n;
            t.failed += row->test->failures;
            if (row->test->device_count > t.devices)
                t.devices = row->test->device_count;
        }
        if (isfinite(row->std_share) && row->test->train.n > 1 &&
            (!t.widest || row->std_share > t.widest->std_share))
            t.widest = row;
        if (!r->bases || !isfinite(row->beside[0].ratio))
            continue;
        if (!t.most || row->beside[0].ratio > t.most->beside[0].ratio)
            t.most = row;
        if (!t.least || row->beside[0].ratio < t.least->beside[0].ratio)
            t.least = row;
    }
    return t;
}

static void html_put_suite_machine(struct pr_html *h, const struct pr_suite *s)
{
    pr_html_raw(h, "<p class=\"soft\">");
    if (s->host.name) {
        pr_html_text(h, s->host.name);
        pr_html_raw(h, " · ");
    }
    if (s->host.gpus && s->host.gpu)
        pr_html_printf(h, "%llu × ", (unsigned long long)s->host.gpus);
    if (s->host.gpu) {
        pr_html_text(h, s->host.gpu);
        pr_html_raw(h, " · ");
    }
    if (s->host.cpu) {
        pr_html_text(h, s->host.cpu);
        pr_html_raw(h, " · ");
    }
    pr_html_raw(h, "from <code>");
    pr_html_text(h, s->path);
    pr_html_raw(h, "</code></p>\n");
}

static void put_runs(struct pr_html *h, const struct pr_suite_report *r,
                     const struct totals *t)
{
    bool whole = !r->suite->left.missing;

    pr_html_printf(h,
                   "<p class=\"lead\"><span class=\"chip %s\">%s</span> "
                   "%zu test%s, %llu run%s",
                   !r->pass ? "bad"
                   : whole  ? "good"
                            : "",
                   !r->pass ? "FAIL"
                   : whole  ? "PASS"
                            : "UNFINISHED",
                   r->count, html_plural_ending(r->count),
                   (unsigned long long)t->runs, html_plural_ending(t->runs));
    if (t->devices > 1)
        pr_html_printf(h, " on %llu devices", (unsigned long long)t->devices);
    if (!t->failed)
        pr_html_raw(h, ". None failed.</p>\n");
    else
        pr_html_printf(
            h,
            ". %llu failed, %.2f %%: %s than the 1 %% that is allowed."
            "</p>\n",
            (unsigned long long)t->failed, 100 * r->failure_rate,
            r->pass ? "no more" : "more");
}

static void put_beside(struct pr_html *h, const struct pr_suite_report *r,
                       const struct totals *t)
{
    pr_html_raw(h, "<p>Against <code>");
    pr_html_text(h, r->base_names[0]);
    pr_html_raw(h, "</code>");
    if (r->scored && r->base_scores && isfinite(r->base_scores[0].ratio))
        pr_html_printf(h, " the score is %.2f times as high",
                       r->base_scores[0].ratio);
    pr_html_raw(h, ": <strong>");
    pr_html_text(h, t->most->name);
    pr_html_printf(h, "</strong> does best (%.2f times as fast), <strong>",
                   t->most->beside[0].ratio);
    pr_html_text(h, t->least->name);
    pr_html_printf(h, "</strong> worst (%.2f times).</p>\n",
                   t->least->beside[0].ratio);
}

static void html_put_missing_tests(struct pr_html *h,
                                   const struct pr_suite_report *r)
{
    const char *comma = "";
    size_t told = 0;

    pr_html_printf(
        h,
        "<p class=\"bad\">%zu test%s with a weight %s no figure: ", r->missing,
        html_plural_ending(r->missing), r->missing == 1 ? "has" : "have");
    for (size_t i = 0; i < r->count && told < 12; i++)
        if (r->rows[i].missing) {
            pr_html_raw(h, comma);
            pr_html_text(h, r->rows[i].name);
            comma = ", ";
            told++;
        }
    pr_html_raw(h, told < r->missing ? ", …</p>\n" : ".</p>\n");
}

static void html_put_suite_summary(struct pr_html *h,
                                   const struct pr_suite_report *r)
{
    struct totals t = totals_of(r);

    pr_html_section(h, "short", "In short");
    put_runs(h, r, &t);
    pr_html_unfinished(h, &r->suite->left);
    if (r->scored)
        pr_html_printf(h,
                       "<p>The score is <strong>%.2f</strong> as milarun "
                       "counts, %.2f when spread between runs costs, %.2f over "
                       "the tests that have a figure.</p>\n",
                       r->milarun, r->penalised, r->strict);
    if (r->bases && t.most)
        put_beside(h, r, &t);
    if (r->missing)
        html_put_missing_tests(h, r);
    if (t.widest) {
        pr_html_raw(h, "<p>Runs differ most in <strong>");
        pr_html_text(h, t.widest->name);
        pr_html_printf(h,
                       "</strong>: by %.1f %% of its mean (standard "
                       "deviation).</p>\n",
                       100 * t.widest->std_share);
    }
    if (r->suite->bad)
        pr_html_printf(h,
                       "<p class=\"bad\">%llu file%s could not be read; "
                       "<a href=\"#files\">see below</a>.</p>\n",
                       (unsigned long long)r->suite->bad,
                       html_plural_ending(r->suite->bad));
    pr_html_section_end(h);
}

/* ---- scores */

static void put_score(struct pr_html *h, const char *name, double v,
                      const char *what)
{
    pr_html_printf(h, "<div class=\"card\"><h3>%s</h3><p class=\"big\">", name);
    if (isfinite(v))
        pr_html_printf(h, "%.2f", v);
    else
        pr_html_raw(h, "–");
    pr_html_printf(h, "</p><p class=\"soft\">%s</p></div>\n", what);
}

static void html_begin_score_row(struct pr_html *h, const char *name,
                                 size_t number)
{
    pr_html_printf(h, "<tr><th scope=\"row\">%s", name);
    if (number)
        pr_html_printf(h, " %zu", number + 1);
}

static void html_put_score_row(struct pr_html *h, const char *name,
                               size_t number, double v)
{
    html_begin_score_row(h, name, number);
    pr_html_printf(h, "</th><td>%.2f</td></tr>\n", v);
}

static void put_base(struct pr_html *h, const struct pr_suite_report *r,
                     size_t i)
{
    pr_html_raw(h, "<tr><th scope=\"row\">");
    if (i)
        pr_html_printf(h, "Score (baseline %zu)", i + 1);
    else
        pr_html_raw(h, "Score (baseline)");
    pr_html_printf(h, "</th><td>%.2f</td></tr>\n", r->base_scores[i].score);
    html_put_score_row(h, "Ratio", r->bases > 1 ? i : 0,
                       r->base_scores[i].ratio);
}

static void html_scores(struct pr_html *h, const struct pr_suite_report *r)
{
    pr_html_section(h, "scores", "Scores");
    if (r->scored) {
        pr_html_raw(h, "<div class=\"cards four\">\n");
        put_score(h, "milarun", r->milarun,
                  "Weighted geometric mean of rates, less what failed. A test "
                  "that is missing counts as a rate of 1.");
        put_score(
            h, "With the variance penalty", r->penalised,
            "Each rate less its spread: rate × (1 − std) × (1 − failed).");
        put_score(h, "Strict", r->strict,
                  "Over the tests that have a figure; what is missing is "
                  "missing.");
        if (isfinite(r->coverage))
            pr_html_printf(h,
                           "<div class=\"card\"><h3>Coverage</h3><p "
                           "class=\"big\">%.0f %%</p><p class=\"soft\">of all "
                           "weights belong to tests that have a figure.</p>"
                           "</div>\n",
                           100 * r->coverage);
        pr_html_raw(h, "</div>\n");
    } else
        pr_html_raw(h, "<p class=\"soft\">No weights were given, so there is "
                       "no score (<code>--weights FILE</code>).</p>\n");
    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Scores\"><table class=\"plain\"><tbody>\n");
    pr_html_printf(h,
                   "<tr><th scope=\"row\">Failure rate</th><td class=\"%s\">"
                   "%.2f%% (%s)</td></tr>\n",
                   r->pass ? "good" : "bad",
                   isfinite(r->failure_rate) ? 100 * r->failure_rate : 0,
                   !r->pass                 ? "FAIL"
                   : r->suite->left.missing ? "UNFINISHED"
                                            : "PASS");
    if (r->scored)
        html_put_score_row(h, "Score", 0, r->score);
    for (size_t i = 0; r->scored && r->base_scores && i < r->bases; i++)
        put_base(h, r, i);
    if (isfinite(r->price) && r->scored) {
        html_put_score_row(h, "Price ($)", 0, r->price);
        html_put_score_row(h, "RPP (Price / Score)", 0, r->rpp);
    }
    pr_html_raw(h, "</tbody></table></div>\n");
    pr_html_section_end(h);
}

/* ---- the page */

static void put_nav(struct pr_html *h, const struct pr_suite_report *r)
{
    pr_html_raw(h, "<nav aria-label=\"Sections\"><ul>"
                   "<li><a href=\"#scores\">Scores</a></li>"
                   "<li><a href=\"#tests\">Tests</a></li>");
    if (r->suite->kind != PR_SUITE_SUMMARY)
        pr_html_raw(h, "<li><a href=\"#curves\">Over time</a></li>");
    pr_html_raw(h, "<li><a href=\"#devices\">Devices</a></li>"
                   "<li><a href=\"#failures\">Failures</a></li>"
                   "<li><a href=\"#environment\">Environment</a></li>"
                   "</ul></nav>\n</header>\n<main id=\"main\">\n"
                   "<p id=\"said\" class=\"sr\" aria-live=\"polite\"></p>\n");
}

static void html_put_suite_host(struct pr_html *h, const struct pr_suite *s)
{
    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Machine\"><table class=\"plain\"><tbody>\n");
#define ROW(label, text)                                          \
    if (text) {                                                   \
        pr_html_raw(h, "<tr><th scope=\"row\">" label "</th><td " \
                       "class=\"text\">");                        \
        pr_html_text(h, text);                                    \
        pr_html_raw(h, "</td></tr>\n");                           \
    }
    ROW("host", s->host.name)
    ROW("device", s->host.gpu)
    ROW("processor", s->host.cpu)
#undef ROW
    pr_html_printf(h,
                   "<tr><th scope=\"row\">files read</th><td class=\"text\">"
                   "%llu</td></tr>\n</tbody></table></div>\n",
                   (unsigned long long)s->files);
}

int pr_html_suite(const struct pr_suite_report *r,
                  const struct pr_html_about *about, const char *path,
                  struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_html h;
    int rc = a ? pr_html_begin(&h, path, r->title, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    html_put_suite_machine(&h, r->suite);
    put_nav(&h, r);
    html_put_suite_summary(&h, r);
    html_scores(&h, r);
    html_tests(&h, r);
    html_cards(&h, r, a);
    pr_html_devices(&h, r, a);
    if (about->dir)
        pr_html_monitor(&h, about->dir);
    pr_html_failures(&h, r, a);
    pr_html_unread_files(&h, r->suite);
    pr_html_section(&h, "environment", "Environment");
    html_put_suite_host(&h, r->suite);
    pr_html_environment(&h, about->dir);
    pr_html_section_end(&h);
    return pr_html_end(&h, about);
}
