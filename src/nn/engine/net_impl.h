/*
 * Inside of the engine. A network is compiled once into a program: a list of
 * steps, each a primitive of oneDNN or a loop of ours, that work on tensors.
 * Forward comes first, then the loss, then backward and the updates. A tensor
 * lives from the first step that names it to the last; that is all the memory
 * plan needs to know.
 */
#ifndef PR_NN_NET_IMPL_H
#define PR_NN_NET_IMPL_H

#include "nn/engine/net.h"
#include "nn/engine/onednn.h"

enum { PR_NO_TENSOR = -1 };

/* Something with a place in memory. */
struct pr_net_tensor_memory {
    const struct pr_layout *lay; /* NULL: bytes alone */
    size_t bytes;
    bool is_kept;         /* from one call to the next */
    bool is_used;         /* by some step */
    unsigned first, last; /* steps that use it */
    unsigned owners;      /* of a gradient: values it is a term of */
    unsigned flat;        /* gradients of a turn that lie side by side: the
                             turn, from 1; 0: anywhere */
    size_t at;            /* in the arena */
};

enum pr_stage { PR_STAGE_FORWARD, PR_STAGE_BACKWARD, PR_STAGE_UPDATE };

enum { PR_NET_STEP_TENSORS = PR_CONCAT_INPUTS + 4 };

struct pr_net_step;
typedef int pr_net_step_fn(struct pr_net *net, struct pr_net_step *s,
                           struct pr_err *err);

struct pr_net_step {
    pr_net_step_fn *run;
    struct pr_primitive *prim; /* NULL: a loop */
    unsigned layer;
    enum pr_stage stage;
    bool is_reorder;
    unsigned count;
    int tensors[PR_NET_STEP_TENSORS];
    int args[PR_NET_STEP_TENSORS]; /* of a primitive: enum pr_arg */
    struct pr_grid view;           /* of a loop, as all that follows */
    size_t elements;
    unsigned terms;
    unsigned param; /* or loss */
    bool relu;
    uint64_t ns;
};

/* What is learned, or kept with the weights. */
struct pr_net_param {
    unsigned layer;
    struct pr_layer_tensor is;
    const struct pr_layout *plain;      /* as callers see it */
    const struct pr_layout *lay;        /* as it lies */
    int value, gradient, first, second; /* first, second: optimiser's */
    size_t elements;                    /* of them, as they lie */
    unsigned uses;  /* layers whose gradient of it is still to come */
    bool is_sparse; /* the layer updates it itself, by rows */
};

enum { PR_NODE_EXTRA = 6 };

/* A turn of the program: forward and losses, then backward and updates. */
struct pr_net_turn {
    unsigned first, backward, end; /* steps */
    size_t flat, flat_bytes;       /* its gradients in memory */
};

/* Tensors of a loss, those that it has not are PR_NO_TENSOR. */
struct pr_net_loss {
    int x[2], dx[2], targets[2], weights, lengths, work;
};

/* A layer while it is compiled and afterwards. */
struct pr_net_node {
    const struct pr_layer *layer;
    unsigned leader;  /* the layer whose output this one's is */
    unsigned follows; /* the input that leads there; of others than leaders */
    unsigned users;   /* layers that take its output */
    bool needs;       /* a gradient, as something before it learns, in the
                         turn that is compiled */
    bool reached;     /* leads to a loss of that turn */
    bool is_computed; /* inference leaves out what the output does not need */
    bool relu;        /* done along with it */
    int add;          /* batch norm, or a convolution that it was folded
                         into: layer that is added, or -1 */
    int fold;         /* convolution: batch norm folded into it, or -1 */
    int out;          /* tensor; of leaders */
    int src;          /* as the forward primitive took it */
    int work;         /* workspace */
    int params[PR_LAYER_TENSORS]; /* in net->params, or -1 */
    int exec_weights, exec_bias;  /* as the primitive takes them */
    int mean, inv_std;            /* norms, of the batch */
    int extra[PR_NODE_EXTRA];     /* what else an operation keeps */
    int grads[PR_LAYER_TENSORS];  /* of its parameters, in this turn, or -1 */
    unsigned backs; /* gradients computed from it, in all turns: of weights and
                       of its input */
    struct pr_primitive *forward;
    int terms[PR_TERMS]; /* of the gradient of out */
    unsigned term_count;
};

