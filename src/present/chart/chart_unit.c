/* Units along an axis: which one its numbers are counted in, and how a tick
 * says it. */
#include "present/chart/chart_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void pr_axis_choose_unit(struct pr_axis *a, double most)
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
