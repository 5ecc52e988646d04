/*
 * A model becomes a program: forward, losses, backward in reverse order; turn
 * after turn where networks learn in turn. Before that it is decided which
 * layers are done along with others.
 */
#include "base/mem.h"
#include "nn/engine/net_impl.h"

#include <math.h>
#include <string.h>

/* ---- inference: batch norm folded into the convolution before it. The weights
 * stay as they were given; what primitives read is made from them. */

/* gamma / sqrt(var + epsilon) of a channel. */
static float norm_channel_factor(const struct pr_net *net,
                                 const struct pr_net_node *norm, size_t c)
{
    const float *gamma =
        norm->params[0] < 0
            ? NULL
            : pr_net_tensor_data(net, net->params[norm->params[0]].value);
    const float *var =
        pr_net_tensor_data(net, net->params[norm->params[3]].value);

    return (gamma ? gamma[c] : 1.0f) /
           sqrtf(var[c] + (float)norm->layer->epsilon);
}

static int fold_norm(struct pr_net *net, const struct pr_net_node *n,
                     struct pr_err *err)
{
    const struct pr_net_node *norm = &net->nodes[n->fold];
    const struct pr_net_param *w = &net->params[n->params[0]];
    const float *mean =
        pr_net_tensor_data(net, net->params[norm->params[2]].value);
    const float *beta =
        pr_net_tensor_data(net, net->params[norm->params[1]].value);
    const float *bias =
        n->params[1] < 0
            ? NULL
            : pr_net_tensor_data(net, net->params[n->params[1]].value);
    size_t out = (size_t)n->layer->out;
    size_t row = pr_layout_bytes(w->plain) / sizeof(float) / out;
    float *plain = pr_alloc(out * row * sizeof *plain);
    struct pr_net_param to = *w;
    int rc;

    if (!plain)
        return pr_fail_nomem(err);
    rc = pr_net_param_copy(net, w, w->value, plain, true, err);
    for (size_t c = 0; c < out; c++) {
        float f = norm_channel_factor(net, norm, c);

        for (size_t i = 0; i < row; i++)
            plain[c * row + i] *= f;
        pr_net_tensor_data(net, n->exec_bias)[c] =
            beta[c] + ((bias ? bias[c] : 0.0f) - mean[c]) * f;
    }
    to.lay = pr_net_tensor_layout(net, n->exec_weights);
    if (!rc)
        rc = pr_net_param_copy(net, &to, n->exec_weights, plain, false, err);
    pr_free(plain);
    return rc;
}

int pr_net_fold_norms(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    if (!net->is_stale)
        return PR_OK;
    for (unsigned i = 0; i < net->model->layer_count && !rc; i++)
        if (net->nodes[i].fold >= 0 && net->nodes[i].exec_weights >= 0)
            rc = fold_norm(net, &net->nodes[i], err);
    net->is_stale = rc != PR_OK;
    return rc;
}

/* ---- which layers are done along with the one before them: relu with what it
 * follows, an addition with the batch norm that comes last, batch norm with a
 * convolution (inference). Layers that do nothing are their input. */

static void follow_input(struct pr_net *net, unsigned layer, unsigned input)
{
    net->nodes[layer].leader = net->nodes[input].leader;
    net->nodes[layer].follows = input;
}

static unsigned find_input_leader(const struct pr_net *net, unsigned layer,
                                  unsigned i)
{
    return net->nodes[net->model->layers[layer].inputs[i]].leader;
}

/* Whether one layer alone takes what input gives, and likewise all the way
 * back to its leader: then what lies there may be changed for that one. */
static bool is_alone(const struct pr_net *net, unsigned input)
{
    const struct pr_net_node *n = &net->nodes[input];

    while (n->users == 1 && n->leader != (unsigned)(n - net->nodes))
        n = &net->nodes[n->follows];
    return n->users == 1;
}

static enum pr_layer_op find_layer_op(const struct pr_net *net, unsigned layer)
{
    return net->model->layers[layer].op;
}

