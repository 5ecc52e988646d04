/*
 * The workload `emulate`: reads a data set as training would, with emulated
 * accelerators. Its checkpoints, what it will cost, and how it is started.
 */
#include "emulate/emulate_workload.h"

#include "base/clock.h"
#include "base/units.h"
#include "checkpoint/checkpoint_folder.h"
#include "emulate/dlio/dlio_files.h"
#include "emulate/emulate_outputs.h"
#include "emulate/emulate_session.h"
#include "generate/generate.h"
#include "job/job.h"
#include "job/probe_job.h"

#include <string.h>

#define TICK_NS UINT64_C(100000000)

/* ---- when checkpoints are due */

uint64_t pr_emulate_saver_steps_between(const struct pr_emulate *e)
{
    int64_t steps = e->checkpoint.opts.steps_between_checkpoints;

    return e->workflow.checkpoint && steps > 0 ? (uint64_t)steps : 0;
}

/* 0 steps between checkpoints: DLIO never writes one then. */
static bool by_epochs(const struct pr_emulate *e)
{
    return e->workflow.checkpoint &&
           e->checkpoint.opts.steps_between_checkpoints < 0;
}

bool pr_emulate_saver_has_save_after(const struct pr_emulate *e, unsigned epoch)
{
    const struct pr_checkpoint_opts *o = &e->checkpoint.opts;

    return by_epochs(e) && epoch >= o->checkpoint_after_epoch &&
           (epoch - o->checkpoint_after_epoch) %
                   o->epochs_between_checkpoints ==
               0;
}

/* Over all epochs, of so many steps each. */
static uint64_t emulate_saver_count_training(const struct pr_emulate *e,
                                             uint64_t batches)
{
    const struct pr_checkpoint_opts *o = &e->checkpoint.opts;
    uint64_t every = pr_emulate_saver_steps_between(e),
             each = pr_emulate_count_steps(e, batches, 0);
    uint64_t all = pr_emulate_count_all_steps(e, batches);
    int64_t epochs;

    if (!each)
        return 0;
    if (every)
        return all / each * (each / every) + all % each / every;
    epochs = (int64_t)(all / each + (all % each != 0));
    if (!by_epochs(e) || epochs < o->checkpoint_after_epoch)
        return 0;
    return (uint64_t)((epochs - o->checkpoint_after_epoch) /
                          o->epochs_between_checkpoints +
                      1);
}

/* Number i of them, from 0: what it will be called. */
static void emulate_saver_get_position(const struct pr_emulate *e,
                                       uint64_t batches, uint64_t i,
                                       struct pr_checkpoint_at *ret)
{
    const struct pr_checkpoint_opts *o = &e->checkpoint.opts;
    uint64_t every = pr_emulate_saver_steps_between(e),
             each = pr_emulate_count_steps(e, batches, 0);

    *ret = (struct pr_checkpoint_at){.epoch = 1, .step = i + 1, .block = i + 1};
    if (!e->workflow.train)
        return;
    if (every && each >= every) {
        ret->epoch = i / (each / every) + 1;
        ret->step = (i % (each / every) + 1) * every;
    } else {
        ret->epoch = (uint64_t)o->checkpoint_after_epoch +
                     i * (uint64_t)o->epochs_between_checkpoints;
        ret->step = each + 1;
    }
}

