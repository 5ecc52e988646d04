/*
 * A run directory of ours as a suite: repeats of an experiment are the runs of
 * a test, its throughput is the rate. A test is named after exp.name; where a
 * name stands for several experiments of a repeat, their places are appended.
 */
#include "analyse/run/rundata.h"
#include "analyse/suite/suite_impl.h"
#include "base/names.h"

#include <math.h>
#include <string.h>

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

static const char *suite_get_text(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = map ? pr_get(map, key) : NULL;

    return v && v->kind == PR_STR ? v->s : NULL;
}

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
    const char *status = suite_get_text(result, "status");
    const char *name = suite_get_text(row->params, "exp.name");
    int rc = suite_keep_text(l, name && *name ? name : row->id, &item->group);

    item->run = (struct pr_suite_child){
        .total = (double)NAN, .good = status && strcmp(status, "ok") == 0};
    if (!rc)
        rc = suite_keep_text(l, suite_get_text(result, "started"),
                             &item->run.started);
    if (!rc)
        rc = suite_keep_text(l, suite_get_text(result, "reason"),
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
