/*
 * The convolutions of a model, each alone: oneDNN chooses all layouts, and the
 * best of several calls on warm memory counts. What the same ones reach inside
 * of a training is to be compared with that.
 */
#ifndef BENCH_CONVS_H
#define BENCH_CONVS_H

#include "nn/model/model.h"

struct bench_convs;

/* Uses as many threads as the net that was made before. Ends the program when
 * it cannot. */
struct bench_convs *bench_convs_new(const struct pr_model *model,
                                    uint64_t batch);

/* Every pass of every distinct one, some calls; the best so far stay. */
void bench_convs_pass(struct bench_convs *c);

/* All of them as often as the model has them: forward, both gradients where
 * they are needed. */
struct bench_convs_sum {
    double flops, seconds;
};
struct bench_convs_sum bench_convs_sum(const struct bench_convs *c);

/* One row for each distinct one. */
void bench_convs_print(const struct bench_convs *c);

#endif
