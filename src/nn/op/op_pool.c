/*
 * Windows and sums over channels: pools, local response norm; and convolutions
 * turned around.
 */
#include "nn/engine/net_impl.h"
#include "nn/op/op_conv.h"

#include <string.h>

/* ---- max_pool, average_pool */

static void pool_describe(const struct pr_net *net, unsigned layer,
                          const struct pr_layout *src,
                          const struct pr_layout *dst, struct pr_pool *ret)
{
    const struct pr_layer *l = &net->model->layers[layer];

    *ret = (struct pr_pool){.kind = l->op == PR_LAYER_MAX_POOL ? PR_POOL_MAX
                                    : l->count_pad ? PR_POOL_MEAN_PADDED
                                                   : PR_POOL_MEAN,
                            .training = net->opts.training,
                            .src = src,
                            .dst = dst};
    memcpy(ret->kernel, l->kernel, sizeof ret->kernel);
    memcpy(ret->stride, l->stride, sizeof ret->stride);
    memcpy(ret->pad, l->pad, sizeof ret->pad);
}

/* A workspace that forward writes and backward reads, if the primitive has
 * one. */
static int make_work(struct pr_net *net, struct pr_net_node *n,
                     struct pr_err *err)
{
    const struct pr_layout *lay =
        pr_primitive_layout(n->forward, PR_ARG_WORKSPACE);

    n->work = PR_NO_TENSOR;
    if (!lay)
        return PR_OK;
    n->work = pr_net_tensor_new(net, lay, 0, err);
    return n->work < 0 ? PR_E_NOMEM : PR_OK;
}

static int emit_forward(struct pr_net *net, struct pr_net_node *n,
                        struct pr_err *err)
{
    struct pr_net_step *s;
    int rc = make_work(net, n, err);

    if (rc)
        return rc;
    n->out = pr_net_tensor_new(net, pr_primitive_layout(n->forward, PR_ARG_DST),
                               0, err);
    s = n->out < 0 ? NULL : pr_net_step_primitive(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, n->src);
    pr_net_step_use(net, s, PR_ARG_DST, n->out);
    if (n->work >= 0)
        pr_net_step_use(net, s, PR_ARG_WORKSPACE, n->work);
    return PR_OK;
}

static int pool_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_layout *dst;
    struct pr_pool what;
    int rc;

    n->src = pr_net_layer_input(net, layer, 0);
    dst = pr_layout_new(net->dnn, PR_LAYOUT_ANY, PR_LAYOUT_F32, dims, at);
    if (!dst)
        return pr_fail_nomem(err);
    pool_describe(net, layer, pr_net_tensor_layout(net, n->src), dst, &what);
    rc = pr_primitive_pool(net->dnn, PR_FORWARD, &what, NULL, &n->forward, err);
    return rc ? rc : emit_forward(net, n, err);
}

/* dst: the layout that the gradient is wanted in. */
static int pool_emit_backward(struct pr_net *net, unsigned layer,
                              struct pr_primitive *prim, int gradient,
                              bool takes_src, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_net_step *s;
    int dsrc, rc = pr_net_tensor_in_layout(
                  net, gradient, pr_primitive_layout(prim, PR_ARG_DIFF_DST),
                  &gradient, err);

    if (rc)
        return rc;
    dsrc = pr_net_tensor_new(net, pr_primitive_layout(prim, PR_ARG_DIFF_SRC), 0,
                             err);
    s = dsrc < 0 ? NULL : pr_net_step_primitive(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_DIFF_DST, gradient);
    pr_net_step_use(net, s, PR_ARG_DIFF_SRC, dsrc);
    if (takes_src)
        pr_net_step_use(net, s, PR_ARG_SRC, n->src);
    if (n->work >= 0)
        pr_net_step_use(net, s, PR_ARG_WORKSPACE, n->work);
    return pr_net_gradient_add(net, n->layer->inputs[0], dsrc, err);
}

static int pool_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_primitive *prim;
    struct pr_pool what;
    int gradient;
    bool own;
    int rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);

    if (rc)
        return rc;
    pool_describe(net, layer, pr_net_tensor_layout(net, n->src),
                  pr_net_tensor_layout(net, n->out), &what);
    rc = pr_primitive_pool(net->dnn, PR_BACKWARD_DATA, &what, n->forward, &prim,
                           err);
    return rc ? rc : pool_emit_backward(net, layer, prim, gradient, false, err);
}

