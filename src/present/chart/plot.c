/* Series as a chart. Bars and boxes stand at names, also where these are
 * numbers; lines have an axis of numbers where all x are. */
#include "present/chart/plot.h"

#include "present/chart/plot_impl.h"

#include <math.h>
#include <string.h>

struct plot {
    const struct pr_plot_data *s;
    const struct pr_plot_opts *o;
    struct pr_arena *arena;
    struct pr_plot_look look;
    const char **names;
    struct pr_chart_series *series;
    bool has_errors;
};

int pr_plot_check(const struct pr_plot_opts *o, struct pr_err *err)
{
    struct pr_plot_look look;

    return pr_plot_look(&o->chart, &look, err);
}

/* ---- data */

static bool at_names(const struct plot *p)
{
    return p->o->kind == PR_PLOT_BAR || p->o->kind == PR_PLOT_BOX ||
           !p->s->x_numbers;
}

/* The place of each point among all x: both are in order. */
static double plot_find_place(const struct plot *p,
                              const struct pr_plot_data_point *q, size_t *at)
{
    if (!at_names(p))
        return q->x_number;
    while (p->s->x_values[*at] != q->x)
        ++*at;
    return (double)*at;
}

static int plot_fill_points(struct plot *p, const struct pr_plot_data_series *s,
                            struct pr_chart_series *out, struct pr_err *err)
{
    struct pr_chart_point *points =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_point, s->count + 1);
    size_t at = 0;

    if (!points)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        const struct pr_plot_data_point *q = &s->points[i];

        points[i] = (struct pr_chart_point){.x = plot_find_place(p, q, &at),
                                            .y = q->y,
                                            .low = q->low,
                                            .high = q->high};
        if (!p->look.errors)
            points[i].low = points[i].high = q->y;
        p->has_errors |= points[i].low < points[i].high;
    }
    out->points = points;
    out->count = s->count;
    out->style = p->o->kind == PR_PLOT_BAR      ? PR_CHART_BARS
                 : p->o->kind == PR_PLOT_POINTS ? PR_CHART_POINTS
                                                : PR_CHART_LINE;
    return PR_OK;
}

static double *copy_values(const struct plot *p,
                           const struct pr_plot_data_series *s, size_t from,
                           size_t to, size_t *ret_count)
{
    size_t n = 0;
    double *all;

    for (size_t i = from; i < to; i++)
        n += s->points[i].count;
    all = PR_ARENA_ARRAY(p->arena, double, n + 1);
    n = 0;
    for (size_t i = from; all && i < to; i++)
        for (size_t k = 0; k < s->points[i].count; k++)
            if (isfinite(s->points[i].values[k]))
                all[n++] = s->points[i].values[k];
    *ret_count = n;
    return all;
}

static int plot_fill_spreads(struct plot *p,
                             const struct pr_plot_data_series *s,
                             struct pr_chart_series *out, struct pr_err *err)
{
    struct pr_chart_spread *spreads =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_spread, s->count + 1);
    size_t at = 0;

    if (!spreads)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        size_t n;
        double *values = copy_values(p, s, i, i + 1, &n);

        if (!values)
            return pr_fail_nomem(err);
        if (!n)
            continue;
        spreads[out->count] = pr_plot_spread(values, n);
        spreads[out->count++].x = plot_find_place(p, &s->points[i], &at);
    }
    out->spreads = spreads;
    out->style = PR_CHART_BOXES;
    return PR_OK;
}

/* One box a series, side by side under its name. */
static int plot_fill_whole_spreads(struct plot *p, struct pr_err *err)
{
    struct pr_chart_series *out = p->series;
    struct pr_chart_spread *spreads =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_spread, p->s->count + 1);

    if (!spreads)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->s->count; i++) {
        const struct pr_plot_data_series *s = &p->s->series[i];
        size_t n;
        double *values = copy_values(p, s, 0, s->count, &n);

        if (!values)
            return pr_fail_nomem(err);
        if (!n)
            continue;
        spreads[out->count] = pr_plot_spread(values, n);
        spreads[out->count++].x = (double)i;
    }
    out->spreads = spreads;
    out->style = PR_CHART_BOXES;
    p->look.chart.series_count = 1;
    p->look.chart.x_names = p->names;
    p->look.chart.x_name_count = p->s->count;
    return PR_OK;
}

