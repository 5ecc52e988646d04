/* An emulated training from its data to its report. */
#include "emulate/emulate_session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "emulate/dlio/emulate_dlio.h"
#include "emulate/emulate_notes.h"
#include "emulate/emulate_outputs.h"
#include "emulate/emulate_session_impl.h"
#include "generate/generate.h"
#include "job/probe_job.h"
#include "machine/kernel_file.h"

static int say_start(struct pr_emulate_session *s, uint64_t *ret_batches,
                     struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    pr_emulate_fill_order_opts(&s->e, false, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    if (!rc)
        rc = pr_warnings_add_evaluation(&s->e, &s->notes, &s->evaluates, err);
    if (rc)
        return rc;
    pr_warnings_add_ranks(&s->e, &s->notes);
    pr_warnings_add_step_cap(&s->e, order.batches, &s->notes);
    pr_dlio_log_start(&s->e, order.batches, &s->log.text);
    *ret_batches = order.batches;
    return pr_job_log_print(&s->log, err);
}

/* Each reading thread holds a sample, at times twice. More than half of the
 * free memory for that would push out what is measured. */
static unsigned threads_that_fit(struct pr_emulate_session *s)
{
    const struct pr_emulate *e = &s->e;
    uint64_t each = 2 * pr_spec_sample_bytes(&e->set.spec) + 65536;
    uint64_t fit = pr_machine_available_memory() / 2 / each;
    unsigned want =
        pr_feed_threads_for(&e->reader, &e->preprocess, e->accelerators);

    if (e->opts.io_threads)
        return (unsigned)e->opts.io_threads;
    if (fit >= want || !pr_emulate_needs_storage(e))
        return want;
    fit = fit ? fit : 1;
    pr_buf_printf(&s->notes,
                  "%llu threads read instead of %u: the samples of more would "
                  "take over half of the free memory\n",
                  (unsigned long long)fit, want);
    return (unsigned)fit;
}

static int open_feed(struct pr_emulate_session *s, struct pr_err *err)
{
    struct pr_feed_opts opts = {
        .set = &s->e.set,
        .first = s->data.st,
        .reader = &s->e.reader,
        .accelerators = s->e.accelerators,
        .threads = threads_that_fit(s),
        .seed = (uint64_t)s->e.train.seed,
        .stop = s->stop,
        .clock = s->e.job->clock,
        .saw = s->watch.trace ? pr_emulate_watch_on_sample : NULL,
        .saw_ctx = &s->watch,
    };

    return pr_feed_new(&opts, &s->feed, err);
}

static int session_train(struct pr_emulate_session *s, struct pr_err *err)
{
    uint64_t batches = 0;
    int rc = pr_data_session_open(&s->data, err);

    if (!rc)
        rc = say_start(s, &batches, err);
    if (!rc)
        rc = pr_emulate_watch_start(&s->watch, &s->e, &s->notes, err);
    if (!rc && s->e.workflow.checkpoint && !pr_job_needs_probe(s->e.job))
        rc = pr_emulate_saver_open(&s->saver, batches, err);
    if (!rc)
        rc = open_feed(s, err);
    if (!rc) {
        char place[PR_NAME_BYTES];

        pr_client_limits_init(
            &s->stats.limits, pr_storage_engine(s->data.st),
            pr_generate_place(&s->e.set, &s->e.storage, place));
        s->stats.limits.clock = s->e.job->clock;
        s->stats.threads = pr_feed_threads(s->feed);
        s->stats.engine = pr_storage_engine(s->data.st);
        pr_progress_start(&s->progress);
        rc = pr_job_needs_probe(s->e.job)
                 ? pr_emulate_session_run_probe(s, err)
                 : pr_emulate_session_run_epochs(s, err);
    }
    if (!rc && *pr_feed_warning(s->feed))
        pr_buf_printf(&s->notes, "%s\n", pr_feed_warning(s->feed));
    s->hangs = pr_feed_is_hung(s->feed);
    pr_feed_free(s->feed);
    pr_emulate_saver_close(&s->saver);
    if (s->hangs)
        return rc; /* what it uses stays, until the process ends */
    rc = pr_emulate_watch_stop(&s->watch, rc, err);
    pr_data_session_close(&s->data);
    return rc;
}

/* Checkpoints without training. */
static int save_alone(struct pr_emulate_session *s, struct pr_err *err)
{
    int rc = pr_emulate_watch_start(&s->watch, &s->e, &s->notes, err);
    if (!rc)
        rc = pr_emulate_saver_open(&s->saver, 0, err);
    if (!rc) {
        pr_progress_start(&s->progress);
        rc = pr_emulate_saver_run(&s->saver, err);
    }
    pr_emulate_saver_close(&s->saver);
    return pr_emulate_watch_stop(&s->watch, rc, err);
}

/* A place that cannot be written to is found before hours were spent. */
static int session_claim_folder(struct pr_emulate_session *s,
                                struct pr_err *err)
{
    return pr_emulate_outputs_claim(&s->e, err);
}

static int make_data(struct pr_emulate_session *s, struct pr_err *err)
{
    bool makes = s->e.workflow.generate_data;
    int rc;

    pr_dlio_log_mode(&s->e, &s->log.text);
    if (makes)
        pr_dlio_log_making(false, &s->log.text);
    rc = pr_job_log_print(&s->log, err);
    if (!rc)
        rc = pr_data_session_make(&s->data, err);
    if (!rc && makes)
        pr_dlio_log_making(true, &s->log.text);
    return rc ? rc : pr_job_log_print(&s->log, err);
}

static int session_run(struct pr_emulate_session *s, struct pr_err *err)
{
    struct pr_err later = {0};
    int rc = session_claim_folder(s, err);

    if (!rc)
        rc = make_data(s, err);
    if (!rc && s->e.workflow.train)
        rc = session_train(s, err);
    else if (!rc && s->e.workflow.checkpoint)
        rc = save_alone(s, err);
    s->stats.end_ns = pr_now(s->e.job->clock);
    s->stats.end_wall_ns = pr_wall_now(s->e.job->clock);
    if (!rc && !pr_job_needs_probe(s->e.job))
        rc = pr_emulate_session_report(s, err);
    else if (s->stats.first || s->stats.checkpoints.first)
        pr_emulate_session_report_part(s, err);
    if (rc)
        return rc; /* the data stays, for a look at what went wrong */
    if (pr_data_session_remove(&s->data, &later)) {
        rc = later.code;
        *err = later;
    }
    return rc;
}

int pr_emulate_session_run(struct pr_job *job, const bool *stop,
                           struct pr_err *err)
{
    struct pr_emulate_session *s = pr_alloc_zeroed(sizeof *s);
    int rc = s ? pr_emulate_init(&s->e, job, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_emulate_check(&s->e, err);
    if (rc) {
        pr_free(s);
        return rc;
    }
    s->stop = stop;
    s->notes = (struct pr_buf)PR_BUF_INIT(65536);
    pr_job_log_init(&s->log);
    s->stats.start_ns = pr_now(job->clock);
    s->stats.start_wall_ns = pr_wall_now(job->clock);
    pr_progress_init(&s->progress, job->dir, job->clock);
    s->data = (struct pr_data_session){.e = &s->e,
                                       .stats = &s->stats,
                                       .progress = &s->progress,
                                       .stop = stop,
                                       .notes = &s->notes};
    s->saver = (struct pr_emulate_saver){.e = &s->e,
                                         .stats = &s->stats,
                                         .watch = &s->watch,
                                         .log = &s->log,
                                         .progress = &s->progress,
                                         .notes = &s->notes,
                                         .stop = stop};
    rc = session_run(s, err);
    pr_progress_end(&s->progress);
    if (s->hangs)
        return rc;
    pr_buf_free(&s->notes);
    pr_job_log_free(&s->log);
    pr_free(s);
    return rc;
}
