/*
 * Where suites come from: run directories of ours, results of GPU systems, and
 * folders of result files.
 */
#include "analyse/gpu_systems.h"
#include "analyse/run/run_data.h"
#include "analyse/suite/suite_impl.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a run directory */

/*
 * Repeats of an experiment are the runs of a test, its throughput is the rate.
 * A test is named after exp.name; where a name stands for several experiments
 * of a repeat, their places are appended.
 */

struct list {
    struct pr_suite_build *w;
    struct pr_suite_item *items;
    uint32_t *places; /* among those of a name, in a repeat */
    size_t count, cap, place_cap;
    int64_t repeat;        /* the one being read … */
    struct pr_keyset seen; /* … and the names in it */
    struct seen {
        const char *name;
        uint32_t count;
    } * names;
    size_t name_count, name_cap;
};

static int suite_keep_text(struct list *l, const char *s, const char **ret)
{
    *ret = s ? pr_arena_str(l->w->arena, s) : NULL;
    return s && !*ret ? PR_E_NOMEM : PR_OK;
}

/* The rate of an experiment that has one. */
static int set_rate(struct list *l, struct pr_suite_child *run,
                    const struct pr_value *results)
{
    const struct pr_value *v = results ? pr_get(results, "throughput") : NULL;
    const struct pr_value *std =
        results ? pr_get(results, "throughput_std") : NULL;
    struct pr_suite_rate *rate;

    if (!v || !pr_value_is_number(v))
        return PR_OK;
    rate = PR_ARENA_NEW(l->w->arena, struct pr_suite_rate);
    if (!rate)
        return PR_E_NOMEM;
    rate->rate = pr_value_number(v);
    rate->std =
        std && pr_value_is_number(std) ? pr_value_number(std) : (double)NAN;
    run->rates = rate;
    run->rate_count = 1;
    return PR_OK;
}

static int suite_fill_item(struct list *l, struct pr_suite_item *item,
                           const struct pr_run_data_row *row)
{
    const struct pr_value *result = row->result;
    const struct pr_value *device = pr_get(row->params, "exp.device");
    const char *status = pr_text_at(result, "status", NULL);
    const char *name = pr_text_at(row->params, "exp.name", NULL);
    int rc = suite_keep_text(l, name && *name ? name : row->id, &item->group);

    item->run = (struct pr_suite_child){
        .total = (double)NAN, .good = status && strcmp(status, "ok") == 0};
    if (!rc)
        rc = suite_keep_text(l, pr_text_at(result, "started", NULL),
                             &item->run.started);
    if (!rc)
        rc = suite_keep_text(l, pr_text_at(result, "reason", NULL),
                             &item->run.error);
    if (!rc && device && device->kind == PR_STR)
        rc = suite_keep_text(l, device->s, &item->run.device);
    item->run.path =
        pr_arena_printf(l->w->arena, "%s/experiments/%s/result.json",
                        l->w->suite.path, row->id);
    item->run.job_id =
        pr_arena_printf(l->w->arena, "%lld", (long long)row->repeat - 1);
    if (!rc && (!item->run.path || !item->run.job_id))
        rc = PR_E_NOMEM;
    item->path = item->run.path;
    return rc ? rc
              : set_rate(l, &item->run,
                         result ? pr_get(result, "results") : NULL);
}

/* How many of this name came before it in its repeat. */
static int find_place_in_repeat(struct list *l, const char *name,
                                int64_t repeat, uint32_t *ret)
{
    uint32_t at;
    int rc;

    if (repeat != l->repeat) {
        pr_keyset_free(&l->seen);
        l->name_count = 0;
        l->repeat = repeat;
    }
    at = (uint32_t)l->name_count;
    rc = pr_keyset_put(&l->seen, name, (uint32_t)strlen(name), at, &at);
    if (!rc) {
        struct seen *names = pr_arena_grow(l->w->arena, l->names, l->name_count,
                                           &l->name_cap, sizeof *names);
        if (!names)
            return PR_E_NOMEM;
        l->names = names;
        names[l->name_count++] = (struct seen){.name = name};
    }
    if (rc < 0)
        return rc;
    *ret = l->names[at].count++;
    return PR_OK;
}

