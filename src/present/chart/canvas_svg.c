/*
 * How things look on every canvas, and an SVG image of its own. Series differ
 * in colour, in dashes and in the shape of their dots, so that they can be told
 * apart in grey and by people who see fewer colours; the colours follow Okabe
 * and Ito, and Tol.
 *
 * The image has no scripts, is light or dark as the reader's screen is, and its
 * text is left to be text. Roles and series are classes, set for light screens
 * and again for dark ones; programs that know no media queries draw the light
 * ones.
 */
#include "present/chart/canvas_svg.h"

#include "base/text.h"
#include "present/screen.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define COLUMN 0.6 /* of the size of the font: nobody knows the reader's */

/* ---- text */

/* U+FFFE and U+FFFF are UTF-8, but XML does not know them. */
static bool is_no_character(const char *s)
{
    return pr_text_starts_with(s, "\xef\xbf\xbe") ||
           pr_text_starts_with(s, "\xef\xbf\xbf");
}

void pr_svg_escape(struct pr_buf *out, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '&':
            pr_buf_str(out, "&amp;");
            break;
        case '<':
            pr_buf_str(out, "&lt;");
            break;
        case '>':
            pr_buf_str(out, "&gt;");
            break;
        case '"':
            pr_buf_str(out, "&quot;");
            break;
        default:
            if (is_no_character(s)) {
                pr_buf_str(out, "\xef\xbf\xbd");
                s += 2;
            } else {
                pr_buf_char(out, *s);
            }
        }
    }
}

static void put_titled(struct pr_buf *out, const char *title)
{
    if (!title)
        return;
    pr_buf_str(out, "<title>");
    pr_svg_escape(out, title);
    pr_buf_str(out, "</title>");
}

static double svg_text_width(struct pr_canvas *v, const char *text, double size,
                             bool bold)
{
    (void)v;
    return (double)pr_screen_columns(text, strlen(text)) * COLUMN * size *
           (bold ? 1.1 : 1);
}

/* ---- styles */

static void put_dash(struct pr_buf *out, const double *dash)
{
    if (!(dash[0] > 0))
        return;
    pr_buf_str(out, ";stroke-dasharray:");
    for (int i = 0; i < PR_CANVAS_DASH && dash[i] > 0; i++)
        pr_buf_printf(out, "%s%g", i ? " " : "", dash[i]);
}

static void put_roles(struct pr_buf *out)
{
    for (int i = 0; i < PR_ROLE_COUNT; i++) {
        const struct pr_role_look *r = pr_role_look((enum pr_role)i);

        pr_buf_printf(out, ".%s{", r->name);
        if (!(r->width > 0))
            pr_buf_printf(out, "%s%s", *r->light ? "fill:" : "", r->light);
        else
            pr_buf_printf(out, "fill:none;stroke-width:%g%s%s", r->width,
                          *r->light ? ";stroke:" : "", r->light);
        if (r->opacity < 1)
            pr_buf_printf(out, ";opacity:%g", r->opacity);
        put_dash(out, r->dash);
        pr_buf_str(out, "}\n");
    }
}

static void svg_put_series_colours(struct pr_buf *out, bool dark)
{
    for (unsigned i = 0; i < PR_COLOURS; i++) {
        const char *colour = pr_canvas_colour(i, dark);

        pr_buf_printf(out, ".l%u{stroke:%s}.d%u{fill:%s}", i, colour, i,
                      colour);
    }
    pr_buf_char(out, '\n');
}

static void put_dashes(struct pr_buf *out)
{
    for (unsigned i = 1; i < PR_DASHES; i++) {
        pr_buf_printf(out, ".dash%u{stroke-linecap:butt", i);
        put_dash(out, pr_canvas_dash(i));
        pr_buf_str(out, "}\n");
    }
}

static void put_dark(struct pr_buf *out)
{
    pr_buf_str(out, "@media (prefers-color-scheme:dark){\n");
    for (int i = 0; i < PR_ROLE_COUNT; i++) {
        const struct pr_role_look *r = pr_role_look((enum pr_role)i);

        if (*r->dark)
            pr_buf_printf(out, ".%s{%s:%s}", r->name,
                          r->width > 0 ? "stroke" : "fill", r->dark);
    }
    pr_buf_printf(out, ".halo{stroke:%s}.hollow{fill:%s}\n",
                  pr_role_look(PR_ROLE_PAPER)->dark,
                  pr_role_look(PR_ROLE_PAPER)->dark);
    svg_put_series_colours(out, true);
    pr_buf_str(out, "}\n");
}

static void put_style(struct pr_buf *out)
{
    const char *paper = pr_role_look(PR_ROLE_PAPER)->light;

    pr_buf_str(out, "<style>\n"
                    "text{font-family:system-ui,'Segoe UI','DejaVu Sans',"
                    "Arial,sans-serif}\n"
                    ".bold{font-weight:600}\n");
    put_roles(out);
    pr_buf_printf(out,
                  ".line,.error{stroke-linejoin:round;stroke-linecap:round}\n"
                  ".halo{stroke:%s;stroke-width:4px;stroke-linejoin:round;"
                  "paint-order:stroke}\n",
                  paper);
    svg_put_series_colours(out, false);
    /* After the series' colours, which they overrule. */
    pr_buf_printf(out, ".hollow{fill:%s;stroke-width:1.6}\n", paper);
    put_dashes(out);
    put_dark(out);
    pr_buf_str(out, "</style>\n");
}