static int plot_fill_series(struct plot *p, struct pr_err *err)
{
    struct pr_chart *c = &p->look.chart;
    int rc = PR_OK;

    c->series = p->series;
    if (p->o->kind == PR_PLOT_SPREAD)
        return plot_fill_whole_spreads(p, err);
    c->series_count = p->s->count;
    c->x_at_points = true;
    if (at_names(p)) {
        c->x_names = p->s->x_values;
        c->x_name_count = p->s->x_count;
    }
    for (size_t i = 0; !rc && i < p->s->count; i++) {
        p->series[i].name = p->names[i];
        rc = p->o->kind == PR_PLOT_BOX
                 ? plot_fill_spreads(p, &p->s->series[i], &p->series[i], err)
                 : plot_fill_points(p, &p->s->series[i], &p->series[i], err);
    }
    return rc;
}

/* ---- words */

static bool is_boxes(const struct plot *p)
{
    return p->o->kind == PR_PLOT_BOX || p->o->kind == PR_PLOT_SPREAD;
}

static const char *plot_make_title(const struct plot *p)
{
    if (p->o->kind == PR_PLOT_SPREAD)
        return p->s->y;
    return pr_arena_printf(p->arena, p->s->x_unit ? "%s over %s" : "%s by %s",
                           p->s->y, p->s->x);
}

/* What was not told. */
static int plot_fill_defaults(struct plot *p, struct pr_err *err)
{
    struct pr_chart *c = &p->look.chart;

    if (!c->title)
        c->title = plot_make_title(p);
    if (!c->title)
        return pr_fail_nomem(err);
    if (!c->subtitle && is_boxes(p))
        c->subtitle = "median and quartiles, the rest within 1.5 times their "
                      "distance, the mean as a dot";
    else if (!c->subtitle && p->has_errors)
        c->subtitle = "means with 95 % confidence intervals";
    if (!c->x_label && p->o->kind != PR_PLOT_SPREAD)
        c->x_label = p->s->x;
    if (!c->y_label)
        c->y_label = p->s->y;
    if (!c->x_unit && !c->x_names)
        c->x_unit = p->s->x_unit;
    c->y_from_zero = p->s->x_unit; /* a steady load is no noise */
    if (p->s->x_unit && c->x_scale == PR_SCALE_AUTO)
        c->x_scale = PR_SCALE_LINEAR; /* time goes on evenly */
    if (!c->y_unit)
        c->y_unit = p->s->y_unit;
    if (p->o->relative && !p->s->warning) {
        c->threshold = 1;
        c->threshold_label = "baseline";
    }
    return PR_OK;
}

/* One chart of series that have one unit. */
static int make_chart(struct plot *p, const char **names, struct pr_chart *ret,
                      struct pr_err *err)
{
    int rc = pr_plot_look(&p->o->chart, &p->look, err);

    p->names = names;
    p->series =
        PR_ARENA_ARRAY(p->arena, struct pr_chart_series, p->s->count + 1);
    if (!rc && !p->series)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = plot_fill_series(p, err);
    if (!rc)
        rc = plot_fill_defaults(p, err);
    *ret = p->look.chart;
    return rc;
}

/* ---- panels, where units differ */

enum { MOST_PANELS = 8, PANEL = 220, HEADING = 60 };

struct panel {
    struct pr_plot_data set;
    const char **names;
};

/* What a panel of one column or task is called; of several, their common
 * beginning: "mem" of mem.used_bytes and mem.cached_bytes. */
static const char *panel_label(struct pr_arena *a, const struct pr_plot_data *d)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < d->count; i++) {
        const struct pr_value *v = pr_get(&d->series[i].filters, "column");
        size_t same = 0;

        if (!v)
            v = pr_get(&d->series[i].filters, "task");
        if (!v || v->kind != PR_STR)
            return d->y;
        if (!first) {
            first = v->s;
            n = strlen(first);
        }
        while (same < n && first[same] == v->s[same])
            same++;
        if (same < n || v->s[same])
            while (same && first[same - 1] != '.')
                same--;
        n = same;
    }
    while (n && first[n - 1] == '.')
        n--;
    return n ? pr_arena_copy(a, first, n) : "";
}

