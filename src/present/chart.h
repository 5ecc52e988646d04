/*
 * A line chart as an SVG image of its own: no scripts, light or dark as the
 * reader's screen is, readable by browsers and by programs that print. For
 * curves of a few to a thousand points.
 */
#ifndef PR_PRESENT_CHART_H
#define PR_PRESENT_CHART_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { PR_CHART_WIDTH = 800, PR_CHART_HEIGHT = 480 };

/* One whose x or y is no number is left out. low < high: an error bar. */
struct pr_chart_point {
    double x, y, low, high;
};

enum pr_chart_style {
    PR_CHART_LINE,   /* from the left to the right, with dots unless crowded */
    PR_CHART_POINTS, /* dots alone */
};

struct pr_chart_series {
    const char *name; /* in the legend, when there are several; or NULL */
    const struct pr_chart_point *points; /* in any order */
    size_t count;
    enum pr_chart_style style;
};

/* Text is shown as it is, made harmless, and cut where there is no room for
 * it. NULL or "": none. */
struct pr_chart {
    const char *title, *subtitle, *x_label, *y_label;
    bool y_percent; /* 1 is shown as 100 % */
    const struct pr_chart_series *series;
    size_t series_count;
    double threshold; /* a level line; with a label only */
    const char *threshold_label;
    double mark; /* an x that is highlighted; with a label only */
    const char *mark_label;
};

/* Appends the image. The x axis is logarithmic, in powers of two, where x
 * spans more than 16 times its least. */
int pr_chart_svg(const struct pr_chart *c, struct pr_buf *out,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
