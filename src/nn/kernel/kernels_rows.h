/*
 * Loops over rows of [rows, width] in plain order: norms, tables of rows that
 * ids choose from. As those of kernels.h: float32, on all threads of par,
 * nothing allocated, the same bits with the same number of threads.
 */
#ifndef PR_NN_KERNELS_ROWS_H
#define PR_NN_KERNELS_ROWS_H

#include "nn/kernel/kernels.h"

/* ---- layer norm: y = (x - mean) * inv_std * gamma + beta, of each row */

struct pr_row_norm {
    size_t rows, width;
    const float *gamma;    /* [width]; NULL: 1 */
    const float *beta;     /* NULL: 0 */
    float *mean, *inv_std; /* [rows], for backward */
    float epsilon;
};
/* y may be x only where backward is not wanted. */
void pr_kernel_layer_norm(const struct pr_threads *p,
                          const struct pr_row_norm *norm, const float *x,
                          float *y);

struct pr_row_norm_back {
    const struct pr_row_norm *norm;
    const float *x, *dy;
    float *dx;             /* NULL: not wanted; may be dy */
    float *dgamma, *dbeta; /* NULL: not wanted */
};
void pr_kernel_layer_norm_back(const struct pr_threads *p,
                               const struct pr_row_norm_back *b);

/* ---- instance norm: batch norm of each sample alone. mean and inv_std have
 * room for that many channels of each sample, with those that fill up;
 * running_mean and running_var are not looked at. */

void pr_kernel_instance_norm(const struct pr_threads *p,
                             const struct pr_grid *v,
                             const struct pr_norm *norm, const float *x,
                             float *y);

struct pr_instance_back {
    const struct pr_norm *norm;
    const float *x, *dy;
    float *dx;             /* may be dy */
    float *dgamma, *dbeta; /* NULL: not wanted */
    float *work;           /* pr_kernel_instance_norm_work floats */
};
size_t pr_kernel_instance_norm_work(const struct pr_grid *v);
void pr_kernel_instance_norm_back(const struct pr_threads *p,
                                  const struct pr_grid *v,
                                  const struct pr_instance_back *b);

/* ---- tables of rows */

/* The place of the first id that is not in [0, limit); count: there is none. */
size_t pr_ids_find_bad(const int32_t *ids, size_t count, int64_t limit);

/* Rows of a table, [rows, width], chosen by ids that are in it. */
struct pr_embedding_table {
    size_t rows, width;
    size_t count; /* ids, less than 2^32 */
    const int32_t *ids;
    void *work; /* of all but pr_kernel_embedding: pr_kernel_embedding_work
                   bytes, aligned to 8 */
};
size_t pr_kernel_embedding_work(size_t count);

/* y[i] = w[ids[i]] */
void pr_kernel_embedding(const struct pr_threads *p,
                         const struct pr_embedding_table *t, const float *w,
                         float *y);
/* The way back, to all rows: those that no id chose become 0. */
void pr_kernel_embedding_back(const struct pr_threads *p,
                              const struct pr_embedding_table *t,
                              const float *dy, float *dw);
/* The way back and a step of the optimiser in one, on rows that were chosen
 * alone: plain SGD, and Adam as PyTorch's SparseAdam (decay is not looked
 * at). */
void pr_kernel_embedding_sgd(const struct pr_threads *p,
                             const struct pr_embedding_table *t,
                             const float *dy, float rate, float *w);
void pr_kernel_embedding_adam(const struct pr_threads *p,
                              const struct pr_embedding_table *t,
                              const float *dy, const struct pr_adam *o,
                              float *w, float *m, float *v);

/* Each of so many samples has a table of its own: y[n][i] = x[n][ids[n][i]].
 * ids are in it. */
struct pr_gather_args {
    size_t samples, rows, width;
    size_t count; /* ids of a sample */
    const int32_t *ids;
};
void pr_kernel_gather(const struct pr_threads *p,
                      const struct pr_gather_args *g, const float *x, float *y);
void pr_kernel_gather_back(const struct pr_threads *p,
                           const struct pr_gather_args *g, const float *dy,
                           float *dx);

#endif
