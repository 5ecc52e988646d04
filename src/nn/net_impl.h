/*
 * Inside of the engine. A network is compiled once into a program: a list of
 * steps, each a primitive of oneDNN or a loop of ours, that work on tensors.
 * Forward comes first, then the loss, then backward and the updates. A tensor
 * lives from the first step that names it to the last; that is all the memory
 * plan needs to know.
 */
#ifndef PR_NN_NET_IMPL_H
#define PR_NN_NET_IMPL_H

#include "nn/dnn.h"
#include "nn/net.h"

enum { PR_NO_TENSOR = -1 };

/* Something with a place in memory. */
struct pr_nt {
    const struct pr_lay *lay; /* NULL: bytes alone */
    size_t bytes;
    bool is_kept;         /* from one call to the next */
    bool is_used;         /* by some step */
    unsigned first, last; /* steps that use it */
    unsigned owners;      /* of a gradient: values it is a term of */
    size_t at;            /* in the arena */
};

enum pr_stage { PR_STAGE_FORWARD, PR_STAGE_BACKWARD, PR_STAGE_UPDATE };

enum { PR_STEP_TENSORS = PR_CONCAT_INPUTS + 4 };

struct pr_step {
    int (*run)(struct pr_net *net, struct pr_step *s, struct pr_err *err);
    struct pr_prim *prim; /* NULL: a loop */
    unsigned layer;
    enum pr_stage stage;
    bool is_reorder;
    unsigned count;
    int tensors[PR_STEP_TENSORS];
    int args[PR_STEP_TENSORS]; /* of a primitive: enum pr_arg */
    struct pr_grid view;       /* of a loop, as all that follows */
    size_t elements;
    unsigned terms;
    unsigned param;
    bool relu;
    uint64_t ns;
};

/* What is learned, or kept with the weights. */
struct pr_param {
    unsigned layer;
    struct pr_layer_tensor is;
    const struct pr_lay *plain;         /* as callers see it */
    const struct pr_lay *lay;           /* as it lies */
    int value, gradient, first, second; /* first, second: optimiser's */
    size_t elements;                    /* of them, as they lie */
};

/* A layer while it is compiled and afterwards. */
struct pr_node {
    const struct pr_layer *layer;
    unsigned leader;  /* the layer whose output this one's is */
    unsigned follows; /* the input that leads there; of others than leaders */
    unsigned users;   /* layers that take its output */
    bool needs;       /* a gradient, as something before it learns */
    bool relu;        /* done along with it */
    int add;          /* batch norm, or a convolution that it was folded
                         into: layer that is added, or -1 */
    int fold;         /* convolution: batch norm folded into it, or -1 */
    int out;          /* tensor; of leaders */
    int src;          /* as the forward primitive took it */
    int work;         /* workspace */
    int params[PR_LAYER_TENSORS]; /* in net->params, or -1 */
    int exec_weights, exec_bias;  /* as the primitive takes them */
    int mean, inv_std;            /* batch norm, of the batch */
    struct pr_prim *forward;
    int terms[PR_TERMS]; /* of the gradient of out */
    unsigned term_count;
};

struct pr_net {
    const struct pr_model *model;
    struct pr_net_opts opts;
    struct pr_arena *arena;
    struct pr_dnn *dnn;
    struct pr_par *par;
    unsigned layer; /* being compiled, for messages and profiles */
    enum pr_stage stage;

    struct pr_node *nodes;
    struct pr_nt *tensors;
    size_t tensor_count, tensor_cap;
    struct pr_step *steps;
    size_t step_count, step_cap;
    struct pr_param *params;
    size_t param_count, param_cap;
    unsigned forward_steps;
    int input, labels, output, output_gradient, scratch;

    char *memory; /* one mapping for all tensors */
    size_t bytes, kept_bytes;
    uint64_t step_number; /* trained so far */
    uint64_t calls;       /* that were measured */
    bool is_stale;        /* folded weights are older than the weights */
};

/* ---- tensors (net_tensor.c) */

/* -1 and err: out of memory. */
int pr_nt_new(struct pr_net *net, const struct pr_lay *lay, size_t bytes,
              struct pr_err *err) PR_MUST_CHECK;
int pr_nt_keep(struct pr_net *net, const struct pr_lay *lay, size_t bytes,
               struct pr_err *err) PR_MUST_CHECK;
static inline const struct pr_lay *pr_nt_lay(const struct pr_net *net, int t)
{
    return net->tensors[t].lay;
}
static inline float *pr_nt_data(const struct pr_net *net, int t)
{
    return t < 0 ? NULL : (float *)(void *)(net->memory + net->tensors[t].at);
}
size_t pr_nt_elements(const struct pr_net *net, int t);

