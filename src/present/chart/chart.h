/*
 * A chart: what it shows, and its image as SVG, PNG or PDF. One description
 * and one layout for all; what is drawn on is a canvas
 * (present/chart/canvas_svg.h). For one to a million points.
 */
#ifndef PR_PRESENT_CHART_H
#define PR_PRESENT_CHART_H

#include "base/buf.h"
#include "base/err.h"
#include "present/chart/canvas_svg.h"

enum {
    PR_CHART_WIDTH = 800,
    PR_CHART_HEIGHT = 500,
    PR_CHART_SIDE = 8192, /* width and height at most, in pixels */
};

/* One whose x or y is no number is left out. low < high: an error bar. */
struct pr_chart_point {
    double x, y, low, high;
};

/* What lies between quartiles; whiskers reach from low to high. */
struct pr_chart_spread {
    double x, low, q1, median, q3, high, mean;
    const double *far; /* values beyond the whiskers */
    size_t far_count;
};

enum pr_chart_style {
    PR_CHART_LINE,   /* from the left to the right, with dots */
    PR_CHART_CURVE,  /* the same without */
    PR_CHART_POINTS, /* dots alone */
    PR_CHART_BARS,   /* side by side; for charts with x_names */
    PR_CHART_BOXES,  /* the same, of spreads */
};

struct pr_chart_series {
    const char *name; /* in the legend, when there are several; or NULL */
    const struct pr_chart_point *points; /* in any order */
    size_t count;                        /* of points, or of spreads */
    enum pr_chart_style style;
    const struct pr_chart_spread *spreads; /* of boxes */
};

enum pr_chart_scale {
    PR_SCALE_AUTO, /* logarithmic where x, from few to many, calls for it */
    PR_SCALE_LINEAR,
    PR_SCALE_LOG, /* what is not above zero is left out */
};

/*
 * Text is shown as it is, made harmless, and cut where there is no room for
 * it. NULL or "": none. Units: "share" (1 is shown as 100 %), "bytes",
 * "bytes/s", "s", "ms" are scaled; any other stands beside the label.
 */
struct pr_chart {
    const char *title, *subtitle, *x_label, *y_label;
    const char *x_unit, *y_unit;
    enum pr_chart_scale x_scale, y_scale;
    double x_from, x_to; /* x goes at least so far; equal: as points do */
    const char *const *x_names; /* x is a number of one of them, from 0 */
    size_t x_name_count;
    bool x_at_points; /* ticks where points are, when they are few */
    bool y_from_zero; /* even if all values are far from it; bars always are */
    const struct pr_chart_series *series;
    size_t series_count;
    double threshold; /* a level line; with a label only */
    const char *threshold_label;
    double mark; /* an x that is highlighted; with a label only */
    const char *mark_label;
    double width, height; /* 0: as above */
    double scale;         /* pixels of a PNG for one of these; 0: 1 */
};

