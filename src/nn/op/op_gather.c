/* Gather: rows of each sample, by their numbers. */
#include "nn/kernel/kernels_rows.h"
#include "nn/op/op_ids.h"

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
