/*
 * Our engine in a benchmark: as a contender in a process of its own
 * (contender.h), and its convolutions, in a training and each alone.
 */
#ifndef BENCH_NATIVE_H
#define BENCH_NATIVE_H

#include "nn/net.h"

/* The definition of a bundled model; ends the program when it cannot. It is
 * never freed. */
const struct pr_model *bench_model(const char *peers, const char *name);

/* A net of it with a batch of noise in place. */
struct pr_net *bench_net(const struct pr_model *model, bool training,
                         bool profile, uint64_t batch, unsigned threads);

/* Process of a contender. argv: PEERS MODEL training|inference BATCH THREADS.
 * Returns what main returns. */
int bench_native_main(int argc, char **argv);

/* Threads, most multiply-adds and oneDNN of this machine, as a line. */
int bench_native_about(unsigned threads);

/* Per layer what a step takes, after some steps. argv as above, and STEPS. */
int bench_native_layers(int argc, char **argv);

#endif
