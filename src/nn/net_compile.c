/* A model becomes a program: forward, loss, backward in reverse order. */
#include "nn/net_impl.h"

#include <math.h>

static const struct pr_op *const ops[PR_LAYER_OP_COUNT] = {
    [PR_LAYER_CONV] = &pr_op_product,     [PR_LAYER_LINEAR] = &pr_op_product,
    [PR_LAYER_BATCH_NORM] = &pr_op_norm,  [PR_LAYER_LRN] = &pr_op_lrn,
    [PR_LAYER_MAX_POOL] = &pr_op_pool,    [PR_LAYER_AVERAGE_POOL] = &pr_op_pool,
    [PR_LAYER_GLOBAL_POOL] = &pr_op_mean, [PR_LAYER_RELU] = &pr_op_curve,
    [PR_LAYER_SIGMOID] = &pr_op_curve,    [PR_LAYER_TANH] = &pr_op_curve,
    [PR_LAYER_SOFTMAX] = &pr_op_softmax,  [PR_LAYER_DROPOUT] = &pr_op_dropout,
    [PR_LAYER_FLATTEN] = &pr_op_flatten,  [PR_LAYER_SCALE] = &pr_op_scale,
    [PR_LAYER_CONCAT] = &pr_op_concat,    [PR_LAYER_ADD] = &pr_op_add,
};

unsigned pr_net_shape(const struct pr_net *net, unsigned layer,
                      int64_t at[static PR_LAY_DIMS])
{
    const struct pr_layer_shape *s = &net->model->layers[layer].shape;

    at[0] = (int64_t)net->opts.batch;
    for (unsigned i = 0; i < s->dims; i++)
        at[1 + i] = s->at[i];
    return 1 + s->dims;
}

static const struct pr_lay *plain_of(struct pr_net *net, unsigned layer)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims, at);
}

/* Where a layer failed is more than what oneDNN says. */
static int in_layer(const struct pr_net *net, unsigned layer, int rc,
                    struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];

    if (rc == PR_E_UNAVAIL && err)
        return pr_reword(err, net->model->path, "line %u: layer '%s' (%s): %s",
                         l->line, l->name, pr_layer_op_name(l->op), err->msg);
    return rc;
}

static int start(struct pr_net *net, struct pr_err *err)
{
    const struct pr_lay *input = plain_of(net, 0);

    net->labels = pr_nt_keep(net, NULL, net->opts.batch * sizeof(int32_t), err);
    net->scratch = pr_nt_keep(net, NULL, 64, err);
    net->input = input ? pr_nt_keep(net, input, 0, err) : PR_NO_TENSOR;
    if (net->labels < 0 || net->scratch < 0 || net->input < 0)
        return pr_fail_nomem(err);
    net->nodes[0].out = net->input;
    return PR_OK;
}

static int compile_forward(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    net->stage = PR_STAGE_FORWARD;
    for (unsigned i = 1; i < net->model->layer_count && !rc; i++) {
        const struct pr_op *op = ops[net->model->layers[i].op];
        bool folded = net->model->layers[i].op == PR_LAYER_BATCH_NORM;

        net->layer = i;
        if (net->nodes[i].leader == i || folded)
            rc = in_layer(net, i, op->forward(net, i, err), err);
    }
    return rc;
}

/* The output in plain order, for the loss and for callers. */
static int compile_output(struct pr_net *net, struct pr_err *err)
{
    unsigned last = net->model->output;
    const struct pr_lay *plain = plain_of(net, last);
    int rc;

    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_nt_in(net, pr_net_leader(net, last)->out, plain, &net->output, err);
    if (rc)
        return rc;
    net->tensors[net->output].is_kept = true;
    net->forward_steps = (unsigned)net->step_count;
    if (!net->opts.training)
        return PR_OK;
    net->output_gradient = pr_nt_keep(net, plain, 0, err);
    if (net->output_gradient < 0)
        return PR_E_NOMEM;
    return pr_grad_add(net, last, net->output_gradient, err);
}

static int compile_backward(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    net->stage = PR_STAGE_BACKWARD;
    for (unsigned i = net->model->layer_count; i-- > 1 && !rc;) {
        const struct pr_node *n = &net->nodes[i];

        net->layer = i;
        if (n->leader == i && n->needs && n->term_count)
            rc =
                in_layer(net, i, ops[n->layer->op]->backward(net, i, err), err);
    }
    return rc;
}

int pr_net_compile(struct pr_net *net, struct pr_err *err)
{
    int rc = start(net, err);

    if (!rc)
        rc = compile_forward(net, err);
    if (!rc)
        rc = compile_output(net, err);
    if (!rc && net->opts.training)
        rc = compile_backward(net, err);
    return rc || !pr_dnn_is_short(net->dnn) ? rc : pr_fail_nomem(err);
}
