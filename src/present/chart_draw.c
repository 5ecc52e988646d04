/*
 * The pieces of a chart. Colours are classes, set for light screens and again
 * for dark ones; programs that know no media queries draw the light ones.
 */
#include "present/chart_impl.h"

#include <math.h>

enum {
    COLOURS = 6,
    CROWDED = 60,  /* points of a curve: smaller dots from here on, */
    NO_DOTS = 150, /* a line without them from here on, */
    NO_TIPS = 400, /* and no text for the mouse from here on, all together */
    LEGEND_ROW = 20,
    LEGEND_NAME = 300, /* at most so wide */
    LEGEND_ROWS = 4,
    SWATCH = 28,
};

/* ---- colours */

static const char *const light[COLOURS] = {"#0b62b8", "#c4540a", "#1b7f4b",
                                           "#8a3fa0", "#8c6600", "#59636e"};
static const char *const dark[COLOURS] = {"#5aa9f5", "#f59a56", "#5cc98d",
                                          "#c78ae0", "#e0b84c", "#a8b0ba"};

static void put_colours(struct pr_buf *out, const char *const *colours)
{
    for (int i = 0; i < COLOURS; i++)
        pr_buf_printf(out, ".l%d{stroke:%s}.d%d{fill:%s}", i, colours[i], i,
                      colours[i]);
}

void pr_chart_put_style(struct pr_buf *out)
{
    pr_buf_str(out,
               "<style>\n"
               "text{font-family:system-ui,'Segoe UI','DejaVu Sans',Arial,"
               "sans-serif;font-size:12px;fill:#1c2024}\n"
               ".title{font-size:18px;font-weight:600}\n"
               ".soft{fill:#59636e;font-size:13px}\n"
               ".tick{fill:#59636e}\n"
               ".paper{fill:#ffffff}\n"
               ".grid{stroke:#e3e7eb;stroke-width:1}\n"
               ".axis{stroke:#8b95a0;stroke-width:1}\n"
               ".line{fill:none;stroke-width:2;stroke-linejoin:round;"
               "stroke-linecap:round}\n"
               ".bar{stroke-width:1.5;opacity:.55;fill:none}\n"
               ".limit{stroke:#b3261e;stroke-width:1.5;stroke-dasharray:6 4}\n"
               ".limit-text{fill:#b3261e}\n"
               ".mark{stroke:#1c2024;stroke-width:1.5;stroke-dasharray:2 3}\n"
               ".ring{fill:none;stroke:#1c2024;stroke-width:2}\n"
               ".bold{font-weight:600}\n"
               ".halo{stroke:#ffffff;stroke-width:4px;stroke-linejoin:round;"
               "paint-order:stroke}\n");
    put_colours(out, light);
    pr_buf_str(out, "\n@media (prefers-color-scheme:dark){\n"
                    "text{fill:#e6e9ed}.soft,.tick{fill:#a8b0ba}\n"
                    ".paper{fill:#14171b}.grid{stroke:#2b3138}"
                    ".axis{stroke:#6b7580}\n"
                    ".limit{stroke:#ff8a80}.limit-text{fill:#ff8a80}\n"
                    ".mark,.ring{stroke:#e6e9ed}.halo{stroke:#14171b}\n");
    put_colours(out, dark);
    pr_buf_str(out, "}\n</style>\n");
}

/* ---- axes */

static void put_line(struct pr_buf *out, const char *kind, double x1, double y1,
                     double x2, double y2)
{
    pr_buf_printf(out,
                  "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                  "y2=\"%.1f\"/>\n",
                  kind, x1, y1, x2, y2);
}

static void put_x_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double bottom = b->y + b->h;
    char text[PR_AXIS_LABEL];

    for (size_t i = 0; i < p->x.tick_count; i++) {
        double x = pr_chart_x(p, p->x.ticks[i]);

        put_line(p->out, "grid", x, b->y, x, bottom);
        pr_buf_printf(p->out,
                      "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                      "text-anchor=\"middle\">%s</text>\n",
                      x, bottom + 20,
                      pr_axis_label(&p->x, p->x.ticks[i], text));
    }
    put_line(p->out, "axis", b->x, bottom, b->x + b->w, bottom);
    if (!p->c->x_label || !*p->c->x_label)
        return;
    pr_buf_printf(p->out,
                  "<text class=\"soft\" x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"middle\">",
                  b->x + b->w / 2, bottom + 48);
    pr_chart_escape_cut(p->out, p->c->x_label, 13, b->w);
    pr_buf_str(p->out, "</text>\n");
}

static void put_y_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double middle = b->y + b->h / 2;
    char text[PR_AXIS_LABEL];

    for (size_t i = 0; i < p->y.tick_count; i++) {
        double y = pr_chart_y(p, p->y.ticks[i]);

        put_line(p->out, "grid", b->x, y, b->x + b->w, y);
        pr_buf_printf(p->out,
                      "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                      "text-anchor=\"end\">%s</text>\n",
                      b->x - 8, y + 4,
                      pr_axis_label(&p->y, p->y.ticks[i], text));
    }
    if (!p->c->y_label || !*p->c->y_label)
        return;
    pr_buf_printf(p->out,
                  "<text class=\"soft\" x=\"20\" y=\"%.1f\" "
                  "text-anchor=\"middle\" "
                  "transform=\"rotate(-90 20 %.1f)\">",
                  middle, middle);
    pr_chart_escape_cut(p->out, p->c->y_label, 13, b->h);
    pr_buf_str(p->out, "</text>\n");
}

