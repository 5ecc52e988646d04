/*
 * Small pictures in the page: curves over one another, and values on a line.
 * Coordinates are whole numbers of a fixed box that the page stretches;
 * numbers stand beside them as text.
 */
#include "base/stats/statistics.h"
#include "present/html/html_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 1000, HIGH = 200, STRIP = 60, MAX_POINTS = 256 };

/* Finite values, which are moved about. */
static void spread_of(double *v, size_t n, double *ret_low, double *ret_mid,
                      double *ret_high)
{
    double low = v[0], high = v[0], above = INFINITY;
    size_t half = (n - 1) / 2;

    for (size_t i = 1; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    pr_select_nth(v, n, half);
    for (size_t i = half + 1; i < n; i++)
        above = v[i] < above ? v[i] : above;
    *ret_low = low;
    *ret_mid = n % 2 ? v[half] : v[half] + 0.5 * (above - v[half]);
    *ret_high = high;
}

/* ---- scales */

struct scale {
    double low, high;
};

/* From zero, unless that would squeeze everything into the upper part; never
 * so close that a wobble of a few percent looks like a storm. */
static void html_widen_scale(struct scale *s)
{
    double middle = (s->low + s->high) / 2, room;

    if (s->low >= 0 && s->low < 0.6 * s->high)
        s->low = 0;
    room = fmax((s->high - s->low) * 0.55, fabs(middle) * 0.15);
    if (!(room > 0))
        room = 1;
    middle = (s->low + s->high) / 2;
    if (s->low != 0)
        s->low = middle - room;
    s->high = middle + room;
}

static int html_scale_value(const struct scale *s, double v, int from, int to)
{
    double share = (v - s->low) / (s->high - s->low);

    return from + (int)lround(fmin(1, fmax(0, share)) * (to - from));
}

/* Numbers are the most of a picture; printf would be the most of its time. */
static void html_put_int(struct pr_buf *out, int v)
{
    char text[12];
    size_t n = sizeof text;
    unsigned u = v < 0 ? 0u - (unsigned)v : (unsigned)v;

    do
        text[--n] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        text[--n] = '-';
    pr_buf_add(out, text + n, sizeof text - n);
}

static void put_spot(struct pr_html *h, int x, int y)
{
    html_put_int(&h->out, x);
    pr_buf_char(&h->out, ',');
    html_put_int(&h->out, y);
    pr_buf_char(&h->out, ' ');
}

static void begin_svg(struct pr_html *h, const char *kind, int high,
                      const char *label)
{
    pr_html_printf(h,
                   "<svg class=\"%s\" viewBox=\"0 0 %d %d\" "
                   "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
                   kind, WIDE, high);
    pr_html_text(h, label);
    pr_html_raw(h, "\">");
}

/* ---- curves */

static size_t span_of(const struct pr_html_curve *c)
{
    return c->slices > c->count ? c->slices : c->count;
}

static void html_find_extent(const struct pr_html_curve *curves, size_t count,
                             struct scale *s, size_t *ret_longest)
{
    *s = (struct scale){INFINITY, -INFINITY};
    *ret_longest = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < curves[i].count; k++)
            if (isfinite(curves[i].points[k])) {
                s->low = fmin(s->low, (double)curves[i].points[k]);
                s->high = fmax(s->high, (double)curves[i].points[k]);
            }
        if (span_of(&curves[i]) > *ret_longest)
            *ret_longest = span_of(&curves[i]);
    }
}

static int x_of(const struct pr_html_curve *c, size_t k, size_t longest)
{
    double at = ((double)k + 0.5) / (double)c->count * (double)span_of(c);

    return (int)lround(at / (double)longest * WIDE);
}

static void html_put_curve_line(struct pr_html *h,
                                const struct pr_html_curve *c,
                                const struct scale *s, size_t longest,
                                size_t number)
{
    bool down = false;

    if (!c->count)
        return;
    for (size_t k = 0; k < c->count; k++) {
        if (!isfinite(c->points[k])) {
            if (down)
                pr_html_raw(h, "\"/>");
            down = false;
            continue;
        }
        if (!down)
            pr_html_printf(h, "<polyline class=\"c%zu\" points=\"",
                           number % PR_HTML_LINES);
        down = true;
        put_spot(h, x_of(c, k, longest),
                 html_scale_value(s, (double)c->points[k], HIGH, 0));
    }
    if (down)
        pr_html_raw(h, "\"/>");
}

