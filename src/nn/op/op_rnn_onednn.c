/*
 * Recurrent layers: which way, what all ways have in common, and the way by
 * oneDNN's primitives. It has one bias where there are two here, another order
 * of a gru's gates, and weights laid out as it likes, each pass its own way:
 * steps around the primitive see to that.
 */
#include "nn/op/op_rnn_onednn.h"

#include <string.h>

struct pr_rnn pr_op_rnn_sizes(const struct pr_net *net, unsigned layer)
{
    const struct pr_layer *l = &net->model->layers[layer];
    const struct pr_layer *input = &net->model->layers[l->inputs[0]];

    return (struct pr_rnn){.is_gru = l->op == PR_LAYER_GRU,
                           .reverse = l->reverse,
                           .batch = net->opts.batch,
                           .rows = (size_t)l->shape.at[0],
                           .in = (size_t)input->shape.at[1],
                           .out = (size_t)l->out};
}

/* Unrolled is faster at all sizes that were measured, as weights are packed
 * once for all rows and gates are computed on all threads. Processor time of a
 * training step on AVX2, one thread, unrolled and oneDNN 2.6: two lstm of 51
 * over 999 rows, batch 97: 646 and 696 ms; gru of 656 over 35 rows, batch 64,
 * with a linear layer before it: 537 and 638 ms; lstm of 1024 over 20 rows,
 * batch 64, the same: 995 and 1032 ms. */
static enum pr_nn_rnn choose_rnn_way(const struct pr_net *net)
{
    return net->opts.rnn == PR_NN_RNN_AUTO ? PR_NN_RNN_UNROLLED : net->opts.rnn;
}

static const struct pr_op *find_rnn_op(const struct pr_net *net, unsigned layer)
{
    return net->nodes[layer].extra[PR_RNN_WAY] == PR_NN_RNN_ONEDNN
               ? &pr_op_rnn_onednn
               : &pr_op_rnn_unrolled;
}

static int rnn_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    for (unsigned i = 0; i <= PR_RNN_RECURRENT_BIAS && !rc; i++)
        rc = pr_net_param_new(net, layer, i, NULL, true, err);
    n->extra[PR_RNN_WAY] = (int)choose_rnn_way(net);
    return rc ? rc : find_rnn_op(net, layer)->forward(net, layer, err);
}

static int rnn_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    net->nodes[layer].backs += pr_op_needs_gradient(net, layer, 0) +
                               pr_net_param_is_updated(net, layer);
    return find_rnn_op(net, layer)->backward(net, layer, err);
}

const struct pr_op pr_op_rnn = {rnn_forward, rnn_backward};

/* ---- by oneDNN: loops */

/* Copies gates of a gru, `size` numbers each: reset and update change places;
 * there and back is the same. */
static void op_rnn_swap_gates(const float *from, size_t size, float *to)
{
    memcpy(to, from + size, size * sizeof *to);
    memcpy(to + size, from, size * sizeof *to);
    memcpy(to + 2 * size, from + 2 * size, size * sizeof *to);
}

/* to, from */
static int run_swap(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)err;
    op_rnn_swap_gates(pr_op_data(net, s, 1), s->elements,
                      pr_op_data(net, s, 0));
    return PR_OK;
}

/* to, bias, recurrent bias */
static int run_rnn_bias(struct pr_net *net, struct pr_net_step *s,
                        struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t out = (size_t)l->out;
    const float *bias = pr_op_data(net, s, 1), *more = pr_op_data(net, s, 2);
    float *to = pr_op_data(net, s, 0);

    (void)err;
    if (l->op == PR_LAYER_LSTM) {
        for (size_t i = 0; i < 4 * out; i++)
            to[i] = bias[i] + more[i];
        return PR_OK;
    }
    op_rnn_swap_gates(bias, out, to);
    for (size_t i = 0; i < out; i++) {
        to[i] += more[out + i];
        to[out + i] += more[i];
        to[3 * out + i] = more[2 * out + i];
    }
    return PR_OK;
}

static size_t state_bytes(const struct pr_net *net, const struct pr_net_step *s)
{
    return net->opts.batch * (size_t)pr_op_layer(net, s)->out * sizeof(float);
}

/* state, h, c: out of what is carried */
static int run_begin(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    size_t bytes = state_bytes(net, s);

    (void)err;
    for (unsigned i = 1; i < s->count; i++)
        memcpy(pr_op_data(net, s, i),
               (char *)pr_op_data(net, s, 0) + (i - 1) * bytes, bytes);
    return PR_OK;
}

/* … and into it */
static int run_end(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err)
{
    size_t bytes = state_bytes(net, s);

    (void)err;
    for (unsigned i = 1; i < s->count; i++)
        memcpy((char *)pr_op_data(net, s, 0) + (i - 1) * bytes,
               pr_op_data(net, s, i), bytes);
    return PR_OK;
}

