/* Recurrent layers: which way, and what all ways have in common. */
#include "nn/op/op_rnn.h"

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
