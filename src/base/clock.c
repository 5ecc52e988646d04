/* Reading clocks and writing times down. */
#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_NS = 50000000, GLANCE_MS = 1 };

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t pr_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t pr_wall_clock_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

static struct timespec ns_to_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000),
                             (long)(ns % 1000000000)};
}

void pr_sleep_on(struct pr_clock *c, const _Atomic uint32_t *word,
                 uint32_t seen, uint64_t until_ns)
{
    struct timespec at = ns_to_timespec(until_ns);

    if (c)
        c->sleep(c, word, seen, until_ns);
    else if (word)
        syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen,
                until_ns ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
    else
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

void pr_wake(struct pr_clock *c, const _Atomic uint32_t *word, uint32_t count)
{
    if (c)
        c->wake(c, word, count);
    else
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE,
                count < INT_MAX ? (int)count : INT_MAX, NULL, NULL, 0);
}

/* In slices, to notice when it is stopped. */
void pr_sleep_until(struct pr_clock *c, uint64_t until_ns, const bool *stop)
{
    uint64_t now = pr_now(c);

    while (now < until_ns &&
           !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED))) {
        pr_sleep_on(c, NULL, 0,
                    until_ns - now > SLICE_NS ? now + SLICE_NS : until_ns);
        now = pr_now(c);
    }
}

int pr_poll_until(struct pr_clock *c, struct pollfd *fds, unsigned count,
                  uint64_t until_ns)
{
    uint64_t now = pr_now(c);
    uint64_t ms = until_ns <= now ? 0 : (until_ns - now + 999999) / 1000000;
    int n;

    if (!c)
        return poll(fds, count, ms < INT_MAX ? (int)ms : INT_MAX);
    n = poll(fds, count, ms ? GLANCE_MS : 0);
    if (n == 0)
        pr_sleep_until(c, until_ns, NULL);
    return n;
}

const char *pr_time_text(char out[static 32], uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    char fraction[12];
    struct tm t;

    gmtime_r(&seconds, &t);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(fraction, sizeof fraction, ".%06uZ",
             (unsigned)(wall_ns % 1000000000u / 1000));
    for (int i = 0; i < 9; i++)
        out[19 + i] = fraction[i];
    return out;
}

const char *pr_time_local(char out[static 32], uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm t;
    size_t n;

    localtime_r(&seconds, &t);
    n = strftime(out, 24, "%Y-%m-%d %H:%M:%S", &t);
    snprintf(out + n, 32 - n, ".%06u",
             (unsigned)(wall_ns % 1000000000u / 1000));
    return out;
}

const char *pr_time_name(char out[static 32], uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm t;

    gmtime_r(&seconds, &t);
    strftime(out, 32, "%Y%m%dT%H%M%SZ", &t);
    return out;
}
