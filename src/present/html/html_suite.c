/* The report of a suite as a page: in short, scores, the table of tests. */
#include "present/html/html_impl.h"
#include "present/report/suite_frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    pr_html_tests(&h, r);
    pr_html_cards(&h, r, a);
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
