/*
 * Epochs without end as one order, so that the loader reads across the end of
 * an epoch as it does across that of a batch. For one accelerator; each epoch
 * has an order of its own, and batches of its own: without drop_last its last
 * one may be smaller.
 */
#ifndef PR_LOADER_ORDER_SERIES_H
#define PR_LOADER_ORDER_SERIES_H

#include "loader/order.h"

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

/* What the functions of order.h answer for such an order. */
uint64_t pr_order_series_batch_of(const struct pr_order_series *s,
                                  uint64_t pos);
uint64_t pr_order_series_start(const struct pr_order_series *s, uint64_t b);
uint64_t pr_order_series_read(const struct pr_order_series *s, uint64_t q);
uint64_t pr_order_series_place(const struct pr_order_series *s, uint64_t q);
uint64_t pr_order_series_needed(const struct pr_order_series *s, uint64_t pos);

#endif
