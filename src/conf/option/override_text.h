/* Quoted and bare text in the value of an override; for override_value.c. */
#ifndef PR_CONF_OVERRIDE_TEXT_H
#define PR_CONF_OVERRIDE_TEXT_H

#include "base/err.h"
#include "base/value.h"
#include "conf/option/override_value.h"

struct pr_override_in {
    const char *pos;        /* NUL-terminated */
    const char *arg, *name; /* for messages */
    struct pr_arena *arena;
    struct pr_err *err;
    char *scratch; /* room for all the text, decoded */
    bool no_calls; /* no ")$" from here on */
};

/* At a quote: the text up to its partner. */
int pr_override_read_quoted(struct pr_override_in *in,
                            struct pr_value *v) PR_MUST_CHECK;

/* Up to one of the stops outside brackets: a number, true, false, null, or
 * text. Blanks at its end do not count. */
int pr_override_read_bare(struct pr_override_in *in, const char *stops,
                          struct pr_value *v) PR_MUST_CHECK;

/* The same, but always text. */
int pr_override_read_bare_key(struct pr_override_in *in, const char *stops,
                              struct pr_value *ret_text) PR_MUST_CHECK;

/* Adds the hint to use quotes to a failure; returns rc. */
int pr_override_hint_quotes(struct pr_override_in *in, int rc);

#endif
