/* Words for a run that has not come to its end. */
#ifndef PR_PRESENT_REPORT_SUITE_JSON_H
#define PR_PRESENT_REPORT_SUITE_JSON_H

#include "analyse/run/run_data.h"
#include "base/buf.h"
#include "base/json/json_write.h"

/* "2 of 4 experiments are missing; 1 had begun: NAME"; names as they are, to be
 * made safe by whoever shows them. */
void pr_unfinished_text(const struct pr_run_unfinished *u, struct pr_buf *out);

/* The same as a map. */
void pr_unfinished_json(const struct pr_run_unfinished *u,
                        struct pr_json_writer *jb, const char *key);

#endif
