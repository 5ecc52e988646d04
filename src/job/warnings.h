/* Warnings of a workload: collected as lines of text, told as lines of the log
 * that results are read from. */
#ifndef PR_JOB_WARNINGS_H
#define PR_JOB_WARNINGS_H

#include "base/buf.h"

void pr_warnings_put(const struct pr_buf *lines, struct pr_buf *out);

#endif
