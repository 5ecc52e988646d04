/*
 * Filling a struct pr_err in one line, so that a failing function reads
 *     return pr_fail(err, PR_E_CONF, where, "'%s' wants a number", name);
 * Every function here accepts err == NULL: the caller wants the code alone.
 */
#ifndef PR_BASE_ERR_H
#define PR_BASE_ERR_H

#include "prony/error.h"

/* Clears err, fills it and returns code. */
int pr_fail(struct pr_err *err, int code, const char *where, const char *fmt,
            ...) PR_PRINTF(4, 5);

/* As pr_fail; adds the text of errno, a hint where a limit of the system was
 * met, and keeps errno itself. */
int pr_fail_errno(struct pr_err *err, int code, const char *where,
                  const char *fmt, ...) PR_PRINTF(4, 5);

/* As pr_fail, with "name:line:col" as the place; a col or line of 0 is left
 * out. */
int pr_fail_at(struct pr_err *err, int code, const char *name, unsigned line,
               unsigned col, const char *fmt, ...) PR_PRINTF(6, 7);

int pr_fail_nomem(struct pr_err *err);

/* Says it better: another place and text, the same code and hint. For a caller
 * that knows more. Returns the code. */
int pr_reword(struct pr_err *err, const char *where, const char *fmt, ...)
    PR_PRINTF(3, 4);

/* Adds what to try next; keeps the rest. Returns the code of the failure it
 * belongs to, also when err is NULL: call it right after pr_fail. */
int pr_hint(struct pr_err *err, const char *fmt, ...) PR_PRINTF(2, 3);

/* Ends the function with the code of a call that failed: where all that it
 * owns has a cleanup attribute, and nothing is left to do. */
#define PR_TRY(call)            \
    do {                        \
        int pr_try_rc = (call); \
        if (pr_try_rc)          \
            return pr_try_rc;   \
    } while (0)

#endif
