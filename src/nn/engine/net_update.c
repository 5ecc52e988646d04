/*
 * How parameters change. A gradient is taken as soon as all layers that have
 * the parameter gave theirs; where gradients are clipped together, or summed
 * over several nets, all wait for the end of the turn.
 */
#include "nn/engine/net_impl.h"

#include <math.h>

bool pr_net_param_is_updated(const struct pr_net *net, unsigned layer)
{
    return net->model->layers[layer].learns == (int)net->turn;
}

static bool needs_all_gradients(const struct pr_net *net)
{
    return net->opts.reduce || net->opts.optimizer.clip > 0;
}

int pr_net_param_gradient(struct pr_net *net, unsigned layer, unsigned i,
                          const struct pr_layout *lay, int *ret,
                          struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    const struct pr_net_param *p = &net->params[n->params[i]];
    int t =
        lay && !pr_layout_is_same(lay, p->lay)
            ? pr_net_tensor_new(net, lay, 0, err)
            : pr_net_tensor_new(net, NULL, p->elements * sizeof(float), err);

    if (t < 0)
        return PR_E_NOMEM;
    if (!net->tensors[t].lay)
        net->tensors[t].lay = p->lay;
    n->grads[i] = *ret = t;
    return PR_OK;
}

/* ---- steps */

static int run_update(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_optimizer_opts *o = &net->opts.optimizer;
    const struct pr_net_param *p = &net->params[s->param];
    float *w = pr_net_tensor_data(net, p->value);
    const float *g = pr_net_tensor_data(net, s->tensors[0]);

    (void)err;
    if (o->kind == PR_ADAM) {
        struct pr_adam a = {.rate = o->learning_rate,
                            .beta1 = o->beta1,
                            .beta2 = o->beta2,
                            .epsilon = o->epsilon,
                            .decay = o->weight_decay,
                            .step = net->step_number + 1};

        pr_kernel_adam(net->par, p->elements, &a, w, g,
                       pr_net_tensor_data(net, p->first),
                       pr_net_tensor_data(net, p->second));
    } else {
        pr_kernel_sgd(net->par, p->elements, (float)o->learning_rate,
                      (float)o->momentum, (float)o->weight_decay,
                      net->step_number == 0, w, g,
                      pr_net_tensor_data(net, p->first));
    }
    return PR_OK;
}

static int emit_update(struct pr_net *net, unsigned param, struct pr_err *err)
{
    struct pr_net_param *p = &net->params[param];
    struct pr_net_step *s = pr_net_step_new(net, run_update);

    if (!s)
        return pr_fail_nomem(err);
    s->layer = p->layer;
    s->param = param;
    pr_net_step_use(net, s, 0, p->gradient);
    if (net->opts.keep_gradients)
        net->tensors[p->gradient].is_kept = true;
    return PR_OK;
}

static int run_gradient_sum(struct pr_net *net, struct pr_net_step *s,
                            struct pr_err *err)
{
    const float *both[] = {pr_op_data(net, s, 0), pr_op_data(net, s, 1)};

    (void)err;
    pr_kernel_sum(net->par, net->params[s->param].elements, both, 2, false,
                  pr_op_data(net, s, 0));
    return PR_OK;
}

/* One more layer's gradient of the parameter. */
static int join_param_gradient(struct pr_net *net, unsigned param, int gradient,
                               struct pr_err *err)
{
    struct pr_net_param *p = &net->params[param];
    int rc = p->is.dims > 1 ? pr_net_tensor_in_layout(net, gradient, p->lay,
                                                      &gradient, err)
                            : PR_OK;

    if (rc)
        return rc;
    if (p->gradient < 0) {
        p->gradient = gradient;
        return PR_OK;
    }
    rc = PR_OP_STEP(net, run_gradient_sum, err, p->gradient, gradient);
    if (!rc)
        net->steps[net->step_count - 1].param = param;
    return rc;
}