const struct pr_op pr_op_pool = {pool_forward, pool_backward};

/* ---- lrn */

static void describe_lrn(const struct pr_net *net, unsigned layer,
                         struct pr_lrn *ret)
{
    const struct pr_layer *l = &net->model->layers[layer];

    *ret =
        (struct pr_lrn){.training = net->opts.training,
                        .src = pr_net_tensor_layout(net, net->nodes[layer].src),
                        .size = l->size,
                        .alpha = l->alpha,
                        .beta = l->beta,
                        .k = l->k};
}

static int lrn_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_lrn what;
    int rc;

    n->src = pr_net_layer_input(net, layer, 0);
    describe_lrn(net, layer, &what);
    rc = pr_primitive_lrn(net->dnn, PR_FORWARD, &what, NULL, &n->forward, err);
    return rc ? rc : emit_forward(net, n, err);
}

static int lrn_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_primitive *prim;
    struct pr_lrn what;
    int gradient;
    bool own;
    int rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);

    if (rc)
        return rc;
    describe_lrn(net, layer, &what);
    rc = pr_primitive_lrn(net->dnn, PR_BACKWARD_DATA, &what, n->forward, &prim,
                          err);
    return rc ? rc : pool_emit_backward(net, layer, prim, gradient, true, err);
}

const struct pr_op pr_op_lrn = {lrn_forward, lrn_backward};

static const struct pr_layout *new_free_layout(struct pr_net *net,
                                               unsigned layer)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_layout_new(net->dnn, PR_LAYOUT_ANY, PR_LAYOUT_F32, dims, at);
}

/* The convolution: from the layer's output to its input. */
static int transposed_describe(struct pr_net *net, unsigned layer,
                               struct pr_product *ret, struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    enum pr_layout_type type = pr_op_product_type(net);
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];

    pr_layer_tensors(net->model, l, ts);
    *ret = (struct pr_product){.training = net->opts.training};
    ret->src = new_free_layout(net, layer);
    ret->dst = new_free_layout(net, l->inputs[0]);
    ret->weights =
        pr_layout_new(net->dnn, PR_LAYOUT_ANY, type, ts[0].dims, ts[0].at);
    memcpy(ret->stride, l->stride, sizeof ret->stride);
    memcpy(ret->dilation, l->dilation, sizeof ret->dilation);
    memcpy(ret->pad, l->pad, sizeof ret->pad);
    return ret->src && ret->weights && ret->dst ? PR_OK : pr_fail_nomem(err);
}

/* Its forward pass, which the two others are asked for with, and which gives
 * the gradient of what goes in. */
static int transposed_make_conv(struct pr_net *net, struct pr_product what,
                                const struct pr_layout *src,
                                const struct pr_layout *dst,
                                struct pr_primitive **ret, struct pr_err *err)
{
    struct pr_product forced;

    what.src = pr_op_product_any_layout(net, what.src, pr_op_product_type(net));
    if (!what.src)
        return pr_fail_nomem(err);
    forced = what;
    if (pr_op_product_type(net) == PR_LAYOUT_F32 && src) {
        forced.src = src;
        forced.dst = dst;
    }
    return pr_op_product_choose(net, PR_FORWARD, &what, &forced, NULL, ret,
                                err);
}

/* With the layout that the input has, unless that costs the good code. */
static int make_forward(struct pr_net *net, struct pr_product what,
                        const struct pr_layout *in, struct pr_primitive **ret,
                        struct pr_err *err)
{
    struct pr_product forced;
    struct pr_primitive *hint, *best, *p;
    int rc = transposed_make_conv(net, what, NULL, NULL, &hint, err);

    if (rc)
        return rc;
    what.dst = pr_op_product_any_layout(net, what.dst, pr_op_product_type(net));
    if (!what.dst)
        return pr_fail_nomem(err);
    rc = pr_primitive_product(net->dnn, PR_BACKWARD_DATA, &what, hint, &best,
                              err);
    if (rc)
        return rc;
    *ret = best;
    if (pr_op_product_type(net) != PR_LAYOUT_F32 ||
        pr_layout_is_same(pr_primitive_layout(best, PR_ARG_DIFF_DST), in))
        return PR_OK;
    forced = what;
    forced.dst = in;
    if (pr_primitive_product(net->dnn, PR_BACKWARD_DATA, &forced, hint, &p,
                             NULL) == PR_OK &&
        strcmp(pr_primitive_impl(p), pr_primitive_impl(best)) == 0)
        *ret = p;
    return PR_OK;
}