/* Low, middle and high of all curves at each place along the time. */
struct band {
    double low[MAX_POINTS], mid[MAX_POINTS], high[MAX_POINTS];
    size_t count;
};

/* What all curves have after so many slices. A run of a suite is as long as
 * its neighbour, and where to look the same. */
static size_t values_at(const struct pr_html_curve *curves, size_t count,
                        double at, double *ret)
{
    size_t n = 0, p = 0, of = 0, span = 0;

    for (size_t i = 0; i < count; i++) {
        const struct pr_html_curve *c = &curves[i];

        if (!c->count)
            continue;
        if (c->count != of || span_of(c) != span) {
            of = c->count;
            span = span_of(c);
            p = (size_t)(at / (double)span * (double)of);
        }
        if (p < of && isfinite(c->points[p]))
            ret[n++] = (double)c->points[p];
    }
    return n;
}

static void make_band(const struct pr_html_curve *curves, size_t count,
                      size_t longest, double *room, struct band *b)
{
    b->count = 0;
    for (size_t i = 0; i < count; i++)
        if (curves[i].count > b->count)
            b->count = curves[i].count;
    if (b->count > MAX_POINTS)
        b->count = MAX_POINTS;
    for (size_t k = 0; k < b->count; k++) {
        double at = ((double)k + 0.5) / (double)b->count * (double)longest;
        size_t n = values_at(curves, count, at, room);

        b->low[k] = b->mid[k] = b->high[k] = (double)NAN;
        if (n)
            spread_of(room, n, &b->low[k], &b->mid[k], &b->high[k]);
    }
}

static int band_x(const struct band *b, size_t k)
{
    return (int)lround(((double)k + 0.5) / (double)b->count * WIDE);
}

static void put_band(struct pr_html *h, const struct band *b,
                     const struct scale *s)
{
    pr_html_raw(h, "<polygon class=\"band\" points=\"");
    for (size_t k = 0; k < b->count; k++)
        if (isfinite(b->high[k]))
            put_spot(h, band_x(b, k), html_scale_value(s, b->high[k], HIGH, 0));
    for (size_t k = b->count; k-- > 0;)
        if (isfinite(b->low[k]))
            put_spot(h, band_x(b, k), html_scale_value(s, b->low[k], HIGH, 0));
    pr_html_raw(h, "\"/><polyline class=\"c0\" points=\"");
    for (size_t k = 0; k < b->count; k++)
        if (isfinite(b->mid[k]))
            put_spot(h, band_x(b, k), html_scale_value(s, b->mid[k], HIGH, 0));
    pr_html_raw(h, "\"/>");
}

static void html_put_extent(struct pr_html *h, const struct scale *s)
{
    pr_html_raw(h, "<p class=\"ends\"><span>lowest ");
    pr_html_number(h, s->low);
    pr_html_raw(h, "</span><span>highest ");
    pr_html_number(h, s->high);
    pr_html_raw(h, "</span></p>");
}

/* Which line is whose, when there are several. */
static void html_put_curve_key(struct pr_html *h,
                               const struct pr_html_curve *curves, size_t count)
{
    if (count < 2 || count > PR_HTML_LINES || !curves[0].name)
        return;
    pr_html_raw(h, "<p class=\"keys\">");
    for (size_t i = 0; i < count; i++) {
        pr_html_printf(h,
                       "<span><svg class=\"key\" viewBox=\"0 0 30 6\" "
                       "aria-hidden=\"true\"><polyline class=\"c%zu\" "
                       "points=\"0,3 30,3\"/></svg>",
                       i);
        pr_html_text(h, curves[i].name ? curves[i].name : "");
        pr_html_raw(h, "</span> ");
    }
    pr_html_raw(h, "</p>");
}

