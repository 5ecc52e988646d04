/*
 * What series show: bars and boxes, side by side at each name of the x axis,
 * dots, lines and error bars. Of a curve with more points than there are
 * pixels, each column of pixels keeps its first, least, greatest and last one,
 * so that nothing that could be seen is lost.
 */
#include "present/chart/chart.h"

#include <math.h>
#include <stdio.h>

enum { WIDEST = 64, HATCHES = 5, HATCH_APART = 7, FAR_DOT = 3 };

#define SHARE 0.78 /* of its slot that a group of bars takes */

static struct pr_chart_range chart_bar_range(const struct pr_chart_plot *p,
                                             const struct pr_chart_curve *c,
                                             double x)
{
    double slot = p->area.w / (p->x.high - p->x.low);
    double n = p->places ? p->places : 1;
    double each = fmin(slot * SHARE / n, WIDEST);

    return (struct pr_chart_range){pr_chart_x(p, x) +
                                       ((double)c->place - (n - 1) / 2) * each,
                                   each > 3 ? each * 0.9 : each};
}

/* ---- hatches */

/* Cuts a line through (x, y) in a direction to a box; false: outside. */
static bool chart_clip_hatch(const struct pr_box *b, double x, double y,
                             double dx, double dy, struct pr_spot out[2])
{
    double from = -1e9, to = 1e9;
    const double at[2] = {x - b->x, y - b->y}, by[2] = {dx, dy};
    const double room[2] = {b->w, b->h};

    for (int i = 0; i < 2; i++) {
        double t0, t1;

        if (by[i] == 0)
            continue;
        t0 = -at[i] / by[i];
        t1 = (room[i] - at[i]) / by[i];
        from = fmax(from, fmin(t0, t1));
        to = fmin(to, fmax(t0, t1));
    }
    out[0] = (struct pr_spot){x + from * dx, y + from * dy};
    out[1] = (struct pr_spot){x + to * dx, y + to * dy};
    return from < to;
}

/* Lines in one direction, all over a box. Those of neighbours meet. */
static void put_hatch(struct pr_canvas *v, const struct pr_box *b, double dx,
                      double dy)
{
    enum { AT_ONCE = 64 };
    struct pr_spot spots[3 * AT_ONCE];
    struct pr_ink ink = {.role = PR_ROLE_HATCH};
    double apart = HATCH_APART * (dx != 0 && dy != 0 ? M_SQRT2 : 1);
    bool upright = dx == 0;
    double reach = upright ? b->w : b->h + fabs(b->w * dy);
    double start = upright ? b->x : b->y - (dy > 0 ? b->w : 0);
    size_t n = 0;

    for (double at = ceil(start / apart) * apart; at < start + reach;
         at += apart) {
        if (!chart_clip_hatch(b, upright ? at : b->x, upright ? b->y : at, dx,
                              dy, spots + n))
            continue;
        spots[n + 2] = (struct pr_spot){NAN, NAN};
        n += 3;
        if (n == 3 * AT_ONCE) {
            v->kind->path(v, &ink, spots, n, NULL);
            n = 0;
        }
    }
    if (n)
        v->kind->path(v, &ink, spots, n, NULL);
}

void pr_chart_put_bar(struct pr_canvas *v, unsigned series,
                      const struct pr_box *b, const char *tip)
{
    static const double ways[HATCHES][2] = {
        {0, 0}, {1, -1}, {1, 1}, {1, 0}, {0, 1}};
    const double *way = ways[series % HATCHES];

    v->kind->rect(v, &(struct pr_ink){.role = PR_ROLE_BAR, .series = series}, b,
                  tip);
    if ((way[0] == 0 && way[1] == 0) || b->w < 4 || b->h < 4)
        return;
    put_hatch(v, b, way[0], way[1]);
    if (series % (2 * HATCHES) >= HATCHES)
        put_hatch(v, b, way[1], -way[0]);
}

/* ---- bars */

/* Where bars start: at zero, or at the end that is nearest to it. */
static double chart_bar_base_y(const struct pr_chart_plot *p)
{
    if (p->y.is_log || p->y.low > 0)
        return p->area.y + p->area.h;
    return p->y.high < 0 ? p->area.y : pr_chart_y(p, 0);
}