/* Repeats that a config of Lambda's asks for are told by task.repeat alone. */
static int64_t number_repeat(const struct pr_run_data_row *row)
{
    enum { MOST = 100000 }; /* more than a config may ask for */
    const struct pr_value *v = pr_get(row->params, "task.repeat");

    return row->repeat * MOST + (v && v->kind == PR_INT ? v->i % MOST : 0);
}

/* What has no result yet does not count: the run may be going on. Its place
 * does. */
static int suite_add_item(struct list *l, const struct pr_run_data_row *row)
{
    struct pr_suite_item *items =
        pr_arena_grow(l->w->arena, l->items, l->count, &l->cap, sizeof *items);
    uint32_t *places = pr_arena_grow(l->w->arena, l->places, l->count,
                                     &l->place_cap, sizeof *places);
    int rc;

    if (items)
        l->items = items;
    if (places)
        l->places = places;
    if (!items || !places)
        return PR_E_NOMEM;
    items[l->count] = (struct pr_suite_item){0};
    rc = suite_fill_item(l, &items[l->count], row);
    if (!rc)
        rc = find_place_in_repeat(l, items[l->count].group, number_repeat(row),
                                  &places[l->count]);
    if (rc)
        return rc;
    l->count += row->result != NULL;
    return PR_OK;
}

/* Names that stand for several get the place appended. */
static int append_places(struct list *l)
{
    struct pr_keyset names = {0};
    bool *several = PR_ARENA_ARRAY(l->w->arena, bool, l->count);
    uint32_t *first = PR_ARENA_ARRAY(l->w->arena, uint32_t, l->count);
    int rc = several && first ? PR_OK : PR_E_NOMEM;

    for (size_t i = 0; rc >= 0 && i < l->count; i++) {
        const char *name = l->items[i].group;
        uint32_t at = (uint32_t)i;
        rc = pr_keyset_put(&names, name, (uint32_t)strlen(name), at, &at);
        first[i] = at;
        several[at] |= l->places[i] > 0;
    }
    pr_keyset_free(&names);
    for (size_t i = 0; rc >= 0 && i < l->count; i++) {
        if (!several[first[i]])
            continue;
        l->items[i].group = pr_arena_printf(
            l->w->arena, "%s.%u", l->items[i].group, l->places[i] + 1);
        rc = l->items[i].group ? PR_OK : PR_E_NOMEM;
    }
    return rc < 0 ? rc : PR_OK;
}

