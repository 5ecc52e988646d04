/*
 * A chart from its data: what is shown, how large everything is, and what is
 * drawn around and across the series, in order. chart_axis.c has the axes,
 * chart_marks.c what series show.
 */
#include "present/chart/chart.h"

#include "base/mem.h"
#include "present/screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text: made harmless, and no wider than its place */

enum { TEXT_MAX = 1 << 16 };

const char *pr_chart_clean(struct pr_buf *b, const char *s)
{
    size_t len = strlen(s);

    pr_screen_clean(b, s, len < TEXT_MAX / 8 ? len : TEXT_MAX / 8);
    return pr_buf_ok(b) && b->len ? b->data : "";
}

/* How wide text gets when it is made harmless. */
static double chart_text_width(struct pr_canvas *v, const char *s, double size)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(TEXT_MAX);

    return v->kind->text_width(v, pr_chart_clean(&b, s), size, false);
}

/* The longest beginning that fits, with an ellipsis; at least one column. */
static const char *chart_cut_text(struct pr_canvas *v, const struct pr_label *l,
                                  const char *text, double room,
                                  struct pr_buf *b)
{
    size_t len = strlen(text), fits = 1, most = pr_screen_columns(text, len);

    if (v->kind->text_width(v, text, l->size, l->bold) <= room)
        return text;
    while (most > fits + 1) {
        size_t half = fits + (most - fits) / 2;

        pr_buf_clear(b);
        pr_screen_cut(b, text, len, half, false);
        if (!pr_buf_ok(b))
            return "";
        if (v->kind->text_width(v, b->data, l->size, l->bold) <= room)
            fits = half;
        else
            most = half;
    }
    pr_buf_clear(b);
    pr_screen_cut(b, text, len, fits, false);
    return pr_buf_ok(b) && b->len ? b->data : "";
}

/* Draws l->text made harmless and cut with an ellipsis to fit. */
static void chart_put_text(struct pr_canvas *v, const struct pr_label *l,
                           double room)
{
    PR_AUTO_BUF struct pr_buf whole = PR_BUF_INIT(TEXT_MAX);
    PR_AUTO_BUF struct pr_buf shorter = PR_BUF_INIT(TEXT_MAX);
    struct pr_label fit = *l;

    fit.text =
        chart_cut_text(v, l, pr_chart_clean(&whole, l->text), room, &shorter);
    if (!pr_buf_ok(&whole) || !pr_buf_ok(&shorter))
        v->out->failed = true;
    else if (*fit.text)
        v->kind->text(v, &fit);
}

/* ---- what stands around the curves */

enum {
    LABEL = 13,        /* size of the labels of axes */
    LEGEND_NAME = 300, /* at most so wide */
    LEGEND_ROWS = 4,
    SWATCH = 36,
    MARGIN = 24,
    TURNED = 35,       /* degrees */
    TURNED_ROOM = 170, /* of names that are turned */
};

static bool chart_has_text(const char *s)
{
    return s && *s;
}

static void chart_put_line(struct pr_canvas *v, enum pr_role role, double x1,
                           double y1, double x2, double y2)
{
    const struct pr_spot spots[] = {{x1, y1}, {x2, y2}};

    v->kind->path(v, &(struct pr_ink){.role = role}, spots, 2, NULL);
}

/* A label with its unit, where ticks do not show it. */
static void put_axis_title(const struct pr_chart_plot *p, const char *text,
                           const char *unit, struct pr_label *l, double room)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 16);

    if (!chart_has_text(text))
        return;
    pr_buf_str(&b, text);
    if (chart_has_text(unit) && !pr_axis_shows_unit(unit))
        pr_buf_printf(&b, " (%s)", unit);
    l->text = pr_buf_ok(&b) ? b.data : text;
    l->size = LABEL;
    l->role = PR_ROLE_SOFT;
    l->anchor = PR_ANCHOR_MIDDLE;
    chart_put_text(p->v, l, room);
}

/* ---- around: x */

static void put_tick(const struct pr_chart_plot *p, double x, const char *text)
{
    struct pr_label l = {.text = text,
                         .x = x,
                         .y = p->area.y + p->area.h + 20,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_SOFT,
                         .anchor = PR_ANCHOR_MIDDLE,
                         .turn = -p->x_turn};

    if (p->x_turn > 0) {
        l.x += 4;
        l.y -= 4;
        l.anchor = PR_ANCHOR_END;
    }
    chart_put_text(p->v, &l, p->x_room > 0 ? p->x_room : p->area.w);
}