static void chart_put_bars(const struct pr_chart_plot *p,
                           const struct pr_chart_curve *c)
{
    double base = chart_bar_base_y(p);
    struct pr_axis plain = p->y;

    plain.is_log = false;
    plain.digits = 6;
    for (size_t i = 0; i < c->count; i++) {
        struct pr_chart_range s = chart_bar_range(p, c, c->points[i].x);
        double y = pr_chart_y(p, c->points[i].y);
        struct pr_box b = {s.middle - s.width / 2, fmin(y, base), s.width,
                           fabs(y - base)};
        char tip[PR_AXIS_LABEL];

        pr_chart_put_bar(p->v, c->number, &b,
                         pr_axis_label(&plain, c->points[i].y, tip));
    }
}

/* ---- boxes */

static void chart_put_box_stroke(const struct pr_chart_plot *p,
                                 enum pr_role role, unsigned series,
                                 const double at[4])
{
    const struct pr_spot spots[] = {{at[0], at[1]}, {at[2], at[3]}};

    p->v->kind->path(p->v, &(struct pr_ink){.role = role, .series = series},
                     spots, 2, NULL);
}

static void put_whisker(const struct pr_chart_plot *p, unsigned series,
                        const struct pr_chart_range *s, double from, double to)
{
    double cap = s->width / 4;
    double a = pr_chart_y(p, from), b = pr_chart_y(p, to);

    chart_put_box_stroke(p, PR_ROLE_ERROR, series,
                         (double[]){s->middle, a, s->middle, b});
    chart_put_box_stroke(p, PR_ROLE_ERROR, series,
                         (double[]){s->middle - cap, b, s->middle + cap, b});
}

static void chart_put_box(const struct pr_chart_plot *p,
                          const struct pr_chart_curve *c,
                          const struct pr_chart_spread *b)
{
    struct pr_chart_range s = chart_bar_range(p, c, b->x);
    struct pr_ink ink = {
        .role = PR_ROLE_BAR, .series = c->number, .hollow = true};
    double left = s.middle - s.width / 2, right = left + s.width;
    double top = pr_chart_y(p, b->q3), middle = pr_chart_y(p, b->median);
    struct pr_box box = {left, top, s.width, pr_chart_y(p, b->q1) - top};
    char tip[PR_AXIS_LABEL];
    struct pr_axis plain = p->y;

    plain.is_log = false;
    plain.digits = 6;
    put_whisker(p, c->number, &s, b->q1, b->low);
    put_whisker(p, c->number, &s, b->q3, b->high);
    p->v->kind->rect(p->v, &ink, &box, pr_axis_label(&plain, b->median, tip));
    chart_put_box_stroke(p, PR_ROLE_LINE, c->number,
                         (double[]){left, middle, right, middle});
    if (pr_chart_is_number(b->mean) && (!p->y.is_log || b->mean > 0))
        pr_chart_put_dot(p->v, c->number, s.middle, pr_chart_y(p, b->mean),
                         fmin(4, s.width / 4), NULL);
    for (size_t i = 0; i < b->far_count; i++)
        if (pr_chart_is_number(b->far[i]) && (!p->y.is_log || b->far[i] > 0))
            p->v->kind->circle(p->v,
                               &(struct pr_ink){.role = PR_ROLE_DOT,
                                                .series = c->number,
                                                .hollow = true},
                               s.middle, pr_chart_y(p, b->far[i]),
                               fmin(FAR_DOT, s.width / 3), NULL);
}

static void chart_put_boxes(const struct pr_chart_plot *p,
                            const struct pr_chart_curve *c)
{
    for (size_t i = 0; i < c->s->count; i++) {
        const struct pr_chart_spread *b = &c->s->spreads[i];

        if (pr_chart_is_number(b->x) && pr_chart_is_number(b->low) &&
            pr_chart_is_number(b->high) && (!p->y.is_log || b->low > 0))
            chart_put_box(p, c, b);
    }
}

enum {
    THIN_FROM = 2000, /* points */
    NO_TIPS = 400,    /* points: no text for the mouse from here on */
    SPARSE = 90,      /* pixels between two dots of a dense curve */
    SHAPES = 5,
};

/* ---- dots */

