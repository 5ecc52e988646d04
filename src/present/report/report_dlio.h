/* Results in DLIO's form as text and data: the report of its post-processor,
 * and what we read from the same files. */
#ifndef PR_PRESENT_REPORT_DLIO_H
#define PR_PRESENT_REPORT_DLIO_H

#include "analyse/results/read_dlio.h"
#include "base/json/json_write.h"
#include "present/table/table.h"

/* The report DLIO_NAME_report.txt: header, overall, then each epoch. */
void pr_dlio_report_text(const struct pr_dlio_run *run, struct pr_buf *out);

/* "DLIO_unet3d_report.txt"; a name that could leave the folder is made
 * harmless. */
void pr_dlio_report_name(const struct pr_dlio_run *run, struct pr_buf *out);

/* One row a phase: how long, how busy, how fast, by our definitions and by
 * DLIO's. */
int pr_dlio_phase_table(const struct pr_dlio_run *run,
                        enum pr_table_format format,
                        const struct pr_table_style *style, struct pr_buf *out,
                        struct pr_err *err) PR_MUST_CHECK;

/* One row a rank, over all its training. */
int pr_dlio_rank_table(const struct pr_dlio_run *run,
                       enum pr_table_format format,
                       const struct pr_table_style *style, struct pr_buf *out,
                       struct pr_err *err) PR_MUST_CHECK;

/* Everything, as members of the object that is open. */
void pr_dlio_report_json(const struct pr_dlio_run *run,
                         struct pr_json_writer *jb);

#endif
