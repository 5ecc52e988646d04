/*
 * Gradients while a program is made, and the losses that they begin with. A
 * value that several layers take has a gradient of several terms; they are
 * summed where they are read, if what reads them can do that in passing.
 */
#include "nn/engine/net_impl.h"
#include "nn/kernel/losses.h"

static int run_mask(struct pr_net *net, struct pr_net_step *s,
                    struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_net_tensor_data(net, s->tensors[2 + i]);
    pr_kernel_curve_back(net->par, s->elements, PR_CURVE_RELU,
                         pr_net_tensor_data(net, s->tensors[1]), terms,
                         s->terms, pr_net_tensor_data(net, s->tensors[0]));
    return PR_OK;
}

int pr_net_run_sum(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err)
{
    const float *terms[PR_TERMS];

    (void)err;
    for (unsigned i = 0; i < s->terms; i++)
        terms[i] = pr_net_tensor_data(net, s->tensors[1 + i]);
    pr_kernel_sum(net->par, s->elements, terms, s->terms, s->relu,
                  pr_net_tensor_data(net, s->tensors[0]));
    return PR_OK;
}

/* One tensor of them: an owned one where there is one. */
static int join_gradient_terms(struct pr_net *net,
                               const struct pr_net_node *node, const int *terms,
                               const bool *owned, unsigned count, int *ret,
                               struct pr_err *err)
{
    int dst = PR_NO_TENSOR;
    struct pr_net_step *s;

    for (unsigned i = 0; i < count && dst < 0; i++)
        if (owned[i])
            dst = terms[i];
    if (dst < 0)
        dst =
            pr_net_tensor_new(net, pr_net_tensor_layout(net, terms[0]), 0, err);
    if (dst < 0)
        return PR_E_NOMEM;
    s = pr_net_step_new(net, node->relu ? run_mask : pr_net_run_sum);
    if (!s)
        return pr_fail_nomem(err);
    s->elements = pr_net_tensor_elements(net, terms[0]);
    s->terms = count;
    pr_net_step_use(net, s, 0, dst);
    if (node->relu)
        pr_net_step_use(net, s, 0, node->out);
    for (unsigned i = 0; i < count; i++)
        pr_net_step_use(net, s, 0, terms[i]);
    *ret = dst;
    return PR_OK;
}

int pr_net_gradient_add(struct pr_net *net, unsigned layer, int tensor,
                        struct pr_err *err)
{
    struct pr_net_node *n = pr_net_leader(net, layer);
    int rc = pr_net_tensor_in_layout(
        net, tensor, pr_net_tensor_layout(net, n->out), &tensor, err);

    if (rc)
        return rc;
    net->tensors[tensor].owners++; /* first, as it may be a term already */
    if (n->term_count == PR_TERMS) {
        bool owned[PR_TERMS];
        int terms[PR_TERMS], sum;
        unsigned count =
            pr_net_gradient_terms(net, net->nodes[layer].leader, terms, owned);
        struct pr_net_node plain = *n;

        plain.relu = false;
        rc = join_gradient_terms(net, &plain, terms, owned, count, &sum, err);
        if (!rc) {
            n->terms[n->term_count++] = sum;
            net->tensors[sum].owners++;
        }
    }
    if (rc)
        return rc;
    n->terms[n->term_count++] = tensor;
    return PR_OK;
}

unsigned pr_net_gradient_terms(struct pr_net *net, unsigned leader,
                               int terms[static PR_TERMS],
                               bool owned[static PR_TERMS])
{
    struct pr_net_node *n = &net->nodes[leader];
    unsigned count = n->term_count;

    for (unsigned i = 0; i < count; i++) {
        terms[i] = n->terms[i];
        net->tensors[terms[i]].owners--;
    }
    /* A tensor may be there twice: its first place must not be written while
     * the second is to be read, but loops go element by element. */
    for (unsigned i = 0; i < count; i++)
        owned[i] = net->tensors[terms[i]].owners == 0;
    n->term_count = 0;
    return count;
}

