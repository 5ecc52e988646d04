/* A comparison as text, Markdown, CSV and JSON. */
#ifndef PR_PRESENT_REPORT_COMPARE_H
#define PR_PRESENT_REPORT_COMPARE_H

#include "analyse/compare/compare.h"
#include "present/table/table.h"

/* Appends it. rules (may be none): rows that break one are marked in JSON. */
struct pr_compare_show {
    enum pr_table_format format;
    const struct pr_table_style *style;
    const struct pr_compare_rule *rules;
    size_t rule_count;
    bool all_notes; /* text: also those on tests that are the same */
};

int pr_compare_report(const struct pr_compare *c,
                      const struct pr_compare_show *how, struct pr_buf *out,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