void pr_chart_put_axes(const struct pr_chart_plot *p)
{
    put_y_axis(p);
    put_x_axis(p);
}

/* ---- legend */

static bool has_legend(const struct pr_chart_plot *p)
{
    size_t named = 0;

    for (size_t i = 0; i < p->curve_count; i++)
        named += p->curves[i].name && *p->curves[i].name;
    return named && p->curve_count > 1;
}

/* Where names go, one after another, until all the rows are full. Returns the
 * rows; out NULL: only that. */
static size_t walk_legend(const struct pr_chart_plot *p, struct pr_buf *out,
                          double y)
{
    const double left = 24, right = PR_CHART_WIDTH - 24;
    double x = left;
    size_t rows = 1;

    for (size_t i = 0; i < p->curve_count; i++) {
        const char *name = p->curves[i].name;
        double w;

        if (!name || !*name)
            continue;
        w = SWATCH + 22 + fmin(pr_chart_text_width(name, 12), LEGEND_NAME);
        if (x > left && x + w > right) {
            if (rows == LEGEND_ROWS)
                break;
            x = left;
            y += LEGEND_ROW;
            rows++;
        }
        if (out) {
            if (p->curves[i].style == PR_CHART_LINE)
                pr_buf_printf(out,
                              "<line class=\"line l%zu\" x1=\"%.1f\" "
                              "y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                              i % COLOURS, x, y - 4, x + SWATCH - 8, y - 4);
            pr_buf_printf(out,
                          "<circle class=\"d%zu\" cx=\"%.1f\" cy=\"%.1f\" "
                          "r=\"3.5\"/>\n<text x=\"%.1f\" y=\"%.1f\">",
                          i % COLOURS, x + (SWATCH - 8) / 2.0, y - 4,
                          x + SWATCH, y);
            pr_chart_escape_cut(out, name, 12, LEGEND_NAME);
            pr_buf_str(out, "</text>\n");
        }
        x += w;
    }
    return rows;
}

size_t pr_chart_legend_rows(const struct pr_chart_plot *p)
{
    return has_legend(p) ? walk_legend(p, NULL, 0) : 0;
}

void pr_chart_put_legend(const struct pr_chart_plot *p, double y)
{
    size_t rows = pr_chart_legend_rows(p);

    if (rows)
        walk_legend(p, p->out, y - (double)(rows - 1) * LEGEND_ROW);
}

/* ---- curves */

static void put_bars(const struct pr_chart_plot *p, size_t k)
{
    const struct pr_chart_curve *c = &p->curves[k];
    double cap = c->count > CROWDED ? 0 : 4;

    for (size_t i = 0; i < c->count; i++) {
        const struct pr_chart_point *q = &c->points[i];
        double x, low, high;

        if (!(q->low < q->high) || !pr_chart_is_number(q->low) ||
            !pr_chart_is_number(q->high))
            continue;
        x = pr_chart_x(p, q->x);
        low = pr_chart_y(p, q->low);
        high = pr_chart_y(p, q->high);
        pr_buf_printf(p->out, "<path class=\"bar l%zu\" d=\"M%.1f %.1fV%.1f",
                      k % COLOURS, x, low, high);
        if (cap > 0)
            pr_buf_printf(p->out, "M%.1f %.1fH%.1fM%.1f %.1fH%.1f", x - cap,
                          low, x + cap, x - cap, high, x + cap);
        pr_buf_str(p->out, "\"/>\n");
    }
}

static void put_curve(const struct pr_chart_plot *p, size_t k)
{
    const struct pr_chart_curve *c = &p->curves[k];

    if (c->style != PR_CHART_LINE || c->count < 2)
        return;
    pr_buf_printf(p->out, "<path class=\"line l%zu\" d=\"", k % COLOURS);
    for (size_t i = 0; i < c->count; i++)
        pr_buf_printf(p->out, "%c%.1f %.1f", i ? 'L' : 'M',
                      pr_chart_x(p, c->points[i].x),
                      pr_chart_y(p, c->points[i].y));
    pr_buf_str(p->out, "\"/>\n");
}

static void put_tip(const struct pr_chart_plot *p,
                    const struct pr_chart_point *q)
{
    if (p->c->y_percent)
        pr_buf_printf(p->out, "<title>%g: %.1f %%</title>", q->x, q->y * 100);
    else
        pr_buf_printf(p->out, "<title>%g: %g</title>", q->x, q->y);
}

static void put_dots(const struct pr_chart_plot *p, size_t k)
{
    const struct pr_chart_curve *c = &p->curves[k];
    double r = c->count > CROWDED ? 2 : 4;

    if (c->style == PR_CHART_LINE && c->count > NO_DOTS)
        return;
    for (size_t i = 0; i < c->count; i++) {
        pr_buf_printf(p->out,
                      "<circle class=\"d%zu\" cx=\"%.1f\" cy=\"%.1f\" "
                      "r=\"%g\">",
                      k % COLOURS, pr_chart_x(p, c->points[i].x),
                      pr_chart_y(p, c->points[i].y), r);
        if (p->point_count < NO_TIPS)
            put_tip(p, &c->points[i]);
        pr_buf_str(p->out, "</circle>\n");
    }
}

void pr_chart_put_curves(const struct pr_chart_plot *p)
{
    for (size_t k = 0; k < p->curve_count; k++)
        put_bars(p, k);
    for (size_t k = 0; k < p->curve_count; k++) {
        put_curve(p, k);
        put_dots(p, k);
    }
}
