/*
 * The workload `emulate`: reads a data set as training would, with emulated
 * accelerators. What it will cost, and how it is started.
 */
#include "base/units.h"
#include "checkpoint/checkpoint_place.h"
#include "emulate/emulate_outputs.h"
#include "emulate/emulate_saver.h"
#include "emulate/emulate_session.h"
#include "generate/generate.h"
#include "job/job.h"
#include "job/probe_job.h"

#include <signal.h>

/* Set by signals: everything that waits looks at it. */
static bool stop;

static void emulate_on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static void emulate_watch_signals(void)
{
    struct sigaction sa = {.sa_handler = emulate_on_signal};

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
}

static int emulate_run(struct pr_job *job, struct pr_err *err)
{
    emulate_watch_signals();
    return pr_emulate_session_run(job, &stop, err);
}

/* Steps that an epoch's data has; 0 without training. */
static int emulate_count_batches(const struct pr_emulate *e, uint64_t *ret,
                                 struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    *ret = 0;
    if (!e->workflow.train)
        return PR_OK;
    pr_emulate_fill_order_opts(e, false, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    if (!rc)
        *ret = order.batches;
    return rc;
}

static uint64_t count_saves(const struct pr_emulate *e, uint64_t batches)
{
    return e->workflow.train ? pr_emulate_saver_count_training(e, batches)
                             : pr_emulate_saver_count_writes(e);
}

struct saves {
    const struct pr_emulate *e;
    uint64_t batches;
};

static void save_at(const void *ctx, uint64_t i, struct pr_checkpoint_at *ret)
{
    const struct saves *s = ctx;

    pr_emulate_saver_get_position(s->e, s->batches, i, ret);
}

/* Too little room is better found before the run than after an hour of it. */
static int emulate_check_room(const struct pr_emulate *e, struct pr_arena *a,
                              struct pr_err *err)
{
    struct pr_checkpoint_place *p = PR_ARENA_NEW(a, struct pr_checkpoint_place);
    struct saves saves = {.e = e};
    struct pr_checkpoint_names names = {.at = save_at, .ctx = &saves};
    struct pr_storage *st = NULL;
    int rc =
        p ? emulate_count_batches(e, &saves.batches, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_checkpoint_place_find(p, &e->checkpoint, &e->storage, err);
    if (!rc)
        rc = pr_checkpoint_place_open(p, &st, err);
    names.count = count_saves(e, saves.batches);
    if (!rc)
        rc = pr_checkpoint_place_check_room(p, st, &e->checkpoint, &names, err);
    pr_storage_close(st);
    return rc;
}

/* It reads and computes, and its settings can be read. */
static int emulate_check_probe(const struct pr_emulate *e,
                               const struct pr_job *job, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(65536);
    struct pr_probe_config config;

    if (!e->workflow.train)
        return pr_fail(err, PR_E_CONF, "workflow.train",
                       "nothing is trained, there is no loop to probe");
    return pr_probe_job_read_config(job, &config, &notes, err);
}

static int emulate_prepare(struct pr_job *job, struct pr_start *ret,
                           struct pr_err *err)
{
    struct pr_emulate *e = PR_ARENA_NEW(job->arena, struct pr_emulate);
    int rc = e ? pr_emulate_init(e, job, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_emulate_check(e, err);
    if (!rc)
        rc = pr_emulate_outputs_check(e, err);
    if (!rc && pr_job_needs_probe(job))
        rc = emulate_check_probe(e, job, err);
    else if (!rc && e->workflow.checkpoint)
        rc = emulate_check_room(e, job->arena, err);
    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

static int cost_of_reading(const struct pr_emulate *e, uint64_t set_bytes,
                           struct pr_cost *ret, struct pr_err *err)
{
    uint64_t files = pr_dataset_files(&e->set), evals, done;
    struct pr_order_opts opts;
    struct pr_order train_order, eval_order;
    double sample =
        files ? (double)set_bytes / (double)files / (double)e->set.spec.samples
              : 0;
    double samples;
    int rc;

    pr_emulate_fill_order_opts(e, false, 1, &opts);
    rc = pr_order_init(&train_order, &opts, err);
    pr_emulate_fill_order_opts(e, true, 1, &opts);
    if (!rc)
        rc = pr_order_init(&eval_order, &opts, err);
    if (rc)
        return rc;
    done = pr_emulate_count_all_steps(e, train_order.batches);
    evals = pr_emulate_count_evaluations(e) * eval_order.batches;
    samples = (double)e->accelerators *
              ((double)done * (double)e->reader.batch_size +
               (double)evals * (double)e->reader.batch_size_eval);
    ret->read_bytes =
        pr_emulate_needs_storage(e) ? pr_to_u64(samples * sample) : 0;
    ret->seconds = (double)done * pr_duration_mean(&e->compute) +
                   (double)evals * pr_duration_mean(&e->eval);
    ret->seconds_known = true;
    return PR_OK;
}

/* Training waits meanwhile, but for how long nobody can tell. */
static int cost_of_saving(const struct pr_emulate *e, struct pr_cost *ret,
                          struct pr_err *err)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    uint64_t reads = e->workflow.train ? 0 : pr_emulate_saver_count_reads(e),
             writes, batches;
    struct pr_checkpoint_sum sum;
    int rc = emulate_count_batches(e, &batches, err);

    if (rc)
        return rc;
    writes = count_saves(e, batches);
    if (!e->workflow.train && c->opts.time_between_checkpoints > 0)
        ret->seconds +=
            (double)(writes + reads) * c->opts.time_between_checkpoints;
    pr_checkpoint_sum_ranks(c, c->first, c->ranks, &sum);
    ret->write_bytes += writes * sum.disk_bytes;
    ret->read_bytes += reads * sum.disk_bytes;
    ret->seconds_known = true;
    return PR_OK;
}

static int emulate_estimate(struct pr_job *job, struct pr_cost *ret,
                            struct pr_err *err)
{
    struct pr_emulate *e = PR_ARENA_NEW(job->arena, struct pr_emulate);
    uint64_t bytes = 0;
    bool exact;
    int rc = e ? pr_emulate_init(e, job, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_generate_bytes(&e->set, &bytes, &exact, err);
    if (rc)
        return rc;
    if (e->workflow.generate_data)
        ret->write_bytes = bytes;
    if (e->workflow.train)
        rc = cost_of_reading(e, bytes, ret, err);
    if (!rc && e->workflow.checkpoint)
        rc = cost_of_saving(e, ret, err);
    return rc;
}

static const struct pr_honour honours[] = {
    {"exp.accelerators", NULL, false}, {"dataset.*", NULL, false},
    {"reader.*", NULL, false},         {"train.*", NULL, false},
    {"evaluation.*", NULL, false},     {"workflow.*", NULL, false},
    {"storage.*", NULL, false},        {"checkpoint.*", NULL, false},
    {"model.*", NULL, false},          {"emulate.*", NULL, false},
    {"output.*", NULL, false},         {"metric.*", NULL, false},
    {"profiling.*", NULL, false},      {0},
};

const struct pr_workload pr_workload_emulate = {
    .abi = PR_WORKLOAD_ABI,
    .name = "emulate",
    .desc = "reads a data set as training would, with emulated accelerators",
    .options = &pr_emulate_section,
    .honours = honours,
    .prepare = emulate_prepare,
    .run = emulate_run,
    .estimate = emulate_estimate,
};
