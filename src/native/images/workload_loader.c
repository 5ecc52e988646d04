/*
 * The workload `loader`: what training asks of storage and processors before
 * any network computes. Images of a data set are read, decoded, cropped,
 * flipped and normalised as for ImageNet, and thrown away.
 */
#include "base/clock.h"
#include "base/units.h"
#include "conf/read/yaml.h"
#include "job/job.h"
#include "job/result_lines.h"
#include "native/images/image_set.h"
#include "native/ratelog.h"
#include "native/series.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 224 };

struct loading {
    struct pr_job *job;
    struct pr_nn_opts nn;
    struct pr_image_set_opts set;
    uint64_t warmup, batches;
    struct pr_progress progress;
    struct pr_series times; /* ms */
    struct pr_rate_log rates;
    bool stops; /* the rate is known, or time is over */
};

/* Set by signals: looked at after every batch. */
static bool stop;

static void loader_on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

/* ---- what is asked for */

/* exp.model_opts may say how large images shall be: {"input": [3, 64, 64]}. */
static int choose_size(struct loading *l, struct pr_err *err)
{
    const struct pr_value *v = l->job->exp.model_opts, *input;

    l->set.dims = 3;
    l->set.shape[0] = 3;
    l->set.shape[1] = l->set.shape[2] = SIDE;
    l->set.classes = INT32_MAX; /* nobody learns them */
    input = v->kind == PR_MAP ? pr_get(v, "input") : NULL;
    if (!input)
        return PR_OK;
    for (unsigned i = 0; i < 3; i++) {
        const struct pr_value *n =
            input->kind == PR_LIST && input->len == 3 ? &input->items[i] : NULL;

        if (!n || n->kind != PR_INT || n->i < 1 || n->i > 65536)
            return pr_fail(err, PR_E_CONF, "exp.model_opts",
                           "'input' wants three whole numbers such as [3, 224, "
                           "224]");
        l->set.shape[i] = n->i;
    }
    return PR_OK;
}

static int loading_init(struct loading *l, struct pr_job *job,
                        struct pr_err *err)
{
    const struct pr_exp_opts *e = &job->exp;
    int rc;

    *l = (struct loading){.job = job};
    rc = pr_opt_fill(&pr_nn_section, job->params, job->arena, &l->nn, err);
    if (!rc)
        rc = choose_size(l, err);
    if (rc)
        return rc;
    l->set.batch = (uint64_t)e->replica_batch;
    l->set.seed = (uint64_t)l->nn.seed;
    l->set.augment = l->nn.augment;
    l->warmup = (uint64_t)e->num_warmup_batches;
    l->batches = (uint64_t)e->num_batches;
    if (!l->set.batch)
        return pr_fail(err, PR_E_CONF, "exp.replica_batch",
                       "a batch of no sample cannot be loaded");
    if (!l->nn.max_count && (l->nn.steady > 0 || l->nn.max_time > 0))
        l->batches = UINT64_MAX / 2;
    if (l->nn.max_count)
        l->batches =
            ((uint64_t)l->nn.max_count + l->set.batch - 1) / l->set.batch;
    if (!l->batches)
        return pr_fail(err, PR_E_CONF, "exp.num_batches",
                       "no batch is to be measured");
    if (!pr_image_set_is_wanted(job)) {
        pr_fail(err, PR_E_CONF, job->id, "there is no data set to load");
        return pr_hint(err, "-P exp.data_dir=FOLDER, or "
                            "-P workflow.generate_data=true to make one");
    }
    return pr_image_set_check(job, err);
}

/* ---- the work */

static void loading_write_progress(struct loading *l, uint64_t done)
{
    uint64_t all = l->warmup + l->batches;
    double share = (double)done / (double)all;
    double by_time = pr_rate_log_time_share(&l->rates);
    bool by_count = l->batches < UINT64_MAX / 2;

    pr_progress_write(&l->progress,
                      !by_count || by_time > share ? by_time : share,
                      "batch %llu", (unsigned long long)done);
}

static int loading_load_batch(struct loading *l, struct pr_image_set *set,
                              uint64_t i, struct pr_err *err)
{
    uint64_t start = pr_now(l->job->clock), wait;
    const int32_t *labels;
    const float *input;
    int rc = pr_image_set_borrow(set, &input, &labels, &wait, err);

    if (rc)
        return rc;
    if (i >= l->warmup) {
        uint64_t end = pr_now(l->job->clock);

        pr_series_add(&l->times, (double)(end - start) / 1e6);
        l->stops = pr_rate_log_add(&l->rates, start, end, l->set.batch);
    }
    if (pr_progress_is_due(&l->progress))
        loading_write_progress(l, i + 1);
    return __atomic_load_n(&stop, __ATOMIC_RELAXED)
               ? pr_fail(err, PR_E_INTR, "", "interrupted")
               : PR_OK;
}

