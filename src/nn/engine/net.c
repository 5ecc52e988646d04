/*
 * Networks: their parameters, making one, running it, and what it says about
 * itself.
 */
#include "nn/engine/net.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "nn/engine/net_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parameters: weights and what is kept with them */

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

static bool net_param_is_learned(const struct pr_net *net,
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
    if (net->opts.training && net_param_is_learned(net, p) &&
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

static int net_param_init(struct pr_net *net, struct pr_err *err)
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
    return rc ? rc : net_param_init(net, err);
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

    *ret = (struct pr_net_tensor){.is_learned = net_param_is_learned(net, p),
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

/* ---- running a program, and what its parts took */

static int net_run_steps(struct pr_net *net, size_t from, size_t to,
                         struct pr_err *err)
{
    bool profile = net->opts.profile;
    const bool *stop = net->opts.reduce ? NULL : net->opts.stop;
    uint64_t before = profile ? pr_clock_ns() : 0;
    int rc = PR_OK;

    for (size_t i = from; i < to && !rc; i++) {
        struct pr_net_step *s = &net->steps[i];

        /* A step of a large network takes many seconds. */
        if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        rc = s->run(net, s, err);
        if (profile) {
            uint64_t now = pr_clock_ns();
            s->ns += now - before;
            before = now;
        }
    }
    return rc;
}

/* Whole numbers that come from outside are where they may be. */
static int check_input_ids(struct pr_net *net, unsigned input,
                           struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[input];
    const int32_t *ids = pr_net_input(net, input);
    size_t each = pr_op_sample_numbers(l);

    for (size_t i = 0; i < net->opts.batch * each; i++)
        if (ids[i] < 0 || ids[i] >= l->ids)
            return pr_fail(err, PR_E_FORMAT, net->model->name,
                           "'%s' of sample %zu is %d, not one of %lld", l->name,
                           i / each, ids[i], (long long)l->ids);
    return PR_OK;
}

static int check_inputs(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < net->model->input_count && !rc; i++)
        if (net->model->layers[i].ids)
            rc = check_input_ids(net, i, err);
    return rc;
}

/* A plan alone, or one without backward, has nothing to run. */
static int check_call(const struct pr_net *net, bool can, struct pr_err *err)
{
    if (can && net->memory)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, net->model->name,
                   "the network was not made for this: %s",
                   net->memory ? "it is one for inference" : "it is a plan");
}

/* ---- one call */

static int fail_loss_no_number(struct pr_net *net, unsigned loss,
                               struct pr_err *err)
{
    double v = net->score.losses[loss];
    bool alone = net->model->loss_count == 1;

    pr_fail(err, PR_E_JOB, net->model->name, "the loss%s%s of step %llu is %s",
            alone ? "" : " ", alone ? "" : net->model->losses[loss].name,
            (unsigned long long)net->step_number + 1,
            isnan(v) ? "not a number (NaN)" : "infinite");
    return pr_hint(err, "try a smaller nn.learning_rate than %g",
                   net->opts.optimizer.learning_rate);
}

static int check_finite_losses(struct pr_net *net, unsigned turn,
                               struct pr_err *err)
{
    for (unsigned i = 0; i < net->model->loss_count; i++)
        if (net->model->losses[i].turn == turn &&
            !isfinite(net->score.losses[i]))
            return fail_loss_no_number(net, i, err);
    return PR_OK;
}

static void read_score(const struct pr_net *net, struct pr_net_score *ret)
{
    *ret = net->score;
    ret->loss = 0;
    for (unsigned i = 0; i < net->model->loss_count; i++)
        ret->loss += ret->losses[i];
}

int pr_net_train(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err)
{
    int rc = check_call(net, net->opts.training, err);

    if (!rc)
        rc = check_inputs(net, err);
    net->score = (struct pr_net_score){.rows = 0};
    for (unsigned t = 0; t < net->model->turn_count && !rc; t++) {
        rc = net_run_steps(net, net->turns[t].first, net->turns[t].backward,
                           err);
        if (!rc)
            rc = check_finite_losses(net, t, err);
        if (!rc)
            rc = net_run_steps(net, net->turns[t].backward, net->turns[t].end,
                               err);
    }
    if (rc)
        return rc;
    net->step_number++;
    net->calls++;
    read_score(net, ret);
    return PR_OK;
}

static int net_run_forward(struct pr_net *net, bool scored, struct pr_err *err)
{
    int rc = PR_OK;

    if (!net->opts.training)
        return net_run_steps(
            net, 0, scored ? net->step_count : net->forward_steps, err);
    for (unsigned t = 0; t < net->model->turn_count && !rc; t++)
        rc = net_run_steps(net, net->turns[t].first, net->turns[t].backward,
                           err);
    return rc;
}

int pr_net_infer(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err)
{
    int rc = check_call(net, true, err);

    if (!rc)
        rc = check_inputs(net, err);
    if (!rc)
        rc = pr_net_fold_norms(net, err);
    net->score = (struct pr_net_score){.rows = 0};
    if (!rc)
        rc = net_run_forward(net, ret != NULL, err);
    if (!rc && ret)
        read_score(net, ret);
    net->calls += !rc;
    return rc;
}

/* ---- facts */

static unsigned count_reorders(const struct pr_net *net)
{
    unsigned n = 0;

    for (size_t i = 0; i < net->step_count; i++)
        n += net->steps[i].is_reorder;
    return n;
}

/* Backward costs the same again for each of the gradients. */
static double step_flops(const struct pr_net *net, unsigned layer,
                         bool backward)
{
    const struct pr_layer *l = &net->model->layers[layer];
    double one = net->nodes[layer].is_computed
                     ? (double)l->flops * (double)net->opts.batch
                     : 0;

    if (!backward)
        return one;
    return one * net->nodes[layer].backs;
}

void pr_net_facts(const struct pr_net *net, struct pr_net_facts *ret)
{
    *ret = (struct pr_net_facts){
        .bytes = net->bytes,
        .weight_bytes = net->kept_bytes,
        .threads = pr_threads_count(net->par),
        .steps = (unsigned)net->step_count,
        .reorders = count_reorders(net),
    };
    for (unsigned i = 0; i < net->model->layer_count; i++) {
        double f = step_flops(net, i, false) + step_flops(net, i, true);

        ret->flops += f;
        if (net->model->layers[i].op == PR_LAYER_CONV)
            ret->conv_flops += f;
    }
}

static double layer_seconds(const struct pr_net *net, unsigned layer,
                            enum pr_stage stage)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < net->step_count; i++)
        if (net->steps[i].layer == layer && net->steps[i].stage == stage)
            ns += net->steps[i].ns;
    return net->calls ? (double)ns / 1e9 / (double)net->calls : 0;
}