int pr_net_gradient_sum(struct pr_net *net, unsigned leader, int *ret,
                        bool *ret_own, struct pr_err *err)
{
    const struct pr_net_node *n = &net->nodes[leader];
    bool owned[PR_TERMS];
    int terms[PR_TERMS];
    unsigned count = pr_net_gradient_terms(net, leader, terms, owned);

    *ret_own = true;
    if (count == 1 && !n->relu) {
        *ret = terms[0];
        *ret_own = owned[0];
        return PR_OK;
    }
    return join_gradient_terms(net, n, terms, owned, count, ret, err);
}

/* ---- losses: what is compared with what. Running one */

static const struct pr_loss *find_step_loss(const struct pr_net *net,
                                            const struct pr_net_step *s)
{
    return &net->model->losses[s->param];
}

/* The gradients of nets that learn together become their mean. What is a sum is
 * one over all samples of all of them. */
static double loss_factor(const struct pr_net *net, const struct pr_loss *l)
{
    const struct pr_net_reduce *all = net->opts.reduce;
    bool is_sum = l->sum || l->kind == PR_LOSS_KL;

    return l->factor * (is_sum && net->opts.training && all ? all->ranks : 1);
}

/* Rows of the last dimension. */
static void fill_loss_rows(const struct pr_net *net, const struct pr_loss *l,
                           const struct pr_net_loss *t,
                           struct pr_loss_rows *ret)
{
    const struct pr_layer *of = &net->model->layers[l->of[0]];
    size_t width = (size_t)of->shape.at[of->shape.dims - 1];
    bool ids = l->kind == PR_LOSS_CROSS_ENTROPY;
    float *target = pr_net_tensor_data(net, t->targets[0]);

    *ret = (struct pr_loss_rows){
        .rows = net->opts.batch * pr_op_sample_numbers(of) / width,
        .width = width,
        .x = pr_net_tensor_data(net, t->x[0]),
        .y = ids ? NULL : target,
        .ids = ids ? (const int32_t *)(const void *)target : NULL,
        .value = (float)l->value,
        .weights = pr_net_tensor_data(net, t->weights),
        .ignore = (int32_t)l->ignore,
        .sum = l->sum,
        .factor = loss_factor(net, l),
        .smoothing = l->smoothing,
        .beta = l->beta,
        .dx = pr_net_tensor_data(net, t->dx[0]),
    };
}

static int run_row_loss(struct pr_net *net, struct pr_net_step *s,
                        struct pr_err *err)
{
    const struct pr_loss *l = find_step_loss(net, s);
    struct pr_net_score *sc = &net->score;
    uint64_t rows = 0, right = 0;
    struct pr_loss_rows r;
    double loss = 0;

    (void)err;
    fill_loss_rows(net, l, &net->losses[s->param], &r);
    switch (l->kind) {
    case PR_LOSS_MSE:
        loss = pr_kernel_mse(net->par, &r);
        break;
    case PR_LOSS_BCE:
        loss = pr_kernel_bce(net->par, &r);
        break;
    case PR_LOSS_SMOOTH_L1:
        loss = pr_kernel_smooth_l1(net->par, &r);
        break;
    default:
        loss = pr_kernel_cross_entropy(net->par, &r, &rows, &right);
        if (!sc->rows) {
            sc->rows = rows;
            sc->right = right;
        }
    }
    sc->losses[s->param] = loss;
    return PR_OK;
}

static int run_kl(struct pr_net *net, struct pr_net_step *s, struct pr_err *err)
{
    const struct pr_net_loss *t = &net->losses[s->param];
    const struct pr_loss *l = find_step_loss(net, s);

    (void)err;
    net->score.losses[s->param] = pr_kernel_kl(
        net->par,
        net->opts.batch * pr_op_sample_numbers(&net->model->layers[l->of[0]]),
        pr_net_tensor_data(net, t->x[0]), pr_net_tensor_data(net, t->x[1]),
        loss_factor(net, l), pr_net_tensor_data(net, t->dx[0]),
        pr_net_tensor_data(net, t->dx[1]));
    return PR_OK;
}

