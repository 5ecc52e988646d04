/* Axes of a chart: where values are, and round numbers along them. */
#include "present/chart/chart_impl.h"

#include <math.h>
#include <string.h>

enum { X_TICKS = 10, Y_TICKS = 6, GAP = 14, DECIMALS = 5, LABEL_DIGITS = 6 };

#define LEAST 1e-290 /* differences below are none */
#define PADDING 0.03 /* of the axis, at an end that is no round number */
#define FAR_FROM 0.9 /* of the most: zero is out of sight from here on */

double pr_axis_at(const struct pr_axis *a, double v)
{
    return ((a->is_log ? log2(v) : v) - a->low) / (a->high - a->low);
}

static bool has_decimals(struct pr_axis *a, double step)
{
    double n = step / a->unit;

    for (a->decimals = 0; a->decimals <= DECIMALS; a->decimals++, n *= 10)
        if (fabs(n - round(n)) < 1e-6 * n)
            return true;
    return false;
}

/* Ticks differ in what they say: 1000000001, not 1000M and 1000M. */
static void choose_decimals(struct pr_axis *a, double step)
{
    double most = fmax(fabs(a->low), fabs(a->high));

    a->digits = 0;
    if (most / a->unit < 1e7 && has_decimals(a, step))
        return;
    if (!pr_axis_shows_unit(a->kind)) {
        a->unit = 1;
        a->suffix = "";
    }
    if (most < 1e13 && has_decimals(a, step))
        return;
    a->digits = (int)fmin(15, fmax(3, ceil(log10(most / step)) + 1));
}

/* A good one times a power of ten, no less than told. */
static double axis_round_up(double least, const double *good, size_t count)
{
    double power = pow(10, floor(log10(least)));

    for (size_t i = 0; i < count; i++)
        if (good[i] * power >= least * (1 - 1e-9))
            return good[i] * power;
    return 10 * power;
}

/* No less than told, and a round number of the axis's unit. */
static double nice_step(const struct pr_axis *a, double least)
{
    static const double tens[] = {1, 2, 2.5, 5, 10};
    static const double sixties[] = {1, 2, 5, 10, 15, 20, 30};
    double n = least / a->unit;
    bool clock = strcmp(a->suffix, " min") == 0 || strcmp(a->suffix, " s") == 0;

    if (clock && n > 5 && n <= 30)
        for (size_t i = 0; i < sizeof sixties / sizeof *sixties; i++)
            if (sixties[i] >= n * (1 - 1e-9))
                return sixties[i] * a->unit;
    return axis_round_up(n, tens, sizeof tens / sizeof *tens) * a->unit;
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

static void y_ends(const struct pr_axis_wish *w, double *min, double *max)
{
    bool percent = w->unit && strcmp(w->unit, "share") == 0;

    *min = w->min;
    *max = w->max;
    if (percent) {
        *max = fmax(*max, 1);
        *min = *min < 0.4 ? fmin(*min, 0) : *min - 0.02;
        if (w->from_zero)
            *min = fmin(*min, 0);
    } else if (*min >= 0 && (w->from_zero || *min < FAR_FROM * *max ||
                             is_single(*min, *max))) {
        *min = 0;
    } else if (*max <= 0 && w->from_zero) {
        *max = 0;
    }
    if (is_single(*min, *max)) {
        double pad = fabs(*max) > LEAST ? fabs(*max) / 2 : 0.5;
        *min -= *min == 0 ? 0 : pad;
        *max += pad;
    }
}

void pr_axis_y(struct pr_axis *a, const struct pr_axis_wish *w)
{
    double min, max, step;

    y_ends(w, &min, &max);
    *a = (struct pr_axis){.kind = w->unit};
    pr_axis_choose_unit(a, fmax(fabs(min), fabs(max)));
    step = nice_step(a, (max - min) / Y_TICKS);
    a->low = floor(min / step + 1e-6) * step;
    a->high = ceil(max / step - 1e-6) * step;
    choose_decimals(a, step);
    put_ticks(a, step);
}

/* ---- x */

static void linear_ticks(struct pr_axis *a, const struct pr_axis_wish *w)
{
    for (int most = X_TICKS; most > 0; most--) {
        double step = nice_step(a, (a->high - a->low) / most);

        if (w->whole && step < 1)
            step = 1;
        if (w->whole && step == 2.5)
            step = 5;
        choose_decimals(a, step);
        put_ticks(a, step);
        if (w->room * step / (a->high - a->low) >=
            pr_axis_widest(a, w->v) + GAP)
            return;
    }
}

void pr_axis_x(struct pr_axis *a, const struct pr_axis_wish *w)
{
    double min = w->min, max = w->max, pad;

    *a = (struct pr_axis){.kind = w->unit};
    pr_axis_choose_unit(a, fmax(fabs(min), fabs(max)));
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
    linear_ticks(a, w);
}

void pr_axis_names(struct pr_axis *a, size_t count)
{
    *a = (struct pr_axis){.is_names = true, .unit = 1, .suffix = ""};
    a->low = -0.5;
    a->high = (double)(count ? count : 1) - 0.5;
}

void pr_axis_ticks_at(struct pr_axis *a, const double *values, size_t count,
                      const struct pr_axis_wish *w)
{
    struct pr_axis there = *a;
    char text[PR_AXIS_LABEL];
    double end = -INFINITY;

    if (!count || count > PR_AXIS_TICKS)
        return;
    there.digits = LABEL_DIGITS;
    for (size_t i = 0; i < count; i++) {
        double at = w->room * pr_axis_at(a, values[i]);
        double half =
            w->v->kind->text_width(w->v, pr_axis_label(&there, values[i], text),
                                   PR_CHART_TEXT, false) /
            2;

        if (at - half < end + GAP / 2.0)
            return;
        end = at + half;
        there.ticks[i] = values[i];
    }
    there.tick_count = count;
    *a = there;
}
