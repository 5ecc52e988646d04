/*
 * What a value written by hand means, on the command line or in the
 * environment: JSON, and anything else is text. For a parameter that is text by
 * its option table what looks like a number stays as it was written: 1.10 is a
 * version, not 1.1.
 */
#ifndef PR_CONF_LITERAL_H
#define PR_CONF_LITERAL_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

#include <stdbool.h>

/* *ret is in the arena. *ret_slip (may be NULL) says what is wrong with text
 * that was surely meant as JSON, having its brackets or quotes; empty
 * otherwise. PR_E_NOMEM. */
int pr_literal_read(const char *name, const char *text, size_t len,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *ret_slip, struct pr_err *err) PR_MUST_CHECK;

/* ---- text to arguments
 * By rules of our own that look like a shell's: blanks separate, '…' keeps
 * everything, "…" keeps everything but \" and \\, a backslash keeps the next
 * character. Nothing is expanded and no shell runs. */

/* *ret_words is NULL-terminated and in the arena. PR_E_CONF for a quote that
 * is not closed. */
int pr_words_split(const char *text, struct pr_arena *a,
                   const char ***ret_words, size_t *ret_count,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether a word begins an option, as Python's argparse sees it: not "-" or
 * "--", a number such as -1 or -.5, or text with a blank before any '='. */
bool pr_word_is_option(const char *word);

#endif
