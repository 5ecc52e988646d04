/* What the files of the plot share. */
#ifndef PR_PRESENT_PLOT_IMPL_H
#define PR_PRESENT_PLOT_IMPL_H

#include "present/chart/plot.h"

/* Options of a chart, as told or as is usual. */
struct pr_plot_look {
    struct pr_chart chart;         /* texts, scales and sizes are set */
    const struct pr_value *legend; /* names, or NULL */
    bool errors;                   /* error bars are wanted */
};

int pr_plot_look(const struct pr_value *told, struct pr_plot_look *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* What series are called: what tells them apart. count texts in the arena;
 * NULL when out of memory. */
const char **pr_plot_names(const struct pr_plot_data *s,
                           const struct pr_value *legend, struct pr_arena *a);

/* Quartiles of values, which get sorted; x stays 0. */
struct pr_chart_spread pr_plot_spread(double *v, size_t n);

#endif
