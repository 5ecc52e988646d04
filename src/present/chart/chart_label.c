/* The two lines of a chart that stand for numbers, threshold and mark, and
 * their labels, put where they hide least. */
#include "present/chart/chart_impl.h"

#include <math.h>

enum { LABEL_H = 18, AWAY = 8, CLEAR = 5 };

static bool chart_label_has_text(const char *s)
{
    return s && *s;
}

static bool chart_has_mark(const struct pr_chart_plot *p)
{
    return chart_label_has_text(p->c->mark_label) &&
           pr_chart_is_number(p->c->mark) && !(p->x.is_log && p->c->mark <= 0);
}

static bool has_threshold(const struct pr_chart_plot *p)
{
    return chart_label_has_text(p->c->threshold_label) &&
           pr_chart_is_number(p->c->threshold) &&
           !(p->y.is_log && p->c->threshold <= 0);
}

/* ---- where there is room */

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

/* ---- lines */

static void chart_put_stroke(const struct pr_chart_plot *p, enum pr_role role,
                             double x1, double y1, double x2, double y2)
{
    const struct pr_spot spots[] = {{x1, y1}, {x2, y2}};

    p->v->kind->path(p->v, &(struct pr_ink){.role = role}, spots, 2, NULL);
}

void pr_chart_put_lines(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double at;

    if (has_threshold(p)) {
        at = pr_chart_y(p, p->c->threshold);
        chart_put_stroke(p, PR_ROLE_LIMIT, b->x, at, b->x + b->w, at);
    }
    if (chart_has_mark(p)) {
        at = pr_chart_x(p, p->c->mark);
        chart_put_stroke(p, PR_ROLE_MARK, at, b->y, at, b->y + b->h);
    }
}

/* ---- labels */

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
    pr_chart_put_text(p->v, l, b->w + 1);
}

static double chart_label_width(const struct pr_chart_plot *p, const char *text,
                                double room)
{
    /* Bold text is wider. */
    return fmin(pr_chart_text_width(p->v, text, PR_CHART_TEXT) * 1.1, room);
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

void pr_chart_put_labels(const struct pr_chart_plot *p)
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
