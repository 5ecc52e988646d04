/* Options of `prony plot`. */
#ifndef PR_CLI_PLOT_ARGS_H
#define PR_CLI_PLOT_ARGS_H

#include "analyse/series/plot_data.h"
#include "cli/cli.h"
#include "present/chart/plot.h"

struct plot_args {
    enum { PLOT_RESULTS, PLOT_MONITOR, PLOT_RATES } source;
    struct pr_plot_data_opts series; /* of results */
    const char **columns;            /* of the monitor, or tasks; NULL: all */
    const char **names;              /* to read of results; NULL: everything */
    struct pr_plot_opts look;
    const char *chart_file, *series_file; /* or NULL */
    const struct pr_canvas_kind *kind;    /* of chart_file */
    struct pr_plot_data set;              /* what came of it */
};

/* What they name is in the arena. */
int plot_args_init(struct cli *c, struct plot_args *ret,
                   struct pr_err *err) PR_MUST_CHECK;

#endif