/* Plans and maps the memory, then names it to all primitives. */
int pr_net_place(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;
int pr_net_bind(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;
void pr_net_unmap(struct pr_net *net);

/* ---- steps (net_step.c) */

/* A step of the layer that is being compiled. NULL: out of memory. The pointer
 * holds until the next one. */
struct pr_step *pr_step_new(struct pr_net *net,
                            int (*run)(struct pr_net *net, struct pr_step *s,
                                       struct pr_err *err));
void pr_step_use(struct pr_net *net, struct pr_step *s, int arg, int tensor);

/* A step that calls a primitive; arguments are added with pr_step_use. Its
 * scratch memory is seen to. */
struct pr_step *pr_step_prim(struct pr_net *net, struct pr_prim *prim);

/* The tensor in that layout: itself, or a copy that a step makes. */
int pr_nt_in(struct pr_net *net, int tensor, const struct pr_lay *lay, int *ret,
             struct pr_err *err) PR_MUST_CHECK;

/* ---- gradients (net_gradient.c) */

/* The tensor is one more term of the gradient of what layer gives. */
int pr_grad_add(struct pr_net *net, unsigned layer, int tensor,
                struct pr_err *err) PR_MUST_CHECK;
/* All terms of a leader's gradient, which are the caller's then; owned says
 * which of them nobody else reads. */
unsigned pr_grad_take(struct pr_net *net, unsigned leader,
                      int terms[static PR_TERMS], bool owned[static PR_TERMS]);
/* Them as one tensor, with the mask of the layer's relu. */
int pr_grad_whole(struct pr_net *net, unsigned leader, int *ret, bool *ret_own,
                  struct pr_err *err) PR_MUST_CHECK;

/* ---- parameters (net_param.c) */

/* Parameter i of pr_layer_tensors. lay: how a primitive sees it, which may be
 * with more dimensions than the definition; it lies like that, or in plain
 * order. NULL: as the definition says. */
int pr_param_new(struct pr_net *net, unsigned layer, unsigned i,
                 const struct pr_lay *lay, bool plain,
                 struct pr_err *err) PR_MUST_CHECK;
/* Steps that update the layer's parameters. */
int pr_param_update(struct pr_net *net, unsigned layer,
                    struct pr_err *err) PR_MUST_CHECK;
/* Where a gradient goes. */
int pr_param_gradient(struct pr_net *net, unsigned param,
                      const struct pr_lay *lay, int *ret,
                      struct pr_err *err) PR_MUST_CHECK;
/* Random weights from the seed. */
int pr_param_init(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;
/* Values of a parameter as they lie, from or to plain order. */
int pr_param_copy(struct pr_net *net, const struct pr_param *p, int tensor,
                  float *plain, bool out, struct pr_err *err) PR_MUST_CHECK;
/* Weights with batch norm in them, where they are older than the weights. */
int pr_net_fold(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;

/* ---- operations: one file a kind; what a layer does */

struct pr_op {
    int (*forward)(struct pr_net *net, unsigned layer, struct pr_err *err);
    int (*backward)(struct pr_net *net, unsigned layer, struct pr_err *err);
};
extern const struct pr_op pr_op_product; /* conv, linear */
extern const struct pr_op pr_op_norm;
extern const struct pr_op pr_op_pool;
extern const struct pr_op pr_op_lrn;
extern const struct pr_op pr_op_mean; /* global_pool */
extern const struct pr_op pr_op_curve;
extern const struct pr_op pr_op_softmax;
extern const struct pr_op pr_op_dropout;
extern const struct pr_op pr_op_scale;
extern const struct pr_op pr_op_flatten;
extern const struct pr_op pr_op_concat;
extern const struct pr_op pr_op_add;

/* Which layers are done along with others (net_fuse.c). */
void pr_net_fuse(struct pr_net *net);
/* The whole program (net_compile.c). */
int pr_net_compile(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;

/* Shapes of a layer's output with the batch in front. */
unsigned pr_net_shape(const struct pr_net *net, unsigned layer,
                      int64_t at[static PR_LAY_DIMS]);

static inline struct pr_node *pr_net_leader(struct pr_net *net, unsigned layer)
{
    return &net->nodes[net->nodes[layer].leader];
}
/* The tensor that the layer's i-th input is. */
static inline int pr_net_in(struct pr_net *net, unsigned layer, unsigned i)
{
    return pr_net_leader(net, net->model->layers[layer].inputs[i])->out;
}

#endif