static int plot_split_panels(const struct pr_plot_data *s, const char **names,
                             struct pr_arena *a,
                             struct panel panels[static MOST_PANELS],
                             size_t *ret_count, struct pr_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct panel *p = panels;

        while (p < panels + n && strcmp(p->set.y_unit, s->series[i].unit) != 0)
            p++;
        if (p == panels + MOST_PANELS) {
            pr_fail(err, PR_E_CONF, "--yparam",
                    "these have more than %d different units", MOST_PANELS);
            return pr_hint(err, "name fewer with --yparam");
        }
        if (p == panels + n) {
            n++;
            *p = (struct panel){.set = *s};
            p->set.y_unit = s->series[i].unit;
            p->set.count = 0;
            p->set.series =
                PR_ARENA_ARRAY(a, struct pr_plot_data_series, s->count);
            p->names = PR_ARENA_ARRAY(a, const char *, s->count + 1);
            if (!p->set.series || !p->names)
                return pr_fail_nomem(err);
        }
        p->names[p->set.count] = names[i];
        p->set.series[p->set.count++] = s->series[i];
    }
    *ret_count = n;
    return PR_OK;
}

/* So that all have the same x. */
static void span_x(const struct pr_plot_data *s, struct pr_chart *c)
{
    if (!s->x_numbers || !s->x_count || c->x_names)
        return;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->series[i].count; k++) {
            double x = s->series[i].points[k].x_number;

            c->x_from = fmin(c->x_from, x);
            c->x_to = fmax(c->x_to, x);
        }
}

static void plot_arrange_panels(struct pr_chart *charts, size_t n)
{
    double height =
        charts[0].height > 0 ? charts[0].height : HEADING + PANEL * (double)n;

    for (size_t i = 0; i < n; i++) {
        charts[i].height = fmax(120, (height - HEADING) / (double)n);
        if (i) {
            charts[i].title = charts[i].subtitle = "";
        } else {
            charts[i].height += HEADING;
        }
        if (i + 1 < n && !charts[i].x_names)
            charts[i].x_label = "";
    }
}

static int draw_split(const struct plot *whole, const char **names,
                      const struct pr_canvas_kind *kind, struct pr_buf *out,
                      struct pr_err *err)
{
    struct panel panels[MOST_PANELS] = {{.names = NULL}};
    struct pr_chart charts[MOST_PANELS];
    size_t n = 0;
    int rc = plot_split_panels(whole->s, names, whole->arena, panels, &n, err);

    for (size_t i = 0; !rc && i < n; i++) {
        struct plot p = *whole;

        p.s = &panels[i].set;
        rc = make_chart(&p, panels[i].names, &charts[i], err);
        if (rc)
            break;
        charts[i].y_label = panel_label(whole->arena, p.s);
        if (!charts[i].y_label)
            return pr_fail_nomem(err);
        span_x(whole->s, &charts[i]);
    }
    if (rc)
        return rc;
    plot_arrange_panels(charts, n);
    return pr_chart_draw_panels(charts, n, kind, out, err);
}

int pr_plot_draw(const struct pr_plot_data *s, const struct pr_plot_opts *o,
                 const struct pr_canvas_kind *kind, struct pr_buf *out,
                 struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct plot p = {.s = s, .o = o, .arena = a};
    struct pr_chart chart;
    const char **names;
    int rc = a ? pr_plot_look(&o->chart, &p.look, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    names = pr_plot_names(s, p.look.legend, a);
    if (!names)
        return pr_fail_nomem(err);
    if (s->count && s->series[0].unit)
        return draw_split(&p, names, kind, out, err);
    rc = make_chart(&p, names, &chart, err);
    return rc ? rc : pr_chart_draw(&chart, kind, out, err);
}
