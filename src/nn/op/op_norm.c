/*
 * Norms: of rows and of samples, which have their own statistics in training
 * and after; and batch norm, with the addition and relu that were found to
 * follow it.
 */
#include "nn/engine/net_impl.h"
#include "nn/kernel/kernels.h"

/* Parameters; mean and variance are batch norm's alone. */
enum { WEIGHT, BIAS, MEAN, VAR };

static unsigned first_norm_param(const struct pr_net_node *n)
{
    return n->layer->has_scale ? WEIGHT : BIAS;
}

static bool is_layer_norm(const struct pr_net_node *n)
{
    return n->layer->op == PR_LAYER_LAYER_NORM;
}

static const float *row_norm_param(const struct pr_net *net, unsigned layer,
                                   unsigned i)
{
    int at = net->nodes[layer].params[i];

    return at < 0 ? NULL : pr_net_tensor_data(net, net->params[at].value);
}

/* Gradients of a backward step are the last tensors: dbeta, dgamma. */
static float *row_norm_gradient(const struct pr_net *net,
                                const struct pr_net_step *s, unsigned at,
                                unsigned i)
{
    at += i == WEIGHT;
    return at < s->count ? pr_op_data(net, s, at) : NULL;
}

/* ---- layer norm. Tensors: y, x, mean, inv_std. */

static void row_norm_fill_args(const struct pr_net *net,
                               const struct pr_net_step *s, unsigned mean,
                               struct pr_row_norm *ret)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t width = (size_t)l->shape.at[l->shape.dims - 1];

    *ret = (struct pr_row_norm){
        .rows = s->elements / width,
        .width = width,
        .gamma = row_norm_param(net, s->layer, WEIGHT),
        .beta = row_norm_param(net, s->layer, BIAS),
        .mean = pr_op_data(net, s, mean),
        .inv_std = pr_op_data(net, s, mean + 1),
        .epsilon = (float)l->epsilon,
    };
}

static int run_layer_norm(struct pr_net *net, struct pr_net_step *s,
                          struct pr_err *err)
{
    struct pr_row_norm norm;

    (void)err;
    row_norm_fill_args(net, s, 2, &norm);
    pr_kernel_layer_norm(net->par, &norm, pr_op_data(net, s, 1),
                         pr_op_data(net, s, 0));
    return PR_OK;
}

/* Tensors: dx (x itself: not wanted), dy, x, mean, inv_std. */
static int run_layer_norm_back(struct pr_net *net, struct pr_net_step *s,
                               struct pr_err *err)
{
    struct pr_row_norm norm;
    struct pr_row_norm_back b = {
        .norm = &norm,
        .x = pr_op_data(net, s, 2),
        .dy = pr_op_data(net, s, 1),
        .dx = s->tensors[0] == s->tensors[2] ? NULL : pr_op_data(net, s, 0),
        .dgamma = row_norm_gradient(net, s, 5, WEIGHT),
        .dbeta = row_norm_gradient(net, s, 5, BIAS),
    };

    (void)err;
    row_norm_fill_args(net, s, 3, &norm);
    pr_kernel_layer_norm_back(net->par, &b);
    return PR_OK;
}

/* ---- instance norm. Tensors: y, x, mean, inv_std. */

static void instance_norm_fill_args(const struct pr_net *net,
                                    const struct pr_net_step *s, unsigned mean,
                                    struct pr_norm *ret)
{
    *ret = (struct pr_norm){
        .gamma = row_norm_param(net, s->layer, WEIGHT),
        .beta = row_norm_param(net, s->layer, BIAS),
        .mean = pr_op_data(net, s, mean),
        .inv_std = pr_op_data(net, s, mean + 1),
        .epsilon = (float)pr_op_layer(net, s)->epsilon,
    };
}

static int run_instance_norm(struct pr_net *net, struct pr_net_step *s,
                             struct pr_err *err)
{
    struct pr_norm norm;

    (void)err;
    instance_norm_fill_args(net, s, 2, &norm);
    pr_kernel_instance_norm(net->par, &s->view, &norm, pr_op_data(net, s, 1),
                            pr_op_data(net, s, 0));
    return PR_OK;
}

/* Tensors: dx, dy, x, mean, inv_std, work. */
static int run_instance_norm_back(struct pr_net *net, struct pr_net_step *s,
                                  struct pr_err *err)
{
    struct pr_norm norm;
    struct pr_instance_back b = {
        .norm = &norm,
        .x = pr_op_data(net, s, 2),
        .dy = pr_op_data(net, s, 1),
        .dx = pr_op_data(net, s, 0),
        .dgamma = row_norm_gradient(net, s, 6, WEIGHT),
        .dbeta = row_norm_gradient(net, s, 6, BIAS),
        .work = pr_op_data(net, s, 5),
    };

    (void)err;
    instance_norm_fill_args(net, s, 3, &norm);
    pr_kernel_instance_norm_back(net->par, &s->view, &b);
    return PR_OK;
}

