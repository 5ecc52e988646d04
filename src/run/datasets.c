/* The data sets of a plan. */
#include "run/datasets.h"

#include "run/jobs.h"

#include <stdio.h>
#include <string.h>

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
