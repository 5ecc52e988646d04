/*
 * An emulated training from its data to its report: its epochs, what watches
 * it, what it warns of.
 */
#include "emulate/emulate_session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/units.h"
#include "emulate/dlio/dlio_files.h"
#include "emulate/emulate_outputs.h"
#include "emulate/emulate_phase.h"
#include "emulate/emulate_results.h"
#include "emulate/emulate_watch.h"
#include "generate/generate.h"
#include "job/probe_job.h"
#include "loader/order_dlio.h"
#include "machine/kernel_file.h"
#include "observe/darshan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- warnings */

/* More accelerators than files are written of. */
static void warnings_add_ranks(const struct pr_emulate *e, struct pr_buf *notes)
{
    if (e->accelerators > PR_DLIO_RANKS)
        pr_buf_printf(notes,
                      "DLIO's result files are written of the first %d "
                      "accelerators only\n",
                      PR_DLIO_RANKS);
}

void pr_warnings_add_copies(const struct pr_emulate *e, struct pr_buf *notes)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    int64_t data = c->parallelism.data;

    if (data > 0 && (uint64_t)data != c->dp)
        pr_buf_printf(
            notes,
            "%llu ranks hold %llu %s of the model, not "
            "model.parallelism.data=%lld: with checkpoint.mode=subset "
            "they would be some of the ranks of that job\n",
            (unsigned long long)c->ranks, (unsigned long long)c->dp,
            c->dp == 1 ? "copy" : "copies", (long long)data);
}

/* A cap that asks for more steps than the data has. */
static void warnings_add_step_cap(const struct pr_emulate *e, uint64_t batches,
                                  struct pr_buf *notes)
{
    int64_t cap = e->train.total_training_steps;
    bool over_run = strcmp(e->train.total_training_steps_of, "run") == 0;
    double have =
        over_run ? (double)batches * (double)e->train.epochs : (double)batches;

    if (cap > 0 && over_run)
        pr_buf_str(notes, "train.total_training_steps limits all epochs "
                          "together (train.total_training_steps_of=run)\n");
    if (cap > 0 && (double)cap > have)
        pr_buf_printf(notes,
                      "train.total_training_steps asks for %lld steps, but "
                      "the data has only enough for %.0f%s\n",
                      (long long)cap, have, over_run ? "" : " in an epoch");
}

