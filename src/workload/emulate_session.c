/* An emulated training from its data to its report. */
#include "workload/emulate_session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "loader/order_dlio.h"
#include "workload/emulate_data.h"
#include "workload/emulate_dlio.h"
#include "workload/emulate_notes.h"
#include "workload/emulate_phase.h"
#include "workload/emulate_result.h"
#include "workload/emulate_watch.h"

#include <stdio.h>
#include <string.h>

struct session {
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_emulate_data data;
    struct pr_emulate_watch watch;
    struct pr_progress progress;
    struct pr_buf notes; /* warnings, a line each */
    struct pr_buf log;   /* in DLIO's form */
    struct pr_feed *feed;
    struct pr_order order; /* of the phase that runs */
    const bool *stop;
    bool evaluates; /* there is a batch to do it with */
    bool hangs;     /* a thread will not come back: nothing is freed */
    uint64_t steps_done;
};

static int write_out(const char *text, size_t len, struct pr_err *err)
{
    if (!pr_write_all(1, text, len))
        return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
    return PR_OK;
}

/* Lines of DLIO's log since `from`, also in ours, as they fall due. */
static int show_log(struct session *s, size_t from, struct pr_err *err)
{
    if (!pr_buf_ok(&s->log))
        return pr_fail_nomem(err);
    if (s->log.len == from)
        return PR_OK;
    return write_out(s->log.data + from, s->log.len - from, err);
}

/* ---- epochs */

static void on_tick(void *ctx, const struct pr_phase *p, uint64_t steps,
                    uint64_t now_ns)
{
    struct session *s = ctx;
    double epochs = (double)s->e.train.epochs;
    double part =
        p->steps_planned ? (double)steps / (double)p->steps_planned : 0;

    (void)now_ns;
    pr_progress_say(&s->progress,
                    p->evaluation ? p->epoch / epochs
                                  : (p->epoch - 1 + part) / epochs,
                    "%sepoch %u of %lld, step %llu of %llu",
                    p->evaluation ? "evaluating, " : "", p->epoch,
                    (long long)s->e.train.epochs, (unsigned long long)steps,
                    (unsigned long long)p->steps_planned);
}

static int make_order(struct session *s, bool evaluation, unsigned epoch,
                      struct pr_order *ret, struct pr_order_dlio **ret_dlio,
                      struct pr_err *err)
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
    pr_emulate_order(e, evaluation, epoch, &opts);
    rc = pr_order_init(ret, &opts, err);
    if (rc || strcmp(e->opts.compat, "dlio") != 0)
        return rc;
    rc = pr_order_dlio_new(ret, &dlio, ret_dlio, err);
    if (!rc)
        pr_order_dlio_epoch(*ret_dlio, epoch);
    return rc;
}

/* A phase with an order: reads, computes, counts. */
static int drive(struct session *s, struct pr_phase *p, struct pr_err *err)
{
    struct pr_drive d = {.e = &s->e,
                         .feed = s->feed,
                         .order = &s->order,
                         .phase = p,
                         .lane = s->watch.lane,
                         .board = s->watch.board,
                         .steps_before = s->steps_done,
                         .tick = on_tick,
                         .tick_ctx = s};
    uint64_t before = pr_data_device_bytes();
    int rc;

    pr_watch_phase_start(&s->watch, p);
    rc = pr_phase_run(&d, err);
    pr_watch_phase_end(&s->watch, p);
    p->device_bytes = pr_data_device_bytes();
    if (before == UINT64_MAX)
        p->device_bytes = before;
    else if (p->device_bytes != UINT64_MAX)
        p->device_bytes -= before;
    return rc;
}

static int run_phase(struct session *s, unsigned epoch, bool evaluation,
                     struct pr_err *err)
{
    struct pr_order_dlio *dlio;
    struct pr_phase *p;
    size_t from = s->log.len;
    uint64_t steps;
    int rc = make_order(s, evaluation, epoch, &s->order, &dlio, err);

