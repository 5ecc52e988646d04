/* Recurrent layers by oneDNN's primitives: backward. */
#include "nn/op/op_rnn_onednn.h"

#include <string.h>

/* gradients of bias and recurrent bias, from */
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
    pr_op_rnn_swap_gates(from, out, bias);
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
    struct pr_net_step *s = &net->steps[net->step_count - 1];

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
        rc = pr_op_rnn_emit_swap(net, copy, r.out * in, &to, err);
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

int pr_op_rnn_onednn_backward(struct pr_net *net, unsigned layer,
                              struct pr_err *err)
{
    struct pr_recurrent what = pr_op_rnn_onednn_sizes(net, layer);
    struct pr_primitive *prim = NULL;
    struct pr_op_rnn_onednn_weights w;
    struct given g;
    int gradient, rc;
    bool own;

    rc = pr_op_gradient(net, layer, &gradient, &own, err);
    if (!rc)
        rc = pr_primitive_recurrent(net->dnn, &what, net->nodes[layer].forward,
                                    &prim, err);
    if (!rc)
        rc = pr_op_rnn_onednn_weights(net, layer, prim, &w, err);
    if (!rc)
        rc = new_given(net, layer, prim, &g, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_zero, err, g.weights, g.recurrent, g.bias);
    if (!rc)
        rc = pr_op_rnn_onednn_add_step(net, layer, prim, &w, err);
    if (rc)
        return rc;
    use_given(net, gradient, &g);
    if (pr_op_needs_gradient(net, layer, 0))
        rc = pr_op_give_gradient(net, layer, 0, g.src, err);
    return rc || !pr_net_param_is_updated(net, layer)
               ? rc
               : rnn_onednn_param_gradients(net, layer, &g, err);
}
