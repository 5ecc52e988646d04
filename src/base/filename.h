/* Names that strangers gave and that become names of files or folders. */
#ifndef PR_BASE_FILENAME_H
#define PR_BASE_FILENAME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it can be one as it is: it is not empty, stays in its folder (no
 * '/'), is not hidden (no '.' at the start, and so neither "." nor ".."), and
 * has no control characters. */
bool pr_filename_is_safe(const char *name);

/* Line breaks, escape sequences and the like, in UTF-8. */
bool pr_filename_has_control(const char *s);

/* Puts '_' for what cannot be in one; the length stays. */
void pr_filename_clean(char *name, size_t len);

#endif
