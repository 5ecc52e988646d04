/*
 * What a path is, and the suite that is made of it: figures of its runs, which
 * become tests.
 */
#include "analyse/suite/suite.h"

#include "analyse/gpu_systems.h"
#include "analyse/suite/suite_impl.h"
#include "base/codec/archive.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- figures */

/*
 * They have the digits of numpy's: sums are taken in its order
 * (base/stats/statistics.h).
 */

void pr_suite_compute_stats(const double *v, size_t n,
                            struct pr_suite_stats *ret)
{
    double nan = (double)NAN;

    *ret = (struct pr_suite_stats){n, nan, nan, nan, nan};
    if (!n)
        return;
    ret->mean = pr_pairwise_mean(v, n);
    ret->std = pr_pairwise_std(v, n);
    ret->min = ret->max = v[0];
    for (size_t i = 1; i < n; i++) { /* NaN wins, as in numpy */
        if (!(v[i] >= ret->min))
            ret->min = isnan(ret->min) ? nan : v[i];
        if (!(v[i] <= ret->max))
            ret->max = isnan(ret->max) ? nan : v[i];
    }
}

int pr_suite_numbers_add(struct pr_suite_numbers *n, double d)
{
    if (n->count == n->cap) {
        size_t cap = n->cap ? n->cap * 2 : 64;
        double *v = pr_realloc(n->v, cap * sizeof *v);
        if (!v)
            return PR_E_NOMEM;
        n->v = v;
        n->cap = cap;
    }
    n->v[n->count++] = d;
    return PR_OK;
}

/* ---- slices */

const char *pr_suite_window_text(enum pr_suite_kind kind)
{
    switch (kind) {
    case PR_SUITE_RESULTS:
        return "slices [-20:-2] of each run";
    case PR_SUITE_MILABENCH:
        return "all rates but the lowest and the highest";
    case PR_SUITE_RUN:
        return "what each run reported";
    case PR_SUITE_SUMMARY:
    case PR_SUITE_SYSTEMS:
        break;
    }
    return NULL;
}

/* A full curve becomes one of half as many points. */
static void slices_halve_curve(struct pr_suite_slices *s)
{
    for (uint32_t i = 0; i < s->used / 2; i++)
        s->points[i] = (s->points[2 * i] + s->points[2 * i + 1]) / 2;
    s->used /= 2;
    s->each *= 2;
}

static void slices_add_point(struct pr_suite_slices *s, double rate)
{
    if (s->part && s->part < s->each) {
        double *last = &s->points[s->used - 1];
        *last += (rate - *last) / (s->part + 1);
        s->part++;
        return;
    }
    if (s->used == s->room)
        slices_halve_curve(s);
    s->points[s->used++] = rate;
    s->part = 1;
}

void pr_suite_slices_add(struct pr_suite_slices *s, double rate)
{
    s->last[s->count++ % PR_SUITE_STEADY] = rate;
    if (s->points)
        slices_add_point(s, rate);
}

bool pr_suite_slices_keep(const struct pr_suite_slices *s, struct pr_arena *a,
                          struct pr_suite_child *run)
{
    float *curve;

    if (!s->points || run->curve || !s->used)
        return true;
    curve = PR_ARENA_ARRAY(a, float, s->used);
    if (!curve)
        return false;
    for (uint32_t i = 0; i < s->used; i++)
        curve[i] = (float)s->points[i];
    run->curve = curve;
    run->curve_len = s->used;
    return true;
}

/* rates[-20:-2]: of the last twenty without the last two. */
void pr_suite_slices_end(const struct pr_suite_slices *s,
                         struct pr_suite_rate *ret)
{
    uint64_t from = s->count > PR_SUITE_STEADY ? s->count - PR_SUITE_STEADY : 0;
    uint64_t to = s->count > PR_SUITE_LAST ? s->count - PR_SUITE_LAST : 0;
    double window[PR_SUITE_STEADY];
    struct pr_suite_stats stats;
    size_t n = 0;

