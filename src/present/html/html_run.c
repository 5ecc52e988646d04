/* A run directory as a page, whatever its experiments are. */
#include "analyse/run/run_data.h"
#include "present/html/html_impl.h"
#include "present/report/run_table.h"
#include "record/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *html_text_at(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && v->kind == PR_STR ? v->s : "";
}

static void put_top(struct pr_html *h, const char *dir)
{
    pr_html_raw(h, "<p class=\"soft\">from <code>");
    pr_html_text(h, dir);
    pr_html_raw(h, "</code></p>\n<nav aria-label=\"Sections\"><ul>"
                   "<li><a href=\"#experiments\">Experiments</a></li>"
                   "<li><a href=\"#monitor\">Over time</a></li>"
                   "<li><a href=\"#failures\">Failures</a></li>"
                   "<li><a href=\"#environment\">Environment</a></li>"
                   "</ul></nav>\n</header>\n<main id=\"main\">\n"
                   "<p id=\"said\" class=\"sr\" aria-live=\"polite\"></p>\n");
}

static void put_count(struct pr_html *h, uint64_t n, const char *what)
{
    if (n)
        pr_html_printf(h, ", %llu %s", (unsigned long long)n, what);
}

static void html_put_summary(struct pr_html *h, const struct pr_run_columns *c,
                             const struct pr_run_unfinished *left)
{
    uint64_t bad = 0, stopped = c->by_status[PR_STATUS_INTERRUPTED];
    bool whole =
        !c->without_result && !c->unreadable && !stopped && !left->missing;

    for (int i = 0; i < PR_STATUS_COUNT; i++)
        if (pr_status_is_failure((enum pr_status)i))
            bad += c->by_status[i];

    pr_html_section(h, "short", "In short");
    pr_html_printf(h,
                   "<p class=\"lead\"><span class=\"chip %s\">%s</span> "
                   "%llu experiment%s: %llu ok",
                   bad         ? "bad"
                   : !whole    ? ""
                   : c->missed ? "bad"
                               : "good",
                   bad         ? "FAIL"
                   : !whole    ? "UNFINISHED"
                   : c->missed ? "TARGET MISSED"
                               : "PASS",
                   (unsigned long long)c->experiments,
                   c->experiments == 1 ? "" : "s",
                   (unsigned long long)c->by_status[PR_STATUS_OK]);
    put_count(h, bad, "failed");
    put_count(h, stopped, "interrupted");
    put_count(h, c->by_status[PR_STATUS_SKIPPED], "skipped");
    put_count(h, c->unreadable, "unreadable");
    put_count(h, c->without_result, "without a result yet");
    if (c->targets)
        pr_html_printf(h, "; %llu of %llu met %s target",
                       (unsigned long long)(c->targets - c->missed),
                       (unsigned long long)c->targets,
                       c->targets == 1 ? "its" : "their");
    pr_html_raw(h, ".</p>\n");
    pr_html_unfinished(h, left);
    if (c->warned)
        pr_html_printf(h, "<p>%llu came with warnings.</p>\n",
                       (unsigned long long)c->warned);
    pr_html_section_end(h);
}

