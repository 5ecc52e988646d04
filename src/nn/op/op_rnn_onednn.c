/*
 * Recurrent layers by oneDNN's primitives. It has one bias where there are two
 * here, another order of a gru's gates, and weights laid out as it likes, each
 * pass its own way: steps around the primitive see to that.
 */
#include "nn/op/op_rnn_onednn.h"

#include <string.h>

/* ---- loops */

void pr_op_rnn_swap_gates(const float *from, size_t size, float *to)
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
    pr_op_rnn_swap_gates(pr_op_data(net, s, 1), s->elements,
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
    pr_op_rnn_swap_gates(bias, out, to);
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

/* ---- tensors */

int pr_op_rnn_emit_swap(struct pr_net *net, int from, size_t size, int *ret,
                        struct pr_err *err)
{
    int rc = *ret >= 0 ? PR_OK : pr_op_new_room(net, 3 * size, ret, err);

    if (!rc)
        rc = PR_OP_STEP(net, run_swap, err, *ret, from);
    if (!rc)
        net->steps[net->step_count - 1].elements = size;
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
        rc = pr_op_rnn_emit_swap(net, from, r.out * in, &copy, err);
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

int pr_op_rnn_onednn_weights(struct pr_net *net, unsigned layer,
                             const struct pr_primitive *prim,
                             struct pr_op_rnn_onednn_weights *ret,
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

struct pr_recurrent pr_op_rnn_onednn_sizes(const struct pr_net *net,
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

int pr_op_rnn_onednn_add_step(struct pr_net *net, unsigned layer,
                              struct pr_primitive *prim,
                              const struct pr_op_rnn_onednn_weights *w,
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
    struct pr_recurrent what = pr_op_rnn_onednn_sizes(net, layer);
    struct pr_op_rnn_onednn_weights w;
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
        rc = pr_op_rnn_onednn_weights(net, layer, n->forward, &w, err);
    if (!rc && e[PR_RNN_STATE] >= 0)
        rc = PR_OP_STEP(net, run_begin, err, e[PR_RNN_STATE], e[PR_RNN_BEGIN],
                        e[PR_RNN_BEGIN_CELL]);
    if (!rc)
        rc = pr_op_rnn_onednn_add_step(net, layer, n->forward, &w, err);
    if (!rc && e[PR_RNN_STATE] >= 0)
        rc = PR_OP_STEP(net, run_end, err, e[PR_RNN_STATE], e[PR_RNN_END],
                        e[PR_RNN_END_CELL]);
    return rc;
}

const struct pr_op pr_op_rnn_onednn = {rnn_onednn_forward,
                                       pr_op_rnn_onednn_backward};