    if (rc)
        return rc;
    steps = s->order.batches;
    if (!evaluation)
        steps = pr_emulate_steps(&s->e, steps, s->steps_done);
    p = pr_stats_phase(&s->stats, s->e.job->arena, s->e.accelerators, steps);
    if (!p)
        rc = pr_fail_nomem(err);
    if (!rc) {
        p->epoch = epoch;
        p->evaluation = evaluation;
        p->steps_planned = steps;
        rc = pr_data_before(&s->data, evaluation ? PR_VALID : PR_TRAIN,
                            &p->cached, err);
    }
    if (!rc && !evaluation) {
        pr_dlio_say_epoch(&s->e, epoch, steps, &s->log);
        rc = show_log(s, from, err);
    }
    from = s->log.len;
    if (!rc)
        rc = drive(s, p, err);
    if (!pr_feed_hangs(s->feed))
        pr_order_dlio_free(dlio);
    if (rc)
        return rc;
    if (!evaluation)
        s->steps_done += steps;
    pr_dlio_say_phase(&s->e, p, &s->log);
    return show_log(s, from, err);
}

static int run_epochs(struct session *s, struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned e = 1; !rc && e <= (unsigned)s->e.train.epochs; e++) {
        if (!pr_emulate_steps(&s->e, 1, s->steps_done))
            break; /* the steps of the whole run are done */
        rc = run_phase(s, e, false, err);
        if (!rc && pr_emulate_evaluates(&s->e, e) && s->evaluates)
            rc = run_phase(s, e, true, err);
    }
    return rc;
}

/* ---- before and after */

static int say_start(struct session *s, struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    pr_emulate_order(&s->e, false, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    if (!rc)
        rc = pr_notes_evaluation(&s->e, &s->notes, &s->evaluates, err);
    if (rc)
        return rc;
    pr_notes_ranks(&s->e, &s->notes);
    pr_notes_cap(&s->e, order.batches, &s->notes);
    pr_dlio_say_start(&s->e, order.batches, &s->log);
    return show_log(s, 0, err);
}

/* Each reading thread holds a sample, at times twice. More than half of the
 * free memory for that would push out what is measured. */
static unsigned threads_that_fit(struct session *s)
{
    const struct pr_emulate *e = &s->e;
    uint64_t each = 2 * pr_spec_sample_bytes(&e->set.spec) + 65536;
    uint64_t fit = pr_data_free_memory() / 2 / each;
    unsigned want =
        pr_feed_threads_for(&e->reader, &e->preprocess, e->accelerators);

    if (e->opts.io_threads)
        return (unsigned)e->opts.io_threads;
    if (fit >= want || !pr_emulate_reads(e))
        return want;
    fit = fit ? fit : 1;
    pr_buf_printf(&s->notes,
                  "%llu threads read instead of %u: the samples of more would "
                  "take over half of the free memory\n",
                  (unsigned long long)fit, want);
    return (unsigned)fit;
}

static int open_feed(struct session *s, struct pr_err *err)
{
    struct pr_feed_opts opts = {
        .set = &s->e.set,
        .first = s->data.st,
        .reader = &s->e.reader,
        .accelerators = s->e.accelerators,
        .threads = threads_that_fit(s),
        .seed = (uint64_t)s->e.train.seed,
        .stop = s->stop,
        .saw = s->watch.trace ? pr_watch_saw : NULL,
        .saw_ctx = &s->watch,
    };

    return pr_feed_new(&opts, &s->feed, err);
}

static int train(struct session *s, struct pr_err *err)
{
    int rc = pr_data_open(&s->data, err);

    if (!rc)
        rc = say_start(s, err);
    if (!rc)
        rc = pr_watch_start(&s->watch, &s->e, &s->notes, err);
    if (!rc)
        rc = open_feed(s, err);
    if (!rc) {
        s->stats.threads = pr_feed_threads(s->feed);
        s->stats.engine = pr_storage_engine(s->data.st);
        pr_progress_start(&s->progress);
        rc = run_epochs(s, err);
    }
    if (!rc && *pr_feed_note(s->feed))
        pr_buf_printf(&s->notes, "%s\n", pr_feed_note(s->feed));
    s->hangs = pr_feed_hangs(s->feed);
    pr_feed_free(s->feed);
    if (s->hangs)
        return rc; /* what it uses stays, until the process ends */
    rc = pr_watch_stop(&s->watch, rc, err);
    pr_data_close(&s->data);
    return rc;
}

static int write_files(struct session *s, const char *folder,
                       struct pr_err *err)
{
    char path[4096];
    int rc = pr_dlio_write(&s->e, &s->stats, folder, err);

    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/%s", folder, s->e.output.log_file);
    return pr_file_write(path, s->log.data, s->log.len, err);
}

/* What there is to say when data was made and nothing else. */
static void put_generated(const struct session *s, struct pr_buf *out)
{
    double seconds = s->stats.generated_s;
    uint64_t bytes = s->stats.generated_bytes;
    char size[16];

    pr_buf_printf(out, "__results.generated_bytes__= %llu\n",
                  (unsigned long long)bytes);
    pr_buf_printf(out, "__results.generated_files__= %llu\n",
                  (unsigned long long)pr_dataset_files(&s->e.set));
    pr_buf_printf(out, "__results.generate_s__= %.6f\n", seconds);
    if (bytes && seconds > 0)
        pr_buf_printf(out, "__results.generate_mb_per_second__= %.1f\n",
                      (double)bytes / 1e6 / seconds);
    pr_buf_printf(out, "__results.verdict__= \"%s %s\"\n",
                  bytes ? "data was made:" : "the data was there already:",
                  bytes ? pr_format_bytes(size, bytes) : "nothing was written");
}

/* Figures go to the log first: a disk that is full must not cost them. */
static int print_results(struct session *s, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);

    if (s->e.workflow.train)
        pr_emulate_results(&s->e, &s->stats, &out);
    else
        put_generated(s, &out);
    pr_notes_lines(&s->notes, &out);
    return pr_buf_ok(&out) ? write_out(out.data, out.len, err)
                           : pr_fail_nomem(err);
}

