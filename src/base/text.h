/* Short texts: names of files, slips of typing, plots, UTF-8, comparing. */
#ifndef PR_BASE_TEXT_H
#define PR_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- names that strangers gave and that become names of files or folders */

/* Whether it can be one as it is: it is not empty, stays in its folder (no
 * '/'), is not hidden (no '.' at the start, and so neither "." nor ".."), and
 * has no control characters. */
bool pr_filename_is_safe(const char *name);

/* Line breaks, escape sequences and the like, in UTF-8. */
bool pr_filename_has_control(const char *s);

/* Puts '_' for what cannot be in one; the length stays. */
void pr_filename_clean(char *name, size_t len);

/* ---- "did you mean …?"
 * The candidate nearest to what was typed, if it is near enough that a typing
 * slip explains it. */

struct pr_nearest {
    const char *typed;
    const char *best; /* NULL: none near enough so far. Borrowed */
    size_t distance;
};

void pr_nearest_init(struct pr_nearest *n, const char *typed);
void pr_nearest_offer(struct pr_nearest *n, const char *candidate);

/* ---- plots
 * On one line: numbers as blocks of eight heights, ▇▅▃▂▁. */

/* At most width blocks, each the mean of some numbers that follow one another;
 * the lowest block is the smallest of them. Numbers are finite. */
void pr_spark_write(const double *numbers, size_t count, unsigned width,
                    struct pr_buf *out);

/* ---- UTF-8, as far as we need it: telling valid from invalid, writing */

/* Bytes of the valid sequence at s (1 to 4), or 0 when it is not one. */
size_t pr_utf8_len(const char *s, size_t avail);

/* Bytes of the longest start of a text that is whole characters and fits into
 * room bytes; it ends before a NUL and before what is not valid. */
size_t pr_utf8_fit(const char *s, size_t len, size_t room);

/* Writes a code point; returns the bytes written (1 to 4). */
size_t pr_utf8_put(char out[static 4], unsigned code);

/* Terminal columns of valid text: one for each code point. */
size_t pr_utf8_columns(const char *s);

/* ---- comparing */

bool pr_text_equal(const char *a, const char *b);
bool pr_text_starts_with(const char *s, const char *start);
bool pr_text_ends_with(const char *s, const char *end);

/* Whether a text that need not end with a NUL is this one. */
bool pr_text_is(const char *s, size_t len, const char *word);

#endif
