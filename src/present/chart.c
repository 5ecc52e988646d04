/* A chart from its data: what is shown, how large everything is, and the
 * pieces in the order in which they are drawn. */
#include "present/chart.h"

#include "base/mem.h"
#include "present/chart_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEFT = 76,
    RIGHT = 24,
    BOTTOM = 72,
    TITLE = 32,    /* base line */
    SUBTITLE = 54, /* base line */
    LEGEND_ROW = 20,
    MAX_POINTS = 1 << 20,
};

/* ---- what is shown */

static bool is_shown(const struct pr_chart_point *p)
{
    return pr_chart_is_number(p->x) && pr_chart_is_number(p->y);
}

static int by_x(const void *a, const void *b)
{
    const struct pr_chart_point *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

static int take_curve(struct pr_chart_curve *curve,
                      const struct pr_chart_series *s, struct pr_err *err)
{
    if (s->count > MAX_POINTS)
        return pr_fail(err, PR_E_CONF, "",
                       "a chart cannot show more than %d points", MAX_POINTS);
    curve->style = s->style;
    curve->name = s->name;
    curve->points = pr_alloc((s->count + 1) * sizeof *curve->points);
    if (!curve->points)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        if (is_shown(&s->points[i]))
            curve->points[curve->count++] = s->points[i];
    qsort(curve->points, curve->count, sizeof *curve->points, by_x);
    return PR_OK;
}

static int take_curves(struct pr_chart_plot *p, struct pr_err *err)
{
    size_t n = p->c->series_count;
    int rc = PR_OK;

    p->curves = pr_alloc_zeroed((n + 1) * sizeof *p->curves);
    if (!p->curves)
        return pr_fail_nomem(err);
    p->curve_count = n;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = take_curve(&p->curves[i], &p->c->series[i], err);
        p->point_count += p->curves[i].count;
    }
    return rc;
}

static void free_curves(struct pr_chart_plot *p)
{
    for (size_t i = 0; i < p->curve_count; i++)
        pr_free(p->curves[i].points);
    pr_free(p->curves);
}

/* ---- how large it is */

struct range {
    double min, max;
    bool whole;
};

static void include(struct range *r, double v)
{
    if (!pr_chart_is_number(v))
        return;
    r->min = fmin(r->min, v);
    r->max = fmax(r->max, v);
    r->whole = r->whole && v == floor(v);
}

static void find_ranges(const struct pr_chart_plot *p, struct range *x,
                        struct range *y)
{
    const struct pr_chart *c = p->c;

    *x = *y = (struct range){INFINITY, -INFINITY, true};
    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < p->curves[k].count; i++) {
            const struct pr_chart_point *q = &p->curves[k].points[i];

            include(x, q->x);
            include(y, q->y);
            if (q->low < q->high) {
                include(y, q->low);
                include(y, q->high);
            }
        }
    if (c->mark_label && *c->mark_label)
        include(x, c->mark);
    if (c->threshold_label && *c->threshold_label)
        include(y, c->threshold);
    if (x->min > x->max)
        *x = (struct range){0, 1, true};
    if (y->min > y->max)
        *y = (struct range){0, 1, true};
}

static void lay_out(struct pr_chart_plot *p)
{
    struct range x, y;
    bool has_subtitle = p->c->subtitle && *p->c->subtitle;
    double top = has_subtitle ? SUBTITLE + 22 : TITLE + 24;

    top += LEGEND_ROW * (double)pr_chart_legend_rows(p);
    p->area = (struct pr_box){LEFT, top, PR_CHART_WIDTH - LEFT - RIGHT,
                              PR_CHART_HEIGHT - BOTTOM - top};
    find_ranges(p, &x, &y);
    pr_axis_x(&p->x, x.min, x.max, x.whole, p->area.w);
    pr_axis_y(&p->y, y.min, y.max, p->c->y_percent);
}

double pr_chart_x(const struct pr_chart_plot *p, double x)
{
    return p->area.x + pr_axis_at(&p->x, x) * p->area.w;
}

double pr_chart_y(const struct pr_chart_plot *p, double y)
{
    return p->area.y + (1 - pr_axis_at(&p->y, y)) * p->area.h;
}

/* ---- the picture */

static void put_heading(const struct pr_chart_plot *p)
{
    const struct pr_chart *c = p->c;
    double room = PR_CHART_WIDTH - 2 * RIGHT;

    if (c->title && *c->title) {
        pr_buf_printf(p->out, "<text class=\"title\" x=\"%d\" y=\"%d\">", RIGHT,
                      TITLE);
        pr_chart_escape_cut(p->out, c->title, 19, room);
        pr_buf_str(p->out, "</text>\n");
    }
    if (c->subtitle && *c->subtitle) {
        pr_buf_printf(p->out, "<text class=\"soft\" x=\"%d\" y=\"%d\">", RIGHT,
                      SUBTITLE);
        pr_chart_escape_cut(p->out, c->subtitle, 13, room);
        pr_buf_str(p->out, "</text>\n");
    }
}

static void put_nothing(const struct pr_chart_plot *p)
{
    pr_buf_printf(p->out,
                  "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"middle\">no data</text>\n",
                  p->area.x + p->area.w / 2, p->area.y + p->area.h / 2);
}

static void put_all(const struct pr_chart_plot *p)
{
    const char *title = p->c->title ? p->c->title : "";

    pr_buf_printf(p->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "role=\"img\">\n<title>",
                  PR_CHART_WIDTH, PR_CHART_HEIGHT, PR_CHART_WIDTH,
                  PR_CHART_HEIGHT);
    pr_chart_escape(p->out, *title ? title : "chart");
    pr_buf_str(p->out, "</title>\n");
    pr_chart_put_style(p->out);
    pr_buf_printf(p->out,
                  "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
                  PR_CHART_WIDTH, PR_CHART_HEIGHT);
    put_heading(p);
    pr_chart_put_legend(p, p->area.y - 14);
    pr_chart_put_axes(p);
    pr_chart_put_lines(p);
    pr_chart_put_curves(p);
    pr_chart_put_labels(p);
    if (!p->point_count)
        put_nothing(p);
    pr_buf_str(p->out, "</svg>\n");
}

int pr_chart_svg(const struct pr_chart *c, struct pr_buf *out,
                 struct pr_err *err)
{
    struct pr_chart_plot p = {.c = c, .out = out};
    int rc = take_curves(&p, err);

    if (!rc) {
        lay_out(&p);
        put_all(&p);
        if (!pr_buf_ok(out))
            rc = pr_fail_nomem(err);
    }
    free_curves(&p);
    return rc;
}
