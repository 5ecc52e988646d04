/*
 * The workload `emulate`: reads a data set as training would, with emulated
 * accelerators. What it will cost, and how it is started.
 */
#include "workload/emulate.h"
#include "workload/emulate_session.h"
#include "workload/generate.h"

#include <signal.h>

/* Set by signals: everything that waits looks at it. */
static bool stop;

static void on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static void watch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
}

static int run(struct pr_job *job, struct pr_err *err)
{
    watch_signals();
    return pr_emulate_run(job, &stop, err);
}

static int prepare(struct pr_job *job, struct pr_start *ret, struct pr_err *err)
{
    struct pr_emulate *e = PR_ARENA_NEW(job->arena, struct pr_emulate);
    int rc = e ? pr_emulate_init(e, job, err) : pr_fail_nomem(err);

    if (!rc)
        rc = pr_emulate_check(e, err);
    if (!rc)
        rc = pr_job_env(job, NULL, 0, &ret->env, err);
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

    pr_emulate_order(e, false, 1, &opts);
    rc = pr_order_init(&train_order, &opts, err);
    pr_emulate_order(e, true, 1, &opts);
    if (!rc)
        rc = pr_order_init(&eval_order, &opts, err);
    if (rc)
        return rc;
    done = pr_emulate_all_steps(e, train_order.batches);
    evals = pr_emulate_all_evals(e) * eval_order.batches;
    samples = (double)e->accelerators *
              ((double)done * (double)e->reader.batch_size +
               (double)evals * (double)e->reader.batch_size_eval);
    ret->read_bytes = pr_emulate_reads(e) ? (uint64_t)(samples * sample) : 0;
    ret->seconds = (double)done * pr_duration_mean(&e->compute) +
                   (double)evals * pr_duration_mean(&e->eval);
    ret->seconds_known = true;
    return PR_OK;
}

static int estimate(struct pr_job *job, struct pr_cost *ret, struct pr_err *err)
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
    return e->workflow.train ? cost_of_reading(e, bytes, ret, err) : PR_OK;
}

const struct pr_workload pr_workload_emulate = {
    .abi = PR_WORKLOAD_ABI,
    .name = "emulate",
    .desc = "reads a data set as training would, with emulated accelerators",
    .options = &pr_emulate_section,
    .prepare = prepare,
    .run = run,
    .estimate = estimate,
};
