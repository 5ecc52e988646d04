/* Running a program, and what its parts took. */
#include "base/clock.h"
#include "nn/net_impl.h"

#include <math.h>

static int run_steps(struct pr_net *net, size_t from, size_t to,
                     struct pr_err *err)
{
    bool profile = net->opts.profile;
    uint64_t before = profile ? pr_clock_ns() : 0;
    int rc = PR_OK;

    for (size_t i = from; i < to && !rc; i++) {
        struct pr_step *s = &net->steps[i];

        rc = s->run(net, s, err);
        if (profile) {
            uint64_t now = pr_clock_ns();
            s->ns += now - before;
            before = now;
        }
    }
    return rc;
}

static int check_labels(struct pr_net *net, struct pr_err *err)
{
    const int32_t *labels = pr_net_labels(net);

    for (uint64_t i = 0; i < net->opts.batch; i++)
        if (labels[i] < 0 || labels[i] >= net->model->classes)
            return pr_fail(err, PR_E_FORMAT, net->model->name,
                           "label %d of sample %d is none of %d classes",
                           labels[i], (int)i, (int)net->model->classes);
    return PR_OK;
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

static void score(struct pr_net *net, bool gradient, struct pr_net_score *ret)
{
    ret->loss = pr_k_loss(
        net->par, net->opts.batch, (size_t)net->model->classes,
        pr_net_output(net), pr_net_labels(net),
        gradient ? pr_nt_data(net, net->output_gradient) : NULL, &ret->right);
}

int pr_net_train(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err)
{
    struct pr_net_score sc = {0};
    int rc = check_call(net, net->opts.training, err);

    if (!rc)
        rc = check_labels(net, err);
    if (!rc)
        rc = run_steps(net, 0, net->forward_steps, err);
    if (!rc)
        score(net, true, &sc);
    if (!rc && !isfinite(sc.loss)) {
        pr_fail(err, PR_E_JOB, net->model->name, "the loss of step %llu is %s",
                (unsigned long long)net->step_number + 1,
                isnan(sc.loss) ? "not a number (NaN)" : "infinite");
        return pr_hint(err, "try a smaller nn.learning_rate than %g",
                       net->opts.optimizer.learning_rate);
    }
    if (!rc)
        rc = run_steps(net, net->forward_steps, net->step_count, err);
    if (rc)
        return rc;
    net->step_number++;
    net->calls++;
    *ret = sc;
    return PR_OK;
}

int pr_net_infer(struct pr_net *net, struct pr_net_score *ret,
                 struct pr_err *err)
{
    int rc = check_call(net, true, err);

    if (!rc && ret)
        rc = check_labels(net, err);
    if (!rc)
        rc = pr_net_fold(net, err);
    if (!rc)
        rc = run_steps(net, 0, net->forward_steps, err);
    if (!rc && ret)
        score(net, false, ret);
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

/* Backward costs the same again for each of the two gradients. */
static double step_flops(const struct pr_net *net, unsigned layer,
                         bool backward)
{
    const struct pr_layer *l = &net->model->layers[layer];
    double one = (double)l->flops * (double)net->opts.batch;

    if (!backward)
        return one;
    if (!net->opts.training)
        return 0;
    return one * (1 + (l->input_count && net->nodes[l->inputs[0]].needs));
}

void pr_net_facts(const struct pr_net *net, struct pr_net_facts *ret)
{
    *ret = (struct pr_net_facts){
        .bytes = net->bytes,
        .weight_bytes = net->kept_bytes,
        .threads = pr_par_threads(net->par),
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

static double seconds_of(const struct pr_net *net, unsigned layer,
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
    unsigned layer = 1;
    const struct pr_node *n;

    for (; layer < net->model->layer_count; layer++)
        if (net->nodes[layer].leader == layer && i-- == 0)
            break;
    if (layer == net->model->layer_count)
        return false;
    n = &net->nodes[layer];
    *ret = (struct pr_net_row){
        .layer = n->layer->name,
        .op = pr_layer_op_name(n->layer->op),
        .impl = n->forward ? pr_prim_impl(n->forward) : "",
        .layout = pr_lay_name(pr_nt_lay(net, n->out)),
        .forward_s = seconds_of(net, layer, PR_STAGE_FORWARD),
        .backward_s = seconds_of(net, layer, PR_STAGE_BACKWARD),
        .update_s = seconds_of(net, layer, PR_STAGE_UPDATE),
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
