/*
 * Convolutions turned around: what goes in lies where a convolution's output
 * would, what comes out where its input would. Forward is the way back of that
 * convolution to its data, the way back to the input is its forward pass, and
 * the gradient of weights is its own, with both sides swapped. Its weights are
 * [in, out, rows, columns] as they stand. oneDNN's own deconvolution calls the
 * same code, but takes long to add a bias.
 */
#include "nn/op_product.h"

#include <string.h>

static const struct pr_lay *free_lay(struct pr_net *net, unsigned layer)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_lay_new(net->dnn, PR_LAY_ANY, PR_LAY_F32, dims, at);
}

/* The convolution: from the layer's output to its input. */
static int describe(struct pr_net *net, unsigned layer, struct pr_product *ret,
                    struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    enum pr_lay_type type = pr_product_type(net);
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];

    pr_layer_tensors(net->model, l, ts);
    *ret = (struct pr_product){.training = net->opts.training};
    ret->src = free_lay(net, layer);
    ret->dst = free_lay(net, l->inputs[0]);
    ret->weights = pr_lay_new(net->dnn, PR_LAY_ANY, type, ts[0].dims, ts[0].at);
    memcpy(ret->stride, l->stride, sizeof ret->stride);
    memcpy(ret->dilation, l->dilation, sizeof ret->dilation);
    memcpy(ret->pad, l->pad, sizeof ret->pad);
    return ret->src && ret->weights && ret->dst ? PR_OK : pr_fail_nomem(err);
}

/* Its forward pass, which the two others are asked for with, and which gives
 * the gradient of what goes in. */
static int make_conv(struct pr_net *net, struct pr_product what,
                     const struct pr_lay *src, const struct pr_lay *dst,
                     struct pr_prim **ret, struct pr_err *err)
{
    struct pr_product forced;

    what.src = pr_product_any(net, what.src, pr_product_type(net));
    if (!what.src)
        return pr_fail_nomem(err);
    forced = what;
    if (pr_product_type(net) == PR_LAY_F32 && src) {
        forced.src = src;
        forced.dst = dst;
    }
    return pr_product_choose(net, PR_FORWARD, &what, &forced, NULL, ret, err);
}

/* With the layout that the input has, unless that costs the good code. */
static int make_forward(struct pr_net *net, struct pr_product what,
                        const struct pr_lay *in, struct pr_prim **ret,
                        struct pr_err *err)
{
    struct pr_product forced;
    struct pr_prim *hint, *best, *p;
    int rc = make_conv(net, what, NULL, NULL, &hint, err);

    if (rc)
        return rc;
    what.dst = pr_product_any(net, what.dst, pr_product_type(net));
    if (!what.dst)
        return pr_fail_nomem(err);
    rc = pr_prim_product(net->dnn, PR_BACKWARD_DATA, &what, hint, &best, err);
    if (rc)
        return rc;
    *ret = best;
    if (pr_product_type(net) != PR_LAY_F32 ||
        pr_lay_same(pr_prim_lay(best, PR_ARG_DIFF_DST), in))
        return PR_OK;
    forced = what;
    forced.dst = in;
    if (pr_prim_product(net->dnn, PR_BACKWARD_DATA, &forced, hint, &p, NULL) ==
            PR_OK &&
        strcmp(pr_prim_impl(p), pr_prim_impl(best)) == 0)
        *ret = p;
    return PR_OK;
}

static int make_params(struct pr_net *net, unsigned layer,
                       const struct pr_prim *p, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int rc = pr_param_new(net, layer, 0, pr_prim_lay(p, PR_ARG_WEIGHTS),
                          pr_product_type(net) != PR_LAY_F32, err);

    if (!rc && n->layer->bias)
        rc = pr_param_new(net, layer, 1, NULL, true, err);
    if (rc)
        return rc;
    n->exec_weights = pr_param_value(net, layer, 0);
    n->exec_bias =
        n->layer->bias ? pr_param_value(net, layer, 1) : PR_NO_TENSOR;
    return PR_OK;
}

/* ---- bias and relu, in place. Tensors: y, bias. */

static int run_bias(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    (void)err;
    pr_k_bias(net->par, &s->view, s->count > 1 ? pr_op_data(net, s, 1) : NULL,
              s->relu, pr_op_data(net, s, 0));
    return PR_OK;
}

static int add_bias(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    struct pr_grid view;
    int rc = PR_OK;

    if (!n->relu && n->exec_bias < 0)
        return PR_OK;
    if (!pr_lay_view(pr_nt_lay(net, n->out), &view)) {
        rc = pr_nt_in(net, n->out, pr_op_plain(net, layer), &n->out, err);
        pr_lay_view(pr_nt_lay(net, n->out), &view);
    }
    if (!rc)
        rc = PR_OP_STEP(net, run_bias, err, n->out, n->exec_bias);
    if (rc)
        return rc;
    net->steps[net->step_count - 1].view = view;
    net->steps[net->step_count - 1].relu = n->relu;
    return PR_OK;
}

/* Tensors: gradient of the bias, means of each channel and sample, gradient of
 * the output. */
static int run_bias_back(struct pr_net *net, struct pr_step *s,
                         struct pr_err *err)
{
    const struct pr_grid *v = &s->view;
    size_t room = net->params[net->nodes[s->layer].params[1]].elements;
    const float *means = pr_op_data(net, s, 1);
    float *out = pr_op_data(net, s, 0);

    (void)err;
    pr_k_mean(net->par, v, pr_op_data(net, s, 2), pr_op_data(net, s, 1));
    for (size_t c = 0; c < room; c++) {
        double sum = 0;

        for (size_t i = 0; c < v->c && i < v->n; i++)
            sum += (double)means[i * v->c + c];
        out[c] = (float)(sum * (double)v->s);
    }
    return PR_OK;
}