/* Appends the image. PR_E_UNAVAIL: what the kind needs is not there. */
int pr_chart_draw(const struct pr_chart *c, const struct pr_canvas_kind *kind,
                  struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

/* Several in one image, one below the other, with their left edges in line. The
 * first one's width, scale and title are the image's. */
int pr_chart_draw_panels(const struct pr_chart *charts, size_t count,
                         const struct pr_canvas_kind *kind, struct pr_buf *out,
                         struct pr_err *err) PR_MUST_CHECK;

/* ---- between the files of the chart */

enum {
    PR_AXIS_TICKS = 40,
    PR_AXIS_LABEL = 40,
    PR_CHART_TEXT = 12,    /* size of most text */
    PR_CHART_CROWDED = 60, /* points: smaller dots from here on, */
    PR_CHART_DENSE = 150,  /* and only some of them from here on */
};

/* Can be shown: finite, and so are differences between two of them. */
static inline bool pr_chart_is_number(double v)
{
    return v >= -1e300 && v <= 1e300;
}

/* ---- axes */

struct pr_axis {
    bool is_log, is_names;
    double low, high; /* the ends; of the logarithm where is_log */
    double ticks[PR_AXIS_TICKS];
    size_t tick_count;
    const char *kind; /* "share", "bytes", …: see struct pr_chart */
    double unit;      /* labels count in this, */
    const char *suffix;
    int decimals;
    int digits; /* in place of decimals: significant ones; 0: none */
};

/* What an axis is made for. */
struct pr_axis_wish {
    double min, max;
    bool whole;       /* all values are whole numbers */
    bool from_zero;   /* even if all are far from it */
    const char *unit; /* or NULL */
    double room;      /* its length, which labels of x have to fit in */
    struct pr_canvas *v;
};

/* Axes of values; those of y end at ticks. */
void pr_axis_x(struct pr_axis *a, const struct pr_axis_wish *w);
void pr_axis_y(struct pr_axis *a, const struct pr_axis_wish *w);
void pr_axis_x_log(struct pr_axis *a, const struct pr_axis_wish *w);
void pr_axis_y_log(struct pr_axis *a, const struct pr_axis_wish *w);

/* An axis of so many names. */
void pr_axis_names(struct pr_axis *a, size_t count);

/* Puts ticks at these values, which are in order, when their labels fit. */
void pr_axis_ticks_at(struct pr_axis *a, const double *values, size_t count,
                      const struct pr_axis_wish *w);

/* Where a value is: 0 is the low end, 1 the high one. */
double pr_axis_at(const struct pr_axis *a, double v);

/* The label of a tick. Returns out. */
const char *pr_axis_label(const struct pr_axis *a, double v,
                          char out[static PR_AXIS_LABEL]);

/* The width of the widest label. */
double pr_axis_widest(const struct pr_axis *a, struct pr_canvas *v);

/* Whether a unit is one that ticks show, and its label need not. */
bool pr_axis_shows_unit(const char *unit);

/* ---- text */

/* Text made harmless, in b; "" when there is none. */
const char *pr_chart_clean(struct pr_buf *b, const char *s);

/* ---- the plot */

/* The points of a series that are shown, by x. */
struct pr_chart_curve {
    const struct pr_chart_series *s;
    struct pr_chart_point *points;
    size_t count;
    unsigned number; /* of the series: its colour, dashes, dots, hatches */
    unsigned place;  /* among bars and boxes, side by side */
};

struct pr_chart_plot {
    const struct pr_chart *c;
    struct pr_canvas *v;
    struct pr_axis x, y;
    double top, bottom; /* of its part of the canvas */
    double left;        /* the area begins there, or more to the right */
    struct pr_box area;
    struct pr_chart_curve *curves;
    size_t curve_count;
    size_t shown;          /* points and spreads */
    unsigned places;       /* bars and boxes side by side */
    double x_turn;         /* of the labels of x, in degrees */
    double x_room;         /* of one of them */
    size_t x_every;        /* name that has a label */
    struct pr_spot *spots; /* room for a curve, whatever it is drawn as */
};

double pr_chart_x(const struct pr_chart_plot *p, double x);
double pr_chart_y(const struct pr_chart_plot *p, double y);

/* The place of a bar or box: its middle, and its width. */
struct pr_chart_range {
    double middle, width;
};

/* Legend, axes, grid; what series show; threshold and mark. */
void pr_chart_put_curves(const struct pr_chart_plot *p);

/* One dot in the shape of the series. */
void pr_chart_put_dot(struct pr_canvas *v, unsigned series, double x, double y,
                      double r, const char *tip);
/* One bar in the hatch of the series. */
void pr_chart_put_bar(struct pr_canvas *v, unsigned series,
                      const struct pr_box *b, const char *tip);

/* Rows that the legend takes. */
enum { PR_LEGEND_ROW = 20 };

#endif