/* Five shapes, filled and then hollow; all about as large as a circle. */
void pr_chart_put_dot(struct pr_canvas *v, unsigned series, double x, double y,
                      double r, const char *tip)
{
    static const struct pr_spot shapes[SHAPES][4] = {
        {{0, 0}},
        {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
        {{0, -1.25}, {1.15, 0.85}, {-1.15, 0.85}},
        {{0, -1.35}, {1.35, 0}, {0, 1.35}, {-1.35, 0}},
        {{0, 1.25}, {1.15, -0.85}, {-1.15, -0.85}},
    };
    struct pr_ink ink = {.role = PR_ROLE_DOT,
                         .series = series,
                         .hollow = series % (2 * SHAPES) >= SHAPES};
    unsigned kind = series % SHAPES;
    size_t n = kind == 2 || kind == 4 ? 3 : 4;
    struct pr_spot spots[5];

    if (!kind) {
        v->kind->circle(v, &ink, x, y, r, tip);
        return;
    }
    for (size_t i = 0; i < n; i++)
        spots[i] = (struct pr_spot){x + r * shapes[kind][i].x,
                                    y + r * shapes[kind][i].y};
    spots[n] = spots[0];
    v->kind->path(v, &ink, spots, n + 1, tip);
}

static struct pr_spot spot_of(const struct pr_chart_plot *p,
                              const struct pr_chart_point *q)
{
    return (struct pr_spot){pr_chart_x(p, q->x), pr_chart_y(p, q->y)};
}

static void put_dot_at(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c, size_t i, double r)
{
    struct pr_spot at = spot_of(p, &c->points[i]);
    char x[PR_AXIS_LABEL], tip[2 * PR_AXIS_LABEL + 4];
    struct pr_axis plain = p->y;

    if (p->shown >= NO_TIPS) {
        pr_chart_put_dot(p->v, c->number, at.x, at.y, r, NULL);
        return;
    }
    plain.is_log = false;
    plain.digits = 6;
    snprintf(x, sizeof x, "%g", c->points[i].x);
    snprintf(tip, sizeof tip, "%s: %s", p->x.is_names ? "" : x,
             pr_axis_label(&plain, c->points[i].y, (char[PR_AXIS_LABEL]){0}));
    pr_chart_put_dot(p->v, c->number, at.x, at.y, r,
                     p->x.is_names ? tip + 2 : tip);
}

/* Some dots along a dense curve tell it from others; those of series stand
 * at different places. */
static void put_sparse_dots(const struct pr_chart_plot *p,
                            const struct pr_chart_curve *c)
{
    double step = SPARSE * fmax(1, p->area.w / 700);
    double next = p->area.x + step * (double)(1 + (c->number * 7) % 10) / 11;

    for (size_t i = 0; i < c->count; i++) {
        if (pr_chart_x(p, c->points[i].x) < next)
            continue;
        put_dot_at(p, c, i, 4);
        next += step;
        if (next < pr_chart_x(p, c->points[i].x))
            next = pr_chart_x(p, c->points[i].x) + step / 2;
    }
}

/* Of points that fall on the same pixel as the one before, one is enough. */
static void put_all_dots(const struct pr_chart_plot *p,
                         const struct pr_chart_curve *c)
{
    double r = c->count > PR_CHART_CROWDED ? 2.5 : 4;
    struct pr_spot was = {NAN, NAN};

    if (c->count > THIN_FROM)
        r = 1.5;
    for (size_t i = 0; i < c->count; i++) {
        struct pr_spot at = spot_of(p, &c->points[i]);

        at = (struct pr_spot){round(at.x), round(at.y)};
        if (c->count > THIN_FROM && at.x == was.x && at.y == was.y)
            continue;
        was = at;
        put_dot_at(p, c, i, r);
    }
}

/* ---- lines */

/* What is kept of one column of pixels. */
struct column {
    double pixel;
    size_t first, least, most, last; /* spots */
};

static size_t chart_flush_column(const struct pr_chart_plot *p,
                                 const struct pr_chart_curve *c,
                                 const struct column *col, size_t n)
{
    size_t a = col->least < col->most ? col->least : col->most;
    size_t b = col->least < col->most ? col->most : col->least;

    p->spots[n++] = spot_of(p, &c->points[col->first]);
    if (a != col->first)
        p->spots[n++] = spot_of(p, &c->points[a]);
    if (b != a && b != col->first)
        p->spots[n++] = spot_of(p, &c->points[b]);
    if (col->last != b && col->last != col->first)
        p->spots[n++] = spot_of(p, &c->points[col->last]);
    return n;
}

static size_t chart_thin_curve(const struct pr_chart_plot *p,
                               const struct pr_chart_curve *c)
{
    struct column col = {.pixel = NAN};
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) {
        double pixel = floor(pr_chart_x(p, c->points[i].x) * p->v->scale);

        if (pixel != col.pixel) {
            if (i)
                n = chart_flush_column(p, c, &col, n);
            col = (struct column){pixel, i, i, i, i};
            continue;
        }
        if (c->points[i].y < c->points[col.least].y)
            col.least = i;
        if (c->points[i].y > c->points[col.most].y)
            col.most = i;
        col.last = i;
    }
    return c->count ? chart_flush_column(p, c, &col, n) : 0;
}

