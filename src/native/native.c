/* A training by our engine, from its parameters. */
#include "native/native.h"

#include "job/job.h"
#include "native/images/image_set.h"
#include "native/native_cart.h"
#include "native/native_machine.h"
#include "native/task/task.h"

#include <string.h>

enum { DIGITS = 2000 }; /* to train with, if nothing is said */

static bool native_is_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- the optimiser */

/* What PyTorch takes if nothing is said, for an optimiser that is not the
 * model's own. */
static void take_defaults(struct pr_optimizer_opts *o, enum pr_optimizer kind)
{
    if (o->kind == kind)
        return;
    o->kind = kind;
    o->learning_rate = 1e-3;
    o->momentum = 0;
    if (kind == PR_ADAM) {
        o->beta1 = 0.9;
        o->beta2 = 0.999;
        o->epsilon = 1e-8;
    }
}

/* -1 is "as the model says"; what else is below 0 is a mistake. */
static int check_optimizer(const struct pr_native *n, struct pr_err *err)
{
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"nn.learning_rate", n->nn.learning_rate},
        {"nn.momentum", n->nn.momentum},
        {"nn.weight_decay", n->nn.weight_decay},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value < 0 && all[i].value > -1) {
            pr_fail(err, PR_E_CONF, all[i].name,
                    "wants a number of at least 0, got %g", all[i].value);
            return pr_hint(err, "leave it out, or set it to -1, for what the "
                                "model says");
        }
    return PR_OK;
}

static void choose_optimizer(struct pr_native *n)
{
    struct pr_optimizer_opts *o = &n->net.optimizer;
    const struct pr_nn_opts *nn = &n->nn;

    *o = n->model->optimizer;
    if (*nn->optimizer)
        take_defaults(o,
                      native_is_text(nn->optimizer, "adam") ? PR_ADAM : PR_SGD);
    if (nn->learning_rate >= 0)
        o->learning_rate = nn->learning_rate;
    if (nn->momentum >= 0)
        o->momentum = nn->momentum;
    if (nn->weight_decay >= 0)
        o->weight_decay = nn->weight_decay;
}

/* ---- the data */

/* One input of numbers, and the class of it. */
static bool is_classifier(const struct pr_model *m)
{
    return m->input_count == 2 && !m->layers[0].ids && m->classes &&
           pr_model_input(m, "labels") == 1;
}

static int choose_digits(struct pr_native *n, struct pr_err *err)
{
    const struct pr_model *m = n->model;

    const struct pr_layer_shape *in = &m->layers[0].shape;

    if (!is_classifier(m)) {
        pr_fail(err, PR_E_CONF, "nn.data",
                "'%s' does not tell classes of one input apart: digits are "
                "not for it",
                m->name);
        return pr_hint(err, "leave nn.data out");
    }
    if (!pr_digits_init(&n->digits, in->dims, in->at)) {
        pr_fail(err, PR_E_CONF, "nn.data",
                "digits cannot be drawn as an input of '%s'", m->name);
        return pr_hint(err,
                       "an input of [channels, rows, columns] or of a "
                       "square number is needed, %d by %d at least",
                       PR_DIGITS_SIDE_MIN, PR_DIGITS_SIDE_MIN);
    }
    if (m->classes < PR_DIGITS_CLASSES)
        return pr_fail(err, PR_E_CONF, "nn.data",
                       "digits are of %d classes, '%s' tells %lld apart",
                       PR_DIGITS_CLASSES, m->name, (long long)m->classes);
    n->from = PR_NATIVE_DIGITS;
    n->digits.seed = (uint64_t)n->nn.seed;
    n->samples = n->nn.samples ? (uint64_t)n->nn.samples : DIGITS;
    if (n->samples / n->ranks < n->batch)
        return pr_fail(err, PR_E_CONF, "nn.samples",
                       "%llu samples do not make a batch of %llu",
                       (unsigned long long)n->samples,
                       (unsigned long long)n->batch * n->ranks);
    return PR_OK;
}