static int html_put_run_table(struct pr_html *h, const char *dir,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT((size_t)1 << 31);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_run_unfinished left;
    struct pr_run_columns found;
    int rc =
        a ? pr_run_unfinished_find(dir, a, &left, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_run_table(dir, PR_TABLE_HTML, NULL, 0, &text, &found, err);
    if (rc)
        return rc;
    html_put_summary(h, &found, &left);
    pr_html_section(h, "experiments", "Experiments");
    pr_html_raw(h, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Experiments\">");
    if (pr_buf_ok(&text) && text.len)
        pr_html_raw(h, text.data);
    pr_html_raw(h, "</div>\n");
    pr_html_section_end(h);
    return PR_OK;
}

/* ---- rates over time */

/* Its slices as a curve; false: it has none. */
static bool html_find_rate_curve(const struct pr_value *result,
                                 struct pr_arena *a, struct pr_html_curve *ret)
{
    const struct pr_value *v = pr_get(result, "results");
    float *points;

    v = v ? pr_get(v, "timings.train") : NULL;
    v = v ? pr_get(v, "rates") : NULL;
    if (!v || v->kind != PR_LIST || v->len < 2)
        return false;
    points = PR_ARENA_ARRAY(a, float, v->len);
    for (uint32_t i = 0; points && i < v->len; i++)
        points[i] = pr_value_is_number(&v->items[i])
                        ? (float)pr_value_number(&v->items[i])
                        : NAN;
    /* The last slice is not whole. */
    *ret = (struct pr_html_curve){.points = points, .count = v->len - 1};
    return points;
}

static void html_put_rate_curve(struct pr_html *h, const char *id,
                                const struct pr_html_curve *c)
{
    char label[64];

    snprintf(label, sizeof label, "rate over time, %zu slices", c->count);
    pr_html_raw(h, "<article class=\"card\"><h3>");
    pr_html_text(h, id);
    pr_html_raw(h, "</h3>\n");
    pr_html_curves(h, c, 1, label);
    pr_html_printf(h, "<p class=\"soft\">%s</p></article>\n", label);
}

static int put_curves(struct pr_html *h, const char *dir, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    struct pr_html_curve c;
    size_t shown = 0, left = 0;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        rc = PR_OK;
        if (row.result && html_find_rate_curve(row.result, a, &c)) {
            if (!shown) {
                pr_html_section(h, "curves", "Rates over time");
                pr_html_raw(h, "<div class=\"cards\">\n");
            }
            if (shown++ < PR_HTML_CARDS)
                html_put_rate_curve(h, row.id, &c);
            else
                left++;
        }
        pr_arena_reset(a);
    }
    if (shown)
        pr_html_raw(h, "</div>\n");
    if (left)
        pr_html_printf(h, "<p class=\"soft\">%zu more are not drawn.</p>\n",
                       left);
    if (shown)
        pr_html_section_end(h);
    if (d)
        pr_run_data_close(d);
    return rc;
}

/* ---- failures */

static void put_failure(struct pr_html *h, const char *dir,
                        const struct pr_run_data_row *row, struct pr_arena *a)
{
    struct pr_html_failure f = {.name = row->id,
                                .what = html_text_at(row->result, "status"),
                                .reason = html_text_at(row->result, "reason")};

    f.path = pr_arena_printf(a, "%s/experiments/%s/log.txt", dir, row->id);
    if (!f.path) {
        h->out.failed = true;
        return;
    }
    f.log = pr_html_tail(dir, f.path, a, &f.log_len);
    pr_html_failure(h, &f);
}

/* What was interrupted is no failure, but its log may be wanted. */
static bool is_told(enum pr_status s)
{
    return s != PR_STATUS_OK && s != PR_STATUS_SKIPPED;
}

static int put_failures(struct pr_html *h, const char *dir, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    uint64_t failed = 0;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    pr_html_section(h, "failures", "Failures");
    while ((rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        if (row.result && is_told(pr_result_status(row.result)) &&
            failed++ < PR_HTML_FAILURES)
            put_failure(h, dir, &row, a);
        pr_arena_reset(a);
    }
    if (!failed)
        pr_html_raw(h, "<p>Nothing failed.</p>\n");
    if (failed > PR_HTML_FAILURES)
        pr_html_printf(h,
                       "<p class=\"soft\">%d of %llu failures are shown."
                       "</p>\n",
                       PR_HTML_FAILURES, (unsigned long long)failed);
    pr_html_section_end(h);
    pr_run_data_close(d);
    return rc;
}

int pr_html_run(const char *dir, const char *title,
                const struct pr_html_about *about, const char *path,
                struct pr_err *err)
{
    struct pr_html h;
    int rc = pr_html_begin(&h, path,
                           title && *title ? title : "Results of a run", err);

    if (rc)
        return rc;
    put_top(&h, dir);
    rc = html_put_run_table(&h, dir, err);
    if (!rc)
        rc = put_curves(&h, dir, err);
    if (!rc)
        pr_html_monitor(&h, dir);
    if (!rc)
        rc = put_failures(&h, dir, err);
    pr_html_section(&h, "environment", "Environment");
    pr_html_environment(&h, dir);
    pr_html_section_end(&h);
    if (rc && !h.rc)
        h.rc = rc;
    return pr_html_end(&h, about);
}
