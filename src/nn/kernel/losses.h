/*
 * Losses and their gradients. All work on float32 in plain order on all threads
 * of par, without allocating, and give the same bits with the same number of
 * threads. Sums are in double.
 */
#ifndef PR_NN_LOSSES_H
#define PR_NN_LOSSES_H

#include "nn/engine/threads.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows of predictions and what they should be. The value of a loss and its
 * gradient are multiplied by factor; both are sums, or means: of rows that
 * count (cross entropy: by their weights), or of all numbers (others, also
 * where rows have weights). Without any row that counts both are 0. */
struct pr_loss_rows {
    size_t rows, width;
    const float *x; /* [rows, width] */
    const float *y; /* the same, or NULL: all are `value` */
    float value;
    const int32_t *ids;   /* cross entropy: class of each row */
    const float *weights; /* one for each row; NULL: 1. Cross entropy: rows of
                             weight 0 do not count */
    int32_t ignore;       /* cross entropy: rows with this id do not count;
                             below 0: none */
    bool sum;
    double factor;
    double smoothing; /* cross entropy: share spread over all classes */
    double beta;      /* smooth_l1 */
    float *dx;        /* NULL: not wanted; may be x */
};

/* *ret_rows, *ret_right: rows that count, and those of them whose largest value
 * (the first of equal ones) is at the id. An id out of range makes NaN, the
 * gradient of its row too. */
double pr_kernel_cross_entropy(const struct pr_threads *p,
                               const struct pr_loss_rows *l, uint64_t *ret_rows,
                               uint64_t *ret_right);
double pr_kernel_mse(const struct pr_threads *p, const struct pr_loss_rows *l);
/* Of logits: y log(1 + e^-x) + (1 - y) log(1 + e^x). */
double pr_kernel_bce(const struct pr_threads *p, const struct pr_loss_rows *l);
/* d = |x - y|: d < beta ? d² / (2 beta) : d - beta / 2. beta may be 0. */
double pr_kernel_smooth_l1(const struct pr_threads *p,
                           const struct pr_loss_rows *l);

/* -½ Σ (1 + v - m² - e^v) * factor; dm and dv may be NULL. */
double pr_kernel_kl(const struct pr_threads *p, size_t count, const float *mean,
                    const float *log_variance, double factor, float *dmean,
                    float *dlog_variance);

/* Connectionist temporal classification: the mean over samples of -log
 * p(ids), each divided by its count of ids, as PyTorch's 'mean'; or the sum.
 * Softmax is part of it. Class 0 is blank. Samples whose ids do not fit into
 * their rows count 0 (zero_infinity). An id or a length out of range makes
 * NaN, the gradient of its sample too. work: pr_kernel_ctc_work floats, at a
 * multiple of 64 bytes. */
struct pr_ctc {
    size_t samples, rows, classes;
    const float *x;     /* [samples, rows, classes] */
    const int32_t *ids; /* [samples, most] */
    size_t most;
    const int32_t *lengths; /* of ids, for each sample */
    bool sum;
    double factor;
    float *dx; /* NULL: not wanted; not x */
    float *work;
};
size_t pr_kernel_ctc_work(const struct pr_ctc *c);
double pr_kernel_ctc(const struct pr_threads *p, const struct pr_ctc *c);

/* SSD's: for each sample, (smooth l1 of the boxes that have a class + cross
 * entropy of these and of three times as many of the others, those with the
 * largest loss, the first of equal ones) / the number of boxes that have a
 * class; the mean over samples, in which samples without such a box count 0.
 * Class 0 is the background. An id out of range makes NaN, the gradient of its
 * sample too. */
struct pr_multibox {
    size_t samples, boxes, classes;
    const float *places; /* [samples, 4, boxes] */
    const float *wanted; /* the same */
    const float *logits; /* [samples, classes, boxes] */
    const int32_t *ids;  /* [samples, boxes] */
    double factor;
    float *dplaces, *dlogits; /* NULL: not wanted */
    float *work; /* pr_kernel_multibox_work floats, at a multiple of 64 bytes */
};
size_t pr_kernel_multibox_work(const struct pr_multibox *m);
double pr_kernel_multibox(const struct pr_threads *p,
                          const struct pr_multibox *m);

#endif
