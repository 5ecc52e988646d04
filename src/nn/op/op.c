/* What operations that work in plain order have in common. */
#include "nn/op/op.h"

#include "nn/engine/net_impl.h"
#include "nn/kernel/kernels.h"

/* ---- ids, which come with each batch: they are checked in each step */

int pr_op_check_ids(const struct pr_net *net, const struct pr_net_step *s,
                    const int32_t *ids, size_t each, int64_t limit,
                    struct pr_err *err)
{
    size_t count = net->opts.batch * each;
    size_t bad = pr_ids_find_bad(ids, count, limit);

    if (bad == count)
        return PR_OK;
    return pr_fail(err, PR_E_FORMAT, pr_op_layer(net, s)->name,
                   "id %d at place %zu of sample %zu is not below %lld",
                   (int)ids[bad], bad % each, bad / each, (long long)limit);
}

int pr_op_check_lengths(const struct pr_net *net, const struct pr_net_step *s,
                        const int32_t *lengths, int64_t most,
                        struct pr_err *err)
{
    for (size_t i = 0; i < net->opts.batch; i++)
        if (lengths[i] < 1 || lengths[i] > most)
            return pr_fail(err, PR_E_FORMAT, pr_op_layer(net, s)->name,
                           "length %d of sample %zu is not between 1 and %lld",
                           (int)lengths[i], i, (long long)most);
    return PR_OK;
}

const struct pr_layout *pr_op_plain_layout(struct pr_net *net, unsigned layer)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_layout_new(net->dnn, PR_LAYOUT_PLAIN, PR_LAYOUT_F32, dims, at);
}

int pr_op_input_tensor(struct pr_net *net, unsigned layer, unsigned i, int *ret,
                       struct pr_err *err)
{
    unsigned input = net->model->layers[layer].inputs[i];
    int t = pr_net_leader(net, input)->out;

    *ret = t;
    if (!pr_net_tensor_layout(net, t))
        return PR_OK;
    return pr_net_tensor_in_layout(net, t, pr_op_plain_layout(net, input), ret,
                                   err);
}

int pr_op_new_output(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    const struct pr_layout *lay = pr_op_plain_layout(net, layer);
    int t = lay ? pr_net_tensor_new(net, lay, 0, err) : PR_NO_TENSOR;

    if (t < 0)
        return pr_fail_nomem(err);
    net->nodes[layer].out = t;
    return PR_OK;
}

int pr_op_new_room(struct pr_net *net, size_t floats, int *ret,
                   struct pr_err *err)
{
    *ret = pr_net_tensor_new(net, NULL, floats * sizeof(float), err);
    return *ret < 0 ? PR_E_NOMEM : PR_OK;
}

int pr_op_new_kept(struct pr_net *net, size_t floats, int *ret,
                   struct pr_err *err)
{
    *ret = pr_net_tensor_new_kept(net, NULL, floats * sizeof(float), err);
    return *ret < 0 ? PR_E_NOMEM : PR_OK;
}

int pr_op_step(struct pr_net *net, pr_net_step_fn *run, const int *tensors,
               unsigned count, struct pr_err *err)
{
    struct pr_net_step *s = pr_net_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    if (count && tensors[0] >= 0 && pr_net_tensor_layout(net, tensors[0]))
        s->elements = pr_net_tensor_elements(net, tensors[0]);
    for (unsigned i = 0; i < count && tensors[i] >= 0; i++)
        pr_net_step_use(net, s, 0, tensors[i]);
    return PR_OK;
}

int pr_op_gradient(struct pr_net *net, unsigned layer, int *ret, bool *ret_own,
                   struct pr_err *err)
{
    int whole = PR_NO_TENSOR;
    bool own = false;
    int rc = pr_net_gradient_sum(net, layer, &whole, &own, err);

    if (rc)
        return rc;
    rc = pr_net_tensor_in_layout(net, whole, pr_op_plain_layout(net, layer),
                                 ret, err);
    *ret_own = own || *ret != whole;
    return rc;
}

bool pr_op_needs_gradient(struct pr_net *net, unsigned layer, unsigned i)
{
    return pr_net_leader(net, net->model->layers[layer].inputs[i])->needs;
}

int pr_op_give_gradient(struct pr_net *net, unsigned layer, unsigned i,
                        int tensor, struct pr_err *err)
{
    return pr_net_gradient_add(net, net->model->layers[layer].inputs[i], tensor,
                               err);
}

size_t pr_op_sample_numbers(const struct pr_layer *l)
{
    return pr_shape_numbers(&l->shape);
}