bool pr_net_row(const struct pr_net *net, unsigned i, struct pr_net_row *ret)
{
    unsigned layer = net->model->input_count;
    const struct pr_net_node *n;

    for (; layer < net->model->layer_count; layer++) {
        n = &net->nodes[layer];
        if (n->leader == layer && n->out >= 0 && i-- == 0)
            break;
    }
    if (layer == net->model->layer_count)
        return false;
    n = &net->nodes[layer];
    *ret = (struct pr_net_row){
        .layer = n->layer->name,
        .op = pr_layer_op_name(n->layer->op),
        .impl = n->forward ? pr_primitive_impl(n->forward) : "",
        .layout = pr_layout_name(pr_net_tensor_layout(net, n->out)),
        .forward_s = layer_seconds(net, layer, PR_STAGE_FORWARD),
        .backward_s = layer_seconds(net, layer, PR_STAGE_BACKWARD),
        .update_s = layer_seconds(net, layer, PR_STAGE_UPDATE),
        .forward_flops = step_flops(net, layer, false),
        .backward_flops = step_flops(net, layer, true),
    };
    return true;
}

void pr_net_forget_times(struct pr_net *net)
{
    net->calls = 0;
    for (size_t i = 0; i < net->step_count; i++)
        net->steps[i].ns = 0;
}