static void fill_ctc(const struct pr_net *net, const struct pr_loss *l,
                     const struct pr_net_loss *t, struct pr_ctc *ret)
{
    const struct pr_layer *of = &net->model->layers[l->of[0]];

    *ret = (struct pr_ctc){
        .samples = net->opts.batch,
        .rows = (size_t)of->shape.at[0],
        .classes = (size_t)of->shape.at[1],
        .most = pr_op_sample_numbers(&net->model->layers[l->targets[0]]),
        .sum = l->sum,
        .factor = loss_factor(net, l),
    };
    if (!net->memory)
        return;
    ret->x = pr_net_tensor_data(net, t->x[0]);
    ret->ids =
        (const int32_t *)(const void *)pr_net_tensor_data(net, t->targets[0]);
    ret->lengths =
        (const int32_t *)(const void *)pr_net_tensor_data(net, t->lengths);
    ret->dx = pr_net_tensor_data(net, t->dx[0]);
    ret->work = pr_net_tensor_data(net, t->work);
}

/* All else about ids is known from the model, or seen when a call begins. */
static int check_spelled(const struct pr_net *net, const struct pr_loss *l,
                         const struct pr_ctc *c, struct pr_err *err)
{
    for (size_t i = 0; i < c->samples; i++)
        for (int32_t k = 0; k < c->lengths[i]; k++)
            if (c->ids[i * c->most + (size_t)k] == 0)
                return pr_fail(err, PR_E_FORMAT, net->model->name,
                               "'%s' of sample %zu has a 0 among the first "
                               "%d, which stands for the blank",
                               net->model->layers[l->targets[0]].name, i,
                               (int)c->lengths[i]);
    return PR_OK;
}

static int run_ctc(struct pr_net *net, struct pr_net_step *s,
                   struct pr_err *err)
{
    const struct pr_loss *l = find_step_loss(net, s);
    struct pr_ctc c;
    int rc;

    fill_ctc(net, l, &net->losses[s->param], &c);
    rc = check_spelled(net, l, &c, err);
    if (!rc)
        net->score.losses[s->param] = pr_kernel_ctc(net->par, &c);
    return rc;
}

static void fill_multibox(const struct pr_net *net, const struct pr_loss *l,
                          const struct pr_net_loss *t, struct pr_multibox *ret)
{
    const struct pr_layer *logits = &net->model->layers[l->of[1]];

    *ret = (struct pr_multibox){
        .samples = net->opts.batch,
        .boxes = (size_t)logits->shape.at[1],
        .classes = (size_t)logits->shape.at[0],
        .factor = loss_factor(net, l),
    };
    if (!net->memory)
        return;
    ret->places = pr_net_tensor_data(net, t->x[0]);
    ret->logits = pr_net_tensor_data(net, t->x[1]);
    ret->wanted = pr_net_tensor_data(net, t->targets[0]);
    ret->ids =
        (const int32_t *)(const void *)pr_net_tensor_data(net, t->targets[1]);
    ret->dplaces = pr_net_tensor_data(net, t->dx[0]);
    ret->dlogits = pr_net_tensor_data(net, t->dx[1]);
    ret->work = pr_net_tensor_data(net, t->work);
}

static int run_multibox(struct pr_net *net, struct pr_net_step *s,
                        struct pr_err *err)
{
    struct pr_multibox m;

    (void)err;
    fill_multibox(net, find_step_loss(net, s), &net->losses[s->param], &m);
    net->score.losses[s->param] = pr_kernel_multibox(net->par, &m);
    return PR_OK;
}

/* ---- losses: making the steps, where gradients begin */

static size_t loss_work_floats(const struct pr_net *net,
                               const struct pr_loss *l)
{
    struct pr_multibox m;
    struct pr_ctc c;

    if (l->kind == PR_LOSS_CTC) {
        fill_ctc(net, l, NULL, &c);
        return pr_kernel_ctc_work(&c);
    }
    if (l->kind != PR_LOSS_MULTIBOX)
        return 0;
    fill_multibox(net, l, NULL, &m);
    return pr_kernel_multibox_work(&m);
}

