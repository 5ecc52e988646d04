/* Parameters: weights and what is kept with them. */
#include "base/mem.h"
#include "base/random.h"
#include "nn/engine/net_impl.h"

#include <math.h>
#include <string.h>

/* Loops over channels read whole vectors. */
enum { CHANNEL_GRAIN = 16 };

static const struct pr_layout *new_plain_layout(struct pr_net *net,
                                                const struct pr_layer_tensor *t,
                                                const struct pr_layout *like)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = like ? pr_layout_dims(like, at) : t->dims;

    return pr_layout_new(net->dnn, PR_LAYOUT_PLAIN, PR_LAYOUT_F32, dims,
                         like ? at : t->at);
}

/* Room for a parameter, its gradient or what the optimiser keeps of it. */
static int new_param_room(struct pr_net *net, const struct pr_net_param *p,
                          bool keep, struct pr_err *err)
{
    size_t bytes = p->elements * sizeof(float);

    return keep ? pr_net_tensor_new_kept(net, NULL, bytes, err)
                : pr_net_tensor_new(net, NULL, bytes, err);
}

bool pr_net_param_is_learned(const struct pr_net *net,
                             const struct pr_net_param *p)
{
    return p->is.is_learned && net->model->layers[p->layer].learns != PR_FROZEN;
}

static bool make_optimizer_rooms(struct pr_net *net, struct pr_net_param *p,
                                 struct pr_err *err)
{
    bool adam = net->opts.optimizer.kind == PR_ADAM;
    bool momentum = adam || net->opts.optimizer.momentum != 0;

    if (momentum)
        p->first = new_param_room(net, p, true, err);
    if (adam)
        p->second = new_param_room(net, p, true, err);
    return (!momentum || p->first >= 0) && (!adam || p->second >= 0);
}

/* Where tensor i of a layer is among those of pr_layer_tensors: norms may have
 * no weight. */
static unsigned find_layer_tensor_index(const struct pr_layer *l, unsigned i)
{
    bool is_norm = l->op == PR_LAYER_BATCH_NORM ||
                   l->op == PR_LAYER_LAYER_NORM ||
                   l->op == PR_LAYER_INSTANCE_NORM;

    return is_norm && !l->has_scale ? i - 1 : i;
}

static int fill_param(struct pr_net *net, struct pr_net_param *p,
                      const struct pr_layout *lay, bool plain,
                      struct pr_err *err)
{
    p->plain = new_plain_layout(net, &p->is, lay);
    p->lay = lay && !plain ? lay : p->plain;
    if (!p->plain)
        return pr_fail_nomem(err);
    p->elements = pr_layout_bytes(p->lay) / sizeof(float);
    if (p->is.dims == 1)
        p->elements =
            (p->elements + CHANNEL_GRAIN - 1) / CHANNEL_GRAIN * CHANNEL_GRAIN;
    p->value = new_param_room(net, p, true, err);
    if (p->value < 0)
        return PR_E_NOMEM;
    net->tensors[p->value].lay = p->lay;
    if (net->opts.training && pr_net_param_is_learned(net, p) &&
        !make_optimizer_rooms(net, p, err))
        return PR_E_NOMEM;
    return PR_OK;
}

int pr_net_param_new(struct pr_net *net, unsigned layer, unsigned i,
                     const struct pr_layout *lay, bool plain,
                     struct pr_err *err)
{
    unsigned owner = net->model->layers[layer].like;
    const struct pr_layer *l = &net->model->layers[owner];
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    struct pr_net_param p = {.layer = owner,
                             .gradient = PR_NO_TENSOR,
                             .first = PR_NO_TENSOR,
                             .second = PR_NO_TENSOR};
    struct pr_net_param *all;
    int rc;

    if (net->nodes[owner].params[i] >= 0) {
        net->nodes[layer].params[i] = net->nodes[owner].params[i];
        return PR_OK;
    }
    pr_layer_tensors(net->model, l, ts);
    p.is = ts[find_layer_tensor_index(l, i)];
    rc = fill_param(net, &p, lay, plain, err);
    if (rc)
        return rc;
    all = pr_arena_grow(net->arena, net->params, net->param_count,
                        &net->param_cap, sizeof *all);
    if (!all)
        return pr_fail_nomem(err);
    net->params = all;
    net->nodes[layer].params[i] = net->nodes[owner].params[i] =
        (int)net->param_count;
    all[net->param_count++] = p;
    return PR_OK;
}

