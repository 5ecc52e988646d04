/* What stands around the curves: axes, grid and legend. */
#include "present/chart/chart_impl.h"

#include <math.h>
#include <stdio.h>

enum {
    LABEL = 13,        /* size of the labels of axes */
    LEGEND_NAME = 300, /* at most so wide */
    LEGEND_ROWS = 4,
    SWATCH = 36,
    MARGIN = 24,
    TURNED = 35,       /* degrees */
    TURNED_ROOM = 170, /* of names that are turned */
};

static bool chart_frame_has_text(const char *s)
{
    return s && *s;
}

static void chart_put_line(struct pr_canvas *v, enum pr_role role, double x1,
                           double y1, double x2, double y2)
{
    const struct pr_spot spots[] = {{x1, y1}, {x2, y2}};

    v->kind->path(v, &(struct pr_ink){.role = role}, spots, 2, NULL);
}

/* A label with its unit, where ticks do not show it. */
static void put_axis_title(const struct pr_chart_plot *p, const char *text,
                           const char *unit, struct pr_label *l, double room)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 16);

    if (!chart_frame_has_text(text))
        return;
    pr_buf_str(&b, text);
    if (chart_frame_has_text(unit) && !pr_axis_shows_unit(unit))
        pr_buf_printf(&b, " (%s)", unit);
    l->text = pr_buf_ok(&b) ? b.data : text;
    l->size = LABEL;
    l->role = PR_ROLE_SOFT;
    l->anchor = PR_ANCHOR_MIDDLE;
    pr_chart_put_text(p->v, l, room);
}

/* ---- x */

static void put_tick(const struct pr_chart_plot *p, double x, const char *text)
{
    struct pr_label l = {.text = text,
                         .x = x,
                         .y = p->area.y + p->area.h + 20,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_SOFT,
                         .anchor = PR_ANCHOR_MIDDLE,
                         .turn = -p->x_turn};

    if (p->x_turn > 0) {
        l.x += 4;
        l.y -= 4;
        l.anchor = PR_ANCHOR_END;
    }
    pr_chart_put_text(p->v, &l, p->x_room > 0 ? p->x_room : p->area.w);
}

static void chart_put_x_names(const struct pr_chart_plot *p)
{
    for (size_t i = 0; i < p->c->x_name_count; i += p->x_every)
        put_tick(p, pr_chart_x(p, (double)i), p->c->x_names[i]);
}

static void put_x_ticks(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    char text[PR_AXIS_LABEL];

    for (size_t i = 0; i < p->x.tick_count; i++) {
        double x = pr_chart_x(p, p->x.ticks[i]);

        chart_put_line(p->v, PR_ROLE_GRID, x, b->y, x, b->y + b->h);
        put_tick(p, x, pr_axis_label(&p->x, p->x.ticks[i], text));
    }
}

static void put_x_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    double bottom = b->y + b->h;
    struct pr_label title = {.x = b->x + b->w / 2, .y = p->bottom - 18};

    p->v->kind->begin(p->v, "x-axis", -1, NULL);
    if (p->x.is_names)
        chart_put_x_names(p);
    else
        put_x_ticks(p);
    chart_put_line(p->v, PR_ROLE_AXIS, b->x, bottom, b->x + b->w, bottom);
    put_axis_title(p, p->c->x_label, p->c->x_unit, &title, b->w);
    p->v->kind->end(p->v);
}

double pr_chart_fit_names(struct pr_chart_plot *p)
{
    const struct pr_chart *c = p->c;
    double slot = p->area.w / (double)(c->x_name_count ? c->x_name_count : 1);
    double widest = 0, angle = TURNED * M_PI / 180;

    for (size_t i = 0; i < c->x_name_count && i < 1000; i++)
        widest = fmax(widest,
                      pr_chart_text_width(p->v, c->x_names[i], PR_CHART_TEXT));
    p->x_every = 1;
    p->x_turn = 0;
    p->x_room = slot;
    if (widest + 8 <= slot)
        return PR_CHART_TEXT + 8;
    /* Turned, they need no more than the height of a line each. */
    p->x_turn = TURNED;
    p->x_room = fmin(fmin(widest + 1, TURNED_ROOM), (p->bottom - p->top) / 3);
    p->x_room = fmin(p->x_room, (p->area.x + slot / 2 - 4) / cos(angle));
    p->x_every = (size_t)ceil((PR_CHART_TEXT + 6) / sin(angle) / slot);
    if (p->x_every < 1)
        p->x_every = 1;
    return PR_CHART_TEXT + p->x_room * sin(angle) + 4;
}

/* ---- y */

