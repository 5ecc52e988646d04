/*
 * For programs that Prony runs: says figures, rates and progress while they
 * come, one JSON object a line. Nothing to link with, and nothing happens when
 * nobody listens.
 *
 *     int prony = prony_channel_open();
 *     prony_rate(prony, rate, "images/s", "train");
 *     prony_say(prony, "{\"progress\": [%d, %d]}", step, steps);
 *     prony_say(prony, "{\"time\": %.9g, \"loss\": %.9g}", time_ms, loss);
 *
 * A descriptor serves any number of threads and forked processes: a line is
 * one write(). docs/channel.md says what the lines mean.
 */
#ifndef PRONY_CHANNEL_H
#define PRONY_CHANNEL_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__)
#define PRONY_CHANNEL_PRINTF __attribute__((format(printf, 2, 3), unused))
#else
#define PRONY_CHANNEL_PRINTF
#endif

/* The descriptor to say things on; -1: nobody listens. The one that was
 * inherited, if it is still that file and not another one of the same number;
 * else the file is opened by its path. */
static inline int prony_channel_open(void)
{
    const char *path = getenv("PRONY_CHANNEL"), *number = getenv("PRONY_FD");
    struct stat there, here;
    int fd = number ? atoi(number) : -1;

    if (!path)
        return -1;
    if (fd > 2 && fstat(fd, &here) == 0 && stat(path, &there) == 0 &&
        here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return fd;
    return open(path, O_WRONLY | O_APPEND);
}

/* Says one line: a JSON object, as printf() makes it, without a line end. 0, or
 * -1 when it has over 4000 bytes or cannot be written. */
static inline int prony_say(int fd, const char *format,
                            ...) PRONY_CHANNEL_PRINTF;
static inline int prony_say(int fd, const char *format, ...)
{
    char line[4096];
    va_list args;
    int n;

    if (fd < 0)
        return 0;
    va_start(args, format);
    n = vsnprintf(line, 4001, format, args);
    va_end(args);
    if (n < 0 || n > 4000)
        return -1;
    line[n++] = '\n';
    return write(fd, line, (size_t)n) == n ? 0 : -1;
}

/* Says a rate of now: how fast it went since the one before. units and task
 * are plain text without quotes and backslashes; NULL: none. */
static inline int prony_rate(int fd, double rate, const char *units,
                             const char *task)
{
    long long seconds;
    long micros = 0;

    if (fd < 0)
        return 0;
#ifdef CLOCK_REALTIME
    {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        seconds = now.tv_sec;
        micros = now.tv_nsec / 1000;
    }
#else /* strict C has no better clock */
    seconds = time(NULL);
#endif
    return prony_say(fd, "{%s%s%s%s%s%s\"time\": %lld.%06ld, \"rate\": %.9g}",
                     task ? "\"task\": \"" : "", task ? task : "",
                     task ? "\", " : "", units ? "\"units\": \"" : "",
                     units ? units : "", units ? "\", " : "", seconds, micros,
                     rate);
}

#endif