/* Whether the model is one that its data can be made for. */
static int check_task(const struct pr_model *m, struct pr_err *err)
{
    struct pr_task_run t;
    int rc = pr_task_open(&t, m, 0, err);

    if (!rc)
        pr_task_close(&t);
    return rc;
}

static int choose_data(struct pr_native *n, struct pr_err *err)
{
    if (pr_image_set_is_wanted(n->job)) {
        n->from = PR_NATIVE_SET;
        if (!is_classifier(n->model))
            return pr_fail(err, PR_E_CONF, n->model->name,
                           "a data set has images and their classes, which "
                           "this model does not take");
        return pr_image_set_check(n->job, err);
    }
    if (native_is_text(n->nn.data, "digits"))
        return choose_digits(n, err);
    n->from = PR_NATIVE_NOISE;
    if (native_is_text(n->model->data, "cartpole") && !*n->nn.data) {
        n->from = PR_NATIVE_CARTPOLE;
        n->batch = PR_CARTPOLE_STEPS;
        n->batches = n->most_items ? n->most_items : n->batches;
        return pr_cartpole_check_model(n->model, err);
    } else if (*n->model->data && !*n->nn.data) {
        n->from = PR_NATIVE_TASK;
        return check_task(n->model, err);
    }
    return PR_OK;
}

/* ---- sizes and kinds */

static int choose_steps(struct pr_native *n, struct pr_err *err)
{
    const struct pr_exp_opts *e = &n->job->exp;
    uint64_t count = (uint64_t)n->nn.max_count;

    n->batch = (uint64_t)e->replica_batch;
    n->warmup = (uint64_t)e->num_warmup_batches;
    n->batches = (uint64_t)e->num_batches;
    if (!n->batch)
        return pr_fail(err, PR_E_CONF, "exp.replica_batch",
                       "a batch of no sample cannot be computed");
    n->most_items = count;
    n->open_ended = !count && (n->nn.steady > 0 || n->nn.max_time > 0);
    if (n->open_ended)
        n->batches = UINT64_MAX / 2;
    if (count) {
        uint64_t each;

        if (__builtin_mul_overflow(n->batch, n->model->items, &each))
            each = UINT64_MAX;
        n->batches = count / each + (count % each != 0);
    }
    if (!n->batches)
        return pr_fail(err, PR_E_CONF, "exp.num_batches",
                       "no batch is to be measured");
    return PR_OK;
}

static int choose_type(struct pr_native *n, struct pr_err *err)
{
    const char *type = n->job->exp.dtype;

    if (native_is_text(type, "float") || native_is_text(type, "float32")) {
        n->net.dtype = PR_NN_F32;
    } else if (native_is_text(type, "bfloat16")) {
        n->net.dtype = PR_NN_BF16;
    } else {
        pr_fail(err, PR_E_UNAVAIL, "exp.dtype",
                "the native engine does not compute in %s", type);
        return pr_hint(err, "it has float32 and bfloat16");
    }
    return PR_OK;
}

/* A step of a few microseconds is over before threads have met. */
static unsigned native_choose_threads(const struct pr_native *n)
{
    static const double little = 1e7; /* operations in a forward pass */
    double flops = (double)n->model->flops * (double)n->batch;

    return !n->nn.threads && flops < little ? 1 : (unsigned)n->nn.threads;
}

static void fill_net(struct pr_native *n)
{
    const struct pr_nn_opts *nn = &n->nn;

    n->net.batch = n->batch;
    n->net.training = native_is_text(n->job->exp.phase, "training");
    n->net.threads = native_choose_threads(n);
    n->net.no_dropout = !nn->dropout;
    n->net.keep_gradients = nn->save_gradients && n->net.training;
    n->net.profile = nn->profile;
    n->net.rnn = native_is_text(nn->rnn, "onednn")     ? PR_NN_RNN_ONEDNN
                 : native_is_text(nn->rnn, "unrolled") ? PR_NN_RNN_UNROLLED
                                                       : PR_NN_RNN_AUTO;
    n->net.seed = (uint64_t)nn->seed;
    choose_optimizer(n);
}

/* ---- warnings */

