/*
 * Recurrent layers by loops of ours. Small ones by samples, each thread on its
 * own; large ones row by row, all threads together.
 */
#include "nn/op/op_rnn.h"

/* What a tensor of a step is for: places in struct pr_rnn_data. */
enum {
    X,
    WEIGHT,
    RECURRENT,
    BIAS,
    RECURRENT_BIAS,
    Y,
    STATE,
    BEGIN,
    KEPT,
    ROOM,
    SUMS,
    DY,
    DX,
    DWEIGHT, /* … of the other three in that order */
    ROLES = DWEIGHT + 4,
};

static struct pr_rnn_data fill_rnn_data(const struct pr_net *net,
                                        const struct pr_net_step *s)
{
    float *at[ROLES] = {0};

    for (unsigned i = 0; i < s->count; i++)
        at[s->args[i]] = pr_op_data(net, s, i);
    return (struct pr_rnn_data){.x = at[X],
                                .weight = at[WEIGHT],
                                .recurrent = at[RECURRENT],
                                .bias = at[BIAS],
                                .recurrent_bias = at[RECURRENT_BIAS],
                                .y = at[Y],
                                .state = at[STATE],
                                .begin = at[BEGIN],
                                .kept = at[KEPT],
                                .room = at[ROOM],
                                .dy = at[DY],
                                .sums = at[SUMS] ? at[SUMS] : at[KEPT],
                                .dx = at[DX],
                                .dweight = at[DWEIGHT],
                                .drecurrent = at[DWEIGHT + 1],
                                .dbias = at[DWEIGHT + 2],
                                .drecurrent_bias = at[DWEIGHT + 3]};
}

static int run_rnn_samples(struct pr_net *net, struct pr_net_step *s,
                           struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    (void)err;
    pr_rnn_samples_forward(net->par, &r, &d, net->opts.training);
    return PR_OK;
}

static int run_rnn_samples_back(struct pr_net *net, struct pr_net_step *s,
                                struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    (void)err;
    pr_rnn_samples_back(net->par, &r, &d);
    return PR_OK;
}

static int run_rnn_steps(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    return pr_rnn_steps_forward(net->dnn, net->par, &r, &d, err);
}

static int run_rnn_steps_back(struct pr_net *net, struct pr_net_step *s,
                              struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    return pr_rnn_steps_back(net->dnn, net->par, &r, &d, err);
}

/* ---- compiling: tensors by what they are for, PR_NO_TENSOR is left out */

static int add_step(struct pr_net *net, pr_net_step_fn *run,
                    const int tensors[static ROLES], struct pr_err *err)
{
    struct pr_net_step *s = pr_net_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    for (int i = 0; i < ROLES; i++)
        if (tensors[i] >= 0)
            pr_net_step_use(net, s, i, tensors[i]);
    return PR_OK;
}

static bool is_by_samples(const struct pr_net *net, const struct pr_rnn *r)
{
    return pr_rnn_samples_fit(r, pr_threads_count(net->par));
}

static int new_rnn_room(struct pr_net *net, const struct pr_rnn *r,
                        bool backward, int *ret, struct pr_err *err)
{
    unsigned threads = pr_threads_count(net->par);
    size_t floats = is_by_samples(net, r)
                        ? pr_rnn_samples_room(r, threads, backward)
                        : pr_rnn_steps_room(r, backward);

    return pr_op_new_room(net, floats, ret, err);
}

/* What forward and backward both name. */
static void fill_common(struct pr_net *net, unsigned layer,
                        int tensors[static ROLES])
{
    const struct pr_net_node *n = &net->nodes[layer];

    for (int i = 0; i < ROLES; i++)
        tensors[i] = PR_NO_TENSOR;
    tensors[X] = n->src;
    tensors[Y] = n->out;
    tensors[KEPT] = n->extra[PR_RNN_KEPT];
    tensors[BEGIN] = n->extra[PR_RNN_BEGIN];
    for (unsigned i = 0; i <= PR_RNN_RECURRENT_BIAS; i++)
        tensors[WEIGHT + i] = pr_net_param_value(net, layer, i);
}

