/* A run as a table: one row an experiment, a column for each parameter that
 * varies, the status, and the figures. */
#ifndef PR_PRESENT_RUN_TABLE_H
#define PR_PRESENT_RUN_TABLE_H

#include "analyse/run/run_data.h"
#include "present/table/table.h"

/* Appends the table of a run directory. max_rows > 0: of a longer text only
 * the rows that failed and the first others, up to that many. *ret (may be
 * NULL): what the run is made of. */
int pr_run_table(const char *dir, enum pr_table_format format,
                 const struct pr_table_style *style, uint64_t max_rows,
                 struct pr_buf *out, struct pr_run_columns *ret,
                 struct pr_err *err) PR_MUST_CHECK;

/* "5 experiments: 4 ok, 1 failed". */
void pr_run_counts(const struct pr_run_columns *c, struct pr_buf *out);

#endif
