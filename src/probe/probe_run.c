/* The loop itself, for whoever has a function to fetch a batch and one to use
 * it. */
#include "base/err.h"
#include "probe/probe_impl.h"

#include <string.h>

struct loop {
    struct pr_probe *p;
    struct pr_probe_calls calls;
    void *batch;
    uint64_t samples;
};

static int no_data(struct pr_err *err)
{
    (void)pr_fail(err, PR_E_CONF, "", "there is no batch to measure with");
    return pr_hint(err, "fetch has to return 1 when there is one");
}

/* The next batch; from the start when the data ended. */
static int probe_fetch_batch(struct loop *l, struct pr_err *err)
{
    void *ctx = l->calls.ctx;
    int rc;

    l->samples = 0;
    rc = l->calls.fetch(ctx, &l->batch, &l->samples, err);
    if (rc == 0 && l->calls.restart) {
        rc = l->calls.restart(ctx, err);
        if (!rc)
            rc = l->calls.fetch(ctx, &l->batch, &l->samples, err);
    }
    if (rc == 0)
        return no_data(err);
    return rc < 0 ? rc : PR_OK;
}

/* One trial of a phase. What is used in SYNTHETIC was fetched before. */
static int run_trial(struct loop *l, enum pr_probe_phase phase,
                     struct pr_err *err)
{
    bool fetches = phase != PR_PROBE_SYNTHETIC, uses = phase != PR_PROBE_IO;
    int rc = PR_OK;

    if (!fetches) {
        rc = probe_fetch_batch(l, err);
        if (!rc) /* benchy, too, lets the first one go untimed */
            rc = l->calls.use(l->calls.ctx, l->batch, err);
    }
    if (!rc)
        rc = pr_probe_begin(l->p, phase, err);
    while (!rc) {
        if (fetches)
            rc = probe_fetch_batch(l, err);
        if (rc)
            break;
        pr_probe_batch_ready(l->p, l->samples);
        if (uses)
            rc = l->calls.use(l->calls.ctx, l->batch, err);
        if (rc || !pr_probe_step_done(l->p))
            break;
    }
    return rc;
}

int pr_probe_run(struct pr_probe *p, const struct pr_probe_calls *calls,
                 struct pr_err *err)
{
    struct loop l = {.p = p};
    enum pr_probe_phase phase;
    struct pr_err ended;
    int rc = PR_OK;

    memcpy(&l.calls, calls,
           calls->size < sizeof l.calls ? calls->size : sizeof l.calls);
    if (!l.calls.fetch || !l.calls.use)
        return pr_fail(err, PR_E_USAGE, "",
                       "a probe wants a function to fetch a batch and one to "
                       "use it");
    while (!rc && (phase = pr_probe_next(p)) != PR_PROBE_PHASES) {
        rc = run_trial(&l, phase, err);
        if (rc)
            (void)!pr_probe_end(p, &ended); /* the first error counts */
        else
            rc = pr_probe_end(p, err);
    }
    return rc;
}