static int new_state(struct pr_net *net, unsigned layer, size_t floats,
                     struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    n->extra[PR_RNN_STATE] = n->extra[PR_RNN_BEGIN] = PR_NO_TENSOR;
    if (!n->layer->carry)
        return PR_OK;
    rc = pr_op_new_kept(net, floats, &n->extra[PR_RNN_STATE], err);
    if (!rc && net->opts.training)
        rc = pr_op_new_room(net, floats, &n->extra[PR_RNN_BEGIN], err);
    return rc;
}

static int rnn_unrolled_forward(struct pr_net *net, unsigned layer,
                                struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    bool samples = is_by_samples(net, &r);
    size_t kept = samples ? pr_rnn_samples_kept(&r, net->opts.training)
                          : pr_rnn_steps_kept(&r);
    int tensors[ROLES], room = PR_NO_TENSOR;
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (!rc)
        rc = pr_op_new_room(net, kept, &n->extra[PR_RNN_KEPT], err);
    if (!rc)
        rc = new_rnn_room(net, &r, false, &room, err);
    if (!rc)
        rc = new_state(net, layer, (r.is_gru ? 1 : 2) * r.batch * r.out, err);
    if (rc)
        return rc;
    fill_common(net, layer, tensors);
    tensors[ROOM] = room;
    tensors[STATE] = n->extra[PR_RNN_STATE];
    return add_step(net, samples ? run_rnn_samples : run_rnn_steps, tensors,
                    err);
}

/* Gradients, their room, and those of sums where another turn wants what was
 * kept. */
static int fill_back(struct pr_net *net, unsigned layer, const struct pr_rnn *r,
                     int tensors[static ROLES], struct pr_err *err)
{
    bool own, learns = pr_net_param_is_updated(net, layer);
    int rc = pr_op_gradient(net, layer, &tensors[DY], &own, err);

    if (!rc)
        rc = new_rnn_room(net, r, true, &tensors[ROOM], err);
    if (!rc && net->model->turn_count > 1 && !is_by_samples(net, r))
        rc = pr_op_new_room(net, pr_rnn_steps_sums(r), &tensors[SUMS], err);
    if (!rc && pr_op_needs_gradient(net, layer, 0)) {
        const struct pr_layer *l = &net->model->layers[layer];
        const struct pr_layout *lay = pr_op_plain_layout(net, l->inputs[0]);

        tensors[DX] = lay ? pr_net_tensor_new(net, lay, 0, err) : PR_NO_TENSOR;
        rc = tensors[DX] < 0 ? pr_fail_nomem(err) : PR_OK;
    }
    for (unsigned i = 0; i <= PR_RNN_RECURRENT_BIAS && learns && !rc; i++)
        rc = pr_net_param_gradient(net, layer, i, NULL, &tensors[DWEIGHT + i],
                                   err);
    return rc;
}

static int rnn_unrolled_backward(struct pr_net *net, unsigned layer,
                                 struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    int tensors[ROLES], rc;

    fill_common(net, layer, tensors);
    rc = fill_back(net, layer, &r, tensors, err);
    if (!rc)
        rc = add_step(net,
                      is_by_samples(net, &r) ? run_rnn_samples_back
                                             : run_rnn_steps_back,
                      tensors, err);
    if (!rc && tensors[DX] >= 0)
        rc = pr_op_give_gradient(net, layer, 0, tensors[DX], err);
    if (!rc && pr_net_param_is_updated(net, layer))
        rc = pr_net_param_update(net, layer, err);
    return rc;
}

const struct pr_op pr_op_rnn_unrolled = {rnn_unrolled_forward,
                                         rnn_unrolled_backward};
