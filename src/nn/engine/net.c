/* Networks: making one, and what it says about itself. */
#include "nn/engine/net.h"

#include "base/mem.h"
#include "nn/engine/net_impl.h"

#include <stdio.h>

bool pr_net_is_available(char version[static 32], struct pr_err *err)
{
    version[0] = '\0';
    return pr_onednn_version(version, err) == PR_OK;
}

/* Emulated bfloat16 would be slower than float32. */
static bool has_bf16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

static int check_net_opts(const struct pr_model *m, const struct pr_net_opts *o,
                          struct pr_err *err)
{
    if (!o->batch || o->batch > 1 << 20)
        return pr_fail(err, PR_E_CONF, m->name,
                       "a batch must have from 1 to 1048576 samples");
    if (o->dtype == PR_NN_BF16 && !has_bf16()) {
        pr_fail(err, PR_E_UNAVAIL, m->name,
                "this processor has no bfloat16 arithmetic (AVX512_BF16)");
        return pr_hint(err, "use exp.dtype=float32");
    }
    return PR_OK;
}

static int net_build(struct pr_net *net, struct pr_err *err)
{
    int rc = pr_threads_new(net->opts.threads, &net->par, err);

    if (!rc)
        rc = pr_onednn_new(&net->dnn, err);
    if (rc)
        return rc;
    for (unsigned i = 0; i < net->model->layer_count; i++) {
        struct pr_net_node *n = &net->nodes[i];

        n->out = n->src = n->work = n->exec_weights = n->exec_bias =
            PR_NO_TENSOR;
        n->mean = n->inv_std = PR_NO_TENSOR;
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++)
            n->params[k] = n->grads[k] = PR_NO_TENSOR;
        for (unsigned k = 0; k < PR_NODE_EXTRA; k++)
            n->extra[k] = PR_NO_TENSOR;
    }
    pr_net_fuse(net);
    rc = pr_net_compile(net, err);
    if (!rc)
        rc = pr_net_place_memory(net, err);
    if (rc || net->opts.plan_only)
        return rc;
    rc = pr_net_bind_memory(net, err);
    return rc ? rc : pr_net_param_init(net, err);
}

int pr_net_new(const struct pr_model *model, const struct pr_net_opts *opts,
               struct pr_net **ret, struct pr_err *err)
{
    struct pr_arena *arena;
    struct pr_net *net;
    int rc = check_net_opts(model, opts, err);

    if (rc)
        return rc;
    arena = pr_arena_new(256 << 10);
    net = arena ? PR_ARENA_NEW(arena, struct pr_net) : NULL;
    if (net)
        net->nodes =
            PR_ARENA_ARRAY(arena, struct pr_net_node, model->layer_count);
    if (!net || !net->nodes) {
        pr_arena_free(arena);
        return pr_fail_nomem(err);
    }
    net->arena = arena;
    net->model = model;
    net->opts = *opts;
    rc = net_build(net, err);
    if (rc) {
        pr_net_free(net);
        return rc;
    }
    *ret = net;
    return PR_OK;
}

void pr_net_free(struct pr_net *net)
{
    if (!net)
        return;
    pr_onednn_free(net->dnn);
    pr_threads_free(net->par);
    pr_net_unmap_memory(net);
    pr_arena_free(net->arena);
}

void *pr_net_input(struct pr_net *net, unsigned i)
{
    return pr_net_tensor_data(net, net->nodes[i].out);
}

const float *pr_net_output(const struct pr_net *net)
{
    return pr_net_tensor_data(net, net->output);
}

void pr_net_set_learning_rate(struct pr_net *net, double rate)
{
    net->opts.optimizer.learning_rate = rate;
}

/* ---- tensors by name */

unsigned pr_net_tensor_count(const struct pr_net *net)
{
    return (unsigned)net->param_count;
}

void pr_net_tensor(const struct pr_net *net, unsigned i,
                   struct pr_net_tensor *ret)
{
    const struct pr_net_param *p = &net->params[i];

    *ret = (struct pr_net_tensor){.is_learned = pr_net_param_is_learned(net, p),
                                  .dims = p->is.dims,
                                  .elements = 1};
    snprintf(ret->name, sizeof ret->name, "%s.%s",
             net->model->layers[p->layer].name, p->is.suffix);
    for (unsigned k = 0; k < p->is.dims; k++) {
        ret->at[k] = p->is.at[k];
        ret->elements *= (uint64_t)p->is.at[k];
    }
}

int pr_net_get(struct pr_net *net, unsigned i, float *out, struct pr_err *err)
{
    const struct pr_net_param *p = &net->params[i];

    return pr_net_param_copy(net, p, p->value, out, true, err);
}

int pr_net_set(struct pr_net *net, unsigned i, const float *values,
               struct pr_err *err)
{
    const struct pr_net_param *p = &net->params[i];

    net->is_stale = true;
    return pr_net_param_copy(net, p, p->value, (float *)values, false, err);
}

int pr_net_gradient(struct pr_net *net, unsigned i, float *out,
                    struct pr_err *err)
{
    const struct pr_net_param *p = &net->params[i];

    if (!net->opts.keep_gradients || p->gradient < 0)
        return pr_fail(err, PR_E_CONF, net->model->name,
                       "gradients were not kept");
    return pr_net_param_copy(net, p, p->gradient, out, true, err);
}

/* The same parameter in another net, which may have less of them. */
static bool find_param_in_net(const struct pr_net *net,
                              const struct pr_net_param *p, unsigned *ret)
{
    for (unsigned i = 0; i < net->param_count; i++)
        if (net->params[i].layer == p->layer &&
            net->params[i].is.suffix == p->is.suffix) {
            *ret = i;
            return true;
        }
    return false;
}

int pr_net_copy(struct pr_net *to, struct pr_net *from, struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < to->param_count && !rc; i++) {
        struct pr_net_tensor t;
        unsigned k;
        float *values;

        if (!find_param_in_net(from, &to->params[i], &k))
            continue;
        pr_net_tensor(from, k, &t);
        values = pr_alloc(t.elements * sizeof *values);
        rc = values ? pr_net_get(from, k, values, err) : pr_fail_nomem(err);
        if (!rc)
            rc = pr_net_set(to, i, values, err);
        pr_free(values);
    }
    return rc;
}