/* An evaluation without a batch; *ret_has: there is one. */
static int warnings_add_evaluation(const struct pr_emulate *e,
                                   struct pr_buf *notes, bool *ret_has,
                                   struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    *ret_has = false;
    if (!e->workflow.evaluation)
        return PR_OK;
    pr_emulate_fill_order_opts(e, true, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    *ret_has = !rc && order.batches;
    if (!rc && !order.batches)
        pr_buf_printf(notes,
                      "nothing is evaluated: the %llu samples of "
                      "dataset.num_files_eval do not make one batch of %llu "
                      "for each accelerator\n",
                      (unsigned long long)order.total,
                      (unsigned long long)opts.batch);
    return rc;
}

static void note_skipped(const struct pr_emulate_stats *s, struct pr_buf *notes)
{
    struct pr_emulate_totals t;

    pr_emulate_stats_sum(s, false, &t);
    if (t.failed)
        pr_buf_printf(notes,
                      "samples that could not be read and were skipped: %llu; "
                      "the first: %s: %s\n",
                      (unsigned long long)t.failed, t.first_error->where,
                      t.first_error->msg);
}

/* DLIO's formula takes two steps off, which leaves nothing of so few. */
static void warn_few_steps(const struct pr_emulate_stats *s,
                           struct pr_buf *notes)
{
    const struct pr_emulate_phase *p = s->first;

    while (p && (p->evaluation || p->steps_planned > 2))
        p = p->next;
    if (p)
        pr_buf_printf(notes,
                      "epoch %u has fewer than 3 steps: DLIO's formula gives a "
                      "throughput of 0 then, samples_per_second is right\n",
                      p->epoch);
}

static void note_ahead(const struct pr_emulate *e,
                       const struct pr_emulate_stats *s, struct pr_buf *notes)
{
    struct pr_dlio_measures f;
    struct pr_emulate_totals t;

    if (!pr_emulate_is_dlio_misleading(e, s))
        return;
    pr_emulate_stats_sum(s, false, &t);
    pr_dlio_compute_measures(s, false, (uint64_t)e->reader.batch_size, &f);
    pr_buf_printf(
        notes,
        "epochs are short beside what is read ahead: %.0f %% of the steps "
        "that DLIO's formulas count were read before the first of them, so "
        "their utilisation of %.1f %% and %.4g samples/s leave that reading "
        "out; %.1f %% and %.4g samples/s have it in; use more files, or a "
        "smaller reader.prefetch_size\n",
        100 * (double)t.ahead_steps / (double)t.counted_steps, f.au,
        f.throughput, 100 * pr_emulate_totals_utilisation(&t),
        (double)t.samples / t.seconds);
}

void pr_warnings_add_steps(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_buf *notes)
{
    note_skipped(s, notes);
    warn_few_steps(s, notes);
    note_ahead(e, s, notes);
}

static void warnings_put_dlio_log(const struct pr_buf *notes,
                                  struct pr_buf *log)
{
    const char *at = notes->data, *end;

    for (; notes->len && (end = strchr(at, '\n')); at = end + 1)
        pr_buf_printf(log, "[WARNING] %.*s\n", (int)(end - at), at);
}

/* ---- what watches it */

enum { MAX_DEVICES = 64, MAX_READERS = 4096 };

static bool watch_is_profiler(const struct pr_emulate *e, const char *name)
{
    return e->workflow.profiling && strcmp(e->profiling.profiler, name) == 0;
}

static void watch_file_path(const struct pr_emulate *e, const char *name,
                            char out[static 4096])
{
    snprintf(out, 4096, "%s/%s", e->job->dir, name);
}

bool pr_emulate_watch_has_iostat(const struct pr_emulate *e)
{
    return watch_is_profiler(e, "iostat");
}

/* DLIO's users ask for a trace by DFTracer's variable. */
bool pr_emulate_watch_has_trace(const struct pr_emulate *e)
{
    const char *env = getenv("DFTRACER_ENABLE");

    return e->opts.trace || (env && strcmp(env, "1") == 0);
}

static int start_trace(struct pr_emulate_watch *w, struct pr_err *err)
{
    char path[4096];

    watch_file_path(w->e, "trace.json", path);
    PR_TRY(pr_trace_open(path, w->start_ns, &w->trace, err));
    w->lane = pr_trace_lane(w->trace);
    w->reader = pr_alloc_zeroed(MAX_READERS * sizeof *w->reader);
    return w->lane && w->reader ? PR_OK : pr_fail_nomem(err);
}

/* ---- what watches it: devices */

static size_t watch_list_devices(const struct pr_value *v, const char **out)
{
    size_t n = 0;

    if (v->kind == PR_STR && v->len)
        out[n++] = v->s;
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len && n < MAX_DEVICES;
         i++)
        if (v->items[i].kind == PR_STR)
            out[n++] = v->items[i].s;
    return n;
}

static int start_iostat(struct pr_emulate_watch *w, struct pr_buf *notes,
                        struct pr_err *err)
{
    const char *devices[MAX_DEVICES];
    char place[PR_NAME_BYTES], own[64];
    size_t n = watch_list_devices(w->e->profiling.iostat_devices, devices);

    if (!n) {
        pr_generate_place(&w->e->set, &w->e->storage, place);
        if (!pr_iostat_find_device(place, own)) {
            pr_buf_printf(notes,
                          "the block device of %s is not known, so none is "
                          "watched; name it with profiling.iostat_devices\n",
                          place);
            return PR_OK;
        }
        devices[n++] = own;
    }
    return pr_iostat_start("/proc", devices, n, 1.0, &w->iostat, err);
}

/* ---- what watches it: starting and stopping */

static int emulate_watch_start(struct pr_emulate_watch *w,
                               const struct pr_emulate *e, struct pr_buf *notes,
                               struct pr_err *err)
{
    struct pr_darshan darshan;
    char path[4096];
    int rc = PR_OK;

    *w = (struct pr_emulate_watch){.e = e, .start_ns = pr_now(e->job->clock)};
    if (pr_emulate_watch_has_trace(e))
        rc = start_trace(w, err);
    if (!rc && (e->opts.tensorboard || watch_is_profiler(e, "tensorboard"))) {
        watch_file_path(e, "tensorboard", path);
        rc = pr_tensorboard_open(path, &w->board, err);
    }
    if (!rc && pr_emulate_watch_has_iostat(e))
        rc = start_iostat(w, notes, err);
    if (!rc && (pr_darshan_is_loaded("/proc", &darshan) ||
                watch_is_profiler(e, "darshan")))
        pr_darshan_describe(&darshan, e->storage.engine, notes);
    return rc;
}

static void emulate_watch_phase_start(struct pr_emulate_watch *w,
                                      const struct pr_emulate_phase *p)
{
    w->epoch = p->epoch;
}

