/*
 * The report of a suite: as text, letter by letter what milarun prints of its
 * own data; as JSON with all three scores; as a table for CSV and Markdown.
 * Names from files are made harmless on the way.
 */
#ifndef PR_PRESENT_SUITE_REPORT_H
#define PR_PRESENT_SUITE_REPORT_H

#include "analyse/suite/suite.h"
#include "present/table/table.h"

int pr_suite_text(const struct pr_suite_report *r, struct pr_buf *out,
                  struct pr_err *err) PR_MUST_CHECK;

/* CSV, Markdown: one row for each test. */
int pr_suite_table(const struct pr_suite_report *r, enum pr_table_format format,
                   struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

/* One document, schema prony.report/1. */
int pr_suite_json(const struct pr_suite_report *r, struct pr_buf *out,
                  struct pr_err *err) PR_MUST_CHECK;

/* milarun's summary of the tests, as json.dumps(indent=4) writes it. */
void pr_suite_summary_json(const struct pr_suite *s, struct pr_buf *out);

/* What milabench prints of its runs. */
int pr_milabench_text(const struct pr_suite_report *r, struct pr_buf *out,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