/* ---- drawing */

static int open_svg(struct pr_canvas *v, struct pr_err *err)
{
    (void)err;
    pr_buf_printf(v->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
                  "role=\"img\">\n",
                  v->width, v->height, v->width, v->height);
    put_titled(v->out, v->title);
    pr_buf_char(v->out, '\n');
    put_style(v->out);
    return PR_OK;
}

static void svg_begin(struct pr_canvas *v, const char *name, long series,
                      const char *title)
{
    pr_buf_printf(v->out, "<g class=\"%s\"", name);
    if (series >= 0)
        pr_buf_printf(v->out, " id=\"%s-%ld\"", name, series);
    pr_buf_char(v->out, '>');
    put_titled(v->out, title);
    pr_buf_char(v->out, '\n');
}

static void svg_end(struct pr_canvas *v)
{
    pr_buf_str(v->out, "</g>\n");
}

static void put_class(struct pr_buf *out, const struct pr_ink *ink)
{
    const struct pr_role_look *r = pr_role_look(ink->role);
    unsigned n = ink->series % PR_COLOURS;

    pr_buf_printf(out, "class=\"%s", r->name);
    if (!*r->light && (r->width > 0 || ink->hollow))
        pr_buf_printf(out, " l%u", n);
    else if (!*r->light)
        pr_buf_printf(out, " d%u", n);
    if (ink->hollow)
        pr_buf_str(out, " hollow");
    if (ink->dashed && ink->series % PR_DASHES)
        pr_buf_printf(out, " dash%u", ink->series % PR_DASHES);
    pr_buf_char(out, '"');
}

/* Ends a tag that a tip may stand in. */
static void put_tip(struct pr_buf *out, const char *name, const char *tip)
{
    if (!tip) {
        pr_buf_str(out, "/>\n");
        return;
    }
    pr_buf_char(out, '>');
    put_titled(out, tip);
    pr_buf_printf(out, "</%s>\n", name);
}

static void svg_path(struct pr_canvas *v, const struct pr_ink *ink,
                     const struct pr_spot *spots, size_t n, const char *tip)
{
    bool lifted = true;

    pr_buf_str(v->out, "<path ");
    put_class(v->out, ink);
    pr_buf_str(v->out, " d=\"");
    for (size_t i = 0; i < n; i++) {
        if (!isnan(spots[i].x))
            pr_buf_printf(v->out, "%c%.1f %.1f", lifted ? 'M' : 'L', spots[i].x,
                          spots[i].y);
        lifted = isnan(spots[i].x);
    }
    pr_buf_str(v->out, pr_role_look(ink->role)->width > 0 ? "\"" : "Z\"");
    put_tip(v->out, "path", tip);
}

static void svg_circle(struct pr_canvas *v, const struct pr_ink *ink, double x,
                       double y, double r, const char *tip)
{
    pr_buf_str(v->out, "<circle ");
    put_class(v->out, ink);
    pr_buf_printf(v->out, " cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"", x, y, r);
    put_tip(v->out, "circle", tip);
}

static void svg_rect(struct pr_canvas *v, const struct pr_ink *ink,
                     const struct pr_box *b, const char *tip)
{
    pr_buf_str(v->out, "<rect ");
    put_class(v->out, ink);
    pr_buf_printf(v->out,
                  " x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", b->x,
                  b->y, b->w, b->h);
    put_tip(v->out, "rect", tip);
}

static void svg_text(struct pr_canvas *v, const struct pr_label *l)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"",
                                          " text-anchor=\"end\""};

    pr_buf_printf(v->out,
                  "<text class=\"%s%s%s\" font-size=\"%g\" x=\"%.1f\" "
                  "y=\"%.1f\"%s",
                  pr_role_look(l->role)->name, l->bold ? " bold" : "",
                  l->halo ? " halo" : "", l->size, l->x, l->y,
                  anchors[l->anchor]);
    if (l->turn != 0)
        pr_buf_printf(v->out, " transform=\"rotate(%g %.1f %.1f)\"", l->turn,
                      l->x, l->y);
    pr_buf_char(v->out, '>');
    pr_svg_escape(v->out, l->text);
    pr_buf_str(v->out, "</text>\n");
}

static int close_svg(struct pr_canvas *v, struct pr_err *err)
{
    pr_buf_str(v->out, "</svg>\n");
    return pr_buf_ok(v->out) ? PR_OK : pr_fail_nomem(err);
}

const struct pr_canvas_kind pr_canvas_svg = {
    .name = "svg",
    .open = open_svg,
    .begin = svg_begin,
    .end = svg_end,
    .path = svg_path,
    .circle = svg_circle,
    .rect = svg_rect,
    .text = svg_text,
    .text_width = svg_text_width,
    .close = close_svg,
};

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
