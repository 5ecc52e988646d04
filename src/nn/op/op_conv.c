/*
 * Convolutions, linear layers and Gram matrices. oneDNN chooses the layouts;
 * the output keeps the one it likes, and everything after takes it as it comes.
 * A layout that would leave oneDNN without code for this processor is never
 * forced on it.
 */
#include "nn/op/op_conv.h"

#include "nn/engine/net_impl.h"

#include <string.h>

/* ---- the Gram matrix of channels, G = F F' / (C H W) with F = [C, H * W] of
 * each sample. F is there twice: with D the gradient of G, that of F is
 * (D + D') F / (C H W). */

static const struct pr_layer *find_gram_input(const struct pr_net *net,
                                              const struct pr_net_step *s)
{
    return pr_op_input(net, pr_op_layer(net, s), 0);
}

/* Tensors: G, F. */
static int run_gram(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    const struct pr_layer *from = find_gram_input(net, s);
    int64_t c = from->shape.at[0], sample = (int64_t)pr_op_sample_numbers(from);
    int64_t places = sample / c;
    int rc = PR_OK;

    for (size_t i = 0; i < net->opts.batch && !rc; i++) {
        const float *f = pr_op_data(net, s, 1) + (int64_t)i * sample;
        struct pr_gemm g = {.turn_b = true,
                            .m = c,
                            .n = c,
                            .k = places,
                            .alpha = 1 / (float)sample,
                            .a = f,
                            .b = f,
                            .c = pr_op_data(net, s, 0) + (int64_t)i * c * c,
                            .lda = places,
                            .ldb = places,
                            .ldc = c};

        rc = pr_onednn_gemm(net->dnn, &g, err);
    }
    return rc;
}

/* Tensors: D + D', D. */
static int run_fold(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    size_t c = (size_t)find_gram_input(net, s)->shape.at[0];

    (void)err;
    pr_kernel_fold(net->par, net->opts.batch, c, pr_op_data(net, s, 1),
                   pr_op_data(net, s, 0));
    return PR_OK;
}

/* Tensors: gradient of F, D + D', F. */
static int run_gram_back(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    const struct pr_layer *from = find_gram_input(net, s);
    int64_t c = from->shape.at[0], sample = (int64_t)pr_op_sample_numbers(from);
    int64_t places = sample / c;
    int rc = PR_OK;

    for (size_t i = 0; i < net->opts.batch && !rc; i++) {
        struct pr_gemm g = {.m = c,
                            .n = places,
                            .k = c,
                            .alpha = 1 / (float)sample,
                            .a = pr_op_data(net, s, 1) + (int64_t)i * c * c,
                            .b = pr_op_data(net, s, 2) + (int64_t)i * sample,
                            .c = pr_op_data(net, s, 0) + (int64_t)i * sample,
                            .lda = c,
                            .ldb = places,
                            .ldc = places};

        rc = pr_onednn_gemm(net->dnn, &g, err);
    }
    return rc;
}

static int gram_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    return rc ? rc : PR_OP_STEP(net, run_gram, err, n->out, n->src);
}

static int gram_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int g, folded, dst, rc;
    bool own;

    rc = pr_op_gradient(net, layer, &g, &own, err);
    if (rc)
        return rc;
    folded = pr_net_tensor_new(net, pr_net_tensor_layout(net, g), 0, err);
    dst = pr_net_tensor_new(net, pr_net_tensor_layout(net, n->src), 0, err);
    if (folded < 0 || dst < 0)
        return PR_E_NOMEM;
    n->backs++;
    rc = PR_OP_STEP(net, run_fold, err, folded, g);
    if (!rc)
        rc = PR_OP_STEP(net, run_gram_back, err, dst, folded, n->src);
    return rc ? rc : pr_op_give_gradient(net, layer, 0, dst, err);
}

const struct pr_op pr_op_gram = {gram_forward, gram_backward};

enum pr_layout_type pr_op_product_type(const struct pr_net *net)
{
    return net->opts.dtype == PR_NN_BF16 ? PR_LAYOUT_BF16 : PR_LAYOUT_F32;
}

const struct pr_layout *pr_op_product_any_layout(struct pr_net *net,
                                                 const struct pr_layout *like,
                                                 enum pr_layout_type type)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_layout_dims(like, at);

    return pr_layout_new(net->dnn, PR_LAYOUT_ANY, type, dims, at);
}

/* Weights as the primitive sees them: [groups, out, in, rows, columns] where
 * there are groups; a linear layer's like its source. */
