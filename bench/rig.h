/*
 * What a benchmark of data needs: sections that each run in a process and a
 * folder of their own, which are gone afterwards whatever happened; ways of
 * doing the same thing, measured in turn; a Python program to compare with; and
 * a line for each figure. A figure that is missed is said, and is no failure.
 */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "bench.h"

#include <stdbool.h>

struct bench_section {
    const char *name;
    void (*run)(const char *dir); /* dir is empty, and removed afterwards */
    bool in_memory;               /* dir is in /dev/shm */
};

/* argv: [PEERS [SECTION]...]. PEERS is the folder of the Python programs.
 * sections ends with one without a name. Returns what main returns. */
int bench_sections(int argc, char **argv, const struct bench_section *sections);

/* The folder of the Python programs. */
const char *bench_peers(void);

void bench_remove_tree(const char *path);

/* Says why and ends the section: something is broken. */
_Noreturn void bench_die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- ways */

/* Seconds since some moment; with BENCH_CLOCK=cpu those that the processor
 * worked for this process, for a machine that has other things to do. */
double bench_time(void);
bool bench_is_cpu_clock(void);

struct bench_way {
    const char *name;
    double (*once)(void *ctx); /* does it once; seconds, negative: it cannot */
    void *ctx;
    double best; /* seconds, of all rounds; negative: it cannot */
};

/* Every way in each round, one after another, on a disk that has nothing left
 * to write. With $BENCH_OURS those that are called ours. */
void bench_rounds(struct bench_way *ways, size_t n, int rounds);

/* Says so where one of them did not run; whether ours did. */
bool bench_is_measured(const char *what, const struct bench_way *ours,
                       const struct bench_way *other);

/* A row of rates, best of rounds; goal 0: none. bytes are those of one round.
 */
void bench_ratio(const char *what, const struct bench_way *ours,
                 const struct bench_way *other, double bytes, double goal);

/* The same of seconds; scale 1e3 and "ms". */
void bench_times(const char *what, const struct bench_way *ours,
                 const struct bench_way *other, double scale, const char *unit,
                 double goal);

/* ---- Python programs that time themselves */

/* Started once, then told to go; each time it answers with its seconds. */
struct bench_peer {
    pid_t pid;
    FILE *in, *out;
    double extra; /* a second number of the last answer; 0: none */
};

/* By $PYTHON, or python3. False, and said why, when it cannot run here. args
 * ends with NULL. */
bool bench_peer_start(struct bench_peer *p, const char *script,
                      const char *const *args);
double bench_peer_once(void *peer); /* as struct bench_way wants it */
void bench_peer_stop(struct bench_peer *p);

/* ---- memory */

/* The most that this process had in memory so far, in MB (10^6). */
double bench_peak_mb(void);

#endif
