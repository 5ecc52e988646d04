/*
 * Layers that move values and change none: rows by numbers or ids, places,
 * dimensions. Those that move places (upsample,
 * reflect_pad) do so in the layout that is there; the others in plain order.
 */
#include "nn/kernel/kernels.h"
#include "nn/op/op.h"
#include "nn/op/op_share.h"

/* ---- gather: rows of each sample, by their numbers */

static struct pr_gather_args
gather_args(const struct pr_net *net, const struct pr_net_step *s, unsigned ids)
{
    const struct pr_layer *l = pr_op_layer(net, s);

    return (struct pr_gather_args){
        .samples = net->opts.batch,
        .rows = (size_t)pr_op_input(net, l, 0)->shape.at[0],
        .width = (size_t)l->shape.at[1],
        .count = (size_t)l->shape.at[0],
        .ids = (const int32_t *)(const void *)pr_op_data(net, s, ids),
    };
}

/* Tensors: y, x, ids. */
static int run_gather(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    struct pr_gather_args g = gather_args(net, s, 2);
    int rc = pr_op_check_ids(net, s, g.ids, g.count, (int64_t)g.rows, err);

    if (!rc)
        pr_kernel_gather(net->par, &g, pr_op_data(net, s, 1),
                         pr_op_data(net, s, 0));
    return rc;
}

/* Tensors: dx, dy, ids. */
static int run_gather_back(struct pr_net *net, struct pr_net_step *s,
                           struct pr_err *err)
{
    struct pr_gather_args g = gather_args(net, s, 2);

    (void)err;
    pr_kernel_gather_back(net->par, &g, pr_op_data(net, s, 1),
                          pr_op_data(net, s, 0));
    return PR_OK;
}

static int gather_forward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_op_input_tensor(net, layer, 1, &n->extra[0], err);
    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    return rc ? rc
              : PR_OP_STEP(net, run_gather, err, n->out, n->src, n->extra[0]);
}

static int gather_backward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    int dy, dx, rc;
    bool own;

    rc = pr_op_gradient(net, layer, &dy, &own, err);
    if (rc)
        return rc;
    dx = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0, err);
    if (dx < 0)
        return PR_E_NOMEM;
    rc = PR_OP_STEP(net, run_gather_back, err, dx, dy, n->extra[0]);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dx, err);
}

const struct pr_op pr_op_gather = {gather_forward, gather_backward};

/* ---- embedding: rows of a table by ids. Its gradient is a whole table that is
 * 0 in most rows; where nothing else wants that, and the definition says
 * sparse, the backward step changes the rows that were chosen, and there is
 * none. */

static struct pr_embedding_table embedding_table(const struct pr_net *net,
                                                 const struct pr_net_step *s,
                                                 unsigned ids)
{
    const struct pr_layer *l = pr_op_layer(net, s);

    return (struct pr_embedding_table){
        .rows = (size_t)l->ids,
        .width = (size_t)l->out,
        .count = net->opts.batch * (size_t)l->shape.at[0],
        .ids = (const int32_t *)(const void *)pr_op_data(net, s, ids),
    };
}

static float *embedding_weight(const struct pr_net *net,
                               const struct pr_net_step *s)
{
    return pr_net_tensor_data(net, pr_net_param_value(net, s->layer, 0));
}

/* ---- embedding: forward. Tensors: y, ids. */

static int run_embedding(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    struct pr_embedding_table t = embedding_table(net, s, 1);
    size_t each = (size_t)pr_op_layer(net, s)->shape.at[0];
    int rc = pr_op_check_ids(net, s, t.ids, each, (int64_t)t.rows, err);

    if (rc)
        return rc;
    pr_kernel_embedding(net->par, &t, embedding_weight(net, s),
                        pr_op_data(net, s, 0));
    return PR_OK;
}

static bool is_shared(const struct pr_net *net, unsigned layer)
{
    const struct pr_model *m = net->model;

    for (unsigned i = 0; i < m->layer_count; i++)
        if (i != layer && m->layers[i].like == m->layers[layer].like)
            return true;
    return false;
}

/* Nobody but the optimiser would look at the gradient, and that one at the
 * rows that were chosen alone. */
static bool can_be_sparse(const struct pr_net *net, unsigned layer)
{
    const struct pr_net_opts *o = &net->opts;
    const struct pr_optimizer_opts *by = &o->optimizer;

    return net->model->layers[layer].sparse && o->training && !o->reduce &&
           !o->keep_gradients && by->clip == 0 && by->weight_decay == 0 &&
           (by->kind == PR_ADAM || by->momentum == 0) && !is_shared(net, layer);
}

static int embedding_forward(struct pr_net *net, unsigned layer,
                             struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_net_param_new(net, layer, 0, NULL, true, err);
    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (rc)
        return rc;
    if (can_be_sparse(net, layer))
        net->params[n->params[0]].is_sparse = true;
    return PR_OP_STEP(net, run_embedding, err, n->out, n->src);
}

/* ---- embedding: backward. Tensors: dy, ids, work, dw. */

static int run_dense(struct pr_net *net, struct pr_net_step *s,
                     struct pr_err *err)
{
    struct pr_embedding_table t = embedding_table(net, s, 1);

    (void)err;
    t.work = pr_op_data(net, s, 2);
    pr_kernel_embedding_back(net->par, &t, pr_op_data(net, s, 0),
                             pr_op_data(net, s, 3));
    return PR_OK;
}

static int run_sparse(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_optimizer_opts *o = &net->opts.optimizer;
    const struct pr_net_param *p = &net->params[net->nodes[s->layer].params[0]];
    struct pr_embedding_table t = embedding_table(net, s, 1);
    const float *dy = pr_op_data(net, s, 0);

    (void)err;
    t.work = pr_op_data(net, s, 2);
    if (o->kind == PR_ADAM) {
        struct pr_adam a = {.rate = o->learning_rate,
                            .beta1 = o->beta1,
                            .beta2 = o->beta2,
                            .epsilon = o->epsilon,
                            .step = net->step_number + 1};

        pr_kernel_embedding_adam(net->par, &t, dy, &a, embedding_weight(net, s),
                                 pr_net_tensor_data(net, p->first),
                                 pr_net_tensor_data(net, p->second));
    } else {
        pr_kernel_embedding_sgd(net->par, &t, dy, (float)o->learning_rate,
                                embedding_weight(net, s));
    }
    return PR_OK;
}

static int embedding_backward(struct pr_net *net, unsigned layer,
                              struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[layer];
    size_t count = net->opts.batch * (size_t)n->layer->shape.at[0];
    int dy, dw, work, rc;
    bool own;

    if (!pr_net_param_is_updated(net, layer))
        return PR_OK;
    rc = pr_op_gradient(net, layer, &dy, &own, err);
    if (!rc)
        rc = pr_op_new_room(
            net, pr_kernel_embedding_work(count) / sizeof(float), &work, err);
    if (rc)
        return rc;
    if (net->params[n->params[0]].is_sparse) {
        net->stage = PR_STAGE_UPDATE;
        rc = PR_OP_STEP(net, run_sparse, err, dy, n->src, work);
        net->stage = PR_STAGE_BACKWARD;
    } else {
        rc = pr_net_param_gradient(net, layer, 0, NULL, &dw, err);
        if (!rc)
            rc = PR_OP_STEP(net, run_dense, err, dy, n->src, work, dw);
    }
    return rc ? rc : pr_net_param_update(net, layer, err);
}

const struct pr_op pr_op_embedding = {embedding_forward, embedding_backward};

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
        pr_net_last_step(net)->view = view;
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
    pr_net_last_step(net)->view = view;
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
