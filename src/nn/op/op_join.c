/* Layers that join inputs: concat, add and multiply. */
#include "nn/engine/net_impl.h"
#include "nn/op/op_share.h"

/* ---- concat of channels: all in the layout of the first, where they
 * differ. Of any other dimension below. */

static int channels_forward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layout *lays[PR_CONCAT_INPUTS];
    unsigned count = n->layer->input_count;
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_layout *dst;
    struct pr_net_step *s;
    int rc;

    for (unsigned i = 0; i < count; i++)
        lays[i] = pr_net_tensor_layout(net, pr_net_layer_input(net, layer, i));
    dst = pr_layout_like(net->dnn, lays[0], dims, at);
    if (!dst)
        dst = pr_layout_new(net->dnn, PR_LAYOUT_ANY, PR_LAYOUT_F32, dims, at);
    if (!dst)
        return pr_fail_nomem(err);
    rc = pr_primitive_concat(net->dnn, lays, count, dst, &n->forward, err);
    if (rc)
        return rc;
    n->out = pr_net_tensor_new(net, pr_primitive_layout(n->forward, PR_ARG_DST),
                               0, err);
    s = n->out < 0 ? NULL : pr_net_step_primitive(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < count; i++)
        pr_net_step_use(net, s, PR_ARG_MANY + (int)i,
                        pr_net_layer_input(net, layer, i));
    pr_net_step_use(net, s, PR_ARG_DST, n->out);
    return PR_OK;
}

/* A part may begin within a block of channels; then it is taken from a copy of
 * the gradient in plain order, which *gradient is from there on. */
static int make_slice(struct pr_net *net, unsigned layer, int *gradient,
                      int64_t first, const struct pr_layout *to,
                      struct pr_primitive **ret, struct pr_err *err)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_layout *plain;
    int rc = pr_primitive_slice(net->dnn, pr_net_tensor_layout(net, *gradient),
                                first, to, ret, err);

    if (rc != PR_E_UNAVAIL)
        return rc;
    plain = pr_layout_new(net->dnn, PR_LAYOUT_PLAIN, PR_LAYOUT_F32, dims, at);
    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_net_tensor_in_layout(net, *gradient, plain, gradient, err);
    return rc ? rc : pr_primitive_slice(net->dnn, plain, first, to, ret, err);
}

static int emit_channel_slice(struct pr_net *net, unsigned layer,
                              unsigned input, int *gradient, int64_t first,
                              struct pr_err *err)
{
    int dst = pr_net_tensor_new(
        net, pr_net_tensor_layout(net, pr_net_leader(net, input)->out), 0, err);
    struct pr_primitive *prim;
    struct pr_net_step *s;
    int rc = dst < 0 ? PR_E_NOMEM
                     : make_slice(net, layer, gradient, first,
                                  pr_net_tensor_layout(net, dst), &prim, err);

    if (rc)
        return rc;
    s = pr_net_step_primitive(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, *gradient);
    pr_net_step_use(net, s, PR_ARG_DST, dst);
    return pr_net_gradient_add(net, input, dst, err);
}

static int channels_backward(struct pr_net *net, unsigned layer,
                             struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    int64_t first = 0;
    int gradient;
    bool own;
    int rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);

    for (unsigned i = 0; i < l->input_count && !rc; i++) {
        if (pr_net_leader(net, l->inputs[i])->needs)
            rc = emit_channel_slice(net, layer, l->inputs[i], &gradient, first,
                                    err);
        first += net->model->layers[l->inputs[i]].shape.at[0];
    }
    return rc;
}

/* ---- concat of rows, features or whatever else: loops on plain order. A part
 * is what lies together of an input. Tensors: y, inputs; or dx, dy. */

static int run_parts(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t whole = pr_op_part_numbers(l, l->axis), rows = s->elements / whole;
    float *y = pr_op_data(net, s, 0);

    (void)err;
    for (unsigned i = 0; i < l->input_count; i++) {
        size_t width = pr_op_part_numbers(pr_op_input(net, l, i), l->axis);

        pr_kernel_part(net->par, rows, width, pr_op_data(net, s, 1 + i), width,
                       y, whole);
        y += width;
    }
    return PR_OK;
}

