/* Series as a chart: what stands where, and how it is called. */
#ifndef PR_PRESENT_PLOT_H
#define PR_PRESENT_PLOT_H

#include "analyse/series/plot_data.h"
#include "present/chart/chart.h"

enum pr_plot_kind {
    PR_PLOT_LINE,
    PR_PLOT_BAR,
    PR_PLOT_POINTS,
    PR_PLOT_BOX,    /* how values of each x are spread */
    PR_PLOT_SPREAD, /* … and of each series as a whole */
};

struct pr_plot_opts {
    enum pr_plot_kind kind;
    bool relative;         /* to a baseline, which is 1 */
    struct pr_value chart; /* a map as docs/plot.md has it; or null */
};

/* Looks at opts->chart alone. PR_E_USAGE. */
int pr_plot_check(const struct pr_plot_opts *o,
                  struct pr_err *err) PR_MUST_CHECK;

int pr_plot_draw(const struct pr_plot_data *s, const struct pr_plot_opts *o,
                 const struct pr_canvas_kind *kind, struct pr_buf *out,
                 struct pr_err *err) PR_MUST_CHECK;

/* What series are called: what tells them apart. count texts in the arena;
 * NULL when out of memory. */
const char **pr_plot_names(const struct pr_plot_data *s,
                           const struct pr_value *legend, struct pr_arena *a);

/* Quartiles of values, which get sorted; x stays 0. */
struct pr_chart_spread pr_plot_spread(double *v, size_t n);

#endif
