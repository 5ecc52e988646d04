/* A chart from its data: what is shown, how large everything is, and the
 * pieces in the order in which they are drawn. */
#include "present/chart/chart.h"

#include "base/mem.h"
#include "present/chart/chart_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 24,     /* margin at the right, and of text at the left */
    TITLE = 32,    /* base line */
    SUBTITLE = 54, /* base line */
    Y_TITLE = 30,  /* width of y's label, */
    Y_GAP = 12,    /* and from the labels of its ticks to the plot */
    X_TITLE = 30,  /* height of x's label */
    TITLE_SIZE = 18,
    SUBTITLE_SIZE = 13,
    MAX_POINTS = 1 << 20,
    MAX_SERIES = 1000,
    SPOTS = 8, /* at least so many fit, for bars and boxes */
};

#define LOG_ABOVE 16.0 /* times the least */

static bool chart_has_text(const char *s)
{
    return s && *s;
}

/* ---- what is shown */

static bool chart_is_point_shown(const struct pr_chart *c,
                                 const struct pr_chart_point *p)
{
    return pr_chart_is_number(p->x) && pr_chart_is_number(p->y) &&
           (c->y_scale != PR_SCALE_LOG || p->y > 0) &&
           (c->x_scale != PR_SCALE_LOG || c->x_names || p->x > 0);
}

static int chart_compare_x(const void *a, const void *b)
{
    const struct pr_chart_point *p = a, *q = b;

    return (p->x > q->x) - (p->x < q->x);
}

/* Boxes are seen as points as well, for ranges and labels: their medians. */
static struct pr_chart_point chart_series_point(const struct pr_chart_series *s,
                                                size_t i)
{
    const struct pr_chart_spread *b;

    if (s->style != PR_CHART_BOXES)
        return s->points[i];
    b = &s->spreads[i];
    return (struct pr_chart_point){b->x, b->median, b->low, b->high};
}

static int take_curve(struct pr_chart_plot *p, struct pr_chart_curve *curve,
                      const struct pr_chart_series *s, struct pr_err *err)
{
    bool sorted = true;

    if (s->count > MAX_POINTS)
        return pr_fail(err, PR_E_CONF, "",
                       "a chart cannot show more than %d points of a series",
                       MAX_POINTS);
    curve->s = s;
    curve->points = pr_alloc((s->count + 1) * sizeof *curve->points);
    if (!curve->points)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++) {
        struct pr_chart_point q = chart_series_point(s, i);

        if (!chart_is_point_shown(p->c, &q))
            continue;
        sorted &= !curve->count || curve->points[curve->count - 1].x <= q.x;
        curve->points[curve->count++] = q;
    }
    if (!sorted)
        qsort(curve->points, curve->count, sizeof *curve->points,
              chart_compare_x);
    return PR_OK;
}

static int take_curves(struct pr_chart_plot *p, struct pr_err *err)
{
    size_t n = p->c->series_count, most = SPOTS;
    int rc = PR_OK;

    if (n > MAX_SERIES)
        return pr_fail(err, PR_E_CONF, "",
                       "a chart cannot show more than %d series", MAX_SERIES);
    p->curves = pr_alloc_zeroed((n + 1) * sizeof *p->curves);
    if (!p->curves)
        return pr_fail_nomem(err);
    p->curve_count = n;
    for (size_t i = 0; i < n && !rc; i++) {
        struct pr_chart_curve *c = &p->curves[i];

        c->number = (unsigned)i;
        rc = take_curve(p, c, &p->c->series[i], err);
        if (!rc && c->s->style >= PR_CHART_BARS)
            c->place = p->places++;
        p->shown += c->count;
        most = c->count > most ? c->count : most;
    }
    /* An error bar takes nine of them. */
    p->spots = rc ? NULL : pr_alloc(9 * most * sizeof *p->spots);
    return rc ? rc : p->spots ? PR_OK : pr_fail_nomem(err);
}

static void free_curves(struct pr_chart_plot *p)
{
    for (size_t i = 0; p->curves && i < p->curve_count; i++)
        pr_free(p->curves[i].points);
    pr_free(p->curves);
    pr_free(p->spots);
}

/* ---- ranges */

static void chart_include_value(struct pr_axis_wish *w, double v)
{
    if (!pr_chart_is_number(v))
        return;
    w->min = fmin(w->min, v);
    w->max = fmax(w->max, v);
    w->whole = w->whole && v == floor(v);
}

/* A bound of an error bar or whisker; none on a logarithmic axis below 0. */
static void include_y(const struct pr_chart *c, struct pr_axis_wish *w,
                      double v)
{
    if (c->y_scale != PR_SCALE_LOG || v > 0)
        chart_include_value(w, v);
}