static unsigned weight_dims(const struct pr_net *net, const struct pr_layer *l,
                            const struct pr_layout *src, int64_t *at)
{
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    int64_t from[PR_LAYOUT_DIMS];
    unsigned n;

    pr_layer_tensors(net->model, l, ts);
    if (l->op == PR_LAYER_LINEAR) {
        n = pr_layout_dims(src, from);
        memcpy(at, from, n * sizeof *at);
        at[0] = l->out;
        return n;
    }
    if (l->groups == 1) {
        memcpy(at, ts[0].at, 4 * sizeof *at);
        return 4;
    }
    at[0] = l->groups;
    at[1] = l->out / l->groups;
    memcpy(at + 2, ts[0].at + 1, 3 * sizeof *at);
    return 5;
}

static int describe_product(struct pr_net *net, unsigned layer,
                            const struct pr_layout *src, struct pr_product *ret,
                            struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];
    const struct pr_net_node *n = &net->nodes[layer];
    bool is_linear = l->op == PR_LAYER_LINEAR;
    int64_t at[PR_LAYOUT_DIMS], weights[PR_LAYOUT_DIMS], out = l->out;
    unsigned wdims = weight_dims(net, l, src, weights);
    unsigned dims = pr_net_shape(net, layer, at);

    *ret = (struct pr_product){.is_linear = is_linear,
                               .training = net->opts.training,
                               .relu = n->relu,
                               .sum = n->add >= 0};
    ret->src = pr_op_product_any_layout(net, src, pr_op_product_type(net));
    ret->weights = pr_layout_new(net->dnn, PR_LAYOUT_ANY,
                                 pr_op_product_type(net), wdims, weights);
    ret->dst =
        pr_layout_new(net->dnn, is_linear ? PR_LAYOUT_PLAIN : PR_LAYOUT_ANY,
                      PR_LAYOUT_F32, dims, at);
    if (l->bias || n->fold >= 0)
        ret->bias =
            pr_layout_new(net->dnn, PR_LAYOUT_PLAIN, PR_LAYOUT_F32, 1, &out);
    memcpy(ret->stride, l->stride, sizeof ret->stride);
    memcpy(ret->dilation, l->dilation, sizeof ret->dilation);
    memcpy(ret->pad, l->pad, sizeof ret->pad);
    return ret->src && ret->weights && ret->dst ? PR_OK : pr_fail_nomem(err);
}

/* With the layout that the source has, unless that costs the good code. */
static int choose_forward(struct pr_net *net, const struct pr_product *free,
                          const struct pr_layout *src,
                          struct pr_primitive **ret, struct pr_err *err)
{
    struct pr_product forced = *free;
    struct pr_primitive *best, *p;
    int rc = pr_primitive_product(net->dnn, PR_FORWARD, free, NULL, &best, err);

    if (rc)
        return rc;
    *ret = best;
    if (pr_op_product_type(net) != PR_LAYOUT_F32 ||
        pr_layout_is_same(pr_primitive_layout(best, PR_ARG_SRC), src))
        return PR_OK;
    forced.src = src;
    if (pr_primitive_product(net->dnn, PR_FORWARD, &forced, NULL, &p, NULL) ==
            PR_OK &&
        strcmp(pr_primitive_impl(p), pr_primitive_impl(best)) == 0)
        *ret = p;
    return PR_OK;
}

/* Embeddings read rows where they lie. */
static bool is_embedding_table(const struct pr_net *net, unsigned layer)
{
    const struct pr_model *m = net->model;

    for (unsigned i = 0; i < m->layer_count; i++)
        if (m->layers[i].op == PR_LAYER_EMBEDDING &&
            m->layers[i].like == m->layers[layer].like)
            return true;
    return false;
}

/* Parameters, lying as the primitive wants them if it can be had; what it
 * reads is a copy where batch norm is folded in or the type differs. */
static int product_make_params(struct pr_net *net, unsigned layer,
                               const struct pr_primitive *p, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_layout *want = pr_primitive_layout(p, PR_ARG_WEIGHTS);
    bool copied = n->fold >= 0 || pr_op_product_type(net) != PR_LAYOUT_F32;
    int rc = pr_net_param_new(net, layer, 0, want,
                              copied || is_embedding_table(net, layer), err);

    if (!rc && n->layer->bias)
        rc = pr_net_param_new(net, layer, 1, NULL, true, err);
    if (rc)
        return rc;
    n->exec_weights = net->params[n->params[0]].value;
    n->exec_bias =
        n->layer->bias ? net->params[n->params[1]].value : PR_NO_TENSOR;
    if (n->fold >= 0) {
        n->exec_weights = pr_net_tensor_new_kept(net, want, 0, err);
        n->exec_bias = pr_net_tensor_new_kept(
            net, NULL, (size_t)(n->layer->out + 15) / 16 * 16 * sizeof(float),
            err);
        if (n->exec_weights < 0 || n->exec_bias < 0)
            return PR_E_NOMEM;
    }
    return PR_OK;
}

