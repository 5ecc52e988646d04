/*
 * Cells as text. The numbers of a column share their unit and decimals, so
 * that the eye can compare them; the unit stands in the header.
 */
#include "base/text.h"
#include "present/screen.h"
#include "present/table/table_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HUGE_NUMBER 1e15 /* more digits than a double has */

/* Of the numbers in a column, zeros left out of the smallest. */
struct extent {
    double least, most;
    bool any, whole; /* whole: all are integers by type */
};

static struct extent extent_of(const struct pr_table *t, size_t col)
{
    struct extent x = {.whole = true};

    for (size_t r = 0; r < t->row_count; r++) {
        const struct pr_value *v = pr_table_cell(t, r, col);
        double f;

        if (!pr_value_is_number(v) || !isfinite(pr_value_number(v)))
            continue;
        x.whole = x.whole && v->kind == PR_INT;
        f = fabs(pr_value_number(v));
        if (f == 0)
            continue;
        if (!x.any || f < x.least)
            x.least = f;
        if (!x.any || f > x.most)
            x.most = f;
        x.any = true;
    }
    return x;
}

/* Decimals that leave four digits that count to a number this large. */
static int decimals_for(double f)
{
    int before = f >= 1 ? (int)floor(log10(f) + 1e-12) + 1 : 0;

    if (f < 1 && f > 0)
        return (int)fmin(3 - floor(log10(f) + 1e-12), 12);
    return before >= 4 ? 0 : 4 - before;
}

struct unit {
    const char *name, *ascii;
    double scale;
};

static const struct unit byte_units[] = {
    {"B", NULL, 1},    {"kB", NULL, 1e3},  {"MB", NULL, 1e6},
    {"GB", NULL, 1e9}, {"TB", NULL, 1e12}, {"PB", NULL, 1e15},
};
static const struct unit time_units[] = {
    {"µs", "us", 1e-6},
    {"ms", NULL, 1e-3},
    {"s", NULL, 1},
};
static const struct unit no_unit = {"", NULL, 1};

static bool is_byte_rate(const struct pr_table_column *c)
{
    return c->kind == PR_COL_RATE && c->unit && strcmp(c->unit, "B/s") == 0;
}

/* The largest unit in which f is at least 1. */
static const struct unit *unit_for(const struct pr_table_column *c, double f)
{
    const struct unit *units = byte_units;
    size_t n = sizeof byte_units / sizeof *byte_units;

    if (c->kind == PR_COL_SECONDS) {
        units = time_units;
        n = sizeof time_units / sizeof *time_units;
    } else if (c->kind != PR_COL_BYTES && !is_byte_rate(c)) {
        return &no_unit;
    }
    while (n > 1 && f < units[n - 1].scale)
        n--;
    return &units[n - 1];
}

static void unit_text(const struct pr_table_column *c, const struct unit *u,
                      bool ascii, char out[static 64])
{
    const char *name = ascii && u->ascii ? u->ascii : u->name;

    if (c->kind == PR_COL_PERCENT)
        name = "%";
    else if (u == &no_unit)
        name = c->unit ? c->unit : "";
    snprintf(out, 64, "%s%s", name, is_byte_rate(c) ? "/s" : "");
}

static void make_header(const struct pr_table_column *c, const char *unit,
                        char out[static 160])
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    size_t n = 0, next;

    pr_screen_clean(&b, c->title, strlen(c->title));
    if (*unit) {
        pr_buf_str(&b, b.len ? " (" : "(");
        pr_screen_clean(&b, unit, strlen(unit));
        pr_buf_char(&b, ')');
    }
    while (n < b.len && (next = n + pr_utf8_len(b.data + n, b.len - n)) < 160)
        n = next;
    if (n)
        memcpy(out, b.data, n);
    out[n] = '\0';
}

void pr_table_look(const struct pr_table *t, size_t col, bool ascii,
                   struct pr_table_look *ret)
{
    const struct pr_table_column *c = &t->cols[col];
    struct extent x = extent_of(t, col);
    const struct unit *u = unit_for(c, x.most);
    char unit[64] = "";

    *ret = (struct pr_table_look){.scale = u->scale};
    ret->decimals = c->kind == PR_COL_PERCENT ? 1
                    : x.any                   ? decimals_for(x.most / u->scale)
                                              : 0;
    if (x.whole && u->scale == 1)
        ret->decimals = 0;
    /* Too far apart: the smallest would show less than two digits. Or too
     * large to be written out. */
    else if (x.any && c->kind != PR_COL_PERCENT)
        ret->each = x.least / u->scale * pow(10, ret->decimals) < 10 ||
                    x.most / u->scale >= HUGE_NUMBER;
    /* A unit in the header is wrong for cells that bring their own. */
    if (!pr_table_column_is_text(c) && (!ret->each || u == &no_unit))
        unit_text(c, u, ascii, unit);
    make_header(c, unit, ret->header);
}

static void table_add_number(const struct pr_table_column *c,
                             const struct pr_value *v,
                             const struct pr_table_look *look, bool ascii,
                             struct pr_buf *out)
{
    double f = pr_value_number(v);
    char unit[64];

    if (!isfinite(f)) {
        pr_buf_str(out, f > 0 ? "inf" : "-inf");
    } else if (v->kind == PR_INT && look->scale == 1 && !look->decimals) {
        pr_buf_printf(out, "%" PRId64, v->i);
    } else if (look->each && f != 0) {
        const struct unit *u = unit_for(c, fabs(f));
        double g = f / u->scale;
        if (v->kind == PR_INT && u->scale == 1)
            pr_buf_printf(out, "%" PRId64, v->i);
        else if (fabs(g) >= 1e7 || fabs(g) < 1e-4)
            pr_buf_printf(out, "%.3e", g);
        else
            pr_buf_printf(out, "%.*f", decimals_for(fabs(g)), g);
        unit_text(c, u, ascii, unit);
        if (u != &no_unit)
            pr_buf_printf(out, " %s", unit);
    } else {
        pr_buf_printf(out, "%.*f", look->each ? 0 : look->decimals,
                      f / look->scale);
    }
}

void pr_table_cell_text(const struct pr_table *t, size_t row, size_t col,
                        const struct pr_table_look *look, bool ascii,
                        struct pr_buf *out)
{
    const struct pr_value *v = pr_table_cell(t, row, col);

    if (v->kind == PR_STR)
        pr_screen_clean(out, v->s, v->len);
    else if (v->kind != PR_NULL)
        table_add_number(&t->cols[col], v, look, ascii, out);
}
