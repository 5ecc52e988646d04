/* What the files that show comparisons share. */
#ifndef PR_PRESENT_COMPARE_IMPL_H
#define PR_PRESENT_COMPARE_IMPL_H

#include "present/report/compare_report.h"

enum { PR_CHANGE_TEXT = 64 };

int pr_compare_json(const struct pr_compare *c,
                    const struct pr_compare_show *how, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_compare_csv(const struct pr_compare *c,
                   const struct pr_compare_show *how, struct pr_buf *out,
                   struct pr_err *err) PR_MUST_CHECK;

#endif
