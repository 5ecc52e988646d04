/* What experiments found that trained a network, or let one infer, for people:
 * the verdict, the figures, the loss, the layers. From the results map of
 * result.json; native and frameworks report the same. */
#ifndef PR_PRESENT_TRAINED_REPORT_H
#define PR_PRESENT_TRAINED_REPORT_H

#include "base/value.h"
#include "present/table/table.h"

/* Whether a results map (may be NULL) is of such an experiment. */
bool pr_is_trained(const struct pr_value *results);

/* The report of one experiment, as text or Markdown. */
int pr_trained_report(const char *id, const struct pr_value *results,
                      enum pr_table_format format,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err) PR_MUST_CHECK;

/* The reports of all such experiments of a run. */
int pr_trained_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

/* The same as an array of {"id", "results"} in a larger document; nothing when
 * there is none. */
int pr_trained_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, struct pr_err *err) PR_MUST_CHECK;

#endif
