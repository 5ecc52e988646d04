/* What the files of the chart share: axes, text, and the plot. */
#ifndef PR_PRESENT_CHART_IMPL_H
#define PR_PRESENT_CHART_IMPL_H

#include "present/chart/chart.h"

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

/* ---- between the files of the axes */

/* Sets unit and suffix for values up to most. */
void pr_axis_choose_unit(struct pr_axis *a, double most);

/* The width of the widest label. */
double pr_axis_widest(const struct pr_axis *a, struct pr_canvas *v);

/* Whether a unit is one that ticks show, and its label need not. */
bool pr_axis_shows_unit(const char *unit);

/* ---- text */

/* Text made harmless, in b; "" when there is none. */
const char *pr_chart_clean(struct pr_buf *b, const char *s);

/* How wide text gets when it is made harmless. */
double pr_chart_text_width(struct pr_canvas *v, const char *s, double size);

/* Draws l->text made harmless and cut with an ellipsis to fit. */
void pr_chart_put_text(struct pr_canvas *v, const struct pr_label *l,
                       double room);

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
struct pr_chart_range pr_chart_bar_range(const struct pr_chart_plot *p,
                                         const struct pr_chart_curve *c,
                                         double x);

/* Legend, axes, grid; what series show; threshold and mark. */
void pr_chart_put_axes(const struct pr_chart_plot *p);
void pr_chart_put_legend(const struct pr_chart_plot *p, double y);
void pr_chart_put_curves(const struct pr_chart_plot *p);
void pr_chart_put_bars(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c);
void pr_chart_put_boxes(const struct pr_chart_plot *p,
                        const struct pr_chart_curve *c);
void pr_chart_put_lines(const struct pr_chart_plot *p);
void pr_chart_put_labels(const struct pr_chart_plot *p);

/* One dot in the shape of the series. */
void pr_chart_put_dot(struct pr_canvas *v, unsigned series, double x, double y,
                      double r, const char *tip);
/* One bar in the hatch of the series. */
void pr_chart_put_bar(struct pr_canvas *v, unsigned series,
                      const struct pr_box *b, const char *tip);

/* Rows that the legend takes. */
size_t pr_chart_legend_rows(const struct pr_chart_plot *p);
enum { PR_LEGEND_ROW = 20 };

/* Sees to the labels of names: turned, cut or left out where there is not
 * room. Returns the height they take. */
double pr_chart_fit_names(struct pr_chart_plot *p);

#endif