static void chart_put_x_names(const struct pr_chart_plot *p)
{
    for (size_t i = 0; i < p->c->x_name_count; i += p->x_every)
        put_tick(p, pr_chart_x(p, (double)i), p->c->x_names[i]);
}

static void put_x_ticks(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    char text[PR_AXIS_LABEL];

    for (size_t i = 0; i < p->x.tick_count; i++) {
        double x = pr_chart_x(p, p->x.ticks[i]);

        chart_put_line(p->v, PR_ROLE_GRID, x, b->y, x, b->y + b->h);
        put_tick(p, x, pr_axis_label(&p->x, p->x.ticks[i], text));
    }
}

static void put_x_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double bottom = b->y + b->h;
    struct pr_label title = {.x = b->x + b->w / 2, .y = p->bottom - 18};

    p->v->kind->begin(p->v, "x-axis", -1, NULL);
    if (p->x.is_names)
        chart_put_x_names(p);
    else
        put_x_ticks(p);
    chart_put_line(p->v, PR_ROLE_AXIS, b->x, bottom, b->x + b->w, bottom);
    put_axis_title(p, p->c->x_label, p->c->x_unit, &title, b->w);
    p->v->kind->end(p->v);
}

/* Sees to the labels of names: turned, cut or left out where there is not
 * room. Returns the height they take. */
static double chart_fit_names(struct pr_chart_plot *p)
{
    const struct pr_chart *c = p->c;
    double slot = p->area.w / (double)(c->x_name_count ? c->x_name_count : 1);
    double widest = 0, angle = TURNED * M_PI / 180;

    for (size_t i = 0; i < c->x_name_count && i < 1000; i++)
        widest =
            fmax(widest, chart_text_width(p->v, c->x_names[i], PR_CHART_TEXT));
    p->x_every = 1;
    p->x_turn = 0;
    p->x_room = slot;
    if (widest + 8 <= slot)
        return PR_CHART_TEXT + 8;
    /* Turned, they need no more than the height of a line each. */
    p->x_turn = TURNED;
    p->x_room = fmin(fmin(widest + 1, TURNED_ROOM), (p->bottom - p->top) / 3);
    p->x_room = fmin(p->x_room, (p->area.x + slot / 2 - 4) / cos(angle));
    p->x_every = (size_t)ceil((PR_CHART_TEXT + 6) / sin(angle) / slot);
    if (p->x_every < 1)
        p->x_every = 1;
    return PR_CHART_TEXT + p->x_room * sin(angle) + 4;
}

/* ---- around: y */

static void put_y_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    struct pr_label title = {.x = MARGIN, .y = b->y + b->h / 2, .turn = -90};
    char text[PR_AXIS_LABEL];

    p->v->kind->begin(p->v, "y-axis", -1, NULL);
    for (size_t i = 0; i < p->y.tick_count; i++) {
        double y = pr_chart_y(p, p->y.ticks[i]);
        struct pr_label l = {.text = pr_axis_label(&p->y, p->y.ticks[i], text),
                             .x = b->x - 8,
                             .y = y + 4,
                             .size = PR_CHART_TEXT,
                             .role = PR_ROLE_SOFT,
                             .anchor = PR_ANCHOR_END};

        chart_put_line(p->v, PR_ROLE_GRID, b->x, y, b->x + b->w, y);
        p->v->kind->text(p->v, &l);
    }
    put_axis_title(p, p->c->y_label, p->c->y_unit, &title, b->h);
    p->v->kind->end(p->v);
}

/* Where values go below zero, a line says where it is. */
static void put_zero(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;

    if (p->y.is_log || !(p->y.low < 0) || !(p->y.high > 0))
        return;
    chart_put_line(p->v, PR_ROLE_AXIS, b->x, pr_chart_y(p, 0), b->x + b->w,
                   pr_chart_y(p, 0));
}

static void chart_put_axes(const struct pr_chart_plot *p)
{
    put_y_axis(p);
    put_x_axis(p);
    put_zero(p);
}

/* ---- around: legend */

static bool has_legend(const struct pr_chart_plot *p)
{
    size_t named = 0;

    for (size_t i = 0; i < p->curve_count; i++)
        named += chart_has_text(p->curves[i].s->name);
    return named > 1;
}

