/*
 * The few things that the engine asks of oneDNN, the same for its versions 2
 * and 3: layouts of tensors, and primitives that compute on them. The library
 * is loaded when first needed. Layouts and primitives belong to the struct
 * pr_onednn they were made with and go with it.
 */
#ifndef PR_NN_ONEDNN_H
#define PR_NN_ONEDNN_H

#include "base/err.h"
#include "base/mem.h"
#include "nn/kernel/kernels.h"

#include <oneapi/dnnl/dnnl.h>

struct pr_onednn;
struct pr_layout;    /* shape, type and layout of a tensor */
struct pr_primitive; /* something to be computed */

/* "2.6.3"; PR_E_UNAVAIL with the remedy without the library. */
int pr_onednn_version(char out[static 32], struct pr_err *err) PR_MUST_CHECK;

int pr_onednn_new(struct pr_onednn **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_onednn_free(struct pr_onednn *d); /* NULL is fine */
/* Whether there was no memory for a layout since: one that is not there may
 * mean that, or that a primitive has no such argument. */
bool pr_onednn_is_out_of_memory(const struct pr_onednn *d);

/* ---- layouts */

enum { PR_LAYOUT_DIMS = 5 };
enum pr_layout_type { PR_LAYOUT_F32, PR_LAYOUT_BF16 };
enum pr_layout_kind {
    PR_LAYOUT_ANY,   /* oneDNN shall choose; has no size */
    PR_LAYOUT_PLAIN, /* the last dimension is dense */
};

/* NULL: out of memory. */
const struct pr_layout *pr_layout_new(struct pr_onednn *d,
                                      enum pr_layout_kind kind,
                                      enum pr_layout_type type, unsigned dims,
                                      const int64_t *at);
/* The same layout and type with the dimensions [N, C, …] of another. NULL: it
 * is not of a kind that can be had for others. */
const struct pr_layout *pr_layout_like(struct pr_onednn *d,
                                       const struct pr_layout *lay,
                                       unsigned dims, const int64_t *at);
size_t pr_layout_bytes(const struct pr_layout *lay);
bool pr_layout_is_same(const struct pr_layout *a, const struct pr_layout *b);
unsigned pr_layout_dims(const struct pr_layout *lay,
                        int64_t at[static PR_LAYOUT_DIMS]);

/* How loops of ours walk a tensor [N, C, …]; false: they cannot. */
bool pr_layout_view(const struct pr_layout *lay, struct pr_grid *ret);

/* "nChw8c", "nchw", "nhwc", "nc", "other". */
const char *pr_layout_name(const struct pr_layout *lay);

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
/* On all threads; on the caller alone inside a loop of pr_threads_run. */
int pr_onednn_gemm(const struct pr_onednn *d, const struct pr_gemm *g,
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
 * is not looked at. Layouts may be PR_LAYOUT_ANY. src stands for its gradient
 * in PR_BACKWARD_DATA, weights and bias in PR_BACKWARD_WEIGHTS, dst in both. */
struct pr_product {
    bool is_linear, training;
    bool relu; /* forward: dst = relu(…) */
    bool sum;  /* forward: … + what dst held before */
    const struct pr_layout *src, *weights, *bias, *dst; /* bias may be NULL */
    int64_t stride[2], dilation[2], pad[4];
};
/* forward is the primitive of the forward pass, for the other two. PR_E_UNAVAIL
 * where oneDNN cannot. */
int pr_primitive_product(struct pr_onednn *d, enum pr_pass pass,
                         const struct pr_product *what,
                         const struct pr_primitive *forward,
                         struct pr_primitive **ret,
                         struct pr_err *err) PR_MUST_CHECK;

enum pr_pool_kind { PR_POOL_MAX, PR_POOL_MEAN, PR_POOL_MEAN_PADDED };
struct pr_pool {
    enum pr_pool_kind kind;
    bool training;
    const struct pr_layout *src, *dst; /* src not any; or their gradients */
    int64_t kernel[2], stride[2], pad[4];
};
int pr_primitive_pool(struct pr_onednn *d, enum pr_pass pass,
                      const struct pr_pool *what,
                      const struct pr_primitive *forward,
                      struct pr_primitive **ret,
                      struct pr_err *err) PR_MUST_CHECK;

struct pr_lrn {
    bool training;
    const struct pr_layout *src; /* of all that goes in and out */
    int64_t size;
    double alpha, beta, k;
};
int pr_primitive_lrn(struct pr_onednn *d, enum pr_pass pass,
                     const struct pr_lrn *what,
                     const struct pr_primitive *forward,
                     struct pr_primitive **ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* An lstm, or a gru whose reset comes after the product. SRC and DST lie as
 * [batch, rows, numbers]; weights as it likes, see pr_layout_gates; bias as
 * [gates, out], four of a gru: the last is added to the product with the
 * state. Gates of a gru are in the order update, reset, new. States are
 * [batch, out], only with has_state. */
struct pr_recurrent {
    bool is_gru, training, reverse, has_state;
    int64_t batch, rows, in, out;
};
/* forward: that primitive, to make the one that goes back; NULL: to make it. */
int pr_primitive_recurrent(struct pr_onednn *d, const struct pr_recurrent *what,
                           const struct pr_primitive *forward,
                           struct pr_primitive **ret,
                           struct pr_err *err) PR_MUST_CHECK;
/* A plain [gates * out, in] as that primitive's weights are described. */
const struct pr_layout *pr_layout_gates(struct pr_onednn *d, int64_t gates,
                                        int64_t out, int64_t in);

/* Of channels. dst may be PR_LAYOUT_ANY. */
int pr_primitive_concat(struct pr_onednn *d,
                        const struct pr_layout *const *srcs, unsigned count,
                        const struct pr_layout *dst, struct pr_primitive **ret,
                        struct pr_err *err) PR_MUST_CHECK;

int pr_primitive_reorder(struct pr_onednn *d, const struct pr_layout *from,
                         const struct pr_layout *to, struct pr_primitive **ret,
                         struct pr_err *err) PR_MUST_CHECK;
/* From channel `first` on: takes that part out of from, a larger tensor. */
int pr_primitive_slice(struct pr_onednn *d, const struct pr_layout *from,
                       int64_t first, const struct pr_layout *to,
                       struct pr_primitive **ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* The layout it wants or gives; NULL when it has no such argument. In the
 * struct pr_onednn. */
const struct pr_layout *pr_primitive_layout(const struct pr_primitive *p,
                                            int arg);
size_t pr_primitive_scratch_bytes(const struct pr_primitive *p); /* bytes */
const char *pr_primitive_impl(const struct pr_primitive *p);
/* Without code for this processor: hundreds of times slower. */
bool pr_primitive_is_slow(const struct pr_primitive *p);

/* Names the memory of an argument, for all calls from now on. */
int pr_primitive_bind(struct pr_primitive *p, int arg, void *data,
                      struct pr_err *err) PR_MUST_CHECK;
/* Makes the code; before the first call. */
int pr_primitive_make_ready(struct pr_primitive *p,
                            struct pr_err *err) PR_MUST_CHECK;
int pr_primitive_run(struct pr_primitive *p, struct pr_err *err) PR_MUST_CHECK;
/* Ends the one that was made last, before its struct pr_onednn does. */
void pr_primitive_drop(struct pr_primitive *p);

/* ---- inside of onednn*.c: oneDNN's own types */

/* The library's functions; it brings an OpenMP runtime and OpenCL with it, so
 * it is loaded when first needed. */
struct pr_onednn_api {
#define FUNC(name) __typeof__(name) *name;
#include "nn/engine/onednn_api.def"
#undef FUNC
};

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t pr_onednn_md; /* as functions take it */
typedef dnnl_memory_desc_t pr_onednn_md_own;   /* as it is kept */
#else
typedef const dnnl_memory_desc_t *pr_onednn_md;
typedef dnnl_memory_desc_t pr_onednn_md_own;
#endif

/* Where things of a tensor lie, by oneDNN's description. */
struct pr_layout {
    const struct pr_onednn_api *api;
    struct pr_layout *next; /* of all that the struct pr_onednn has */
    pr_onednn_md_own md;
    bool is_any;
    enum pr_layout_type type;
    unsigned dims;
    int64_t at[PR_LAYOUT_DIMS], padded[PR_LAYOUT_DIMS], stride[PR_LAYOUT_DIMS];
    int blocks; /* inner ones; -1: something else */
    int64_t block, block_of;
    char name[16];
};

struct pr_onednn {
    const struct pr_onednn_api *api;
    struct pr_arena *arena;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct pr_layout *lays;
    struct pr_primitive *prims;
    bool is_short; /* a layout did not fit into memory */
};

enum { PR_PRIMITIVE_ARGS = PR_ARG_COUNT + PR_CONCAT_INPUTS };

struct pr_primitive {
    struct pr_onednn *dnn;
    struct pr_primitive *next;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t prim; /* NULL until it is ready */
    bool is_recurrent;     /* has arguments of its own */
    int arg_count;
    dnnl_exec_arg_t args[PR_PRIMITIVE_ARGS];
};

static inline pr_onednn_md pr_layout_md(const struct pr_layout *lay)
{
#if DNNL_VERSION_MAJOR >= 3
    return lay ? lay->md : NULL;
#else
    return lay ? &lay->md : NULL;
#endif
}

/* One of these dimensions in a format of oneDNN's. NULL: out of memory, or it
 * has no such layout. */
const struct pr_layout *pr_layout_tagged(struct pr_onednn *d,
                                         enum pr_layout_type type,
                                         unsigned dims, const int64_t *at,
                                         dnnl_format_tag_t tag);

/* Attributes of a primitive that works in memory of ours. */
dnnl_status_t pr_primitive_new_attr(const struct pr_onednn_api *f,
                                    dnnl_primitive_attr_t *ret);

/* Ends a description: attr is freed, what came of it becomes a primitive. */
int pr_primitive_finish(struct pr_onednn *d, dnnl_primitive_attr_t attr,
                        dnnl_status_t status, dnnl_primitive_desc_t desc,
                        struct pr_primitive **ret,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
