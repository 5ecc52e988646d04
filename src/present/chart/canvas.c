/*
 * How things look on every canvas. Series differ in colour, in dashes and in
 * the shape of their dots, so that they can be told apart in grey and by
 * people who see fewer colours; the colours follow Okabe and Ito, and Tol.
 */
#include "present/chart/canvas.h"

#include "present/chart/canvas_impl.h"

#include <strings.h>

static const struct pr_role_look looks[PR_ROLE_COUNT] = {
#define ROLE(id, name, light, dark, width, opacity, on, off) \
    [PR_ROLE_##id] = {name, light, dark, width, opacity, {on, off}},
    PR_ROLES(ROLE)
#undef ROLE
};

static const char *const light[PR_COLOURS] = {
    "#0072b2", "#d55e00", "#009e73", "#b0528a", "#332288",
    "#d99400", "#3fa0dc", "#882255", "#6e7781", "#1c2024"};
static const char *const dark[PR_COLOURS] = {
    "#5aa9f5", "#f59a56", "#45cfa0", "#e39ac4", "#a99bf0",
    "#f2c14e", "#8ed0fa", "#e07aa8", "#a8b0ba", "#f4f6f8"};

static const double dashes[PR_DASHES][PR_CANVAS_DASH] = {
    {0}, {9, 4}, {2, 3}, {9, 3, 2, 3}, {5, 3}};

static const struct pr_canvas_kind *const kinds[] = {
    &pr_canvas_svg, &pr_canvas_png, &pr_canvas_pdf};

const struct pr_role_look *pr_role_look(enum pr_role role)
{
    return &looks[role];
}

const char *pr_canvas_colour(unsigned series, bool on_dark)
{
    return (on_dark ? dark : light)[series % PR_COLOURS];
}

const double *pr_canvas_dash(unsigned series)
{
    return dashes[series % PR_DASHES];
}

const struct pr_canvas_kind *pr_canvas_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

const struct pr_canvas_kind *pr_canvas_kind(const char *name)
{
    const struct pr_canvas_kind *k;

    for (size_t i = 0; (k = pr_canvas_kind_at(i)); i++)
        if (strcasecmp(k->name, name) == 0)
            return k;
    return NULL;
}
