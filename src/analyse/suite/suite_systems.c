/*
 * Results of a GPU system in Lambda's layout as a suite: a task is a test,
 * named as its folder, PyTorch_SSD_FP32, as in our own runs of it; its logs
 * are the runs. A system has whole GPUs to itself, so a suite is of one.
 */
#include "analyse/gather_stat.h"
#include "analyse/suite/suite_impl.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tree {
    struct pr_suite_build *w;
    const char *dir, *system; /* where the systems are, and which */
    struct pr_gpu_tasks tasks;
    struct pr_systems systems;
    struct pr_suite_item *items;
    size_t count, cap;
};

/* ---- which system */

/* A system's own folder: the one above it is the tree. */
static int split_system_path(struct tree *t, struct pr_err *err)
{
    const char *path = t->w->suite.path;
    char whole[PATH_MAX], *slash;

    if (!pr_gpu_systems_is_system(path)) {
        t->dir = path;
        return PR_OK;
    }
    if (!realpath(path, whole))
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    slash = strrchr(whole, '/');
    t->system = pr_arena_str(t->w->arena, slash + 1);
    slash[slash == whole] = '\0';
    t->dir = pr_arena_str(t->w->arena, whole);
    return t->dir && t->system ? PR_OK : pr_fail_nomem(err);
}

/* The row with tasks; of several none can be chosen for the user. */
static int choose_system_row(struct tree *t, const struct pr_gpu_systems *g,
                             bool named, const struct pr_gpu_systems_row **ret,
                             struct pr_err *err)
{
    const char *first = NULL, *second = NULL;
    size_t n = 0;

    *ret = NULL;
    for (size_t i = 0; i < g->count; i++) {
        if (!g->rows[i].count && !(named && g->count == 1))
            continue;
        *ret = &g->rows[i];
        if (t->system && strcmp(g->rows[i].folder, t->system) == 0)
            return PR_OK; /* whatever else has it for a name */
        if (n == 0)
            first = g->rows[i].folder;
        else if (n == 1)
            second = g->rows[i].folder;
        n++;
    }
    if (n < 2)
        return PR_OK;
    pr_fail(err, PR_E_USAGE, t->w->suite.path,
            "%zu systems are in it, and a score is of one", n);
    return pr_hint(err,
                   "pick one with --system NAME, or name its folder: '%s/%s', "
                   "'%s/%s'%s",
                   t->w->suite.path, first, t->w->suite.path, second,
                   n > 2 ? ", …" : "");
}

/* ---- runs */

static const char *what_failed(const struct pr_gpu_task_reading *r)
{
    return *r->words ? r->words : pr_gpu_task_end_words(r->end);
}

static int add_log_run(struct tree *t, const struct pr_gpu_systems_row *row,
                       const struct pr_gpu_systems_cell *c, size_t at)
{
    struct pr_arena *a = t->w->arena;
    const struct pr_gpu_task_reading *r = &c->logs[at].reading;
    struct pr_suite_item *items =
        pr_arena_grow(a, t->items, t->count, &t->cap, sizeof *items);
    struct pr_suite_rate *rate = PR_ARENA_NEW(a, struct pr_suite_rate);
    struct pr_suite_child run = {.total = (double)NAN, .good = r->printed > 0};

    if (!items || !rate)
        return PR_E_NOMEM;
    t->items = items;
    run.path = pr_arena_printf(a, "%s/%s/%s/%s", t->dir, row->folder, c->name,
                               c->logs[at].file);
    run.job_id = pr_arena_printf(a, "%zu", at);
    if (!run.path || !run.job_id)
        return PR_E_NOMEM;
    if (run.good) {
        *rate = (struct pr_suite_rate){.rate = r->value, .std = (double)NAN};
        run.rates = rate;
        run.rate_count = 1;
    } else {
        run.error = what_failed(r);
    }
    items[t->count++] =
        (struct pr_suite_item){.path = run.path, .group = c->name, .run = run};
    return PR_OK;
}

/* One figure of ten times too much would carry the whole score. */
static int warn_implausible(struct tree *t,
                            const struct pr_gpu_systems_row *row,
                            const struct pr_gpu_systems_cell *c,
                            struct pr_err *err)
{
    struct pr_gpu_systems_stat s;
    struct pr_err e;

    pr_gpu_systems_compute_stat(row, c, &s);
    if (!(s.flags & PR_GPU_SYSTEMS_IMPLAUSIBLE))
        return PR_OK;
    pr_fail(&e, PR_E_FORMAT, c->name,
            "%.5g %s are implausible, and count in the score", s.max,
            c->task->unit);
    return pr_suite_add_warning(t->w, &e, err);
}

static int add_system(struct tree *t, const struct pr_gpu_systems_row *row,
                      struct pr_err *err)
{
    int rc = PR_OK;

    t->w->suite.host.name = row->name;
    t->w->suite.host.gpus = row->gpus > 0 ? (uint64_t)row->gpus : 0;
    for (size_t i = 0; !rc && i < row->count; i++) {
        const struct pr_gpu_systems_cell *c = &row->cells[i];

        t->w->suite.files += c->count;
        for (size_t k = 0; !rc && k < c->count; k++)
            rc = add_log_run(t, row, c, k) ? pr_fail_nomem(err) : PR_OK;
        if (!rc)
            rc = warn_implausible(t, row, c, err);
    }
    return rc;
}

int pr_suite_read_systems(struct pr_suite_build *w,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err)
{
    struct tree t = {.w = w, .system = opts->system};
    struct pr_gpu_systems_opts how = {.tasks = &t.tasks,
                                      .systems = &t.systems,
                                      .precision = PR_GPU_SYSTEMS_BOTH,
                                      .full = true,
                                      .threads = opts->threads};
    const struct pr_gpu_systems_row *row = NULL;
    struct pr_gpu_systems g;
    int rc = split_system_path(&t, err);

    if (!rc)
        rc = pr_gpu_tasks_load(w->arena, &t.tasks, err);
    if (!rc)
        rc = pr_systems_load(&t.systems, w->arena, err);
    how.system = t.system ? t.system : "all";
    if (!rc)
        rc = pr_gpu_systems_read(t.dir, &how, w->arena, &g, err);
    if (!rc)
        rc = choose_system_row(&t, &g, t.system != NULL, &row, err);
    if (!rc && row)
        rc = add_system(&t, row, err);
    return rc ? rc : pr_suite_group_runs(w, t.items, t.count, err);
}
