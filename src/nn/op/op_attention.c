/*
 * Attention: queries, keys and values are three inputs, or, unless it is the
 * additive one, lie side by side in one. Gradients are written in the same way,
 * without copies.
 */
#include "nn/kernel/kernel_attention.h"
#include "nn/op/op.h"

/* ---- additive attention */

/* What the node keeps: inputs as they were taken, probabilities. */
enum {
    OP_ADDITIVE_Q,
    OP_ADDITIVE_K,
    OP_ADDITIVE_V,
    OP_ADDITIVE_LENGTHS,
    OP_ADDITIVE_PROBABILITIES
};

static void additive_fill_shape(const struct pr_net *net,
                                const struct pr_layer *l,
                                struct pr_additive *ret)
{
    *ret = (struct pr_additive){
        .samples = net->opts.batch,
        .queries = (size_t)l->shape.at[0],
        .keys = (size_t)pr_op_input(net, l, OP_ADDITIVE_K)->shape.at[0],
        .width = (size_t)pr_op_input(net, l, OP_ADDITIVE_K)->shape.at[1],
        .value_width = (size_t)l->shape.at[1],
    };
}

/* Tensors from `at` on: q, k, v, probabilities, lengths. */
static void additive_fill_args(const struct pr_net *net,
                               const struct pr_net_step *s, unsigned at,
                               struct pr_additive *ret)
{
    const struct pr_layer *l = pr_op_layer(net, s);

    additive_fill_shape(net, l, ret);
    ret->q = pr_op_data(net, s, at);
    ret->k = pr_op_data(net, s, at + 1);
    ret->v = pr_op_data(net, s, at + 2);
    ret->p = pr_op_data(net, s, at + 3);
    ret->w = pr_net_tensor_data(net, pr_net_param_value(net, s->layer, 0));
    if (l->has_lengths)
        ret->lengths =
            (const int32_t *)(const void *)pr_op_data(net, s, at + 4);
}

/* ---- additive: forward. Tensors: y, then those of additive_fill_args(). */

static int run_additive(struct pr_net *net, struct pr_net_step *s,
                        struct pr_err *err)
{
    struct pr_additive a;
    int rc = PR_OK;

    additive_fill_args(net, s, 1, &a);
    if (a.lengths)
        rc = pr_op_check_lengths(net, s, a.lengths, (int64_t)a.keys, err);
    if (!rc)
        pr_kernel_additive(net->par, &a, pr_op_data(net, s, 0));
    return rc;
}

static int additive_attention_forward(struct pr_net *net, unsigned layer,
                                      struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int *x = n->extra, rc = pr_net_param_new(net, layer, 0, NULL, true, err);
    struct pr_additive a;

    additive_fill_shape(net, n->layer, &a);
    x[OP_ADDITIVE_LENGTHS] = PR_NO_TENSOR;
    for (unsigned i = OP_ADDITIVE_Q;
         i <= (n->layer->has_lengths ? OP_ADDITIVE_LENGTHS : OP_ADDITIVE_V) &&
         !rc;
         i++)
        rc = pr_op_input_tensor(net, layer, i, &x[i], err);
    if (!rc)
        rc = pr_op_new_room(net, a.samples * a.queries * a.keys,
                            &x[OP_ADDITIVE_PROBABILITIES], err);
    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (rc)
        return rc;
    return PR_OP_STEP(net, run_additive, err, n->out, x[OP_ADDITIVE_Q],
                      x[OP_ADDITIVE_K], x[OP_ADDITIVE_V],
                      x[OP_ADDITIVE_PROBABILITIES], x[OP_ADDITIVE_LENGTHS]);
}

/* ---- additive: backward. Tensors: dy, dq, dk, dv, dw (where dy stands for
 * those that are not wanted), work, then those of additive_fill_args(). */

enum { DW = 3, GRADIENTS };

static int run_additive_back(struct pr_net *net, struct pr_net_step *s,
                             struct pr_err *err)
{
    struct pr_additive a;
    float *to[GRADIENTS];

    (void)err;
    additive_fill_args(net, s, 2 + GRADIENTS, &a);
    for (unsigned i = 0; i < GRADIENTS; i++)
        to[i] = s->tensors[1 + i] == s->tensors[0] ? NULL
                                                   : pr_op_data(net, s, 1 + i);
    pr_kernel_additive_back(net->par, &a,
                            &(struct pr_additive_back){
                                .dy = pr_op_data(net, s, 0),
                                .dq = to[OP_ADDITIVE_Q],
                                .dk = to[OP_ADDITIVE_K],
                                .dv = to[OP_ADDITIVE_V],
                                .dw = to[DW],
                                .work = pr_op_data(net, s, 1 + GRADIENTS),
                            });
    return PR_OK;
}

