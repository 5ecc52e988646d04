/*
 * The workload `null`: does nothing, null.steps times. What a run of it takes
 * is the cost of the harness itself; it is also the template for a workload
 * that runs in a process of ours.
 */
#include "base/clock.h"
#include "base/file.h"
#include "job/job.h"
#include "workload/workload.h"

static int null_prepare(struct pr_job *job, struct pr_start *ret,
                        struct pr_err *err)
{
    struct pr_null_opts o;
    int rc = pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err);

    if (!rc)
        rc = pr_job_set_start_env(job, NULL, 0, ret, err);
    ret->argv = NULL;
    return rc;
}

static int null_run(struct pr_job *job, struct pr_err *err)
{
    struct pr_null_opts o;
    int rc = pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err);
    uint64_t start = pr_now(job->clock), elapsed;
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(256);

    if (rc)
        return rc;
    for (int64_t i = 0; i < o.steps; i++)
        if (o.sleep > 0)
            pr_sleep_until(job->clock,
                           pr_now(job->clock) + (uint64_t)(o.sleep * 1e9),
                           NULL);
    elapsed = pr_now(job->clock) - start;
    pr_buf_printf(&out, "__results.steps__= %lld\n__results.time__= ",
                  (long long)o.steps);
    pr_float_write_repr(&out, (double)elapsed / 1e6);
    pr_buf_char(&out, '\n');
    if (!pr_buf_ok(&out) || !pr_write_all(1, out.data, out.len))
        return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
    return PR_OK;
}

static int null_estimate(struct pr_job *job, struct pr_cost *ret,
                         struct pr_err *err)
{
    struct pr_null_opts o;
    int rc = pr_opt_fill(&pr_null_section, job->params, job->arena, &o, err);

    if (rc)
        return rc;
    ret->seconds = o.sleep * (double)o.steps;
    ret->seconds_known = true;
    return PR_OK;
}

static const struct pr_honour workload_null_honours[] = {
    {"null.*", NULL, false}, {0}};

const struct pr_workload pr_workload_null = {
    .abi = PR_WORKLOAD_ABI,
    .name = "null",
    .desc = "nothing: what the harness itself costs",
    .options = &pr_null_section,
    .honours = workload_null_honours,
    .prepare = null_prepare,
    .run = null_run,
    .estimate = null_estimate,
};