static bool can_relu(const struct pr_net *net, unsigned leader)
{
    switch (find_layer_op(net, leader)) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
    case PR_LAYER_LINEAR:
    case PR_LAYER_BATCH_NORM:
    case PR_LAYER_ADD:
        return !net->nodes[leader].relu;
    default:
        return false;
    }
}

static void fuse_relu(struct pr_net *net, unsigned layer)
{
    unsigned input = net->model->layers[layer].inputs[0];
    unsigned leader = net->nodes[input].leader;

    if (!is_alone(net, input) || !can_relu(net, leader))
        return;
    net->nodes[leader].relu = true;
    follow_input(net, layer, input);
}

/* Inference: the batch norm of a convolution that nobody else reads. */
static void fuse_norm(struct pr_net *net, unsigned layer)
{
    unsigned input = net->model->layers[layer].inputs[0];
    unsigned leader = net->nodes[input].leader;
    struct pr_net_node *n = &net->nodes[leader];

    if (net->opts.training || find_layer_op(net, leader) != PR_LAYER_CONV ||
        !is_alone(net, input) || n->relu || n->fold >= 0)
        return;
    n->fold = (int)layer;
    follow_input(net, layer, input);
}

/* Whether a loss reads what a leader gives. */
static bool is_scored(const struct pr_net *net, unsigned leader)
{
    for (unsigned i = 0; i < net->model->loss_count; i++) {
        const struct pr_loss *l = &net->model->losses[i];

        for (unsigned k = 0; k < 2; k++)
            if ((k < l->of_count && net->nodes[l->of[k]].leader == leader) ||
                (k < l->target_count &&
                 net->nodes[l->targets[k]].leader == leader))
                return true;
    }
    return false;
}

/* A batch norm adds what was computed before it, not in a later turn. A
 * convolution, at inference, adds to what lies where its output goes: nobody
 * may read that afterwards, nor the convolution itself. */
static bool can_add(const struct pr_net *net, unsigned input, unsigned other,
                    unsigned add)
{
    unsigned leader = net->nodes[input].leader;
    const struct pr_net_node *n = &net->nodes[leader];

    if (!is_alone(net, input) || n->relu || n->add >= 0 || leader <= other ||
        net->model->layers[input].op != PR_LAYER_BATCH_NORM ||
        net->model->layers[leader].turn < net->model->layers[other].turn)
        return false;
    if (find_layer_op(net, leader) == PR_LAYER_BATCH_NORM)
        return true;
    if (find_layer_op(net, other) == PR_LAYER_INPUT)
        return false;
    for (unsigned i = leader; i < net->model->layer_count; i++)
        for (unsigned k = 0; k < net->model->layers[i].input_count; k++)
            if (i != add && find_input_leader(net, i, k) == other)
                return false;
    return net->nodes[net->model->output].leader != other &&
           !is_scored(net, other);
}

static void fuse_add(struct pr_net *net, unsigned layer)
{
    const struct pr_layer *l = &net->model->layers[layer];

    if (l->input_count != 2)
        return;
    for (unsigned i = 0; i < 2; i++) {
        unsigned other = find_input_leader(net, layer, 1 - i);
        unsigned leader = net->nodes[l->inputs[i]].leader;

        if (leader == other || !can_add(net, l->inputs[i], other, layer))
            continue;
        net->nodes[leader].add = (int)other;
        follow_input(net, layer, l->inputs[i]);
        return;
    }
}

/* Whether all that take a layer's output end in linear ones, and none minds
 * its dimensions before. */
static bool ends_in_linear(const struct pr_net *net, unsigned layer)
{
    const struct pr_model *m = net->model;

    if (layer == m->output || is_scored(net, layer))
        return false;
    for (unsigned i = layer + 1; i < m->layer_count; i++)
        for (unsigned k = 0; k < m->layers[i].input_count; k++) {
            if (m->layers[i].inputs[k] != layer ||
                find_layer_op(net, i) == PR_LAYER_LINEAR)
                continue;
            if (find_layer_op(net, i) != PR_LAYER_DROPOUT &&
                find_layer_op(net, i) != PR_LAYER_RELU)
                return false;
            if (!ends_in_linear(net, i))
                return false;
        }
    return true;
}