static void put_swatch(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c, double x, double y)
{
    struct pr_ink ink = {
        .role = PR_ROLE_LINE, .series = c->number, .dashed = true};
    const struct pr_spot line[] = {{x, y}, {x + SWATCH - 8, y}};
    const struct pr_box box = {x, y - 6, SWATCH - 8, 12};
    enum pr_chart_style style = c->s->style;

    if (style == PR_CHART_BARS) {
        pr_chart_put_bar(p->v, c->number, &box, NULL);
        return;
    }
    if (style == PR_CHART_BOXES) {
        ink.role = PR_ROLE_BAR;
        ink.hollow = true;
        ink.dashed = false;
        p->v->kind->rect(p->v, &ink, &box, NULL);
    } else if (style != PR_CHART_POINTS) {
        ink.dashed = c->count <= PR_CHART_DENSE;
        p->v->kind->path(p->v, &ink, line, 2, NULL);
    }
    if (style != PR_CHART_CURVE)
        pr_chart_put_dot(p->v, c->number, x + (SWATCH - 8) / 2.0, y, 4, NULL);
}

static void chart_put_legend_entry(const struct pr_chart_plot *p,
                                   const struct pr_chart_curve *c, double x,
                                   double y)
{
    struct pr_label l = {.text = c->s->name,
                         .x = x + SWATCH,
                         .y = y,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_TEXT};

    put_swatch(p, c, x, y - 4);
    chart_put_text(p->v, &l, LEGEND_NAME);
}

static void put_more(const struct pr_chart_plot *p, size_t left, double x,
                     double y)
{
    char text[48];
    struct pr_label l = {.text = text,
                         .x = x,
                         .y = y,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_SOFT};

    snprintf(text, sizeof text, "and %zu more", left);
    p->v->kind->text(p->v, &l);
}

/* Rows of names under the title; how many there are. Draws them where told to,
 * the first at y. */
static size_t walk_legend(const struct pr_chart_plot *p, bool draw, double y)
{
    const double right = p->v->width - MARGIN, more = 90;
    double x = MARGIN;
    size_t rows = 1;

    for (size_t i = 0; i < p->curve_count; i++) {
        const struct pr_chart_curve *c = &p->curves[i];
        bool last = i + 1 == p->curve_count;
        double w;

        if (!chart_has_text(c->s->name))
            continue;
        w = SWATCH + fmin(chart_text_width(p->v, c->s->name, PR_CHART_TEXT),
                          LEGEND_NAME);
        if (rows == LEGEND_ROWS && x + w + (last ? 0 : more) > right) {
            if (draw)
                put_more(p, p->curve_count - i, x, y);
            break;
        }
        if (x > MARGIN && x + w > right) {
            x = MARGIN;
            y += PR_LEGEND_ROW;
            rows++;
        }
        if (draw)
            chart_put_legend_entry(p, c, x, y);
        x += w + 22;
    }
    return rows;
}

static size_t chart_legend_rows(const struct pr_chart_plot *p)
{
    return has_legend(p) ? walk_legend(p, false, 0) : 0;
}

static void chart_put_legend(const struct pr_chart_plot *p, double y)
{
    size_t rows = chart_legend_rows(p);

    if (!rows)
        return;
    p->v->kind->begin(p->v, "legend", -1, NULL);
    walk_legend(p, true, y - (double)(rows - 1) * PR_LEGEND_ROW);
    p->v->kind->end(p->v);
}

/* ---- threshold and mark */

/*
 * The two lines of a chart that stand for numbers, and their labels, put where
 * they hide least.
 */

enum { LABEL_H = 18, AWAY = 8, CLEAR = 5 };

static bool chart_has_mark(const struct pr_chart_plot *p)
{
    return chart_has_text(p->c->mark_label) && pr_chart_is_number(p->c->mark) &&
           !(p->x.is_log && p->c->mark <= 0);
}

static bool has_threshold(const struct pr_chart_plot *p)
{
    return chart_has_text(p->c->threshold_label) &&
           pr_chart_is_number(p->c->threshold) &&
           !(p->y.is_log && p->c->threshold <= 0);
}

/* ---- threshold and mark: where there is room */

/* Cuts [*t0, *t1] of a line to where from + t * by is between 0 and room. */
static bool chart_clip_line(double from, double by, double room, double *t0,
                            double *t1)
{
    double a, b;

    if (by == 0)
        return from >= 0 && from <= room;
    a = -from / by;
    b = (room - from) / by;
    *t0 = fmax(*t0, fmin(a, b));
    *t1 = fmin(*t1, fmax(a, b));
    return *t0 <= *t1;
}

