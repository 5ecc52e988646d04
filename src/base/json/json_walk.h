/* Counting bytes of a document: lines, commas. The walk is in json.h. */
#ifndef PR_BASE_JSON_WALK_H
#define PR_BASE_JSON_WALK_H

#include <stddef.h>

size_t pr_count_byte(const char *p, const char *end, char c);

#endif
