/*
 * Gradients while a program is made. A value that several layers take has a
 * gradient of several terms; they are summed where they are read, if what
 * reads them can do that in passing.
 */
#include "nn/engine/net_impl.h"

static int run_mask(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_net_tensor_data(net, s->tensors[2 + i]);
    pr_kernel_curve_back(net->par, s->elements, PR_CURVE_RELU,
                         pr_net_tensor_data(net, s->tensors[1]), terms,
                         s->terms, pr_net_tensor_data(net, s->tensors[0]));
    return PR_OK;
}

static int run_sum(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_net_tensor_data(net, s->tensors[1 + i]);
    pr_kernel_sum(net->par, s->elements, terms, s->terms, false,
                  pr_net_tensor_data(net, s->tensors[0]));
    return PR_OK;
}

/* One tensor of them: an owned one where there is one. */
static int join_gradient_terms(struct pr_net *net,
                               const struct pr_net_node *node, const int *terms,
                               const bool *owned, unsigned count, int *ret,
                               struct pr_err *err)
{
    int dst = PR_NO_TENSOR;
    struct pr_net_step *s;

    for (unsigned i = 0; i < count && dst < 0; i++)
        if (owned[i])
            dst = terms[i];
    if (dst < 0)
        dst =
            pr_net_tensor_new(net, pr_net_tensor_layout(net, terms[0]), 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    s = pr_net_step_new(net, node->relu ? run_mask : run_sum);
    if (!s)
        return pr_fail_nomem(err);
    s->elements = pr_net_tensor_elements(net, terms[0]);
    s->terms = count;
    pr_net_step_use(net, s, 0, dst);
    if (node->relu)
        pr_net_step_use(net, s, 0, node->out);
    for (unsigned i = 0; i < count; i++)
        pr_net_step_use(net, s, 0, terms[i]);
    *ret = dst;
    return PR_OK;
}

int pr_net_gradient_add(struct pr_net *net, unsigned layer, int tensor,
                        struct pr_err *err)
{
    struct pr_net_node *n = pr_net_leader(net, layer);
    int rc = pr_net_tensor_in_layout(
        net, tensor, pr_net_tensor_layout(net, n->out), &tensor, err);

    if (rc)
        return rc;
    net->tensors[tensor].owners++; /* first, as it may be a term already */
    if (n->term_count == PR_TERMS) {
        bool owned[PR_TERMS];
        int terms[PR_TERMS], sum;
        unsigned count =
            pr_net_gradient_terms(net, net->nodes[layer].leader, terms, owned);
        struct pr_net_node plain = *n;

        plain.relu = false;
        rc = join_gradient_terms(net, &plain, terms, owned, count, &sum, err);
        if (!rc) {
            n->terms[n->term_count++] = sum;
            net->tensors[sum].owners++;
        }
    }
    if (rc)
        return rc;
    n->terms[n->term_count++] = tensor;
    return PR_OK;
}

unsigned pr_net_gradient_terms(struct pr_net *net, unsigned leader,
                               int terms[static PR_TERMS],
                               bool owned[static PR_TERMS])
{
    struct pr_net_node *n = &net->nodes[leader];
    unsigned count = n->term_count;

    for (unsigned i = 0; i < count; i++) {
        terms[i] = n->terms[i];
        net->tensors[terms[i]].owners--;
    }
    /* A tensor may be there twice: its first place must not be written while
     * the second is to be read, but loops go element by element. */
    for (unsigned i = 0; i < count; i++)
        owned[i] = net->tensors[terms[i]].owners == 0;
    n->term_count = 0;
    return count;
}

int pr_net_gradient_sum(struct pr_net *net, unsigned leader, int *ret,
                        bool *ret_own, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[leader];
    bool owned[PR_TERMS];
    int terms[PR_TERMS];
    unsigned count = pr_net_gradient_terms(net, leader, terms, owned);

    *ret_own = true;
    if (count == 1 && !n->relu) {
        *ret = terms[0];
        *ret_own = owned[0];
        return PR_OK;
    }
    return join_gradient_terms(net, n, terms, owned, count, ret, err);
}
