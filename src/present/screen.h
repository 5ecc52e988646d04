/*
 * Text for a terminal: made harmless, measured in columns, and cut to fit. Text
 * from logs and configs goes through here before it reaches a screen.
 */
#ifndef PR_PRESENT_SCREEN_H
#define PR_PRESENT_SCREEN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Columns of valid UTF-8 text without control characters. */
size_t pr_screen_columns(const char *s, size_t len);

/* Appends s so that it shows in one line and steers nothing: control
 * characters as \n, \t, \x1b, those that turn the direction of text as
 * \u202e, what is not UTF-8 as U+FFFD. */
void pr_screen_clean(struct pr_buf *out, const char *s, size_t len);

/* Appends clean text, at most columns wide: when it is longer, cut, with an
 * ellipsis (three points when ascii) as its last columns. Returns the columns
 * it took. */
size_t pr_screen_cut(struct pr_buf *out, const char *s, size_t len,
                     size_t columns, bool ascii);

void pr_screen_blanks(struct pr_buf *out, size_t n);

/* The code point of a valid sequence of n bytes. */
unsigned pr_screen_code_point(const char *s, size_t n);

#endif
