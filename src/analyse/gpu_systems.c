/*
 * Which systems and tasks a folder of Lambda's layout has, the threads that
 * read their logs, and what the logs of a cell say together.
 */
#include "analyse/gpu_systems.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- mean, spread and doubts */

static void stat_add_reading(struct pr_gpu_systems_stat *s,
                             const struct pr_gpu_task_reading *r)
{
    if (r->printed <= 0) {
        if (!s->failed++) {
            s->why = r->end;
            s->words = r->words;
        }
        return;
    }
    s->n++;
    s->mean += r->value;
    s->printed += r->printed;
    s->min = s->n == 1 || r->value < s->min ? r->value : s->min;
    s->max = s->n == 1 || r->value > s->max ? r->value : s->max;
    if (!r->done)
        s->flags |= PR_GPU_SYSTEMS_NO_DONE;
}

static void stat_set_spread(struct pr_gpu_systems_stat *s,
                            const struct pr_gpu_systems_cell *c)
{
    double squares = 0;

    s->deviation = NAN;
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_gpu_task_reading *r = &c->logs[i].reading;
        if (r->printed > 0)
            squares += (r->value - s->mean) * (r->value - s->mean);
    }
    if (s->n > 1)
        s->deviation = sqrt(squares / (double)(s->n - 1));
    if (s->n > 1 && s->max - s->min >= 0.1 * s->mean)
        s->flags |= PR_GPU_SYSTEMS_SPREAD;
}

static double divide_by_gpus(double value, const struct pr_value *one, int gpus)
{
    return pr_value_is_number(one) && pr_value_number(one) > 0
               ? value / (pr_value_number(one) * gpus)
               : NAN;
}

void pr_gpu_systems_compute_stat(const struct pr_gpu_systems_row *row,
                                 const struct pr_gpu_systems_cell *cell,
                                 struct pr_gpu_systems_stat *ret)
{
    struct pr_gpu_systems_stat s = {.words = ""};
    int gpus = cell->para.has_gpus && cell->para.gpus > 0 ? (int)cell->para.gpus
                                                          : row->gpus;

    for (size_t i = 0; i < cell->count; i++)
        stat_add_reading(&s, &cell->logs[i].reading);
    s.per_dollar = s.per_watt = s.deviation = NAN;
    if (s.n) {
        s.mean /= (double)s.n;
        s.printed /= (double)s.n;
        stat_set_spread(&s, cell);
        if (fabs(s.mean - s.printed) > 0.02 * s.mean)
            s.flags |= PR_GPU_SYSTEMS_CORRECTED;
        if (cell->task->most > 0 && s.max > cell->task->most * gpus)
            s.flags |= PR_GPU_SYSTEMS_IMPLAUSIBLE;
        if (row->system) {
            s.per_dollar =
                divide_by_gpus(s.mean, &row->system->price, row->gpus);
            s.per_watt = divide_by_gpus(s.mean, &row->system->watt, row->gpus);
        }
    }
    *ret = s;
}

/* A run directory of ours holds results in this layout, too. */
static bool is_own_experiments(int at, const char *name)
{
    return strcmp(name, "experiments") == 0 &&
           faccessat(at, "plan.json", F_OK, 0) == 0;
}

static bool is_system_folder(int at, const struct dirent *e)
{
    return pr_entry_is_folder(at, e) && !is_own_experiments(at, e->d_name);
}

static bool is_task_folder(int at, const struct dirent *e)
{
    return pr_text_starts_with(e->d_name, "PyTorch_") &&
           pr_entry_is_folder(at, e);
}

/* The system's folders below a results folder, sorted. In the arena. */
static int gpu_systems_list_folders(const char *dir, struct pr_arena *a,
                                    const char ***ret, size_t *ret_count,
                                    struct pr_err *err)
{
    return pr_folder_names(dir, is_system_folder, a, ret, ret_count, err);
}

bool pr_gpu_systems_is_tree(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char **systems, **tasks;
    size_t n = 0, k = 0;

    if (!a || gpu_systems_list_folders(dir, a, &systems, &n, NULL))
        return false;
    for (size_t i = 0; i < n && !k; i++) {
        const char *path = pr_arena_printf(a, "%s/%s", dir, systems[i]);
        if (!path || pr_folder_names(path, is_task_folder, a, &tasks, &k, NULL))
            k = 0;
    }
    return k > 0;
}

bool pr_gpu_systems_is_system(const char *dir)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char **tasks;
    size_t n = 0;

    return a && !pr_folder_names(dir, is_task_folder, a, &tasks, &n, NULL) &&
           n > 0;
}