int pr_op_product_weights(struct pr_net *net, const struct pr_net_node *n,
                          const struct pr_primitive *p, int *ret,
                          struct pr_err *err)
{
    return pr_net_tensor_in_layout(
        net, n->exec_weights, pr_primitive_layout(p, PR_ARG_WEIGHTS), ret, err);
}

static int product_place_output(struct pr_net *net, unsigned layer,
                                const struct pr_layout *lay, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];

    if (n->add >= 0)
        return pr_net_tensor_in_layout(net, net->nodes[n->add].out, lay,
                                       &n->out, err);
    n->out = pr_net_tensor_new(net, lay, 0, err);
    return n->out < 0 ? PR_E_NOMEM : PR_OK;
}

static int product_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int in = pr_net_layer_input(net, layer, 0), weights = 0;
    struct pr_product what;
    struct pr_net_step *s;
    int rc =
        describe_product(net, layer, pr_net_tensor_layout(net, in), &what, err);

    if (!rc)
        rc = choose_forward(net, &what, pr_net_tensor_layout(net, in),
                            &n->forward, err);
    if (!rc)
        rc = product_make_params(net, layer, n->forward, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, in, pr_primitive_layout(n->forward, PR_ARG_SRC), &n->src, err);
    if (!rc)
        rc = pr_op_product_weights(net, n, n->forward, &weights, err);
    if (!rc)
        rc = product_place_output(
            net, layer, pr_primitive_layout(n->forward, PR_ARG_DST), err);
    if (rc)
        return rc;
    s = pr_net_step_primitive(net, n->forward);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, n->src);
    pr_net_step_use(net, s, PR_ARG_WEIGHTS, weights);
    if (n->exec_bias >= 0)
        pr_net_step_use(net, s, PR_ARG_BIAS, n->exec_bias);
    pr_net_step_use(net, s, PR_ARG_DST, n->out);
    return PR_OK;
}

/* ---- backward */

int pr_op_product_choose(struct pr_net *net, enum pr_pass pass,
                         const struct pr_product *free,
                         const struct pr_product *forced,
                         const struct pr_primitive *hint,
                         struct pr_primitive **ret, struct pr_err *err)
{
    if (pr_primitive_product(net->dnn, pass, forced, hint, ret, NULL) ==
            PR_OK &&
        !pr_primitive_is_slow(*ret))
        return PR_OK;
    return pr_primitive_product(net->dnn, pass, free, hint, ret, err);
}

static int product_weights_back(struct pr_net *net, unsigned layer,
                                struct pr_product what, int gradient,
                                struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_product forced;
    struct pr_primitive *p;
    struct pr_net_step *s;
    int src, dst, dw, db = PR_NO_TENSOR, rc;

    what.weights = pr_op_product_any_layout(net, what.weights, PR_LAYOUT_F32);
    if (!what.weights)
        return pr_fail_nomem(err);
    forced = what;
    forced.src = pr_net_tensor_layout(net, n->src);
    if (pr_op_product_type(net) == PR_LAYOUT_F32) {
        forced.weights = net->params[n->params[0]].lay;
        forced.dst = pr_net_tensor_layout(net, n->out);
    }
    rc = pr_op_product_choose(net, PR_BACKWARD_WEIGHTS, &what, &forced,
                              n->forward, &p, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, n->src, pr_primitive_layout(p, PR_ARG_SRC), &src, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, gradient, pr_primitive_layout(p, PR_ARG_DIFF_DST), &dst, err);
    if (!rc)
        rc = pr_net_param_gradient(net, layer, 0,
                                   pr_primitive_layout(p, PR_ARG_DIFF_WEIGHTS),
                                   &dw, err);
    if (!rc && n->layer->bias)
        rc = pr_net_param_gradient(net, layer, 1, NULL, &db, err);
    if (rc)
        return rc;
    s = pr_net_step_primitive(net, p);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_SRC, src);
    pr_net_step_use(net, s, PR_ARG_DIFF_DST, dst);
    pr_net_step_use(net, s, PR_ARG_DIFF_WEIGHTS, dw);
    if (db >= 0)
        pr_net_step_use(net, s, PR_ARG_DIFF_BIAS, db);
    return PR_OK;
}

