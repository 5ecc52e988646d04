/* The two lines of a chart that stand for numbers, threshold and mark, and
 * their labels, put where they hide least. */
#include "present/chart_impl.h"

#include <math.h>

enum { FONT = 12, LABEL_H = 18, AWAY = 8, CLEAR = 5 };

static bool has_text(const char *s)
{
    return s && *s;
}

static bool has_mark(const struct pr_chart_plot *p)
{
    return has_text(p->c->mark_label) && pr_chart_is_number(p->c->mark) &&
           !(p->x.is_log && p->c->mark <= 0);
}

static bool has_threshold(const struct pr_chart_plot *p)
{
    return has_text(p->c->threshold_label) &&
           pr_chart_is_number(p->c->threshold);
}

/* ---- where there is room */

/* Cuts [*t0, *t1] of a line to where from + t * by is between 0 and room. */
static bool clip(double from, double by, double room, double *t0, double *t1)
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

static bool crosses(const struct pr_box *b, double x1, double y1, double x2,
                    double y2)
{
    double t0 = 0, t1 = 1;

    return clip(x1 - b->x, x2 - x1, b->w, &t0, &t1) &&
           clip(y1 - b->y, y2 - y1, b->h, &t0, &t1);
}

static bool overlap(const struct pr_box *a, const struct pr_box *b)
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
        sum += 2 * crosses(b, x, y, x, y);
        if (i && c->style == PR_CHART_LINE)
            sum += crosses(b, was_x, was_y, x, y);
        if (c->points[i].low < c->points[i].high)
            sum += crosses(b, x, pr_chart_y(p, c->points[i].low), x,
                           pr_chart_y(p, c->points[i].high));
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
    if (taken && overlap(b, taken))
        sum += 1e5;
    for (size_t k = 0; k < p->curve_count; k++)
        sum += hidden_of(p, &p->curves[k], &wide);
    if (has_threshold(p)) {
        double y = pr_chart_y(p, p->c->threshold);
        sum += crosses(b, area->x, y, area->x + area->w, y);
    }
    if (has_mark(p)) {
        double x = pr_chart_x(p, p->c->mark);
        sum += crosses(&wide, x, area->y, x, area->y + area->h);
    }
    return sum;
}

size_t pr_chart_place(const struct pr_chart_plot *p, const struct pr_box *boxes,
                      size_t count, const struct pr_box *taken)
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

void pr_chart_put_lines(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double at;

    if (has_threshold(p)) {
        at = pr_chart_y(p, p->c->threshold);
        pr_buf_printf(p->out,
                      "<line class=\"limit\" x1=\"%.1f\" y1=\"%.1f\" "
                      "x2=\"%.1f\" y2=\"%.1f\"/>\n",
                      b->x, at, b->x + b->w, at);
    }
    if (has_mark(p)) {
        at = pr_chart_x(p, p->c->mark);
        pr_buf_printf(p->out,
                      "<line class=\"mark\" x1=\"%.1f\" y1=\"%.1f\" "
                      "x2=\"%.1f\" y2=\"%.1f\"/>\n",
                      at, b->y, at, b->y + b->h);
    }
}

/* ---- labels */

/* Its width is a guess: it keeps to the side where the line is that it
 * belongs to. */
static void put_label(const struct pr_chart_plot *p, const struct pr_box *b,
                      bool at_right, const char *kind, const char *text)
{
    pr_buf_printf(p->out, "<text class=\"%s halo\" x=\"%.1f\" y=\"%.1f\"%s>",
                  kind, b->x + (at_right ? b->w : 0), b->y + 13,
                  at_right ? " text-anchor=\"end\"" : "");
    pr_chart_escape_cut(p->out, text, FONT, b->w + 1);
    pr_buf_str(p->out, "</text>\n");
}

static double label_width(const char *text, double room)
{
    /* Bold text is wider. */
    return fmin(pr_chart_text_width(text, FONT) * 1.1, room);
}

static struct pr_box place_mark(const struct pr_chart_plot *p)
{
    static const double heights[] = {0, 1, 0.5, 0.25, 0.75, 0.12, 0.88};
    enum { HEIGHTS = sizeof heights / sizeof *heights };
    const struct pr_box *b = &p->area;
    double at = pr_chart_x(p, p->c->mark);
    double w = label_width(p->c->mark_label,
                           fmax(at - b->x, b->x + b->w - at) - 2 * AWAY);
    struct pr_box boxes[2 * HEIGHTS];

    for (size_t i = 0; i < HEIGHTS; i++) {
        double y = b->y + 4 + heights[i] * (b->h - LABEL_H - 8);

        boxes[2 * i] = (struct pr_box){at + AWAY, y, w, LABEL_H};
        boxes[2 * i + 1] = (struct pr_box){at - AWAY - w, y, w, LABEL_H};
    }
    return boxes[pr_chart_place(p, boxes, 2 * HEIGHTS, NULL)];
}

static struct pr_box place_threshold(const struct pr_chart_plot *p,
                                     const struct pr_box *taken)
{
    enum { ALONG = 5 };
    const struct pr_box *b = &p->area;
    double at = pr_chart_y(p, p->c->threshold);
    double w = label_width(p->c->threshold_label, b->w - 2 * AWAY);
    struct pr_box boxes[2 * ALONG];

    /* From the right end to the left one. */
    for (size_t i = 0; i < ALONG; i++) {
        double x = b->x + AWAY / 2.0 +
                   (b->w - w - AWAY) * (double)(ALONG - 1 - i) / (ALONG - 1);

        boxes[i] = (struct pr_box){x, at - LABEL_H - 1, w, LABEL_H};
        boxes[ALONG + i] = (struct pr_box){x, at + 2, w, LABEL_H};
    }
    return boxes[pr_chart_place(p, boxes, 2 * ALONG, taken)];
}

/* The points of the highlighted x. */
static void put_rings(const struct pr_chart_plot *p)
{
    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < p->curves[k].count; i++)
            if (p->curves[k].points[i].x == p->c->mark &&
                p->curves[k].style == PR_CHART_LINE)
                pr_buf_printf(p->out,
                              "<circle class=\"ring\" cx=\"%.1f\" "
                              "cy=\"%.1f\" r=\"7\"/>\n",
                              pr_chart_x(p, p->c->mark),
                              pr_chart_y(p, p->curves[k].points[i].y));
}

void pr_chart_put_labels(const struct pr_chart_plot *p)
{
    struct pr_box mark, threshold;

    if (has_mark(p)) {
        put_rings(p);
        mark = place_mark(p);
        put_label(p, &mark, mark.x < pr_chart_x(p, p->c->mark), "bold",
                  p->c->mark_label);
    }
    if (has_threshold(p)) {
        threshold = place_threshold(p, has_mark(p) ? &mark : NULL);
        put_label(p, &threshold,
                  threshold.x + threshold.w / 2 > p->area.x + p->area.w / 2,
                  "limit-text", p->c->threshold_label);
    }
}
