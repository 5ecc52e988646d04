/*
 * Loops that oneDNN has not, or not fused: batch norm with what surrounds it,
 * element-wise operations and optimisers. All work on float32, in place
 * where a comment says so, on all threads of par, without allocating; with the
 * same number of threads they give the same bits each time.
 */
#ifndef PR_NN_KERNELS_H
#define PR_NN_KERNELS_H

#include "nn/engine/threads.h"

#include <stdbool.h>
#include <stdint.h>

/* Where element (n, c, s) of a tensor lies:
 *     ((n * blocks + c / block) * s_count + s) * block + c % block
 * with blocks = ceil(c_count / block): block 1 is nchw, 8 and 16 are nChw8c
 * and nChw16c, c_count is nhwc. Channels that only fill up a block are zero in
 * what comes in and must be zero in what goes out. */
struct pr_grid {
    size_t n, c, s; /* samples, channels, places (rows * columns) */
    size_t block;
};
size_t pr_grid_elements(const struct pr_grid *v); /* with those that fill up */

/* Gradients come in as up to four terms whose sum is meant. */
enum { PR_TERMS = 4 };

/* ---- batch norm. Arrays of channels have room for blocks * block floats;
 * what fills up is zero there. */

struct pr_norm {
    const float *gamma;                /* NULL: 1 */
    const float *beta;                 /* NULL: 0 */
    float *mean, *inv_std;             /* of the batch, for backward */
    float *running_mean, *running_var; /* variance with n - 1, as PyTorch */
    float epsilon, momentum;
};

/* y = relu?((x - mean) * inv_std * gamma + beta + add). add may be NULL, and
 * may be y; x may be y only where backward is not wanted. */
void pr_kernel_norm_train(const struct pr_threads *p, const struct pr_grid *v,
                          const struct pr_norm *norm, const float *x,
                          const float *add, bool relu, float *y);
/* The same with the running mean and variance. x and add may be y. */
void pr_kernel_norm_infer(const struct pr_threads *p, const struct pr_grid *v,
                          const struct pr_norm *norm, const float *x,
                          const float *add, bool relu, float *y);

struct pr_norm_back {
    const struct pr_norm *norm;
    const float *x;
    const float *y; /* of a norm with relu: its mask; NULL: without */
    const float *terms[PR_TERMS]; /* of the gradient of y */
    unsigned term_count;          /* 1 or more */
    float *masked; /* the gradient before relu, which is that of add; may be
                      one of the terms; NULL: not wanted */
    float *dx;     /* may be one of the terms; never masked */
    float *dgamma; /* NULL: not wanted */
    float *dbeta;
};
void pr_kernel_norm_back(const struct pr_threads *p, const struct pr_grid *v,
                         const struct pr_norm_back *b);

/* ---- element-wise; count elements, all pointers aligned to 64 bytes */

/* y = relu?(sum of terms); y may be one of them. */
void pr_kernel_sum(const struct pr_threads *p, size_t count,
                   const float *const *terms, unsigned term_count, bool relu,
                   float *y);
void pr_kernel_scale(const struct pr_threads *p, size_t count, float factor,
                     const float *x, float *y); /* may be in place */

enum pr_curve {
    PR_CURVE_RELU,
    PR_CURVE_SIGMOID,
    PR_CURVE_TANH,
    PR_CURVE_EXP,
    PR_CURVE_GELU, /* x * (1 + erf(x / sqrt(2))) / 2 */
};
void pr_kernel_curve(const struct pr_threads *p, size_t count,
                     enum pr_curve kind, const float *x,
                     float *y); /* may be in place */
/* dx = (sum of terms) * derivative, which follows from y alone; gelu takes x
 * in its place. dx may be one of the terms. */
void pr_kernel_curve_back(const struct pr_threads *p, size_t count,
                          enum pr_curve kind, const float *y,
                          const float *const *terms, unsigned term_count,
                          float *dx);

/* y = x > 0 ? x : factor * x; and backward, from x, or from y where factor is
 * not below 0. Both may be in place, dx over dy. */
void pr_kernel_leaky(const struct pr_threads *p, size_t count, float factor,
                     const float *x, float *y);
void pr_kernel_leaky_back(const struct pr_threads *p, size_t count,
                          float factor, const float *x, const float *dy,
                          float *dx);

/* y = product of factors; y may be one of them. */
void pr_kernel_multiply(const struct pr_threads *p, size_t count,
                        const float *const *factors, unsigned factor_count,
                        float *y);

