/*
 * What the benchmarks share: time a program with what it took, medians, and a
 * row for each figure. Two ways are always measured in turn, so that a slow
 * moment of the machine strikes both.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <fcntl.h>
#include <stdbool.h>
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

/* ---- rows of the scoreboard */

/*
 * A figure of ours, what it is held against, and its goal: here and nowhere
 * else. A goal is of the ratio, where there is another figure, else of ours.
 * The ratio is how many times as much ours is; of costs with at_least, how
 * many times as little.
 */
struct bench_row {
    const char *what, *unit;
    double ours;
    const char *ours_is; /* NULL: "ours" */
    const char *other_is;
    double other;             /* 0: there is none */
    bool is_cost;             /* less of ours is better */
    double at_least, at_most; /* the goal; 0: none */
    bool of_ours;             /* it is of ours, and the other to look at */
};

/* Prints it as a line, and adds it to the file $BENCH_ROWS as JSON. */
void bench_row(const struct bench_row *row);

/* A row of two times, seconds by scale: ours at most so many times as long. */
static inline void bench_line(const char *what, const char *ours_is,
                              double ours, const char *other_is, double other,
                              double scale, const char *unit, double limit)
{
    bench_row(&(struct bench_row){.what = what,
                                  .unit = unit,
                                  .ours_is = ours_is,
                                  .ours = ours * scale,
                                  .other_is = other_is,
                                  .other = other * scale,
                                  .is_cost = true,
                                  .at_most = limit});
}

/* Says what is not measured, and why: "skipped: …". */
void bench_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Comparing, not only ours against itself: false with $BENCH_OURS, where no
 * program but ours is wanted. */
bool bench_has_peers(void);

/* $BENCH_ROUNDS, or otherwise. */
int bench_round_count(int otherwise);

/* The same, but no more than those. */
size_t bench_rounds_of(size_t most);

#endif
