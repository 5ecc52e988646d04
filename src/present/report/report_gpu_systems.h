/*
 * Results in Lambda's layout: its CSV tables, byte for byte as its scripts
 * write them, and a report of our own.
 */
#ifndef PR_PRESENT_REPORT_GPU_SYSTEMS_H
#define PR_PRESENT_REPORT_GPU_SYSTEMS_H

#include "analyse/gpu_systems.h"
#include "base/buf.h"
#include "present/table/table.h"

/* Throughputs: the mean of the logs that have a figure, cut to whole numbers;
 * 0 where there is none, -1.0 in a column the system has no rule for. */
void pr_gpu_systems_csv(const struct pr_gpu_systems *g,
                        const struct pr_gpu_systems_opts *o,
                        struct pr_buf *out);

/* Batch sizes, as benchmark.para has them. */
void pr_gpu_systems_csv_batches(const struct pr_gpu_systems *g,
                                const struct pr_gpu_systems_opts *o,
                                struct pr_buf *out);

/* ---- our own */

/*
 * What the results are worth: for each task of each system how many runs count,
 * their mean and spread, what failed and why, what cannot be believed, and what
 * a figure costs.
 */

/* g was read with full. Appends the table and, as text, what to know of it. */
int pr_gpu_systems_report(const struct pr_gpu_systems *g,
                          enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