static uint64_t saver_count_or_zero(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

static uint64_t emulate_saver_count_writes(const struct pr_emulate *e)
{
    return saver_count_or_zero(e->checkpoint.opts.num_checkpoints_write);
}

/* Without training: how many are written, and read. */
static uint64_t emulate_saver_count_reads(const struct pr_emulate *e)
{
    uint64_t every =
        saver_count_or_zero(e->checkpoint.opts.recovery_after_steps);

    if (every)
        return emulate_saver_count_writes(e) / every;
    return saver_count_or_zero(e->checkpoint.opts.num_checkpoints_read);
}

/* ---- opening the saver */

/* A training goes by its steps, and stands still meanwhile. */
static double saver_done_share(const struct pr_emulate_saver *s, double part)
{
    double all = (double)(s->planned[0] + s->planned[1]);

    if (s->e->workflow.train)
        return s->progress->done;
    return ((double)(s->done[0] + s->done[1]) + part) / all;
}

static void saver_on_tick(void *ctx, bool is_read, uint64_t done,
                          uint64_t bytes)
{
    struct pr_emulate_saver *s = ctx;
    double part = bytes ? (double)done / (double)bytes : 0;
    char have[16], whole[16];

    pr_progress_write(
        s->progress, saver_done_share(s, part),
        "%s checkpoint %llu of %llu, %s of %s", is_read ? "reading" : "writing",
        (unsigned long long)s->done[is_read] + 1,
        (unsigned long long)s->planned[is_read], pr_format_bytes(have, done),
        pr_format_bytes(whole, bytes));
}

static void name_at(const void *ctx, uint64_t i, struct pr_checkpoint_at *ret)
{
    const struct pr_emulate_saver *s = ctx;

    emulate_saver_get_position(s->e, s->batches, i, ret);
}

int pr_emulate_saver_open(struct pr_emulate_saver *s, uint64_t batches,
                          struct pr_err *err)
{
    const struct pr_emulate *e = s->e;
    struct pr_checkpoint_open_opts opts = {
        .shape = &e->checkpoint,
        .storage = &e->storage,
        .nodes = (uint64_t)e->job->exp.num_nodes,
        .cold = strcmp(e->opts.drop_cache, "never") != 0,
        .stop = s->stop,
        .clock = e->job->clock,
        .tick = saver_on_tick,
        .tick_ctx = s,
        .ops = &s->stats->checkpoints,
        .listed_ranks = PR_DLIO_RANKS,
        .arena = e->job->arena,
    };
    struct pr_checkpoint_names names = {.at = name_at, .ctx = s};

    s->batches = batches;
    s->planned[0] = e->workflow.train ? emulate_saver_count_training(e, batches)
                                      : emulate_saver_count_writes(e);
    s->planned[1] = e->workflow.train ? 0 : emulate_saver_count_reads(e);
    names.count = s->planned[0];
    PR_TRY(pr_checkpoint_open(&opts, &names, &s->ckpt, err));
    s->stats->checkpoint_engine = pr_checkpoint_engine(s->ckpt);
    s->stats->checkpoint_threads = pr_checkpoint_thread_count(s->ckpt);
    if (!s->planned[0] && !s->planned[1])
        pr_buf_str(s->notes, "workflow.checkpoint is true, but no checkpoint "
                             "falls due: see checkpoint_after_epoch and "
                             "steps_between_checkpoints\n");
    pr_warnings_add_copies(e, s->notes);
    pr_dlio_log_sizes(e, &s->log->text);
    return pr_job_log_print(s->log, err);
}

void pr_emulate_saver_close(struct pr_emulate_saver *s)
{
    if (s->ckpt && *pr_checkpoint_warning(s->ckpt))
        pr_buf_printf(s->notes, "checkpoints: %s\n",
                      pr_checkpoint_warning(s->ckpt));
    pr_checkpoint_close(s->ckpt);
    s->ckpt = NULL;
}

/* ---- one checkpoint */

static void saver_trace_span(const struct pr_emulate_saver *s,
                             enum pr_trace_span_kind kind, uint64_t start_ns,
                             const struct pr_checkpoint_at *at)
{
    pr_trace_span(s->watch->lane, kind, 0, 0, start_ns,
                  pr_now(s->e->job->clock), at->epoch, at->step);
}

static int saver_save_or_load(struct pr_emulate_saver *s, bool is_read,
                              const struct pr_checkpoint_at *at, uint64_t steps,
                              struct pr_err *err)
{
    uint64_t start = pr_now(s->e->job->clock);
    struct pr_checkpoint_op op;
    int rc;

    pr_dlio_log_checkpoint_start(is_read, at, steps, &s->log->text);
    rc = pr_job_log_print(s->log, err);
    if (!rc)
        rc = is_read ? pr_checkpoint_load(s->ckpt, at, &op, err)
                     : pr_checkpoint_save(s->ckpt, at, &op, err);
    if (rc)
        return rc;
    s->done[is_read]++;
    saver_trace_span(s, is_read ? PR_SPAN_RESTART : PR_SPAN_CAPTURE, start, at);
    pr_dlio_log_checkpoint_end(&op, &s->log->text);
    return pr_job_log_print(s->log, err);
}

int pr_emulate_saver_save(struct pr_emulate_saver *s,
                          const struct pr_checkpoint_at *at, uint64_t steps,
                          struct pr_err *err)
{
    return saver_save_or_load(s, false, at, steps, err);
}

/* ---- checkpoints without training */

static bool saver_is_stopped(const struct pr_emulate_saver *s)
{
    return __atomic_load_n(s->stop, __ATOMIC_RELAXED);
}

/* The training that would be between two checkpoints. */
static int pass_time(struct pr_emulate_saver *s, bool is_read,
                     const struct pr_checkpoint_at *at, struct pr_err *err)
{
    double seconds = s->e->checkpoint.opts.time_between_checkpoints;
    uint64_t start = pr_now(s->e->job->clock), now = start, end = start;

    if (seconds > 0)
        end += (uint64_t)(seconds * 1e9);
    while (now < end && !saver_is_stopped(s)) {
        pr_sleep_until(s->e->job->clock,
                       end - now > TICK_NS ? now + TICK_NS : end, s->stop);
        now = pr_now(s->e->job->clock);
        pr_progress_write(s->progress, saver_done_share(s, 0),
                          "waiting before checkpoint %llu of %llu is %s",
                          (unsigned long long)s->done[is_read] + 1,
                          (unsigned long long)s->planned[is_read],
                          is_read ? "read" : "written");
    }
    saver_trace_span(s, PR_SPAN_COMPUTE, start, at);
    return saver_is_stopped(s) ? pr_fail(err, PR_E_INTR, "", "interrupted")
                               : PR_OK;
}

static int run_all(struct pr_emulate_saver *s, bool is_read, uint64_t count,
                   uint64_t first, uint64_t among, struct pr_err *err)
{
    uint64_t every =
        saver_count_or_zero(s->e->checkpoint.opts.recovery_after_steps);
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < count; i++) {
        struct pr_checkpoint_at at = {
            .epoch = 1, .step = first + i % among, .block = i + 1};

        rc = pass_time(s, is_read, &at, err);
        if (!rc)
            rc = saver_save_or_load(s, is_read, &at, at.step, err);
        if (!rc && !is_read && every && (i + 1) % every == 0)
            rc = saver_save_or_load(s, true, &at, at.step, err);
    }
    return rc;
}

