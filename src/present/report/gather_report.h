/*
 * What results in Lambda's layout are worth: for each task of each system how
 * many runs count, their mean and spread, what failed and why, what cannot be
 * believed, and what a figure costs.
 */
#ifndef PR_PRESENT_GATHER_REPORT_H
#define PR_PRESENT_GATHER_REPORT_H

#include "analyse/gpu_systems.h"
#include "present/table/table.h"

/* g was read with full. Appends the table and, as text, what to know of it. */
int pr_gpu_systems_report(const struct pr_gpu_systems *g,
                          enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