/* ---- layer and instance norm: forward */

/* Means that there are, with room for channels that fill up a block. */
static size_t mean_count(const struct pr_net *net, const struct pr_net_node *n)
{
    struct pr_grid v;

    if (is_layer_norm(n)) {
        const struct pr_layer_shape *shape = &n->layer->shape;

        return net->opts.batch * pr_op_sample_numbers(n->layer) /
               (size_t)shape->at[shape->dims - 1];
    }
    pr_layout_view(pr_net_tensor_layout(net, n->src), &v);
    return pr_kernel_instance_norm_work(&v) / 2;
}

/* Instance norm takes its input in any layout that loops can walk. */
static int take_input(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid v;

    n->src = pr_net_layer_input(net, layer, 0);
    if (!is_layer_norm(n) &&
        pr_layout_view(pr_net_tensor_layout(net, n->src), &v))
        return PR_OK;
    return pr_op_input_tensor(net, layer, 0, &n->src, err);
}

static int row_norm_op_forward(struct pr_net *net, unsigned layer,
                               struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = take_input(net, layer, err);

    for (unsigned i = first_norm_param(n); i <= BIAS && !rc; i++)
        rc = pr_net_param_new(net, layer, i, NULL, true, err);
    if (!rc)
        rc = pr_op_new_room(net, mean_count(net, n), &n->mean, err);
    if (!rc)
        rc = pr_op_new_room(net, mean_count(net, n), &n->inv_std, err);
    if (rc)
        return rc;
    n->out = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0, err);
    if (n->out < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, is_layer_norm(n) ? run_layer_norm : run_instance_norm,
                    err, n->out, n->src, n->mean, n->inv_std);
    if (!rc && !is_layer_norm(n))
        pr_layout_view(pr_net_tensor_layout(net, n->src),
                       &pr_net_last_step(net)->view);
    return rc;
}

/* ---- layer and instance norm: backward */

/* Where gradients of parameters go, for the end of the list. */
static int row_norm_make_gradients(struct pr_net *net, unsigned layer,
                                   int *dbeta, int *dgamma, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int rc;

    *dbeta = *dgamma = PR_NO_TENSOR;
    if (!pr_net_param_is_updated(net, layer))
        return PR_OK;
    rc = pr_net_param_gradient(net, layer, BIAS, NULL, dbeta, err);
    if (!rc && n->layer->has_scale)
        rc = pr_net_param_gradient(net, layer, WEIGHT, NULL, dgamma, err);
    return rc;
}

static int emit_rows(struct pr_net *net, unsigned layer, int dx, int dy,
                     int dbeta, int dgamma, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OP_STEP(net, run_layer_norm_back, err, dx, dy, n->src, n->mean,
                        n->inv_std, dbeta, dgamma);

    if (!rc)
        pr_net_last_step(net)->elements = pr_net_tensor_elements(net, n->src);
    return rc;
}

static int emit_samples(struct pr_net *net, unsigned layer, int dx, int dy,
                        int dbeta, int dgamma, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid v;
    int work, rc;

    pr_layout_view(pr_net_tensor_layout(net, n->src), &v);
    rc = pr_op_new_room(net, pr_kernel_instance_norm_work(&v), &work, err);
    if (!rc)
        rc = PR_OP_STEP(net, run_instance_norm_back, err, dx, dy, n->src,
                        n->mean, n->inv_std, work, dbeta, dgamma);
    if (!rc)
        pr_net_last_step(net)->view = v;
    return rc;
}

static int row_norm_op_backward(struct pr_net *net, unsigned layer,
                                struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    bool own = false, wants = pr_op_needs_gradient(net, layer, 0);
    int dy = PR_NO_TENSOR, dx, dbeta, dgamma;
    int rc = pr_net_gradient_sum(net, layer, &dy, &own, err);

    if (!rc)
        rc = row_norm_make_gradients(net, layer, &dbeta, &dgamma, err);
    if (rc)
        return rc;
    if (!wants && is_layer_norm(n))
        dx = n->src;
    else
        dx = own ? dy
                 : pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0,
                                     err);
    if (dx < 0)
        return PR_E_NOMEM;
    rc = (is_layer_norm(n) ? emit_rows : emit_samples)(net, layer, dx, dy,
                                                       dbeta, dgamma, err);
    if (!rc && wants)
        rc = pr_op_give_gradient(net, layer, 0, dx, err);
    if (!rc && pr_net_param_is_updated(net, layer))
        rc = pr_net_param_update(net, layer, err);
    return rc;
}

const struct pr_op pr_op_row_norm = {row_norm_op_forward, row_norm_op_backward};

/* ---- batch norm */

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

    for (unsigned i = first_norm_param(n); i <= VAR && !rc; i++)
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

/* ---- batch norm: backward. Tensors: x, y, dx, masked, terms, gradients of
 * beta and gamma. */

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

    for (unsigned i = first_norm_param(n); i <= BIAS && !rc; i++)
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
