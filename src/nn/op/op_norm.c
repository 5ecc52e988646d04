/* Batch norm, with the addition and relu that were found to follow it. */
#include "nn/engine/net_impl.h"

enum { WEIGHT, BIAS, MEAN, VAR };

/* Tensors of a step; those that are not there are PR_NO_TENSOR in the node. */
static void fill_norm(const struct pr_net *net, unsigned layer,
                      struct pr_norm *ret)
{
    const struct pr_net_node *n = &net->nodes[layer];
    const int *p = n->params;

    *ret = (struct pr_norm){
        .gamma = p[WEIGHT] < 0
                     ? NULL
                     : pr_net_tensor_data(net, net->params[p[WEIGHT]].value),
        .beta = pr_net_tensor_data(net, net->params[p[BIAS]].value),
        .running_mean = pr_net_tensor_data(net, net->params[p[MEAN]].value),
        .running_var = pr_net_tensor_data(net, net->params[p[VAR]].value),
        .mean = pr_net_tensor_data(net, n->mean),
        .inv_std = pr_net_tensor_data(net, n->inv_std),
        .epsilon = (float)n->layer->epsilon,
        .momentum = (float)n->layer->momentum,
    };
}

static unsigned norm_first_param(const struct pr_net_node *n)
{
    return n->layer->has_scale ? WEIGHT : BIAS;
}

/* Tensors: x, y, add. */
static int run_norm_forward(struct pr_net *net, struct pr_net_step *s,
                            struct pr_err *err)
{
    const float *x = pr_net_tensor_data(net, s->tensors[0]);
    float *y = pr_net_tensor_data(net, s->tensors[1]);
    const float *add =
        s->count > 2 ? pr_net_tensor_data(net, s->tensors[2]) : NULL;
    struct pr_norm norm;

    (void)err;
    fill_norm(net, s->layer, &norm);
    (net->opts.training ? pr_kernel_norm_train : pr_kernel_norm_infer)(
        net->par, &s->view, &norm, x, add, s->relu, y);
    return PR_OK;
}

static int norm_make_params(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layer_shape *shape = &n->layer->shape;
    size_t channels = (size_t)(shape->at[shape->dims == 2] + 15) / 16 * 16;
    int rc = PR_OK;

    for (unsigned i = norm_first_param(n); i <= VAR && !rc; i++)
        rc = pr_net_param_new(net, layer, i, NULL, true, err);
    if (rc || n->leader != layer)
        return rc;
    n->mean = pr_net_tensor_new_kept(net, NULL, channels * sizeof(float), err);
    n->inv_std =
        pr_net_tensor_new_kept(net, NULL, channels * sizeof(float), err);
    return n->mean < 0 || n->inv_std < 0 ? PR_E_NOMEM : PR_OK;
}

/* The tensor in a layout that loops can walk. */
static int norm_walkable_tensor(struct pr_net *net, unsigned layer, int tensor,
                                int *ret, struct pr_grid *view,
                                struct pr_err *err)
{
    const struct pr_layout *lay = pr_net_tensor_layout(net, tensor);
    int rc;

    *ret = tensor;
    if (pr_layout_view(lay, view))
        return PR_OK;
    lay = pr_op_plain_layout(net, layer);
    rc = pr_net_tensor_in_layout(net, tensor, lay, ret, err);
    if (!rc)
        pr_layout_view(lay, view);
    return rc;
}

static int norm_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid view;
    struct pr_net_step *s;
    int add = PR_NO_TENSOR;
    int rc = norm_make_params(net, layer, err);

    if (rc || n->leader != layer) /* folded: parameters are all it has */
        return rc;
    rc = norm_walkable_tensor(net, layer, pr_net_layer_input(net, layer, 0),
                              &n->src, &view, err);
    if (!rc && n->add >= 0)
        rc = pr_net_tensor_in_layout(net, net->nodes[n->add].out,
                                     pr_net_tensor_layout(net, n->src), &add,
                                     err);
    if (rc)
        return rc;
    n->out = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0, err);
    s = n->out < 0 ? NULL : pr_net_step_new(net, run_norm_forward);
    if (!s)
        return pr_fail_nomem(err);
    s->view = view;
    s->relu = n->relu;
    pr_net_step_use(net, s, 0, n->src);
    pr_net_step_use(net, s, 0, n->out);
    if (add >= 0)
        pr_net_step_use(net, s, 0, add);
    return PR_OK;
}

/* ---- backward. Tensors: x, y, dx, masked, terms, dbeta, dgamma. */

