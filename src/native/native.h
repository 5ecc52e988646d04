/*
 * Training and inference by the engine of ours (nn/): all there is to know
 * about one such experiment, from its parameters.
 */
#ifndef PR_NATIVE_H
#define PR_NATIVE_H

#include "job/job.h"
#include "native/task/task_pictures.h"
#include "nn/engine/net.h"

/* Where batches come from. A file that is loaded may bring one besides. */
enum pr_native_from {
    PR_NATIVE_NOISE,    /* one random batch again and again */
    PR_NATIVE_DIGITS,   /* drawn figures */
    PR_NATIVE_TASK,     /* what the model says: waves, words … */
    PR_NATIVE_CARTPOLE, /* episodes of a pole on a cart */
    PR_NATIVE_SET,      /* a data set that is read */
};

struct pr_native {
    const struct pr_job *job;
    struct pr_nn_opts nn;
    struct pr_model *model;
    struct pr_net_opts net;
    uint64_t batch;
    uint64_t warmup, batches; /* steps before, and measured */
    uint64_t most_items;      /* to be measured; 0: as batches says */
    bool open_ended;          /* it stops by time or when it is steady */
    enum pr_native_from from;
    struct pr_digit_images digits;
    uint64_t samples; /* of the digits to train with */
    uint64_t evaluate;
    unsigned processors;  /* that may be used */
    uint64_t rank, ranks; /* which of the processes that train together */
};

/* Reads and checks everything that needs no computing; the model is in the
 * job's arena. Warnings go to notes, a line each; may be NULL. */
int pr_native_init(struct pr_native *n, struct pr_job *job,
                   struct pr_buf *notes, struct pr_err *err) PR_MUST_CHECK;

#endif
