/*
 * DLIO's log while it grows: lines are added to a text and shown, that is
 * written to stdout, as they fall due; what was shown is kept for dlio.log, up
 * to a size that fits in memory.
 */
#ifndef PR_JOB_EMULATE_LOG_H
#define PR_JOB_EMULATE_LOG_H

#include "base/buf.h"
#include "base/err.h"

struct pr_job_log {
    struct pr_buf text; /* to be shown */
    struct pr_buf kept;
    bool is_cut; /* not all was kept */
};

void pr_job_log_init(struct pr_job_log *l);
void pr_job_log_free(struct pr_job_log *l);

/* Writes what was added since. */
int pr_job_log_print(struct pr_job_log *l, struct pr_err *err) PR_MUST_CHECK;

/* Writes lines that are not DLIO's. */
int pr_job_log_write(const struct pr_buf *lines,
                     struct pr_err *err) PR_MUST_CHECK;

/* The file, of what was shown. */
int pr_job_log_save(const struct pr_job_log *l, const char *path,
                    struct pr_err *err) PR_MUST_CHECK;

#endif
