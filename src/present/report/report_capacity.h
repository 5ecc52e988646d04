/*
 * A search for the capacity as people and programs see it: the answer in
 * words, the curve as a table, as JSON and as a chart.
 */
#ifndef PR_PRESENT_REPORT_CAPACITY_H
#define PR_PRESENT_REPORT_CAPACITY_H

#include "analyse/capacity/capacity_record.h"
#include "base/buf.h"
#include "present/table/table.h"

/* The answer, the table, the knee and what limits; as CSV the table alone.
 * dir: where the files are. */
int pr_capacity_text(const struct pr_capacity_record *r, const char *dir,
                     enum pr_table_format format,
                     const struct pr_table_style *style, struct pr_buf *out,
                     struct pr_err *err) PR_MUST_CHECK;

/* capacity.svg. */
int pr_capacity_svg(const struct pr_capacity_record *r, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

/* One line about the last trial. */
int pr_capacity_line(const struct pr_capacity_record *r, struct pr_buf *out,
                     struct pr_err *err) PR_MUST_CHECK;

/* "unet3d on H100", "workload.yaml". */
void pr_capacity_name(const struct pr_capacity_record *r, struct pr_buf *out);

#endif