static void include_curve(const struct pr_chart *c,
                          const struct pr_chart_curve *curve,
                          struct pr_axis_wish *x, struct pr_axis_wish *y)
{
    for (size_t i = 0; i < curve->count; i++) {
        const struct pr_chart_point *q = &curve->points[i];

        chart_include_value(x, q->x);
        chart_include_value(y, q->y);
        if (q->low < q->high) {
            include_y(c, y, q->low);
            include_y(c, y, q->high);
        }
    }
    if (curve->s->style == PR_CHART_BARS)
        y->from_zero = true;
    if (curve->s->style != PR_CHART_BOXES)
        return;
    for (size_t i = 0; i < curve->s->count; i++)
        for (size_t k = 0; k < curve->s->spreads[i].far_count; k++)
            include_y(c, y, curve->s->spreads[i].far[k]);
}

static void find_ranges(const struct pr_chart_plot *p, struct pr_axis_wish *x,
                        struct pr_axis_wish *y)
{
    const struct pr_chart *c = p->c;

    *x = *y = (struct pr_axis_wish){
        .min = INFINITY, .max = -INFINITY, .whole = true, .v = p->v};
    x->unit = chart_has_text(c->x_unit) ? c->x_unit : NULL;
    y->unit = chart_has_text(c->y_unit) ? c->y_unit : NULL;
    y->from_zero = c->y_from_zero;
    for (size_t k = 0; k < p->curve_count; k++)
        include_curve(c, &p->curves[k], x, y);
    if (c->x_from < c->x_to) {
        chart_include_value(x, c->x_from);
        chart_include_value(x, c->x_to);
    }
    if (chart_has_text(c->mark_label))
        chart_include_value(x, c->mark);
    if (chart_has_text(c->threshold_label))
        include_y(c, y, c->threshold);
    if (x->min > x->max)
        x->min = x->max = 1;
    if (y->min > y->max) {
        y->min = c->y_scale == PR_SCALE_LOG ? 0.1 : 0;
        y->max = 1;
    }
}

/* ---- axes */

/* Whether most points lie where a logarithm would spread them. */
static bool wants_log(const struct pr_chart_plot *p,
                      const struct pr_axis_wish *x)
{
    double log_sum = 0, sum = 0, n = 0, span = log(x->max / x->min);

    if (p->c->x_scale != PR_SCALE_AUTO)
        return p->c->x_scale == PR_SCALE_LOG && x->min > 0;
    if (!(x->min > 0) || !(x->max > LOG_ABOVE * x->min))
        return false;
    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < p->curves[k].count; i++, n++) {
            log_sum += log(p->curves[k].points[i].x / x->min) / span;
            sum += (p->curves[k].points[i].x - x->min) / (x->max - x->min);
        }
    return !(n > 0) || fabs(log_sum / n - 0.5) <= fabs(sum / n - 0.5);
}

/* The x of all points, in order and each once; none when they are many. */
static size_t distinct_x(const struct pr_chart_plot *p,
                         double out[static PR_AXIS_TICKS])
{
    size_t n = 0;

    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < p->curves[k].count; i++) {
            double x = p->curves[k].points[i].x;
            size_t at = n;

            while (at && out[at - 1] > x)
                at--;
            if (at && out[at - 1] == x)
                continue;
            if (n == PR_AXIS_TICKS)
                return 0;
            memmove(out + at + 1, out + at, (n - at) * sizeof *out);
            out[at] = x;
            n++;
        }
    return n;
}

static void make_x(struct pr_chart_plot *p, struct pr_axis_wish *w)
{
    double values[PR_AXIS_TICKS];

    w->room = p->area.w;
    if (p->c->x_names) {
        pr_axis_names(&p->x, p->c->x_name_count);
        return;
    }
    if (wants_log(p, w))
        pr_axis_x_log(&p->x, w);
    else
        pr_axis_x(&p->x, w);
    if (p->c->x_at_points && p->shown)
        pr_axis_ticks_at(&p->x, values, distinct_x(p, values), w);
}

static void make_y(struct pr_chart_plot *p, struct pr_axis_wish *w)
{
    w->room = p->area.h;
    if (p->c->y_scale == PR_SCALE_LOG)
        pr_axis_y_log(&p->y, w);
    else
        pr_axis_y(&p->y, w);
}

