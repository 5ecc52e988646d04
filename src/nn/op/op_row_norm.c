/* Norms with each row's or sample's own statistics, in training and after. */
#include "nn/engine/net_impl.h"
#include "nn/kernel/kernels_rows.h"

enum { OP_ROW_NORM_WEIGHT, OP_ROW_NORM_BIAS };

static bool is_layer_norm(const struct pr_net_node *n)
{
    return n->layer->op == PR_LAYER_LAYER_NORM;
}

static unsigned row_norm_first_param(const struct pr_net_node *n)
{
    return n->layer->has_scale ? OP_ROW_NORM_WEIGHT : OP_ROW_NORM_BIAS;
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
    at += i == OP_ROW_NORM_WEIGHT;
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
        .gamma = row_norm_param(net, s->layer, OP_ROW_NORM_WEIGHT),
        .beta = row_norm_param(net, s->layer, OP_ROW_NORM_BIAS),
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
        .dgamma = row_norm_gradient(net, s, 5, OP_ROW_NORM_WEIGHT),
        .dbeta = row_norm_gradient(net, s, 5, OP_ROW_NORM_BIAS),
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
        .gamma = row_norm_param(net, s->layer, OP_ROW_NORM_WEIGHT),
        .beta = row_norm_param(net, s->layer, OP_ROW_NORM_BIAS),
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
        .dgamma = row_norm_gradient(net, s, 6, OP_ROW_NORM_WEIGHT),
        .dbeta = row_norm_gradient(net, s, 6, OP_ROW_NORM_BIAS),
        .work = pr_op_data(net, s, 5),
    };

    (void)err;
    instance_norm_fill_args(net, s, 3, &norm);
    pr_kernel_instance_norm_back(net->par, &s->view, &b);
    return PR_OK;
}

/* ---- forward */

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

static struct pr_net_step *last_step(struct pr_net *net)
{
    return &net->steps[net->step_count - 1];
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

    for (unsigned i = row_norm_first_param(n); i <= OP_ROW_NORM_BIAS && !rc;
         i++)
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
                       &last_step(net)->view);
    return rc;
}

/* ---- backward */

/* Where gradients of parameters go, for the end of the list. */
static int row_norm_make_gradients(struct pr_net *net, unsigned layer,
                                   int *dbeta, int *dgamma, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int rc;

    *dbeta = *dgamma = PR_NO_TENSOR;
    if (!pr_net_param_is_updated(net, layer))
        return PR_OK;
    rc = pr_net_param_gradient(net, layer, OP_ROW_NORM_BIAS, NULL, dbeta, err);
    if (!rc && n->layer->has_scale)
        rc = pr_net_param_gradient(net, layer, OP_ROW_NORM_WEIGHT, NULL, dgamma,
                                   err);
    return rc;
}

static int emit_rows(struct pr_net *net, unsigned layer, int dx, int dy,
                     int dbeta, int dgamma, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OP_STEP(net, run_layer_norm_back, err, dx, dy, n->src, n->mean,
                        n->inv_std, dbeta, dgamma);

    if (!rc)
        last_step(net)->elements = pr_net_tensor_elements(net, n->src);
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
        last_step(net)->view = v;
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