static int additive_make_gradients(struct pr_net *net, unsigned layer, int dy,
                                   int to[static GRADIENTS], struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];

    to[DW] = dy;
    for (unsigned i = OP_ADDITIVE_Q; i <= OP_ADDITIVE_V; i++) {
        to[i] = pr_op_needs_gradient(net, layer, i)
                    ? pr_net_tensor_new(
                          net, pr_net_tensor_layout(net, n->extra[i]), 0, err)
                    : dy;
        if (to[i] < 0)
            return PR_E_NOMEM;
    }
    return pr_net_param_is_updated(net, layer)
               ? pr_net_param_gradient(net, layer, 0, NULL, &to[DW], err)
               : PR_OK;
}

static int additive_emit_backward(struct pr_net *net, unsigned layer, int dy,
                                  int to[static GRADIENTS], struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    const int *x = n->extra;
    struct pr_additive a;
    int work, rc;

    additive_fill_shape(net, n->layer, &a);
    rc = additive_make_gradients(net, layer, dy, to, err);
    if (!rc)
        rc = pr_op_new_room(net, pr_kernel_additive_work(&a), &work, err);
    return rc ? rc
              : PR_OP_STEP(net, run_additive_back, err, dy, to[OP_ADDITIVE_Q],
                           to[OP_ADDITIVE_K], to[OP_ADDITIVE_V], to[DW], work,
                           x[OP_ADDITIVE_Q], x[OP_ADDITIVE_K], x[OP_ADDITIVE_V],
                           x[OP_ADDITIVE_PROBABILITIES],
                           x[OP_ADDITIVE_LENGTHS]);
}

static int additive_attention_backward(struct pr_net *net, unsigned layer,
                                       struct pr_err *err)
{
    int dy = PR_NO_TENSOR, to[GRADIENTS], rc;
    bool own;

    rc = pr_op_gradient(net, layer, &dy, &own, err);
    if (!rc)
        rc = additive_emit_backward(net, layer, dy, to, err);
    for (unsigned i = OP_ADDITIVE_Q; i <= OP_ADDITIVE_V && !rc; i++)
        if (to[i] != dy)
            rc = pr_op_give_gradient(net, layer, i, to[i], err);
    if (!rc && pr_net_param_is_updated(net, layer))
        rc = pr_net_param_update(net, layer, err);
    return rc;
}

const struct pr_op pr_op_additive = {additive_attention_forward,
                                     additive_attention_backward};

/* What the node keeps: q, k and v as they were taken (the same tensor where
 * they are one), lengths, probabilities. */
enum { Q, K, V, LENGTHS, PROBABILITIES };

static bool is_one_input(const struct pr_layer *l)
{
    return l->input_count - l->has_lengths == 1;
}

static void attention_fill_shape(const struct pr_net *net,
                                 const struct pr_layer *l,
                                 struct pr_attention *ret)
{
    size_t width = (size_t)l->shape.at[1], heads = (size_t)l->heads;
    size_t ld = is_one_input(l) ? 3 * width : width;

    *ret = (struct pr_attention){
        .samples = net->opts.batch,
        .heads = heads,
        .queries = (size_t)l->shape.at[0],
        .keys =
            (size_t)pr_op_input(net, l, is_one_input(l) ? 0 : 1)->shape.at[0],
        .width = width / heads,
        .value_width = width / heads,
        .ldq = ld,
        .ldk = ld,
        .ldv = ld,
        .ldy = width,
        .causal = l->causal,
    };
}

/* Tensors from `at` on: q, k, v, probabilities, work, lengths. */
static void attention_fill_args(const struct pr_net *net,
                                const struct pr_net_step *s, unsigned at,
                                struct pr_attention *ret)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t next = is_one_input(l) ? (size_t)l->shape.at[1] : 0;

    attention_fill_shape(net, l, ret);
    ret->q = pr_op_data(net, s, at);
    ret->k = pr_op_data(net, s, at + 1) + next;
    ret->v = pr_op_data(net, s, at + 2) + 2 * next;
    ret->p = pr_op_data(net, s, at + 3);
    ret->work = pr_op_data(net, s, at + 4);
    if (l->has_lengths)
        ret->lengths =
            (const int32_t *)(const void *)pr_op_data(net, s, at + 5);
}

/* ---- attention: forward. Tensors: y, then those of attention_fill_args();
 * without backward there are no probabilities, and the room that is named twice
 * is for work. */

