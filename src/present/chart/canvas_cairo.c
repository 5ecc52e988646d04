/*
 * PNG and PDF by cairo, with pango for text, since labels may be in any
 * script. Both are loaded when the first such image is asked for.
 */
#include "base/mem.h"
#include "present/chart/canvas_svg.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libpangocairo-1.0.so.0" /* brings the others with it */
#define POINTS_PER_PIXEL 0.75            /* of a PDF */

enum { /* cairo's and pango's numbers */
       ARGB32 = 0,
       CAP_BUTT = 0,
       CAP_ROUND = 1,
       JOIN_ROUND = 1,
       JOIN_BEVEL = 2,
       WEIGHT_NORMAL = 400,
       WEIGHT_BOLD = 600,
       PANGO_UNITS = 1024,
       WRITE_ERROR = 11,
       MANY = 400, /* spots of a line: its corners need not be round */
};

typedef int pr_cairo_write(void *ctx, const unsigned char *data, unsigned len);

struct api {
#define CALL(returns, name, args) returns(*name) args;
#include "present/chart/cairo_api.def"
#undef CALL
};

static const struct {
    const char *name;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define CALL(returns, name, args) {#name, offsetof(struct api, name)},
#include "present/chart/cairo_api.def"
#undef CALL
};

struct state {
    struct api api;
    void *surface, *cr, *font;
};

/* ---- the libraries */

static int fail_missing(const char *what, struct pr_err *err)
{
    pr_fail(err, PR_E_UNAVAIL, "", "PNG and PDF need cairo and pango: %s",
            what);
    return pr_hint(err, "apt-get install libpangocairo-1.0-0; an .svg needs "
                        "nothing");
}

/* Never closed: both keep things for the rest of the process. */
static int load_cairo(struct api *api, struct pr_err *err)
{
    void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!so)
        return fail_missing("no " LIBRARY, err);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);

        if (!p)
            return fail_missing(symbols[i].name, err);
        memcpy((char *)api + symbols[i].at, &p, sizeof p);
    }
    return PR_OK;
}

int pr_canvas_libraries(char out[static 64], struct pr_err *err)
{
    struct api api;
    int rc = load_cairo(&api, err);

    if (!rc)
        snprintf(out, 64, "cairo %s, pango %s", api.cairo_version_string(),
                 api.pango_version_string());
    return rc;
}

/* ---- from start to end */

static int write_image_bytes(void *ctx, const unsigned char *data, unsigned len)
{
    struct pr_buf *out = ctx;

    pr_buf_add(out, data, len);
    return pr_buf_ok(out) ? 0 : WRITE_ERROR;
}

static void cairo_canvas_free(struct pr_canvas *v)
{
    struct state *s = v->state;

    if (s->font)
        s->api.pango_font_description_free(s->font);
    if (s->cr)
        s->api.cairo_destroy(s->cr);
    if (s->surface)
        s->api.cairo_surface_destroy(s->surface);
    if (s->cr) /* fonts that pango keeps for this thread */
        s->api.pango_cairo_font_map_set_default(NULL);
    pr_free(s);
    v->state = NULL;
}

static int fail_status(const struct state *s, int status, struct pr_err *err)
{
    return pr_fail(err, PR_E_IO, "", "cairo cannot draw the chart: %s",
                   s->api.cairo_status_to_string(status));
}

static int cairo_canvas_start(struct pr_canvas *v, double scale,
                              struct pr_err *err)
{
    struct state *s = v->state;
    int status = s->api.cairo_surface_status(s->surface);

    if (status)
        return fail_status(s, status, err);
    s->cr = s->api.cairo_create(s->surface);
    s->font = s->api.pango_font_description_new();
    s->api.pango_font_description_set_family(s->font, "sans-serif");
    s->api.cairo_scale(s->cr, scale, scale);
    return PR_OK;
}

