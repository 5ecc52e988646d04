/* What a plan will cost, and whether it can be run. */
#include "run/estimate.h"

#include "run/jobs.h"
#include "run/validate/validate.h"

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

int pr_plan_check(struct pr_plan *p, struct pr_err *err)
{
    struct pr_validation v;
    int rc = pr_plan_validate(p, &v, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < v.count; i++)
        if (v.lacks[i].kind == PR_REQUIREMENT_DATA && v.lacks[i].stops) {
            v.lacks[i].stops = false;
            v.stops--;
        }
    rc = pr_validation_error(&v, true, err);
    pr_validation_close(&v);
    return rc;
}

/* A workload of ours may ask for what only a later version has, for more room
 * than there is, or for more accelerators than there are samples for. */
static void plan_cost_add_refusal(struct pr_plan_cost *sum,
                                  const struct pr_workload *w,
                                  struct pr_job *job)
{
    struct pr_start start;
    struct pr_err why;
    int rc = w->run ? w->prepare(job, &start, &why) : PR_OK;

    if (rc != PR_E_UNAVAIL && rc != PR_E_IO && rc != PR_E_CONF)
        return;
    if (!sum->refused++)
        sum->why = why;
}

/* An experiment that this version cannot run still has a place in the plan;
 * its cost is not known. */
static int cost_of_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_plan_cost *sum = ctx;
    const struct pr_workload *w;
    struct pr_cost cost = {0};

    sum->experiments++;
    if (pr_job_is_off(job)) {
        sum->skipped++;
        return PR_OK;
    }
    if (pr_workload_find_for_job(job, &w, NULL) == PR_OK) {
        int rc = pr_job_estimate_cost(job, &cost, err);

        if (rc && rc != PR_E_UNAVAIL)
            return rc;
        plan_cost_add_refusal(sum, w, job);
    }
    add_cost(sum, &cost);
    return PR_OK;
}

int pr_plan_cost(struct pr_plan *p, struct pr_plan_cost *ret,
                 struct pr_err *err)
{
    struct pr_plan_cost sum = {.limited = true};
    int rc = pr_plan_each_job(p, NULL, cost_of_one, &sum, err);

    if (!rc)
        *ret = sum;
    return rc;
}
