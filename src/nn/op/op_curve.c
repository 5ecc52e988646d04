/* Curves: layers that treat each number by itself. */
#include "nn/op/op_share.h"

static enum pr_curve find_curve_kind(const struct pr_layer *l)
{
    switch (l->op) {
    case PR_LAYER_SIGMOID:
        return PR_CURVE_SIGMOID;
    case PR_LAYER_TANH:
        return PR_CURVE_TANH;
    case PR_LAYER_EXP:
        return PR_CURVE_EXP;
    case PR_LAYER_GELU:
        return PR_CURVE_GELU;
    default:
        return PR_CURVE_RELU;
    }
}

static int run_curve(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    (void)err;
    pr_kernel_curve(net->par, s->elements, find_curve_kind(pr_op_layer(net, s)),
                    pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int run_curve_back(struct pr_net *net, struct pr_net_step *s,
                          struct pr_err *err)
{
    const float *term = pr_op_data(net, s, 1);

    (void)err;
    pr_kernel_curve_back(
        net->par, s->elements, find_curve_kind(pr_op_layer(net, s)),
        pr_op_data(net, s, 2), &term, 1, pr_op_data(net, s, 0));
    return PR_OK;
}

static int run_leaky(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    (void)err;
    pr_kernel_leaky(net->par, s->elements, (float)pr_op_layer(net, s)->factor,
                    pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int run_leaky_back(struct pr_net *net, struct pr_net_step *s,
                          struct pr_err *err)
{
    (void)err;
    pr_kernel_leaky_back(
        net->par, s->elements, (float)pr_op_layer(net, s)->factor,
        pr_op_data(net, s, 2), pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

/* Channels that fill up a block must stay 0, which sigmoid and exp make
 * something else of: they take their input in plain order then. */
static int curve_choose_source(struct pr_net *net, unsigned layer, int *ret,
                               struct pr_err *err)
{
    enum pr_layer_op op = net->model->layers[layer].op;
    const struct pr_layout *plain, *lay;

    *ret = pr_net_layer_input(net, layer, 0);
    if (op != PR_LAYER_SIGMOID && op != PR_LAYER_EXP)
        return PR_OK;
    lay = pr_net_tensor_layout(net, *ret);
    plain = pr_op_plain_layout(net, net->model->layers[layer].inputs[0]);
    if (!plain)
        return pr_fail_nomem(err);
    return pr_layout_bytes(plain) == pr_layout_bytes(lay)
               ? PR_OK
               : pr_net_tensor_in_layout(net, *ret, plain, ret, err);
}

static int curve_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    bool leaky = net->model->layers[layer].op == PR_LAYER_LEAKY_RELU;
    int src, rc = curve_choose_source(net, layer, &src, err);

    return rc ? rc
              : pr_op_elementwise_forward(net, layer, src,
                                          leaky ? run_leaky : run_curve, err);
}

/* Slopes follow from the output, which is read further on anyway; gelu gives
 * the same number for two. */
static int curve_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    bool leaky = n->layer->op == PR_LAYER_LEAKY_RELU;

    return pr_op_elementwise_backward(
        net, layer, n->layer->op == PR_LAYER_GELU ? n->src : n->out,
        leaky ? run_leaky_back : run_curve_back, err);
}

const struct pr_op pr_op_curve = {curve_forward, curve_backward};