int pr_gpu_systems_find_dialect(const char *dir,
                                const struct pr_systems *systems,
                                enum pr_gpu_task_dialect_kind *ret,
                                struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char **names;
    size_t n = 0;
    int rc = a ? gpu_systems_list_folders(dir, a, &names, &n, err)
               : pr_fail_nomem(err);

    *ret = PR_GPU_TASK_V2;
    for (size_t i = 0; !rc && i < n; i++) {
        const struct pr_system *s = pr_system_find(systems, names[i]);
        if (s) {
            *ret = s->dialect;
            break;
        }
    }
    return rc;
}

/* ---- cells */

static int add_cell(struct pr_gpu_systems_row *row, struct pr_arena *a,
                    const struct pr_gpu_task *task, const char *name,
                    struct pr_err *err)
{
    struct pr_gpu_systems_cell *cells =
        pr_arena_grow(a, row->cells, row->count, &row->cap, sizeof *cells);

    if (!cells || !name)
        return pr_fail_nomem(err);
    row->cells = cells;
    cells[row->count++] =
        (struct pr_gpu_systems_cell){.task = task, .name = name};
    return PR_OK;
}

/* The columns of a dialect. */
static int add_columns(struct pr_gpu_systems_row *row, struct pr_arena *a,
                       const struct pr_gpu_systems_opts *o, struct pr_err *err)
{
    const struct pr_gpu_task_dialect *d = &o->tasks->dialects[o->dialect];
    enum pr_gpu_task_age age = row->system && row->system->age >= 0
                                   ? (enum pr_gpu_task_age)row->system->age
                                   : d->rules;
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < d->count; i++) {
        const struct pr_gpu_task *t = d->columns[i];
        const char *precision =
            o->precision == PR_GPU_SYSTEMS_FP32 ? "FP32" : t->half[age];

        rc = add_cell(row, a, t,
                      pr_arena_printf(a, "PyTorch_%s_%s", t->name, precision),
                      err);
        if (!rc && t->rules[age].text)
            row->cells[row->count - 1].rule = &t->rules[age];
    }
    return rc;
}

static bool is_precision(const char *name, enum pr_gpu_systems_precision p)
{
    bool full = strcmp(pr_gpu_task_precision(name), "fp32") == 0;

    return p == PR_GPU_SYSTEMS_BOTH || full == (p == PR_GPU_SYSTEMS_FP32);
}

/* Whatever tasks the folder has. */
static int add_found(struct pr_gpu_systems_row *row, const char *dir,
                     struct pr_arena *a, const struct pr_gpu_systems_opts *o,
                     struct pr_err *err)
{
    const char *path = pr_arena_printf(a, "%s/%s", dir, row->folder), **names;
    size_t n = 0;
    int rc = path ? pr_folder_names(path, is_task_folder, a, &names, &n, err)
                  : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < n; i++) {
        const struct pr_gpu_task *t = pr_gpu_task_find(o->tasks, names[i]);
        if (t && is_precision(names[i], o->precision))
            rc = add_cell(row, a, t, names[i], err);
    }
    return rc;
}

/* ---- rows */

static int gpu_systems_add_row(struct pr_gpu_systems *g, struct pr_arena *a,
                               const char *folder, const struct pr_system *s,
                               struct pr_err *err)
{
    struct pr_gpu_systems_row *rows =
        pr_arena_grow(a, g->rows, g->count, &g->cap, sizeof *rows);

    if (!rows)
        return pr_fail_nomem(err);
    g->rows = rows;
    rows[g->count++] = (struct pr_gpu_systems_row){
        .folder = folder,
        .name = s ? s->name : folder,
        .system = s,
        .gpus = s ? s->gpus : pr_system_gpus(folder),
    };
    return PR_OK;
}

static bool is_system_wanted(const char *what, const char *folder,
                             const char *name, int gpus)
{
    if (strcmp(what, "all") == 0)
        return true;
    if (strcmp(what, "single") == 0)
        return gpus == 1;
    if (strcmp(what, "multiple") == 0)
        return gpus > 1;
    return strcmp(what, folder) == 0 || strcmp(what, name) == 0;
}

static int add_listed(struct pr_gpu_systems *g, struct pr_arena *a,
                      const struct pr_gpu_systems_opts *o, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < o->systems->count; i++) {
        const struct pr_system *s = &o->systems->items[i];
        if (s->dialect == o->dialect &&
            is_system_wanted(o->system, s->folder, s->name, s->gpus))
            rc = gpu_systems_add_row(g, a, s->folder, s, err);
    }
    return rc;
}

static int add_folders(struct pr_gpu_systems *g, struct pr_arena *a,
                       const struct pr_gpu_systems_opts *o, struct pr_err *err)
{
    const char **names;
    size_t n = 0;
    int rc = gpu_systems_list_folders(g->dir, a, &names, &n, err);

    for (size_t i = 0; !rc && i < n; i++) {
        const struct pr_system *s = pr_system_find(o->systems, names[i]);
        if (!is_system_wanted(o->system, names[i], s ? s->name : names[i],
                              s ? s->gpus : pr_system_gpus(names[i])))
            continue;
        rc = gpu_systems_add_row(g, a, names[i], s, err);
        if (!rc && !o->full) /* tables of folders have their names */
            g->rows[g->count - 1].name = names[i];
    }
    return rc;
}

