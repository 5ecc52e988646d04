/* Inside of dnn_*.c: oneDNN's own types. Nobody else includes this. */
#ifndef PR_NN_DNN_IMPL_H
#define PR_NN_DNN_IMPL_H

#include "base/mem.h"
#include "nn/engine/dnn.h"

#include <oneapi/dnnl/dnnl.h>

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

/* Takes a description over, or copies it. NULL: out of memory. */
struct pr_layout *pr_layout_from_md(struct pr_onednn *d, pr_onednn_md md);

/* Attributes of a primitive that works in memory of ours. */
dnnl_status_t pr_primitive_new_attr(const struct pr_onednn_api *f,
                                    dnnl_primitive_attr_t *ret);

/* Ends a description: attr is freed, what came of it becomes a primitive. */
int pr_primitive_finish(struct pr_onednn *d, dnnl_primitive_attr_t attr,
                        dnnl_status_t status, dnnl_primitive_desc_t desc,
                        struct pr_primitive **ret,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
