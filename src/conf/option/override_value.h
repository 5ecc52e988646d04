/* The value side of an override; for override.c. */
#ifndef PR_CONF_OVERRIDE_VALUE_H
#define PR_CONF_OVERRIDE_VALUE_H

#include "base/err.h"
#include "base/value.h"

/* Reads text, which is what stands after the '='; arg is the whole argument,
 * for messages, and name the parameter it sets. Text is in the arena. */
int pr_override_read_value(const char *text, const char *arg, const char *name,
                           struct pr_arena *a, struct pr_value *ret_value,
                           struct pr_err *err) PR_MUST_CHECK;

/* Fails with PR_E_USAGE, quoting the argument (shortened) and what is wrong. */
int pr_override_fail(struct pr_err *err, const char *arg, const char *fmt, ...)
    PR_PRINTF(3, 4);

#endif
