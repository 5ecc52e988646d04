/*
 * Which accelerator reads which sample when. Everything is computed from the
 * position, index by index: fifty million samples take the memory of fifty.
 *
 * Samples are numbered over all files of a split: file * samples_per_file +
 * index in the file. An accelerator reads its samples in the order
 * pr_order_read(a, 0), (a, 1), …; the one read q-th is delivered at position
 * pr_order_place(a, q), which is q but for a windowed shuffle: there samples
 * are read in storage order and delivered shuffled, as from a buffer.
 * pr_order_batch_of says which batch a position is in.
 *
 * Each sample comes at most once an epoch. With drop_last the samples that do
 * not fill a batch for every accelerator, total mod (batch * accelerators),
 * are left out; without, all come.
 */
#ifndef PR_LOADER_ORDER_H
#define PR_LOADER_ORDER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pr_order_opts {
    uint64_t files, samples_per_file;
    uint64_t accelerators, batch; /* 1 or more */
    bool drop_last;
    bool shared;          /* deal samples out in turn, not in pieces */
    bool shuffle_files;   /* files in another order */
    bool shuffle_samples; /* samples in another order */
    uint64_t window;      /* of a shuffle of samples; 0: all of them */
    uint64_t seed;        /* of this epoch */
};

/* A permutation of 0 … n-1, index by index. */
struct pr_permutation {
    uint64_t n;
    uint64_t key[10];
    uint64_t high; /* cells: high * 2^low_bits, n or a few more */
    unsigned low_bits, rounds;
};
void pr_permutation_init(struct pr_permutation *p, uint64_t n, uint64_t key);
uint64_t pr_permutation_at(const struct pr_permutation *p, uint64_t i);
/* pr_permutation_at(p, pr_permutation_of(p, i)) is i. */
uint64_t pr_permutation_of(const struct pr_permutation *p, uint64_t i);

struct pr_order {
    struct pr_order_opts o;
    uint64_t total;   /* samples there are */
    uint64_t used;    /* samples that come */
    uint64_t batches; /* of the accelerator that has most: steps of an epoch */
    uint64_t share;   /* samples of an accelerator, … */
    uint64_t extra;   /* … one more for so many, the first ones */
    struct pr_permutation files, samples;
    uint64_t window_key;
    const struct pr_order_dlio *dlio; /* DLIO's own order instead; or NULL */
    const struct pr_order_series *series; /* epochs without end; or NULL */
};

/* PR_E_CONF when files * samples_per_file does not fit. No samples at all, or
 * fewer than fill a batch each: batches is 0. */
int pr_order_init(struct pr_order *o, const struct pr_order_opts *opts,
                  struct pr_err *err) PR_MUST_CHECK;

/* Samples, and batches, that accelerator a gets. */
uint64_t pr_order_samples(const struct pr_order *o, uint64_t a);
uint64_t pr_order_batches(const struct pr_order *o, uint64_t a);

/* Which batch a position is in, and the first position of a batch. */
uint64_t pr_order_batch_of(const struct pr_order *o, uint64_t pos);
uint64_t pr_order_batch_start(const struct pr_order *o, uint64_t b);

/* Samples in batch b of accelerator a; the last one may be smaller. */
uint64_t pr_order_batch_samples(const struct pr_order *o, uint64_t a,
                                uint64_t b);

/* q < pr_order_samples(o, a). */
uint64_t pr_order_read(const struct pr_order *o, uint64_t a, uint64_t q);
uint64_t pr_order_place(const struct pr_order *o, uint64_t a, uint64_t q);

/* Of the samples read so far, q, all that are delivered before position
 * pos have come once q is at least this. */
uint64_t pr_order_needed(const struct pr_order *o, uint64_t a, uint64_t pos);

/*
 * Epochs without end as one order, so that the loader reads across the end of
 * an epoch as it does across that of a batch. For one accelerator; each epoch
 * has an order of its own, and batches of its own: without drop_last its last
 * one may be smaller.
 */

struct pr_order_series {
    struct pr_order_opts o; /* of each epoch but for the seed */
    uint64_t used;          /* samples of an epoch */
    uint64_t batches;       /* of an epoch */
};

/* opts has one accelerator; its seed is that of all epochs. *ret refers to s.
 * Fewer samples than fill a batch: ret->batches is 0. */
int pr_order_series_init(struct pr_order_series *s,
                         const struct pr_order_opts *opts, struct pr_order *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* The epoch, from 0, of a position. */
uint64_t pr_order_series_epoch(const struct pr_order_series *s, uint64_t pos);

/* So many batches more than elsewhere may begin within the positions of a batch
 * and two windows: those that are smaller. */
unsigned pr_order_series_more(const struct pr_order_series *s);

#endif
