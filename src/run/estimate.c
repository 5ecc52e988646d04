/* What a plan will cost, and whether it can be run. */
#include "run/estimate.h"

#include "run/jobs.h"

#include <string.h>

static void add_cost(struct pr_plan_cost *sum, const struct pr_cost *one)
{
    sum->write_bytes += one->write_bytes;
    sum->read_bytes += one->read_bytes;
    sum->seconds += one->seconds;
    sum->at_most_s += one->at_most_s;
    sum->unknown += !one->seconds_known;
    if (one->at_most_s <= 0)
        sum->limited = false;
}

/* Two experiments must not write one log: the second would be skipped, for the
 * log of the first. */
static int check_log(struct pr_names *logs, const struct pr_job *job,
                     struct pr_err *err)
{
    const char *log = job->exp.log_file;
    uint32_t before = pr_names_count(logs);

    if (!*log)
        return PR_OK;
    if (pr_names_add(logs, log, strlen(log)) == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (pr_names_count(logs) > before)
        return PR_OK;
    pr_fail(err, PR_E_CONF, job->id,
            "another experiment has the same exp.log_file '%s'", log);
    return pr_hint(err, "make it differ, for example by ${exp.id}");
}

static int check_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    const struct pr_workload *w;
    struct pr_start start;
    int rc;

    if (pr_job_is_off(job))
        return PR_OK;
    rc = check_log(ctx, job, err);
    if (!rc)
        rc = pr_workload_of(job, &w, err);
    return rc ? rc : w->prepare(job, &start, err);
}

int pr_plan_check(struct pr_plan *p, struct pr_err *err)
{
    struct pr_names *logs = pr_names_new();
    int rc =
        logs ? pr_plan_each_job(p, check_one, logs, err) : pr_fail_nomem(err);

    pr_names_free(logs);
    return rc;
}

/* An experiment that this version cannot run still has a place in the plan;
 * its cost is not known. */
static int cost_of_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_plan_cost *sum = ctx;
    struct pr_cost cost = {0};

    sum->experiments++;
    if (pr_job_is_off(job)) {
        sum->skipped++;
        return PR_OK;
    }
    if (pr_job_cost(job, &cost, NULL) == PR_E_NOMEM)
        return pr_fail_nomem(err);
    add_cost(sum, &cost);
    return PR_OK;
}

int pr_plan_cost(struct pr_plan *p, struct pr_plan_cost *ret,
                 struct pr_err *err)
{
    struct pr_plan_cost sum = {.limited = true};
    int rc = pr_plan_each_job(p, cost_of_one, &sum, err);

    if (!rc)
        *ret = sum;
    return rc;
}