/* ---- by oneDNN: tensors */

/* What a pass takes of weights. */
struct rnn_onednn_weights {
    int weights, recurrent, bias;
};

static int op_rnn_emit_swap(struct pr_net *net, int from, size_t size, int *ret,
                            struct pr_err *err)
{
    int rc = *ret >= 0 ? PR_OK : pr_op_new_room(net, 3 * size, ret, err);

    if (!rc)
        rc = PR_OP_STEP(net, run_swap, err, *ret, from);
    if (!rc)
        pr_net_last_step(net)->elements = size;
    return rc;
}

/* Weights of input or state (param) as the primitive takes them (arg). */
static int weights_in(struct pr_net *net, unsigned layer, unsigned param,
                      const struct pr_primitive *prim, int arg, int *ret,
                      struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    size_t in = param == PR_RNN_WEIGHT ? r.in : r.out;
    const struct pr_layout *lay = pr_primitive_layout(prim, arg);
    const struct pr_layout *plain = pr_layout_gates(
        net->dnn, (int64_t)pr_rnn_gate_count(&r), (int64_t)r.out, (int64_t)in);
    int from = pr_net_param_value(net, layer, param), copy = PR_NO_TENSOR;
    int rc = lay && plain ? PR_OK : pr_fail_nomem(err);

    if (!rc && r.is_gru) {
        rc = op_rnn_emit_swap(net, from, r.out * in, &copy, err);
        from = copy;
    }
    if (rc)
        return rc;
    *ret = pr_net_tensor_new(net, lay, 0, err);
    return *ret < 0 ? PR_E_NOMEM
                    : pr_net_step_reorder(net, plain, from, lay, *ret, err);
}

static int bias_in(struct pr_net *net, unsigned layer, int *ret,
                   struct pr_err *err)
{
    size_t out = (size_t)net->model->layers[layer].out;
    int rc = pr_op_new_room(net, 4 * out, ret, err);

    return rc ? rc
              : PR_OP_STEP(
                    net, run_rnn_bias, err, *ret,
                    pr_net_param_value(net, layer, PR_RNN_BIAS),
                    pr_net_param_value(net, layer, PR_RNN_RECURRENT_BIAS));
}

static int rnn_onednn_weights(struct pr_net *net, unsigned layer,
                              const struct pr_primitive *prim,
                              struct rnn_onednn_weights *ret,
                              struct pr_err *err)
{
    int rc = weights_in(net, layer, PR_RNN_WEIGHT, prim, PR_ARG_WEIGHTS,
                        &ret->weights, err);

    if (!rc)
        rc = weights_in(net, layer, PR_RNN_RECURRENT, prim, PR_ARG_RECURRENT,
                        &ret->recurrent, err);
    return rc ? rc : bias_in(net, layer, &ret->bias, err);
}

/* States before and after all rows. */
static int new_states(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    size_t size = r.batch * r.out;
    const int all[] = {PR_RNN_BEGIN, PR_RNN_END, PR_RNN_BEGIN_CELL,
                       PR_RNN_END_CELL};
    int rc;

    for (int i = 0; i < 4; i++)
        n->extra[all[i]] = PR_NO_TENSOR;
    n->extra[PR_RNN_STATE] = PR_NO_TENSOR;
    if (!n->layer->carry)
        return PR_OK;
    rc = pr_op_new_kept(net, (r.is_gru ? 1 : 2) * size, &n->extra[PR_RNN_STATE],
                        err);
    for (int i = 0; i < (r.is_gru ? 2 : 4) && !rc; i++)
        rc = pr_op_new_room(net, size, &n->extra[all[i]], err);
    return rc;
}

/* A step with the arguments that both passes have. */
static struct pr_recurrent rnn_onednn_sizes(const struct pr_net *net,
                                            unsigned layer)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);

    return (struct pr_recurrent){.is_gru = r.is_gru,
                                 .training = net->opts.training,
                                 .reverse = r.reverse,
                                 .has_state = net->model->layers[layer].carry,
                                 .batch = (int64_t)r.batch,
                                 .rows = (int64_t)r.rows,
                                 .in = (int64_t)r.in,
                                 .out = (int64_t)r.out};
}