struct pr_net {
    const struct pr_model *model;
    struct pr_net_opts opts;
    struct pr_arena *arena;
    struct pr_onednn *dnn;
    struct pr_threads *par;
    unsigned layer; /* being compiled, for messages and profiles */
    unsigned turn;  /* … */
    enum pr_stage stage;

    struct pr_net_node *nodes;
    struct pr_net_tensor_memory *tensors;
    size_t tensor_count, tensor_cap;
    struct pr_net_step *steps;
    size_t step_count, step_cap;
    struct pr_net_param *params;
    size_t param_count, param_cap;
    struct pr_net_turn *turns;
    unsigned forward_steps; /* of a net for inference: all */
    int output, scratch;
    struct pr_net_loss *losses; /* as many as the model has */
    struct pr_net_score score;  /* of the call that runs */

    char *memory; /* one mapping for all tensors */
    size_t bytes, kept_bytes;
    uint64_t step_number; /* trained so far */
    uint64_t calls;       /* that were measured */
    bool is_stale;        /* folded weights are older than the weights */
};

/* ---- tensors (net_memory.c) */

/* -1 and err: out of memory. */
int pr_net_tensor_new(struct pr_net *net, const struct pr_layout *lay,
                      size_t bytes, struct pr_err *err) PR_MUST_CHECK;
int pr_net_tensor_new_kept(struct pr_net *net, const struct pr_layout *lay,
                           size_t bytes, struct pr_err *err) PR_MUST_CHECK;
static inline const struct pr_layout *
pr_net_tensor_layout(const struct pr_net *net, int t)
{
    return net->tensors[t].lay;
}
static inline float *pr_net_tensor_data(const struct pr_net *net, int t)
{
    return t < 0 ? NULL : (float *)(void *)(net->memory + net->tensors[t].at);
}
size_t pr_net_tensor_elements(const struct pr_net *net, int t);

