/* Running a program, and what its parts took. */
#include "base/clock.h"
#include "nn/engine/net_impl.h"

#include <math.h>

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