static int report(struct session *s, struct pr_err *err)
{
    size_t from = s->log.len;
    int rc;

    pr_notes_steps(&s->stats, &s->notes);
    pr_notes_log(&s->notes, &s->log);
    if (s->e.workflow.train)
        pr_dlio_say_end(&s->e, &s->stats, &s->log);
    rc = show_log(s, from, err);
    if (!rc)
        rc = print_results(s, err);
    if (rc || !s->e.workflow.train)
        return rc;
    rc = write_files(s, s->e.job->dir, err);
    if (!rc && *s->e.folder)
        rc = write_files(s, s->e.folder, err);
    if (!rc && *s->e.folder && !s->hangs)
        rc = pr_watch_copy(&s->watch, s->e.folder, err);
    return rc;
}

/* What was measured before an end that came early is not lost. */
static void report_part(struct session *s, const struct pr_err *why)
{
    pr_stats_drop_last(&s->stats);
    if (!s->stats.first)
        return;
    pr_buf_printf(&s->notes,
                  "it ended early, only epochs that were finished count: %s\n",
                  why->msg);
    (void)!report(s, NULL);
}

/* A place that cannot be written to is found before hours were spent. */
static int make_folder(struct session *s, struct pr_err *err)
{
    return *s->e.folder && s->e.workflow.train ? pr_make_dirs(s->e.folder, err)
                                               : PR_OK;
}

static int emulate(struct session *s, struct pr_err *err)
{
    struct pr_err later = {0};
    int rc = make_folder(s, err);

    if (!rc)
        rc = pr_data_make(&s->data, err);
    if (!rc && s->e.workflow.checkpoint)
        pr_buf_str(&s->notes, "workflow.checkpoint: checkpoints are for a "
                              "later version, none are written\n");
    if (!rc && s->e.workflow.train)
        rc = train(s, err);
    s->stats.end_ns = pr_clock_ns();
    s->stats.end_wall_ns = pr_wall_clock_ns();
    if (!rc)
        rc = report(s, err);
    else if (s->stats.first)
        report_part(s, err);
    if (rc)
        return rc; /* the data stays, for a look at what went wrong */
    if (pr_data_remove(&s->data, &later)) {
        rc = later.code;
        *err = later;
    }
    return rc;
}

int pr_emulate_run(struct pr_job *job, const bool *stop, struct pr_err *err)
{
    struct session *s = pr_alloc_zeroed(sizeof *s);
    int rc = s ? pr_emulate_init(&s->e, job, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_emulate_check(&s->e, err);
    if (rc) {
        pr_free(s);
        return rc;
    }
    s->stop = stop;
    s->notes = (struct pr_buf)PR_BUF_INIT(65536);
    s->log = (struct pr_buf)PR_BUF_INIT(64 << 20);
    s->stats.start_ns = pr_clock_ns();
    s->stats.start_wall_ns = pr_wall_clock_ns();
    pr_progress_init(&s->progress, job->dir);
    s->data = (struct pr_emulate_data){.e = &s->e,
                                       .stats = &s->stats,
                                       .progress = &s->progress,
                                       .stop = stop,
                                       .notes = &s->notes};
    rc = emulate(s, err);
    pr_progress_end(&s->progress);
    if (s->hangs)
        return rc;
    pr_buf_done(&s->notes);
    pr_buf_done(&s->log);
    pr_free(s);
    return rc;
}
