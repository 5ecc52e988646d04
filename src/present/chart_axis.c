/* Axes of a chart: where values are, and round numbers along them. */
#include "present/chart_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { X_TICKS = 10, Y_TICKS = 6, FONT = 12, GAP = 14 };

#define LOG_ABOVE 16.0 /* times the least */
#define LEAST 1e-290   /* differences below are none */
#define PADDING 0.03   /* of the axis, at an end that is no round number */

/* ---- values and labels */

double pr_axis_at(const struct pr_axis *a, double v)
{
    return ((a->is_log ? log2(v) : v) - a->low) / (a->high - a->low);
}

/* Large numbers are shown in thousands and so on. */
struct unit {
    double least, unit;
    const char *suffix;
};

static const struct unit *unit_of(double most)
{
    static const struct unit rows[] = {{1e16, 1e15, "P"}, {1e13, 1e12, "T"},
                                       {1e10, 1e9, "G"},  {1e7, 1e6, "M"},
                                       {1e5, 1e3, "k"},   {0, 1, ""}};
    size_t i = 0;

    while (most < rows[i].least)
        i++;
    return &rows[i];
}

const char *pr_axis_label(const struct pr_axis *a, double v,
                          char out[static PR_AXIS_LABEL])
{
    const struct unit *own = unit_of(fabs(v));
    double n = v / a->unit;

    if (a->is_log && own->unit == 1)
        snprintf(out, PR_AXIS_LABEL, "%g", v);
    else if (a->is_log)
        snprintf(out, PR_AXIS_LABEL, "%.3g%s", v / own->unit, own->suffix);
    else if (fabs(n) >= 1e7)
        snprintf(out, PR_AXIS_LABEL, "%.3g%s", n, a->suffix);
    else /* no -0 */
        snprintf(out, PR_AXIS_LABEL, "%.*f%s", a->decimals, n + 0.0, a->suffix);
    return out;
}

static void choose_unit(struct pr_axis *a, double most)
{
    const struct unit *u = unit_of(most);

    a->unit = a->is_percent ? 0.01 : u->unit;
    a->suffix = a->is_percent ? " %" : u->suffix;
}

static void choose_decimals(struct pr_axis *a, double step)
{
    double n = step / a->unit;

    for (a->decimals = 0; a->decimals < 9; a->decimals++, n *= 10)
        if (fabs(n - round(n)) < 1e-6 * n)
            break;
}

/* 1, 2, 2.5 or 5 times a power of ten, no less than told. */
static double nice_step(double least)
{
    static const double good[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(least)));

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (good[i] * power >= least * (1 - 1e-9))
            return good[i] * power;
    return 10 * power;
}

static void put_ticks(struct pr_axis *a, double step)
{
    double first = ceil(a->low / step - 1e-6);

    a->tick_count = 0;
    for (double i = 0; i < PR_AXIS_TICKS; i++) {
        double v = (first + i) * step;

        if (v > a->high + step * 1e-6)
            return;
        a->ticks[a->tick_count++] = v;
    }
}

/* Whether two ends are one. */
static bool is_single(double min, double max)
{
    return !(max - min > fmax(fabs(max) * 1e-9, LEAST));
}

/* ---- y */

void pr_axis_y(struct pr_axis *a, double min, double max, bool percent)
{
    double step;

    *a = (struct pr_axis){.is_percent = percent};
    if (percent) {
        max = max <= 1 ? 1 : max;
        min = min < 0.4 ? fmin(min, 0) : min - 0.02;
    } else if (min >= 0) {
        min = 0;
    }
    if (is_single(min, max)) {
        double pad = fabs(max) > LEAST ? fabs(max) / 2 : 0.5;
        min -= min == 0 ? 0 : pad;
        max += pad;
    }
    step = nice_step((max - min) / Y_TICKS);
    a->low = floor(min / step + 1e-6) * step;
    a->high = ceil(max / step - 1e-6) * step;
    choose_unit(a, fmax(fabs(a->low), fabs(a->high)));
    choose_decimals(a, step);
    put_ticks(a, step);
}

/* ---- x */

static double widest_label(const struct pr_axis *a)
{
    char text[PR_AXIS_LABEL];
    double most = 0;

    for (size_t i = 0; i < a->tick_count; i++)
        most = fmax(most, pr_chart_text_width(
                              pr_axis_label(a, a->ticks[i], text), FONT));
    return most;
}

/* Powers of two, each or as many as there is room for. */
static void log_ticks(struct pr_axis *a, double min, double max, double room)
{
    double first = ceil(log2(min) - 1e-9), last = floor(log2(max) + 1e-9);

    for (double every = 1;; every++) {
        double apart = room * every / (a->high - a->low);

        a->tick_count = 0;
        if ((last - first) / every >= PR_AXIS_TICKS)
            continue;
        for (double e = first; e <= last; e += every)
            a->ticks[a->tick_count++] = exp2(e);
        if (a->tick_count < 3 || apart >= widest_label(a) + GAP)
            return;
    }
}

static void linear_ticks(struct pr_axis *a, bool whole, double room)
{
    for (int most = X_TICKS; most > 0; most--) {
        double step = nice_step((a->high - a->low) / most);

        if (whole && step < 1)
            step = 1;
        if (whole && step == 2.5)
            step = 5;
        choose_decimals(a, step);
        put_ticks(a, step);
        if (room * step / (a->high - a->low) >= widest_label(a) + GAP)
            return;
    }
}

void pr_axis_x(struct pr_axis *a, double min, double max, bool whole,
               double room)
{
    double pad;

    *a = (struct pr_axis){.is_log = min > 0 && max > LOG_ABOVE * min};
    choose_unit(a, fmax(fabs(min), fabs(max)));
    if (a->is_log) {
        a->low = log2(min);
        a->high = log2(max);
        pad = (a->high - a->low) * PADDING;
        a->low -= pad;
        a->high += pad;
        log_ticks(a, min, max, room);
        return;
    }
    /* A single value is in the middle. */
    if (is_single(min, max)) {
        pad = fabs(max) > LEAST ? fabs(max) : 1;
        min -= pad;
        max += pad;
    } else if (min > 0 && min <= 0.4 * max) {
        min = 0;
    }
    pad = (max - min) * PADDING;
    a->low = min == 0 ? 0 : min - pad;
    a->high = max + pad;
    linear_ticks(a, whole, room);
}
