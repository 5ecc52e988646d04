/*
 * What run directories hold over time: rates that programs told, times of
 * steps, and what the monitor saw, a picture for each column, the experiments
 * over one another. And devices side by side, of suites and of their monitor.
 */
#include "analyse/series/plot_data.h"
#include "base/text.h"
#include "present/html/html_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- devices side by side, each as a share of the best one */

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

/* ---- devices: from what tests know */

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

enum { POINTS = 200, MAX_EXPERIMENTS = 200, MAX_NAMES = 64 };

/* Figures that tell something by themselves. */
static const char *const columns[] = {"cpu",
                                      "job.cpu",
                                      "job.rss_bytes",
                                      "mem.used_bytes",
                                      "job.read_bytes_s",
                                      "job.write_bytes_s",
                                      "disk.*.use",
                                      "gpu.*.use",
                                      "gpu.*.used_bytes",
                                      "gpu.*_w",
                                      "power.*_w",
                                      "temp.*_c",
                                      "freq.mean_mhz",
                                      NULL};
static const char *const all[] = {NULL};

static const char *html_series_filter(const struct pr_plot_data_series *s,
                                      const char *key)
{
    return pr_text_at(&s->filters, key, "");
}

/* Fewer points, each the mean of some. */
static bool make_curve(const struct pr_plot_data_series *s, double scale,
                       struct pr_arena *a, struct pr_html_curve *ret)
{
    size_t n = s->count < POINTS ? s->count : POINTS;
    float *v = PR_ARENA_ARRAY(a, float, n + 1);

    if (!v)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t from = i * s->count / n, to = (i + 1) * s->count / n;
        double sum = 0;

        for (size_t k = from; k < to; k++)
            sum += s->points[k].y;
        v[i] = (float)(sum / (double)(to - from) * scale);
    }
    *ret =
        (struct pr_html_curve){v, n, s->count, html_series_filter(s, "exp.id")};
    return true;
}

/* "share" is shown in percent, bytes in megabytes. */
static double html_scale_unit(const char *unit, const char **ret_unit)
{
    if (strcmp(unit, "share") == 0) {
        *ret_unit = "%";
        return 100;
    }
    if (pr_text_starts_with(unit, "bytes")) {
        *ret_unit = unit[5] ? "MB/s" : "MB";
        return 1e-6;
    }
    *ret_unit = unit;
    return 1;
}

static bool all_zero(const struct pr_html_curve *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < c[i].count; k++)
            if (c[i].points[k] != 0)
                return false;
    return true;
}

static void html_put_monitor_card(struct pr_html *h,
                                  const struct pr_plot_data *d, const char *key,
                                  const char *name, struct pr_arena *a)
{
    struct pr_html_curve *curves =
        PR_ARENA_ARRAY(a, struct pr_html_curve, d->count + 1);
    const char *unit = d->y_unit ? d->y_unit : "", *shown = "";
    double scale = 1;
    size_t n = 0;

    for (size_t i = 0; curves && i < d->count; i++) {
        const struct pr_plot_data_series *s = &d->series[i];

        if (strcmp(html_series_filter(s, key), name) != 0 || s->count < 2)
            continue;
        scale = html_scale_unit(s->unit ? s->unit : unit, &shown);
        if (!make_curve(s, scale, a, &curves[n++]))
            curves = NULL;
    }
    if (!curves) {
        h->out.failed = true;
        return;
    }
    if (all_zero(curves, n))
        return; /* also when there are none */
    pr_html_raw(h, "<article class=\"card\"><h3>");
    pr_html_text(h, name);
    pr_html_raw(h, " <span class=\"soft\">");
    pr_html_text(h, shown);
    pr_html_raw(h, "</span></h3>\n");
    pr_html_curves(h, curves, n, name);
    pr_html_printf(h, "<p class=\"soft\">%zu experiment%s</p></article>\n", n,
                   n == 1 ? "" : "s");
}

/* One card for each name, in the order they come. */
static void put_cards(struct pr_html *h, const struct pr_plot_data *d,
                      const char *key, struct pr_arena *a)
{
    const char *names[MAX_NAMES];
    size_t count = 0;

    for (size_t i = 0; i < d->count; i++) {
        const char *name = html_series_filter(&d->series[i], key);
        size_t k = 0;

        while (k < count && strcmp(names[k], name) != 0)
            k++;
        if (k < count || count == PR_HTML_MONITORS)
            continue;
        names[count++] = name;
        html_put_monitor_card(h, d, key, name, a);
    }
}

static void html_put_monitor_section(struct pr_html *h, const char *id,
                                     const char *heading,
                                     const struct pr_plot_data *d,
                                     const char *key, struct pr_arena *a)
{
    pr_html_section(h, id, heading);
    if (!d->count)
        pr_html_raw(h, "<p>Nothing was recorded over time.</p>\n");
    pr_html_raw(h, "<div class=\"cards\">\n");
    put_cards(h, d, key, a);
    pr_html_raw(h, "</div>\n");
    pr_html_section_end(h);
}

void pr_html_monitor(struct pr_html *h, const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    static const char *const names[] = {"exp.id", "exp.repeat"};
    struct pr_results_opts opts = {.names = names, .name_count = 2};
    struct pr_results *set = NULL;
    struct pr_plot_data rates, monitor;
    int rc = a ? pr_results_read(&dir, 1, &opts, &set, h->err)
               : pr_fail_nomem(h->err);

    if (!rc && pr_results_size(set) <= MAX_EXPERIMENTS) {
        /* One unreadable file is no reason to have no page. */
        if (pr_plot_data_read_rates(set, all, a, &rates, NULL) == PR_OK &&
            rates.count)
            html_put_monitor_section(h, "rates", "Rates over time", &rates,
                                     "task", a);
        if (pr_plot_data_read_monitor(set, columns, a, &monitor, NULL) == PR_OK)
            html_put_monitor_section(h, "monitor", "The machine meanwhile",
                                     &monitor, "column", a);
    } else if (!rc) {
        pr_html_section(h, "monitor", "The machine meanwhile");
        pr_html_printf(h,
                       "<p class=\"soft\">More than %d experiments: "
                       "<code>prony plot --chart-type monitor</code> draws "
                       "those you name.</p>\n",
                       MAX_EXPERIMENTS);
        pr_html_section_end(h);
    }
    if (rc && !h->rc)
        h->rc = rc;
    pr_results_free(set);
}