    for (uint64_t i = from; i < to; i++)
        window[n++] = s->last[i % PR_SUITE_STEADY];
    pr_suite_compute_stats(window, n, &stats);
    *ret = (struct pr_suite_rate){
        .rate = stats.mean,
        .std = stats.std,
        .steady = (uint32_t)n,
        .slices = s->count > UINT32_MAX ? UINT32_MAX : (uint32_t)s->count,
    };
}

/* ---- runs become tests */

struct group {
    const char *name;
    size_t runs; /* how many, then how many are in place */
    size_t first;
};

/* ---- runs become tests: one of them */

struct gather {
    struct pr_suite_build *w;
    struct pr_suite_test *test;
    struct pr_suite_numbers total, train;
    struct pr_keyset ids;
    struct pr_suite_device *devices;
    struct pr_suite_numbers *of; /* rates of each device */
    size_t device_count, device_cap, of_cap;
};

/* One id, "3": a device; "0,1", "" and nothing: none. Python's int() takes
 * blanks around it. */
static bool one_device(const struct pr_suite_child *run, const char **ret_id,
                       size_t *ret_len)
{
    const char *s = run->device;
    size_t n;

    if (!s || strchr(s, ','))
        return false;
    s += strspn(s, " \t\r\n");
    n = strlen(s);
    while (n && strchr(" \t\r\n", s[n - 1]))
        n--;
    *ret_id = s;
    *ret_len = n;
    return n > 0;
}

int64_t pr_suite_device_number(const char *s, size_t len)
{
    int64_t n = 0;

    if (!len || len > 9)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -1;
        n = n * 10 + (s[i] - '0');
    }
    return n;
}

static int suite_add_device(struct gather *g, const char *name, int64_t number)
{
    struct pr_suite_device *devices =
        pr_arena_grow(g->w->arena, g->devices, g->device_count, &g->device_cap,
                      sizeof *devices);
    struct pr_suite_numbers *of = pr_arena_grow(
        g->w->arena, g->of, g->device_count, &g->of_cap, sizeof *of);

    if (devices)
        g->devices = devices;
    if (of)
        g->of = of;
    if (!devices || !of)
        return PR_E_NOMEM;
    of[g->device_count] = (struct pr_suite_numbers){0};
    devices[g->device_count++] =
        (struct pr_suite_device){.id = name, .number = number};
    return PR_OK;
}

/* The rates of a run on one device are also that device's. */
static int suite_add_device_rates(struct gather *g,
                                  const struct pr_suite_child *run,
                                  const char *id, size_t len)
{
    int64_t number = pr_suite_device_number(id, len);
    const char *name =
        number >= 0 ? pr_arena_printf(g->w->arena, "%lld", (long long)number)
                    : pr_arena_copy(g->w->arena, id, len);
    uint32_t at = (uint32_t)g->device_count;
    int rc = name
                 ? pr_keyset_put(&g->ids, name, (uint32_t)strlen(name), at, &at)
                 : PR_E_NOMEM;

    if (!rc)
        rc = suite_add_device(g, name, number);
    for (uint32_t i = 0; rc >= 0 && i < run->rate_count; i++)
        rc = pr_suite_numbers_add(&g->of[at], run->rates[i].rate);
    return rc < 0 ? rc : PR_OK;
}

static int suite_add_run_rates(struct gather *g,
                               const struct pr_suite_item *item)
{
    const struct pr_suite_child *run = &item->run;
    struct pr_suite_test *t = g->test;
    const char *id;
    size_t len;
    bool brief = false;
    int rc =
        isnan(run->total) ? PR_OK : pr_suite_numbers_add(&g->total, run->total);

    for (uint32_t i = 0; !rc && i < run->rate_count; i++) {
        brief |= isnan(run->rates[i].rate);
        rc = pr_suite_numbers_add(&g->train, run->rates[i].rate);
    }
    t->short_runs += brief;
    t->silent_runs += !run->rate_count;
    if (rc || !run->rate_count)
        return rc;
    if (item->peak > t->peak_memory) {
        t->peak_memory = item->peak;
        t->peak_is_whole = item->peak_is_whole;
    }
    return one_device(run, &id, &len) ? suite_add_device_rates(g, run, id, len)
                                      : PR_OK;
}

