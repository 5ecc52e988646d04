/*
 * Which layers are done along with the one before them: relu with what it
 * follows, an addition with the batch norm that comes last, batch norm with a
 * convolution (inference). Layers that do nothing are their input.
 */
#include "nn/engine/net_impl.h"

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
