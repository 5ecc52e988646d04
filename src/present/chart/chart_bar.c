/* Bars and boxes: side by side at each name of the x axis. */
#include "present/chart/chart_impl.h"

#include <math.h>

enum { WIDEST = 64, HATCHES = 5, HATCH_APART = 7, FAR_DOT = 3 };

#define SHARE 0.78 /* of its slot that a group of bars takes */

struct pr_chart_range pr_chart_bar_range(const struct pr_chart_plot *p,
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

void pr_chart_put_bars(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c)
{
    double base = chart_bar_base_y(p);
    struct pr_axis plain = p->y;

    plain.is_log = false;
    plain.digits = 6;
    for (size_t i = 0; i < c->count; i++) {
        struct pr_chart_range s = pr_chart_bar_range(p, c, c->points[i].x);
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
    struct pr_chart_range s = pr_chart_bar_range(p, c, b->x);
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

void pr_chart_put_boxes(const struct pr_chart_plot *p,
                        const struct pr_chart_curve *c)
{
    for (size_t i = 0; i < c->s->count; i++) {
        const struct pr_chart_spread *b = &c->s->spreads[i];

        if (pr_chart_is_number(b->x) && pr_chart_is_number(b->low) &&
            pr_chart_is_number(b->high) && (!p->y.is_log || b->low > 0))
            chart_put_box(p, c, b);
    }
}
