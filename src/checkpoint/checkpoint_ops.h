/*
 * What checkpoints took: each of them, and sums over all that were written and
 * all that were read.
 */
#ifndef PR_CHECKPOINT_OPS_H
#define PR_CHECKPOINT_OPS_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* Which one: it is named after epoch and step; block is the number of the
 * steps before it, in its epoch. */
struct pr_checkpoint_at {
    uint64_t epoch, step, block;
};

/* What one checkpoint took. Seconds from the moment that all ranks began. */
struct pr_checkpoint_op {
    bool is_read;
    struct pr_checkpoint_at at;
    uint64_t start_ns, end_ns, start_wall_ns, end_wall_ns;
    uint64_t bytes, files;
    double slowest_s, mean_s, fastest_s; /* of ranks that took part */
    float *rank_s;    /* of each rank that results are listed of, or NULL */
    uint64_t writers; /* ranks that took part */
    double cached; /* share that was in the page cache before reading; -1: not
                      known */
    struct pr_checkpoint_op *next;
};

struct pr_checkpoint_ops {
    struct pr_checkpoint_op *first, *last;
    uint64_t listed; /* at most PR_CHECKPOINT_LISTED; more are only summed up */
    struct pr_checkpoint_total {
        uint64_t count, bytes;
        double slowest_s, mean_s; /* sums */
        double slowest_square, slowest_max_s;
        double cached; /* sum over those where it is known */
        uint64_t cached_count;
        double rate, rate_square; /* of bytes / slowest_s */
    } total[2];                   /* written, read */
};
enum { PR_CHECKPOINT_LISTED = 10000 };

/* Mean and deviation of the population, from sums. */
double pr_checkpoint_mean(double sum, uint64_t count);
double pr_checkpoint_stdev(double sum, double square, uint64_t count);

#endif
