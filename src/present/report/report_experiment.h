/*
 * What experiments found, for people, from the results map of result.json.
 */
#ifndef PR_PRESENT_REPORT_EXPERIMENT_H
#define PR_PRESENT_REPORT_EXPERIMENT_H

#include "base/value.h"
#include "present/table/table.h"

/* One line for each experiment of a run that gives a verdict, at most max;
 * nothing when none does. */
int pr_emulate_verdicts(const char *dir, uint64_t max, struct pr_buf *out,
                        struct pr_err *err) PR_MUST_CHECK;

/* The report of one experiment, as text or Markdown. */
int pr_emulate_report(const char *id, const struct pr_value *results,
                      enum pr_table_format format,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err) PR_MUST_CHECK;

/* The reports of all emulated experiments of a run; *ret_count: how many.
 * *ret_id: the last of them. */
int pr_emulate_report_run(const char *dir, enum pr_table_format format,
                          const struct pr_table_style *style,
                          struct pr_buf *out, uint64_t *ret_count,
                          char ret_id[static 256],
                          struct pr_err *err) PR_MUST_CHECK;

/* The same as an array of {"id", "results"} in a larger document. */
int pr_emulate_report_json(const char *dir, struct pr_json_writer *jb,
                           const char *key, uint64_t *ret_count,
                           struct pr_err *err) PR_MUST_CHECK;

/* A list of maps, such as by_epoch, as a table: a column for each key. */
int pr_measure_rows(const struct pr_value *list, enum pr_table_format format,
                    const struct pr_table_style *style, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

/* ---- probed: the verdict, and the three phases */

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

/* ---- trained, or inferring: the verdict, the figures, the loss, the layers */

/* native and frameworks report the same. */

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
