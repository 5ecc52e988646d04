/*
 * A summary read back: milarun's, and so a baseline; milabench's has the same
 * figures under other names.
 */
#include "analyse/suite/suite_impl.h"
#include "base/json/json.h"

#include <math.h>
#include <string.h>

static uint64_t count_at(const struct pr_value *map, const char *key)
{
    double d = pr_number_at(map, key, NAN);

    return d >= 0 && d < 9e15 ? (uint64_t)d : 0;
}

static void summary_read_stats(const struct pr_value *v,
                               struct pr_suite_stats *ret)
{
    *ret = (struct pr_suite_stats){
        count_at(v, "n"), pr_number_at(v, "min", NAN),
        pr_number_at(v, "max", NAN), pr_number_at(v, "mean", NAN),
        pr_number_at(v, "std", NAN)};
}

static int read_devices(struct pr_suite_build *w, const struct pr_value *map,
                        struct pr_suite_test *t, struct pr_err *err)
{
    struct pr_suite_device *d;

    if (!map || map->kind != PR_MAP)
        return PR_OK;
    d = PR_ARENA_ARRAY(w->arena, struct pr_suite_device, map->len);
    if (!d)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        d[i].id = m->key;
        d[i].number = pr_suite_device_number(m->key, m->key_len);
        summary_read_stats(&m->value, &d[i].stats);
    }
    t->devices = d;
    t->device_count = map->len;
    return PR_OK;
}

static int summary_fail_member(const struct pr_member *m, const char *name,
                               const char *what, struct pr_err *err)
{
    pr_fail_at(err, PR_E_FORMAT, name, m->line, m->col,
               "not a summary: '%.64s' %s", m->key, what);
    return pr_hint(err, "'prony summary DIR' makes one of a folder of results");
}

/* ---- milabench's */

static void read_load(const struct pr_value *load, struct pr_milabench_test *b)
{
    double watts = 0;

    b->peak_memory = b->watts = (double)NAN;
    b->has_load = load && load->kind == PR_MAP && load->len;
    for (uint32_t i = 0; b->has_load && i < load->len; i++) {
        const struct pr_value *v = &load->members[i].value;
        double most = pr_number_at(pr_get(v, "memory"), "max", NAN);
        if (isnan(b->peak_memory) || most > b->peak_memory)
            b->peak_memory = most;
        watts += pr_number_at(pr_get(v, "power"), "median", NAN);
    }
    if (b->has_load)
        b->watts = watts / load->len;
}

static int read_bench(struct pr_suite_build *w, const struct pr_value *v,
                      const struct pr_value *rate, struct pr_suite_test *t,
                      struct pr_err *err)
{
    struct pr_milabench_test *b =
        PR_ARENA_NEW(w->arena, struct pr_milabench_test);
    double weight = pr_number_at(v, "weight", NAN),
           energy = pr_number_at(v, "energy", NAN);
    double per_watt = pr_number_at(v, "perf_watt", NAN);

    if (!b)
        return pr_fail_nomem(err);
    b->group = pr_text_at(v, "group", t->name);
    b->gpus = count_at(v, "ngpu");
    b->q1 = pr_number_at(rate, "q1", NAN);
    b->median = pr_number_at(rate, "median", NAN);
    b->q3 = pr_number_at(rate, "q3", NAN);
    b->sem = pr_number_at(rate, "sem", NAN);
    b->weight = isnan(weight) ? 0 : weight;
    b->enabled = pr_bool_at(v, "enabled", false);
    b->kilojoules = isnan(energy) ? 0 : energy;
    b->per_watt = pr_get(v, "perf_watt") ? per_watt : 0;
    read_load(pr_get(v, "gpu_load"), b);
    t->peak_memory = b->peak_memory;
    t->bench = b;
    w->suite.kind = PR_SUITE_MILABENCH;
    if (!w->suite.host.cpu && !w->suite.host.gpus)
        pr_milabench_host_read(pr_get(v, "meta"), &w->suite.host);
    return PR_OK;
}

static int read_test(struct pr_suite_build *w, const struct pr_member *m,
                     const char *name, struct pr_suite_test *t,
                     struct pr_err *err)
{
    const struct pr_value *v = &m->value, *peak;
    const struct pr_value *train = pr_get(v, "train");
    bool modern = !train;
    int rc;