static bool chart_is_box_crossed(const struct pr_box *b, double x1, double y1,
                                 double x2, double y2)
{
    double t0 = 0, t1 = 1;

    return chart_clip_line(x1 - b->x, x2 - x1, b->w, &t0, &t1) &&
           chart_clip_line(y1 - b->y, y2 - y1, b->h, &t0, &t1);
}

static bool chart_has_box_overlap(const struct pr_box *a,
                                  const struct pr_box *b)
{
    return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h &&
           b->y < a->y + a->h;
}

static double hidden_of(const struct pr_chart_plot *p,
                        const struct pr_chart_curve *c, const struct pr_box *b)
{
    double sum = 0, x = 0, y = 0;

    for (size_t i = 0; i < c->count; i++) {
        double was_x = x, was_y = y;

        x = pr_chart_x(p, c->points[i].x);
        y = pr_chart_y(p, c->points[i].y);
        sum += 2 * chart_is_box_crossed(b, x, y, x, y);
        if (i && c->s->style <= PR_CHART_CURVE)
            sum += chart_is_box_crossed(b, was_x, was_y, x, y);
        if (c->points[i].low < c->points[i].high)
            sum += chart_is_box_crossed(b, x, pr_chart_y(p, c->points[i].low),
                                        x, pr_chart_y(p, c->points[i].high));
    }
    return sum;
}

static double cost_of(const struct pr_chart_plot *p, const struct pr_box *b,
                      const struct pr_box *taken)
{
    const struct pr_box *area = &p->area;
    struct pr_box wide = {b->x - CLEAR, b->y, b->w + 2 * CLEAR, b->h};
    double sum = 0;

    if (b->x < area->x || b->x + b->w > area->x + area->w ||
        b->y < area->y - 2 || b->y + b->h > area->y + area->h)
        sum += 1e6;
    if (taken && chart_has_box_overlap(b, taken))
        sum += 1e5;
    for (size_t k = 0; k < p->curve_count; k++)
        sum += hidden_of(p, &p->curves[k], &wide);
    if (has_threshold(p)) {
        double y = pr_chart_y(p, p->c->threshold);
        sum += chart_is_box_crossed(b, area->x, y, area->x + area->w, y);
    }
    if (chart_has_mark(p)) {
        double x = pr_chart_x(p, p->c->mark);
        sum += chart_is_box_crossed(&wide, x, area->y, x, area->y + area->h);
    }
    return sum;
}

/* The box, of some that would do, that hides the least of the curves and
 * nothing of the box taken (NULL: none). Returns its number. */
