/*
 * Splitting text into arguments, by rules of our own that look like a shell's:
 * blanks separate, '…' keeps everything, "…" keeps everything but \" and \\,
 * a backslash keeps the next character. Nothing is expanded and no shell runs.
 */
#ifndef PR_CONF_WORDS_H
#define PR_CONF_WORDS_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>

/* *ret_words is NULL-terminated and in the arena. PR_E_CONF for a quote that
 * is not closed. */
int pr_words_split(const char *text, struct pr_arena *a,
                   const char ***ret_words, size_t *ret_count,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether a word begins an option, as Python's argparse sees it: not "-" or
 * "--", a number such as -1 or -.5, or text with a blank before any '='. */
bool pr_word_is_option(const char *word);

#endif
