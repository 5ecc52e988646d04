/* Lines that reports of experiments share. */
#ifndef PR_PRESENT_REPORT_TEXT_H
#define PR_PRESENT_REPORT_TEXT_H

#include "base/value.h"
#include "present/table.h"

/* "ID: verdict", where the results give one. */
void pr_report_title(struct pr_buf *out, enum pr_table_format format,
                     const char *id, const struct pr_value *results);

/* Above a table. */
void pr_report_heading(struct pr_buf *out, enum pr_table_format format,
                       const char *text);

#endif
