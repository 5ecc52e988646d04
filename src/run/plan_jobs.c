/* Walking a plan as jobs: each of them, their cost, their data sets. */
#include "run/plan_jobs.h"

#include "run/validate/validate.h"

#include <stdio.h>
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

/* ---- what a plan will cost, and whether it can be run */

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

/* ---- data sets */

struct search {
    struct pr_arena *arena;
    struct pr_plan_dataset *first, **end;
};

static bool plan_datasets_is_same_place(const struct pr_plan_dataset *a,
                                        const struct pr_plan_dataset *b)
{
    bool absolute = a->set.folder[0] == '/';

    return strcmp(a->set.folder, b->set.folder) == 0 &&
           (absolute ||
            strcmp(a->storage.storage_root, b->storage.storage_root) == 0);
}

/* 1: the set is in the list already. */
static int plan_datasets_find(const struct search *s,
                              const struct pr_plan_dataset *d,
                              struct pr_err *err)
{
    const struct pr_plan_dataset *other = s->first;
    const char *name;

    while (other && !plan_datasets_is_same_place(other, d))
        other = other->next;
    if (!other)
        return 0;
    if (pr_generate_is_same(&other->set, &d->set, &name))
        return 1;
    pr_fail(err, PR_E_CONF, d->id,
            "its data set is in the folder of experiment %s, but dataset.%s "
            "differs",
            other->id, name);
    return pr_hint(err,
                   "make dataset.data_folder differ, for example by "
                   "data/${dataset.%s}",
                   name);
}

static int plan_datasets_add(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct search *s = ctx;
    struct pr_plan_dataset *d = PR_ARENA_NEW(s->arena, struct pr_plan_dataset);
    struct pr_value params;
    int rc;

    if (!d || !pr_value_copy(s->arena, job->params, &params))
        return pr_fail_nomem(err);
    d->later = !pr_job_needs_sync(job->params);
    snprintf(d->id, sizeof d->id, "%s", job->id);
    rc = pr_dataset_init(&d->set, &params, s->arena, err);
    if (!rc)
        rc = pr_storage_read_opts(&params, s->arena, &d->storage, err);
    if (!rc)
        rc = plan_datasets_find(s, d, err);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        *s->end = d;
        s->end = &d->next;
    }
    return PR_OK;
}

int pr_plan_datasets(struct pr_plan *p, struct pr_arena *a,
                     struct pr_plan_dataset **ret, struct pr_err *err)
{
    struct search s = {.arena = a};
    int rc;

    s.end = &s.first;
    rc = pr_plan_each_job(p, NULL, plan_datasets_add, &s, err);
    if (!rc)
        *ret = s.first;
    return rc;
}
