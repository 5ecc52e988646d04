/*
 * The workload `native`: trains a network, or computes its outputs, with the
 * engine of ours. What its parameters mean, what can be checked before, and the
 * training from its start to its results.
 */
#include "native/native.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "job/job.h"
#include "job/probe_job.h"
#include "job/result_lines.h"
#include "job/series.h"
#include "native/images/image_set.h"
#include "native/native_probe.h"
#include "native/native_results.h"
#include "native/native_run.h"
#include "native/native_source.h"
#include "native/native_tensors.h"
#include "native/replica/replicas_mpi.h"
#include "native/task/task.h"

#include <string.h>

enum { DIGITS = 2000 }; /* to train with, if nothing is said */

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
                      pr_text_equal(nn->optimizer, "adam") ? PR_ADAM : PR_SGD);
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
    if (pr_text_equal(n->nn.data, "digits"))
        return choose_digits(n, err);
    n->from = PR_NATIVE_NOISE;
    if (pr_text_equal(n->model->data, "cartpole") && !*n->nn.data) {
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

    if (pr_text_equal(type, "float") || pr_text_equal(type, "float32")) {
        n->net.dtype = PR_NN_F32;
    } else if (pr_text_equal(type, "bfloat16")) {
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
    n->net.training = pr_text_equal(n->job->exp.phase, "training");
    n->net.threads = native_choose_threads(n);
    n->net.no_dropout = !nn->dropout;
    n->net.keep_gradients = nn->save_gradients && n->net.training;
    n->net.profile = nn->profile;
    n->net.rnn = pr_text_equal(nn->rnn, "onednn")     ? PR_NN_RNN_ONEDNN
                 : pr_text_equal(nn->rnn, "unrolled") ? PR_NN_RNN_UNROLLED
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

    if (*e->gpus || pr_text_equal(e->device_type, "gpu"))
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
    if (n->from == PR_NATIVE_SET && pr_text_equal(n->nn.data, "digits"))
        pr_buf_str(notes, "nn.data=digits does nothing: a data set is read\n");
}

/* Those of GPUs are none of ours. */
static uint64_t native_count_ranks(const struct pr_native *n)
{
    const struct pr_exp_opts *e = &n->job->exp;
    int64_t count = n->nn.mpi ? e->num_replicas : e->num_local_replicas;

    return !pr_text_equal(e->device_type, "gpu") && count > 1 ? (uint64_t)count
                                                              : 1;
}

/* Replicas that nobody starts would be counted by whoever reads the results. */
static int check_replicas(const struct pr_native *n, struct pr_err *err)
{
    const struct pr_exp_opts *e = &n->job->exp;

    if (n->nn.mpi || pr_text_equal(e->device_type, "gpu") ||
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

/* ---- from parameters to results */

/* Before there is a net, whose pool of threads it would disturb. It is that of
 * float32: bfloat16 may be several times as fast, there is no share of it. */
static int measure_peak(struct pr_native_session *r, struct pr_err *err)
{
    uint64_t start = pr_clock_ns();
    int rc;

    if (!r->n.nn.peak || r->n.net.dtype == PR_NN_BF16)
        return PR_OK;
    rc = pr_machine_peak(r->n.net.threads, &r->peak, err);
    r->apart_s += (double)(pr_clock_ns() - start) / 1e9;
    return rc;
}

/* The net with its weights, and the first batch where it stays. */
static int make_net(struct pr_native_session *r, struct pr_err *err)
{
    uint64_t wait;
    int rc = pr_net_new(r->n.model, &r->n.net, &r->net, err);

    if (rc)
        return rc;
    pr_net_facts(r->net, &r->facts);
    if (*r->n.nn.load)
        rc = pr_native_load_tensors(&r->n, r->net, &r->source.is_filled,
                                    &r->notes, err);
    if (!rc && r->n.from == PR_NATIVE_CARTPOLE)
        rc = pr_cartpole_open(&r->cart, &r->n, r->net, err);
    if (!rc && r->n.from == PR_NATIVE_NOISE)
        rc = pr_native_source_next(&r->source, r->net, &wait, err);
    return rc;
}

/* Of a data set no more can be evaluated than it holds out. */
static void limit_evaluation(struct pr_native_session *r)
{
    uint64_t most = pr_image_set_held_out_count(r->source.set);

    if (r->n.evaluate && !most)
        pr_buf_str(&r->notes,
                   "nn.evaluate: nothing is evaluated, the data set has no "
                   "batch of held-out samples (folder valid)\n");
    if (r->n.evaluate > most)
        r->n.evaluate = most;
}

/* The first process makes a data set that is not there, the others find it. */
static int open_source(struct pr_native_session *r, struct pr_err *err)
{
    bool waits = r->n.from == PR_NATIVE_SET;
    int rc = PR_OK;

    if (waits && r->n.rank)
        rc = pr_replicas_meet(r->replicas, err);
    if (!rc)
        rc = pr_native_source_open(&r->source, &r->n, &r->progress, r->stop,
                                   err);
    if (!rc && waits && !r->n.rank) {
        limit_evaluation(r);
        rc = pr_replicas_meet(r->replicas, err);
    }
    return rc;
}

static int native_prepare_rank(struct pr_native_session *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf lines = PR_BUF_INIT(65536);
    int rc = pr_native_check_save(&r->n, err);

    if (!rc && !pr_net_is_available(r->version, err))
        rc = err ? err->code : PR_E_UNAVAIL;
    if (!rc)
        rc = measure_peak(r, err); /* before threads read ahead */
    if (!rc)
        rc = open_source(r, err);
    if (!rc && r->source.set)
        r->apart_s += pr_image_set_made_s(r->source.set);
    if (!rc)
        rc = make_net(r, err);
    if (rc)
        return rc;
    pr_native_print_start(r, &lines);
    rc = pr_job_log_write(&lines, err);
    /* Measuring begins for all at once. */
    return rc ? rc : pr_replicas_meet(r->replicas, err);
}

/* A measurement that other programs disturbed is none. A short one is not
 * judged. */
static void note_disturbed(struct pr_native_session *r)
{
    enum { LEAST_NS = 1000000000 };
    double share = pr_native_cpu_share(r);

    if (share <= 0 || share >= 0.8 || r->compute_ns < LEAST_NS ||
        r->facts.threads > r->n.processors)
        return;
    pr_buf_printf(&r->notes,
                  "only %.0f %% of the time of %u thread%s was computing: "
                  "most likely other programs took the rest\n",
                  100 * share, r->facts.threads,
                  r->facts.threads == 1 ? "" : "s");
}

/* Figures go to the log before anything else may fail. */
static int native_report(struct pr_native_session *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);
    int rc;

    if (r->source.set) {
        pr_image_set_print(r->source.set, &out);
        pr_image_set_add_warnings(r->source.set, &r->notes);
    }
    note_disturbed(r);
    rc = pr_native_write_results(r, &out, err);
    pr_warnings_put(&r->notes, &out);
    return rc ? rc : pr_job_log_write(&out, err);
}

static void report_part(const struct pr_native_session *r)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(16 << 20);

    pr_native_write_part_results(r, &out);
    pr_warnings_put(&r->notes, &out);
    if (out.len)
        (void)!pr_job_log_write(&out, NULL);
}

/* What all processes together took; a rank's own are in r until here. */
static int native_sum_ranks(struct pr_native_session *r, struct pr_err *err)
{
    double all[] = {(double)pr_machine_memory_peak(), (double)r->facts.bytes,
                    r->peak, (double)r->facts.threads};
    int rc = pr_replicas_sum(r->replicas, all, 4, err);

    r->memory_peak = (uint64_t)all[0];
    r->facts.bytes = (uint64_t)all[1];
    r->peak = all[2];
    return rc ? rc : pr_native_timings_gather(r, err);
}

/* Instead of training. */
static int native_probe_rank(struct pr_native_session *r, struct pr_err *err)
{
    int rc = pr_native_run_probe(r, err);

    return rc || r->n.rank || !r->source.set
               ? rc
               : pr_image_set_remove(r->source.set, err);
}

/* In each of the processes; the first one reports. */
static int native_train_rank(struct pr_replicas *replicas, void *ctx,
                             struct pr_err *err)
{
    struct pr_native_session *r = ctx;
    int rc;

    r->replicas = replicas;
    r->n.rank = pr_replicas_rank(replicas);
    r->n.net.reduce = pr_replicas_reduce(replicas);
    r->n.net.dropout_seed = r->n.net.seed + r->n.rank;
    if (r->n.rank) /* one says how far it is */
        r->progress = (struct pr_progress){.next_ns = UINT64_MAX};
    pr_replicas_add_warning(replicas, &r->notes);
    rc = native_prepare_rank(r, err);
    if (pr_job_needs_probe(r->n.job))
        return rc ? rc : native_probe_rank(r, err);
    if (!rc)
        rc = pr_native_run_steps(r, err);
    if (!rc)
        rc = native_sum_ranks(r, err);
    if (r->n.rank)
        return rc;
    if (!rc && r->n.evaluate)
        rc = pr_native_evaluate(r, err);
    if (rc) {
        report_part(r);
        return rc;
    }
    rc = native_report(r, err);
    if (!rc && *r->n.nn.save)
        rc = pr_native_save_tensors(&r->n, r->net, err);
    if (!rc && r->source.set)
        rc = pr_image_set_remove(r->source.set, err);
    return rc;
}

/* Runs it, with results as lines on stdout. stop becomes true: end early. */
static int native_run_job(struct pr_job *job, const bool *stop,
                          struct pr_err *err)
{
    struct pr_native_session *r = pr_alloc_zeroed(sizeof *r);
    struct pr_replicas_opts opts;
    int rc;

    if (!r)
        return pr_fail_nomem(err);
    r->stop = stop;
    r->notes = (struct pr_buf)PR_BUF_INIT(65536);
    pr_progress_init(&r->progress, job->dir, NULL);
    rc = pr_native_init(&r->n, job, &r->notes, err);
    r->n.net.stop = stop;
    if (!rc)
        rc = pr_series_init(&r->times, err);
    if (!rc)
        rc = pr_series_init(&r->losses, err);
    if (!rc)
        rc = pr_rate_log_init(&r->rates, &r->n.nn, err);
    if (!rc && r->n.ranks > 1)
        rc = pr_rate_log_init(&r->own_rates, &r->n.nn, err);
    opts = (struct pr_replicas_opts){.ranks = (unsigned)r->n.ranks,
                                     .mpi = r->n.nn.mpi,
                                     .is_bound = pr_mpi_has_binding(&r->n.nn),
                                     .threads = r->n.net.threads,
                                     .stop = stop};
    if (!rc)
        rc = pr_replicas_run(&opts, native_train_rank, r, err);
    pr_progress_end(&r->progress);
    pr_native_source_close(&r->source);
    pr_cartpole_close(&r->cart);
    pr_net_free(r->net);
    pr_series_free(&r->times);
    pr_series_free(&r->losses);
    pr_rate_log_free(&r->rates);
    pr_rate_log_free(&r->own_rates);
    pr_native_timings_free(r->timings);
    pr_buf_free(&r->notes);
    pr_free(r);
    return rc;
}

/* ---- the workload */

static int native_run(struct pr_job *job, struct pr_err *err)
{
    return native_run_job(job, pr_job_watch_signals(), err);
}

/* Its settings, too, are looked at before it runs. */
static int native_check_probe(const struct pr_native *n,
                              const struct pr_job *job, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(65536);
    struct pr_probe_config config;
    int rc = pr_native_check_probe(n, err);

    return rc ? rc : pr_probe_job_read_config(job, &config, &notes, err);
}

static int native_prepare(struct pr_job *job, struct pr_start *ret,
                          struct pr_err *err)
{
    struct pr_native *n = PR_ARENA_NEW(job->arena, struct pr_native);
    char version[32];
    int rc = n ? pr_native_init(n, job, NULL, err) : pr_fail_nomem(err);

    if (!rc && !pr_net_is_available(version, err))
        rc = err ? err->code : PR_E_UNAVAIL;
    if (!rc && pr_job_needs_probe(job))
        rc = native_check_probe(n, job, err);
    if (!rc && n->nn.mpi)
        return pr_mpi_fill_start(job, &n->nn, n->ranks, ret, err);
    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

/* How long it takes depends on the machine alone; nobody can tell before. */
static int native_estimate(struct pr_job *job, struct pr_cost *ret,
                           struct pr_err *err)
{
    if (!pr_image_set_is_wanted(job))
        return PR_OK;
    return pr_image_set_estimate_bytes(job, &ret->write_bytes, err);
}

static const struct pr_honour honours[] = {
    {"exp.model_opts", NULL, false},
    {"exp.phase", NULL, false},
    {"exp.dtype", "float|float32|bfloat16", false},
    {"exp.num_warmup_batches", NULL, false},
    {"exp.num_batches", NULL, false},
    {"exp.replica_batch", NULL, false},
    {"exp.gpus", "", false},
    {"exp.num_gpus", "0", false},
    {"exp.device_type", "cpu", false},
    {"exp.num_local_replicas", NULL, false},
    {"exp.num_replicas", NULL, false},
    {"exp.num_nodes", NULL, false},
    {"exp.data_dir", NULL, false},
    {"exp.data", NULL, false},
    {"reader.batch_size", NULL, true},
    {"dataset.*", NULL, false},
    {"reader.*", NULL, false},
    {"storage.*", NULL, false},
    {"workflow.generate_data", NULL, false},
    {"nn.channels_last", NULL, true},
    {"nn.compile", NULL, true},
    {"nn.amp", NULL, true},
    {"nn.batches", NULL, true},
    {"nn.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_native = {
    .abi = PR_WORKLOAD_ABI,
    .name = "native",
    .desc = "trains a network on this machine's processors",
    .options = &pr_nn_section,
    .honours = honours,
    .prepare = native_prepare,
    .run = native_run,
    .estimate = native_estimate,
};