/* ---- values */

static int run_reorder_once(struct pr_primitive *prim, float *src, float *dst,
                            struct pr_err *err)
{
    size_t bytes = pr_primitive_scratch_bytes(prim);
    void *scratch = bytes ? pr_alloc_aligned(64, bytes) : NULL;
    int rc = bytes && !scratch ? pr_fail_nomem(err)
                               : pr_primitive_bind(prim, PR_ARG_SRC, src, err);

    if (!rc)
        rc = pr_primitive_bind(prim, PR_ARG_DST, dst, err);
    if (!rc && bytes)
        rc = pr_primitive_bind(prim, PR_ARG_SCRATCH, scratch, err);
    if (!rc)
        rc = pr_primitive_make_ready(prim, err);
    if (!rc)
        rc = pr_primitive_run(prim, err);
    pr_free(scratch);
    return rc;
}

int pr_net_param_copy(struct pr_net *net, const struct pr_net_param *p,
                      int tensor, float *plain, bool out, struct pr_err *err)
{
    float *data = pr_net_tensor_data(net, tensor);
    struct pr_primitive *prim;
    int rc;

    if (pr_layout_is_same(p->lay, p->plain)) {
        size_t bytes = pr_layout_bytes(p->plain);

        memcpy(out ? plain : data, out ? data : plain, bytes);
        return PR_OK;
    }
    rc = pr_primitive_reorder(net->dnn, out ? p->lay : p->plain,
                              out ? p->plain : p->lay, &prim, err);
    if (rc)
        return rc;
    rc = run_reorder_once(prim, out ? data : plain, out ? plain : data, err);
    pr_primitive_drop(prim);
    return rc;
}

static uint64_t count_tensor_elements(const struct pr_layer_tensor *t)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < t->dims; i++)
        n *= (uint64_t)t->at[i];
    return n;
}

/* Uniform between -bound and bound; the same whatever the layout. */
static void fill_uniform_values(uint64_t n, double bound, uint64_t key,
                                float *out)
{
    float unit = (float)(bound / 2147483648.0);
    int32_t word;

    pr_noise_fill(out, n * sizeof *out, key, 0);
    for (uint64_t i = 0; i < n; i++) {
        memcpy(&word, &out[i], sizeof word);
        out[i] = (float)word * unit;
    }
}

/* He's initial weights, uniform with the deviation of his normal ones, at a
 * tenth of the time: b = sqrt(6 / inputs). Recurrent layers have 1 / sqrt(out),
 * as in PyTorch. */
static void fill_initial_values(const struct pr_layer *l,
                                const struct pr_layer_tensor *t, uint64_t key,
                                float *out)
{
    uint64_t n = count_tensor_elements(t);
    bool one =
        strcmp(t->suffix, "var") == 0 || strcmp(t->suffix, "weight") == 0;

    if (l->op == PR_LAYER_LSTM || l->op == PR_LAYER_GRU)
        fill_uniform_values(n, 1 / sqrt((double)l->out), key, out);
    else if (l->op == PR_LAYER_ADDITIVE_ATTENTION)
        fill_uniform_values(n, 1 / sqrt((double)n), key, out);
    else if (t->dims > 1)
        fill_uniform_values(n, sqrt(6.0 * (double)t->at[0] / (double)n), key,
                            out);
    else
        for (uint64_t i = 0; i < n; i++)
            out[i] = one;
}

int pr_net_param_init(struct pr_net *net, struct pr_err *err)
{
    uint64_t most = 0;
    float *plain;
    int rc = PR_OK;

    for (size_t i = 0; i < net->param_count; i++) {
        uint64_t n = count_tensor_elements(&net->params[i].is);
        most = n > most ? n : most;
    }
    plain = pr_alloc(most ? most * sizeof *plain : 1);
    if (!plain)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < net->param_count && !rc; i++) {
        struct pr_net_param *p = &net->params[i];

        fill_initial_values(&net->model->layers[p->layer], &p->is,
                            pr_mix64(net->opts.seed) + i, plain);
        rc = pr_net_param_copy(net, p, p->value, plain, false, err);
    }
    pr_free(plain);
    net->is_stale = true;
    return rc;
}