static int find_plain_tensor(struct pr_net *net, unsigned layer, int *ret,
                             struct pr_err *err)
{
    int t = pr_net_leader(net, layer)->out;

    *ret = t;
    return pr_net_tensor_layout(net, t)
               ? pr_net_tensor_in_layout(net, t, pr_op_plain_layout(net, layer),
                                         ret, err)
               : PR_OK;
}

static int find_tensors(struct pr_net *net, const struct pr_loss *l,
                        struct pr_net_loss *t, struct pr_err *err)
{
    size_t work = loss_work_floats(net, l);
    int rc = PR_OK;

    for (unsigned i = 0; i < l->of_count && !rc; i++) {
        rc = find_plain_tensor(net, l->of[i], &t->x[i], err);
        if (rc || !net->opts.training || !pr_net_leader(net, l->of[i])->needs)
            continue;
        t->dx[i] =
            pr_net_tensor_new(net, pr_net_tensor_layout(net, t->x[i]), 0, err);
        rc = t->dx[i] < 0 ? PR_E_NOMEM : PR_OK;
    }
    for (unsigned i = 0; i < l->target_count && !rc; i++)
        rc = find_plain_tensor(net, l->targets[i], &t->targets[i], err);
    if (!rc && l->weights >= 0)
        rc = find_plain_tensor(net, (unsigned)l->weights, &t->weights, err);
    if (!rc && l->lengths >= 0)
        rc = find_plain_tensor(net, (unsigned)l->lengths, &t->lengths, err);
    if (!rc && work)
        rc = pr_op_new_room(net, work, &t->work, err);
    return rc;
}

static pr_net_step_fn *find_loss_runner(enum pr_loss_kind kind)
{
    return kind == PR_LOSS_KL         ? run_kl
           : kind == PR_LOSS_CTC      ? run_ctc
           : kind == PR_LOSS_MULTIBOX ? run_multibox
                                      : run_row_loss;
}

static int emit_loss(struct pr_net *net, unsigned loss, struct pr_err *err)
{
    const struct pr_loss *l = &net->model->losses[loss];
    struct pr_net_loss *t = &net->losses[loss];
    struct pr_net_step *s;
    int rc;

    net->layer = l->of[0];
    for (size_t i = 0; i < sizeof *t / sizeof(int); i++)
        ((int *)t)[i] = PR_NO_TENSOR;
    rc = find_tensors(net, l, t, err);
    if (rc)
        return rc;
    s = pr_net_step_new(net, find_loss_runner(l->kind));
    if (!s)
        return pr_fail_nomem(err);
    s->param = loss;
    for (size_t i = 0; i < sizeof *t / sizeof(int); i++)
        if (((int *)t)[i] >= 0)
            pr_net_step_use(net, s, 0, ((int *)t)[i]);
    for (unsigned i = 0; i < l->of_count && !rc; i++)
        if (t->dx[i] >= 0)
            rc = pr_net_gradient_add(net, l->of[i], t->dx[i], err);
    return rc;
}

/* Whether all that it reads is there: an inference may compute the output
 * alone. */
static bool has_loss_tensors(struct pr_net *net, const struct pr_loss *l)
{
    bool all = true;

    for (unsigned i = 0; i < l->of_count; i++)
        all = all && pr_net_leader(net, l->of[i])->out >= 0;
    for (unsigned i = 0; i < l->target_count; i++)
        all = all && pr_net_leader(net, l->targets[i])->out >= 0;
    return all;
}

int pr_net_compile_losses(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < net->model->loss_count && !rc; i++) {
        const struct pr_loss *l = &net->model->losses[i];

        if (net->opts.training ? l->turn == net->turn
                               : has_loss_tensors(net, l))
            rc = emit_loss(net, i, err);
    }
    return rc;
}