static size_t chart_find_place(const struct pr_chart_plot *p,
                               const struct pr_box *boxes, size_t count,
                               const struct pr_box *taken)
{
    double least = INFINITY;
    size_t best = 0;

    for (size_t i = 0; i < count; i++) {
        double cost = cost_of(p, &boxes[i], taken);

        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

/* ---- threshold and mark: lines */

static void chart_put_lines(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double at;

    if (has_threshold(p)) {
        at = pr_chart_y(p, p->c->threshold);
        chart_put_line(p->v, PR_ROLE_LIMIT, b->x, at, b->x + b->w, at);
    }
    if (chart_has_mark(p)) {
        at = pr_chart_x(p, p->c->mark);
        chart_put_line(p->v, PR_ROLE_MARK, at, b->y, at, b->y + b->h);
    }
}

/* ---- threshold and mark: labels */

/* It keeps to the side where the line is that it belongs to: on some canvases
 * its width is a guess. */
static void chart_put_label(const struct pr_chart_plot *p,
                            const struct pr_box *b, bool at_right,
                            struct pr_label *l)
{
    l->x = b->x + (at_right ? b->w : 0);
    l->y = b->y + 13;
    l->size = PR_CHART_TEXT;
    l->anchor = at_right ? PR_ANCHOR_END : PR_ANCHOR_START;
    l->halo = true;
    chart_put_text(p->v, l, b->w + 1);
}

static double chart_label_width(const struct pr_chart_plot *p, const char *text,
                                double room)
{
    /* Bold text is wider. */
    return fmin(chart_text_width(p->v, text, PR_CHART_TEXT) * 1.1, room);
}

static struct pr_box place_mark(const struct pr_chart_plot *p)
{
    static const double heights[] = {0, 1, 0.5, 0.25, 0.75, 0.12, 0.88};
    enum { HEIGHTS = sizeof heights / sizeof *heights };
    const struct pr_box *b = &p->area;
    double at = pr_chart_x(p, p->c->mark);
    double w = chart_label_width(p, p->c->mark_label,
                                 fmax(at - b->x, b->x + b->w - at) - 2 * AWAY);
    struct pr_box boxes[2 * HEIGHTS];

    for (size_t i = 0; i < HEIGHTS; i++) {
        double y = b->y + 4 + heights[i] * (b->h - LABEL_H - 8);

        boxes[2 * i] = (struct pr_box){at + AWAY, y, w, LABEL_H};
        boxes[2 * i + 1] = (struct pr_box){at - AWAY - w, y, w, LABEL_H};
    }
    return boxes[chart_find_place(p, boxes, 2 * HEIGHTS, NULL)];
}

static struct pr_box place_threshold(const struct pr_chart_plot *p,
                                     const struct pr_box *taken)
{
    enum { ALONG = 5 };
    const struct pr_box *b = &p->area;
    double at = pr_chart_y(p, p->c->threshold);
    double w = chart_label_width(p, p->c->threshold_label, b->w - 2 * AWAY);
    struct pr_box boxes[2 * ALONG];

    /* From the right end to the left one. */
    for (size_t i = 0; i < ALONG; i++) {
        double x = b->x + AWAY / 2.0 +
                   (b->w - w - AWAY) * (double)(ALONG - 1 - i) / (ALONG - 1);

        boxes[i] = (struct pr_box){x, at - LABEL_H - 1, w, LABEL_H};
        boxes[ALONG + i] = (struct pr_box){x, at + 2, w, LABEL_H};
    }
    return boxes[chart_find_place(p, boxes, 2 * ALONG, taken)];
}

/* The points of the highlighted x. */
static void put_rings(const struct pr_chart_plot *p)
{
    const struct pr_ink ink = {.role = PR_ROLE_RING};

    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < p->curves[k].count; i++) {
            const struct pr_chart_point *q = &p->curves[k].points[i];

            if (q->x == p->c->mark && p->curves[k].s->style <= PR_CHART_CURVE)
                p->v->kind->circle(p->v, &ink, pr_chart_x(p, q->x),
                                   pr_chart_y(p, q->y), 7, NULL);
        }
}

static void chart_put_labels(const struct pr_chart_plot *p)
{
    struct pr_label m = {
        .text = p->c->mark_label, .role = PR_ROLE_TEXT, .bold = true};
    struct pr_label t = {.text = p->c->threshold_label,
                         .role = PR_ROLE_LIMIT_TEXT};
    struct pr_box mark, threshold;

    if (chart_has_mark(p)) {
        put_rings(p);
        mark = place_mark(p);
        chart_put_label(p, &mark, mark.x < pr_chart_x(p, p->c->mark), &m);
    }
    if (has_threshold(p)) {
        threshold = place_threshold(p, chart_has_mark(p) ? &mark : NULL);
        chart_put_label(
            p, &threshold,
            threshold.x + threshold.w / 2 > p->area.x + p->area.w / 2, &t);
    }
}

/* ---- the whole */

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
    if (chart_legend_rows(p))
        b->y += PR_LEGEND_ROW * (double)chart_legend_rows(p) + 6;
    find_ranges(p, &x, &y);
    /* As if x's labels were one line; y's ticks hardly depend on it. */
    b->h = fmax(40, p->bottom - b->y - 42 - X_TITLE);
    make_y(p, &y);
    b->x = left + fmax(20, pr_axis_widest(&p->y, p->v)) + Y_GAP;
    b->x = fmax(b->x, p->left);
    b->w = fmax(40, p->v->width - b->x - SIDE);
    make_x(p, &x);
    under = p->x.is_names ? chart_fit_names(p) : PR_CHART_TEXT + 8;
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
        chart_put_text(p->v, &title, room);
    if (chart_has_text(c->subtitle))
        chart_put_text(p->v, &subtitle, room);
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
    chart_put_legend(p, p->area.y - 20);
    chart_put_axes(p);
    chart_put_lines(p);
    pr_chart_put_curves(p);
    chart_put_labels(p);
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

static int draw_plots(struct pr_chart_plot *plots, const struct pr_chart *c,
                      size_t count, struct pr_canvas *v, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf title = PR_BUF_INIT(1 << 16);
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < count; i++) {
        plots[i] = (struct pr_chart_plot){.c = &c[i], .v = v, .top = v->height};
        v->height += c[i].height > 0 ? c[i].height : PR_CHART_HEIGHT;
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
