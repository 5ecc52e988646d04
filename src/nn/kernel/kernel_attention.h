/*
 * Attention: of each query, a mean of values weighted by how well the keys fit.
 * As the loops of kernels.h, with products of matrices by oneDNN.
 */
#ifndef PR_NN_KERNEL_ATTENTION_H
#define PR_NN_KERNEL_ATTENTION_H

#include "nn/engine/onednn.h"

/* ---- of several heads: softmax(q k^T / sqrt(width)) v. Head h has columns
 * [h * width, (h + 1) * width) of each row. */

struct pr_attention {
    size_t samples, heads;
    size_t queries, keys;      /* rows of a sample */
    size_t width, value_width; /* columns of a head */
    const float *q, *k, *v;
    size_t ldq, ldk, ldv, ldy; /* numbers from row to row; y: of the output */
    bool causal;               /* query i sees keys 0 … i */
    const int32_t *lengths;    /* keys of each sample that count, in [1, keys];
                                  NULL: all */
    float *p; /* probabilities, [samples, heads, queries, keys], for
                 backward; NULL: not wanted */
    float *
        work; /* pr_kernel_attention_work floats: backward; forward without p */
};
size_t pr_kernel_attention_work(const struct pr_threads *par,
                                const struct pr_attention *a);
int pr_kernel_attention(const struct pr_threads *par, const struct pr_onednn *d,
                        const struct pr_attention *a, float *y,
                        struct pr_err *err) PR_MUST_CHECK;

/* Gradients lie like what they are of. NULL: not wanted. */
struct pr_attention_back {
    const float *dy;
    float *dq, *dk, *dv;
};
int pr_kernel_attention_back(const struct pr_threads *par,
                             const struct pr_onednn *d,
                             const struct pr_attention *a,
                             const struct pr_attention_back *b,
                             struct pr_err *err) PR_MUST_CHECK;

/* ---- additive: softmax over keys of sum_f w_f tanh(q_f + k_f) */

struct pr_additive {
    size_t samples, queries, keys;
    size_t width, value_width;
    const float *q, *k, *v; /* rows, dense */
    const float *w;         /* [width] */
    const int32_t *lengths; /* as above */
    float *p;               /* probabilities, [samples, queries, keys] */
};
void pr_kernel_additive(const struct pr_threads *par,
                        const struct pr_additive *a, float *y);

struct pr_additive_back {
    const float *dy;
    float *dq, *dk, *dv, *dw; /* NULL: not wanted */
    float *work;              /* pr_kernel_additive_work floats */
};
size_t pr_kernel_additive_work(const struct pr_additive *a);
void pr_kernel_additive_back(const struct pr_threads *par,
                             const struct pr_additive *a,
                             const struct pr_additive_back *b);

#endif
