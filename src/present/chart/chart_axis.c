/* Axes of a chart: where values are, and round numbers along them. */
#include "present/chart/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- units: what numbers are counted in, and how a tick says it */

#define MICRO "\xc2\xb5" /* µ */

struct unit {
    double least, unit; /* for values from least on */
    const char *suffix;
};

static const struct unit plain[] = {
    {1e18, 1, ""},   {1e15, 1e15, "P"}, {1e12, 1e12, "T"}, {1e9, 1e9, "G"},
    {1e6, 1e6, "M"}, {1e5, 1e3, "k"},   {0, 1, ""}};
static const struct unit share[] = {{0, 0.01, " %"}};
static const struct unit bytes[] = {{1e15, 1e15, " PB"}, {1e12, 1e12, " TB"},
                                    {1e9, 1e9, " GB"},   {1e6, 1e6, " MB"},
                                    {1e3, 1e3, " kB"},   {0, 1, " B"}};
static const struct unit byte_rate[] = {
    {1e15, 1e15, " PB/s"}, {1e12, 1e12, " TB/s"}, {1e9, 1e9, " GB/s"},
    {1e6, 1e6, " MB/s"},   {1e3, 1e3, " kB/s"},   {0, 1, " B/s"}};
static const struct unit seconds[] = {
    {172800, 86400, " d"}, {7200, 3600, " h"},  {180, 60, " min"},
    {1, 1, " s"},          {1e-3, 1e-3, " ms"}, {1e-6, 1e-6, " " MICRO "s"},
    {0, 1e-9, " ns"}};
static const struct unit millis[] = {
    {7.2e6, 3.6e6, " h"}, {1.8e5, 6e4, " min"},        {1e3, 1e3, " s"},
    {1, 1, " ms"},        {1e-3, 1e-3, " " MICRO "s"}, {0, 1e-6, " ns"}};

static const struct {
    const char *name;
    const struct unit *units;
} kinds[] = {
    {"share", share}, {"bytes", bytes}, {"bytes/s", byte_rate},
    {"s", seconds},   {"ms", millis},
};

static const struct unit *units_of(const char *kind)
{
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].name) == 0)
            return kinds[i].units;
    return plain;
}

bool pr_axis_shows_unit(const char *unit)
{
    return units_of(unit) != plain;
}

static const struct unit *axis_find_unit(const char *kind, double most)
{
    const struct unit *u = units_of(kind);

    while (most < u->least)
        u++;
    return u;
}

/* Sets unit and suffix for values up to most. */
static void axis_choose_unit(struct pr_axis *a, double most)
{
    bool is_plain = units_of(a->kind) == plain;
    /* 500M and 1000M, not 0.5G and 1G. */
    const struct unit *u = axis_find_unit(a->kind, is_plain ? most / 2 : most);

    a->unit = u->unit;
    a->suffix = u->suffix;
}

/* 1e+09 becomes 1e9. */
static void tidy_exponent(char *text)
{
    char *e = strchr(text, 'e'), *digits;

    if (!e || (e[1] != '+' && e[1] != '-'))
        return;
    digits = e + 2;
    while (*digits == '0' && digits[1] >= '0' && digits[1] <= '9')
        digits++;
    e += e[1] == '-' ? 2 : 1;
    memmove(e, digits, strlen(digits) + 1);
}

const char *pr_axis_label(const struct pr_axis *a, double v,
                          char out[static PR_AXIS_LABEL])
{
    bool is_plain = units_of(a->kind) == plain;
    const struct unit *own = axis_find_unit(a->kind, fabs(v));
    double n = v / a->unit;

    if (a->is_log)
        snprintf(out, PR_AXIS_LABEL, own->unit == 1 ? "%g%s" : "%.3g%s",
                 v / own->unit, own->suffix);
    else if (v == 0) /* no -0, and no k of nothing */
        snprintf(out, PR_AXIS_LABEL, "0%s", is_plain ? "" : a->suffix);
    else if (a->digits)
        snprintf(out, PR_AXIS_LABEL, "%.*g%s", a->digits, n, a->suffix);
    else
        snprintf(out, PR_AXIS_LABEL, "%.*f%s", a->decimals, n, a->suffix);
    tidy_exponent(out);
    return out;
}

double pr_axis_widest(const struct pr_axis *a, struct pr_canvas *v)
{
    char text[PR_AXIS_LABEL];
    double most = 0;

    for (size_t i = 0; i < a->tick_count; i++)
        most = fmax(most,
                    v->kind->text_width(v, pr_axis_label(a, a->ticks[i], text),
                                        PR_CHART_TEXT, false));
    return most;
}

/* ---- logarithmic axes */

/*
 * Powers of two where x counts things, else powers of ten with what lies
 * between them.
 */

enum { GAP = 14, Y_APART = 28, LOG_Y_TICKS = 10 };

#define PADDING 0.03 /* of the axis, at an end that is no round number */
#define MOST_BINARY 2097152.0 /* times the least, in powers of two */

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
        if (a->tick_count < 3 || apart >= pr_axis_widest(a, w->v) + GAP)
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
    axis_choose_unit(a, w->max);
    a->low = log2(w->min);
    a->high = log2(w->max);
    pad = (a->high - a->low) * PADDING;
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
    decimal_ticks(a, fmin(LOG_Y_TICKS, fmax(2, w->room / Y_APART)));
}

/* ---- all axes */

enum { X_TICKS = 10, Y_TICKS = 6, DECIMALS = 5, LABEL_DIGITS = 6 };

#define LEAST 1e-290 /* differences below are none */
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
    axis_choose_unit(a, fmax(fabs(min), fabs(max)));
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
    axis_choose_unit(a, fmax(fabs(min), fabs(max)));
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
