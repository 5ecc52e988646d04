/* Inside of dnn_*.c: oneDNN's own types. Nobody else includes this. */
#ifndef PR_NN_DNN_IMPL_H
#define PR_NN_DNN_IMPL_H

#include "base/arena.h"
#include "nn/dnn.h"

#include <oneapi/dnnl/dnnl.h>

/* The library's functions; it brings an OpenMP runtime and OpenCL with it, so
 * it is loaded when first needed. */
struct pr_dnn_api {
#define FUNC(name) __typeof__(name) *name;
#include "nn/dnn_api.def"
#undef FUNC
};
int pr_dnn_load(const struct pr_dnn_api **ret,
                struct pr_err *err) PR_MUST_CHECK;

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t pr_dnn_md; /* as functions take it */
typedef dnnl_memory_desc_t pr_dnn_md_own;   /* as it is kept */
#else
typedef const dnnl_memory_desc_t *pr_dnn_md;
typedef dnnl_memory_desc_t pr_dnn_md_own;
#endif

/* Where things of a tensor lie, by oneDNN's description. */
struct pr_lay {
    const struct pr_dnn_api *api;
    struct pr_lay *next; /* of all that the struct pr_dnn has */
    pr_dnn_md_own md;
    bool is_any;
    enum pr_lay_type type;
    unsigned dims;
    int64_t at[PR_LAY_DIMS], padded[PR_LAY_DIMS], stride[PR_LAY_DIMS];
    int blocks; /* inner ones; -1: something else */
    int64_t block, block_of;
    char name[16];
};

struct pr_dnn {
    const struct pr_dnn_api *api;
    struct pr_arena *arena;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct pr_lay *lays;
    struct pr_prim *prims;
    bool is_short; /* a layout did not fit into memory */
};

enum { PR_PRIM_ARGS = PR_ARG_COUNT + PR_CONCAT_INPUTS };

struct pr_prim {
    struct pr_dnn *dnn;
    struct pr_prim *next;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t prim; /* NULL until it is ready */
    bool is_recurrent;     /* has arguments of its own */
    int arg_count;
    dnnl_exec_arg_t args[PR_PRIM_ARGS];
};

static inline pr_dnn_md pr_lay_md(const struct pr_lay *lay)
{
#if DNNL_VERSION_MAJOR >= 3
    return lay ? lay->md : NULL;
#else
    return lay ? &lay->md : NULL;
#endif
}

/* Takes a description over, or copies it. NULL: out of memory. */
struct pr_lay *pr_lay_take(struct pr_dnn *d, pr_dnn_md md);

/* A new primitive of this description, which it owns from now on. */
int pr_prim_take(struct pr_dnn *d, dnnl_primitive_desc_t desc,
                 struct pr_prim **ret, struct pr_err *err) PR_MUST_CHECK;

/* Attributes of a primitive that works in memory of ours. */
dnnl_status_t pr_prim_attr(const struct pr_dnn_api *f,
                           dnnl_primitive_attr_t *ret);

/* Ends a description: attr is freed, what came of it becomes a primitive. */
int pr_prim_end(struct pr_dnn *d, dnnl_primitive_attr_t attr,
                dnnl_status_t status, dnnl_primitive_desc_t desc,
                struct pr_prim **ret, struct pr_err *err) PR_MUST_CHECK;

#endif
