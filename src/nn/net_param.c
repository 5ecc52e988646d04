/* Parameters: weights and what is kept with them, and how they change. */
#include "base/mem.h"
#include "base/noise.h"
#include "base/rng.h"
#include "nn/net_impl.h"

#include <math.h>
#include <string.h>

/* Loops over channels read whole vectors. */
enum { CHANNEL_GRAIN = 16 };

static const struct pr_lay *plain_lay(struct pr_net *net,
                                      const struct pr_layer_tensor *t,
                                      const struct pr_lay *like)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = like ? pr_lay_dims(like, at) : t->dims;

    return pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims,
                      like ? at : t->at);
}

/* Room for a parameter, its gradient or what the optimiser keeps of it. */
static int new_room(struct pr_net *net, const struct pr_param *p, bool keep,
                    struct pr_err *err)
{
    size_t bytes = p->elements * sizeof(float);

    return keep ? pr_nt_keep(net, NULL, bytes, err)
                : pr_nt_new(net, NULL, bytes, err);
}

static bool optimiser_rooms(struct pr_net *net, struct pr_param *p,
                            struct pr_err *err)
{
    bool adam = net->opts.optimizer.kind == PR_ADAM;
    bool momentum = adam || net->opts.optimizer.momentum != 0;

    if (momentum)
        p->first = new_room(net, p, true, err);
    if (adam)
        p->second = new_room(net, p, true, err);
    return (!momentum || p->first >= 0) && (!adam || p->second >= 0);
}

int pr_param_new(struct pr_net *net, unsigned layer, unsigned i,
                 const struct pr_lay *lay, bool plain, struct pr_err *err)
{
    struct pr_param *all =
        pr_arena_grow(net->arena, net->params, net->param_count,
                      &net->param_cap, sizeof *all);
    const struct pr_layer *l = &net->model->layers[layer];
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    struct pr_param p = {.layer = layer,
                         .gradient = PR_NO_TENSOR,
                         .first = PR_NO_TENSOR,
                         .second = PR_NO_TENSOR};

    if (!all)
        return pr_fail_nomem(err);
    net->params = all;
    pr_layer_tensors(net->model, l, ts);
    p.is = ts[l->op == PR_LAYER_BATCH_NORM && !l->has_scale ? i - 1 : i];
    p.plain = plain_lay(net, &p.is, lay);
    p.lay = lay && !plain ? lay : p.plain;
    if (!p.plain)
        return pr_fail_nomem(err);
    p.elements = pr_lay_bytes(p.lay) / sizeof(float);
    if (p.is.dims == 1)
        p.elements =
            (p.elements + CHANNEL_GRAIN - 1) / CHANNEL_GRAIN * CHANNEL_GRAIN;
    p.value = new_room(net, &p, true, err);
    if (p.value < 0)
        return PR_E_NOMEM;
    net->tensors[p.value].lay = p.lay;
    if (net->opts.training && p.is.is_learned && !optimiser_rooms(net, &p, err))
        return PR_E_NOMEM;
    net->nodes[layer].params[i] = (int)net->param_count;
    all[net->param_count++] = p;
    return PR_OK;
}

int pr_param_gradient(struct pr_net *net, unsigned param,
                      const struct pr_lay *lay, int *ret, struct pr_err *err)
{
    struct pr_param *p = &net->params[param];
    int t;

    if (lay && !pr_lay_same(lay, p->lay)) {
        /* In a layout of its own first; pr_param_update brings it over. */
        t = pr_nt_new(net, lay, 0, err);
    } else {
        t = new_room(net, p, net->opts.keep_gradients, err);
        if (t >= 0)
            net->tensors[t].lay = p->lay;
    }
    p->gradient = *ret = t;
    return t < 0 ? PR_E_NOMEM : PR_OK;
}

static int run_update(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    const struct pr_optimizer_opts *o = &net->opts.optimizer;
    const struct pr_param *p = &net->params[s->param];
    float *w = pr_nt_data(net, p->value);
    const float *g = pr_nt_data(net, p->gradient);

    (void)err;
    if (o->kind == PR_ADAM) {
        struct pr_adam a = {.rate = o->learning_rate,
                            .beta1 = o->beta1,
                            .beta2 = o->beta2,
                            .epsilon = o->epsilon,
                            .decay = o->weight_decay,
                            .step = net->step_number + 1};

        pr_k_adam(net->par, p->elements, &a, w, g, pr_nt_data(net, p->first),
                  pr_nt_data(net, p->second));
    } else {
        pr_k_sgd(net->par, p->elements, (float)o->learning_rate,
                 (float)o->momentum, (float)o->weight_decay,
                 net->step_number == 0, w, g, pr_nt_data(net, p->first));
    }
    return PR_OK;
}