static void emulate_watch_phase_end(struct pr_emulate_watch *w,
                                    const struct pr_emulate_phase *p)
{
    enum pr_trace_span_kind kind =
        p->evaluation ? PR_SPAN_EVALUATE : PR_SPAN_TRAIN;

    for (uint64_t a = 0; w->lane && a < p->accelerators; a++) {
        if (!p->evaluation)
            pr_trace_span(w->lane, PR_SPAN_EPOCH, a, 0, p->start_ns, p->end_ns,
                          p->epoch, UINT64_MAX);
        pr_trace_span(w->lane, kind, a, 0, p->start_ns, p->end_ns, p->epoch,
                      UINT64_MAX);
    }
}

/* A pr_feed_saw; ctx is the watch. */
static void emulate_watch_on_sample(void *ctx, unsigned thread,
                                    uint64_t accelerator, uint64_t sample,
                                    uint64_t start_ns, uint64_t read_ns,
                                    uint64_t end_ns)
{
    struct pr_emulate_watch *w = ctx;
    struct pr_trace_lane **lane = &w->reader[thread];

    if (!*lane)
        *lane = pr_trace_lane(w->trace);
    if (!*lane)
        return;
    pr_trace_span(*lane, PR_SPAN_ITEM, accelerator, thread + 1, start_ns,
                  end_ns, w->epoch, sample);
    if (!pr_emulate_needs_storage(w->e))
        return;
    pr_trace_span(*lane, PR_SPAN_PREPROCESS, accelerator, thread + 1, read_ns,
                  end_ns, w->epoch, sample);
}

static int watch_first_error(int rc, int other, const struct pr_err *why,
                             struct pr_err *err)
{
    if (rc || !other)
        return rc;
    if (err)
        *err = *why;
    return other;
}

/* Ends everything and writes what is to be written. rc is what happened so
 * far: it stays, unless it is good and this fails. */
static int emulate_watch_stop(struct pr_emulate_watch *w, int rc,
                              struct pr_err *err)
{
    struct pr_err why = {0};
    char path[4096];

    if (!w->e)
        return rc;
    for (uint64_t a = 0; w->lane && a < w->e->accelerators; a++)
        pr_trace_span(w->lane, PR_SPAN_ROOT, a, 0, w->start_ns,
                      pr_now(w->e->job->clock), UINT64_MAX, UINT64_MAX);
    rc = watch_first_error(rc, pr_trace_close(w->trace, &why), &why, err);
    rc = watch_first_error(rc, pr_tensorboard_close(w->board, &why), &why, err);
    watch_file_path(w->e, "iostat.json", path);
    rc =
        watch_first_error(rc, pr_iostat_stop(w->iostat, path, &why), &why, err);
    pr_free(w->reader);
    w->reader = NULL;
    return rc;
}

static int watch_copy_file(const struct pr_emulate_watch *w, const char *name,
                           const char *folder, struct pr_err *err)
{
    char from[4096], to[4096];
    struct pr_view view;
    int rc;

    watch_file_path(w->e, name, from);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    if (access(from, F_OK) < 0)
        return PR_OK;
    PR_TRY(pr_file_map(from, &view, err));
    rc = pr_file_write_later(to, view.data, view.len, err);
    pr_file_unmap(&view);
    return rc;
}

/* Copies iostat.json and trace.json, where they were made, to a folder. */
static int emulate_watch_copy_files(const struct pr_emulate_watch *w,
                                    const char *folder, struct pr_err *err)
{
    int rc = watch_copy_file(w, "iostat.json", folder, err);

    return rc ? rc : watch_copy_file(w, "trace.json", folder, err);
}

/* ---- epochs */

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

    emulate_watch_phase_start(&s->watch, p);
    if (!p->evaluation)
        pr_client_limits_begin(&s->stats.limits);
    rc = pr_emulate_phase_run(&d, err);
    if (!p->evaluation)
        pr_client_limits_end(&s->stats.limits);
    emulate_watch_phase_end(&s->watch, p);
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