static void chart_put_curve_line(const struct pr_chart_plot *p,
                                 const struct pr_chart_curve *c)
{
    struct pr_ink ink = {.role = PR_ROLE_LINE, .series = c->number};
    size_t n = c->count;

    /* Dashes on a line that goes up and down all the time are noise. */
    ink.dashed = n <= PR_CHART_DENSE || c->s->style == PR_CHART_CURVE;
    if (n > THIN_FROM)
        n = chart_thin_curve(p, c);
    else
        for (size_t i = 0; i < n; i++)
            p->spots[i] = spot_of(p, &c->points[i]);
    if (n > 1)
        p->v->kind->path(p->v, &ink, p->spots, n, NULL);
}

/* ---- error bars */

static bool has_error(const struct pr_chart_plot *p,
                      const struct pr_chart_point *q)
{
    return q->low < q->high && pr_chart_is_number(q->low) &&
           pr_chart_is_number(q->high) && (!p->y.is_log || q->high > 0);
}

static size_t chart_put_error_bar(struct pr_spot *s, double x, double low,
                                  double high, double cap)
{
    const struct pr_spot bar[] = {{x, low},        {x, high},       {NAN, NAN},
                                  {x - cap, low},  {x + cap, low},  {NAN, NAN},
                                  {x - cap, high}, {x + cap, high}, {NAN, NAN}};
    size_t n = cap > 0 ? 9 : 3;

    for (size_t i = 0; i < n; i++)
        s[i] = bar[i];
    return n;
}

/* All of a series are one path; of a crowded one, one for a pixel. */
static void put_errors(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c)
{
    bool bars = c->s->style >= PR_CHART_BARS;
    struct pr_ink ink = {.role = bars ? PR_ROLE_WHISKER : PR_ROLE_ERROR,
                         .series = c->number};
    double cap = c->count > PR_CHART_CROWDED ? 0 : 4, was = NAN;
    double floor_y = p->area.y + p->area.h;
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct pr_chart_point *q = &c->points[i];
        double x =
            bars ? chart_bar_range(p, c, q->x).middle : pr_chart_x(p, q->x);
        double low, high;

        if (!has_error(p, q) || (cap == 0 && round(x) == was))
            continue;
        was = round(x);
        low = p->y.is_log && !(q->low > 0) ? floor_y : pr_chart_y(p, q->low);
        high = pr_chart_y(p, q->high);
        n += chart_put_error_bar(p->spots + n, x, low, high, cap);
    }
    if (n)
        p->v->kind->path(p->v, &ink, p->spots, n, NULL);
}

/* ---- all of them */

static void chart_put_curve(const struct pr_chart_plot *p,
                            const struct pr_chart_curve *c)
{
    switch (c->s->style) {
    case PR_CHART_BARS:
        chart_put_bars(p, c);
        put_errors(p, c);
        return;
    case PR_CHART_BOXES:
        chart_put_boxes(p, c);
        return;
    case PR_CHART_POINTS:
        put_errors(p, c);
        put_all_dots(p, c);
        return;
    case PR_CHART_LINE:
    case PR_CHART_CURVE:
        put_errors(p, c);
        chart_put_curve_line(p, c);
        if (c->s->style == PR_CHART_CURVE)
            return;
        if (c->count > PR_CHART_DENSE)
            put_sparse_dots(p, c);
        else
            put_all_dots(p, c);
    }
}

void pr_chart_put_curves(const struct pr_chart_plot *p)
{
    for (size_t k = 0; k < p->curve_count; k++) {
        const struct pr_chart_curve *c = &p->curves[k];
        const char *name = c->s->name;
        PR_AUTO_BUF struct pr_buf clean = PR_BUF_INIT(1 << 16);

        p->v->kind->begin(p->v, "series", (long)c->number,
                          name && *name ? pr_chart_clean(&clean, name) : NULL);
        chart_put_curve(p, c);
        p->v->kind->end(p->v);
    }
}