/* y = relu?(y + bias); bias may be NULL, and has room as for batch norm. */
void pr_kernel_bias(const struct pr_threads *p, const struct pr_grid *v,
                    const float *bias, bool relu, float *y);

/* Keeps an element with probability 1 - rate, and divides it by that. What is
 * kept follows from key and the element's place: backward is the same call on
 * the gradient. May be in place. */
void pr_kernel_dropout(const struct pr_threads *p, size_t count, float rate,
                       uint64_t key, const float *x, float *y);

/* ---- values that move */

/* Copies rows of width floats; so far apart they lie in x and in y. */
void pr_kernel_part(const struct pr_threads *p, size_t rows, size_t width,
                    const float *x, size_t x_step, float *y, size_t y_step);
/* The same into rows of which the rest becomes 0: from first on they are x's,
 * which lie side by side. */
void pr_kernel_part_back(const struct pr_threads *p, size_t rows, size_t width,
                         const float *x, float *y, size_t first, size_t y_step);

/* n matrices of [rows, columns], turned around. */
void pr_kernel_transpose(const struct pr_threads *p, size_t n, size_t rows,
                         size_t columns, const float *x, float *y);
/* y = x + x turned around, n matrices of [rows, rows]. */
void pr_kernel_fold(const struct pr_threads *p, size_t n, size_t rows,
                    const float *x, float *y);

/* n channels of [rows, columns] out of size * size times as many, each of
 * which gives every size-th value of every size-th row; and back. */
struct pr_shuffle {
    size_t n, rows, columns, size; /* of the smaller places */
};
void pr_kernel_shuffle(const struct pr_threads *p, const struct pr_shuffle *s,
                       const float *x, float *y);
void pr_kernel_shuffle_back(const struct pr_threads *p,
                            const struct pr_shuffle *s, const float *dy,
                            float *dx);

/* Places of any layout: n times [rows, columns] of so many floats each. */
struct pr_places {
    size_t n, rows, columns, block;
};
/* From v to places that are size times as many in both directions. */
void pr_kernel_upsample(const struct pr_threads *p, const struct pr_places *v,
                        size_t size, const float *x, float *y);
void pr_kernel_upsample_back(const struct pr_threads *p,
                             const struct pr_places *v, size_t size,
                             const float *dy, float *dx);
/* From v to places with a frame in which the inner ones are mirrored: top,
 * left, bottom, right, each less than v has there. */
void pr_kernel_reflect(const struct pr_threads *p, const struct pr_places *v,
                       const int64_t pad[static 4], const float *x, float *y);
void pr_kernel_reflect_back(const struct pr_threads *p,
                            const struct pr_places *v,
                            const int64_t pad[static 4], const float *dy,
                            float *dx);

/* ---- pools that change the layout: mean over places to [n, c] plain */
void pr_kernel_mean(const struct pr_threads *p, const struct pr_grid *v,
                    const float *x, float *y);
void pr_kernel_mean_back(const struct pr_threads *p, const struct pr_grid *v,
                         const float *dy, float *dx);

/* ---- rows of [n, c] plain */

void pr_kernel_softmax(const struct pr_threads *p, size_t n, size_t c,
                       const float *x, float *y);
void pr_kernel_softmax_back(const struct pr_threads *p, size_t n, size_t c,
                            const float *y, const float *dy, float *dx);

/* The sum of squares, in double. */
double pr_kernel_squares(const struct pr_threads *p, size_t count,
                         const float *x);

/* ---- optimisers, as PyTorch's */

/* g += decay * w; m = first ? g : momentum * m + g; w -= rate * m. Without
 * momentum m is not touched and may be NULL. */
void pr_kernel_sgd(const struct pr_threads *p, size_t count, float rate,
                   float momentum, float decay, bool first, float *w,
                   const float *g, float *m);

/* step counts from 1. */
struct pr_adam {
    double rate, beta1, beta2, epsilon, decay;
    uint64_t step;
};
void pr_kernel_adam(const struct pr_threads *p, size_t count,
                    const struct pr_adam *o, float *w, const float *g, float *m,
                    float *v);

/* ---- the machine: most float32 operations a second that a loop of
 * multiply-adds in registers reaches on all threads, in about a quarter of a
 * second; a multiply-add is two. */
double pr_kernel_peak(const struct pr_threads *p);

/* ---- layer norm of rows [rows, width] in plain order: y = (x - mean) *
 * inv_std * gamma + beta, of each row */

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
