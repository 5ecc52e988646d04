/* Stepping through the tables of /proc: blanks, numbers, lines. All of them
 * stop at the NUL, so that a table cut short does no harm. */
#ifndef PR_MONITOR_SCAN_H
#define PR_MONITOR_SCAN_H

#include <stdint.h>
#include <string.h>

static inline const char *pr_scan_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* The whole number after blanks, and where it ends; 0 when there is none. A
 * sign in front is not understood. */
static inline const char *pr_scan_u64(const char *s, uint64_t *ret)
{
    uint64_t v = 0;

    s = pr_scan_blanks(s);
    for (; *s >= '0' && *s <= '9'; s++)
        v = 10 * v + (uint64_t)(*s - '0');
    *ret = v;
    return s;
}

/* Numbers that follow one another; how many there were. */
static inline unsigned pr_scan_all(const char **s, uint64_t *ret, unsigned max)
{
    unsigned n = 0;

    while (n < max) {
        const char *at = pr_scan_blanks(*s);

        if (*at < '0' || *at > '9')
            break;
        *s = pr_scan_u64(at, &ret[n++]);
    }
    return n;
}

/* The beginning of the next line, or the NUL. */
static inline const char *pr_scan_line(const char *s)
{
    const char *end = strchr(s, '\n');

    return end ? end + 1 : s + strlen(s);
}

/* How far a counter has come: 0 where it went back, as some do a little, and
 * those of 32 bits when they go round. */
static inline double pr_scan_gain(uint64_t now, uint64_t was)
{
    return now > was ? (double)(now - was) : 0;
}

#endif
