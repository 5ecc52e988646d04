/* Time: a monotonic clock to measure with, a wall clock to write down. */
#ifndef PR_BASE_CLOCK_H
#define PR_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t pr_clock_ns(void);      /* CLOCK_MONOTONIC */
uint64_t pr_wall_clock_ns(void); /* CLOCK_REALTIME */

/* Sleeps until this time of pr_clock_ns, or until soon after *stop became true.
 * stop may be NULL. */
void pr_sleep_until(uint64_t ns, const bool *stop);

/* "2026-11-15T22:17:02.123456Z"; out needs 32 bytes. Returns out. */
const char *pr_time_text(char out[static 32], uint64_t wall_ns);

/* "2026-11-15 22:17:02.123456", local, as Python's str(datetime.now()). */
const char *pr_time_local(char out[static 32], uint64_t wall_ns);

/* "20261115T221702Z": for names of folders. */
const char *pr_time_name(char out[static 32], uint64_t wall_ns);

#endif