static int op_rnn_onednn_add_step(struct pr_net *net, unsigned layer,
                                  struct pr_primitive *prim,
                                  const struct rnn_onednn_weights *w,
                                  struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    struct pr_net_step *s = pr_net_step_primitive(net, prim);
    const struct {
        int arg, tensor;
    } rows[] = {
        {PR_ARG_SRC, n->src},
        {PR_ARG_DST, n->out},
        {PR_ARG_WEIGHTS, w->weights},
        {PR_ARG_RECURRENT, w->recurrent},
        {PR_ARG_BIAS, w->bias},
        {PR_ARG_WORKSPACE, n->work},
        {PR_ARG_STATE, n->extra[PR_RNN_BEGIN]},
        {PR_ARG_CELL, n->extra[PR_RNN_BEGIN_CELL]},
        {PR_ARG_END_STATE, n->extra[PR_RNN_END]},
        {PR_ARG_END_CELL, n->extra[PR_RNN_END_CELL]},
    };

    if (!s)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].tensor >= 0)
            pr_net_step_use(net, s, rows[i].arg, rows[i].tensor);
    return PR_OK;
}

static int new_work(struct pr_net *net, struct pr_net_node *n,
                    struct pr_err *err)
{
    const struct pr_layout *lay =
        pr_primitive_layout(n->forward, PR_ARG_WORKSPACE);

    n->work = PR_NO_TENSOR;
    if (!lay || !net->opts.training)
        return PR_OK;
    n->work = pr_net_tensor_new(net, lay, 0, err);
    return n->work < 0 ? PR_E_NOMEM : PR_OK;
}

static int rnn_onednn_forward(struct pr_net *net, unsigned layer,
                              struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_recurrent what = rnn_onednn_sizes(net, layer);
    struct rnn_onednn_weights w;
    const int *e = n->extra;
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (!rc)
        rc = pr_primitive_recurrent(net->dnn, &what, NULL, &n->forward, err);
    if (!rc)
        rc = new_states(net, layer, err);
    if (!rc)
        rc = new_work(net, n, err);
    if (!rc)
        rc = rnn_onednn_weights(net, layer, n->forward, &w, err);
    if (!rc && e[PR_RNN_STATE] >= 0)
        rc = PR_OP_STEP(net, run_begin, err, e[PR_RNN_STATE], e[PR_RNN_BEGIN],
                        e[PR_RNN_BEGIN_CELL]);
    if (!rc)
        rc = op_rnn_onednn_add_step(net, layer, n->forward, &w, err);
    if (!rc && e[PR_RNN_STATE] >= 0)
        rc = PR_OP_STEP(net, run_end, err, e[PR_RNN_STATE], e[PR_RNN_END],
                        e[PR_RNN_END_CELL]);
    return rc;
}

/* ---- by oneDNN: backward */

/* Tensors: gradients of bias and of recurrent bias, from where. */
static int run_rnn_bias_back(struct pr_net *net, struct pr_net_step *s,
                             struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t out = (size_t)l->out, bytes = out * sizeof(float);
    float *bias = pr_op_data(net, s, 0), *more = pr_op_data(net, s, 1);
    const float *from = pr_op_data(net, s, 2);

    (void)err;
    if (l->op == PR_LAYER_LSTM) {
        memcpy(bias, from, 4 * bytes);
        memcpy(more, from, 4 * bytes);
        return PR_OK;
    }
    op_rnn_swap_gates(from, out, bias);
    memcpy(more, bias, 2 * bytes);
    memcpy(more + 2 * out, from + 3 * out, bytes);
    return PR_OK;
}

/* The primitive adds to gradients of weights. */
static int run_zero(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)err;
    for (unsigned i = 0; i < s->count; i++)
        memset(pr_op_data(net, s, i), 0, net->tensors[s->tensors[i]].bytes);
    return PR_OK;
}

/* Gradients as the primitive writes them. */
struct given {
    int src, weights, recurrent, bias;
    int state, cell; /* that nobody wants */
    int zero;        /* of states after the last row: there is none */
};

static int new_like(struct pr_net *net, const struct pr_primitive *prim,
                    int arg, int *ret, struct pr_err *err)
{
    const struct pr_layout *lay = pr_primitive_layout(prim, arg);

    *ret = lay ? pr_net_tensor_new(net, lay, 0, err) : PR_NO_TENSOR;
    return *ret < 0 ? pr_fail_nomem(err) : PR_OK;
}

static int new_given(struct pr_net *net, unsigned layer,
                     const struct pr_primitive *prim, struct given *g,
                     struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    const struct pr_layout *plain = pr_op_plain_layout(net, l->inputs[0]);
    size_t size = net->opts.batch * (size_t)l->out;
    int rc = new_like(net, prim, PR_ARG_DIFF_WEIGHTS, &g->weights, err);

    g->state = g->cell = g->zero = PR_NO_TENSOR;
    if (!rc)
        rc = new_like(net, prim, PR_ARG_DIFF_RECURRENT, &g->recurrent, err);
    if (!rc)
        rc = new_like(net, prim, PR_ARG_DIFF_BIAS, &g->bias, err);
    g->src =
        plain && !rc ? pr_net_tensor_new(net, plain, 0, err) : PR_NO_TENSOR;
    if (!rc && g->src < 0)
        rc = pr_fail_nomem(err);
    if (!rc && l->carry)
        rc = pr_op_new_kept(net, size, &g->zero, err);
    if (!rc && l->carry)
        rc = pr_op_new_room(net, size, &g->state, err);
    if (!rc && l->carry && l->op == PR_LAYER_LSTM)
        rc = pr_op_new_room(net, size, &g->cell, err);
    return rc;
}

