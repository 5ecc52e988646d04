/* What MLPerf's rules say of experiments: as text, Markdown or JSON. */
#ifndef PR_PRESENT_REPORT_MLPERF_H
#define PR_PRESENT_REPORT_MLPERF_H

#include "analyse/mlperf.h"
#include "present/table/table.h"

/* The checks of one experiment under a line with the verdict; text or
 * Markdown. */
int pr_mlperf_text(const struct pr_mlperf *m, const char *id,
                   enum pr_table_format format,
                   const struct pr_table_style *style, struct pr_buf *out,
                   struct pr_err *err) PR_MUST_CHECK;

/* The same as members of an object that is open: division, workload, verdict,
 * data_size, checks. */
void pr_mlperf_json(const struct pr_mlperf *m, struct pr_json_writer *jb);

/* Of a run directory: every experiment that asks for the rules, at most max
 * of them, and what several runs of one benchmark are together. Nothing when
 * there is none. */
int pr_mlperf_run_text(const char *dir, uint64_t max,
                       enum pr_table_format format,
                       const struct pr_table_style *style, struct pr_buf *out,
                       struct pr_err *err) PR_MUST_CHECK;

/* The same as {"experiments": […], "runs": […]} under a key, left out when
 * there is none. */
int pr_mlperf_run_json(const char *dir, struct pr_json_writer *jb,
                       const char *key, struct pr_err *err) PR_MUST_CHECK;

/* Of one experiment, as its result.json has it (with "params" and "results");
 * dir is its folder. *ret_asked: whether it asks for the rules at all. */
int pr_mlperf_result_judge(const char *dir, const struct pr_value *result,
                           struct pr_arena *a, struct pr_mlperf *ret,
                           bool *ret_asked, struct pr_err *err) PR_MUST_CHECK;

#endif