/* Gradients that are to be shown stay where they are after the step. */
static int bring_over(struct pr_net *net, struct pr_param *p,
                      struct pr_err *err)
{
    int rc = pr_nt_in(net, p->gradient, p->lay, &p->gradient, err);

    if (!rc && net->opts.keep_gradients)
        net->tensors[p->gradient].is_kept = true;
    return rc;
}

int pr_param_update(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    int rc = PR_OK;

    net->stage = PR_STAGE_UPDATE;
    for (unsigned i = 0; i < PR_LAYER_TENSORS && !rc; i++) {
        int index = net->nodes[layer].params[i];
        struct pr_param *p = index < 0 ? NULL : &net->params[index];
        struct pr_step *s;

        if (!p || !p->is.is_learned)
            continue;
        if (p->is.dims > 1)
            rc = bring_over(net, p, err);
        if (rc)
            break;
        s = pr_step_new(net, run_update);
        if (!s)
            return pr_fail_nomem(err);
        s->param = (unsigned)index;
        pr_step_use(net, s, 0, p->gradient);
    }
    net->stage = PR_STAGE_BACKWARD;
    return rc;
}

/* ---- values */

static int reorder(struct pr_prim *prim, float *src, float *dst,
                   struct pr_err *err)
{
    size_t bytes = pr_prim_scratch(prim);
    void *scratch = bytes ? pr_alloc_aligned(64, bytes) : NULL;
    int rc = bytes && !scratch ? pr_fail_nomem(err)
                               : pr_prim_bind(prim, PR_ARG_SRC, src, err);

    if (!rc)
        rc = pr_prim_bind(prim, PR_ARG_DST, dst, err);
    if (!rc && bytes)
        rc = pr_prim_bind(prim, PR_ARG_SCRATCH, scratch, err);
    if (!rc)
        rc = pr_prim_ready(prim, err);
    if (!rc)
        rc = pr_prim_run(prim, err);
    pr_free(scratch);
    return rc;
}

int pr_param_copy(struct pr_net *net, const struct pr_param *p, int tensor,
                  float *plain, bool out, struct pr_err *err)
{
    float *data = pr_nt_data(net, tensor);
    struct pr_prim *prim;
    int rc;

    if (pr_lay_same(p->lay, p->plain)) {
        size_t bytes = pr_lay_bytes(p->plain);

        memcpy(out ? plain : data, out ? data : plain, bytes);
        return PR_OK;
    }
    rc = pr_prim_reorder(net->dnn, out ? p->lay : p->plain,
                         out ? p->plain : p->lay, &prim, err);
    if (rc)
        return rc;
    rc = reorder(prim, out ? data : plain, out ? plain : data, err);
    pr_prim_drop(prim);
    return rc;
}

static uint64_t elements_of(const struct pr_layer_tensor *t)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < t->dims; i++)
        n *= (uint64_t)t->at[i];
    return n;
}

/* He's initial weights, uniform between -b and b with b = sqrt(6 / inputs):
 * the deviation of his normal ones, at a tenth of the time. The same whatever
 * the layout. */
static void fill_weights(const struct pr_param *p, uint64_t key, float *out)
{
    uint64_t n = elements_of(&p->is);
    double bound = sqrt(6.0 * (double)p->is.at[0] / (double)n);
    float unit = (float)(bound / 2147483648.0);
    int32_t word;

    pr_noise_fill(out, n * sizeof *out, key, 0);
    for (uint64_t i = 0; i < n; i++) {
        memcpy(&word, &out[i], sizeof word);
        out[i] = (float)word * unit;
    }
}

static void fill(const struct pr_param *p, uint64_t key, float *out)
{
    bool one =
        strcmp(p->is.suffix, "var") == 0 || strcmp(p->is.suffix, "weight") == 0;

    if (p->is.dims > 1)
        fill_weights(p, key, out);
    else
        for (uint64_t i = 0; i < elements_of(&p->is); i++)
            out[i] = one;
}

int pr_param_init(struct pr_net *net, struct pr_err *err)
{
    uint64_t most = 0;
    float *plain;
    int rc = PR_OK;

    for (size_t i = 0; i < net->param_count; i++) {
        uint64_t n = elements_of(&net->params[i].is);
        most = n > most ? n : most;
    }
    plain = pr_alloc(most ? most * sizeof *plain : 1);
    if (!plain)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < net->param_count && !rc; i++) {
        struct pr_param *p = &net->params[i];

        fill(p, pr_mix64(net->opts.seed) + i, plain);
        rc = pr_param_copy(net, p, p->value, plain, false, err);
    }
    pr_free(plain);
    net->is_stale = true;
    return rc;
}