static bool does_nothing(const struct pr_net *net, unsigned layer)
{
    const struct pr_layer *l = &net->model->layers[layer];

    if (l->op == PR_LAYER_DROPOUT)
        return !net->opts.training || net->opts.no_dropout || l->rate == 0;
    if (l->op != PR_LAYER_FLATTEN)
        return false;
    switch (net->model->layers[l->inputs[0]].shape.dims) {
    case 1:
        return true;
    case 2: /* linear layers go by rows there */
        return false;
    default:
        return ends_in_linear(net, layer);
    }
}

static void count_users(struct pr_net *net)
{
    const struct pr_model *m = net->model;

    for (unsigned i = 0; i < m->layer_count; i++)
        for (unsigned k = 0; k < m->layers[i].input_count; k++)
            net->nodes[m->layers[i].inputs[k]].users++;
    net->nodes[m->output].users++;
    for (unsigned i = 0; i < m->loss_count; i++) {
        const struct pr_loss *l = &m->losses[i];

        for (unsigned k = 0; k < l->of_count; k++)
            net->nodes[l->of[k]].users++;
        for (unsigned k = 0; k < l->target_count; k++)
            net->nodes[l->targets[k]].users++;
    }
}

void pr_net_fuse(struct pr_net *net)
{
    const struct pr_model *m = net->model;

    for (unsigned i = 0; i < m->layer_count; i++) {
        net->nodes[i].layer = &m->layers[i];
        net->nodes[i].leader = i;
        net->nodes[i].add = net->nodes[i].fold = -1;
    }
    count_users(net);
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        if (does_nothing(net, i))
            follow_input(net, i, l->inputs[0]);
        else if (l->op == PR_LAYER_RELU)
            fuse_relu(net, i);
        else if (l->op == PR_LAYER_BATCH_NORM)
            fuse_norm(net, i);
        else if (l->op == PR_LAYER_ADD)
            fuse_add(net, i);
    }
}

static const struct pr_op *const ops[PR_LAYER_OP_COUNT] = {
    [PR_LAYER_CONV] = &pr_op_product,
    [PR_LAYER_TRANSPOSED_CONV] = &pr_op_product,
    [PR_LAYER_LINEAR] = &pr_op_product,
    [PR_LAYER_EMBEDDING] = &pr_op_embedding,
    [PR_LAYER_BATCH_NORM] = &pr_op_norm,
    [PR_LAYER_LAYER_NORM] = &pr_op_row_norm,
    [PR_LAYER_INSTANCE_NORM] = &pr_op_row_norm,
    [PR_LAYER_LRN] = &pr_op_lrn,
    [PR_LAYER_MAX_POOL] = &pr_op_pool,
    [PR_LAYER_AVERAGE_POOL] = &pr_op_pool,
    [PR_LAYER_GLOBAL_POOL] = &pr_op_mean,
    [PR_LAYER_RELU] = &pr_op_curve,
    [PR_LAYER_LEAKY_RELU] = &pr_op_curve,
    [PR_LAYER_GELU] = &pr_op_curve,
    [PR_LAYER_SIGMOID] = &pr_op_curve,
    [PR_LAYER_TANH] = &pr_op_curve,
    [PR_LAYER_EXP] = &pr_op_curve,
    [PR_LAYER_SOFTMAX] = &pr_op_softmax,
    [PR_LAYER_DROPOUT] = &pr_op_dropout,
    [PR_LAYER_LSTM] = &pr_op_rnn,
    [PR_LAYER_GRU] = &pr_op_rnn,
    [PR_LAYER_ATTENTION] = &pr_op_attention,
    [PR_LAYER_ADDITIVE_ATTENTION] = &pr_op_additive,
    [PR_LAYER_GATHER] = &pr_op_gather,
    [PR_LAYER_FLATTEN] = &pr_op_flatten,
    [PR_LAYER_RESHAPE] = &pr_op_flatten,
    [PR_LAYER_TRANSPOSE] = &pr_op_move,
    [PR_LAYER_SLICE] = &pr_op_move,
    [PR_LAYER_PIXEL_SHUFFLE] = &pr_op_move,
    [PR_LAYER_UPSAMPLE] = &pr_op_move,
    [PR_LAYER_REFLECT_PAD] = &pr_op_move,
    [PR_LAYER_GRAM] = &pr_op_gram,
    [PR_LAYER_SCALE] = &pr_op_scale,
    [PR_LAYER_CONCAT] = &pr_op_concat,
    [PR_LAYER_MULTIPLY] = &pr_op_multiply,
    [PR_LAYER_ADD] = &pr_op_add,
};