static int run_part_back(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t whole = pr_op_part_numbers(l, l->axis), first = 0;
    size_t width = pr_op_part_numbers(pr_op_input(net, l, s->terms), l->axis);

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        first += pr_op_part_numbers(pr_op_input(net, l, i), l->axis);
    pr_kernel_part(net->par, s->elements / width, width,
                   pr_op_data(net, s, 1) + first, whole, pr_op_data(net, s, 0),
                   width);
    return PR_OK;
}

static int parts_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    unsigned count = net->model->layers[layer].input_count;
    int tensors[1 + PR_CONCAT_INPUTS];
    int rc = pr_op_new_output(net, layer, err);

    tensors[0] = net->nodes[layer].out;
    for (unsigned i = 0; i < count && !rc; i++)
        rc = pr_op_input_tensor(net, layer, i, &tensors[1 + i], err);
    return rc ? rc : pr_op_step(net, run_parts, tensors, 1 + count, err);
}

static int part_back(struct pr_net *net, unsigned layer, unsigned i,
                     int gradient, struct pr_err *err)
{
    const struct pr_layout *lay =
        pr_op_plain_layout(net, net->model->layers[layer].inputs[i]);
    int dst = lay ? pr_net_tensor_new(net, lay, 0, err) : PR_NO_TENSOR, rc;

    if (dst < 0)
        return pr_fail_nomem(err);
    rc = PR_OP_STEP(net, run_part_back, err, dst, gradient);
    if (rc)
        return rc;
    pr_net_last_step(net)->terms = i;
    return pr_op_give_gradient(net, layer, i, dst, err);
}

static int parts_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    unsigned count = net->model->layers[layer].input_count;
    int gradient;
    bool own;
    int rc = pr_op_gradient(net, layer, &gradient, &own, err);

    for (unsigned i = 0; i < count && !rc; i++)
        if (pr_op_needs_gradient(net, layer, i))
            rc = part_back(net, layer, i, gradient, err);
    return rc;
}

static bool is_of_channels(const struct pr_net *net, unsigned layer)
{
    const struct pr_layer *l = &net->model->layers[layer];

    return l->shape.dims == 3 && l->axis == 0;
}

static int concat_forward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];

    if (l->input_count > PR_CONCAT_INPUTS)
        return pr_fail(err, PR_E_UNAVAIL, l->name,
                       "concat of %u inputs; this engine joins at most %d",
                       l->input_count, PR_CONCAT_INPUTS);
    return is_of_channels(net, layer) ? channels_forward(net, layer, err)
                                      : parts_forward(net, layer, err);
}

static int concat_backward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    return is_of_channels(net, layer) ? channels_backward(net, layer, err)
                                      : parts_backward(net, layer, err);
}

const struct pr_op pr_op_concat = {concat_forward, concat_backward};

/* ---- add that no batch norm took along. Tensors: y, terms. */

/* Some of the inputs, from `from` on, added to what is there if from > 0. */
static int add_some(struct pr_net *net, unsigned layer, unsigned from,
                    unsigned to, bool relu, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int tensors[PR_TERMS];
    unsigned count = 0;
    struct pr_net_step *s;
    int rc = PR_OK;

    if (from)
        tensors[count++] = n->out;
    for (unsigned i = from; i < to && !rc; i++)
        rc = pr_net_tensor_in_layout(net, pr_net_layer_input(net, layer, i),
                                     pr_net_tensor_layout(net, n->out),
                                     &tensors[count++], err);
    if (rc)
        return rc;
    s = pr_net_step_new(net, pr_net_run_sum);
    if (!s)
        return pr_fail_nomem(err);
    s->elements = pr_net_tensor_elements(net, n->out);
    s->terms = count;
    s->relu = relu;
    pr_net_step_use(net, s, 0, n->out);
    for (unsigned i = 0; i < count; i++)
        pr_net_step_use(net, s, 0, tensors[i]);
    return PR_OK;
}

