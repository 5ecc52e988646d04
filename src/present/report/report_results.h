/* Results as DLBS's log parser writes them, and a summary of them. */
#ifndef PR_PRESENT_REPORT_RESULTS_H
#define PR_PRESENT_REPORT_RESULTS_H

#include "analyse/results/results.h"
#include "present/table/table.h"

/* Some rows of a set: those that are ok, or not, or all. */
enum pr_results_part { PR_RESULTS_ALL, PR_RESULTS_GOOD, PR_RESULTS_FAILED };

struct pr_results_out {
    const struct pr_results *set;
    enum pr_results_part part;
    size_t from, count;        /* of this part; count 0: all from there */
    const char *const *params; /* only these, in this order; NULL: all */
    size_t param_count;
};

/* Rows that DLBS's log parser counts: results.throughput above zero; where a
 * result has none, results.time. */
size_t pr_results_out_rows(const struct pr_results_out *o);

/* {"data": […]}, indented by four; gzipped when the name ends with .gz. */
int pr_results_write(const struct pr_results_out *o, const char *path,
                     struct pr_err *err) PR_MUST_CHECK;

/* As `bench_data summary`: how many, how many ok, and the values of some
 * parameters. */
int pr_results_summary_json(const struct pr_results *set, struct pr_buf *out,
                            struct pr_err *err) PR_MUST_CHECK;

/* The same for people. */
int pr_results_summary_text(const struct pr_results *set,
                            const struct pr_table_style *style,
                            struct pr_buf *out,
                            struct pr_err *err) PR_MUST_CHECK;

#endif
