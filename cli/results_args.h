/* What verbs that read results share, --query, --select and --recursive; and
 * the options of plot and probe. */
#ifndef PR_CLI_RESULTS_ARGS_H
#define PR_CLI_RESULTS_ARGS_H

#include "analyse/results/results.h"
#include "analyse/series/plot_data.h"
#include "cli/cli.h"
#include "plan/plan.h"
#include "present/chart/plot.h"

enum { RESULTS_MAX_FILTERS = 32 };

struct results_args {
    struct pr_query *queries[RESULTS_MAX_FILTERS];
    struct pr_results_filter filters[RESULTS_MAX_FILTERS];
    size_t filter_count;
    bool unfinished; /* with experiments that have no result yet */
};

/* Every --query and --select, all of which must match, and --filter-query and
 * --filter-params of `parse`. */
int results_args_init(const struct cli *c, struct results_args *a,
                      struct pr_err *err) PR_MUST_CHECK;
void results_args_close(struct results_args *a);

/* How to read: --recursive, --threads, the filters. names (NULL: all) ends
 * with NULL. */
int results_args_opts(const struct cli *c, const struct results_args *a,
                      const char *const *names, struct pr_results_opts *ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* Says what could not be read. */
void results_args_warn(const struct cli *c, const struct pr_results *set);
/* Said at the end: an archive that is not whole is status 5, whatever it held;
 * not with --ignore-errors. */
int results_args_check_whole(const struct cli *c, const struct pr_results *set,
                             struct pr_err *err) PR_MUST_CHECK;

/* Reads the inputs. What the queries do not match is left out; what could not
 * be read is for results_args_warn. */
int results_args_read(const struct cli *c, const struct results_args *a,
                      const char *const *inputs, size_t count,
                      const char *const *names, struct pr_results **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* "a,b,c" as a list in the arena that ends with NULL. */
const char **results_args_split_names(struct pr_arena *a, const char *text,
                                      size_t *ret_count);

/* ---- prony plot */

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

/* ---- what prony probe adds to a run: parameters, and a chart */

/* probe.run, and what the options of probe set. */
int probe_params(struct cli *c, struct pr_plan *p,
                 struct pr_err *err) PR_MUST_CHECK;

/* Writes DIR/probe.svg, if anything was measured. */
int probe_chart(const char *dir, struct pr_err *err) PR_MUST_CHECK;

#endif
