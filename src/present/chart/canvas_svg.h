/*
 * What a chart is drawn on: an image of SVG that this program writes itself,
 * or a PNG or PDF by cairo. A canvas knows lines, shapes and text in a few
 * roles; where things are is the chart's business alone.
 */
#ifndef PR_PRESENT_CANVAS_SVG_H
#define PR_PRESENT_CANVAS_SVG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PR_COLOURS = 10,   /* series, until colours begin again, */
    PR_DASHES = 5,     /* … dashes, */
    PR_CANVAS_DASH = 4 /* numbers of a dash at most */
};

/*
 * Roles: X(id, class in SVG, colour on light and on dark screens, width of the
 * stroke or 0 for a fill, opacity, dash and gap). "": the series' colour.
 */
#define PR_ROLES(X)                                               \
    X(PAPER, "paper", "#ffffff", "#14171b", 0, 1, 0, 0)           \
    X(TEXT, "text", "#1c2024", "#e6e9ed", 0, 1, 0, 0)             \
    X(SOFT, "soft", "#59636e", "#a8b0ba", 0, 1, 0, 0)             \
    X(GRID, "grid", "#e3e7eb", "#2b3138", 1, 1, 0, 0)             \
    X(AXIS, "axis", "#8b95a0", "#6b7580", 1, 1, 0, 0)             \
    X(LINE, "line", "", "", 2, 1, 0, 0)                           \
    X(ERROR, "error", "", "", 1.5, 0.7, 0, 0)                     \
    X(DOT, "dot", "", "", 0, 1, 0, 0)                             \
    X(BAR, "bar", "", "", 0, 1, 0, 0)                             \
    X(HATCH, "hatch", "#ffffff", "#14171b", 1.2, 0.8, 0, 0)       \
    X(WHISKER, "whisker", "#1c2024", "#e6e9ed", 1.2, 1, 0, 0)     \
    X(LIMIT, "limit", "#b3261e", "#ff8a80", 1.5, 1, 6, 4)         \
    X(LIMIT_TEXT, "limit-text", "#b3261e", "#ff8a80", 0, 1, 0, 0) \
    X(MARK, "mark", "#1c2024", "#e6e9ed", 1.5, 1, 2, 3)           \
    X(RING, "ring", "#1c2024", "#e6e9ed", 2, 1, 0, 0)

enum pr_role {
#define ROLE(id, ...) PR_ROLE_##id,
    PR_ROLES(ROLE)
#undef ROLE
        PR_ROLE_COUNT
};

struct pr_role_look {
    const char *name, *light, *dark;
    double width, opacity;
    double dash[PR_CANVAS_DASH]; /* line and gap in turn; 0 ends them */
};

const struct pr_role_look *pr_role_look(enum pr_role role);
const char *pr_canvas_colour(unsigned series, bool dark);
const double *pr_canvas_dash(unsigned series); /* the same */

struct pr_box {
    double x, y, w, h; /* of its upper left corner */
};

/* No number as x: the pen is lifted. */
struct pr_spot {
    double x, y;
};

/* How something is drawn. */
struct pr_ink {
    enum pr_role role;
    unsigned series; /* of roles without a colour of their own */
    bool hollow;     /* a fill becomes an outline on paper */
    bool dashed;     /* a line in the series' dashes */
};

enum pr_anchor { PR_ANCHOR_START, PR_ANCHOR_MIDDLE, PR_ANCHOR_END };

struct pr_label {
    const char *text; /* clean, see present/screen.h */
    double x, y, size;
    enum pr_role role;
    enum pr_anchor anchor;
    double turn; /* degrees, clockwise */
    bool bold, halo;
};

struct pr_canvas;

/* One way to make an image. Nothing here fails but open and close. */
struct pr_canvas_kind {
    const char *name; /* "svg": also how names of files end */
    int (*open)(struct pr_canvas *v, struct pr_err *err);
    /* Everything until end belongs together; name and series say what it is,
     * title what it is called (NULL: nothing). */
    void (*begin)(struct pr_canvas *v, const char *name, long series,
                  const char *title);
    void (*end)(struct pr_canvas *v);
    /* A stroke, or the fill of a closed shape, as the role says. tip: shown
     * where the mouse is, or NULL. */
    void (*path)(struct pr_canvas *v, const struct pr_ink *ink,
                 const struct pr_spot *spots, size_t n, const char *tip);
    void (*circle)(struct pr_canvas *v, const struct pr_ink *ink, double x,
                   double y, double r, const char *tip);
    void (*rect)(struct pr_canvas *v, const struct pr_ink *ink,
                 const struct pr_box *b, const char *tip);
    void (*text)(struct pr_canvas *v, const struct pr_label *l);
    double (*text_width)(struct pr_canvas *v, const char *text, double size,
                         bool bold);
    int (*close)(struct pr_canvas *v, struct pr_err *err);
};

/* By their names: svg, png, pdf. NULL: there is no such kind, or the end. */
const struct pr_canvas_kind *pr_canvas_kind(const char *name);
const struct pr_canvas_kind *pr_canvas_kind_at(size_t i);

struct pr_canvas {
    const struct pr_canvas_kind *kind;
    struct pr_buf *out; /* gets the image, at close or before */
    const char *title;
    double width, height;
    double scale; /* pixels of a PNG for one of these */
    void *state;  /* the kind's own */
};

/* The libraries that PNG and PDF need, as "cairo 1.16.0, pango 1.50.12".
 * PR_E_UNAVAIL with a remedy. */
int pr_canvas_libraries(char out[static 64], struct pr_err *err) PR_MUST_CHECK;

/* ---- the kinds, and what they share */

extern const struct pr_canvas_kind pr_canvas_svg, pr_canvas_png, pr_canvas_pdf;

/* Appends clean text for XML. */
void pr_svg_escape(struct pr_buf *out, const char *s);

#endif
