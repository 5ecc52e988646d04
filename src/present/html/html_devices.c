/* Devices side by side: each as a share of the best one. */
#include "present/html/html_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *html_share_class(double share)
{
    if (!isfinite(share))
        return "";
    return share >= 0.9 ? "good" : share >= 0.8 ? "fair" : "bad";
}

static void begin_table(struct pr_html *h, const char *measure)
{
    pr_html_printf(h,
                   "<h3>GPU comparison (%s)</h3>\n<div class=\"scroll\" "
                   "tabindex=\"0\" role=\"region\" aria-label=\"Devices, "
                   "%s\"><table class=\"sort\"><thead><tr>"
                   "<th scope=\"col\">test</th>",
                   measure, measure);
}

static void html_put_share_cell(struct pr_html *h, double v)
{
    if (!isfinite(v))
        pr_html_raw(h, "<td>–</td>");
    else
        pr_html_printf(h, "<td class=\"%s\">%.0f%%</td>", html_share_class(v),
                       100 * v);
}

static void put_matrix(struct pr_html *h, const struct pr_suite_matrix *m)
{
    size_t devices =
        m->devices < PR_HTML_DEVICES ? m->devices : PR_HTML_DEVICES;

    begin_table(h, m->measure);
    for (size_t d = 0; d < devices; d++)
        pr_html_printf(h, "<th scope=\"col\">%zu</th>", d);
    pr_html_raw(h, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < m->rows && i < PR_HTML_MATRIX; i++) {
        pr_html_raw(h, "<tr><th scope=\"row\">");
        pr_html_text(h, m->names[i]);
        pr_html_raw(h, "</th>");
        for (size_t d = 0; d < devices; d++)
            html_put_share_cell(h, m->cells[i * m->devices + d]);
        pr_html_raw(h, "</tr>\n");
    }
    pr_html_raw(h, "</tbody></table></div>\n");
}

/* ---- without the option: from what tests know */

static size_t find_id(const char **ids, size_t n, const char *id)
{
    size_t i = 0;

    while (i < n && strcmp(ids[i], id) != 0)
        i++;
    return i;
}

static size_t all_ids(const struct pr_suite_report *r, const char **ids)
{
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct pr_suite_test *t = r->rows[i].test;

        for (size_t d = 0; t && d < t->device_count; d++) {
            const char *id = t->devices[d].id;

            if (find_id(ids, n, id) == n && n < PR_HTML_DEVICES)
                ids[n++] = id;
        }
    }
    for (size_t i = 1; i < n; i++) /* few; in the order people count */
        for (size_t k = i; k && strverscmp(ids[k - 1], ids[k]) > 0; k--) {
            const char *swap = ids[k];

            ids[k] = ids[k - 1];
            ids[k - 1] = swap;
        }
    return n;
}

static void html_put_device_row(struct pr_html *h,
                                const struct pr_suite_test *t, const char **ids,
                                size_t n)
{
    double cells[PR_HTML_DEVICES], best = 0;

    for (size_t d = 0; d < n; d++)
        cells[d] = NAN;
    for (size_t d = 0; d < t->device_count; d++) {
        size_t at = find_id(ids, n, t->devices[d].id);

        if (at < n)
            cells[at] = t->devices[d].stats.mean;
        best = fmax(best, t->devices[d].stats.mean);
    }
    pr_html_raw(h, "<tr><th scope=\"row\">");
    pr_html_text(h, t->name);
    pr_html_raw(h, "</th>");
    for (size_t d = 0; d < n; d++)
        html_put_share_cell(h, best > 0 ? cells[d] / best : (double)NAN);
    pr_html_raw(h, "</tr>\n");
}

static void put_means(struct pr_html *h, const struct pr_suite_report *r,
                      const char **ids, size_t n)
{
    size_t rows = 0;

    begin_table(h, "mean");
    for (size_t d = 0; d < n; d++) {
        pr_html_raw(h, "<th scope=\"col\">");
        pr_html_text(h, ids[d]);
        pr_html_raw(h, "</th>");
    }
    pr_html_raw(h, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].test && r->rows[i].test->device_count > 1 &&
            rows++ < PR_HTML_MATRIX)
            html_put_device_row(h, r->rows[i].test, ids, n);
    pr_html_raw(h, "</tbody></table></div>\n");
}

static bool any_pair(const struct pr_suite_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].test && r->rows[i].test->device_count > 1)
            return true;
    return false;
}

void pr_html_devices(struct pr_html *h, const struct pr_suite_report *r,
                     struct pr_arena *a)
{
    const char **ids;

    pr_arena_reset(a);
    ids = PR_ARENA_ARRAY(a, const char *, PR_HTML_DEVICES + 1);
    if (!ids) {
        h->out.failed = true;
        return;
    }
    pr_html_section(h, "devices", "Devices");
    if (r->has_matrix || any_pair(r))
        pr_html_raw(h, "<p>Each device as a share of the best one of its "
                       "test. Below 90 % is worth a look, below 80 % a "
                       "repair.</p>\n");
    if (r->has_matrix)
        for (int i = 0; i < 3; i++)
            put_matrix(h, &r->matrix[i]);
    else if (any_pair(r))
        put_means(h, r, ids, all_ids(r, ids));
    else
        pr_html_raw(h, "<p>No test ran on several devices.</p>\n");
    pr_html_section_end(h);
}
