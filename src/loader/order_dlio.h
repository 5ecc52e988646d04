/*
 * The order in which DLIO itself reads, for comparing with its published
 * numbers: sequential with its index loaders (pytorch, dali), whatever is
 * asked for; with its iterative loader (tensorflow) shuffled by numpy's old
 * generator, and with its slip of the file index. That takes memory for each
 * file, as DLIO's does.
 *
 * The slip: only the first sample that an accelerator reads is of its own
 * share of the files; all others are counted from the first file on, so that
 * all accelerators read the same leading files, and the others are not read.
 */
#ifndef PR_LOADER_ORDER_DLIO_H
#define PR_LOADER_ORDER_DLIO_H

#include "loader/order.h"

struct pr_order_dlio;

static inline uint64_t pr_order_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Shuffles a list in place as numpy.random.seed(seed) and shuffle do. */
void pr_order_dlio_shuffle(uint32_t seed, uint64_t *list, uint64_t n);

struct pr_order_dlio_opts {
    bool iterative;   /* the tensorflow loader */
    uint64_t threads; /* reader.read_threads; 0 is 1. Iterative only */
    uint32_t seed;    /* train.seed */
    bool seed_change; /* train.seed_change_epoch: seed + epoch each time */
    /* Files that are shuffled before these with the same numbers: those for
     * training when these are for evaluation, else 0. */
    uint64_t files_before;
};

/* Makes o, which was initialised, DLIO's order of epoch 1: sets o->dlio, and
 * o's used and batches to what DLIO has. Of o's options files,
 * samples_per_file, accelerators and batch count, and shuffle_files with an
 * iterative loader. o stays valid over the epochs; free *ret after it. */
int pr_order_dlio_new(struct pr_order *o, const struct pr_order_dlio_opts *opts,
                      struct pr_order_dlio **ret,
                      struct pr_err *err) PR_MUST_CHECK;
void pr_order_dlio_free(struct pr_order_dlio *d); /* NULL is fine */

/* Goes on to a later epoch. DLIO shuffles the list of files that the epoch
 * before has left, so the epochs between are gone through, too. */
void pr_order_dlio_epoch(struct pr_order_dlio *d, uint64_t epoch);

/* What pr_order_read answers for such an order. A batch that DLIO fills up
 * with made-up samples has the last real one again. */
uint64_t pr_order_dlio_read(const struct pr_order_dlio *d, uint64_t a,
                            uint64_t q);

#endif