unsigned pr_net_shape(const struct pr_net *net, unsigned layer,
                      int64_t at[static PR_LAYOUT_DIMS])
{
    const struct pr_layer_shape *s = &net->model->layers[layer].shape;

    at[0] = (int64_t)net->opts.batch;
    if (s->dims == 2) {
        at[0] *= s->at[0];
        at[1] = s->at[1];
        return 2;
    }
    for (unsigned i = 0; i < s->dims; i++)
        at[1 + i] = s->at[i];
    return 1 + s->dims;
}

/* Where a layer failed is more than what oneDNN says. */
static int reword_layer_error(const struct pr_net *net, unsigned layer, int rc,
                              struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[layer];

    if (rc == PR_E_UNAVAIL && err)
        return pr_reword(err, net->model->path, "line %u: layer '%s' (%s): %s",
                         l->line, l->name, pr_layer_op_name(l->op), err->msg);
    return rc;
}

/* ---- which layers take part */

/* Marks all that the marked ones depend on. */
static void mark_inputs(const struct pr_model *m, bool *is)
{
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; is[i] && k < m->layers[i].input_count; k++)
            is[m->layers[i].inputs[k]] = true;
}

static bool *new_marks(struct pr_net *net)
{
    return PR_ARENA_ARRAY(net->arena, bool, net->model->layer_count);
}

/* Those to be computed: for inference what the output needs, or losses. */
static bool *mark_wanted_layers(struct pr_net *net)
{
    bool *is = new_marks(net);

    if (!is)
        return NULL;
    for (unsigned i = 0; i < net->model->layer_count; i++)
        is[i] = net->opts.training || net->opts.all_losses;
    is[net->model->output] = true;
    mark_inputs(net->model, is);
    return is;
}

static bool has_tensors(const struct pr_net *net, const struct pr_layer *l)
{
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];

    return pr_layer_tensors(net->model, l, ts) > 0;
}

/* Which layers lead from something that learns in this turn to a loss of it,
 * and how many gradients each parameter is going to have. */
static int prepare_turn(struct pr_net *net, struct pr_err *err)
{
    const struct pr_model *m = net->model;
    bool *reached = new_marks(net);

    if (!reached)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < m->loss_count; i++)
        for (unsigned k = 0; k < m->losses[i].of_count; k++)
            if (m->losses[i].turn == net->turn)
                reached[m->losses[i].of[k]] = true;
    mark_inputs(m, reached);
    for (size_t i = 0; i < net->param_count; i++)
        net->params[i].uses = 0;
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];
        struct pr_net_node *n = &net->nodes[i];
        bool learns = l->learns == (int)net->turn && has_tensors(net, l);

        n->term_count = 0;
        n->reached = reached[i];
        n->needs = learns;
        for (unsigned k = 0; k < l->input_count; k++)
            n->needs = n->needs || net->nodes[l->inputs[k]].needs;
        /* A frozen norm may have been given a sum that something learns in. */
        if (n->needs)
            net->nodes[n->leader].needs = true;
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++)
            if (learns && reached[i] && n->params[k] >= 0)
                net->params[n->params[k]].uses++;
    }
    return PR_OK;
}

/* ---- the parts of a program */

static int start_input(struct pr_net *net, unsigned i, struct pr_err *err)
{
    const struct pr_layer *l = &net->model->layers[i];
    struct pr_net_node *n = &net->nodes[i];

    if (l->ids) {
        n->out = pr_net_tensor_new_kept(
            net, NULL,
            net->opts.batch * pr_op_sample_numbers(l) * sizeof(int32_t), err);
    } else {
        const struct pr_layout *lay = pr_op_plain_layout(net, i);

        n->out = lay ? pr_net_tensor_new_kept(net, lay, 0, err) : PR_NO_TENSOR;
    }
    return n->out < 0 ? pr_fail_nomem(err) : PR_OK;
}