int pr_suite_read_run(struct pr_suite_build *w, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct list l = {.w = w, .repeat = -1};
    struct pr_run_data *d;
    struct pr_run_data_row row;
    struct pr_err bad;
    int rc = a ? pr_run_data_open(w->suite.path, &d, err) : pr_fail_nomem(err);

    if (rc)
        return rc;
    while ((rc = pr_run_data_next(d, a, &row, &bad, err)) == 1) {
        w->suite.files++;
        rc = bad.code ? pr_suite_add_bad_file(w, &bad, err) : PR_OK;
        if (!rc && suite_add_item(&l, &row))
            rc = pr_fail_nomem(err);
        if (rc)
            break;
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    pr_keyset_free(&l.seen);
    if (!rc && append_places(&l))
        rc = pr_fail_nomem(err);
    return rc ? rc : pr_suite_group_runs(w, l.items, l.count, err);
}

/* ---- a GPU system */

/*
 * Of results in Lambda's layout a task is a test, named as its folder,
 * PyTorch_SSD_FP32, as in our own runs of it; its logs are the runs. A system
 * has whole GPUs to itself, so a suite is of one.
 */

struct tree {
    struct pr_suite_build *w;
    const char *dir, *system; /* where the systems are, and which */
    struct pr_gpu_tasks tasks;
    struct pr_systems systems;
    struct pr_suite_item *items;
    size_t count, cap;
};

/* ---- a GPU system: which */

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

/* ---- a GPU system: runs */

static int add_log_run(struct tree *t, const struct pr_gpu_systems_row *row,
                       const struct pr_gpu_systems_cell *c, size_t at)
{
    struct pr_arena *a = t->w->arena;
    const struct pr_gpu_task_reading *r = &c->logs[at].reading;
    struct pr_suite_item *item = PR_PUSH(a, t);
    struct pr_suite_rate *rate = PR_ARENA_NEW(a, struct pr_suite_rate);
    struct pr_suite_child run = {.total = (double)NAN, .good = r->printed > 0};

    if (!item || !rate)
        return PR_E_NOMEM;
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
        run.error = *r->words ? r->words : pr_gpu_task_end_words(r->end);
    }
    *item =
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

/* ---- a folder of result files */

enum { MAX_THREADS = 16, PER_THREAD = 64, PIECE = 65536 };

struct crew;

struct worker {
    struct crew *crew;
    struct pr_suite_reader reader;
    pthread_t thread;
    int rc;
    struct pr_err err;
};

struct crew {
    struct pr_suite_item *items;
    struct pr_err **bad; /* one for each file; NULL: it was fine */
    bool *skipped;
    size_t count;
    atomic_size_t next;
    atomic_bool stop;
    struct worker workers[MAX_THREADS];
    unsigned worker_count;
};

static int suite_reader_init(struct pr_suite_reader *r,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    *r = (struct pr_suite_reader){
        .keep = pr_arena_new(65536),
        .scratch = pr_arena_new(65536),
        .opts = opts,
        .text = PR_BUF_INIT((size_t)PR_SUITE_MAX_FILE + 2 * PIECE)};
    return r->keep && r->scratch ? PR_OK : pr_fail_nomem(err);
}

/* keep stays */
static void suite_reader_free(struct pr_suite_reader *r)
{
    pr_arena_free(r->scratch);
    r->scratch = NULL;
    pr_buf_free(&r->text);
}

/* A short read of what is a file, not a pipe, is its end. */
static int suite_read_fd(int fd, const char *path, struct pr_buf *text,
                         struct pr_err *err)
{
    size_t room;
    ssize_t n;

    do {
        if (text->len > PR_SUITE_MAX_FILE)
            return pr_fail(err, PR_E_FORMAT, path, "too large for a result");
        if (!pr_buf_reserve(text, PIECE))
            return pr_fail_nomem(err);
        room = text->cap - text->len - 1;
        n = read(fd, text->data + text->len, room);
        if (n < 0 && errno != EINTR)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        text->len += n > 0 ? (size_t)n : 0;
    } while (n < 0 || (size_t)n == room);
    return PR_OK;
}

/* 1, 0, or what is wrong with the file. */
static int suite_read_result_file(struct pr_suite_reader *r,
                                  struct pr_suite_item *item,
                                  struct pr_err *err)
{
    struct stat st;
    int fd = pr_file_open_in(r->root, item->path, &st, err);
    int rc;

    if (fd < 0)
        return fd;
    pr_buf_clear(&r->text);
    rc = suite_read_fd(fd, item->path, &r->text, err);
    close(fd);
    return rc ? rc
              : pr_milarun_result_read(r, r->text.data, r->text.len, item, err);
}

static int suite_read_item(struct worker *w, size_t i)
{
    struct crew *c = w->crew;
    struct pr_err e = {0};
    int rc = suite_read_result_file(&w->reader, &c->items[i], &e);

    if (rc == 1)
        return PR_OK;
    c->items[i].group = NULL;
    c->skipped[i] = rc == 0;
    if (!rc)
        return PR_OK;
    if (rc != PR_E_NOMEM) {
        c->bad[i] = pr_arena_alloc(w->reader.keep, sizeof e);
        if (c->bad[i]) {
            *c->bad[i] = e;
            return PR_OK;
        }
    }
    return pr_fail_nomem(&w->err);
}

static void *suite_run_worker(void *arg)
{
    struct worker *w = arg;
    struct crew *c = w->crew;
    size_t i;

    while (!w->rc && !c->stop && (i = c->next++) < c->count)
        w->rc = suite_read_item(w, i);
    if (w->rc)
        c->stop = true;
    return NULL;
}

static unsigned suite_count_threads(const struct pr_suite_read_opts *o,
                                    size_t files)
{
    long n = o->threads ? (long)o->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = files / PER_THREAD + 1;

    n = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
    return (size_t)n > most && !o->threads ? (unsigned)most : (unsigned)n;
}

/* The first worker is the caller; where no thread can be had it does all. */
static int suite_run_workers(struct pr_suite_build *w, struct crew *c,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    unsigned want = suite_count_threads(opts, c->count), started = 1;
    int rc = PR_OK;

    for (unsigned i = 0; !rc && i < want; i++) {
        struct worker *k = &c->workers[c->worker_count++];
        k->crew = c;
        rc = suite_reader_init(&k->reader, opts, err);
        k->reader.root = w->is_run ? w->suite.path : NULL;
        if (pr_suite_adopt_arena(w, k->reader.keep, rc ? NULL : err) && !rc) {
            k->reader.keep = NULL;
            rc = PR_E_NOMEM;
        }
    }
    if (rc)
        return rc;
    while (started < want &&
           pthread_create(&c->workers[started].thread, NULL, suite_run_worker,
                          &c->workers[started]) == 0)
        started++;
    suite_run_worker(&c->workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(c->workers[i].thread, NULL);
    for (unsigned i = 0; !rc && i < started; i++)
        if ((rc = c->workers[i].rc) && err)
            *err = c->workers[i].err;
    return rc;
}

static int count_up(struct pr_suite_build *w, const struct crew *c,
                    struct pr_err *err)
{
    int rc = PR_OK;

    w->suite.files = c->count;
    for (size_t i = 0; !rc && i < c->count; i++) {
        w->suite.skipped += c->skipped[i];
        if (c->bad[i])
            rc = pr_suite_add_bad_file(w, c->bad[i], err);
        if (!w->suite.host.name)
            w->suite.host.name = c->items[i].host;
        if (!w->suite.host.gpu)
            w->suite.host.gpu = c->items[i].gpu;
    }
    return rc;
}

static int suite_read_all(struct pr_suite_build *w,
                          const struct pr_suite_paths *f, struct pr_arena *a,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err)
{
    struct crew *c = PR_ARENA_NEW(a, struct crew);
    int rc;

    if (c) {
        c->count = f->count;
        c->items = PR_ARENA_ARRAY(w->arena, struct pr_suite_item, f->count);
        c->bad = PR_ARENA_ARRAY(a, struct pr_err *, f->count);
        c->skipped = PR_ARENA_ARRAY(a, bool, f->count);
    }
    if (!c || !c->items || !c->bad || !c->skipped)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < f->count; i++)
        c->items[i].path = f->list[i];
    rc = suite_run_workers(w, c, opts, err);
    for (unsigned i = 0; i < c->worker_count; i++)
        suite_reader_free(&c->workers[i].reader);
    if (!rc)
        rc = count_up(w, c, err);
    return rc ? rc : pr_suite_group_runs(w, c->items, c->count, err);
}

int pr_suite_read_results(struct pr_suite_build *w,
                          const struct pr_suite_paths *files,
                          const struct pr_suite_read_opts *opts,
                          struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);

    return a ? suite_read_all(w, files, a, opts, err) : pr_fail_nomem(err);
}
