/*
 * Embedding: rows of a table by ids. Its gradient is a whole table that is 0
 * in most rows; where nothing else wants that, and the definition says sparse,
 * the backward step changes the rows that were chosen, and there is none.
 */
#include "nn/kernel/kernels_rows.h"
#include "nn/op/op_ids.h"

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

/* ---- forward. Tensors: y, ids. */

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

/* ---- backward. Tensors: dy, ids, work, dw. */

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
