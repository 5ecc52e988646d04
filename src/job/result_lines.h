/*
 * What a job says on its log, for programs to read: measures, warnings, and the
 * log lines of DLIO.
 */
#ifndef PR_JOB_RESULT_LINES_H
#define PR_JOB_RESULT_LINES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json_write.h"

/* ---- DLIO's log while it grows: lines are added to a text and shown, that is
 * written to stdout, as they fall due; what was shown is kept for dlio.log, up
 * to a size that fits in memory */

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

/* ---- measures: each is a metric line of its own, or a member of an object. A
 * list of measures is written once and serves both. */

struct pr_result_lines {
    struct pr_buf *lines;     /* NULL: into the object */
    struct pr_json_writer jb; /* of the line */
    struct pr_json_writer *at;
};

void pr_result_lines_init(struct pr_result_lines *k, struct pr_buf *lines);
void pr_result_lines_init_object(struct pr_result_lines *k,
                                 struct pr_json_writer *jb);

/* Around a value that is put into k->at: begin returns its key. */
const char *pr_result_lines_begin(struct pr_result_lines *k, const char *name);
void pr_result_lines_end(struct pr_result_lines *k);

/* A number that is not finite and a text that is NULL are left out. */
void pr_result_lines_put_float(struct pr_result_lines *k, const char *name,
                               double f);
void pr_result_lines_put_uint(struct pr_result_lines *k, const char *name,
                              uint64_t u);
void pr_result_lines_put_bool(struct pr_result_lines *k, const char *name,
                              bool b);
void pr_result_lines_put_str(struct pr_result_lines *k, const char *name,
                             const char *s);

/* ---- warnings of a workload: collected as lines of text, told as lines of the
 * log that results are read from */

void pr_warnings_put(const struct pr_buf *lines, struct pr_buf *out);

#endif