static int transposed_make_params(struct pr_net *net, unsigned layer,
                                  const struct pr_primitive *p,
                                  struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc =
        pr_net_param_new(net, layer, 0, pr_primitive_layout(p, PR_ARG_WEIGHTS),
                         pr_op_product_type(net) != PR_LAYOUT_F32, err);

    if (!rc && n->layer->bias)
        rc = pr_net_param_new(net, layer, 1, NULL, true, err);
    if (rc)
        return rc;
    n->exec_weights = pr_net_param_value(net, layer, 0);
    n->exec_bias =
        n->layer->bias ? pr_net_param_value(net, layer, 1) : PR_NO_TENSOR;
    return PR_OK;
}

/*
 * ---- convolutions turned around
 *
 * What goes in lies where a convolution's output would, what comes out where
 * its input would. Forward is the way back of that convolution to its data, the
 * way back to the input is its forward pass, and the gradient of weights is its
 * own, with both sides swapped. Its weights are [in, out, rows, columns] as
 * they stand. oneDNN's own deconvolution calls the same code, but takes long to
 * add a bias.
 */

/* Bias and relu, in place. Tensors: y, bias. */
static int run_conv_bias(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    (void)err;
    pr_kernel_bias(net->par, &s->view,
                   s->count > 1 ? pr_op_data(net, s, 1) : NULL, s->relu,
                   pr_op_data(net, s, 0));
    return PR_OK;
}

static int add_bias(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid view;
    int rc = PR_OK;

    if (!n->relu && n->exec_bias < 0)
        return PR_OK;
    if (!pr_layout_view(pr_net_tensor_layout(net, n->out), &view)) {
        rc = pr_net_tensor_in_layout(
            net, n->out, pr_op_plain_layout(net, layer), &n->out, err);
        pr_layout_view(pr_net_tensor_layout(net, n->out), &view);
    }
    if (!rc)
        rc = PR_OP_STEP(net, run_conv_bias, err, n->out, n->exec_bias);
    if (rc)
        return rc;
    pr_net_last_step(net)->view = view;
    pr_net_last_step(net)->relu = n->relu;
    return PR_OK;
}

/* Tensors: gradient of the bias, means of each channel and sample, gradient of
 * the output. */
static int run_conv_bias_back(struct pr_net *net, struct pr_net_step *s,
                              struct pr_err *err)
{
    const struct pr_grid *v = &s->view;
    size_t room = net->params[net->nodes[s->layer].params[1]].elements;
    const float *means = pr_op_data(net, s, 1);
    float *out = pr_op_data(net, s, 0);

    (void)err;
    pr_kernel_mean(net->par, v, pr_op_data(net, s, 2), pr_op_data(net, s, 1));
    for (size_t c = 0; c < room; c++) {
        double sum = 0;

        for (size_t i = 0; c < v->c && i < v->n; i++)
            sum += (double)means[i * v->c + c];
        out[c] = (float)(sum * (double)v->s);
    }
    return PR_OK;
}

static int transposed_bias_back(struct pr_net *net, unsigned layer,
                                int gradient, struct pr_err *err)
{
    struct pr_grid view;
    int db, means, rc;

    /* As the output, which is so that it has one. */
    if (!pr_layout_view(pr_net_tensor_layout(net, gradient), &view))
        return pr_fail_nomem(err);
    rc = pr_net_param_gradient(net, layer, 1, NULL, &db, err);
    if (!rc)
        rc = pr_op_new_room(net, view.n * view.c, &means, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_conv_bias_back, err, db, means, gradient);
    if (!rc)
        pr_net_last_step(net)->view = view;
    return rc;
}

/* ---- convolutions turned around: the layer */

