/*
 * Programs that do the same work and take turns: each is started once, gets
 * ready, and sleeps until it is told to do some steps; it answers with the
 * seconds of each. So all are warm, and a slow minute of the machine strikes
 * all of them. A contender says lines "about TEXT" and "params NUMBER", then
 * "ready" right before its first step, or "cannot TEXT" and ends. A line with a
 * number asks for that many steps; no more input, to end. Where a step takes
 * microseconds, what answers as one is the mean of many.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "rig.h"

enum { BENCH_STEPS = 4096 };

struct bench_contender {
    char name[64];
    const char *dir; /* of the section: it gets what is said on stderr */
    pid_t pid;       /* 0: it does not run */
    FILE *in, *out;
    char about[256];
    double params;  /* learned numbers of its network; 0: not said */
    double start_s; /* from fork to "ready" */
    int threads;    /* that it was told to use; 0: nobody said */
    double steps[BENCH_STEPS];
    size_t count;
    double wall_s, cpu_s; /* of turns that count */
};

/* env: NAME=VALUE for it alone, ends with NULL. False, and said why, when it
 * cannot run here. */
bool bench_contender_start(struct bench_contender *c, const char *dir,
                           const char *name, const char *const *argv,
                           const char *const *env);
void bench_contender_stop(struct bench_contender *c);

/* Some steps. Those that do not count warm it up. */
bool bench_contender_turn(struct bench_contender *c, int steps, bool counts);

/* In turn, from the first to the last and back again, from round to round. All
 * were warm before. Says so when one works while it is another's turn. */
void bench_take_turns(struct bench_contender *const *all, size_t n, int rounds,
                      int steps);

/* Seconds of the fastest step, and of the one in the middle; negative: none. */
double bench_contender_best(const struct bench_contender *c);
double bench_contender_median(const struct bench_contender *c);

/* The most that it had in memory so far, in bytes. */
double bench_contender_memory(const struct bench_contender *c);

#endif
