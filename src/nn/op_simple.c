/* Layers that are a loop over elements, rows or channels. */
#include "base/rng.h"
#include "nn/net_impl.h"

/* ---- what they share: tensors are dst, src and others */

static const struct pr_lay *plain_like(struct pr_net *net, unsigned layer)
{
    int64_t at[PR_LAY_DIMS];
    unsigned dims = pr_net_shape(net, layer, at);

    return pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims, at);
}

static int emit(struct pr_net *net, int dst, int src, int other,
                int (*run)(struct pr_net *, struct pr_step *, struct pr_err *),
                struct pr_err *err)
{
    struct pr_step *s = dst < 0 ? NULL : pr_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    s->elements = net->tensors[dst].lay ? pr_nt_elements(net, dst) : 0;
    pr_step_use(net, s, 0, dst);
    pr_step_use(net, s, 0, src);
    if (other >= 0)
        pr_step_use(net, s, 0, other);
    return PR_OK;
}

/* Forward into a tensor of its own, laid out like its input. */
static int emit_like(struct pr_net *net, unsigned layer, int src,
                     int (*run)(struct pr_net *, struct pr_step *,
                                struct pr_err *),
                     struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];

    n->src = src;
    n->out = pr_nt_new(net, pr_nt_lay(net, n->src), 0, err);
    return emit(net, n->out, n->src, PR_NO_TENSOR, run, err);
}