static int open_any(struct pr_canvas *v, bool pdf, struct pr_err *err)
{
    struct state *s = v->state = pr_alloc_zeroed(sizeof *s);
    double scale = pdf ? POINTS_PER_PIXEL : v->scale;
    double w = v->width * scale, h = v->height * scale;
    int rc = s ? load_cairo(&s->api, err) : pr_fail_nomem(err);

    if (!rc && pdf)
        s->surface = s->api.cairo_pdf_surface_create_for_stream(
            write_image_bytes, v->out, w, h);
    else if (!rc)
        s->surface = s->api.cairo_image_surface_create(ARGB32, (int)ceil(w),
                                                       (int)ceil(h));
    if (!rc)
        rc = cairo_canvas_start(v, scale, err);
    if (rc && s)
        cairo_canvas_free(v);
    return rc;
}

static int open_png(struct pr_canvas *v, struct pr_err *err)
{
    return open_any(v, false, err);
}

static int open_pdf(struct pr_canvas *v, struct pr_err *err)
{
    return open_any(v, true, err);
}

static int close_any(struct pr_canvas *v, bool pdf, struct pr_err *err)
{
    struct state *s = v->state;
    int status = s->api.cairo_status(s->cr), rc = PR_OK;

    if (!status && pdf)
        s->api.cairo_surface_finish(s->surface);
    else if (!status)
        status = s->api.cairo_surface_write_to_png_stream(
            s->surface, write_image_bytes, v->out);
    if (!status)
        status = s->api.cairo_surface_status(s->surface);
    if (!pr_buf_ok(v->out))
        rc = pr_fail_nomem(err);
    else if (status)
        rc = fail_status(s, status, err);
    cairo_canvas_free(v);
    return rc;
}

static int close_png(struct pr_canvas *v, struct pr_err *err)
{
    return close_any(v, false, err);
}

static int close_pdf(struct pr_canvas *v, struct pr_err *err)
{
    return close_any(v, true, err);
}

static void cairo_canvas_begin(struct pr_canvas *v, const char *name,
                               long series, const char *title)
{
    (void)v;
    (void)name;
    (void)series;
    (void)title;
}

static void cairo_canvas_end(struct pr_canvas *v)
{
    (void)v;
}

/* ---- shapes */

static void set_colour(const struct state *s, const char *colour,
                       double opacity)
{
    unsigned long n = strtoul(colour + 1, NULL, 16);

    s->api.cairo_set_source_rgba(s->cr, (double)(n >> 16 & 255) / 255,
                                 (double)(n >> 8 & 255) / 255,
                                 (double)(n & 255) / 255, opacity);
}

static void set_dash(const struct state *s, const double *dash)
{
    int n = 0;

    while (n < PR_CANVAS_DASH && dash[n] > 0)
        n++;
    s->api.cairo_set_dash(s->cr, dash, n, 0);
    s->api.cairo_set_line_cap(s->cr, n ? CAP_BUTT : CAP_ROUND);
}

/* Strokes or fills the path there is. */
static void cairo_canvas_paint(const struct state *s, const struct pr_ink *ink)
{
    const struct pr_role_look *r = pr_role_look(ink->role);
    const char *colour =
        *r->light ? r->light : pr_canvas_colour(ink->series, false);
    double width = r->width;

    if (ink->hollow) {
        set_colour(s, pr_role_look(PR_ROLE_PAPER)->light, 1);
        s->api.cairo_fill_preserve(s->cr);
        width = 1.6;
    }
    set_colour(s, colour, r->opacity);
    if (!(width > 0)) {
        s->api.cairo_fill(s->cr);
        return;
    }
    set_dash(s, ink->dashed ? pr_canvas_dash(ink->series) : r->dash);
    s->api.cairo_set_line_width(s->cr, width);
    s->api.cairo_stroke(s->cr);
}

static void cairo_canvas_path(struct pr_canvas *v, const struct pr_ink *ink,
                              const struct pr_spot *spots, size_t n,
                              const char *tip)
{
    const struct state *s = v->state;
    bool lifted = true;

    (void)tip;
    s->api.cairo_set_line_join(s->cr, n > MANY ? JOIN_BEVEL : JOIN_ROUND);
    for (size_t i = 0; i < n; i++) {
        if (!isnan(spots[i].x) && lifted)
            s->api.cairo_move_to(s->cr, spots[i].x, spots[i].y);
        else if (!isnan(spots[i].x))
            s->api.cairo_line_to(s->cr, spots[i].x, spots[i].y);
        lifted = isnan(spots[i].x);
    }
    if (!(pr_role_look(ink->role)->width > 0))
        s->api.cairo_close_path(s->cr);
    cairo_canvas_paint(s, ink);
}

