/*
 * The log of an experiment that a launcher runs by DLBS's contract: the file
 * of --exp_log_file begins with DLBS's head, the launcher appends to it, and
 * what it says there decides. docs/launchers.md.
 */
#ifndef PR_RUN_CONTRACT_H
#define PR_RUN_CONTRACT_H

#include "run/attempt.h"

/* Appends the head: the command, and a line __NAME__=JSON for each parameter
 * that launchers see. */
void pr_contract_write_header(const struct pr_job *job,
                              const struct pr_start *start, struct pr_buf *out);

/* Begins start->log_file and log.txt, which is log_path, with the head; what
 * was in them is gone, so that results of an earlier run never count. A device
 * or pipe is left to the launcher. Nothing to do for a start without one. */
int pr_contract_begin(const struct pr_job *job, const struct pr_start *start,
                      const char *log_path, struct pr_err *err) PR_MUST_CHECK;

/* Whether start->log_file is a file of its own, beside log.txt. */
bool pr_contract_is_apart(const struct pr_start *start, const char *log_path);

/* After the end: appends more (NULL or empty: nothing) to the log, and what
 * follows the head in start->log_file to log.txt if it is apart. For any
 * start. */
int pr_contract_gather(const struct pr_job *job, const struct pr_start *start,
                       const char *log_path, const struct pr_buf *more,
                       struct pr_err *err) PR_MUST_CHECK;

/* For a start with log_file, what log.txt and the channel say beyond the exit
 * status: exp.status skipped or failure, and no results.time above 0, which is
 * a failure. A log that cannot be read changes nothing. */
void pr_contract_judge(const struct pr_job *job, const char *log_path,
                       const char *channel_path, struct pr_attempt *a);

#endif