/* Plans and maps the memory, then names it to all primitives. */
int pr_net_place_memory(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;
int pr_net_bind_memory(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;
void pr_net_unmap_memory(struct pr_net *net);

/* ---- steps (net_memory.c) */

/* A step of the layer that is being compiled. NULL: out of memory. The pointer
 * holds until the next one. */
struct pr_net_step *pr_net_step_new(struct pr_net *net, pr_net_step_fn *run);
/* The one that was made last. */
static inline struct pr_net_step *pr_net_last_step(struct pr_net *net)
{
    return &net->steps[net->step_count - 1];
}
void pr_net_step_use(struct pr_net *net, struct pr_net_step *s, int arg,
                     int tensor);

/* A step that calls a primitive; arguments are added with pr_net_step_use. Its
 * scratch memory is seen to. */
struct pr_net_step *pr_net_step_primitive(struct pr_net *net,
                                          struct pr_primitive *prim);

/* What lies in src goes to dst. A layout of NULL is one that memory did not
 * suffice for. */
int pr_net_step_reorder(struct pr_net *net, const struct pr_layout *from,
                        int src, const struct pr_layout *to, int dst,
                        struct pr_err *err) PR_MUST_CHECK;

/* The tensor in that layout: itself, or a copy that a step makes. */
int pr_net_tensor_in_layout(struct pr_net *net, int tensor,
                            const struct pr_layout *lay, int *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* ---- gradients (net_gradient.c) */

/* The tensor is one more term of the gradient of what layer gives. */
int pr_net_gradient_add(struct pr_net *net, unsigned layer, int tensor,
                        struct pr_err *err) PR_MUST_CHECK;
/* All terms of a leader's gradient, which are the caller's then; owned says
 * which of them nobody else reads. */
unsigned pr_net_gradient_terms(struct pr_net *net, unsigned leader,
                               int terms[static PR_TERMS],
                               bool owned[static PR_TERMS]);
/* Them as one tensor, with the mask of the layer's relu. */
int pr_net_gradient_sum(struct pr_net *net, unsigned leader, int *ret,
                        bool *ret_own, struct pr_err *err) PR_MUST_CHECK;

/* What a step that sums terms runs: tensors y, then the terms. */
int pr_net_run_sum(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err);

/* ---- parameters (net.c, net_memory.c) */

/* Parameter i of pr_layer_tensors, made by the layer that owns it, found again
 * by those that are like it. lay: how a primitive sees it, which may be with
 * more dimensions than the definition; it lies like that, or in plain order.
 * NULL: as the definition says. What a primitive takes may so be in another
 * layout: pr_net_tensor_in_layout. */
int pr_net_param_new(struct pr_net *net, unsigned layer, unsigned i,
                     const struct pr_layout *lay, bool plain,
                     struct pr_err *err) PR_MUST_CHECK;
/* The tensor of it. */
static inline int pr_net_param_value(const struct pr_net *net, unsigned layer,
                                     unsigned i)
{
    return net->params[net->nodes[layer].params[i]].value;
}
/* Whether the layer's parameters are updated in the turn that is compiled. */
bool pr_net_param_is_updated(const struct pr_net *net, unsigned layer);
/* Where a layer's gradient of its parameter i goes: all of it is to be
 * written. lay: NULL, or the layout that a primitive writes. */
int pr_net_param_gradient(struct pr_net *net, unsigned layer, unsigned i,
                          const struct pr_layout *lay, int *ret,
                          struct pr_err *err) PR_MUST_CHECK;
/* At the end of a layer's backward: its gradients are there. Updates what no
 * other layer adds to. */
int pr_net_param_update(struct pr_net *net, unsigned layer,
                        struct pr_err *err) PR_MUST_CHECK;
/* At the end of a turn: what had to wait for all gradients. */
int pr_net_compile_updates(struct pr_net *net,
                           struct pr_err *err) PR_MUST_CHECK;
/* Values of a parameter as they lie, from or to plain order. */
int pr_net_param_copy(struct pr_net *net, const struct pr_net_param *p,
                      int tensor, float *plain, bool out,
                      struct pr_err *err) PR_MUST_CHECK;
/* Weights with batch norm in them, where they are older than the weights. */
int pr_net_fold_norms(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;

/* ---- what operations have in common (op.c) */

/* The layer's output in plain order: [batch * rows, features] where a sample is
 * [rows, features]. NULL: out of memory. */
const struct pr_layout *pr_op_plain_layout(struct pr_net *net, unsigned layer);
/* Input i in plain order; of ids: int32_t, as they lie. */
int pr_op_input_tensor(struct pr_net *net, unsigned layer, unsigned i, int *ret,
                       struct pr_err *err) PR_MUST_CHECK;
/* Makes the output, in plain order. */
int pr_op_new_output(struct pr_net *net, unsigned layer,
                     struct pr_err *err) PR_MUST_CHECK;
/* Room for so many floats: between steps; or from call to call, 0 at first. */
int pr_op_new_room(struct pr_net *net, size_t floats, int *ret,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_op_new_kept(struct pr_net *net, size_t floats, int *ret,
                   struct pr_err *err) PR_MUST_CHECK;
/* A step of the layer that is being compiled, on these tensors (those below 0
 * are left out, and may only come last). */
int pr_op_step(struct pr_net *net, pr_net_step_fn *run, const int *tensors,
               unsigned count, struct pr_err *err) PR_MUST_CHECK;
#define PR_OP_STEP(net, run, err, ...)               \
    pr_op_step(net, run, (const int[]){__VA_ARGS__}, \
               sizeof((const int[]){__VA_ARGS__}) / sizeof(int), err)
/* Backward: the gradient of the layer's output in plain order, in one piece.
 * *ret_own: nobody else reads it, it may be overwritten. */
int pr_op_gradient(struct pr_net *net, unsigned layer, int *ret, bool *ret_own,
                   struct pr_err *err) PR_MUST_CHECK;
/* Whether input i wants a gradient. */
bool pr_op_needs_gradient(struct pr_net *net, unsigned layer, unsigned i);
/* The tensor, in plain order like that input, is a term of its gradient. */
int pr_op_give_gradient(struct pr_net *net, unsigned layer, unsigned i,
                        int tensor, struct pr_err *err) PR_MUST_CHECK;

/* While a step runs. */
static inline float *pr_op_data(const struct pr_net *net,
                                const struct pr_net_step *s, unsigned i)
{
    return pr_net_tensor_data(net, s->tensors[i]);
}
static inline const struct pr_layer *pr_op_layer(const struct pr_net *net,
                                                 const struct pr_net_step *s)
{
    return &net->model->layers[s->layer];
}
static inline const struct pr_layer *
pr_op_input(const struct pr_net *net, const struct pr_layer *l, unsigned i)
{
    return &net->model->layers[l->inputs[i]];
}
/* Numbers in a sample of the layer's output. */
size_t pr_op_sample_numbers(const struct pr_layer *l);

/* ---- operations: what a layer does (op/). A backward pass is compiled once
 * for each turn that needs it. */

struct pr_op {
    int (*forward)(struct pr_net *net, unsigned layer, struct pr_err *err);
    int (*backward)(struct pr_net *net, unsigned layer, struct pr_err *err);
};
extern const struct pr_op pr_op_product; /* conv, transposed_conv, linear */
extern const struct pr_op pr_op_norm;
extern const struct pr_op pr_op_pool;
extern const struct pr_op pr_op_lrn;
extern const struct pr_op pr_op_mean;  /* global_pool */
extern const struct pr_op pr_op_curve; /* relu, leaky_relu, gelu … */
extern const struct pr_op pr_op_softmax;
extern const struct pr_op pr_op_dropout;
extern const struct pr_op pr_op_scale;
extern const struct pr_op pr_op_flatten; /* and reshape */
extern const struct pr_op pr_op_concat;
extern const struct pr_op pr_op_add;
extern const struct pr_op pr_op_multiply;
extern const struct pr_op pr_op_row_norm; /* layer_norm, instance_norm */
extern const struct pr_op pr_op_embedding;
extern const struct pr_op pr_op_gather;
extern const struct pr_op pr_op_attention;
extern const struct pr_op pr_op_additive;
extern const struct pr_op pr_op_rnn;  /* lstm, gru */
extern const struct pr_op pr_op_move; /* transpose, slice, pixel_shuffle,
                                         upsample, reflect_pad */
extern const struct pr_op pr_op_gram;

/* The losses of the turn (net_gradient.c). */
int pr_net_compile_losses(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;

/* Which layers are done along with others. */
void pr_net_fuse(struct pr_net *net);
/* The whole program. */
int pr_net_compile(struct pr_net *net, struct pr_err *err) PR_MUST_CHECK;

/* Shapes of a layer's output with the batch in front. */
unsigned pr_net_shape(const struct pr_net *net, unsigned layer,
                      int64_t at[static PR_LAYOUT_DIMS]);

static inline struct pr_net_node *pr_net_leader(struct pr_net *net,
                                                unsigned layer)
{
    return &net->nodes[net->nodes[layer].leader];
}
/* The tensor that the layer's i-th input is. */
static inline int pr_net_layer_input(struct pr_net *net, unsigned layer,
                                     unsigned i)
{
    return pr_net_leader(net, net->model->layers[layer].inputs[i])->out;
}

#endif
