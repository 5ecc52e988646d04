/* Layers that are a loop over elements, rows or channels: dropout, scale,
 * softmax, means, and curves. */
#include "base/random.h"
#include "nn/engine/net_impl.h"

/* ---- layers whose output lies like their input, element by element, whatever
 * the layout: one step each way */

/* Forward from src, which is the layer's input or that in another layout. The
 * step's tensors: output, src. */
static int op_elementwise_forward(struct pr_net *net, unsigned layer, int src,
                                  pr_net_step_fn *run, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];

    n->src = src;
    n->out = pr_net_tensor_new(net, pr_net_tensor_layout(net, src), 0, err);
    if (n->out < 0)
        return PR_E_NOMEM;
    return PR_OP_STEP(net, run, err, n->out, src);
}

/* Backward, over the gradient where nobody else reads it. The step's tensors:
 * gradient of the input, of the output, other unless it is PR_NO_TENSOR. */
static int op_elementwise_backward(struct pr_net *net, unsigned layer,
                                   int other, pr_net_step_fn *run,
                                   struct pr_err *err)
{
    int g, dst, rc;
    bool own;

    rc = pr_net_gradient_sum(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst =
        own ? g : pr_net_tensor_new(net, pr_net_tensor_layout(net, g), 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run, err, dst, g, other);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dst, err);
}

/* ---- dropout: what is kept follows from seed, step and layer */

static int run_dropout(struct pr_net *net, struct pr_net_step *s,
                       struct pr_err *err)
{
    const struct pr_net_opts *o = &net->opts;
    uint64_t seed = o->dropout_seed ? o->dropout_seed : o->seed;
    uint64_t key = pr_mix64(pr_mix64(seed + net->step_number) + s->layer);

    (void)err;
    pr_kernel_dropout(net->par, s->elements, (float)pr_op_layer(net, s)->rate,
                      key, pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int dropout_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    return op_elementwise_forward(net, layer, pr_net_layer_input(net, layer, 0),
                                  run_dropout, err);
}

static int dropout_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    return op_elementwise_backward(net, layer, PR_NO_TENSOR, run_dropout, err);
}

const struct pr_op pr_op_dropout = {dropout_forward, dropout_backward};

/* ---- scale */

static int run_scale(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    (void)err;
    pr_kernel_scale(net->par, s->elements, (float)pr_op_layer(net, s)->factor,
                    pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int scale_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return op_elementwise_forward(net, layer, pr_net_layer_input(net, layer, 0),
                                  run_scale, err);
}

static int scale_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    return op_elementwise_backward(net, layer, PR_NO_TENSOR, run_scale, err);
}

const struct pr_op pr_op_scale = {scale_forward, scale_backward};

/* ---- flatten and reshape, where those that follow mind the shape. Where
 * values are in another order they are brought into it on the way. */

static int run_copy(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)err;
    pr_kernel_scale(net->par, s->elements, 1, pr_op_data(net, s, 1),
                    pr_op_data(net, s, 0));
    return PR_OK;
}

/* One of the two is not in plain order: what lies in from goes to `to`. */
static int copy_or_reorder(struct pr_net *net, const struct pr_layout *from,
                           int src, const struct pr_layout *to, int dst,
                           struct pr_err *err)
{
    if (pr_layout_is_same(from, to))
        return PR_OP_STEP(net, run_copy, err, dst, src);
    return pr_net_step_reorder(net, from, src, to, dst, err);
}

static int flatten_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layout *plain =
        pr_op_plain_layout(net, n->layer->inputs[0]);
    int rc = plain ? pr_op_new_output(net, layer, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    n->src = pr_net_layer_input(net, layer, 0);
    return copy_or_reorder(net, pr_net_tensor_layout(net, n->src), n->src,
                           plain, n->out, err);
}

static int flatten_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layout *plain =
        pr_op_plain_layout(net, n->layer->inputs[0]);
    const struct pr_layout *lay = pr_net_tensor_layout(net, n->src);
    int g, dst, rc;
    bool own;

    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_op_gradient(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_net_tensor_new(net, lay, 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    rc = copy_or_reorder(net, plain, g, lay, dst, err);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dst, err);
}

const struct pr_op pr_op_flatten = {flatten_forward, flatten_backward};

/* ---- softmax of the last dimension */

static size_t softmax_row_width(const struct pr_layer *l)
{
    return (size_t)l->shape.at[l->shape.dims - 1];
}

static int run_softmax(struct pr_net *net, struct pr_net_step *s,
                       struct pr_err *err)
{
    size_t c = softmax_row_width(pr_op_layer(net, s));

    (void)err;
    pr_kernel_softmax(net->par, s->elements / c, c, pr_op_data(net, s, 1),
                      pr_op_data(net, s, 0));
    return PR_OK;
}

static int run_softmax_back(struct pr_net *net, struct pr_net_step *s,
                            struct pr_err *err)
{
    size_t c = softmax_row_width(pr_op_layer(net, s));

    (void)err;
    pr_kernel_softmax_back(net->par, s->elements / c, c, pr_op_data(net, s, 2),
                           pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int softmax_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    int src, rc = pr_op_input_tensor(net, layer, 0, &src, err);

    return rc ? rc : op_elementwise_forward(net, layer, src, run_softmax, err);
}

static int softmax_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    return op_elementwise_backward(net, layer, net->nodes[layer].out,
                                   run_softmax_back, err);
}

const struct pr_op pr_op_softmax = {softmax_forward, softmax_backward};

/* ---- global_pool: the mean of each channel, as [n, c] */

static int run_mean(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    struct pr_grid v;

    (void)err;
    pr_layout_view(pr_net_tensor_layout(net, s->tensors[1]), &v);
    pr_kernel_mean(net->par, &v, pr_op_data(net, s, 1), pr_op_data(net, s, 0));
    return PR_OK;
}

static int run_mean_back(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    struct pr_grid v;

    (void)err;
    pr_layout_view(pr_net_tensor_layout(net, s->tensors[0]), &v);
    pr_kernel_mean_back(net->par, &v, pr_op_data(net, s, 1),
                        pr_op_data(net, s, 0));
    return PR_OK;
}

static int mean_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid v;
    int rc = PR_OK;

    n->src = pr_net_layer_input(net, layer, 0);
    if (!pr_layout_view(pr_net_tensor_layout(net, n->src), &v))
        rc = pr_op_input_tensor(net, layer, 0, &n->src, err);
    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    return rc ? rc : PR_OP_STEP(net, run_mean, err, n->out, n->src);
}

static int mean_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    int g, dst, rc;
    bool own;

    rc = pr_op_gradient(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_net_tensor_new(
        net, pr_net_tensor_layout(net, net->nodes[layer].src), 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run_mean_back, err, dst, g);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dst, err);
}

const struct pr_op pr_op_mean = {mean_forward, mean_backward};

/* ---- curves: layers that treat each number by itself */

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
              : op_elementwise_forward(net, layer, src,
                                       leaky ? run_leaky : run_curve, err);
}

/* Slopes follow from the output, which is read further on anyway; gelu gives
 * the same number for two. */
static int curve_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    bool leaky = n->layer->op == PR_LAYER_LEAKY_RELU;

    return op_elementwise_backward(
        net, layer, n->layer->op == PR_LAYER_GELU ? n->src : n->out,
        leaky ? run_leaky_back : run_curve_back, err);
}

const struct pr_op pr_op_curve = {curve_forward, curve_backward};