static void note_foreign(const struct pr_native *n, struct pr_buf *notes)
{
    const struct {
        const char *name;
        bool set;
    } all[] = {
        {"nn.channels_last", n->nn.channels_last},
        {"nn.compile", n->nn.compile},
        {"nn.amp", n->nn.amp},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].set)
            pr_buf_printf(notes,
                          "%s is for frameworks, the native engine does not "
                          "look at it\n",
                          all[i].name);
}

static void note_machine(const struct pr_native *n, struct pr_buf *notes)
{
    const struct pr_exp_opts *e = &n->job->exp;

    if (*e->gpus || native_is_text(e->device_type, "gpu"))
        pr_buf_str(notes, "exp.gpus: the native engine computes on the "
                          "processors, no GPU is used\n");
    if (n->net.threads > n->processors)
        pr_buf_printf(notes,
                      "nn.threads: %u threads share %u processor%s, which is "
                      "slower than one each\n",
                      n->net.threads, n->processors,
                      n->processors == 1 ? "" : "s");
}

static bool can_evaluate(const struct pr_native *n)
{
    return n->from == PR_NATIVE_DIGITS || n->from == PR_NATIVE_TASK ||
           n->from == PR_NATIVE_SET;
}

static void native_add_warnings(struct pr_native *n, struct pr_buf *notes)
{
    note_foreign(n, notes);
    note_machine(n, notes);
    if (n->net.training && n->net.optimizer.kind == PR_ADAM &&
        n->nn.momentum >= 0)
        pr_buf_str(notes, "nn.momentum does nothing: adam has none\n");
    if (n->evaluate && !can_evaluate(n)) {
        pr_buf_printf(notes, "nn.evaluate: nothing is evaluated, %s\n",
                      n->from == PR_NATIVE_CARTPOLE
                          ? "every episode is a new one"
                          : "noise cannot be learned (nn.data=digits can)");
    }
    if (n->nn.save_gradients && !*n->nn.save)
        pr_buf_str(notes, "nn.save_gradients does nothing without nn.save\n");
    if (n->from == PR_NATIVE_SET && native_is_text(n->nn.data, "digits"))
        pr_buf_str(notes, "nn.data=digits does nothing: a data set is read\n");
}

/* Those of GPUs are none of ours. */
static uint64_t native_count_ranks(const struct pr_native *n)
{
    const struct pr_exp_opts *e = &n->job->exp;
    int64_t count = n->nn.mpi ? e->num_replicas : e->num_local_replicas;

    return !native_is_text(e->device_type, "gpu") && count > 1 ? (uint64_t)count
                                                               : 1;
}

/* Replicas that nobody starts would be counted by whoever reads the results. */
static int check_replicas(const struct pr_native *n, struct pr_err *err)
{
    const struct pr_exp_opts *e = &n->job->exp;

    if (n->nn.mpi || native_is_text(e->device_type, "gpu") ||
        e->num_replicas <= e->num_local_replicas)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "exp.num_replicas",
            "the native engine computes on this machine alone: %lld of %lld "
            "replicas",
            (long long)e->num_local_replicas, (long long)e->num_replicas);
    return pr_hint(err, "exp.num_local_replicas says how many, and nn.mpi "
                        "starts them on others, too");
}

int pr_native_init(struct pr_native *n, struct pr_job *job,
                   struct pr_buf *notes, struct pr_err *err)
{
    int rc;

    *n = (struct pr_native){.job = job, .processors = pr_machine_processors()};
    rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &n->nn, err);
    n->ranks = rc ? 1 : native_count_ranks(n);
    if (!rc)
        rc = pr_job_read_model(job, &n->model, err);
    if (!rc)
        rc = check_replicas(n, err);
    if (!rc)
        rc = choose_type(n, err);
    if (!rc)
        rc = check_optimizer(n, err);
    if (!rc)
        rc = choose_steps(n, err);
    if (!rc)
        rc = choose_data(n, err);
    if (rc)
        return rc;
    fill_net(n);
    n->evaluate = (uint64_t)n->nn.evaluate;
    if (notes)
        native_add_warnings(n, notes);
    if (!can_evaluate(n))
        n->evaluate = 0;
    return PR_OK;
}