static int transposed_forward(struct pr_net *net, unsigned layer,
                              struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int in = pr_net_layer_input(net, layer, 0), weights = 0;
    struct pr_product what;
    struct pr_net_step *s;
    int rc = transposed_describe(net, layer, &what, err);

    if (!rc)
        rc = make_forward(net, what, pr_net_tensor_layout(net, in), &n->forward,
                          err);
    if (!rc)
        rc = transposed_make_params(net, layer, n->forward, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, in, pr_primitive_layout(n->forward, PR_ARG_DIFF_DST), &n->src,
            err);
    if (!rc)
        rc = pr_op_product_weights(net, n, n->forward, &weights, err);
    if (rc)
        return rc;
    n->out = pr_net_tensor_new(
        net, pr_primitive_layout(n->forward, PR_ARG_DIFF_SRC), 0, err);
    s = n->out < 0 ? NULL : pr_net_step_primitive(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_DIFF_DST, n->src);
    pr_net_step_use(net, s, PR_ARG_WEIGHTS, weights);
    pr_net_step_use(net, s, PR_ARG_DIFF_SRC, n->out);
    return add_bias(net, layer, err);
}

static int transposed_weights_back(struct pr_net *net, unsigned layer,
                                   struct pr_product what,
                                   const struct pr_primitive *hint,
                                   int gradient, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    enum pr_layout_type type = pr_op_product_type(net);
    struct pr_product forced;
    struct pr_primitive *p;
    struct pr_net_step *s;
    int src, dst, dw, rc;

    what.src = pr_op_product_any_layout(net, what.src, type);
    what.dst = pr_op_product_any_layout(net, what.dst, type);
    what.weights = pr_op_product_any_layout(net, what.weights, PR_LAYOUT_F32);
    if (!what.src || !what.dst || !what.weights)
        return pr_fail_nomem(err);
    forced = what;
    forced.dst = pr_net_tensor_layout(net, n->src);
    if (type == PR_LAYOUT_F32) {
        forced.src = pr_net_tensor_layout(net, gradient);
        forced.weights = net->params[n->params[0]].lay;
    }
    rc = pr_op_product_choose(net, PR_BACKWARD_WEIGHTS, &what, &forced, hint,
                              &p, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, gradient, pr_primitive_layout(p, PR_ARG_SRC), &src, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, n->src, pr_primitive_layout(p, PR_ARG_DIFF_DST), &dst, err);
    if (!rc)
        rc = pr_net_param_gradient(net, layer, 0,
                                   pr_primitive_layout(p, PR_ARG_DIFF_WEIGHTS),
                                   &dw, err);
    if (rc)
        return rc;
    s = pr_net_step_primitive(net, p);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, src);
    pr_net_step_use(net, s, PR_ARG_DIFF_DST, dst);
    pr_net_step_use(net, s, PR_ARG_DIFF_WEIGHTS, dw);
    return n->layer->bias ? transposed_bias_back(net, layer, gradient, err)
                          : PR_OK;
}

static int transposed_input_back(struct pr_net *net, unsigned layer,
                                 struct pr_primitive *conv, int gradient,
                                 struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int src, weights, dst, rc;
    struct pr_net_step *s;

    rc = pr_net_tensor_in_layout(
        net, gradient, pr_primitive_layout(conv, PR_ARG_SRC), &src, err);
    if (!rc)
        rc = pr_op_product_weights(net, n, conv, &weights, err);
    if (rc)
        return rc;
    dst = pr_net_tensor_new(net, pr_primitive_layout(conv, PR_ARG_DST), 0, err);
    s = dst < 0 ? NULL : pr_net_step_primitive(net, conv);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, src);
    pr_net_step_use(net, s, PR_ARG_WEIGHTS, weights);
    pr_net_step_use(net, s, PR_ARG_DST, dst);
    return pr_op_give_gradient(net, layer, 0, dst, err);
}

static int transposed_backward(struct pr_net *net, unsigned layer,
                               struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_product what;
    struct pr_primitive *conv = NULL;
    int gradient;
    bool own;
    int rc = transposed_describe(net, layer, &what, err);

    if (!rc)
        rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);
    if (!rc)
        rc = transposed_make_conv(
            net, what, pr_net_tensor_layout(net, n->out),
            pr_net_tensor_layout(net, pr_net_layer_input(net, layer, 0)), &conv,
            err);
    if (!rc && pr_net_param_is_updated(net, layer)) {
        rc = transposed_weights_back(net, layer, what, conv, gradient, err);
        n->backs++;
    }
    if (!rc && pr_op_needs_gradient(net, layer, 0)) {
        rc = transposed_input_back(net, layer, conv, gradient, err);
        n->backs++;
    }
    return rc || !pr_net_param_is_updated(net, layer)
               ? rc
               : pr_net_param_update(net, layer, err);
}

const struct pr_op pr_op_transposed = {transposed_forward, transposed_backward};
