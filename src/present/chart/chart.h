/*
 * A chart: what it shows, and its image as SVG, PNG or PDF. One description
 * and one layout for all; what is drawn on is a canvas
 * (present/chart/canvas.h). For one to a million points.
 */
#ifndef PR_PRESENT_CHART_H
#define PR_PRESENT_CHART_H

#include "base/buf.h"
#include "base/err.h"
#include "present/chart/canvas.h"

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

#endif
