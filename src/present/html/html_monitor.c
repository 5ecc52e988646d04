/*
 * What run directories hold over time: rates that programs told, times of
 * steps, and what the monitor saw. A picture for each column, the experiments
 * over one another.
 */
#include "analyse/series/plot_data.h"
#include "present/html/html_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    const struct pr_value *v = pr_get(&s->filters, key);

    return v && v->kind == PR_STR ? v->s : "";
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
    if (strncmp(unit, "bytes", 5) == 0) {
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
