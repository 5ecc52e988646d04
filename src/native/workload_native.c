/*
 * The workload `native`: trains a network, or computes its outputs, with the
 * engine of ours. What can be checked before, and how it is started.
 */
#include "job/job.h"
#include "job/probe_job.h"
#include "native/images/image_set.h"
#include "native/native_probe.h"
#include "native/replica/mpi.h"

#include <signal.h>

/* Set by signals: looked at after every step. */
static bool stop;

static void native_on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

static void native_watch_signals(void)
{
    struct sigaction sa = {.sa_handler = native_on_signal};

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
}

static int native_run(struct pr_job *job, struct pr_err *err)
{
    native_watch_signals();
    return pr_native_run_job(job, &stop, err);
}

/* Its settings, too, are looked at before it runs. */
static int native_check_probe(const struct pr_native *n,
                              const struct pr_job *job, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(65536);
    struct pr_probe_config config;
    int rc = pr_native_check_probe(n, err);

    return rc ? rc : pr_probe_job_read_config(job, &config, &notes, err);
}

static int native_prepare(struct pr_job *job, struct pr_start *ret,
                          struct pr_err *err)
{
    struct pr_native *n = PR_ARENA_NEW(job->arena, struct pr_native);
    char version[32];
    int rc = n ? pr_native_init(n, job, NULL, err) : pr_fail_nomem(err);

    if (!rc && !pr_net_is_available(version, err))
        rc = err ? err->code : PR_E_UNAVAIL;
    if (!rc && pr_job_needs_probe(job))
        rc = native_check_probe(n, job, err);
    if (!rc && n->nn.mpi)
        return pr_mpi_fill_start(job, &n->nn, n->ranks, ret, err);
    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

/* How long it takes depends on the machine alone; nobody can tell before. */
static int native_estimate(struct pr_job *job, struct pr_cost *ret,
                           struct pr_err *err)
{
    if (!pr_image_set_is_wanted(job))
        return PR_OK;
    return pr_image_set_estimate_bytes(job, &ret->write_bytes, err);
}

static const struct pr_honour honours[] = {
    {"exp.model_opts", NULL, false},
    {"exp.phase", NULL, false},
    {"exp.dtype", "float|float32|bfloat16", false},
    {"exp.num_warmup_batches", NULL, false},
    {"exp.num_batches", NULL, false},
    {"exp.replica_batch", NULL, false},
    {"exp.gpus", "", false},
    {"exp.num_gpus", "0", false},
    {"exp.device_type", "cpu", false},
    {"exp.num_local_replicas", NULL, false},
    {"exp.num_replicas", NULL, false},
    {"exp.num_nodes", NULL, false},
    {"exp.data_dir", NULL, false},
    {"exp.data", NULL, false},
    {"reader.batch_size", NULL, true},
    {"dataset.*", NULL, false},
    {"reader.*", NULL, false},
    {"storage.*", NULL, false},
    {"workflow.generate_data", NULL, false},
    {"nn.channels_last", NULL, true},
    {"nn.compile", NULL, true},
    {"nn.amp", NULL, true},
    {"nn.batches", NULL, true},
    {"nn.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_native = {
    .abi = PR_WORKLOAD_ABI,
    .name = "native",
    .desc = "trains a network on this machine's processors",
    .options = &pr_nn_section,
    .honours = honours,
    .prepare = native_prepare,
    .run = native_run,
    .estimate = native_estimate,
};
