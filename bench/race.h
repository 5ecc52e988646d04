/*
 * One network in our engine, in PyTorch and in ONNX Runtime: contenders with
 * the same model, batch and threads, and lines that compare them.
 */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "contender.h"

/* Ours, PyTorch's, Debian's, ONNX Runtime. */
enum { BENCH_RACERS = 6 };

struct bench_race {
    const char *dir, *model;
    bool training;
    int batch, steps;   /* steps of a turn */
    int warmup;         /* steps of each before its first turn */
    int threads;        /* of those that are started next */
    int block_ms;       /* what answers as a step takes at least that */
    double items;       /* in a step's answer: rates are in these */
    const char *item;   /* "image" */
    char json[1100];    /* the model, for others */
    char batches[1100]; /* some batches, for others; "": they make noise */
    struct bench_contender all[BENCH_RACERS];
    struct bench_contender *runs[BENCH_RACERS]; /* those that take turns */
    size_t count;
    double params;
};

/* A number of the environment. */
int bench_number(const char *variable, int otherwise);
int bench_threads(void); /* $BENCH_THREADS, or 2 */

/* $BENCH_BATCH and $BENCH_STEPS are for trying things out. model may have
 * options behind its name (native.h). Writes the model, and batches if it has
 * data of its own, to the folder. */
void bench_race_init(struct bench_race *r, const char *dir, const char *model,
                     bool training, int batch, int steps);

/* Only starts them: those for a start. The program itself is ours. */
bool bench_race_start_ours(struct bench_race *r, struct bench_contender *c);
bool bench_race_start_torch(struct bench_race *r, struct bench_contender *c);

/* Starts one, warms it up and lets it take turns. NULL, and said why, when it
 * cannot run here; without ours the section ends. Debian's is left out where
 * it is what PyTorch is anyway. */
struct bench_contender *bench_race_ours(struct bench_race *r);
struct bench_contender *bench_race_torch(struct bench_race *r, const char *how);
struct bench_contender *bench_race_debian(struct bench_race *r);
struct bench_contender *bench_race_onnx(struct bench_race *r);

/* Each way of PyTorch's once ($BENCH_HOW: some of them), and again with one
 * thread where alone says so; the two fastest take turns from then on. ways
 * ends with NULL. */
void bench_race_heats(struct bench_race *r, const char *const *ways,
                      bool alone);

void bench_race_run(struct bench_race *r, int rounds);
void bench_race_end(struct bench_race *r);

/* The fastest of those whose name begins so; NULL: none ran. */
const struct bench_contender *bench_race_best(const struct bench_race *r,
                                              const char *prefix);

/* A line; other may be NULL. goal 0: none. */
void bench_race_compare(const struct bench_race *r,
                        const struct bench_contender *ours,
                        const struct bench_contender *other, double goal);

/* The same against the fastest of PyTorch's ways. */
void bench_race_compare_fastest(const struct bench_race *r,
                                const struct bench_contender *ours,
                                double goal);

#endif
