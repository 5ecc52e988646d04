/*
 * Where the batches of a training come from: noise that is made once, digits
 * in another order each epoch, the model's own task, a data set, or a batch
 * that a file brought.
 */
#ifndef PR_NATIVE_SOURCE_H
#define PR_NATIVE_SOURCE_H

#include "loader/order.h"
#include "native/images/image_set.h"
#include "native/native.h"
#include "native/task/task_batches.h"

struct pr_native_source {
    const struct pr_native *n;
    size_t elements; /* numbers in a sample of the first input */
    bool is_filled;  /* noise, a file: the batch is there and stays */
    /* digits */
    uint64_t pixels; /* of one */
    uint8_t *gray;   /* of all samples; or of one, when they are too many */
    int32_t *labels; /* -1: not drawn yet; NULL: none is kept */
    struct pr_permutation order;
    uint64_t epoch, at; /* samples of this epoch that came */
    /* a task */
    struct pr_task_batches task;
    uint64_t step;
    /* a data set */
    struct pr_image_set *set;
};

/* Also makes the data set where that is asked for. */
int pr_native_source_open(struct pr_native_source *s, const struct pr_native *n,
                          struct pr_progress *progress, const bool *stop,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_native_source_close(struct pr_native_source *s);

/* Puts the next batch into the net's inputs. *ret_wait_ns: how long a data set
 * made wait for it, else 0. */
int pr_native_source_next(struct pr_native_source *s, struct pr_net *net,
                          uint64_t *ret_wait_ns,
                          struct pr_err *err) PR_MUST_CHECK;

/* Samples that are not trained with, from `first` on, one batch of them; of a
 * data set the next one. */
int pr_native_source_next_held_out(struct pr_native_source *s, uint64_t first,
                                   struct pr_net *net,
                                   struct pr_err *err) PR_MUST_CHECK;

#endif
