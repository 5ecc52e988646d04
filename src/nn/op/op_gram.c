/*
 * The Gram matrix of channels, G = F F' / (C H W) with F = [C, H * W] of each
 * sample. F is there twice: with D the gradient of G, that of F is
 * (D + D') F / (C H W).
 */
#include "nn/engine/net_impl.h"

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
