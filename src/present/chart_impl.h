/* What the files of the chart share: axes and text. */
#ifndef PR_PRESENT_CHART_IMPL_H
#define PR_PRESENT_CHART_IMPL_H

#include "present/chart.h"

enum { PR_AXIS_TICKS = 40, PR_AXIS_LABEL = 40 };

/* Can be shown: finite, and so are differences between two of them. */
static inline bool pr_chart_is_number(double v)
{
    return v >= -1e300 && v <= 1e300;
}

/* ---- axes */

struct pr_axis {
    bool is_log, is_percent;
    double low, high; /* the ends; of the logarithm where is_log */
    double ticks[PR_AXIS_TICKS];
    size_t tick_count;
    double unit; /* labels count in this, */
    const char *suffix;
    int decimals;
};

/* An x axis for values from min to max; whole: all of them are whole numbers.
 * room is its length, which its labels have to fit in. */
void pr_axis_x(struct pr_axis *a, double min, double max, bool whole,
               double room);

/* A y axis, its ends being ticks. */
void pr_axis_y(struct pr_axis *a, double min, double max, bool percent);

/* Where a value is: 0 is the low end, 1 the high one. */
double pr_axis_at(const struct pr_axis *a, double v);

/* The label of a tick. Returns out. */
const char *pr_axis_label(const struct pr_axis *a, double v,
                          char out[static PR_AXIS_LABEL]);

/* ---- text */

/* About how wide it gets at a size of the font. */
double pr_chart_text_width(const char *s, double size);

/* Appends text for XML, made harmless. */
void pr_chart_escape(struct pr_buf *out, const char *s);

/* The same, cut with an ellipsis to fit. */
void pr_chart_escape_cut(struct pr_buf *out, const char *s, double size,
                         double room);

/* ---- the picture */

struct pr_box {
    double x, y, w, h; /* of its upper left corner */
};

/* The points of a series that are shown, by x. */
struct pr_chart_curve {
    struct pr_chart_point *points;
    size_t count;
    enum pr_chart_style style;
    const char *name;
};

struct pr_chart_plot {
    const struct pr_chart *c;
    struct pr_buf *out;
    struct pr_axis x, y;
    struct pr_box area;
    struct pr_chart_curve *curves;
    size_t curve_count, point_count;
};

double pr_chart_x(const struct pr_chart_plot *p, double x);
double pr_chart_y(const struct pr_chart_plot *p, double y);

/* The box, of some that would do, that hides the least of the curves and
 * nothing of the box taken (NULL: none). Returns its number. */
size_t pr_chart_place(const struct pr_chart_plot *p, const struct pr_box *boxes,
                      size_t count, const struct pr_box *taken);

/* Legend, axes, grid; error bars, lines and dots; threshold and mark. */
void pr_chart_put_style(struct pr_buf *out);
void pr_chart_put_axes(const struct pr_chart_plot *p);
void pr_chart_put_legend(const struct pr_chart_plot *p, double y);
void pr_chart_put_curves(const struct pr_chart_plot *p);
void pr_chart_put_lines(const struct pr_chart_plot *p);
void pr_chart_put_labels(const struct pr_chart_plot *p);

/* Rows that the legend takes. */
size_t pr_chart_legend_rows(const struct pr_chart_plot *p);

#endif