static void gather_done(struct gather *g)
{
    for (size_t i = 0; i < g->device_count; i++)
        pr_free(g->of[i].v);
    pr_free(g->total.v);
    pr_free(g->train.v);
    pr_keyset_free(&g->ids);
}

static int make_test(struct pr_suite_build *w, struct pr_suite_test *t,
                     struct pr_suite_item *const *items, size_t count)
{
    struct gather g = {.w = w, .test = t};
    int rc = PR_OK;

    t->n = t->run_count = count;
    t->peak_is_whole = true;
    t->runs = PR_ARENA_ARRAY(w->arena, struct pr_suite_child *, count);
    if (!t->runs)
        return PR_E_NOMEM;
    for (size_t i = 0; !rc && i < count; i++) {
        t->runs[i] = &items[i]->run;
        t->failures += !items[i]->run.good;
        t->unavailable += items[i]->run.unavailable;
        if (items[i]->run.good)
            rc = suite_add_run_rates(&g, items[i]);
    }
    for (size_t i = 0; i < g.device_count; i++)
        pr_suite_compute_stats(g.of[i].v, g.of[i].count, &g.devices[i].stats);
    pr_suite_compute_stats(g.total.v, g.total.count, &t->total);
    pr_suite_compute_stats(g.train.v, g.train.count, &t->train);
    t->devices = g.devices;
    t->device_count = g.device_count;
    gather_done(&g);
    return rc;
}

/* ---- runs become tests: all */

static int by_group_name(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->name,
                  ((const struct group *)b)->name);
}

struct sort {
    struct group *groups;
    size_t count, cap;
    uint32_t *of; /* group of each item */
    struct pr_keyset names;
};

/* Which group each item is of; groups as they come. */
static int find_groups(struct pr_arena *a, struct sort *s,
                       const struct pr_suite_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = items[i].group;
        uint32_t index = (uint32_t)s->count;
        int rc;

        if (!name)
            continue;
        rc = pr_keyset_put(&s->names, name, (uint32_t)strlen(name), index,
                           &index);
        if (rc < 0)
            return rc;
        if (!rc) {
            struct group *g =
                pr_arena_grow(a, s->groups, s->count, &s->cap, sizeof *g);
            if (!g)
                return PR_E_NOMEM;
            s->groups = g;
            g[s->count++] = (struct group){.name = name, .first = index};
        }
        s->of[i] = index;
        s->groups[index].runs++;
    }
    return PR_OK;
}

/* The items of each group, one group after another. */
static struct pr_suite_item **line_up(struct pr_arena *a, struct sort *s,
                                      struct pr_suite_item *items, size_t count)
{
    struct pr_suite_item **all =
        PR_ARENA_ARRAY(a, struct pr_suite_item *, count);
    size_t *next = PR_ARENA_ARRAY(a, size_t, s->count), at = 0;

    if (!all || !next)
        return NULL;
    for (size_t i = 0; i < s->count; i++) {
        next[i] = at;
        s->groups[i].first = at;
        at += s->groups[i].runs;
    }
    for (size_t i = 0; i < count; i++)
        if (items[i].group)
            all[next[s->of[i]]++] = &items[i];
    return all;
}

static int make_tests(struct pr_suite_build *w, struct pr_arena *a,
                      struct sort *s, struct pr_suite_item *items, size_t count)
{
    struct pr_suite_item **all = line_up(a, s, items, count);
    struct pr_suite_test *tests =
        PR_ARENA_ARRAY(w->arena, struct pr_suite_test, s->count);
    int rc = all && tests ? PR_OK : PR_E_NOMEM;

