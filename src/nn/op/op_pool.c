/* Windows and sums over channels: pools, local response norm, the mean of
 * each channel. */
#include "nn/engine/net_impl.h"

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
