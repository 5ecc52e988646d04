/* Reading clocks and writing times down. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define SLICE_NS 50000000u

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

/* In slices, to notice when it is stopped. */
void pr_sleep_until(uint64_t ns, const bool *stop)
{
    uint64_t now = pr_clock_ns();

    while (now < ns && !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED))) {
        uint64_t end = ns - now > SLICE_NS ? now + SLICE_NS : ns;
        struct timespec at = {(time_t)(end / 1000000000),
                              (long)(end % 1000000000)};

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) ==
               EINTR)
            continue;
        now = pr_clock_ns();
    }
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