    if (!rc && s->count)
        qsort(s->groups, s->count, sizeof *s->groups, by_group_name);
    for (size_t i = 0; !rc && i < s->count; i++) {
        tests[i].name = s->groups[i].name;
        rc = make_test(w, &tests[i], all + s->groups[i].first,
                       s->groups[i].runs);
    }
    w->suite.tests = tests;
    w->suite.count = rc ? 0 : s->count;
    return rc;
}

int pr_suite_group_runs(struct pr_suite_build *w, struct pr_suite_item *items,
                        size_t count, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct sort s = {0};
    int rc = PR_E_NOMEM;

    if (a && (s.of = PR_ARENA_ARRAY(a, uint32_t, count)))
        rc = find_groups(a, &s, items, count);
    if (!rc)
        rc = make_tests(w, a, &s, items, count);
    pr_keyset_free(&s.names);
    return rc ? pr_fail_nomem(err) : PR_OK;
}

enum { MAX_SUMMARY = 1 << 28 };

static struct pr_suite_build *
suite_build_new(const char *path, enum pr_suite_kind kind, struct pr_err *err)
{
    struct pr_suite_build *w = pr_alloc_zeroed(sizeof *w);

    if (w && (w->arena = pr_arena_new(65536))) {
        w->suite.path = pr_arena_str(w->arena, path);
        w->suite.kind = kind;
        w->suite.notes = w->notes;
    }
    if (w && w->suite.path)
        return w;
    pr_suite_free(w ? &w->suite : NULL);
    pr_fail_nomem(err);
    return NULL;
}

void pr_suite_free(struct pr_suite *s)
{
    struct pr_suite_build *w = (struct pr_suite_build *)s;

    if (!w)
        return;
    for (size_t i = 0; i < w->more_count; i++)
        pr_arena_free(w->more[i]);
    pr_free(w->more);
    pr_arena_free(w->arena);
    pr_free(w);
}

/* Takes the arena, also when it fails. */
int pr_suite_adopt_arena(struct pr_suite_build *w, struct pr_arena *a,
                         struct pr_err *err)
{
    struct pr_arena **more =
        pr_realloc(w->more, (w->more_count + 1) * sizeof(struct pr_arena *));

    if (!more) {
        pr_arena_free(a);
        return pr_fail_nomem(err);
    }
    w->more = more;
    more[w->more_count++] = a;
    return PR_OK;
}

int pr_suite_add_bad_file(struct pr_suite_build *w, const struct pr_err *e,
                          struct pr_err *err)
{
    w->suite.bad++;
    return pr_suite_add_warning(w, e, err);
}

int pr_suite_add_warning(struct pr_suite_build *w, const struct pr_err *e,
                         struct pr_err *err)
{
    struct pr_suite_warning *n = &w->notes[w->suite.note_count];

    if (w->suite.note_count == PR_SUITE_NOTES)
        return PR_OK;
    n->where = pr_arena_str(w->arena, e->where);
    n->text = pr_arena_str(w->arena, e->msg);
    if (!n->where || !n->text)
        return pr_fail_nomem(err);
    w->suite.note_count++;
    return PR_OK;
}

static bool suite_has_file(const char *dir, const char *name)
{
    char path[4096];

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) <
               sizeof path &&
           access(path, F_OK) == 0;
}

static int no_systems(const char *path, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, path, "no folder of results of GPU systems");
    return pr_hint(err, "only these have systems to pick from");
}

