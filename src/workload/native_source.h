/*
 * Where the batches of a training come from: noise that is made once, digits
 * in another order each epoch, a data set, or a batch that a file brought.
 */
#ifndef PR_WORKLOAD_NATIVE_SOURCE_H
#define PR_WORKLOAD_NATIVE_SOURCE_H

#include "loader/order.h"
#include "workload/native.h"
#include "workload/native_set.h"

struct pr_native_source {
    const struct pr_native *n;
    size_t elements; /* numbers in a sample */
    bool is_filled;  /* noise, a file: the batch is there and stays */
    /* digits */
    uint64_t pixels; /* of one */
    uint8_t *gray;   /* of all samples; or of one, when they are too many */
    int32_t *labels; /* -1: not drawn yet; NULL: none is kept */
    struct pr_permutation order;
    uint64_t epoch, at; /* samples of this epoch that came */
    /* a data set */
    struct pr_native_set *set;
};

/* Also makes the data set where that is asked for. */
int pr_source_open(struct pr_native_source *s, const struct pr_native *n,
                   struct pr_progress *progress, const bool *stop,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_source_close(struct pr_native_source *s);

/* Puts the next batch into input and labels. *ret_wait_ns: how long a data
 * set made wait for it, else 0. */
int pr_source_next(struct pr_native_source *s, float *input, int32_t *labels,
                   uint64_t *ret_wait_ns, struct pr_err *err) PR_MUST_CHECK;

/* Held-out digits from `first` on, one batch of them. */
void pr_source_held_out(struct pr_native_source *s, uint64_t first,
                        float *input, int32_t *labels);

#endif
