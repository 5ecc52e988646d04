/* Finding things in the bytes of a log, many at a time. */
#ifndef PR_RECORD_LOGLINE_FIND_H
#define PR_RECORD_LOGLINE_FIND_H

#include <stddef.h>
#include <stdint.h>

/* The first "__"; NULL: there is none. */
const char *pr_log_find_mark(const char *p, const char *end);

/* The first \n or \r; NULL: there is none. */
const char *pr_log_find_end(const char *p, const char *end);

/* After the last \n or \r, or p. */
const char *pr_log_last_line(const char *p, const char *end);

/* How many lines end here: with \n, \r\n or \r. */
uint64_t pr_log_count_ends(const char *p, const char *end);

#endif