/* Any .data file makes it milabench's, but in a folder with a plan of ours. */
static enum pr_suite_kind detect_suite_kind(const char *path,
                                            const struct pr_suite_files *f)
{
    if (suite_has_file(path, "plan.json"))
        return PR_SUITE_RESULTS;
    if (f->data.count)
        return PR_SUITE_MILABENCH;
    if (f->has_folders &&
        (pr_gpu_systems_is_tree(path) || pr_gpu_systems_is_system(path)))
        return PR_SUITE_SYSTEMS;
    return PR_SUITE_RESULTS;
}

static int suite_read_folder(struct pr_suite_build *w,
                             const struct pr_suite_read_opts *opts,
                             struct pr_err *err)
{
    const char *path = w->suite.path;
    bool run = !pr_suite_is_folder(path) && suite_has_file(path, "plan.json");
    struct pr_suite_files f = {.arena = w->arena};
    int rc = run ? PR_OK : pr_suite_find_files(&f, path, err);

    if (rc)
        return rc;
    w->is_run = suite_has_file(path, "plan.json");
    w->suite.kind = run ? PR_SUITE_RUN : detect_suite_kind(path, &f);
    if (opts->system && w->suite.kind != PR_SUITE_SYSTEMS)
        return no_systems(path, err);
    if (w->suite.kind == PR_SUITE_RESULTS || run)
        rc = pr_run_unfinished_find(path, w->arena, &w->suite.left, err);
    if (rc)
        return rc;
    if (run)
        return pr_suite_read_run(w, err);
    if (w->suite.kind == PR_SUITE_MILABENCH)
        return pr_suite_read_milabench(w, &f.data, opts, err);
    if (w->suite.kind == PR_SUITE_SYSTEMS)
        return pr_suite_read_systems(w, opts, err);
    return pr_suite_read_results(w, &f.json, opts, err);
}

static int suite_read_document(struct pr_suite_build *w,
                               const struct pr_suite_read_opts *opts,
                               struct pr_err *err)
{
    const char *text;
    size_t len;
    int rc = opts->system ? no_systems(w->suite.path, err)
                          : pr_file_read(w->suite.path, MAX_SUMMARY, w->arena,
                                         &text, &len, err);

    if (rc)
        return rc;
    if (pr_zipdir_is_archive(text, len)) {
        w->suite.kind = PR_SUITE_MILABENCH;
        return pr_suite_read_milabench_zip(w, text, len, opts, err);
    }
    return pr_suite_read_summary(w, text, len, w->suite.path, err);
}

static int hand_out(struct pr_suite_build *w, int rc, struct pr_suite **ret)
{
    if (rc)
        pr_suite_free(&w->suite);
    else
        *ret = &w->suite;
    return rc;
}

int pr_suite_read(const char *path, const struct pr_suite_read_opts *opts,
                  struct pr_suite **ret, struct pr_err *err)
{
    static const struct pr_suite_read_opts plain = {0};
    struct pr_suite_build *w;
    struct stat st;
    size_t n = strlen(path);

    if (!opts)
        opts = &plain;
    if (stat(path, &st))
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    w = suite_build_new(path, PR_SUITE_SUMMARY, err);
    if (!w)
        return PR_E_NOMEM;
    while (n > 1 && path[n - 1] == '/')
        n--;
    w->suite.path = pr_arena_copy(w->arena, path, n);
    if (!w->suite.path)
        return hand_out(w, pr_fail_nomem(err), ret);
    return hand_out(w,
                    S_ISDIR(st.st_mode) ? suite_read_folder(w, opts, err)
                                        : suite_read_document(w, opts, err),
                    ret);
}

int pr_suite_from_value(const struct pr_value *v, const char *name,
                        struct pr_suite **ret, struct pr_err *err)
{
    struct pr_suite_build *w = suite_build_new(name, PR_SUITE_SUMMARY, err);
    struct pr_value copy;

    if (!w)
        return PR_E_NOMEM;
    return hand_out(w,
                    pr_value_copy(w->arena, v, &copy)
                        ? pr_suite_summary_from_value(w, &copy, name, err)
                        : pr_fail_nomem(err),
                    ret);
}
