/* The kinds of canvas, and what they share. */
#ifndef PR_PRESENT_CANVAS_IMPL_H
#define PR_PRESENT_CANVAS_IMPL_H

#include "present/chart/canvas.h"

extern const struct pr_canvas_kind pr_canvas_svg, pr_canvas_png, pr_canvas_pdf;

/* Appends clean text for XML. */
void pr_svg_escape(struct pr_buf *out, const char *s);

#endif
