/*
 * What the benchmarks share: time a program with what it took, medians, and a
 * line for each figure. Two ways are always measured in turn, so that a slow
 * moment of the machine strikes both.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline int bench_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline double bench_median(double *samples, size_t n)
{
    qsort(samples, n, sizeof *samples, bench_order);
    return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

struct bench_cost {
    double seconds;
    double peak_mb;
};

/* Runs a program to its end, its stdout to the file out. */
static inline struct bench_cost bench_program(char *const *argv,
                                              const char *out)
{
    struct rusage usage;
    double start = bench_now();
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(fd, 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) == 127) {
        fprintf(stderr, "cannot run %s\n", argv[0]);
        exit(1);
    }
    return (struct bench_cost){bench_now() - start,
                               (double)usage.ru_maxrss / 1024};
}

/* "name: ours 1.2 ms, bare 0.9 ms, ratio 1.33 (at most 3)". */
static inline void bench_line(const char *name, const char *ours_is,
                              double ours, const char *other_is, double other,
                              double scale, const char *unit, double limit)
{
    printf("%s: %s %.3f %s, %s %.3f %s, ratio %.2f (wanted: at most %.1f)\n",
           name, ours_is, ours * scale, unit, other_is, other * scale, unit,
           ours / other, limit);
}

#endif