static int run_norm_back(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[s->layer];
    const int *t = s->tensors;
    struct pr_norm norm;
    struct pr_norm_back b = {
        .norm = &norm,
        .x = pr_net_tensor_data(net, t[0]),
        .y = n->relu ? pr_net_tensor_data(net, t[1]) : NULL,
        .dx = pr_net_tensor_data(net, t[2]),
        .masked = t[3] == t[2] ? NULL : pr_net_tensor_data(net, t[3]),
        .term_count = s->terms,
        .dbeta = pr_net_tensor_data(net, t[4 + s->terms]),
        .dgamma = s->count > 5 + s->terms
                      ? pr_net_tensor_data(net, t[5 + s->terms])
                      : NULL,
    };

    (void)err;
    fill_norm(net, s->layer, &norm);
    for (unsigned i = 0; i < s->terms; i++)
        b.terms[i] = pr_net_tensor_data(net, t[4 + i]);
    pr_kernel_norm_back(net->par, &s->view, &b);
    return PR_OK;
}

/* Where results go: over terms that nobody else reads, as far as possible. */
struct places {
    int masked, dx; /* masked == dx: not wanted */
    int passed;     /* gradient of what was added, or PR_NO_TENSOR */
};

static int find_places(struct pr_net *net, const struct pr_net_node *n,
                       const int *terms, const bool *owned, unsigned count,
                       struct places *ret, struct pr_err *err)
{
    bool passes = n->add >= 0 && net->nodes[n->add].needs;
    bool as_is = passes && count == 1 && !n->relu;
    const struct pr_layout *lay = pr_net_tensor_layout(net, n->out);

    *ret = (struct places){PR_NO_TENSOR, PR_NO_TENSOR, PR_NO_TENSOR};
    for (unsigned i = 0; i < count && !as_is; i++) {
        if (!owned[i])
            continue;
        if (passes && ret->masked < 0)
            ret->masked = terms[i];
        else if (ret->dx < 0 && terms[i] != ret->masked)
            ret->dx = terms[i];
    }
    if (passes && !as_is && ret->masked < 0)
        ret->masked = pr_net_tensor_new(net, lay, 0, err);
    if (ret->dx < 0)
        ret->dx = pr_net_tensor_new(net, lay, 0, err);
    if (ret->dx < 0 || (passes && !as_is && ret->masked < 0))
        return PR_E_NOMEM;
    ret->passed = as_is ? terms[0] : ret->masked;
    if (ret->masked < 0)
        ret->masked = ret->dx;
    return PR_OK;
}

/* Where the gradient of gamma or beta goes; one that does not learn now has
 * it thrown away. */
static int norm_param_gradient(struct pr_net *net, unsigned layer, unsigned i,
                               int *ret, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];

    if (pr_net_param_is_updated(net, layer))
        return pr_net_param_gradient(net, layer, i, NULL, ret, err);
    return pr_op_new_room(net, net->params[n->params[i]].elements, ret, err);
}

static int norm_emit_backward(struct pr_net *net, unsigned layer,
                              const struct places *at, const int *terms,
                              unsigned count, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int grads[2] = {PR_NO_TENSOR, PR_NO_TENSOR}, rc = PR_OK;
    struct pr_net_step *s;

    for (unsigned i = norm_first_param(n); i <= BIAS && !rc; i++)
        rc = norm_param_gradient(net, layer, i, &grads[i], err);
    if (rc)
        return rc;
    s = pr_net_step_new(net, run_norm_back);
    if (!s)
        return pr_fail_nomem(err);
    pr_layout_view(pr_net_tensor_layout(net, n->src), &s->view);
    s->terms = count;
    pr_net_step_use(net, s, 0, n->src);
    pr_net_step_use(net, s, 0, n->relu ? n->out : n->src);
    pr_net_step_use(net, s, 0, at->dx);
    pr_net_step_use(net, s, 0, at->masked);
    for (unsigned i = 0; i < count; i++)
        pr_net_step_use(net, s, 0, terms[i]);
    pr_net_step_use(net, s, 0, grads[BIAS]);
    if (grads[WEIGHT] >= 0)
        pr_net_step_use(net, s, 0, grads[WEIGHT]);
    return PR_OK;
}

static int norm_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    bool owned[PR_TERMS];
    int terms[PR_TERMS];
    struct places at;
    unsigned count = pr_net_gradient_terms(net, layer, terms, owned);
    int rc = find_places(net, n, terms, owned, count, &at, err);

    if (!rc)
        rc = norm_emit_backward(net, layer, &at, terms, count, err);
    if (!rc && at.passed >= 0)
        rc = pr_net_gradient_add(net, (unsigned)n->add, at.passed, err);
    if (!rc && pr_net_leader(net, n->layer->inputs[0])->needs)
        rc = pr_net_gradient_add(net, n->layer->inputs[0], at.dx, err);
    return rc || !pr_net_param_is_updated(net, layer)
               ? rc
               : pr_net_param_update(net, layer, err);
}

const struct pr_op pr_op_norm = {norm_forward, norm_backward};
