/* Timings, metrics and GPUs of a suite's result. */
#include "run/suite_timings.h"

#include "base/clock.h"
#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double mib = 1048576;

/* Members that grow in an arena. */
struct list {
    struct pr_arena *a;
    struct pr_names *names; /* where one may come again: their places */
    struct pr_member *m;
    size_t n, cap;
    bool failed;
};

static void timings_add(struct list *l, const char *key, struct pr_value v)
{
    struct pr_member *m = pr_arena_grow(l->a, l->m, l->n, &l->cap, sizeof *m);

    l->failed |= !m;
    if (!m)
        return;
    l->m = m;
    m[l->n++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

/* The last one of a name counts. All of l's members have come this way. */
static void put_over(struct list *l, const char *key, struct pr_value v)
{
    uint32_t i =
        l->failed ? PR_NO_NAME : pr_names_add(l->names, key, strlen(key));

    if (i == PR_NO_NAME)
        l->failed = true;
    else if (i < l->n)
        l->m[i].value = v;
    else
        timings_add(l, key, v);
}

static struct pr_value as_map(const struct list *l)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)l->n, .members = l->m};
}

static bool timings_has_prefix(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* ---- timings */

/* Local time, as Python's str(datetime.now()) has it. */
static struct pr_value local_time(struct list *l, const struct pr_value *utc)
{
    const char *fraction, *copy;
    struct tm tm = {0};
    unsigned micro = 0;
    char text[32];
    time_t t;

    if (!utc || utc->kind != PR_STR ||
        !(fraction = strptime(utc->s, "%Y-%m-%dT%H:%M:%S", &tm)) ||
        (t = timegm(&tm)) < 0)
        return pr_null();
    (void)sscanf(fraction, ".%6u", &micro); /* six digits, as we write it */
    copy = pr_arena_str(
        l->a, pr_time_local(text, ((uint64_t)t * 1000000 + micro) * 1000));
    l->failed |= !copy;
    return copy ? pr_str(copy) : pr_null();
}

static void put_program(const struct pr_suite_result_source *s, struct list *l)
{
    const struct pr_value *results = pr_get(&s->result, "results");
    const struct pr_value *elapsed =
        results ? pr_get(results, "elapsed_s") : NULL;
    struct list p = {.a = l->a};

    if (!elapsed)
        return; /* it never began */
    timings_add(&p, "type", pr_str("milabench.experiment.SimpleTimer"));
    timings_add(&p, "start", local_time(&p, pr_get(&s->result, "started")));
    timings_add(&p, "end", local_time(&p, pr_get(&s->result, "ended")));
    timings_add(&p, "time", *elapsed);
    l->failed |= p.failed;
    put_over(l, "program", as_map(&p));
}

/* null was no number. */
static struct pr_value timings_null_to_nan(const struct pr_value *v)
{
    return v->kind == PR_NULL ? pr_float(NAN) : *v;
}

static struct pr_value with_metrics(struct list *l, const struct pr_value *v)
{
    const struct pr_value *metrics = pr_get(v, "metrics");
    struct list all = {.a = l->a}, own = {.a = l->a};

    if (!metrics || metrics->kind != PR_MAP)
        return *v;
    for (uint32_t i = 0; i < metrics->len; i++)
        timings_add(&own, metrics->members[i].key,
                    timings_null_to_nan(&metrics->members[i].value));
    for (uint32_t i = 0; i < v->len; i++)
        timings_add(&all, v->members[i].key,
                    &v->members[i].value == metrics ? as_map(&own)
                                                    : v->members[i].value);
    l->failed |= all.failed || own.failed;
    return as_map(&all);
}

static void gather_metrics(struct list *metrics, const struct pr_value *timing)
{
    const struct pr_value *m = pr_get(timing, "metrics");

    for (uint32_t i = 0; m && m->kind == PR_MAP && i < m->len; i++)
        put_over(metrics, m->members[i].key, m->members[i].value);
}

static void timings_collect(const struct pr_suite_result_source *s,
                            struct list *timings, struct list *metrics)
{
    const struct pr_value *results = pr_get(&s->result, "results");
    const struct pr_value *own;

    put_program(s, timings);
    for (uint32_t i = 0; results && i < results->len; i++) {
        const struct pr_member *m = &results->members[i];
        struct pr_value v;

        if (timings_has_prefix(m->key, "metrics."))
            put_over(metrics, m->key + 8, m->value);
        if (!timings_has_prefix(m->key, "timings.") || m->value.kind != PR_MAP)
            continue;
        v = with_metrics(timings, &m->value);
        put_over(timings, m->key + 8, v);
        gather_metrics(metrics, &v);
    }
    own = results ? pr_get(results, "milarun.metrics") : NULL;
    for (uint32_t i = 0; own && own->kind == PR_MAP && i < own->len; i++)
        put_over(metrics, own->members[i].key,
                 timings_null_to_nan(&own->members[i].value));
}

int pr_suite_result_timings(const struct pr_suite_result_source *s,
                            struct pr_arena *a, struct pr_value *ret_timings,
                            struct pr_value *ret_metrics, struct pr_err *err)
{
    struct list timings = {.a = a, .names = pr_names_new()};
    struct list metrics = {.a = a, .names = pr_names_new()};
    bool good = timings.names && metrics.names;

    if (good)
        timings_collect(s, &timings, &metrics);
    good = good && !timings.failed && !metrics.failed;
    pr_names_free(timings.names);
    pr_names_free(metrics.names);
    *ret_timings = as_map(&timings);
    *ret_metrics = as_map(&metrics);
    return good ? PR_OK : pr_fail_nomem(err);
}

/* ---- GPUs */

static struct pr_value
timings_make_range(struct list *l, const struct pr_value *column, double unit)
{
    static const char *const keys[] = {"min", "mean", "max"};
    struct list r = {.a = l->a};

    for (size_t i = 0; i < 3; i++) {
        const struct pr_value *v = column ? pr_get(column, keys[i]) : NULL;

        timings_add(&r, keys[i],
                    pr_float(v && pr_value_is_number(v)
                                 ? pr_value_number(v) / unit
                                 : -1));
    }
    l->failed |= r.failed;
    return as_map(&r);
}

static const struct pr_value *
timings_find_column(const struct pr_value *monitor, unsigned i,
                    const char *name)
{
    char key[64];

    snprintf(key, sizeof key, "gpu.%u.%s", i, name);
    return pr_get(monitor, key);
}

int pr_suite_result_gpus(const struct pr_suite_result_source *s,
                         struct pr_arena *a, struct pr_value *ret,
                         struct pr_err *err)
{
    const struct pr_value *monitor = pr_get(&s->result, "monitor");
    const struct pr_value *results = pr_get(&s->result, "results");
    const struct pr_value *own =
        results ? pr_get(results, "milarun.gpu_monitor") : NULL;
    struct list all = {.a = a};

    for (unsigned i = 0; monitor && i < 64; i++) {
        const struct pr_value *use = timings_find_column(monitor, i, "use");
        const struct pr_value *memory =
            timings_find_column(monitor, i, "memory_bytes");
        struct list gpu = {.a = a};
        const char *key = pr_arena_printf(a, "%u", i);

        if (!use && !memory)
            continue;
        if (!key)
            return pr_fail_nomem(err);
        timings_add(&gpu, "load", timings_make_range(&gpu, use, 1));
        timings_add(&gpu, "memory", timings_make_range(&gpu, memory, mib));
        timings_add(
            &gpu, "temperature",
            timings_make_range(
                &gpu, timings_find_column(monitor, i, "temperature_c"), 1));
        all.failed |= gpu.failed;
        timings_add(&all, key, as_map(&gpu));
    }
    *ret = !all.n && own ? *own : as_map(&all);
    return all.failed ? pr_fail_nomem(err) : PR_OK;
}
