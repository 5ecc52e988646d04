/* A native training from its parameters to its results. */
#include "native/native_run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "job/probe_job.h"
#include "job/result_lines.h"
#include "native/native_machine.h"
#include "native/native_probe.h"
#include "native/native_tensors.h"
#include "native/replica/mpi.h"

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

int pr_native_run_job(struct pr_job *job, const bool *stop, struct pr_err *err)
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
