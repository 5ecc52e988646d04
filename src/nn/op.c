/* What operations that work in plain order have in common. */
#include "nn/net_impl.h"

const struct pr_lay *pr_op_plain(struct pr_net *net, unsigned layer)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims, at);
}

int pr_op_in(struct pr_net *net, unsigned layer, unsigned i, int *ret,
             struct pr_err *err)
{
    unsigned input = net->model->layers[layer].inputs[i];
    int t = pr_net_leader(net, input)->out;

    *ret = t;
    if (!pr_nt_lay(net, t))
        return PR_OK;
    return pr_nt_in(net, t, pr_op_plain(net, input), ret, err);
}

int pr_op_out(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    const struct pr_lay *lay = pr_op_plain(net, layer);
    int t = lay ? pr_nt_new(net, lay, 0, err) : PR_NO_TENSOR;

    if (t < 0)
        return pr_fail_nomem(err);
    net->nodes[layer].out = t;
    return PR_OK;
}

int pr_op_room(struct pr_net *net, size_t floats, int *ret, struct pr_err *err)
{
    *ret = pr_nt_new(net, NULL, floats * sizeof(float), err);
    return *ret < 0 ? PR_E_NOMEM : PR_OK;
}

int pr_op_keep(struct pr_net *net, size_t floats, int *ret, struct pr_err *err)
{
    *ret = pr_nt_keep(net, NULL, floats * sizeof(float), err);
    return *ret < 0 ? PR_E_NOMEM : PR_OK;
}

int pr_op_step(struct pr_net *net, pr_step_fn *run, const int *tensors,
               unsigned count, struct pr_err *err)
{
    struct pr_step *s = pr_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    if (count && tensors[0] >= 0 && pr_nt_lay(net, tensors[0]))
        s->elements = pr_nt_elements(net, tensors[0]);
    for (unsigned i = 0; i < count && tensors[i] >= 0; i++)
        pr_step_use(net, s, 0, tensors[i]);
    return PR_OK;
}

int pr_op_gradient(struct pr_net *net, unsigned layer, int *ret, bool *ret_own,
                   struct pr_err *err)
{
    int whole = PR_NO_TENSOR;
    bool own = false;
    int rc = pr_grad_whole(net, layer, &whole, &own, err);

    if (rc)
        return rc;
    rc = pr_nt_in(net, whole, pr_op_plain(net, layer), ret, err);
    *ret_own = own || *ret != whole;
    return rc;
}

bool pr_op_wants(struct pr_net *net, unsigned layer, unsigned i)
{
    return pr_net_leader(net, net->model->layers[layer].inputs[i])->needs;
}

int pr_op_give(struct pr_net *net, unsigned layer, unsigned i, int tensor,
               struct pr_err *err)
{
    return pr_grad_add(net, net->model->layers[layer].inputs[i], tensor, err);
}

size_t pr_op_sample(const struct pr_layer *l)
{
    return pr_shape_numbers(&l->shape);
}