/* Backward from the whole gradient, over it where it is ours alone. */
static int emit_back(struct pr_net *net, unsigned layer, int other,
                     int (*run)(struct pr_net *, struct pr_step *,
                                struct pr_err *),
                     struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int g, dst, rc;
    bool own;

    rc = pr_grad_whole(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = own ? g : pr_nt_new(net, pr_nt_lay(net, g), 0, err);
    rc = emit(net, dst, g, other, run, err);
    return rc ? rc : pr_grad_add(net, n->layer->inputs[0], dst, err);
}

static float *data(const struct pr_net *net, const struct pr_step *s,
                   unsigned i)
{
    return pr_nt_data(net, s->tensors[i]);
}

static const struct pr_layer *layer_of(const struct pr_net *net,
                                       const struct pr_step *s)
{
    return &net->model->layers[s->layer];
}

/* ---- relu, sigmoid, tanh */

static enum pr_curve curve_of(const struct pr_layer *l)
{
    return l->op == PR_LAYER_SIGMOID ? PR_CURVE_SIGMOID
           : l->op == PR_LAYER_TANH  ? PR_CURVE_TANH
                                     : PR_CURVE_RELU;
}

static int run_curve(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    (void)err;
    pr_k_curve(net->par, s->elements, curve_of(layer_of(net, s)),
               data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int run_curve_back(struct pr_net *net, struct pr_step *s,
                          struct pr_err *err)
{
    const float *term = data(net, s, 1);

    (void)err;
    pr_k_curve_back(net->par, s->elements, curve_of(layer_of(net, s)),
                    data(net, s, 2), &term, 1, data(net, s, 0));
    return PR_OK;
}

/* Channels that fill up a block must stay 0, which sigmoid makes 0.5 of: it
 * takes its input in plain order then. */
static int curve_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    int src = pr_net_in(net, layer, 0), rc;
    const struct pr_lay *lay = pr_nt_lay(net, src);

    if (net->model->layers[layer].op == PR_LAYER_SIGMOID) {
        int64_t at[PR_LAY_DIMS];
        unsigned dims = pr_lay_dims(lay, at);
        const struct pr_lay *plain =
            pr_lay_new(net->dnn, PR_LAY_PLAIN, PR_LAY_F32, dims, at);

        if (!plain)
            return pr_fail_nomem(err);
        rc = pr_lay_bytes(plain) == pr_lay_bytes(lay)
                 ? PR_OK
                 : pr_nt_in(net, src, plain, &src, err);
        if (rc)
            return rc;
    }
    return emit_like(net, layer, src, run_curve, err);
}

static int curve_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    return emit_back(net, layer, net->nodes[layer].out, run_curve_back, err);
}

const struct pr_op pr_op_curve = {curve_forward, curve_backward};

/* ---- dropout: what is kept follows from seed, step and layer */

static int run_dropout(struct pr_net *net, struct pr_step *s,
                       struct pr_err *err)
{
    uint64_t key =
        pr_mix64(pr_mix64(net->opts.seed + net->step_number) + s->layer);

    (void)err;
    pr_k_dropout(net->par, s->elements, (float)layer_of(net, s)->rate, key,
                 data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int dropout_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    return emit_like(net, layer, pr_net_in(net, layer, 0), run_dropout, err);
}

static int dropout_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    return emit_back(net, layer, PR_NO_TENSOR, run_dropout, err);
}

const struct pr_op pr_op_dropout = {dropout_forward, dropout_backward};

/* ---- scale */

static int run_scale(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    (void)err;
    pr_k_scale(net->par, s->elements, (float)layer_of(net, s)->factor,
               data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int scale_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    return emit_like(net, layer, pr_net_in(net, layer, 0), run_scale, err);
}

static int scale_backward(struct pr_net *net, unsigned layer,
                          struct pr_err *err)
{
    return emit_back(net, layer, PR_NO_TENSOR, run_scale, err);
}

const struct pr_op pr_op_scale = {scale_forward, scale_backward};

/* ---- flatten, where the order of elements matters to what follows */

static int run_copy(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    (void)err;
    pr_k_scale(net->par, s->elements, 1, data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int flatten_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    const struct pr_lay *lay = plain_like(net, layer);
    const struct pr_lay *plain = plain_like(net, n->layer->inputs[0]);
    int rc = lay && plain ? PR_OK : pr_fail_nomem(err);

    if (!rc)
        rc = pr_nt_in(net, pr_net_in(net, layer, 0), plain, &n->src, err);
    if (rc)
        return rc;
    n->out = pr_nt_new(net, lay, 0, err);
    return emit(net, n->out, n->src, PR_NO_TENSOR, run_copy, err);
}

static int flatten_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int g, dst, rc;
    bool own;

    rc = pr_grad_whole(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_nt_new(net, pr_nt_lay(net, n->src), 0, err);
    rc = emit(net, dst, g, PR_NO_TENSOR, run_copy, err);
    return rc ? rc : pr_grad_add(net, n->layer->inputs[0], dst, err);
}

const struct pr_op pr_op_flatten = {flatten_forward, flatten_backward};

/* ---- softmax over the rows of [n, c] */

static int run_softmax(struct pr_net *net, struct pr_step *s,
                       struct pr_err *err)
{
    size_t n = net->opts.batch;

    (void)err;
    pr_k_softmax(net->par, n, s->elements / n, data(net, s, 1),
                 data(net, s, 0));
    return PR_OK;
}

static int run_softmax_back(struct pr_net *net, struct pr_step *s,
                            struct pr_err *err)
{
    size_t n = net->opts.batch;

    (void)err;
    pr_k_softmax_back(net->par, n, s->elements / n, data(net, s, 2),
                      data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int softmax_forward(struct pr_net *net, unsigned layer,
                           struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    const struct pr_lay *lay = plain_like(net, layer);
    int src = PR_NO_TENSOR, rc;

    if (!lay)
        return pr_fail_nomem(err);
    rc = pr_nt_in(net, pr_net_in(net, layer, 0), lay, &src, err);
    if (rc)
        return rc;
    n->out = pr_nt_new(net, lay, 0, err);
    return emit(net, n->out, src, PR_NO_TENSOR, run_softmax, err);
}

static int softmax_backward(struct pr_net *net, unsigned layer,
                            struct pr_err *err)
{
    return emit_back(net, layer, net->nodes[layer].out, run_softmax_back, err);
}

const struct pr_op pr_op_softmax = {softmax_forward, softmax_backward};

/* ---- global_pool: the mean of each channel, as [n, c] */

static int run_mean(struct pr_net *net, struct pr_step *s, struct pr_err *err)
{
    struct pr_grid v;

    (void)err;
    pr_lay_view(pr_nt_lay(net, s->tensors[1]), &v);
    pr_k_mean(net->par, &v, data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int run_mean_back(struct pr_net *net, struct pr_step *s,
                         struct pr_err *err)
{
    struct pr_grid v;

    (void)err;
    pr_lay_view(pr_nt_lay(net, s->tensors[0]), &v);
    pr_k_mean_back(net->par, &v, data(net, s, 1), data(net, s, 0));
    return PR_OK;
}

static int mean_forward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    const struct pr_lay *lay = plain_like(net, layer);
    const struct pr_lay *plain = plain_like(net, n->layer->inputs[0]);
    struct pr_grid v;
    int rc = lay && plain ? PR_OK : pr_fail_nomem(err);

    n->src = pr_net_in(net, layer, 0);
    if (!rc && !pr_lay_view(pr_nt_lay(net, n->src), &v))
        rc = pr_nt_in(net, n->src, plain, &n->src, err);
    if (rc)
        return rc;
    n->out = pr_nt_new(net, lay, 0, err);
    return emit(net, n->out, n->src, PR_NO_TENSOR, run_mean, err);
}

static int mean_backward(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_node *n = &net->nodes[layer];
    int g, dst, rc;
    bool own;

    rc = pr_grad_whole(net, layer, &g, &own, err);
    if (rc)
        return rc;
    dst = pr_nt_new(net, pr_nt_lay(net, n->src), 0, err);
    rc = emit(net, dst, g, PR_NO_TENSOR, run_mean_back, err);
    return rc ? rc : pr_grad_add(net, n->layer->inputs[0], dst, err);
}

const struct pr_op pr_op_mean = {mean_forward, mean_backward};