static bool is_padded(const struct pr_layout *lay)
{
    int64_t at[PR_LAYOUT_DIMS];
    unsigned dims = pr_layout_dims(lay, at);
    size_t bytes = sizeof(float);

    for (unsigned i = 0; i < dims; i++)
        bytes *= (size_t)at[i];
    return pr_layout_bytes(lay) != bytes;
}

static int product_input_back(struct pr_net *net, unsigned layer,
                              struct pr_product what, int gradient,
                              struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_product forced;
    struct pr_primitive *p;
    struct pr_net_step *s;
    int weights = 0, dst, dsrc, rc;

    what.src = pr_op_product_any_layout(net, what.src, PR_LAYOUT_F32);
    if (!what.src)
        return pr_fail_nomem(err);
    forced = what;
    if (pr_op_product_type(net) == PR_LAYOUT_F32) {
        const struct pr_layout *in =
            pr_net_tensor_layout(net, pr_net_layer_input(net, layer, 0));

        /* With a batch of 1, oneDNN 3.2's gemm writes 0 behind a gradient
         * whose channels do not fill their blocks. */
        if (!what.is_linear || !is_padded(in))
            forced.src = in;
        forced.dst = pr_net_tensor_layout(net, n->out);
        /* It is level or faster with forward's weights, and large matrices
         * need not be turned around in each step. */
        if (what.is_linear)
            forced.weights = pr_net_tensor_layout(net, n->exec_weights);
    }
    rc = pr_op_product_choose(net, PR_BACKWARD_DATA, &what, &forced, n->forward,
                              &p, err);
    if (!rc)
        rc = pr_op_product_weights(net, n, p, &weights, err);
    if (!rc)
        rc = pr_net_tensor_in_layout(
            net, gradient, pr_primitive_layout(p, PR_ARG_DIFF_DST), &dst, err);
    if (rc)
        return rc;
    dsrc =
        pr_net_tensor_new(net, pr_primitive_layout(p, PR_ARG_DIFF_SRC), 0, err);
    s = dsrc < 0 ? NULL : pr_net_step_primitive(net, p);
    if (!s)
        return pr_fail_nomem(err);
    pr_net_step_use(net, s, PR_ARG_DIFF_DST, dst);
    pr_net_step_use(net, s, PR_ARG_WEIGHTS, weights);
    pr_net_step_use(net, s, PR_ARG_DIFF_SRC, dsrc);
    return pr_net_gradient_add(net, n->layer->inputs[0], dsrc, err);
}

static int product_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int in = pr_net_layer_input(net, layer, 0), gradient;
    struct pr_product what;
    bool own;
    int rc =
        describe_product(net, layer, pr_net_tensor_layout(net, in), &what, err);

    if (!rc)
        rc = pr_net_gradient_sum(net, layer, &gradient, &own, err);
    if (rc)
        return rc;
    what.relu = false;
    if (pr_op_product_type(net) == PR_LAYOUT_BF16)
        what.dst = pr_op_product_any_layout(net, what.dst, PR_LAYOUT_BF16);
    else if (n->layer->op == PR_LAYER_LINEAR)
        what.dst = pr_op_product_any_layout(net, what.dst, PR_LAYOUT_F32);
    if (!what.dst)
        return pr_fail_nomem(err);
    /* Results are float32 whatever the type of what goes in. */
    if (pr_net_param_is_updated(net, layer)) {
        rc = product_weights_back(net, layer, what, gradient, err);
        n->backs++;
    }
    if (!rc && pr_op_needs_gradient(net, layer, 0)) {
        rc = product_input_back(net, layer, what, gradient, err);
        n->backs++;
    }
    return rc || !pr_net_param_is_updated(net, layer)
               ? rc
               : pr_net_param_update(net, layer, err);
}

static bool is_transposed(const struct pr_net *net, unsigned layer)
{
    return net->model->layers[layer].op == PR_LAYER_TRANSPOSED_CONV;
}

static int conv_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return (is_transposed(net, layer) ? pr_op_transposed.forward
                                      : product_forward)(net, layer, err);
}

static int conv_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return (is_transposed(net, layer) ? pr_op_transposed.backward
                                      : product_backward)(net, layer, err);
}

const struct pr_op pr_op_product = {conv_forward, conv_backward};
