/* What an experiment leaves behind: its figures, and what its log says. */
#ifndef PR_RUN_COLLECT_H
#define PR_RUN_COLLECT_H

#include "run/attempt.h"

/* Where an experiment left its words. */
struct pr_output_paths {
    const char *log_path;
    const char *channel_path;      /* NULL: it had none */
    const struct pr_value *params; /* a map; NULL: none */
};

/* Appends the members of the results map: our own figures of the process, then
 * what the log's __NAME__= lines and after them those of the channel say (the
 * last one of a name counts; one that has the name of a figure of ours is
 * called program.NAME). A line that only repeats a parameter is no result, one
 * that says another value is. rates (may be NULL) gets the channel's, warnings
 * are appended as JSON strings. Files that are not there are fine. */
int pr_collect_results(const struct pr_attempt *a,
                       const struct pr_output_paths *from,
                       struct pr_buf *results, struct pr_buf *rates,
                       struct pr_buf *warnings,
                       struct pr_err *err) PR_MUST_CHECK;

/* A copy with null where a number is not finite: JSON has no word for that. In
 * the arena, as far as it differs. False: out of memory. */
bool pr_collect_copy_finite(struct pr_arena *a, const struct pr_value *v,
                            struct pr_value *ret);

/* Adds a warning to such a list. */
void pr_collect_add_warning(struct pr_buf *warnings, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The last lines of the log, safe to show. */
int pr_collect_log_tail(const char *log_path, struct pr_buf *out,
                        struct pr_err *err) PR_MUST_CHECK;

/* PR_E_CONF: there is a file of somebody's that is not a log, which must not be
 * replaced by one. */
int pr_collect_check_log(const char *path, struct pr_err *err) PR_MUST_CHECK;

/* Copies the log to where exp.log_file says, but not into the run directory
 * dir: its files are ours. */
int pr_collect_copy_log(const char *log_path, const char *to, const char *dir,
                        const char *id, struct pr_err *err) PR_MUST_CHECK;

/* The folder of a file, made where it is missing. */
int pr_collect_make_folder(const char *path, struct pr_err *err) PR_MUST_CHECK;

/* Whether a file would lie in that folder or below it. */
bool pr_collect_is_inside(const char *path, const char *dir);

/* exp.rerun: whether the file exp.log_file makes a new run needless. */
bool pr_collect_is_done_before(const char *log_file, const char *rerun);

#endif
