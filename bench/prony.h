/*
 * The program itself, started as a user starts it, and what it reports. Rates
 * are in samples: a way (rig.h) takes the seconds of one sample.
 */
#ifndef BENCH_PRONY_H
#define BENCH_PRONY_H

#include "base/mem.h"
#include "base/value.h"
#include "rig.h"

/* argv: PRONY BARE [PEERS [SECTION]...]; the rest is as bench_sections has it.
 * BARE is the program that does nothing. */
int bench_prony_sections(int argc, char **argv,
                         const struct bench_section *sections);
const char *bench_bare(void);

/* ---- runs */

struct bench_run {
    const char *dir;   /* of the section: it gets run and run.json */
    char params[2048]; /* targets and NAME=VALUE, blanks between them */
    bool one_core;
    /* Of the last time: */
    struct pr_arena *arena;
    struct pr_value results;
    double seconds; /* from its start to its end */
};

void bench_run_init(struct bench_run *r, const char *dir, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "prony run …"; false, and said why, when it failed. */
bool bench_run_do(struct bench_run *r);

/* A number of the results; the section ends when there is none. */
double bench_run_number(const struct bench_run *r, const char *name);
double bench_run_once(void *run); /* as struct bench_way wants it */

/* Path of result.json of the last time, for other programs. */
void bench_run_file(const struct bench_run *r, char *ret, size_t size);

/* "prony generate …". */
void bench_generate(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Runs a program to its end; its status. */
int bench_spawn(char *const *argv, const char *out, bool one_core);

/* Value of a JSON file. NULL, and said why: it is none. */
const struct pr_value *bench_json(struct pr_arena *a, const char *path);

/* ---- figures */

/* The way that was fastest. */
const struct bench_way *bench_fastest(const struct bench_way *ways, size_t n);

/* A row of samples a second. */
void bench_samples(const char *what, const struct bench_way *ours,
                   const struct bench_way *other, double goal);

/* A row of one figure. goal 0: none. */
void bench_at_least(const char *what, double value, const char *unit,
                    double goal);
void bench_at_most(const char *what, double value, const char *unit,
                   double goal);

#endif