static void loading_put_verdict(const struct loading *l,
                                struct pr_result_lines *k, double speed,
                                const struct pr_series_summary *times)
{
    char took[PR_SERIES_TEXT], text[256];

    snprintf(text, sizeof text,
             "%.*f images/s of %lld x %lld are loaded (batch %llu in %s)",
             speed < 100, speed, (long long)l->set.shape[1],
             (long long)l->set.shape[2], (unsigned long long)l->set.batch,
             pr_series_text(times, took));
    pr_result_lines_put_str(k, "verdict", text);
}

static int loading_put_rates(struct loading *l, struct pr_result_lines *k,
                             struct pr_err *err)
{
    struct pr_rate_log_timing t;

    pr_rate_log_end(&l->rates);
    t = pr_rate_log_get_timing(&l->rates);
    pr_rate_log_put_timing(&t, k, "train");
    return pr_rate_log_put_steady(&l->rates, k, err);
}

static int loading_report(struct loading *l, struct pr_image_set *set,
                          struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(65536);
    double speed = (double)l->set.batch / (l->times.mean / 1e3);
    struct pr_series_summary times;
    struct pr_result_lines k;
    int rc;

    pr_image_set_print(set, &out);
    pr_result_lines_init(&k, &out);
    pr_buf_str(&out, "__results.prony.main__= [\"throughput\", \"time\"]\n");
    rc = pr_series_put_times(&l->times, &k, &times, err);
    if (rc)
        return rc;
    pr_result_lines_put_float(&k, "throughput", speed);
    loading_put_verdict(l, &k, speed, &times);
    pr_result_lines_put_str(&k, "item", "image");
    pr_result_lines_put_uint(&k, "items", l->times.count * l->set.batch);
    pr_result_lines_put_uint(&k, "batch", l->set.batch);
    rc = loading_put_rates(l, &k, err);
    pr_image_set_add_warnings(set, &notes);
    pr_warnings_put(&notes, &out);
    if (!rc)
        rc = pr_job_log_write(&out, err);
    return rc ? rc : pr_image_set_remove(set, err);
}

static int loading_load_batches(struct loading *l, struct pr_err *err)
{
    struct pr_image_set *set = NULL;
    int rc = pr_image_set_open(l->job, &l->set, &set, err);

    pr_progress_start(&l->progress);
    for (uint64_t i = 0; i < l->warmup + l->batches && !rc && !l->stops; i++)
        rc = loading_load_batch(l, set, i, err);
    pr_progress_end(&l->progress);
    if (!rc)
        rc = loading_report(l, set, err);
    pr_image_set_free(set);
    return rc;
}

static int loader_run(struct pr_job *job, struct pr_err *err)
{
    struct sigaction sa = {.sa_handler = loader_on_signal};
    struct loading l;
    int rc;

    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    rc = loading_init(&l, job, err);
    if (rc)
        return rc;
    pr_progress_init(&l.progress, job->dir, job->clock);
    l.set.stop = &stop;
    l.set.progress = &l.progress;
    rc = pr_series_init(&l.times, err);
    if (!rc)
        rc = pr_rate_log_init(&l.rates, &l.nn, err);
    if (!rc)
        rc = loading_load_batches(&l, err);
    pr_series_free(&l.times);
    pr_rate_log_free(&l.rates);
    return rc;
}

static int loader_prepare(struct pr_job *job, struct pr_start *ret,
                          struct pr_err *err)
{
    struct loading l;
    int rc = loading_init(&l, job, err);

    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

static int loader_estimate(struct pr_job *job, struct pr_cost *ret,
                           struct pr_err *err)
{
    return pr_image_set_estimate_bytes(job, &ret->write_bytes, err);
}

static const struct pr_honour honours[] = {
    {"exp.model_opts", NULL, false},
    {"exp.replica_batch", NULL, false},
    {"exp.num_warmup_batches", NULL, false},
    {"exp.num_batches", NULL, false},
    {"exp.phase", NULL, false},
    {"exp.data_dir", NULL, false},
    {"exp.data", NULL, false},
    {"reader.batch_size", NULL, true},
    {"dataset.*", NULL, false},
    {"reader.*", NULL, false},
    {"storage.*", NULL, false},
    {"workflow.generate_data", NULL, false},
    {"nn.*", NULL, false},
    {0},
};

const struct pr_workload pr_workload_loader = {
    .abi = PR_WORKLOAD_ABI,
    .name = "loader",
    .desc = "loads images as training does: decode, crop, flip, normalise",
    .options = &pr_nn_section,
    .honours = honours,
    .prepare = loader_prepare,
    .run = loader_run,
    .estimate = loader_estimate,
};
