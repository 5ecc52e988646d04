/* Lines that reports of experiments share. */
#ifndef PR_PRESENT_REPORT_TEXT_H
#define PR_PRESENT_REPORT_TEXT_H

#include "base/value.h"
#include "present/table/table.h"

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

#endif
