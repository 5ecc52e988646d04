/*
 * Numbers as people write them: 1_000_000, 150k, 2GiB, 30s, 5m. And back:
 * "1.5 GB", "2 min 5 s".
 */
#ifndef PR_BASE_UNITS_H
#define PR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The nearest that there is: what does not fit is UINT64_MAX, or 0. */
static inline uint64_t pr_to_u64(double x)
{
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
}

/* Whole number with optional sign and underscores between digits. */
bool pr_parse_int(const char *s, int64_t *ret);

/* Number with point or exponent; underscores between digits allowed. */
bool pr_parse_float(const char *s, double *ret);

/* Bytes: k M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024; a B may
 * follow. "150k", "2GiB", "1.5M". */
bool pr_parse_size(const char *s, uint64_t *ret_bytes);

/* Seconds: "90", "1.5s", "250ms", "2m", "1h", "3d". */
bool pr_parse_seconds(const char *s, double *ret_s);

/* "512 B", "1.5 GB", "999 MB": powers of 1000. out needs 16 bytes. */
const char *pr_format_bytes(char out[static 16], uint64_t bytes);

/* "35 ms", "12.3 s", "4 min 05 s", "2 h 03 min". out needs 24 bytes. */
const char *pr_format_seconds(char out[static 24], double s);

#endif