static void chart_lay_out(struct pr_chart_plot *p)
{
    const struct pr_chart *c = p->c;
    struct pr_axis_wish x, y;
    struct pr_box *b = &p->area;
    double left = chart_has_text(c->y_label) ? SIDE / 2.0 + Y_TITLE : SIDE;
    double under;

    b->y = p->top + (chart_has_text(c->subtitle) ? SUBTITLE + 22
                     : chart_has_text(c->title)  ? TITLE + 24
                                                 : SIDE);
    if (pr_chart_legend_rows(p))
        b->y += PR_LEGEND_ROW * (double)pr_chart_legend_rows(p) + 6;
    find_ranges(p, &x, &y);
    /* As if x's labels were one line; y's ticks hardly depend on it. */
    b->h = fmax(40, p->bottom - b->y - 42 - X_TITLE);
    make_y(p, &y);
    b->x = left + fmax(20, pr_axis_widest(&p->y, p->v)) + Y_GAP;
    b->x = fmax(b->x, p->left);
    b->w = fmax(40, p->v->width - b->x - SIDE);
    make_x(p, &x);
    under = p->x.is_names ? pr_chart_fit_names(p) : PR_CHART_TEXT + 8;
    under += chart_has_text(c->x_label) ? X_TITLE : 0;
    b->h = fmax(40, p->bottom - b->y - under - 20);
    make_y(p, &y);
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

static void chart_put_heading(const struct pr_chart_plot *p)
{
    const struct pr_chart *c = p->c;
    double room = p->v->width - 2 * SIDE;
    struct pr_label title = {.text = c->title,
                             .x = SIDE,
                             .y = p->top + TITLE,
                             .size = TITLE_SIZE,
                             .role = PR_ROLE_TEXT,
                             .bold = true};
    struct pr_label subtitle = {.text = c->subtitle,
                                .x = SIDE,
                                .y = p->top + SUBTITLE,
                                .size = SUBTITLE_SIZE,
                                .role = PR_ROLE_SOFT};

    if (chart_has_text(c->title))
        pr_chart_put_text(p->v, &title, room);
    if (chart_has_text(c->subtitle))
        pr_chart_put_text(p->v, &subtitle, room);
}

static void put_nothing(const struct pr_chart_plot *p)
{
    struct pr_label l = {.text = "no data",
                         .x = p->area.x + p->area.w / 2,
                         .y = p->area.y + p->area.h / 2,
                         .size = SUBTITLE_SIZE,
                         .role = PR_ROLE_SOFT,
                         .anchor = PR_ANCHOR_MIDDLE};

    p->v->kind->text(p->v, &l);
}

static void chart_put_parts(const struct pr_chart_plot *p)
{
    chart_put_heading(p);
    pr_chart_put_legend(p, p->area.y - 20);
    pr_chart_put_axes(p);
    pr_chart_put_lines(p);
    pr_chart_put_curves(p);
    pr_chart_put_labels(p);
    if (!p->shown)
        put_nothing(p);
}

/* Laid out twice, so that all begin where the widest labels end. */
static int draw_on(struct pr_canvas *v, struct pr_chart_plot *plots,
                   size_t count, struct pr_err *err)
{
    const struct pr_box all = {0, 0, v->width, v->height};
    double left = 0;
    int rc = v->kind->open(v, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        chart_lay_out(&plots[i]);
        left = fmax(left, plots[i].area.x);
    }
    v->kind->rect(v, &(struct pr_ink){.role = PR_ROLE_PAPER}, &all, NULL);
    for (size_t i = 0; i < count; i++) {
        plots[i].left = left;
        if (count > 1)
            chart_lay_out(&plots[i]);
        chart_put_parts(&plots[i]);
    }
    return v->kind->close(v, err);
}

static double chart_panel_height(const struct pr_chart *c)
{
    return c->height > 0 ? c->height : PR_CHART_HEIGHT;
}

static int draw_plots(struct pr_chart_plot *plots, const struct pr_chart *c,
                      size_t count, struct pr_canvas *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf title = PR_BUF_INIT(1 << 16);
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < count; i++) {
        plots[i] = (struct pr_chart_plot){.c = &c[i], .v = v, .top = v->height};
        v->height += chart_panel_height(&c[i]);
        plots[i].bottom = v->height;
        rc = take_curves(&plots[i], err);
    }
    if (!rc && v->height > PR_CHART_SIDE)
        rc = pr_fail(err, PR_E_CONF, "", "an image of more than %d pixels",
                     PR_CHART_SIDE);
    if (rc)
        return rc;
    pr_chart_clean(&title, chart_has_text(c->title) ? c->title : "chart");
    v->title = pr_buf_ok(&title) ? title.data : "chart";
    rc = draw_on(v, plots, count, err);
    return !rc && !pr_buf_ok(&title) ? pr_fail_nomem(err) : rc;
}

int pr_chart_draw_panels(const struct pr_chart *c, size_t count,
                         const struct pr_canvas_kind *kind, struct pr_buf *out,
                         struct pr_err *err)
{
    struct pr_canvas v = {.kind = kind,
                          .out = out,
                          .width = c->width > 0 ? c->width : PR_CHART_WIDTH,
                          .scale = c->scale > 0 ? c->scale : 1};
    struct pr_chart_plot *plots = pr_alloc_zeroed(count * sizeof *plots);
    int rc = plots ? draw_plots(plots, c, count, &v, err) : pr_fail_nomem(err);

    for (size_t i = 0; plots && i < count; i++)
        free_curves(&plots[i]);
    pr_free(plots);
    return rc;
}

int pr_chart_draw(const struct pr_chart *c, const struct pr_canvas_kind *kind,
                  struct pr_buf *out, struct pr_err *err)
{
    return pr_chart_draw_panels(c, 1, kind, out, err);
}
