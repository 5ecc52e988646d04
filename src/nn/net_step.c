/* Adding steps to a program. */
#include "nn/net_impl.h"

struct pr_step *pr_step_new(struct pr_net *net,
                            int (*run)(struct pr_net *net, struct pr_step *s,
                                       struct pr_err *err))
{
    struct pr_step *all = pr_arena_grow(net->arena, net->steps, net->step_count,
                                        &net->step_cap, sizeof *all);

    if (!all)
        return NULL;
    net->steps = all;
    all[net->step_count] =
        (struct pr_step){.run = run, .layer = net->layer, .stage = net->stage};
    return &all[net->step_count++];
}

void pr_step_use(struct pr_net *net, struct pr_step *s, int arg, int tensor)
{
    unsigned at = (unsigned)(s - net->steps);
    struct pr_nt *t = &net->tensors[tensor];

    s->tensors[s->count] = tensor;
    s->args[s->count++] = arg;
    if (!t->is_used)
        t->first = at;
    t->is_used = true;
    t->last = at;
}

static int run_prim(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    (void)net;
    return pr_prim_run(s->prim, err);
}

struct pr_step *pr_step_prim(struct pr_net *net, struct pr_prim *prim)
{
    struct pr_step *s = pr_step_new(net, run_prim);
    size_t bytes = pr_prim_scratch(prim);

    if (!s)
        return NULL;
    s->prim = prim;
    if (bytes) {
        if (net->tensors[net->scratch].bytes < bytes)
            net->tensors[net->scratch].bytes = (bytes + 63) / 64 * 64;
        pr_step_use(net, s, PR_ARG_SCRATCH, net->scratch);
    }
    return s;
}

int pr_step_reorder(struct pr_net *net, const struct pr_lay *from, int src,
                    const struct pr_lay *to, int dst, struct pr_err *err)
{
    struct pr_prim *prim;
    struct pr_step *s;
    int rc = from && to ? pr_prim_reorder(net->dnn, from, to, &prim, err)
                        : pr_fail_nomem(err);

    if (rc)
        return rc;
    s = pr_step_prim(net, prim);
    if (!s)
        return pr_fail_nomem(err);
    s->is_reorder = true;
    pr_step_use(net, s, PR_ARG_SRC, src);
    pr_step_use(net, s, PR_ARG_DST, dst);
    return PR_OK;
}

int pr_nt_in(struct pr_net *net, int tensor, const struct pr_lay *lay, int *ret,
             struct pr_err *err)
{
    int copy, rc;

    if (!lay)
        return pr_fail_nomem(err);
    *ret = tensor;
    if (pr_lay_same(pr_nt_lay(net, tensor), lay))
        return PR_OK;
    copy = pr_nt_new(net, lay, 0, err);
    if (copy < 0)
        return PR_E_NOMEM;
    rc = pr_step_reorder(net, pr_nt_lay(net, tensor), tensor, lay, copy, err);
    if (!rc)
        *ret = copy;
    return rc;
}
