/*
 * A run as a table: one row an experiment, a column for each parameter that
 * varies, the status, and the figures. And what reports of its experiments
 * share.
 */
#ifndef PR_PRESENT_REPORT_RUN_H
#define PR_PRESENT_REPORT_RUN_H

#include "analyse/run/run_data.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "present/table/table.h"

#include <stddef.h>
#include <stdint.h>

/* ---- lines that reports of experiments share */

/* "ID: verdict", where the results give one. */
void pr_report_title(struct pr_buf *out, enum pr_table_format format,
                     const char *id, const struct pr_value *results);

/* Above a table. */
void pr_report_heading(struct pr_buf *out, enum pr_table_format format,
                       const char *text);

/* Of times in ms, by the names of their mean, p50, p99 and maximum: where the
 * mean is above p99, a line with the median and the slowest, which carries it.
 * Nothing where some are not known. */
void pr_report_slowest(struct pr_buf *out, enum pr_table_format format,
                       const char *what, const struct pr_value *results,
                       const char *const names[4]);

/* ---- going through the results of a run's experiments */

/* results: the map of result.json; NULL when there is none. Not PR_OK: stop,
 * and that is returned. */
typedef int pr_run_result_call(void *ctx, const char *id,
                               const struct pr_value *results,
                               struct pr_err *err);

int pr_run_each_result(const char *dir, pr_run_result_call *call, void *ctx,
                       struct pr_err *err) PR_MUST_CHECK;

/* results.verdict, in plain words; NULL: none. */
const char *pr_run_result_verdict(const struct pr_value *results);

/* ---- as one JSON document: `prony run --format json` */

typedef int pr_json_sink(void *ctx, const char *data, size_t len,
                         struct pr_err *err);

/* {"schema": "prony.run/1", "dir": …, "experiments": [{"id", "status",
 * "params", "results"}…]}. An experiment without a result counts as
 * skipped. In constant memory. */
int pr_run_json(const char *dir, pr_json_sink *sink, void *ctx,
                struct pr_err *err) PR_MUST_CHECK;

/* Appends the table of a run directory. max_rows > 0: of a longer text only
 * the rows that failed and the first others, up to that many. *ret (may be
 * NULL): what the run is made of. */
int pr_run_table(const char *dir, enum pr_table_format format,
                 const struct pr_table_style *style, uint64_t max_rows,
                 struct pr_buf *out, struct pr_run_columns *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* "5 experiments: 4 ok, 1 failed". */
void pr_run_counts(const struct pr_run_columns *c, struct pr_buf *out);

/* ---- the warnings of a run's experiments, each text once */

/* Lines "warning: TEXT (3 experiments)", at most max of them. */
int pr_run_warnings(const char *dir, uint32_t max, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

#endif
