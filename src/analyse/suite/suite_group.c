/* Runs become tests: counted, their figures put together. */
#include "analyse/suite/suite_impl.h"
#include "base/mem.h"
#include "base/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
    const char *name;
    size_t runs; /* how many, then how many are in place */
    size_t first;
};

/* ---- one test */

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

/* ---- all */

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
