/*
 * Inference: batch norm is folded into the convolution before it. The weights
 * stay as they were given; what primitives read is made from them.
 */
#include "base/mem.h"
#include "nn/engine/net_impl.h"

#include <math.h>
#include <string.h>

/* gamma / sqrt(var + epsilon) of a channel. */
static float norm_channel_factor(const struct pr_net *net,
                                 const struct pr_net_node *norm, size_t c)
{
    const float *gamma =
        norm->params[0] < 0
            ? NULL
            : pr_net_tensor_data(net, net->params[norm->params[0]].value);
    const float *var =
        pr_net_tensor_data(net, net->params[norm->params[3]].value);

    return (gamma ? gamma[c] : 1.0f) /
           sqrtf(var[c] + (float)norm->layer->epsilon);
}

static int fold_norm(struct pr_net *net, const struct pr_net_node *n,
                     struct pr_err *err)
{
    const struct pr_net_node *norm = &net->nodes[n->fold];
    const struct pr_net_param *w = &net->params[n->params[0]];
    const float *mean =
        pr_net_tensor_data(net, net->params[norm->params[2]].value);
    const float *beta =
        pr_net_tensor_data(net, net->params[norm->params[1]].value);
    const float *bias =
        n->params[1] < 0
            ? NULL
            : pr_net_tensor_data(net, net->params[n->params[1]].value);
    size_t out = (size_t)n->layer->out;
    size_t row = pr_layout_bytes(w->plain) / sizeof(float) / out;
    float *plain = pr_alloc(out * row * sizeof *plain);
    struct pr_net_param to = *w;
    int rc;

    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_net_param_copy(net, w, w->value, plain, true, err);
    for (size_t c = 0; c < out; c++) {
        float f = norm_channel_factor(net, norm, c);

        for (size_t i = 0; i < row; i++)
            plain[c * row + i] *= f;
        pr_net_tensor_data(net, n->exec_bias)[c] =
            beta[c] + ((bias ? bias[c] : 0.0f) - mean[c]) * f;
    }
    to.lay = pr_net_tensor_layout(net, n->exec_weights);
    if (!rc)
        rc = pr_net_param_copy(net, &to, n->exec_weights, plain, false, err);
    pr_free(plain);
    return rc;
}

int pr_net_fold_norms(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    if (!net->is_stale)
        return PR_OK;
    for (unsigned i = 0; i < net->model->layer_count && !rc; i++)
        if (net->nodes[i].fold >= 0 && net->nodes[i].exec_weights >= 0)
            rc = fold_norm(net, &net->nodes[i], err);
    net->is_stale = rc != PR_OK;
    return rc;
}