static int run_attention_forward(struct pr_net *net, struct pr_net_step *s,
                                 struct pr_err *err)
{
    struct pr_attention a;
    int rc = PR_OK;

    attention_fill_args(net, s, 1, &a);
    if (!net->opts.training)
        a.p = NULL;
    if (a.lengths)
        rc = pr_op_check_lengths(net, s, a.lengths, (int64_t)a.keys, err);
    return rc ? rc
              : pr_kernel_attention(net->par, net->dnn, &a,
                                    pr_op_data(net, s, 0), err);
}

static int take_inputs(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layer *l = n->layer;
    int rc = PR_OK;

    for (unsigned i = Q; i <= V && !rc; i++)
        rc = pr_op_input_tensor(net, layer, is_one_input(l) ? 0 : i,
                                &n->extra[i], err);
    n->extra[LENGTHS] = PR_NO_TENSOR;
    if (!rc && l->has_lengths)
        rc = pr_op_input_tensor(net, layer, l->input_count - 1,
                                &n->extra[LENGTHS], err);
    return rc;
}

static int attention_forward(struct pr_net *net, unsigned layer,
                             struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int *x = n->extra, rc = take_inputs(net, layer, err);
    struct pr_attention a;
    size_t room;

    attention_fill_shape(net, n->layer, &a);
    room = net->opts.training ? a.samples * a.heads * a.queries * a.keys
                              : pr_kernel_attention_work(net->par, &a);
    if (!rc)
        rc = pr_op_new_room(net, room, &x[PROBABILITIES], err);
    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (rc)
        return rc;
    return PR_OP_STEP(net, run_attention_forward, err, n->out, x[Q], x[K], x[V],
                      x[PROBABILITIES], x[PROBABILITIES], x[LENGTHS]);
}

/* ---- attention: backward. Tensors: dy, dq, dk, dv (where dy stands for those
 * that are not wanted), then those of attention_fill_args(). */

static int run_attention_back(struct pr_net *net, struct pr_net_step *s,
                              struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t next = is_one_input(l) ? (size_t)l->shape.at[1] : 0;
    struct pr_attention a;
    float *to[3];

    attention_fill_args(net, s, 4, &a);
    for (unsigned i = Q; i <= V; i++)
        to[i] = s->tensors[1 + i] == s->tensors[0]
                    ? NULL
                    : pr_op_data(net, s, 1 + i) + i * next;
    return pr_kernel_attention_back(
        net->par, net->dnn, &a,
        &(struct pr_attention_back){pr_op_data(net, s, 0), to[Q], to[K], to[V]},
        err);
}

/* Room for the gradients of q, k and v. */
static int attention_make_gradients(struct pr_net *net, unsigned layer, int dy,
                                    int to[static 3], struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    bool one = is_one_input(n->layer);

    for (unsigned i = Q; i <= V; i++) {
        to[i] = one && i > Q ? to[Q]
                : pr_op_needs_gradient(net, layer, i)
                    ? pr_net_tensor_new(
                          net, pr_net_tensor_layout(net, n->extra[i]), 0, err)
                    : dy;
        if (to[i] < 0)
            return PR_E_NOMEM;
    }
    return PR_OK;
}

static int attention_give_gradients(struct pr_net *net, unsigned layer, int dy,
                                    const int to[static 3], struct pr_err *err)
{
    unsigned count = is_one_input(net->nodes[layer].layer) ? 1 : 3;
    int rc = PR_OK;

    for (unsigned i = 0; i < count && !rc; i++)
        if (to[i] != dy)
            rc = pr_op_give_gradient(net, layer, i, to[i], err);
    return rc;
}

static int attention_backward(struct pr_net *net, unsigned layer,
                              struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const int *x = n->extra;
    struct pr_attention a;
    int dy = PR_NO_TENSOR, to[3] = {0}, work, rc;
    bool own;

    attention_fill_shape(net, n->layer, &a);
    rc = pr_op_gradient(net, layer, &dy, &own, err);
    if (!rc)
        rc = attention_make_gradients(net, layer, dy, to, err);
    if (!rc)
        rc = pr_op_new_room(net, pr_kernel_attention_work(net->par, &a), &work,
                            err);
    if (rc)
        return rc;
    n->backs += 2; /* each of its two products has two factors */
    rc = PR_OP_STEP(net, run_attention_back, err, dy, to[Q], to[K], to[V], x[Q],
                    x[K], x[V], x[PROBABILITIES], work, x[LENGTHS]);
    return rc ? rc : attention_give_gradients(net, layer, dy, to, err);
}

const struct pr_op pr_op_attention = {attention_forward, attention_backward};
