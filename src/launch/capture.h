/* A short question to another program: its answer, within a time. */
#ifndef PR_LAUNCH_CAPTURE_H
#define PR_LAUNCH_CAPTURE_H

#include "base/buf.h"
#include "base/err.h"

/* Runs argv (PATH is ours) without a shell, stdin from nowhere, stdout and
 * stderr into out (which bounds it: what fits is kept, out->over says that
 * there was more; may be NULL). The wait status, or PR_E_UNAVAIL: cannot be
 * started; PR_E_TIMEOUT: ended after timeout_s (0: no limit), with its whole
 * process group. */
int pr_capture(const char *const *argv, double timeout_s, struct pr_buf *out,
               int *ret_wait_status, struct pr_err *err) PR_MUST_CHECK;

#endif
