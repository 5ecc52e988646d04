/*
 * The inside of $(…)$: Python's expression language as far as DLBS's users
 * write it, by an evaluator of our own. It reaches no file, no shell and no
 * Python, and is bounded in steps, depth and memory.
 */
#ifndef PR_CONF_EXPR_H
#define PR_CONF_EXPR_H

#include "base/err.h"
#include "base/value.h"

/* Evaluates text[0..len) and appends str(result) to out, or on failure leaves
 * out as it was. Fails with PR_E_CONF: the message says what is wrong in terms
 * of the expression ("'+' cannot add a whole number and text"), its place is
 * left empty for the caller, who knows the file and line.
 * scratch is reset-able memory of the caller's; nothing in it is kept.
 * *ret_pure (may be NULL) is false when the next call may answer otherwise:
 * uuid.uuid4. The environment and the working directory do not change while a
 * plan is made. */
int pr_expr_eval(const char *text, size_t len, struct pr_arena *scratch,
                 struct pr_buf *out, bool *ret_pure,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