static int no_such_system(const struct pr_gpu_systems *g,
                          const struct pr_gpu_systems_opts *o,
                          struct pr_arena *a, struct pr_err *err)
{
    const char **names = NULL;
    size_t n = 0;
    struct pr_nearest near;

    if (gpu_systems_list_folders(g->dir, a, &names, &n, NULL))
        n = 0;
    pr_nearest_init(&near, o->system);
    for (size_t i = 0; i < n; i++)
        pr_nearest_offer(&near, names[i]);
    for (size_t i = 0; i < o->systems->count; i++)
        pr_nearest_offer(&near, o->systems->items[i].folder);
    pr_fail(err, PR_E_USAGE, g->dir, "no system is called '%s'", o->system);
    if (near.best)
        return pr_hint(err, "did you mean '%s'?", near.best);
    return pr_hint(err, "all, single, multiple, or the name of a folder in it");
}

/* Tables of the first two kinds have the systems of a list, those of the third
 * and the full one the folders there are. */
static int gpu_systems_add_rows(struct pr_gpu_systems *g, struct pr_arena *a,
                                const struct pr_gpu_systems_opts *o,
                                struct pr_err *err)
{
    bool listed = !o->full && o->dialect != PR_GPU_TASK_V2;
    int rc = listed ? add_listed(g, a, o, err) : PR_OK;

    if (!rc && !g->count)
        rc = add_folders(g, a, o, err);
    if (!rc && !g->count && strcmp(o->system, "all") != 0 &&
        strcmp(o->system, "single") != 0 && strcmp(o->system, "multiple") != 0)
        return no_such_system(g, o, a, err);
    for (size_t i = 0; !rc && i < g->count; i++)
        rc = o->full ? add_found(&g->rows[i], g->dir, a, o, err)
                     : add_columns(&g->rows[i], a, o, err);
    return rc;
}

/* ---- threads */

static int find_logs(struct pr_gpu_systems_work *w, struct pr_gpu_systems *g,
                     struct pr_arena *a, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < g->count; i++)
        for (size_t k = 0; !rc && k < g->rows[i].count; k++)
            rc = pr_gpu_systems_find_logs(w, &g->rows[i], &g->rows[i].cells[k],
                                          a, err);
    return rc;
}

static int gpu_systems_read_all(struct pr_gpu_systems_work *w,
                                struct pr_err *err)
{
    pthread_t threads[PR_GPU_SYSTEMS_MAX_THREADS];
    long want = w->opts->threads ? (long)w->opts->threads
                                 : sysconf(_SC_NPROCESSORS_ONLN);
    unsigned started = 0;

    if (want > PR_GPU_SYSTEMS_MAX_THREADS)
        want = PR_GPU_SYSTEMS_MAX_THREADS;
    while ((long)started + 1 < want && started + 1 < w->count &&
           pthread_create(&threads[started], NULL, pr_gpu_systems_read_logs,
                          w) == 0)
        started++;
    (void)pr_gpu_systems_read_logs(w); /* does all where no thread can be had */
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return w->failed ? pr_fail_nomem(err) : PR_OK;
}

static void gpu_systems_count_logs(struct pr_gpu_systems *g, bool full)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->rows[i].count; k++) {
            const struct pr_gpu_systems_cell *c = &g->rows[i].cells[k];

            g->logs += c->count;
            for (size_t j = 0; j < c->count; j++)
                g->found += full ? c->logs[j].reading.printed > 0
                                 : c->logs[j].value > 0;
        }
}

int pr_gpu_systems_read(const char *dir, const struct pr_gpu_systems_opts *opts,
                        struct pr_arena *a, struct pr_gpu_systems *ret,
                        struct pr_err *err)
{
    struct pr_gpu_systems g = {.dir = dir};
    struct pr_gpu_systems_work w = {.dir = dir, .opts = opts};
    struct stat st;
    int rc = PR_OK;

    if (stat(dir, &st) < 0)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    if (!S_ISDIR(st.st_mode))
        return pr_fail(err, PR_E_IO, dir, "is not a folder");
    rc = gpu_systems_add_rows(&g, a, opts, err);
    if (!rc)
        rc = find_logs(&w, &g, a, err);
    if (!rc)
        rc = gpu_systems_read_all(&w, err);
    if (rc)
        return rc;
    g.bytes = w.bytes;
    gpu_systems_count_logs(&g, opts->full);
    *ret = g;
    return PR_OK;
}
