/* Adding steps to a program. */
#include "nn/engine/net_impl.h"

struct pr_net_step *pr_net_step_new(struct pr_net *net,
                                    int (*run)(struct pr_net *net,
                                               struct pr_net_step *s,
                                               struct pr_err *err))
{
    struct pr_net_step *all = pr_arena_grow(
        net->arena, net->steps, net->step_count, &net->step_cap, sizeof *all);

    if (!all)
        return NULL;
    net->steps = all;
    all[net->step_count] = (struct pr_net_step){
        .run = run, .layer = net->layer, .stage = net->stage};
    return &all[net->step_count++];
}

void pr_net_step_use(struct pr_net *net, struct pr_net_step *s, int arg,
                     int tensor)
{
    unsigned at = (unsigned)(s - net->steps);
    struct pr_net_tensor_memory *t = &net->tensors[tensor];

    s->tensors[s->count] = tensor;
    s->args[s->count++] = arg;
    if (!t->is_used)
        t->first = at;
    t->is_used = true;
    t->last = at;
}

static int run_prim(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    (void)net;
    return pr_primitive_run(s->prim, err);
}

struct pr_net_step *pr_net_step_primitive(struct pr_net *net,
                                          struct pr_primitive *prim)
{
    struct pr_net_step *s = pr_net_step_new(net, run_prim);
    size_t bytes = pr_primitive_scratch_bytes(prim);

    if (!s)
        return NULL;
    s->prim = prim;
    if (bytes) {
        if (net->tensors[net->scratch].bytes < bytes)
            net->tensors[net->scratch].bytes = (bytes + 63) / 64 * 64;
        pr_net_step_use(net, s, PR_ARG_SCRATCH, net->scratch);
    }
    return s;
}

int pr_net_step_reorder(struct pr_net *net, const struct pr_layout *from,
                        int src, const struct pr_layout *to, int dst,
                        struct pr_err *err)
{
    struct pr_primitive *prim;
    struct pr_net_step *s;
    int rc = from && to ? pr_primitive_reorder(net->dnn, from, to, &prim, err)
                        : pr_fail_nomem(err);

    if (rc)
        return rc;
    s = pr_net_step_primitive(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    s->is_reorder = true;
    pr_net_step_use(net, s, PR_ARG_SRC, src);
    pr_net_step_use(net, s, PR_ARG_DST, dst);
    return PR_OK;
}

int pr_net_tensor_in_layout(struct pr_net *net, int tensor,
                            const struct pr_layout *lay, int *ret,
                            struct pr_err *err)
{
    int copy, rc;

    if (!lay)
        return pr_fail_nomem(err);
    *ret = tensor;
    if (pr_layout_is_same(pr_net_tensor_layout(net, tensor), lay))
        return PR_OK;
    copy = pr_net_tensor_new(net, lay, 0, err);
    if (copy < 0)
        return PR_E_NOMEM;
    rc = pr_net_step_reorder(net, pr_net_tensor_layout(net, tensor), tensor,
                             lay, copy, err);
    if (!rc)
        *ret = copy;
    return rc;
}