static int to_bias(struct pr_net *net, unsigned layer, int gradient,
                   struct pr_err *err)
{
    struct pr_grid view;
    int db, means, rc;

    /* As the output, which is so that it has one. */
    if (!pr_lay_view(pr_nt_lay(net, gradient), &view))
        return pr_fail_nomem(err);
    rc = pr_param_gradient(net, layer, 1, NULL, &db, err);
    if (!rc)
        rc = pr_op_room(net, view.n * view.c, &means, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_bias_back, err, db, means, gradient);
    if (!rc)
        net->steps[net->step_count - 1].view = view;
    return rc;
}

/* ---- the layer */

static int forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int in = pr_net_in(net, layer, 0), weights = 0;
    struct pr_product what;
    struct pr_step *s;
    int rc = describe(net, layer, &what, err);

    if (!rc)
        rc = make_forward(net, what, pr_nt_lay(net, in), &n->forward, err);
    if (!rc)
        rc = make_params(net, layer, n->forward, err);
    if (!rc)
        rc = pr_nt_in(net, in, pr_prim_lay(n->forward, PR_ARG_DIFF_DST),
                      &n->src, err);
    if (!rc)
        rc = pr_product_weights(net, n, n->forward, &weights, err);
    if (rc)
        return rc;
    n->out = pr_nt_new(net, pr_prim_lay(n->forward, PR_ARG_DIFF_SRC), 0, err);
    s = n->out < 0 ? NULL : pr_step_prim(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    pr_step_use(net, s, PR_ARG_DIFF_DST, n->src);
    pr_step_use(net, s, PR_ARG_WEIGHTS, weights);
    pr_step_use(net, s, PR_ARG_DIFF_SRC, n->out);
    return add_bias(net, layer, err);
}

static int to_weights(struct pr_net *net, unsigned layer,
                      struct pr_product what, const struct pr_prim *hint,
                      int gradient, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    enum pr_lay_type type = pr_product_type(net);
    struct pr_product forced;
    struct pr_prim *p;
    struct pr_step *s;
    int src, dst, dw, rc;

    what.src = pr_product_any(net, what.src, type);
    what.dst = pr_product_any(net, what.dst, type);
    what.weights = pr_product_any(net, what.weights, PR_LAY_F32);
    if (!what.src || !what.dst || !what.weights)
        return pr_fail_nomem(err);
    forced = what;
    forced.dst = pr_nt_lay(net, n->src);
    if (type == PR_LAY_F32) {
        forced.src = pr_nt_lay(net, gradient);
        forced.weights = net->params[n->params[0]].lay;
    }
    rc = pr_product_choose(net, PR_BACKWARD_WEIGHTS, &what, &forced, hint, &p,
                           err);
    if (!rc)
        rc = pr_nt_in(net, gradient, pr_prim_lay(p, PR_ARG_SRC), &src, err);
    if (!rc)
        rc = pr_nt_in(net, n->src, pr_prim_lay(p, PR_ARG_DIFF_DST), &dst, err);
    if (!rc)
        rc = pr_param_gradient(net, layer, 0,
                               pr_prim_lay(p, PR_ARG_DIFF_WEIGHTS), &dw, err);
    if (rc)
        return rc;
    s = pr_step_prim(net, p);
    if (!s)
        return pr_fail_nomem(err);
    pr_step_use(net, s, PR_ARG_SRC, src);
    pr_step_use(net, s, PR_ARG_DIFF_DST, dst);
    pr_step_use(net, s, PR_ARG_DIFF_WEIGHTS, dw);
    return n->layer->bias ? to_bias(net, layer, gradient, err) : PR_OK;
}

static int to_input(struct pr_net *net, unsigned layer, struct pr_prim *conv,
                    int gradient, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int src, weights, dst, rc;
    struct pr_step *s;

    rc = pr_nt_in(net, gradient, pr_prim_lay(conv, PR_ARG_SRC), &src, err);
    if (!rc)
        rc = pr_product_weights(net, n, conv, &weights, err);
    if (rc)
        return rc;
    dst = pr_nt_new(net, pr_prim_lay(conv, PR_ARG_DST), 0, err);
    s = dst < 0 ? NULL : pr_step_prim(net, conv);
    if (!s)
        return pr_fail_nomem(err);
    pr_step_use(net, s, PR_ARG_SRC, src);
    pr_step_use(net, s, PR_ARG_WEIGHTS, weights);
    pr_step_use(net, s, PR_ARG_DST, dst);
    return pr_op_give(net, layer, 0, dst, err);
}

static int backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    struct pr_product what;
    struct pr_prim *conv = NULL;
    int gradient;
    bool own;
    int rc = describe(net, layer, &what, err);

    if (!rc)
        rc = pr_grad_whole(net, layer, &gradient, &own, err);
    if (!rc)
        rc = make_conv(net, what, pr_nt_lay(net, n->out),
                       pr_nt_lay(net, pr_net_in(net, layer, 0)), &conv, err);
    if (!rc && pr_param_learns(net, layer)) {
        rc = to_weights(net, layer, what, conv, gradient, err);
        n->backs++;
    }
    if (!rc && pr_op_wants(net, layer, 0)) {
        rc = to_input(net, layer, conv, gradient, err);
        n->backs++;
    }
    return rc || !pr_param_learns(net, layer)
               ? rc
               : pr_param_update(net, layer, err);
}

const struct pr_op pr_op_transposed = {forward, backward};
