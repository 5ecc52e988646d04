/* A native training from its parameters to its results. */
#include "workload/native_run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "workload/emulate_log.h"
#include "workload/native_machine.h"
#include "workload/native_tensors.h"

/* Before there is a net, whose pool of threads it would disturb. */
static int measure_peak(struct pr_native_run *r, struct pr_err *err)
{
    uint64_t start = pr_clock_ns();
    int rc;

    if (!r->n.nn.peak)
        return PR_OK;
    rc = pr_machine_peak(r->n.net.threads, &r->peak, err);
    r->apart_s += (double)(pr_clock_ns() - start) / 1e9;
    return rc;
}

/* The net with its weights, and the first batch where it stays. */
static int make_net(struct pr_native_run *r, struct pr_err *err)
{
    uint64_t wait;
    int rc = pr_net_new(r->n.model, &r->n.net, &r->net, err);

    if (rc)
        return rc;
    pr_net_facts(r->net, &r->facts);
    if (*r->n.nn.load)
        rc =
            pr_native_load(&r->n, r->net, &r->source.is_filled, &r->notes, err);
    if (!rc && r->n.from == PR_NATIVE_NOISE)
        rc = pr_source_next(&r->source, pr_net_input(r->net),
                            pr_net_labels(r->net), &wait, err);
    return rc;
}

static int prepare(struct pr_native_run *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf lines = PR_BUF_INIT(65536);
    int rc = pr_native_save_check(&r->n, err);

    if (!rc && !pr_net_is_there(r->version, err))
        rc = err ? err->code : PR_E_UNAVAIL;
    if (!rc)
        rc = measure_peak(r, err); /* before threads read ahead */
    if (!rc)
        rc = pr_source_open(&r->source, &r->n, &r->progress, r->stop, err);
    if (!rc && r->source.set)
        r->apart_s += pr_native_set_made_s(r->source.set);
    if (!rc)
        rc = make_net(r, err);
    if (rc)
        return rc;
    pr_native_say_start(r, &lines);
    rc = pr_log_write(&lines, err);
    return rc;
}

/* A measurement that other programs disturbed is none. A short one is not
 * judged. */
static void note_disturbed(struct pr_native_run *r)
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
static int report(struct pr_native_run *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);
    int rc;

    if (r->source.set) {
        pr_native_set_say(r->source.set, &out);
        pr_native_set_note(r->source.set, &r->notes);
    }
    note_disturbed(r);
    rc = pr_native_results(r, &out, err);
    pr_native_notes(&r->notes, &out);
    return rc ? rc : pr_log_write(&out, err);
}

static void report_part(const struct pr_native_run *r)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(16 << 20);

    pr_native_results_part(r, &out);
    pr_native_notes(&r->notes, &out);
    if (out.len)
        (void)!pr_log_write(&out, NULL);
}

static int train(struct pr_native_run *r, struct pr_err *err)
{
    int rc = prepare(r, err);

    if (!rc)
        rc = pr_native_steps(r, err);
    r->memory_peak = pr_machine_memory_peak();
    if (!rc && r->n.evaluate)
        rc = pr_native_evaluate(r, err);
    if (rc) {
        report_part(r);
        return rc;
    }
    rc = report(r, err);
    if (!rc && *r->n.nn.save)
        rc = pr_native_save(&r->n, r->net, err);
    if (!rc && r->source.set)
        rc = pr_native_set_remove(r->source.set, err);
    return rc;
}

int pr_native_run(struct pr_job *job, const bool *stop, struct pr_err *err)
{
    struct pr_native_run *r = pr_alloc_zeroed(sizeof *r);
    int rc;

    if (!r)
        return pr_fail_nomem(err);
    r->stop = stop;
    r->notes = (struct pr_buf)PR_BUF_INIT(65536);
    pr_progress_init(&r->progress, job->dir);
    rc = pr_native_init(&r->n, job, &r->notes, err);
    if (!rc)
        rc = pr_series_init(&r->times, err);
    if (!rc)
        rc = pr_series_init(&r->losses, err);
    if (!rc)
        rc = train(r, err);
    pr_progress_end(&r->progress);
    pr_source_close(&r->source);
    pr_net_free(r->net);
    pr_series_done(&r->times);
    pr_series_done(&r->losses);
    pr_buf_done(&r->notes);
    pr_free(r);
    return rc;
}
