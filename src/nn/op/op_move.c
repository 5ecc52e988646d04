/*
 * Layers that move values and change none. Those that move places (upsample,
 * reflect_pad) do so in the layout that is there; the others in plain order.
 */
#include "nn/op/op_share.h"

/* ---- places. Tensors: y, x; or dx, dy. The view is of x. */

static struct pr_places step_places(const struct pr_net *net,
                                    const struct pr_net_step *s)
{
    const struct pr_layer *from = pr_op_input(net, pr_op_layer(net, s), 0);
    const struct pr_grid *v = &s->view;

    return (struct pr_places){.n = v->n * ((v->c + v->block - 1) / v->block),
                              .rows = (size_t)from->shape.at[1],
                              .columns = (size_t)from->shape.at[2],
                              .block = v->block};
}

static int run_places(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    struct pr_places v = step_places(net, s);
    const float *x = pr_op_data(net, s, 1);
    float *y = pr_op_data(net, s, 0);

    (void)err;
    if (l->op == PR_LAYER_UPSAMPLE)
        pr_kernel_upsample(net->par, &v, (size_t)l->size, x, y);
    else
        pr_kernel_reflect(net->par, &v, l->pad, x, y);
    return PR_OK;
}

static int run_places_back(struct pr_net *net, struct pr_net_step *s,
                           struct pr_err *err)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    struct pr_places v = step_places(net, s);
    const float *dy = pr_op_data(net, s, 1);
    float *dx = pr_op_data(net, s, 0);

    (void)err;
    if (l->op == PR_LAYER_UPSAMPLE)
        pr_kernel_upsample_back(net->par, &v, (size_t)l->size, dy, dx);
    else
        pr_kernel_reflect_back(net->par, &v, l->pad, dy, dx);
    return PR_OK;
}

static int places_forward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_layout *lay = NULL;
    struct pr_grid view;
    int rc = PR_OK;

    n->src = pr_net_layer_input(net, layer, 0);
    if (pr_layout_view(pr_net_tensor_layout(net, n->src), &view))
        lay = pr_layout_like(net->dnn, pr_net_tensor_layout(net, n->src), dims,
                             at);
    if (!lay) {
        rc = pr_op_input_tensor(net, layer, 0, &n->src, err);
        lay = pr_op_plain_layout(net, layer);
    }
    if (rc || !lay || !pr_layout_view(pr_net_tensor_layout(net, n->src), &view))
        return rc ? rc : pr_fail_nomem(err);
    n->out = pr_net_tensor_new(net, lay, 0, err);
    if (n->out < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run_places, err, n->out, n->src);
    if (!rc)
        net->steps[net->step_count - 1].view = view;
    return rc;
}

static int places_backward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    struct pr_grid view;
    int g, dst, rc;
    bool own;

    rc = pr_net_gradient_sum(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run_places_back, err, dst, g);
    if (rc)
        return rc;
    pr_layout_view(pr_net_tensor_layout(net, n->src), &view);
    net->steps[net->step_count - 1].view = view;
    return pr_op_give_gradient(net, layer, 0, dst, err);
}

/* ---- plain order. Tensors as above. */

static void move_slice(struct pr_net *net, const struct pr_net_step *s,
                       bool back)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    size_t width = pr_op_part_numbers(l, l->axis),
           each = pr_op_part_numbers(l, l->axis + 1);
    size_t whole = pr_op_part_numbers(pr_op_input(net, l, 0), l->axis);
    size_t rows = net->opts.batch * pr_op_sample_numbers(l) / width;
    size_t first = (size_t)l->first * each;
    const float *x = pr_op_data(net, s, 1);
    float *y = pr_op_data(net, s, 0);

    if (back)
        pr_kernel_part_back(net->par, rows, width, x, y, first, whole);
    else
        pr_kernel_part(net->par, rows, width, x + first, whole, y, width);
}

static void move_shuffle(struct pr_net *net, const struct pr_net_step *s,
                         bool back)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    const struct pr_layer *from = pr_op_input(net, l, 0);
    struct pr_shuffle what = {.n = net->opts.batch * (size_t)l->shape.at[0],
                              .rows = (size_t)from->shape.at[1],
                              .columns = (size_t)from->shape.at[2],
                              .size = (size_t)l->size};

    (back ? pr_kernel_shuffle_back : pr_kernel_shuffle)(
        net->par, &what, pr_op_data(net, s, 1), pr_op_data(net, s, 0));
}

static void move_values(struct pr_net *net, const struct pr_net_step *s,
                        bool back)
{
    const struct pr_layer *l = pr_op_layer(net, s);
    const struct pr_layer *from = back ? l : pr_op_input(net, l, 0);

    if (l->op == PR_LAYER_SLICE)
        move_slice(net, s, back);
    else if (l->op == PR_LAYER_PIXEL_SHUFFLE)
        move_shuffle(net, s, back);
    else
        pr_kernel_transpose(net->par, net->opts.batch,
                            (size_t)from->shape.at[0],
                            (size_t)from->shape.at[1], pr_op_data(net, s, 1),
                            pr_op_data(net, s, 0));
}

static int run_move(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)err;
    move_values(net, s, false);
    return PR_OK;
}

static int run_move_back(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    (void)err;
    move_values(net, s, true);
    return PR_OK;
}

static int plain_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    int src, rc = pr_op_input_tensor(net, layer, 0, &src, err);

    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    return rc ? rc : PR_OP_STEP(net, run_move, err, net->nodes[layer].out, src);
}

static int plain_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    const struct pr_layout *lay =
        pr_op_plain_layout(net, net->model->layers[layer].inputs[0]);
    int g, dst, rc;
    bool own;

    if (!lay)
        return pr_fail_nomem(err);
    rc = pr_op_gradient(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_net_tensor_new(net, lay, 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run_move_back, err, dst, g);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dst, err);
}

static bool moves_places(const struct pr_net *net, unsigned layer)
{
    enum pr_layer_op op = net->model->layers[layer].op;

    return op == PR_LAYER_UPSAMPLE || op == PR_LAYER_REFLECT_PAD;
}

static int move_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return moves_places(net, layer) ? places_forward(net, layer, err)
                                    : plain_forward(net, layer, err);
}

static int move_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return moves_places(net, layer) ? places_backward(net, layer, err)
                                    : plain_backward(net, layer, err);
}

const struct pr_op pr_op_move = {move_forward, move_backward};