static void put_y_axis(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;
    struct pr_label title = {.x = MARGIN, .y = b->y + b->h / 2, .turn = -90};
    char text[PR_AXIS_LABEL];

    p->v->kind->begin(p->v, "y-axis", -1, NULL);
    for (size_t i = 0; i < p->y.tick_count; i++) {
        double y = pr_chart_y(p, p->y.ticks[i]);
        struct pr_label l = {.text = pr_axis_label(&p->y, p->y.ticks[i], text),
                             .x = b->x - 8,
                             .y = y + 4,
                             .size = PR_CHART_TEXT,
                             .role = PR_ROLE_SOFT,
                             .anchor = PR_ANCHOR_END};

        chart_put_line(p->v, PR_ROLE_GRID, b->x, y, b->x + b->w, y);
        p->v->kind->text(p->v, &l);
    }
    put_axis_title(p, p->c->y_label, p->c->y_unit, &title, b->h);
    p->v->kind->end(p->v);
}

/* Where values go below zero, a line says where it is. */
static void put_zero(const struct pr_chart_plot *p)
{
    const struct pr_box *b = &p->area;

    if (p->y.is_log || !(p->y.low < 0) || !(p->y.high > 0))
        return;
    chart_put_line(p->v, PR_ROLE_AXIS, b->x, pr_chart_y(p, 0), b->x + b->w,
                   pr_chart_y(p, 0));
}

void pr_chart_put_axes(const struct pr_chart_plot *p)
{
    put_y_axis(p);
    put_x_axis(p);
    put_zero(p);
}

/* ---- legend */

static bool has_legend(const struct pr_chart_plot *p)
{
    size_t named = 0;

    for (size_t i = 0; i < p->curve_count; i++)
        named += chart_frame_has_text(p->curves[i].s->name);
    return named > 1;
}

static void put_swatch(const struct pr_chart_plot *p,
                       const struct pr_chart_curve *c, double x, double y)
{
    struct pr_ink ink = {
        .role = PR_ROLE_LINE, .series = c->number, .dashed = true};
    const struct pr_spot line[] = {{x, y}, {x + SWATCH - 8, y}};
    const struct pr_box box = {x, y - 6, SWATCH - 8, 12};
    enum pr_chart_style style = c->s->style;

    if (style == PR_CHART_BARS) {
        pr_chart_put_bar(p->v, c->number, &box, NULL);
        return;
    }
    if (style == PR_CHART_BOXES) {
        ink.role = PR_ROLE_BAR;
        ink.hollow = true;
        ink.dashed = false;
        p->v->kind->rect(p->v, &ink, &box, NULL);
    } else if (style != PR_CHART_POINTS) {
        ink.dashed = c->count <= PR_CHART_DENSE;
        p->v->kind->path(p->v, &ink, line, 2, NULL);
    }
    if (style != PR_CHART_CURVE)
        pr_chart_put_dot(p->v, c->number, x + (SWATCH - 8) / 2.0, y, 4, NULL);
}

static void chart_put_legend_entry(const struct pr_chart_plot *p,
                                   const struct pr_chart_curve *c, double x,
                                   double y)
{
    struct pr_label l = {.text = c->s->name,
                         .x = x + SWATCH,
                         .y = y,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_TEXT};

    put_swatch(p, c, x, y - 4);
    pr_chart_put_text(p->v, &l, LEGEND_NAME);
}

static void put_more(const struct pr_chart_plot *p, size_t left, double x,
                     double y)
{
    char text[48];
    struct pr_label l = {.text = text,
                         .x = x,
                         .y = y,
                         .size = PR_CHART_TEXT,
                         .role = PR_ROLE_SOFT};

    snprintf(text, sizeof text, "and %zu more", left);
    p->v->kind->text(p->v, &l);
}

/* Rows of names under the title; how many there are. Draws them where told to,
 * the first at y. */
static size_t walk_legend(const struct pr_chart_plot *p, bool draw, double y)
{
    const double right = p->v->width - MARGIN, more = 90;
    double x = MARGIN;
    size_t rows = 1;

    for (size_t i = 0; i < p->curve_count; i++) {
        const struct pr_chart_curve *c = &p->curves[i];
        bool last = i + 1 == p->curve_count;
        double w;

        if (!chart_frame_has_text(c->s->name))
            continue;
        w = SWATCH + fmin(pr_chart_text_width(p->v, c->s->name, PR_CHART_TEXT),
                          LEGEND_NAME);
        if (rows == LEGEND_ROWS && x + w + (last ? 0 : more) > right) {
            if (draw)
                put_more(p, p->curve_count - i, x, y);
            break;
        }
        if (x > MARGIN && x + w > right) {
            x = MARGIN;
            y += PR_LEGEND_ROW;
            rows++;
        }
        if (draw)
            chart_put_legend_entry(p, c, x, y);
        x += w + 22;
    }
    return rows;
}

size_t pr_chart_legend_rows(const struct pr_chart_plot *p)
{
    return has_legend(p) ? walk_legend(p, false, 0) : 0;
}

void pr_chart_put_legend(const struct pr_chart_plot *p, double y)
{
    size_t rows = pr_chart_legend_rows(p);

    if (!rows)
        return;
    p->v->kind->begin(p->v, "legend", -1, NULL);
    walk_legend(p, true, y - (double)(rows - 1) * PR_LEGEND_ROW);
    p->v->kind->end(p->v);
}
