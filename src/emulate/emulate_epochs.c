/* The epochs of an emulated training. */
#include "emulate/dlio/emulate_dlio.h"
#include "emulate/emulate_phase.h"
#include "emulate/emulate_session_impl.h"
#include "loader/order_dlio.h"
#include "machine/kernel_file.h"

#include <string.h>

static void epoch_on_tick(void *ctx, const struct pr_emulate_phase *p,
                          uint64_t steps, uint64_t now_ns)
{
    struct pr_emulate_session *s = ctx;
    double epochs = (double)s->e.train.epochs;
    double part =
        p->steps_planned ? (double)steps / (double)p->steps_planned : 0;

    (void)now_ns;
    pr_progress_write(&s->progress,
                      p->evaluation ? p->epoch / epochs
                                    : (p->epoch - 1 + part) / epochs,
                      "%sepoch %u of %lld, step %llu of %llu",
                      p->evaluation ? "evaluating, " : "", p->epoch,
                      (long long)s->e.train.epochs, (unsigned long long)steps,
                      (unsigned long long)p->steps_planned);
}

static int epoch_make_order(struct pr_emulate_session *s, bool evaluation,
                            unsigned epoch, struct pr_order *ret,
                            struct pr_order_dlio **ret_dlio, struct pr_err *err)
{
    const struct pr_emulate *e = &s->e;
    struct pr_order_dlio_opts dlio = {
        .iterative = strcmp(e->reader.data_loader, "tensorflow") == 0,
        .threads = (uint64_t)e->reader.read_threads,
        .seed = (uint32_t)e->train.seed,
        .seed_change = e->train.seed_change_epoch,
        .files_before = evaluation ? e->set.files[PR_TRAIN] : 0,
    };
    struct pr_order_opts opts;
    int rc;

    *ret_dlio = NULL;
    pr_emulate_fill_order_opts(e, evaluation, epoch, &opts);
    rc = pr_order_init(ret, &opts, err);
    if (rc || strcmp(e->opts.compat, "dlio") != 0)
        return rc;
    rc = pr_order_dlio_new(ret, &dlio, ret_dlio, err);
    if (!rc)
        pr_order_dlio_epoch(*ret_dlio, epoch);
    return rc;
}

/* A checkpoint within an epoch, between two blocks of steps. */
static int save_between(void *ctx, struct pr_emulate_phase *p, uint64_t step,
                        struct pr_err *err)
{
    struct pr_emulate_session *s = ctx;
    uint64_t block = p->last_block->number;
    struct pr_checkpoint_at at = {
        .epoch = p->epoch, .step = step, .block = block};
    int rc;

    pr_dlio_log_block(&s->e, p, p->last_block, &s->log.text);
    rc = pr_emulate_saver_save(&s->saver, &at, step, err);
    pr_dlio_log_next_block(block + 1, &s->log.text);
    return rc ? rc : pr_job_log_print(&s->log, err);
}

/* A checkpoint at the end of an epoch. As in DLIO, one that goes by epochs is
 * named after the step that would be next. */
static int save_after(struct pr_emulate_session *s,
                      const struct pr_emulate_phase *p, struct pr_err *err)
{
    uint64_t every = pr_emulate_saver_steps_between(&s->e),
             steps = p->steps_planned;
    bool by_epochs = pr_emulate_saver_has_save_after(&s->e, p->epoch);
    struct pr_checkpoint_at at = {
        .epoch = p->epoch,
        .step = by_epochs ? steps + 1 : steps,
        .block = p->last_block ? p->last_block->number + 1 : 1,
    };

    if (!by_epochs && (!every || !steps || steps % every))
        return PR_OK;
    return pr_emulate_saver_save(&s->saver, &at, steps, err);
}

/* A phase with an order: reads, computes, counts. */
static int epoch_run_phase(struct pr_emulate_session *s,
                           struct pr_emulate_phase *p, struct pr_err *err)
{
    struct pr_emulate_phase_opts d = {
        .e = &s->e,
        .feed = s->feed,
        .order = &s->order,
        .phase = p,
        .lane = s->watch.lane,
        .board = s->watch.board,
        .steps_before = s->steps_done,
        .tick = epoch_on_tick,
        .tick_ctx = s,
        .save_every = p->evaluation ? 0 : pr_emulate_saver_steps_between(&s->e),
        .save = save_between,
        .save_ctx = s};
    uint64_t before = pr_machine_device_bytes();
    int rc;

    pr_emulate_watch_phase_start(&s->watch, p);
    if (!p->evaluation)
        pr_client_limits_begin(&s->stats.limits);
    rc = pr_emulate_phase_run(&d, err);
    if (!p->evaluation)
        pr_client_limits_end(&s->stats.limits);
    pr_emulate_watch_phase_end(&s->watch, p);
    p->device_bytes = pr_machine_device_bytes();
    if (before == UINT64_MAX)
        p->device_bytes = before;
    else if (p->device_bytes != UINT64_MAX)
        p->device_bytes -= before;
    return rc;
}

static int run_phase(struct pr_emulate_session *s, unsigned epoch,
                     bool evaluation, struct pr_err *err)
{
    struct pr_order_dlio *dlio;
    struct pr_emulate_phase *p;
    uint64_t steps;
    int rc = epoch_make_order(s, evaluation, epoch, &s->order, &dlio, err);

    if (rc)
        return rc;
    steps = s->order.batches;
    if (!evaluation)
        steps = pr_emulate_count_steps(&s->e, steps, s->steps_done);
    p = pr_emulate_stats_add_phase(&s->stats, s->e.job->arena,
                                   s->e.accelerators, steps);
    if (!p)
        rc = pr_fail_nomem(err);
    s->in_phase = true;
    if (!rc) {
        p->epoch = epoch;
        p->evaluation = evaluation;
        p->steps_planned = steps;
        rc = pr_data_session_before_phase(
            &s->data, evaluation ? PR_VALID : PR_TRAIN, &p->cached, err);
    }
    if (!rc && !evaluation) {
        pr_dlio_log_epoch(&s->e, epoch, steps, &s->log.text);
        rc = pr_job_log_print(&s->log, err);
    }
    if (!rc)
        rc = epoch_run_phase(s, p, err);
    if (!pr_feed_is_hung(s->feed))
        pr_order_dlio_free(dlio);
    if (rc)
        return rc;
    s->in_phase = false;
    if (!evaluation)
        s->steps_done += steps;
    pr_dlio_log_phase(&s->e, p, &s->log.text);
    rc = pr_job_log_print(&s->log, err);
    return rc || evaluation ? rc : save_after(s, p, err);
}

int pr_emulate_session_run_epochs(struct pr_emulate_session *s,
                                  struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned e = 1; !rc && e <= (unsigned)s->e.train.epochs; e++) {
        if (!pr_emulate_count_steps(&s->e, 1, s->steps_done))
            break; /* the steps of the whole run are done */
        rc = run_phase(s, e, false, err);
        if (!rc && pr_emulate_has_evaluation(&s->e, e) && s->evaluates)
            rc = run_phase(s, e, true, err);
    }
    return rc;
}
