/* Walking a plan as jobs. */
#include "run/jobs.h"

#include <string.h>

/* The parameters of an experiment as the map a job is made of. */
static int params_map(struct pr_plan *p, const struct pr_experiment *e,
                      struct pr_arena *a, struct pr_value *ret,
                      struct pr_err *err)
{
    struct pr_member *m = PR_ARENA_ARRAY(a, struct pr_member, e->params->count);

    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < e->params->count; i++) {
        uint32_t name = e->params->order[i];
        const char *text = pr_names_text(pr_plan_names(p), name);
        m[i] = (struct pr_member){.key = text,
                                  .key_len = (uint32_t)strlen(text),
                                  .value = *pr_expanded_value(e->values, name)};
    }
    *ret = (struct pr_value){
        .kind = PR_MAP, .len = e->params->count, .members = m};
    return PR_OK;
}

/* What every job of a walk shares. */
struct jobs {
    struct pr_plan *plan;
    struct pr_frameworks *frameworks;
    struct pr_arena *arena; /* of one job */
    pr_each_job *each;
    void *ctx;
};

static int plan_jobs_call_each(struct jobs *j, const struct pr_experiment *e,
                               struct pr_err *err)
{
    struct pr_value params;
    struct pr_job job;
    int rc;

    pr_arena_reset(j->arena);
    rc = params_map(j->plan, e, j->arena, &params, err);
    if (!rc)
        rc = pr_job_init(&job, e->id, "", &params, j->arena, err);
    if (rc)
        return rc;
    job.frameworks = j->frameworks;
    job.names = pr_plan_names(j->plan);
    job.settings = e->params;
    job.values = e->values;
    return j->each(j->ctx, &job, err);
}

int pr_plan_each_job(struct pr_plan *p, const char *workload, pr_each_job *each,
                     void *ctx, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct jobs j = {p, pr_frameworks_new(), a, each, ctx};
    struct pr_walk *w = a && j.frameworks ? pr_walk_new(p) : NULL;
    struct pr_experiment e;
    int rc = w ? PR_OK : pr_fail_nomem(err);

    if (!rc && workload)
        pr_walk_only(w, "exp.workload", workload);
    while (!rc && (rc = pr_walk_next(w, &e, err)) == 1)
        rc = plan_jobs_call_each(&j, &e, err);
    pr_walk_free(w);
    pr_frameworks_free(j.frameworks);
    return rc;
}