int pr_net_param_update(struct pr_net *net, unsigned layer, struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    net->stage = PR_STAGE_UPDATE;
    for (unsigned i = 0; i < PR_LAYER_TENSORS && !rc; i++) {
        struct pr_net_param *p =
            n->params[i] < 0 ? NULL : &net->params[n->params[i]];

        if (!p || !p->is.is_learned || p->is_sparse)
            continue;
        rc = join_param_gradient(net, (unsigned)n->params[i], n->grads[i], err);
        n->grads[i] = PR_NO_TENSOR;
        if (!rc && --p->uses == 0 && !needs_all_gradients(net))
            rc = emit_update(net, (unsigned)n->params[i], err);
    }
    net->stage = PR_STAGE_BACKWARD;
    return rc;
}

/* ---- what waits for all gradients of a turn */

/* A parameter learns in one turn alone, so its gradient is that turn's. */
static bool is_gradient_of_turn(const struct pr_net *net,
                                const struct pr_net_param *p, unsigned turn)
{
    return p->gradient >= 0 && !p->is_sparse &&
           net->model->layers[p->layer].learns == (int)turn;
}

static int run_reduce(struct pr_net *net, struct pr_net_step *s,
                      struct pr_err *err)
{
    const struct pr_net_turn *t = &net->turns[s->param];
    const struct pr_net_reduce *r = net->opts.reduce;

    return r->mean(r->ctx, (float *)(void *)(net->memory + t->flat),
                   t->flat_bytes / sizeof(float), err);
}

/* What fills up a vector at the end of a bias may be anything. */
static size_t count_gradient_numbers(const struct pr_net_param *p)
{
    return p->is.dims == 1 ? (size_t)p->is.at[0] : p->elements;
}

/* Tensors: all gradients of the turn. */
static int run_clip(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    double clip = net->opts.optimizer.clip, squares = 0, norm;

    (void)err;
    for (size_t i = 0; i < net->param_count; i++)
        if (is_gradient_of_turn(net, &net->params[i], s->param))
            squares += pr_kernel_squares(
                net->par, count_gradient_numbers(&net->params[i]),
                pr_net_tensor_data(net, net->params[i].gradient));
    norm = sqrt(squares) + 1e-6;
    if (norm <= clip)
        return PR_OK;
    for (size_t i = 0; i < net->param_count; i++)
        if (is_gradient_of_turn(net, &net->params[i], s->param)) {
            float *g = pr_net_tensor_data(net, net->params[i].gradient);

            pr_kernel_scale(net->par, net->params[i].elements,
                            (float)(clip / norm), g, g);
        }
    return PR_OK;
}

/* A step at which all gradients of the turn must be there. */
static int emit_turn_step(struct pr_net *net, pr_net_step_fn *run,
                          struct pr_err *err)
{
    struct pr_net_step *s = pr_net_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    s->param = net->turn;
    for (size_t i = 0; i < net->param_count; i++) {
        struct pr_net_tensor_memory *t;

        if (!is_gradient_of_turn(net, &net->params[i], net->turn))
            continue;
        t = &net->tensors[net->params[i].gradient];
        t->last = (unsigned)(s - net->steps);
        if (net->opts.reduce) {
            t->is_kept = true;
            t->flat = net->turn + 1;
        }
    }
    return PR_OK;
}

int pr_net_compile_updates(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    if (!needs_all_gradients(net))
        return PR_OK;
    net->stage = PR_STAGE_UPDATE;
    if (net->opts.reduce)
        rc = emit_turn_step(net, run_reduce, err);
    if (!rc && net->opts.optimizer.clip > 0)
        rc = emit_turn_step(net, run_clip, err);
    for (size_t i = 0; i < net->param_count && !rc; i++)
        if (is_gradient_of_turn(net, &net->params[i], net->turn))
            rc = emit_update(net, (unsigned)i, err);
    return rc;
}
