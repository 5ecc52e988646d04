/* Logarithmic axes: powers of two where x counts things, else powers of ten
 * with what lies between them. */
#include "present/chart/chart_impl.h"

#include <math.h>

enum { CHART_AXIS_LOG_GAP = 14, Y_APART = 28, CHART_AXIS_LOG_Y_TICKS = 10 };

#define CHART_AXIS_LOG_PADDING 0.03 /* of the axis */
#define MOST_BINARY 2097152.0       /* times the least, in powers of two */

/* Powers of two, each or as many as there is room for. */
static void binary_ticks(struct pr_axis *a, const struct pr_axis_wish *w)
{
    double first = ceil(log2(w->min) - 1e-9);
    double last = floor(log2(w->max) + 1e-9);

    for (double every = 1;; every++) {
        double apart = w->room * every / (a->high - a->low);

        a->tick_count = 0;
        if ((last - first) / every >= PR_AXIS_TICKS)
            continue;
        for (double e = first; e <= last; e += every)
            a->ticks[a->tick_count++] = exp2(e);
        if (a->tick_count < 3 ||
            apart >= pr_axis_widest(a, w->v) + CHART_AXIS_LOG_GAP)
            return;
    }
}

/* Steps within a decade, or a decade every so often. False: too many. */
static bool try_decades(struct pr_axis *a, const double *steps, size_t count,
                        double every)
{
    double low = exp2(a->low), high = exp2(a->high);
    double first = fmax(-307, floor(log10(low)));
    double last = fmin(307, ceil(log10(high)));

    if (count == 1)
        first = ceil(first / every) * every;
    a->tick_count = 0;
    for (double e = first; e <= last; e += every)
        for (size_t i = 0; i < count; i++) {
            double v = steps[i] * pow(10, e);

            if (!(v >= low * (1 - 1e-9)) || !(v <= high * (1 + 1e-9)))
                continue;
            if (a->tick_count == PR_AXIS_TICKS)
                return false;
            a->ticks[a->tick_count++] = v;
        }
    return true;
}

/* As many round numbers as fit when they are so far apart. */
static void decimal_ticks(struct pr_axis *a, double fit)
{
    static const double all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const double some[] = {1, 2, 5};

    if (try_decades(a, all, 9, 1) && (double)a->tick_count <= fit / 2)
        return;
    if (try_decades(a, some, 3, 1) && (double)a->tick_count <= fit)
        return;
    for (double every = 1;; every++)
        if (try_decades(a, all, 1, every) &&
            ((double)a->tick_count <= fit || a->tick_count <= 2))
            return;
}

static void axis_set_log_ends(struct pr_axis *a, const struct pr_axis_wish *w)
{
    double pad;

    *a = (struct pr_axis){.is_log = true, .kind = w->unit};
    pr_axis_choose_unit(a, w->max);
    a->low = log2(w->min);
    a->high = log2(w->max);
    pad = (a->high - a->low) * CHART_AXIS_LOG_PADDING;
    if (pad < 1e-6) /* a single value is in the middle */
        pad = 1;
    a->low -= pad;
    a->high += pad;
}

void pr_axis_x_log(struct pr_axis *a, const struct pr_axis_wish *w)
{
    axis_set_log_ends(a, w);
    if (w->whole && !w->unit && w->max > w->min &&
        w->max <= w->min * MOST_BINARY)
        binary_ticks(a, w);
    else
        decimal_ticks(a, fmax(2, w->room / 64));
}

void pr_axis_y_log(struct pr_axis *a, const struct pr_axis_wish *w)
{
    axis_set_log_ends(a, w);
    decimal_ticks(a, fmin(CHART_AXIS_LOG_Y_TICKS, fmax(2, w->room / Y_APART)));
}
