/*
 * What a value written by hand means, on the command line or in the
 * environment: JSON, and anything else is text. For a parameter that is text by
 * its option table what looks like a number stays as it was written: 1.10 is a
 * version, not 1.1.
 */
#ifndef PR_CONF_LITERAL_H
#define PR_CONF_LITERAL_H

#include "base/err.h"
#include "base/value.h"

/* *ret is in the arena. *ret_slip (may be NULL) says what is wrong with text
 * that was surely meant as JSON, having its brackets or quotes; empty
 * otherwise. PR_E_NOMEM. */
int pr_literal_read(const char *name, const char *text, size_t len,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *ret_slip, struct pr_err *err) PR_MUST_CHECK;

#endif