static void use_given(struct pr_net *net, int gradient, const struct given *g)
{
    struct pr_net_step *s = pr_net_last_step(net);

    pr_net_step_use(net, s, PR_ARG_DIFF_DST, gradient);
    pr_net_step_use(net, s, PR_ARG_DIFF_SRC, g->src);
    pr_net_step_use(net, s, PR_ARG_DIFF_WEIGHTS, g->weights);
    pr_net_step_use(net, s, PR_ARG_DIFF_RECURRENT, g->recurrent);
    pr_net_step_use(net, s, PR_ARG_DIFF_BIAS, g->bias);
    if (g->state >= 0) {
        pr_net_step_use(net, s, PR_ARG_DIFF_STATE, g->state);
        pr_net_step_use(net, s, PR_ARG_DIFF_END_STATE, g->zero);
    }
    if (g->cell >= 0) {
        pr_net_step_use(net, s, PR_ARG_DIFF_CELL, g->cell);
        pr_net_step_use(net, s, PR_ARG_DIFF_END_CELL, g->zero);
    }
}

/* A gradient of weights as tensors lie. */
static int weights_out(struct pr_net *net, unsigned layer, unsigned param,
                       int from, struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    size_t in = param == PR_RNN_WEIGHT ? r.in : r.out;
    const struct pr_layout *plain = pr_layout_gates(
        net->dnn, (int64_t)pr_rnn_gate_count(&r), (int64_t)r.out, (int64_t)in);
    int to = PR_NO_TENSOR, copy = PR_NO_TENSOR;
    int rc = pr_net_param_gradient(net, layer, param, NULL, &to, err);

    if (!rc && r.is_gru)
        rc = pr_op_new_room(net, 3 * r.out * in, &copy, err);
    if (!rc)
        rc = pr_net_step_reorder(net, pr_net_tensor_layout(net, from), from,
                                 plain, r.is_gru ? copy : to, err);
    if (!rc && r.is_gru)
        rc = op_rnn_emit_swap(net, copy, r.out * in, &to, err);
    return rc;
}

static int rnn_onednn_param_gradients(struct pr_net *net, unsigned layer,
                                      const struct given *g, struct pr_err *err)
{
    int bias = PR_NO_TENSOR, more = PR_NO_TENSOR;
    int rc = weights_out(net, layer, PR_RNN_WEIGHT, g->weights, err);

    if (!rc)
        rc = weights_out(net, layer, PR_RNN_RECURRENT, g->recurrent, err);
    if (!rc)
        rc = pr_net_param_gradient(net, layer, PR_RNN_BIAS, NULL, &bias, err);
    if (!rc)
        rc = pr_net_param_gradient(net, layer, PR_RNN_RECURRENT_BIAS, NULL,
                                   &more, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_rnn_bias_back, err, bias, more, g->bias);
    return rc ? rc : pr_net_param_update(net, layer, err);
}

static int rnn_onednn_backward(struct pr_net *net, unsigned layer,
                               struct pr_err *err)
{
    struct pr_recurrent what = rnn_onednn_sizes(net, layer);
    struct pr_primitive *prim = NULL;
    struct rnn_onednn_weights w;
    struct given g;
    int gradient, rc;
    bool own;

    rc = pr_op_gradient(net, layer, &gradient, &own, err);
    if (!rc)
        rc = pr_primitive_recurrent(net->dnn, &what, net->nodes[layer].forward,
                                    &prim, err);
    if (!rc)
        rc = rnn_onednn_weights(net, layer, prim, &w, err);
    if (!rc)
        rc = new_given(net, layer, prim, &g, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_zero, err, g.weights, g.recurrent, g.bias);
    if (!rc)
        rc = op_rnn_onednn_add_step(net, layer, prim, &w, err);
    if (rc)
        return rc;
    use_given(net, gradient, &g);
    if (pr_op_needs_gradient(net, layer, 0))
        rc = pr_op_give_gradient(net, layer, 0, g.src, err);
    return rc || !pr_net_param_is_updated(net, layer)
               ? rc
               : rnn_onednn_param_gradients(net, layer, &g, err);
}

const struct pr_op pr_op_rnn_onednn = {rnn_onednn_forward, rnn_onednn_backward};
