/* Layers of several inputs: concat and add. */
#include "nn/net_impl.h"

/* ---- concat: all in the layout of the first, where they differ */

static int concat_forward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    const struct pr_lay *lays[PR_CONCAT_INPUTS];
    unsigned count = n->layer->input_count;
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_lay *dst;
    struct pr_step *s;
    int rc;

    if (count > PR_CONCAT_INPUTS)
        return pr_fail(err, PR_E_UNAVAIL, n->layer->name,
                       "concat of %u inputs; this engine joins at most %d",
                       count, PR_CONCAT_INPUTS);
    for (unsigned i = 0; i < count; i++)
        lays[i] = pr_nt_lay(net, pr_net_in(net, layer, i));
    dst = pr_lay_like(net->dnn, lays[0], dims, at);
    if (!dst)
        dst = pr_lay_new(net->dnn, PR_LAY_ANY, PR_LAY_F32, dims, at);
    if (!dst)
        return pr_fail_nomem(err);
    rc = pr_prim_concat(net->dnn, lays, count, dst, &n->forward, err);
    if (rc)
        return rc;
    n->out = pr_nt_new(net, pr_prim_lay(n->forward, PR_ARG_DST), 0, err);
    s = n->out < 0 ? NULL : pr_step_prim(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < count; i++)
        pr_step_use(net, s, PR_ARG_MANY + (int)i, pr_net_in(net, layer, i));
    pr_step_use(net, s, PR_ARG_DST, n->out);
    return PR_OK;
}

/* A part may begin within a block of channels; then it is taken from a copy of
 * the gradient in plain order, which *gradient is from there on. */
static int make_slice(struct pr_net *net, unsigned layer, int *gradient,
                      int64_t first, const struct pr_lay *to,
                      struct pr_prim **ret, struct pr_err *err)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);
    const struct pr_lay *plain;
    int rc =
        pr_prim_slice(net->dnn, pr_nt_lay(net, *gradient), first, to, ret, err);

    if (rc != PR_E_UNAVAIL)
        return rc;
    plain = pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims, at);
    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_nt_in(net, *gradient, plain, gradient, err);
    return rc ? rc : pr_prim_slice(net->dnn, plain, first, to, ret, err);
}

static int slice(struct pr_net *net, unsigned layer, unsigned input,
                 int *gradient, int64_t first, struct pr_err *err)
{
    int dst =
        pr_nt_new(net, pr_nt_lay(net, pr_net_leader(net, input)->out), 0, err);
    struct pr_prim *prim;
    struct pr_step *s;
    int rc = dst < 0 ? PR_E_NOMEM
                     : make_slice(net, layer, gradient, first,
                                  pr_nt_lay(net, dst), &prim, err);

    if (rc)
        return rc;
    s = pr_step_prim(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    pr_step_use(net, s, PR_ARG_SRC, *gradient);
    pr_step_use(net, s, PR_ARG_DST, dst);
    return pr_grad_add(net, input, dst, err);
}

static int concat_backward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    int64_t first = 0;
    int gradient;
    bool own;
    int rc = pr_grad_whole(net, layer, &gradient, &own, err);

    for (unsigned i = 0; i < l->input_count && !rc; i++) {
        if (pr_net_leader(net, l->inputs[i])->needs)
            rc = slice(net, layer, l->inputs[i], &gradient, first, err);
        first += net->model->layers[l->inputs[i]].shape.at[0];
    }
    return rc;
}

const struct pr_op pr_op_concat = {concat_forward, concat_backward};

/* ---- add that no batch norm took along. Tensors: y, terms. */

static int run_add(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_nt_data(net, s->tensors[1 + i]);
    pr_k_sum(net->par, s->elements, terms, s->terms, s->relu,
             pr_nt_data(net, s->tensors[0]));
    return PR_OK;
}

/* Some of the inputs, from `from` on, added to what is there if from > 0. */
static int add_some(struct pr_net *net, unsigned layer, unsigned from,
                    unsigned to, bool relu, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int tensors[PR_TERMS];
    unsigned count = 0;
    struct pr_step *s;
    int rc = PR_OK;

    if (from)
        tensors[count++] = n->out;
    for (unsigned i = from; i < to && !rc; i++)
        rc = pr_nt_in(net, pr_net_in(net, layer, i), pr_nt_lay(net, n->out),
                      &tensors[count++], err);
    if (rc)
        return rc;
    s = pr_step_new(net, run_add);
    if (!s)
        return pr_fail_nomem(err);
    s->elements = pr_nt_elements(net, n->out);
    s->terms = count;
    s->relu = relu;
    pr_step_use(net, s, 0, n->out);
    for (unsigned i = 0; i < count; i++)
        pr_step_use(net, s, 0, tensors[i]);
    return PR_OK;
}

static int add_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    unsigned count = n->layer->input_count, at = 0;
    int rc = PR_OK;

    n->out = pr_nt_new(net, pr_nt_lay(net, pr_net_in(net, layer, 0)), 0, err);
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
    int rc = pr_grad_whole(net, layer, &gradient, &own, err);

    for (unsigned i = 0; i < l->input_count && !rc; i++)
        if (pr_net_leader(net, l->inputs[i])->needs)
            rc = pr_grad_add(net, l->inputs[i], gradient, err);
    return rc;
}

const struct pr_op pr_op_add = {add_forward, add_backward};
