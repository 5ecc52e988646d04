/* Counting bytes: lines, commas. */
#ifndef PR_BASE_JSON_WALK_H
#define PR_BASE_JSON_WALK_H

#include <stddef.h>

size_t pr_count_byte(const char *p, const char *end, char c);

#endif