void pr_html_curves(struct pr_html *h, const struct pr_html_curve *curves,
                    size_t count, const char *label)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    double *room = a ? PR_ARENA_ARRAY(a, double, count + 1) : NULL;
    struct band *band = a ? PR_ARENA_NEW(a, struct band) : NULL;
    struct scale seen, s;
    size_t longest;

    if (!room || !band) {
        h->out.failed = true;
        return;
    }
    html_find_extent(curves, count, &seen, &longest);
    if (!longest || !(seen.low <= seen.high))
        return;
    s = seen;
    html_widen_scale(&s);
    begin_svg(h, "curve", HIGH, label);
    pr_html_printf(h,
                   "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%d\" "
                   "y2=\"%d\"/>",
                   WIDE, HIGH, HIGH);
    if (count > PR_HTML_LINES) {
        make_band(curves, count, longest, room, band);
        put_band(h, band, &s);
    } else
        for (size_t i = 0; i < count; i++)
            html_put_curve_line(h, &curves[i], &s, longest, i);
    pr_html_raw(h, "</svg>");
    html_put_extent(h, &seen);
    html_put_curve_key(h, curves, count);
}

/* ---- values on a line */

/* Dots that lie on each other are set apart, always the same way. */
static int html_dot_y(size_t i)
{
    return STRIP / 2 + (int)((i * 7) % 5) * 8 - 16;
}

static void html_put_quartile_box(struct pr_html *h, const double *v, size_t n,
                                  const struct scale *s)
{
    int q1 = html_scale_value(s, pr_steady_quantile(v, n, 0.25), 0, WIDE);
    int q3 = html_scale_value(s, pr_steady_quantile(v, n, 0.75), 0, WIDE);
    int mid = html_scale_value(s, pr_steady_quantile(v, n, 0.5), 0, WIDE);

    pr_html_printf(h,
                   "<rect class=\"box\" x=\"%d\" y=\"6\" width=\"%d\" "
                   "height=\"%d\"/><line class=\"mid\" x1=\"%d\" x2=\"%d\" "
                   "y1=\"2\" y2=\"%d\"/>",
                   q1, q3 > q1 ? q3 - q1 : 1, STRIP - 12, mid, mid, STRIP - 2);
}

void pr_html_strip(struct pr_html *h, double *v, size_t count,
                   const char *label)
{
    struct scale s;
    size_t step;

    if (!count)
        return;
    qsort(v, count, sizeof *v, pr_double_compare);
    s = (struct scale){v[0], v[count - 1]};
    if (!(s.high > s.low)) {
        s.low -= fabs(s.low) * 0.01 + 1e-9;
        s.high += fabs(s.high) * 0.01 + 1e-9;
    } else {
        double room = (s.high - s.low) * 0.03;

        s.low -= room;
        s.high += room;
    }
    begin_svg(h, "strip", STRIP, label);
    if (count > 3)
        html_put_quartile_box(h, v, count, &s);
    step = (count + PR_HTML_DOTS - 1) / PR_HTML_DOTS;
    pr_html_raw(h, "<path class=\"dots\" d=\"");
    for (size_t i = 0; i < count; i += step) {
        pr_buf_char(&h->out, 'M');
        html_put_int(&h->out, html_scale_value(&s, v[i], 0, WIDE));
        pr_buf_char(&h->out, ' ');
        html_put_int(&h->out, count > 1 ? html_dot_y(i) : STRIP / 2);
        pr_buf_str(&h->out, "h0");
    }
    pr_html_raw(h, "\"/></svg><p class=\"ends\"><span>");
    pr_html_number(h, v[0]);
    pr_html_raw(h, "</span>");
    if (count > 2) {
        pr_html_raw(h, "<span>median ");
        pr_html_number(h, pr_steady_quantile(v, count, 0.5));
        pr_html_raw(h, "</span>");
    }
    if (count > 1) {
        pr_html_raw(h, "<span>");
        pr_html_number(h, v[count - 1]);
        pr_html_raw(h, "</span>");
    }
    pr_html_raw(h, "</p>");
}
