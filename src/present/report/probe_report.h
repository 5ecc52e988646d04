/* What experiments found that were probed, for people: the verdict, and the
 * three phases. From the results map of result.json. */
#ifndef PR_PRESENT_PROBE_REPORT_H
#define PR_PRESENT_PROBE_REPORT_H

#include "base/value.h"
#include "present/table/table.h"

/* Whether a results map (may be NULL) is of such an experiment. */
bool pr_is_probed(const struct pr_value *results);

/* The report of one experiment, as text, Markdown or, the table alone, CSV. */
int pr_probe_report(const char *id, const struct pr_value *results,
                    enum pr_table_format format,
                    const struct pr_table_style *style, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

/* The reports of all such experiments of a run. */
int pr_probe_report_run(const char *dir, enum pr_table_format format,
                        const struct pr_table_style *style, struct pr_buf *out,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
