/* What systems/lambda-tasks.yaml says of the data of a plan's tasks. */
#include "run/task_data.h"

#include "base/file.h"
#include "run/jobs.h"

#include <stdio.h>
#include <string.h>

enum { STOP = 1 }; /* the plan is not about tasks */

struct search {
    struct pr_arena *arena;
    struct pr_gpu_tasks tasks;
    bool any;
    struct pr_task_need *first, **end;
};

static bool holds_something(const char *path, struct pr_arena *a)
{
    const char **names;
    size_t n = 0;

    return !pr_folder_names(path, NULL, a, &names, &n, NULL) && n > 0;
}

/* ---- sets that are made */

/* The job's parameters with what makes the set over them. */
static int task_data_merge_params(const struct pr_value *old,
                                  const struct pr_gpu_dataset *d,
                                  struct pr_arena *a, struct pr_value *ret)
{
    struct pr_member *members =
        PR_ARENA_ARRAY(a, struct pr_member, old->len + d->make->len + 1);
    uint32_t n = 0;

    if (!members)
        return PR_E_NOMEM;
    for (uint32_t i = 0; i < old->len; i++)
        if (strcmp(old->members[i].key, "dataset.data_folder") != 0 &&
            !pr_get(d->make, old->members[i].key))
            members[n++] = old->members[i];
    for (uint32_t i = 0; i < d->make->len; i++)
        members[n++] = d->make->members[i];
    members[n++] = (struct pr_member){.key = "dataset.data_folder",
                                      .key_len = 19,
                                      .value = pr_str(d->folder)};
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return PR_OK;
}

static int task_data_make_set(struct search *s, const struct pr_job *job,
                              struct pr_task_need *need, struct pr_err *err)
{
    struct pr_plan_dataset *d = PR_ARENA_NEW(s->arena, struct pr_plan_dataset);
    struct pr_value all, params;
    int rc;

    if (!d ||
        task_data_merge_params(job->params, need->data, job->arena, &all) ||
        !pr_value_copy(s->arena, &all, &params))
        return pr_fail_nomem(err);
    snprintf(d->id, sizeof d->id, "%s", job->id);
    rc = pr_dataset_init(&d->set, &params, s->arena, err);
    if (!rc)
        rc = pr_storage_read_opts(&params, s->arena, &d->storage, err);
    need->set = d;
    return rc;
}

/* ---- needs */

static int task_data_add_need(struct search *s, const struct pr_job *job,
                              const struct pr_gpu_dataset *data,
                              const char *task, struct pr_err *err)
{
    struct pr_task_need *n = PR_ARENA_NEW(s->arena, struct pr_task_need);
    const struct pr_value *v = pr_get(job->params, "storage.storage_root");
    const char *root = v && v->kind == PR_STR && v->len ? v->s : ".";
    bool slash = root[strlen(root) - 1] == '/';

    if (!n)
        return pr_fail_nomem(err);
    n->data = data;
    n->path = pr_arena_printf(s->arena, "%s%s%s", root, slash ? "" : "/",
                              data->folder);
    n->tasks = pr_arena_str(s->arena, task);
    if (!n->path || !n->tasks)
        return pr_fail_nomem(err);
    n->there = holds_something(n->path, s->arena);
    *s->end = n;
    s->end = &n->next;
    return data->make ? task_data_make_set(s, job, n, err) : PR_OK;
}

/* Whether a list of words with ", " between has one. */
static bool task_data_has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; len && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
            return true;
    return false;
}

static int task_data_merge_need(struct search *s, const struct pr_job *job,
                                const struct pr_gpu_dataset *data,
                                const char *task, struct pr_err *err)
{
    struct pr_task_need *n = s->first;

    while (n && n->data != data)
        n = n->next;
    if (!n)
        return task_data_add_need(s, job, data, task, err);
    if (task_data_has_word(n->tasks, task))
        return PR_OK;
    n->tasks = pr_arena_printf(s->arena, "%s, %s", n->tasks, task);
    return n->tasks ? PR_OK : pr_fail_nomem(err);
}

/* Without a command it is the native equivalent, which makes up its data where
 * none of ours is there. */
static bool task_data_has_command(const struct pr_job *job)
{
    const struct pr_value *v = pr_get(job->params, "exp.command");

    return v && (v->kind == PR_LIST || v->kind == PR_STR) && v->len > 0;
}

static int task_data_add_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct search *s = ctx;
    const struct pr_value *name = pr_get(job->params, "task.name");
    const struct pr_gpu_task *task;
    int rc = PR_OK;

    if (!name || name->kind != PR_STR || !name->len)
        return s->any ? PR_OK : STOP;
    if (!s->any)
        rc = pr_gpu_tasks_load(s->arena, &s->tasks, err);
    s->any = true;
    task = rc ? NULL : pr_gpu_task_find(&s->tasks, name->s);
    for (size_t i = 0; task && !rc && i < task->data_count; i++)
        if (task->data[i]->make || task_data_has_command(job))
            rc = task_data_merge_need(s, job, task->data[i], name->s, err);
    return rc;
}

int pr_plan_task_data(struct pr_plan *p, struct pr_arena *a, bool *ret_tasks,
                      struct pr_task_need **ret, struct pr_err *err)
{
    struct search s = {.arena = a};
    int rc;

    s.end = &s.first;
    rc = pr_plan_each_job(p, NULL, task_data_add_job, &s, err);
    *ret_tasks = s.any;
    *ret = s.first;
    return rc == STOP ? PR_OK : rc;
}
