/* Layers that join inputs of the same shape: add and multiply. */
#include "nn/engine/net_impl.h"

/* ---- add that no batch norm took along. Tensors: y, terms. */

static int run_add(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_net_tensor_data(net, s->tensors[1 + i]);
    pr_kernel_sum(net->par, s->elements, terms, s->terms, s->relu,
                  pr_net_tensor_data(net, s->tensors[0]));
    return PR_OK;
}

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
    s = pr_net_step_new(net, run_add);
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
