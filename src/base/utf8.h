/* UTF-8, as far as we need it: telling valid from invalid, and writing. */
#ifndef PR_BASE_UTF8_H
#define PR_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the valid sequence at s (1 to 4), or 0 when it is not one. */
size_t pr_utf8_len(const char *s, size_t avail);

/* Bytes of the longest start of a text that is whole characters and fits into
 * room bytes; it ends before a NUL and before what is not valid. */
size_t pr_utf8_fit(const char *s, size_t len, size_t room);

/* Writes a code point; returns the bytes written (1 to 4). */
size_t pr_utf8_put(char out[static 4], unsigned code);

/* Terminal columns of valid text: one for each code point. */
size_t pr_utf8_columns(const char *s);

#endif
