/* Native training, probed: the loader alone, the network alone, and both. */
#include "native/native_probe.h"

#include "job/probe_job.h"

/* What sees nothing but noise, or plays, has no data side. */
int pr_native_check_probe(const struct pr_native *n, struct pr_err *err)
{
    if (n->from != PR_NATIVE_NOISE && n->from != PR_NATIVE_CARTPOLE)
        return PR_OK;
    (void)pr_fail(err, PR_E_CONF, "probe.run",
                  "this training loads no data, there is nothing to compare "
                  "computing with");
    return pr_hint(err, "give it some: exp.data_dir=FOLDER, nn.data=digits, or "
                        "workflow.generate_data=true with dataset.*");
}

static int native_probe_fetch(void *ctx, void **ret_batch,
                              uint64_t *ret_samples, struct pr_err *err)
{
    struct pr_native_session *r = ctx;
    uint64_t wait;
    int rc = pr_native_source_next(&r->source, r->net, &wait, err);

    (void)ret_samples;
    *ret_batch = r->net;
    return rc ? rc : 1;
}

static int native_probe_use(void *ctx, void *batch, struct pr_err *err)
{
    struct pr_native_session *r = ctx;
    struct pr_net_score score;

    (void)batch;
    return r->n.net.training ? pr_net_train(r->net, &score, err)
                             : pr_net_infer(r->net, NULL, err);
}

static int native_probe_sum(void *ctx, double *values, size_t count,
                            struct pr_err *err)
{
    struct pr_native_session *r = ctx;
    int rc = PR_OK;

    for (size_t at = 0; !rc && at < count; at += PR_REPLICAS_VALUES) {
        size_t n = count - at;

        rc = pr_replicas_sum(r->replicas, values + at,
                             n < PR_REPLICAS_VALUES ? n : PR_REPLICAS_VALUES,
                             err);
    }
    return rc;
}

int pr_native_run_probe(struct pr_native_session *r, struct pr_err *err)
{
    struct pr_probe_job j = {.job = r->n.job,
                             .calls = PR_PROBE_CALLS_INIT,
                             .batch = r->n.batch,
                             .rank = r->n.rank,
                             .ranks = r->n.ranks,
                             .sum = r->n.ranks > 1 ? native_probe_sum : NULL,
                             .sum_ctx = r,
                             .progress = &r->progress,
                             .stop = r->stop,
                             .notes = &r->notes};

    j.calls.fetch = native_probe_fetch;
    j.calls.use = native_probe_use;
    j.calls.ctx = r;
    return pr_probe_job_run(&j, err);
}