static void cairo_canvas_circle(struct pr_canvas *v, const struct pr_ink *ink,
                                double x, double y, double r, const char *tip)
{
    const struct state *s = v->state;

    (void)tip;
    s->api.cairo_new_sub_path(s->cr);
    s->api.cairo_arc(s->cr, x, y, r, 0, 2 * M_PI);
    cairo_canvas_paint(s, ink);
}

static void cairo_canvas_rect(struct pr_canvas *v, const struct pr_ink *ink,
                              const struct pr_box *b, const char *tip)
{
    const struct state *s = v->state;

    (void)tip;
    s->api.cairo_rectangle(s->cr, b->x, b->y, b->w, b->h);
    cairo_canvas_paint(s, ink);
}

/* ---- text */

static void *cairo_canvas_layout_text(const struct state *s, const char *text,
                                      double size, bool bold)
{
    void *layout = s->api.pango_cairo_create_layout(s->cr);

    s->api.pango_font_description_set_absolute_size(s->font,
                                                    size * PANGO_UNITS);
    s->api.pango_font_description_set_weight(s->font, bold ? WEIGHT_BOLD
                                                           : WEIGHT_NORMAL);
    s->api.pango_layout_set_font_description(layout, s->font);
    s->api.pango_layout_set_single_paragraph_mode(layout, 1);
    s->api.pango_layout_set_text(layout, text, -1);
    return layout;
}

static double cairo_layout_width(const struct state *s, void *layout)
{
    int w, h;

    s->api.pango_layout_get_size(layout, &w, &h);
    return (double)w / PANGO_UNITS;
}

static double cairo_canvas_text_width(struct pr_canvas *v, const char *text,
                                      double size, bool bold)
{
    const struct state *s = v->state;
    void *layout = cairo_canvas_layout_text(s, text, size, bold);
    double w = cairo_layout_width(s, layout);

    s->api.g_object_unref(layout);
    return w;
}

static void cairo_canvas_text(struct pr_canvas *v, const struct pr_label *l)
{
    static const double parts[] = {0, 0.5, 1};
    const struct state *s = v->state;
    void *layout = cairo_canvas_layout_text(s, l->text, l->size, l->bold);
    double rise =
        (double)s->api.pango_layout_get_baseline(layout) / PANGO_UNITS;

    s->api.cairo_save(s->cr);
    s->api.cairo_translate(s->cr, l->x, l->y);
    s->api.cairo_rotate(s->cr, l->turn * M_PI / 180);
    s->api.cairo_translate(
        s->cr, -parts[l->anchor] * cairo_layout_width(s, layout), -rise);
    if (l->halo) {
        s->api.cairo_move_to(s->cr, 0, 0);
        s->api.pango_cairo_layout_path(s->cr, layout);
        set_colour(s, pr_role_look(PR_ROLE_PAPER)->light, 1);
        set_dash(s, pr_canvas_dash(0));
        s->api.cairo_set_line_width(s->cr, 4);
        s->api.cairo_stroke(s->cr);
    }
    s->api.cairo_move_to(s->cr, 0, 0);
    set_colour(s, pr_role_look(l->role)->light, 1);
    s->api.pango_cairo_show_layout(s->cr, layout);
    s->api.cairo_restore(s->cr);
    s->api.g_object_unref(layout);
}

#define CAIRO_KIND(id)                                                    \
    {                                                                     \
        .name = #id, .open = open_##id, .begin = cairo_canvas_begin,      \
        .end = cairo_canvas_end, .path = cairo_canvas_path,               \
        .circle = cairo_canvas_circle, .rect = cairo_canvas_rect,         \
        .text = cairo_canvas_text, .text_width = cairo_canvas_text_width, \
        .close = close_##id,                                              \
    }

const struct pr_canvas_kind pr_canvas_png = CAIRO_KIND(png);
const struct pr_canvas_kind pr_canvas_pdf = CAIRO_KIND(pdf);
