/* Reports of suites, and cells that line up as pandas prints them. */
#ifndef PR_PRESENT_REPORT_SUITE_H
#define PR_PRESENT_REPORT_SUITE_H

#include "analyse/suite/suite.h"
#include "base/buf.h"
#include "base/mem.h"
#include "present/table/table.h"

#include <stdbool.h>
#include <stddef.h>

struct pr_text_frame {
    struct pr_arena *arena;
    size_t rows, cols, filled; /* filled: columns so far */
    const char **head, **names;
    const char **cells; /* column by column */
    bool failed;        /* out of memory: printing says so */
};

/* "%10.2f" as Python's format has it; with percent times 100 and a "%" within
 * the width. none: what stands for NaN, or NULL: "nan" in the format. */
struct pr_text_frame_number {
    int width, digits;
    bool percent;
    const char *none;
};

/* The same number on its own. */
void pr_text_frame_number(struct pr_buf *out, double v,
                          const struct pr_text_frame_number *how);

/* ---- the reports */

/*
 * As text, letter by letter what milarun prints of its own data; as JSON with
 * all three scores; as a table for CSV and Markdown. Names from files are made
 * harmless on the way.
 */

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
