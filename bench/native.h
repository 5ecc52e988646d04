/*
 * Our engine in a benchmark: as a contender in a process of its own
 * (contender.h), and its convolutions, in a training and each alone.
 */
#ifndef BENCH_NATIVE_H
#define BENCH_NATIVE_H

#include "nn/engine/net.h"

/* The definition of a bundled model; ends the program when it cannot. It is
 * never freed. Options may stand behind the name: "bert {depth: 2}". */
const struct pr_model *bench_model(const char *peers, const char *name);

/* Writes some batches of the model's own data, those that our contender trains
 * with, as a safetensors file. False: it has none. */
bool bench_write_batches(const struct pr_model *model, uint64_t batch,
                         const char *path);

/* A net of it with a batch of its data, or noise, in place. */
struct pr_net *bench_net(const struct pr_model *model, bool training,
                         bool profile, uint64_t batch, unsigned threads);

/* Process of a contender. argv: PEERS MODEL training|inference BATCH THREADS
 * BLOCK. What it answers as a step takes at least BLOCK milliseconds: with 0 it
 * is one, else the mean of many; where there are episodes, the mean of what
 * counts as an item. Returns what main returns. */
int bench_native_main(int argc, char **argv);

/* Threads, most multiply-adds and oneDNN of this machine, as a line. */
int bench_native_about(unsigned threads);

/* Per layer what a step takes, after some steps. argv as above, and STEPS. */
int bench_native_layers(int argc, char **argv);

#endif