/* All epochs, with evaluations and checkpoints. */
static int emulate_session_run_epochs(struct pr_emulate_session *s,
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

/* ---- what it leaves: metric lines, and DLIO's log and files */

/* Whether there is more to it than making data. */
static bool emulate_session_has_measures(const struct pr_emulate_session *s)
{
    return s->e.workflow.train || s->e.workflow.checkpoint;
}

static int session_write_files(struct pr_emulate_session *s, const char *folder,
                               struct pr_err *err)
{
    char path[4096];
    int rc = PR_OK;

    if (emulate_session_has_measures(s))
        rc = pr_dlio_write_files(&s->e, &s->stats, folder, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/%s", folder, s->e.output.log_file);
    return pr_job_log_save(&s->log, path, err);
}

/* What there is to say when data was made and nothing else. */
static void put_generated(const struct pr_emulate_session *s,
                          struct pr_buf *out)
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
static int session_write_results(struct pr_emulate_session *s,
                                 struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);

    if (emulate_session_has_measures(s))
        pr_emulate_write_results(&s->e, &s->stats, &out);
    else
        put_generated(s, &out);
    pr_warnings_put(&s->notes, &out);
    return pr_job_log_write(&out, err);
}

/* Metric lines, DLIO's log and files. */
static int emulate_session_report(struct pr_emulate_session *s,
                                  struct pr_err *err)
{
    int rc;

    pr_warnings_add_steps(&s->e, &s->stats, &s->notes);
    warnings_put_dlio_log(&s->notes, &s->log.text);
    if (emulate_session_has_measures(s))
        pr_dlio_log_end(&s->e, &s->stats, &s->log.text);
    rc = pr_job_log_print(&s->log, err);
    if (!rc)
        rc = session_write_results(s, err);
    if (!rc)
        rc = session_write_files(s, s->e.job->dir, err);
    if (!rc && *s->e.folder)
        rc = session_write_files(s, s->e.folder, err);
    if (!rc && *s->e.folder && !s->hangs && emulate_session_has_measures(s))
        rc = emulate_watch_copy_files(&s->watch, s->e.folder, err);
    return rc ? rc : pr_emulate_outputs_settle(&s->e, err);
}

/* What was measured before an end that came early, for this reason. */
static void emulate_session_report_part(struct pr_emulate_session *s,
                                        const struct pr_err *why)
{
    if (s->in_phase)
        pr_emulate_stats_drop_last(&s->stats);
    if (!s->stats.first && !s->stats.checkpoints.first)
        return;
    pr_buf_printf(&s->notes,
                  "it ended early, only %s that were finished count: %s%s%s\n",
                  s->e.workflow.train ? "epochs" : "checkpoints", why->where,
                  *why->where ? ": " : "", why->msg);
    (void)!emulate_session_report(s, NULL);
}

/* ---- all of it */

static int say_start(struct pr_emulate_session *s, uint64_t *ret_batches,
                     struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    pr_emulate_fill_order_opts(&s->e, false, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    if (!rc)
        rc = warnings_add_evaluation(&s->e, &s->notes, &s->evaluates, err);
    if (rc)
        return rc;
    warnings_add_ranks(&s->e, &s->notes);
    warnings_add_step_cap(&s->e, order.batches, &s->notes);
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
        .saw = s->watch.trace ? emulate_watch_on_sample : NULL,
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
        rc = emulate_watch_start(&s->watch, &s->e, &s->notes, err);
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
        rc = pr_job_needs_probe(s->e.job) ? pr_emulate_session_run_probe(s, err)
                                          : emulate_session_run_epochs(s, err);
    }
    if (!rc && *pr_feed_warning(s->feed))
        pr_buf_printf(&s->notes, "%s\n", pr_feed_warning(s->feed));
    s->hangs = pr_feed_is_hung(s->feed);
    pr_feed_free(s->feed);
    pr_emulate_saver_close(&s->saver);
    if (s->hangs)
        return rc; /* what it uses stays, until the process ends */
    rc = emulate_watch_stop(&s->watch, rc, err);
    pr_data_session_close(&s->data);
    return rc;
}

/* Checkpoints without training. */
static int save_alone(struct pr_emulate_session *s, struct pr_err *err)
{
    int rc = emulate_watch_start(&s->watch, &s->e, &s->notes, err);
    if (!rc)
        rc = pr_emulate_saver_open(&s->saver, 0, err);
    if (!rc) {
        pr_progress_start(&s->progress);
        rc = pr_emulate_saver_run(&s->saver, err);
    }
    pr_emulate_saver_close(&s->saver);
    return emulate_watch_stop(&s->watch, rc, err);
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
    /* A place that cannot be written to is found before hours were spent. */
    int rc = pr_emulate_outputs_claim(&s->e, err);

    if (!rc)
        rc = make_data(s, err);
    if (!rc && s->e.workflow.train)
        rc = session_train(s, err);
    else if (!rc && s->e.workflow.checkpoint)
        rc = save_alone(s, err);
    s->stats.end_ns = pr_now(s->e.job->clock);
    s->stats.end_wall_ns = pr_wall_now(s->e.job->clock);
    if (!rc && !pr_job_needs_probe(s->e.job))
        rc = emulate_session_report(s, err);
    else if (s->stats.first || s->stats.checkpoints.first)
        emulate_session_report_part(s, err);
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