static int start_net_program(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    net->output = PR_NO_TENSOR;
    net->scratch = pr_net_tensor_new_kept(net, NULL, 64, err);
    net->turns =
        PR_ARENA_ARRAY(net->arena, struct pr_net_turn, net->model->turn_count);
    net->losses = PR_ARENA_ARRAY(net->arena, struct pr_net_loss,
                                 net->model->loss_count + 1);
    if (net->scratch < 0 || !net->turns || !net->losses)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < net->model->input_count && !rc; i++)
        rc = start_input(net, i, err);
    return rc;
}

/* The output in plain order, for callers. */
static int compile_output(struct pr_net *net, struct pr_err *err)
{
    unsigned last = net->model->output;
    int rc = pr_net_tensor_in_layout(net, pr_net_leader(net, last)->out,
                                     pr_op_plain_layout(net, last),
                                     &net->output, err);

    if (!rc)
        net->tensors[net->output].is_kept = true;
    return rc;
}

static int compile_forward(struct pr_net *net, const bool *is_wanted,
                           struct pr_err *err)
{
    const struct pr_model *m = net->model;
    int rc = PR_OK;

    net->stage = PR_STAGE_FORWARD;
    for (unsigned i = m->input_count; i < m->layer_count && !rc; i++) {
        const struct pr_layer *l = &m->layers[i];
        bool folded = l->op == PR_LAYER_BATCH_NORM;

        if (!is_wanted[i] || (net->opts.training && l->turn != net->turn))
            continue;
        net->layer = i;
        net->nodes[i].is_computed = true;
        if (net->nodes[i].leader == i || folded)
            rc = reword_layer_error(net, i, ops[l->op]->forward(net, i, err),
                                    err);
        if (!rc && i == m->output)
            rc = compile_output(net, err);
    }
    return rc;
}

static int compile_backward(struct pr_net *net, struct pr_err *err)
{
    int rc = PR_OK;

    net->stage = PR_STAGE_BACKWARD;
    for (unsigned i = net->model->layer_count; i-- > 0 && !rc;) {
        const struct pr_net_node *n = &net->nodes[i];

        net->layer = i;
        if (n->leader == i && n->needs && n->term_count &&
            n->layer->op != PR_LAYER_INPUT)
            rc = reword_layer_error(
                net, i, ops[n->layer->op]->backward(net, i, err), err);
    }
    return rc ? rc : pr_net_compile_updates(net, err);
}

static int compile_turn(struct pr_net *net, const bool *is_wanted,
                        struct pr_err *err)
{
    struct pr_net_turn *t = &net->turns[net->turn];
    int rc;

    t->first = (unsigned)net->step_count;
    rc = compile_forward(net, is_wanted, err);
    if (!rc)
        rc = prepare_turn(net, err);
    if (!rc)
        rc = pr_net_compile_losses(net, err);
    t->backward = (unsigned)net->step_count;
    if (!rc)
        rc = compile_backward(net, err);
    t->end = (unsigned)net->step_count;
    return rc;
}

static int compile_inference(struct pr_net *net, const bool *is_wanted,
                             struct pr_err *err)
{
    int rc = compile_forward(net, is_wanted, err);

    net->forward_steps = (unsigned)net->step_count;
    return rc ? rc : pr_net_compile_losses(net, err);
}

int pr_net_compile(struct pr_net *net, struct pr_err *err)
{
    bool *is_wanted = mark_wanted_layers(net);
    int rc = is_wanted ? start_net_program(net, err) : pr_fail_nomem(err);

    if (!rc && !net->opts.training)
        rc = compile_inference(net, is_wanted, err);
    else
        for (; net->turn < net->model->turn_count && !rc; net->turn++)
            rc = compile_turn(net, is_wanted, err);
    return rc || !pr_onednn_is_out_of_memory(net->dnn) ? rc
                                                       : pr_fail_nomem(err);
}
