/* What a plan will cost, and whether it can be run. */
#include "run/estimate.h"

#include "run/jobs.h"

#include <stdio.h>
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

/* Two experiments must not write to one place: what the first one wrote would
 * be lost, or the second be skipped for it. */
static int check_place(struct pr_names *places, const struct pr_job *job,
                       const char *param, const char *path, struct pr_err *err)
{
    uint32_t before = pr_names_count(places);

    size_t n;

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (!n)
        return PR_OK;
    if (pr_names_add(places, path, n) == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (pr_names_count(places) > before)
        return PR_OK;
    pr_fail(err, PR_E_CONF, job->id, "another experiment has the same %s '%s'",
            param, path);
    return pr_hint(err, "make it differ, for example by ${exp.id}");
}

static const char *text_of(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_STR ? v->s : "";
}

static int check_places(struct pr_names *places, const struct pr_job *job,
                        struct pr_err *err)
{
    int rc = check_place(places, job, "exp.log_file", job->exp.log_file, err);

    if (!rc && *text_of(job, "output.folder"))
        return check_place(places, job, "output.folder",
                           text_of(job, "output.folder"), err);
    return rc ? rc
              : check_place(places, job, "hydra.run.dir",
                            text_of(job, "hydra.run.dir"), err);
}

static int check_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    const struct pr_workload *w;
    struct pr_start start;
    int rc;

    if (pr_job_is_off(job))
        return PR_OK;
    rc = check_places(ctx, job, err);
    if (!rc)
        rc = pr_workload_of(job, &w, err);
    if (rc)
        return rc;
    rc = w->prepare(job, &start, err);
    if (rc && err && !strstr(err->where, job->id)) { /* which of them */
        char where[sizeof err->where];

        snprintf(where, sizeof where, "%s%s%.180s", job->id,
                 *err->where ? ": " : "", err->where);
        memcpy(err->where, where, sizeof where);
    }
    return rc;
}

int pr_plan_check(struct pr_plan *p, struct pr_err *err)
{
    struct pr_names *places = pr_names_new();
    int rc = places ? pr_plan_each_job(p, check_one, places, err)
                    : pr_fail_nomem(err);

    pr_names_free(places);
    return rc;
}

/* A workload of ours may ask for what only a later version has, for more room
 * than there is, or for more accelerators than there are samples for. */
static void note_refusal(struct pr_plan_cost *sum, const struct pr_workload *w,
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
    if (pr_workload_of(job, &w, NULL) == PR_OK) {
        int rc = pr_job_cost(job, &cost, err);

        if (rc && rc != PR_E_UNAVAIL)
            return rc;
        note_refusal(sum, w, job);
    }
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