int pr_emulate_saver_run(struct pr_emulate_saver *s, struct pr_err *err)
{
    uint64_t writes = emulate_saver_count_writes(s->e),
             reads = emulate_saver_count_reads(s->e);
    uint64_t keep = (uint64_t)s->e->checkpoint.opts.keep;
    /* Of those that were not kept there is nothing to read. */
    uint64_t first = keep && keep < writes ? writes - keep + 1 : 1;
    int rc;

    if (writes)
        pr_dlio_log_checkpoints_only(false, false, &s->log->text);
    rc = run_all(s, false, writes, 1, writes, err);
    if (!rc && writes)
        pr_dlio_log_checkpoints_only(false, true, &s->log->text);
    if (rc || !reads || s->e->checkpoint.opts.recovery_after_steps > 0)
        return rc;
    pr_dlio_log_checkpoints_only(true, false, &s->log->text);
    rc = run_all(s, true, reads, first, first > 1 ? keep : reads, err);
    if (!rc)
        pr_dlio_log_checkpoints_only(true, true, &s->log->text);
    return rc;
}

static int emulate_run(struct pr_job *job, struct pr_err *err)
{
    return pr_emulate_session_run(job, pr_job_watch_signals(), err);
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
    return e->workflow.train ? emulate_saver_count_training(e, batches)
                             : emulate_saver_count_writes(e);
}

struct saves {
    const struct pr_emulate *e;
    uint64_t batches;
};

static void save_at(const void *ctx, uint64_t i, struct pr_checkpoint_at *ret)
{
    const struct saves *s = ctx;

    emulate_saver_get_position(s->e, s->batches, i, ret);
}

/* Too little room is better found before the run than after an hour of it. */
static int emulate_check_room(const struct pr_emulate *e, struct pr_arena *a,
                              struct pr_err *err)
{
    struct pr_checkpoint_folder *p =
        PR_ARENA_NEW(a, struct pr_checkpoint_folder);
    struct saves saves = {.e = e};
    struct pr_checkpoint_names names = {.at = save_at, .ctx = &saves};
    struct pr_storage *st = NULL;
    int rc =
        p ? emulate_count_batches(e, &saves.batches, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_checkpoint_folder_find(p, &e->checkpoint, &e->storage, err);
    if (!rc)
        rc = pr_checkpoint_folder_open(p, &st, err);
    names.count = count_saves(e, saves.batches);
    if (!rc)
        rc =
            pr_checkpoint_folder_check_room(p, st, &e->checkpoint, &names, err);
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
    uint64_t reads = e->workflow.train ? 0 : emulate_saver_count_reads(e),
             writes, batches;
    struct pr_checkpoint_sum sum;

    PR_TRY(emulate_count_batches(e, &batches, err));
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