    if (modern)
        train = pr_get(v, "train_rate");
    if (v->kind != PR_MAP)
        return summary_fail_member(m, name, "is not a map", err);
    if (!train || train->kind != PR_MAP)
        return summary_fail_member(m, name, "has no 'train' with a mean", err);
    t->name = m->key;
    t->n = count_at(v, "n");
    t->failures = count_at(v, "failures");
    summary_read_stats(train, &t->train);
    if (modern)
        t->train.n = t->n;
    summary_read_stats(pr_get(v, modern ? "walltime" : "total"), &t->total);
    peak = pr_get(v, "peak_memory");
    t->peak_memory =
        peak && pr_value_is_number(peak) ? pr_value_number(peak) : (double)NAN;
    t->peak_is_whole = peak && peak->kind == PR_INT;
    rc = read_devices(w, pr_get(v, modern ? "per_gpu" : "pergpu"), t, err);
    return rc || !modern ? rc : read_bench(w, v, train, t, err);
}

int pr_suite_summary_from_value(struct pr_suite_build *w,
                                const struct pr_value *v, const char *name,
                                struct pr_err *err)
{
    struct pr_suite_test *tests;
    int rc = PR_OK;

    if (v->kind != PR_MAP) {
        pr_fail(err, PR_E_FORMAT, name,
                "not a summary: expected a map of tests, got %s",
                pr_kind_name(v->kind));
        return pr_hint(err,
                       "'prony summary DIR' makes one of a folder of results");
    }
    tests = PR_ARENA_ARRAY(w->arena, struct pr_suite_test, v->len);
    if (!tests)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; !rc && i < v->len; i++)
        rc = read_test(w, &v->members[i], name, &tests[i], err);
    for (uint32_t i = 0; !rc && i < v->len; i++)
        if (w->suite.kind == PR_SUITE_MILABENCH && !tests[i].bench)
            rc = summary_fail_member(&v->members[i], name,
                                     "is not of the kind of the others", err);
    w->suite.tests = tests;
    w->suite.count = v->len;
    w->suite.files = 1;
    return rc;
}

int pr_suite_read_summary(struct pr_suite_build *w, const char *text,
                          size_t len, const char *name, struct pr_err *err)
{
    struct pr_json_in in = {.text = text, .len = len, .name = name};
    struct pr_value v;
    int rc = pr_json_read(&in, w->arena, &v, NULL, err);

    return rc ? rc : pr_suite_summary_from_value(w, &v, name, err);
}

/* ---- weights */

int pr_suite_weights_from_value(const struct pr_value *v, const char *name,
                                struct pr_arena *a,
                                struct pr_suite_weights *ret,
                                struct pr_err *err)
{
    struct pr_suite_weight *list;

    if (v->kind != PR_MAP) {
        pr_fail(err, PR_E_FORMAT, name, "weights are a map of tests, got %s",
                pr_kind_name(v->kind));
        return pr_hint(err, "for example {\"standard.vae\": {\"weight\": 8}}");
    }
    list = PR_ARENA_ARRAY(a, struct pr_suite_weight, v->len);
    if (!list)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *m = &v->members[i];
        const struct pr_value *w =
            m->value.kind == PR_MAP ? pr_get(&m->value, "weight") : &m->value;
        list[i] = (struct pr_suite_weight){m->key, (double)NAN};
        if (w && pr_value_is_number(w))
            list[i].weight = pr_value_number(w);
        else if (w || m->value.len)
            return pr_fail_at(err, PR_E_FORMAT, name, m->line, m->col,
                              "'%.64s' has no weight that is a number", m->key);
        if (isinf(list[i].weight))
            return pr_fail_at(err, PR_E_FORMAT, name, m->line, m->col,
                              "'%.64s' has a weight without end", m->key);
        if (list[i].weight < 0)
            return pr_fail_at(err, PR_E_FORMAT, name, m->line, m->col,
                              "'%.64s' has a weight below zero", m->key);
    }
    ret->list = list;
    ret->count = v->len;
    return PR_OK;
}