static int add_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    unsigned count = n->layer->input_count, at = 0;
    int rc = PR_OK;

    n->out = pr_net_tensor_new(
        net, pr_net_tensor_layout(net, pr_net_layer_input(net, layer, 0)), 0,
        err);
    if (n->out < 0)
        return PR_E_NOMEM;
    while (at < count && !rc) {
        unsigned room = PR_TERMS - (at > 0);
        unsigned to = count - at < room ? count : at + room;

        rc = add_some(net, layer, at, to, n->relu && to == count, err);
        at = to;
    }
    return rc;
}

static int add_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    int gradient;
    bool own;
    int rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);

    for (unsigned i = 0; i < l->input_count && !rc; i++)
        if (pr_net_leader(net, l->inputs[i])->needs)
            rc = pr_net_gradient_add(net, l->inputs[i], gradient, err);
    return rc;
}

const struct pr_op pr_op_add = {add_forward, add_backward};

/* ---- multiply. Tensors: y, factors. */

static int run_multiply(struct pr_net *net, struct pr_net_step *s,
                        struct pr_err *err)
{
    const float *factors[PR_TERMS];
    unsigned count = s->count - 1;

    (void)err;
    for (unsigned i = 0; i < count; i++)
        factors[i] = pr_op_data(net, s, 1 + i);
    pr_kernel_multiply(net->par, s->elements, factors, count,
                       pr_op_data(net, s, 0));
    return PR_OK;
}

/* dst = the product of them all, some at a time. */
static int emit_multiply(struct pr_net *net, int dst, const int *factors,
                         unsigned count, struct pr_err *err)
{
    unsigned at = 0;
    int rc = PR_OK;

    while (at < count && !rc) {
        int tensors[1 + PR_TERMS] = {dst, dst};
        unsigned n = at ? 2 : 1;

        while (n < 1 + PR_TERMS && at < count)
            tensors[n++] = factors[at++];
        rc = pr_op_step(net, run_multiply, tensors, n, err);
    }
    return rc;
}

/* All inputs but one in the layout of the output; their number. */
static int find_other_factors(struct pr_net *net, unsigned layer, unsigned but,
                              int *factors, unsigned *count, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    for (unsigned i = 0; i < n->layer->input_count && !rc; i++)
        if (i != but)
            rc = pr_net_tensor_in_layout(net, pr_net_layer_input(net, layer, i),
                                         pr_net_tensor_layout(net, n->out),
                                         &factors[(*count)++], err);
    return rc;
}

static int multiply_forward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int factors[PR_CONCAT_INPUTS];
    unsigned count = 0;
    int rc;

    if (n->layer->input_count > PR_CONCAT_INPUTS)
        return pr_fail(err, PR_E_UNAVAIL, n->layer->name,
                       "multiply of %u inputs; this engine joins at most %d",
                       n->layer->input_count, PR_CONCAT_INPUTS);
    n->out = pr_net_tensor_new(
        net, pr_net_tensor_layout(net, pr_net_layer_input(net, layer, 0)), 0,
        err);
    if (n->out < 0)
        return PR_E_NOMEM;
    rc = find_other_factors(net, layer, n->layer->input_count, factors, &count,
                            err);
    return rc ? rc : emit_multiply(net, n->out, factors, count, err);
}

static int multiply_backward(struct pr_net *net, unsigned layer,
                             struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int factors[PR_CONCAT_INPUTS];
    bool own;
    int rc = pr_net_gradient_sum(net, layer, &factors[0], &own, err);

    for (unsigned i = 0; i < n->layer->input_count && !rc; i++) {
        unsigned count = 1;
        int dst;

        if (!pr_op_needs_gradient(net, layer, i))
            continue;
        rc = find_other_factors(net, layer, i, factors, &count, err);
        if (rc)
            break;
        dst = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->out), 0, err);
        rc =
            dst < 0 ? PR_E_NOMEM : emit_multiply(net, dst, factors, count, err);
        if (!rc)
            rc = pr_op_give_gradient(net, layer, i, dst, err);
    }
    return rc;
}

const struct pr_op pr_op_multiply = {multiply_forward, multiply_backward};
