/*
 * The few things that the engine asks of oneDNN, the same for its versions 2
 * and 3: layouts of tensors, and primitives that compute on them. The library
 * is loaded when first needed. Layouts and primitives belong to the struct
 * pr_dnn they were made with and go with it.
 */
#ifndef PR_NN_DNN_H
#define PR_NN_DNN_H

#include "base/err.h"
#include "nn/kernels.h"

struct pr_dnn;
struct pr_lay;  /* shape, type and layout of a tensor */
struct pr_prim; /* something to be computed */

/* "2.6.3"; PR_E_UNAVAIL with the remedy without the library. */
int pr_dnn_version(char out[static 32], struct pr_err *err) PR_MUST_CHECK;

int pr_dnn_new(struct pr_dnn **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_dnn_free(struct pr_dnn *d); /* NULL is fine */
/* Whether there was no memory for a layout since: one that is not there may
 * mean that, or that a primitive has no such argument. */
bool pr_dnn_is_short(const struct pr_dnn *d);

/* ---- layouts */

enum { PR_LAY_DIMS = 5 };
enum pr_lay_type { PR_LAY_F32, PR_LAY_BF16 };
enum pr_lay_kind {
    PR_LAY_ANY,   /* oneDNN shall choose; has no size */
    PR_LAY_PLAIN, /* the last dimension is dense */
};

/* NULL: out of memory. */
const struct pr_lay *pr_lay_new(struct pr_dnn *d, enum pr_lay_kind kind,
                                enum pr_lay_type type, unsigned dims,
                                const int64_t *at);
/* The same layout and type with the dimensions [N, C, …] of another. NULL: it
 * is not of a kind that can be had for others. */
const struct pr_lay *pr_lay_like(struct pr_dnn *d, const struct pr_lay *lay,
                                 unsigned dims, const int64_t *at);
size_t pr_lay_bytes(const struct pr_lay *lay);
bool pr_lay_same(const struct pr_lay *a, const struct pr_lay *b);
unsigned pr_lay_dims(const struct pr_lay *lay, int64_t at[static PR_LAY_DIMS]);

/* How loops of ours walk a tensor [N, C, …]; false: they cannot. */
bool pr_lay_view(const struct pr_lay *lay, struct pr_grid *ret);

/* "nChw8c", "nchw", "nhwc", "nc", "other". */
const char *pr_lay_name(const struct pr_lay *lay);

/* ---- products of matrices that lie in rows */

/* c = alpha * a * b + beta * c. a is [m, k], or [k, m] with turn_a; b is
 * [k, n], or [n, k] with turn_b; c is [m, n]. ld: numbers from row to row. */
struct pr_gemm {
    bool turn_a, turn_b;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
};
/* On all threads; on the caller alone inside a loop of pr_par_run. */
int pr_dnn_gemm(const struct pr_dnn *d, const struct pr_gemm *g,
                struct pr_err *err) PR_MUST_CHECK;

/* ---- primitives */

enum pr_arg {
    PR_ARG_SRC,
    PR_ARG_WEIGHTS,
    PR_ARG_BIAS,
    PR_ARG_DST,
    PR_ARG_DIFF_SRC,
    PR_ARG_DIFF_WEIGHTS,
    PR_ARG_DIFF_BIAS,
    PR_ARG_DIFF_DST,
    PR_ARG_WORKSPACE,
    PR_ARG_SCRATCH,
    /* Of recurrent layers; SRC, WEIGHTS and DST are those of its input. */
    PR_ARG_RECURRENT, /* weights of the state */
    PR_ARG_STATE,     /* before the first row */
    PR_ARG_CELL,
    PR_ARG_END_STATE, /* after the last one */
    PR_ARG_END_CELL,
    PR_ARG_DIFF_RECURRENT,
    PR_ARG_DIFF_STATE,
    PR_ARG_DIFF_CELL,
    PR_ARG_DIFF_END_STATE,
    PR_ARG_DIFF_END_CELL,
    PR_ARG_COUNT,
    PR_ARG_MANY = PR_ARG_COUNT, /* + i: source i of a concat */
};
enum { PR_CONCAT_INPUTS = 16 };

enum pr_pass { PR_FORWARD, PR_BACKWARD_DATA, PR_BACKWARD_WEIGHTS };

/* A convolution, or with is_linear an inner product, in which case the window
 * is not looked at. Layouts may be PR_LAY_ANY. src stands for its gradient in
 * PR_BACKWARD_DATA, weights and bias in PR_BACKWARD_WEIGHTS, dst in both. */
struct pr_product {
    bool is_linear, training;
    bool relu; /* forward: dst = relu(…) */
    bool sum;  /* forward: … + what dst held before */
    const struct pr_lay *src, *weights, *bias, *dst; /* bias may be NULL */
    int64_t stride[2], dilation[2], pad[4];
};
/* forward is the primitive of the forward pass, for the other two. PR_E_UNAVAIL
 * where oneDNN cannot. */
int pr_prim_product(struct pr_dnn *d, enum pr_pass pass,
                    const struct pr_product *what,
                    const struct pr_prim *forward, struct pr_prim **ret,
                    struct pr_err *err) PR_MUST_CHECK;

enum pr_pool_kind { PR_POOL_MAX, PR_POOL_MEAN, PR_POOL_MEAN_PADDED };
struct pr_pool {
    enum pr_pool_kind kind;
    bool training;
    const struct pr_lay *src, *dst; /* src not any; or their gradients */
    int64_t kernel[2], stride[2], pad[4];
};
int pr_prim_pool(struct pr_dnn *d, enum pr_pass pass,
                 const struct pr_pool *what, const struct pr_prim *forward,
                 struct pr_prim **ret, struct pr_err *err) PR_MUST_CHECK;

struct pr_lrn {
    bool training;
    const struct pr_lay *src; /* of all that goes in and out */
    int64_t size;
    double alpha, beta, k;
};
int pr_prim_lrn(struct pr_dnn *d, enum pr_pass pass, const struct pr_lrn *what,
                const struct pr_prim *forward, struct pr_prim **ret,
                struct pr_err *err) PR_MUST_CHECK;

/* An lstm, or a gru whose reset comes after the product. SRC and DST lie as
 * [batch, rows, numbers]; weights as it likes, see pr_lay_gates; bias as
 * [gates, out], four of a gru: the last is added to the product with the
 * state. Gates of a gru are in the order update, reset, new. States are
 * [batch, out], only with has_state. */
struct pr_recurrent {
    bool is_gru, training, reverse, has_state;
    int64_t batch, rows, in, out;
};
/* forward: that primitive, to make the one that goes back; NULL: to make it. */
int pr_prim_recurrent(struct pr_dnn *d, const struct pr_recurrent *what,
                      const struct pr_prim *forward, struct pr_prim **ret,
                      struct pr_err *err) PR_MUST_CHECK;
/* A plain [gates * out, in] as that primitive's weights are described. */
const struct pr_lay *pr_lay_gates(struct pr_dnn *d, int64_t gates, int64_t out,
                                  int64_t in);

/* Of channels. dst may be PR_LAY_ANY. */
int pr_prim_concat(struct pr_dnn *d, const struct pr_lay *const *srcs,
                   unsigned count, const struct pr_lay *dst,
                   struct pr_prim **ret, struct pr_err *err) PR_MUST_CHECK;

int pr_prim_reorder(struct pr_dnn *d, const struct pr_lay *from,
                    const struct pr_lay *to, struct pr_prim **ret,
                    struct pr_err *err) PR_MUST_CHECK;
/* From channel `first` on: takes that part out of from, a larger tensor. */
int pr_prim_slice(struct pr_dnn *d, const struct pr_lay *from, int64_t first,
                  const struct pr_lay *to, struct pr_prim **ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* The layout it wants or gives; NULL when it has no such argument. In the
 * struct pr_dnn. */
const struct pr_lay *pr_prim_lay(const struct pr_prim *p, int arg);
size_t pr_prim_scratch(const struct pr_prim *p); /* bytes */
const char *pr_prim_impl(const struct pr_prim *p);
/* Without code for this processor: hundreds of times slower. */
bool pr_prim_is_slow(const struct pr_prim *p);

/* Names the memory of an argument, for all calls from now on. */
int pr_prim_bind(struct pr_prim *p, int arg, void *data,
                 struct pr_err *err) PR_MUST_CHECK;
/* Makes the code; before the first call. */
int pr_prim_ready(struct pr_prim *p, struct pr_err *err) PR_MUST_CHECK;
int pr_prim_run(struct pr_prim *p, struct pr_err *err) PR_MUST_CHECK;
/* Ends the one that was made last, before its struct pr_dnn does. */
void pr_prim_drop(struct pr_prim *p);

#endif
