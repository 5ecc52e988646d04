/* What an experiment leaves behind: its figures, and what its log says. */
#ifndef PR_RUN_METRICS_H
#define PR_RUN_METRICS_H

#include "run/attempt.h"

/* Appends the members of the results map: our own figures of the process, then
 * what the log's __NAME__= lines say (the last one of a name counts; one that
 * has the name of a figure of ours is called program.NAME). Warnings are
 * appended as JSON strings. A log that is not there is fine. */
int pr_metrics_collect(const struct pr_attempt *a, const char *log_path,
                       struct pr_buf *results, struct pr_buf *warnings,
                       struct pr_err *err) PR_MUST_CHECK;

/* Adds a warning to such a list. */
void pr_metrics_warn(struct pr_buf *warnings, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The last lines of the log, safe to show. */
int pr_metrics_tail(const char *log_path, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

/* Copies the log to where exp.log_file says, but not into the run directory
 * dir: its files are ours. */
int pr_metrics_copy_log(const char *log_path, const char *to, const char *dir,
                        struct pr_err *err) PR_MUST_CHECK;

/* exp.rerun: whether the file exp.log_file makes a new run needless. */
bool pr_metrics_done_before(const char *log_file, const char *rerun);

#endif
