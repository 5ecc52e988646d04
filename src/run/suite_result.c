/* A suite's result file: what is in it, its name, and when it is written and
 * when it goes. */
#include "run/suite_result.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "base/names.h"
#include "base/text.h"
#include "conf/option/option.h"
#include "record/result.h"
#include "run/collect.h"
#include "run/session.h"
#include "workload/suite_workload.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a suite's result file is made from. */
struct result_source {
    const char *dir, *id;
    struct pr_value result, params; /* result.json and params.json */
    struct pr_suite_opts suite;
    bool ok;
    const char *time; /* of the end */
    struct pr_gpus *gpus;
};

/* ---- lists of members */

static const double mib = 1048576;

static struct pr_member suite_result_make_member(const char *key,
                                                 struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

/* Members that grow in an arena. */
struct list {
    struct pr_arena *a;
    struct pr_names *names; /* where one may come again: their places */
    struct pr_member *m;
    size_t n, cap;
    bool failed;
};

static void list_add(struct list *l, const char *key, struct pr_value v)
{
    struct pr_member *m = pr_arena_grow(l->a, l->m, l->n, &l->cap, sizeof *m);

    l->failed |= !m;
    if (!m)
        return;
    l->m = m;
    m[l->n++] = suite_result_make_member(key, v);
}

/* The last one of a name counts. All of l's members have come this way. */
static void list_put_over(struct list *l, const char *key, struct pr_value v)
{
    uint32_t i =
        l->failed ? PR_NO_NAME : pr_names_add(l->names, key, strlen(key));

    if (i == PR_NO_NAME)
        l->failed = true;
    else if (i < l->n)
        l->m[i].value = v;
    else
        list_add(l, key, v);
}

static struct pr_value list_as_map(const struct list *l)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)l->n, .members = l->m};
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

static void put_program(const struct result_source *s, struct list *l)
{
    const struct pr_value *results = pr_get(&s->result, "results");
    const struct pr_value *elapsed =
        results ? pr_get(results, "elapsed_s") : NULL;
    struct list p = {.a = l->a};

    if (!elapsed)
        return; /* it never began */
    list_add(&p, "type", pr_str("milabench.experiment.SimpleTimer"));
    list_add(&p, "start", local_time(&p, pr_get(&s->result, "started")));
    list_add(&p, "end", local_time(&p, pr_get(&s->result, "ended")));
    list_add(&p, "time", *elapsed);
    l->failed |= p.failed;
    list_put_over(l, "program", list_as_map(&p));
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
        list_add(&own, metrics->members[i].key,
                 timings_null_to_nan(&metrics->members[i].value));
    for (uint32_t i = 0; i < v->len; i++)
        list_add(&all, v->members[i].key,
                 &v->members[i].value == metrics ? list_as_map(&own)
                                                 : v->members[i].value);
    l->failed |= all.failed || own.failed;
    return list_as_map(&all);
}

static void gather_metrics(struct list *metrics, const struct pr_value *timing)
{
    const struct pr_value *m = pr_get(timing, "metrics");

    for (uint32_t i = 0; m && m->kind == PR_MAP && i < m->len; i++)
        list_put_over(metrics, m->members[i].key, m->members[i].value);
}

static void timings_collect(const struct result_source *s, struct list *timings,
                            struct list *metrics)
{
    const struct pr_value *results = pr_get(&s->result, "results");
    const struct pr_value *own;

    put_program(s, timings);
    for (uint32_t i = 0; results && i < results->len; i++) {
        const struct pr_member *m = &results->members[i];
        struct pr_value v;

        if (pr_text_starts_with(m->key, "metrics."))
            list_put_over(metrics, m->key + 8, m->value);
        if (!pr_text_starts_with(m->key, "timings.") || m->value.kind != PR_MAP)
            continue;
        v = with_metrics(timings, &m->value);
        list_put_over(timings, m->key + 8, v);
        gather_metrics(metrics, &v);
    }
    own = results ? pr_get(results, "milarun.metrics") : NULL;
    for (uint32_t i = 0; own && own->kind == PR_MAP && i < own->len; i++)
        list_put_over(metrics, own->members[i].key,
                      timings_null_to_nan(&own->members[i].value));
}

/* "program", our own, then every result that is called timings.NAME; and what
 * was logged last, over all of them. A metric that is null was no number: NaN,
 * as milarun writes it. */
static int suite_result_timings(const struct result_source *s,
                                struct pr_arena *a,
                                struct pr_value *ret_timings,
                                struct pr_value *ret_metrics,
                                struct pr_err *err)
{
    struct list timings = {.a = a, .names = pr_names_new()};
    struct list metrics = {.a = a, .names = pr_names_new()};
    bool good = timings.names && metrics.names;

    if (good)
        timings_collect(s, &timings, &metrics);
    good = good && !timings.failed && !metrics.failed;
    pr_names_free(timings.names);
    pr_names_free(metrics.names);
    *ret_timings = list_as_map(&timings);
    *ret_metrics = list_as_map(&metrics);
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

        list_add(&r, keys[i],
                 pr_float(v && pr_value_is_number(v) ? pr_value_number(v) / unit
                                                     : -1));
    }
    l->failed |= r.failed;
    return list_as_map(&r);
}

static const struct pr_value *
timings_find_column(const struct pr_value *monitor, unsigned i,
                    const char *name)
{
    char key[64];

    snprintf(key, sizeof key, "gpu.%u.%s", i, name);
    return pr_get(monitor, key);
}

/* load (0 to 1), memory (MiB) and temperature of each GPU, from the monitor. */
static int suite_result_gpus(const struct result_source *s, struct pr_arena *a,
                             struct pr_value *ret, struct pr_err *err)
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
        list_add(&gpu, "load", timings_make_range(&gpu, use, 1));
        list_add(&gpu, "memory", timings_make_range(&gpu, memory, mib));
        list_add(
            &gpu, "temperature",
            timings_make_range(
                &gpu, timings_find_column(monitor, i, "temperature_c"), 1));
        all.failed |= gpu.failed;
        list_add(&all, key, list_as_map(&gpu));
    }
    *ret = !all.n && own ? *own : list_as_map(&all);
    return all.failed ? pr_fail_nomem(err) : PR_OK;
}

/* ---- a result as milarun writes it */

/* What milarun does not have (status, reason, slot, …) stands in one key of
 * ours at the end, "prony". */
enum { MAX_KEYS = 128 };

struct builder {
    const struct result_source *s;
    struct pr_arena *a;
    struct pr_member m[MAX_KEYS];
    uint32_t n;
    bool failed; /* out of memory */
};

static void suite_result_add(struct builder *b, const char *key,
                             struct pr_value v)
{
    b->m[b->n++] = suite_result_make_member(key, v);
}

static struct pr_value suite_result_text(struct builder *b, const char *s)
{
    const char *copy = s ? pr_arena_str(b->a, s) : NULL;

    b->failed |= s && !copy;
    return copy ? pr_str(copy) : pr_null();
}

static struct pr_value
suite_result_make_map(struct builder *b, const struct pr_member *m, uint32_t n)
{
    struct pr_member *copy = PR_ARENA_ARRAY(b->a, struct pr_member, n + 1);

    b->failed |= !copy;
    if (copy && n)
        memcpy(copy, m, n * sizeof *m);
    return (struct pr_value){
        .kind = PR_MAP, .len = copy ? n : 0, .members = copy};
}

static const struct pr_value *
suite_result_find_value(const struct result_source *s, const char *name)
{
    const struct pr_value *results = pr_get(&s->result, "results");

    return results ? pr_get(results, name) : NULL;
}

/* "0.1": repeat and device. Returns out; NULL: it has none. */
static const char *suite_result_job_id(const struct result_source *s,
                                       char out[static 64])
{
    long long run = s->suite.run < 0 ? 0 : (long long)s->suite.run;
    long long device = (long long)s->suite.device;

    if (s->suite.run < -1)
        return NULL;
    if (device < 0) /* on so many at once: milarun counts from none */
        device = (long long)s->suite.devices->len - 1;
    if (device < 0)
        snprintf(out, 64, "%lld", run);
    else
        snprintf(out, 64, "%lld.%lld", run, device);
    return out;
}

/* ---- what was run */

static bool is_extra(const struct result_source *s, const char *key)
{
    return pr_get(s->suite.extra, key) != NULL;
}

static void suite_result_add_name(struct builder *b)
{
    const struct result_source *s = b->s;
    const char *data = getenv("PRONY_DATA");
    char id[64], whole[PATH_MAX];
    const char *name = pr_arena_printf(b->a, "%s%s%s", s->suite.name,
                                       *s->suite.job ? "." : "", s->suite.job);

    b->failed |= !name;
    suite_result_add(b, "name", pr_str(name ? name : ""));
    suite_result_add(b, "job_id",
                     suite_result_text(b, suite_result_job_id(s, id)));
    if (!data)
        data = getenv("MILARUN_DATAROOT");
    suite_result_add(
        b, "dataroot",
        suite_result_text(b, data && realpath(data, whole) ? whole : data));
    suite_result_add(
        b, "outdir",
        suite_result_text(b, realpath(s->dir, whole) ? whole : s->dir));
    if (s->suite.entry->kind == PR_MAP && s->suite.entry->len &&
        !is_extra(s, "job"))
        suite_result_add(b, "job", *s->suite.entry);
    if (s->suite.device >= 0 && !is_extra(s, "device"))
        suite_result_add(b, "device", pr_int(s->suite.device));
    if (s->suite.devices->len && !is_extra(s, "devices"))
        suite_result_add(b, "devices", *s->suite.devices);
    for (uint32_t i = 0; s->suite.extra->kind == PR_MAP &&
                         i < s->suite.extra->len && b->n < MAX_KEYS - 16;
         i++)
        suite_result_add(b, s->suite.extra->members[i].key,
                         s->suite.extra->members[i].value);
}

/* By milarun's names, where they are known; else by what they look like. */
static int options_of(struct builder *b, const struct pr_value *args,
                      struct pr_value *ret, struct pr_err *err)
{
    struct pr_milarun_work work;

    if (pr_suite_make_work(&b->s->suite, b->s->dir, args, b->a, &work, NULL,
                           NULL) == PR_OK &&
        !work.missing) {
        *ret = work.arguments;
        return PR_OK;
    }
    return pr_suite_read_options(args, b->a, ret, err);
}

static int put_call(struct builder *b, struct pr_err *err)
{
    const struct pr_value *own = pr_get(&b->s->params, "exp.args");
    static const struct pr_value none = {.kind = PR_LIST};
    struct pr_value args, options;
    int rc = pr_suite_merge_args(b->s->suite.arguments,
                                 own && own->kind == PR_LIST ? own : &none,
                                 b->a, &args, err);

    if (!rc)
        rc = options_of(b, &args, &options, err);
    if (rc)
        return rc;
    struct pr_member call[] = {
        suite_result_make_member("function", pr_str(b->s->suite.experiment)),
        suite_result_make_member("argv", args),
        suite_result_make_member("arguments", options)};
    suite_result_add(b, "call", suite_result_make_map(b, call, 3));
    return PR_OK;
}

/* ---- how it went */

/* milarun's own words, or ours and the end of the log. */
static struct pr_value error_of(struct builder *b)
{
    const struct pr_value *own = suite_result_find_value(b->s, "milarun.error");
    const char *reason = pr_text_at(&b->s->result, "reason", "");
    const char *tail = pr_text_at(&b->s->result, "log_tail", "");
    const char *all;

    if (b->s->ok)
        return pr_null();
    if (own && own->kind == PR_STR && own->len)
        return *own;
    all =
        pr_arena_printf(b->a, "%s: %s\n%s",
                        pr_text_at(&b->s->result, "status", ""), reason, tail);
    b->failed |= !all;
    return pr_str(all ? all : "");
}

static void suite_result_add_machine(struct builder *b)
{
    const struct pr_value *own = suite_result_find_value(b->s, "milarun.gpu");
    const struct pr_value *devices = b->s->suite.devices;
    const struct pr_value *first = devices->len ? devices->items : NULL;
    const struct pr_gpu *gpu = NULL;
    int64_t count = devices->len;
    char host[256] = "";

    (void)gethostname(host, sizeof host - 1);
    suite_result_add(b, "hostname", suite_result_text(b, host));
    if (!own)
        gpu = pr_gpus_get(b->s->gpus,
                          first && first->kind == PR_INT ? first->i : 0);
    suite_result_add(
        b, "gpu",
        own ? *own
            : suite_result_text(b, gpu && *gpu->name ? gpu->name : NULL));
    if (!count && gpu)
        count = pr_gpus_count(b->s->gpus);
    own = suite_result_find_value(b->s, "milarun.device_count");
    suite_result_add(b, "device_count", own ? *own : pr_int(count ? count : 1));
}

static void put_environ(struct builder *b)
{
    PR_AUTO_BUF struct pr_buf devices = PR_BUF_INIT(1 << 16);
    const struct pr_value *list = b->s->suite.devices;
    const char *data = getenv("MILARUN_DATAROOT");
    struct pr_member m[2];
    uint32_t n = 0;

    for (uint32_t i = 0; i < list->len; i++) {
        pr_buf_str(&devices, i ? "," : "");
        pr_value_write_text(&devices, &list->items[i]);
    }
    b->failed |= !pr_buf_ok(&devices);
    if (list->len)
        m[n++] = suite_result_make_member("CUDA_VISIBLE_DEVICES",
                                          suite_result_text(b, devices.data));
    if (data)
        m[n++] = suite_result_make_member("MILARUN_DATAROOT",
                                          suite_result_text(b, data));
    suite_result_add(b, "environ", suite_result_make_map(b, m, n));
}

/* ---- ours */

/* The steady state as one object: rate, std, sem, and so on. */
static uint32_t put_steady(struct builder *b, struct pr_member *to)
{
    static const char *const names[] = {
        "rate", "std", "sem",         "low",        "high",     "p5",
        "p50",  "p95", "correlation", "index_rate", "time_rate"};
    struct pr_member m[16];
    const struct pr_value *v;
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *full = pr_arena_printf(b->a, "steady_%s", names[i]);

        b->failed |= !full;
        if (full && (v = suite_result_find_value(b->s, full)))
            m[n++] = suite_result_make_member(names[i], *v);
    }
    if ((v = suite_result_find_value(b->s, "warmup_s")))
        m[n++] = suite_result_make_member("warmup_s", *v);
    if ((v = suite_result_find_value(b->s, "settled")))
        m[n++] = suite_result_make_member("settled", *v);
    if (n)
        *to =
            suite_result_make_member("steady", suite_result_make_map(b, m, n));
    return n > 0;
}

static void put_ours(struct builder *b)
{
    static const char *const figures[] = {"exit_status", "signal", "elapsed_s",
                                          "max_rss_bytes", "memory_peak"};
    const struct pr_value *r = &b->s->result, *v;
    const struct pr_value *engine =
        suite_result_find_value(b->s, "suite.engine");
    struct pr_member m[24];
    uint32_t n = 0;
    const char *log = pr_arena_printf(b->a, "experiments/%s/log.txt", b->s->id);

    b->failed |= !log;
    m[n++] = suite_result_make_member("id", pr_str(b->s->id));
    m[n++] =
        suite_result_make_member("status", pr_str(pr_text_at(r, "status", "")));
    m[n++] =
        suite_result_make_member("reason", pr_str(pr_text_at(r, "reason", "")));
    if (engine)
        m[n++] = suite_result_make_member("engine", *engine);
    if ((v = suite_result_find_value(b->s, "suite.equivalent")))
        m[n++] = suite_result_make_member("equivalent", *v);
    if ((v = suite_result_find_value(b->s, "suite.slot")))
        m[n++] = suite_result_make_member("slot", *v);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if ((v = suite_result_find_value(b->s, figures[i])))
            m[n++] = suite_result_make_member(figures[i], *v);
    n += put_steady(b, &m[n]);
    /* Memory, energy, load of the processors: docs/monitor.md. */
    if ((v = pr_get(r, "monitor")) && v->kind == PR_MAP)
        m[n++] = suite_result_make_member("monitor", *v);
    if ((v = pr_get(r, "attempts")))
        m[n++] = suite_result_make_member("attempts", *v);
    if ((v = pr_get(r, "warnings")))
        m[n++] = suite_result_make_member("warnings", *v);
    m[n++] = suite_result_make_member("log", pr_str(log ? log : ""));
    suite_result_add(b, "prony", suite_result_make_map(b, m, n));
}

/* The whole, in the arena. */
static int suite_result_compose(const struct result_source *s,
                                struct pr_arena *a, struct pr_value *ret,
                                struct pr_err *err)
{
    struct builder b = {.s = s, .a = a};
    struct pr_value timings, metrics, gpus;
    int rc;

    suite_result_add_name(&b);
    rc = put_call(&b, err);
    if (!rc)
        rc = suite_result_timings(s, a, &timings, &metrics, err);
    if (!rc)
        rc = suite_result_gpus(s, a, &gpus, err);
    if (rc)
        return rc;
    suite_result_add(&b, "success", pr_bool(s->ok));
    suite_result_add(&b, "error", error_of(&b));
    suite_result_add_machine(&b);
    put_environ(&b);
    suite_result_add(&b, "metrics", metrics);
    suite_result_add(&b, "timings", timings);
    suite_result_add(&b, "gpu_monitor", gpus);
    put_ours(&b);
    *ret = suite_result_make_map(&b, b.m, b.n);
    return b.failed ? pr_fail_nomem(err) : PR_OK;
}

/* ---- the file */

enum {
    MAX_FILE = 64 << 20,
    MAX_NAME = NAME_MAX - 40, /* while it is written it has a longer one */
};

static bool suite_result_is_wanted(const struct pr_value *params)
{
    const struct pr_value *v = pr_get(params, "suite.name");

    return v && v->kind == PR_STR && v->len;
}

static int suite_result_read_json(const char *dir, const char *path,
                                  struct pr_arena *a, struct pr_value *ret,
                                  struct pr_err *err)
{
    struct pr_json_in in = {.name = path};
    int rc = pr_file_read_in(dir, path, MAX_FILE, a, &in.text, &in.len, err);

    return rc ? rc : pr_json_read(&in, a, ret, NULL, err);
}

/* "20261115-191746-764125" of "2026-11-15T19:17:46.764125Z". */
static void suite_result_write_time(struct pr_buf *out, const char *time)
{
    for (; *time; time++)
        if (*time == 'T' || *time == '.')
            pr_buf_char(out, '-');
        else if (*time >= '0' && *time <= '9')
            pr_buf_char(out, *time);
}

/* When it ended; of what never started, when that was written down. */
static const char *suite_result_end_time(const struct pr_value *result,
                                         const char *path, char out[static 32])
{
    const struct pr_value *ended = pr_get(result, "ended");
    struct stat st = {0};

    if (ended && ended->kind == PR_STR)
        return ended->s;
    (void)stat(path, &st);
    return pr_time_text(out, (uint64_t)st.st_mtim.tv_sec * 1000000000u +
                                 (uint64_t)st.st_mtim.tv_nsec);
}

static int suite_result_read_params(const char *dir, const char *id,
                                    struct pr_arena *a, struct pr_value *ret,
                                    struct pr_err *err)
{
    char path[4096 + 64];

    snprintf(path, sizeof path, "%s/experiments/%s/params.json", dir, id);
    return suite_result_read_json(dir, path, a, ret, err);
}

/* Everything there is about the experiment; params are known already, or NULL.
 * 1: there; 0: it has no result. */
static int suite_result_load(const char *dir, const char *id,
                             const struct pr_value *params, struct pr_arena *a,
                             struct result_source *ret, struct pr_err *err)
{
    char path[4096 + 64], time[32];
    int rc = pr_result_read(dir, id, a, &ret->result, err);

    if (rc != 1)
        return rc;
    rc = params ? PR_OK
                : suite_result_read_params(dir, id, a, &ret->params, err);
    if (params)
        ret->params = *params;
    if (!rc)
        rc = pr_opt_fill(&pr_suite_section, &ret->params, a, &ret->suite, err);
    if (rc)
        return rc;
    ret->dir = dir;
    ret->id = id;
    ret->ok = pr_result_status(&ret->result) == PR_STATUS_OK;
    snprintf(path, sizeof path, "%s/experiments/%s/result.json", dir, id);
    ret->time =
        pr_arena_str(a, suite_result_end_time(&ret->result, path, time));
    return ret->time ? 1 : pr_fail_nomem(err);
}

/* "<suite>[.<job>]" in room bytes: names are anybody's, and the file lies in
 * the run directory whatever they are. The whole name is in the file. */
static void suite_result_write_names(struct pr_buf *out,
                                     const struct pr_suite_opts *s, size_t room)
{
    size_t from = out->len;

    pr_buf_printf(out, "%.*s%s%.*s", (int)room, s->name, *s->job ? "." : "",
                  (int)room, s->job);
    if (!pr_buf_ok(out))
        return;
    out->len = from + pr_utf8_fit(out->data + from, out->len - from, room);
    pr_filename_clean(out->data + from, out->len - from);
}

/* DIR/<suite>[.<job>][.J<id>][.FAIL].<time>.json */
static int suite_result_make_path(const struct result_source *s,
                                  struct pr_arena *a, const char **ret,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf path = PR_BUF_INIT(PATH_MAX);
    PR_AUTO_BUF struct pr_buf end = PR_BUF_INIT(MAX_NAME);
    char job_id[64];

    if (suite_result_job_id(s, job_id))
        pr_buf_printf(&end, ".J%s", job_id);
    pr_buf_str(&end, s->ok ? "." : ".FAIL.");
    suite_result_write_time(&end, s->time);
    pr_buf_str(&end, ".json");
    pr_buf_printf(&path, "%s/", s->dir);
    suite_result_write_names(&path, &s->suite, MAX_NAME - end.len);
    pr_buf_add(&path, end.data, end.len);
    if (!pr_buf_ok(&path) || !pr_buf_ok(&end))
        return pr_fail(err, PR_E_IO, s->dir, "the path is too long");
    *ret = pr_arena_copy(a, path.data, path.len);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

static int suite_result_write_file(struct result_source *s, bool sync,
                                   struct pr_arena *a, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_FILE);
    struct pr_value all;
    const char *path;
    struct stat st;
    int rc = suite_result_make_path(s, a, &path, err);

    if (rc || stat(path, &st) == 0)
        return rc;
    rc = suite_result_compose(s, a, &all, err);
    if (rc)
        return rc;
    pr_json_write_indented(&text, &all, 4, 0);
    pr_buf_char(&text, '\n');
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return sync ? pr_file_write(path, text.data, text.len, err)
                : pr_file_write_later(path, text.data, text.len, err);
}

int pr_suite_result_write(const char *dir, const char *id,
                          const struct pr_value *params, struct pr_gpus *gpus,
                          struct pr_arena *a, struct pr_err *err)
{
    struct result_source s = {.gpus = gpus};
    int rc = suite_result_is_wanted(params)
                 ? suite_result_load(dir, id, params, a, &s, err)
                 : 0;

    /* One that was skipped was not even tried: milarun has no word for that. */
    if (rc != 1 || pr_result_status(&s.result) == PR_STATUS_SKIPPED)
        return rc < 0 ? rc : PR_OK;
    return suite_result_write_file(&s, pr_job_needs_sync(params), a, err);
}

int pr_suite_result_mend(const char *dir, const char *id,
                         const struct pr_value *planned, struct pr_gpus *gpus,
                         struct pr_arena *a, struct pr_err *err)
{
    struct pr_value params;
    int rc = suite_result_is_wanted(planned)
                 ? suite_result_read_params(dir, id, a, &params, err)
                 : 1;

    return rc ? rc < 0 ? rc : PR_OK
              : pr_suite_result_write(dir, id, &params, gpus, a, err);
}

int pr_suite_result_remove(const char *dir, const char *id,
                           const struct pr_value *params, struct pr_arena *a,
                           struct pr_err *err)
{
    struct result_source s = {0};
    struct pr_err why = {0};
    const char *path;
    int rc = suite_result_is_wanted(params)
                 ? suite_result_load(dir, id, NULL, a, &s, &why)
                 : 0;

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc != 1) /* none, or one that cannot be read: then it left no file */
        return PR_OK;
    rc = suite_result_make_path(&s, a, &path, err);
    if (!rc && unlink(path) != 0 && errno != ENOENT)
        rc = pr_fail_errno(err, PR_E_IO, path, "cannot remove");
    return rc;
}

/* ---- before it runs */

/* A line each. */
static void warn_lines(struct pr_buf *warnings, char *lines)
{
    char *rest;

    for (char *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        pr_collect_add_warning(warnings, "%s", line);
}

int pr_suite_result_check(struct pr_job *job, struct pr_buf *warnings,
                          struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf notes = PR_BUF_INIT(1 << 16);
    struct pr_suite_call run = {.notes = &notes};
    int rc;

    if (strcmp(job->exp.workload, "suite") != 0)
        return PR_OK;
    rc = pr_suite_resolve(job, &run, err);
    if (!rc && notes.len)
        warn_lines(warnings, notes.data);
    if (!rc && run.lost_prefix)
        pr_collect_add_warning(
            warnings,
            "suite.exec_prefix is left out: there is no program "
            "'%.100s'",
            run.lost_prefix);
    return rc;
}

/* ---- what milarun wrote itself */

static void suite_result_write_member(struct pr_buf *out, const char *prefix,
                                      const char *name,
                                      const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf key = PR_BUF_INIT(4096);

    pr_buf_printf(&key, "%s%s", prefix, name);
    if (!pr_buf_ok(&key))
        return;
    pr_buf_str(out, out->len ? ", " : "");
    pr_json_write_string(out, key.data, key.len);
    pr_buf_str(out, ": ");
    pr_json_write(out, v);
}

/* Words in a JSON string. */
static void suite_result_write_text(struct pr_buf *out, const char *name,
                                    const char *text)
{
    struct pr_value v = pr_str(text);

    suite_result_write_member(out, "suite.", name, &v);
}

static void put_engine(struct pr_job *job, struct pr_buf *out)
{
    struct pr_suite_call run = {.notes = NULL};
    const char *model;

    if (pr_suite_resolve(job, &run, NULL))
        return; /* nobody could */
    suite_result_write_text(out, "engine", pr_suite_engine_word(run.engine));
    if (run.engine != PR_SUITE_NATIVE)
        return;
    model = run.native.exp.model;
    suite_result_write_text(out, "equivalent",
                            *model ? model : run.native.exp.workload);
}

static void suite_result_write_milarun(const struct pr_value *file,
                                       struct pr_buf *out)
{
    static const char *const kept[] = {
        "success", "error", "gpu", "device_count", "metrics", "gpu_monitor"};
    const struct pr_value *t = pr_get(file, "timings");

    for (uint32_t i = 0; t && t->kind == PR_MAP && i < t->len; i++)
        suite_result_write_member(out, "timings.", t->members[i].key,
                                  &t->members[i].value);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (pr_get(file, kept[i]))
            suite_result_write_member(out, "milarun.", kept[i],
                                      pr_get(file, kept[i]));
}

/* One that was killed may leave half of it, or none. */
static bool read_milarun(struct pr_job *job, struct pr_value *ret)
{
    char path[4096 + 32];
    struct pr_value file;
    struct stat st;

    if (!job->params || !suite_result_is_wanted(job->params))
        return false;
    snprintf(path, sizeof path, "%s/" PR_SUITE_MILARUN_FILE, job->dir);
    return stat(path, &st) == 0 &&
           suite_result_read_json(job->dir, path, job->arena, &file, NULL) ==
               PR_OK &&
           file.kind == PR_MAP &&
           pr_collect_copy_finite(job->arena, &file, ret);
}

int pr_suite_result_gather(struct pr_job *job, struct pr_buf *results,
                           struct pr_err *err)
{
    struct pr_value file;

    if (!job->params || !suite_result_is_wanted(job->params))
        return PR_OK;
    if (*pr_job_param_text(job, "suite.experiment"))
        put_engine(job, results);
    if (read_milarun(job, &file))
        suite_result_write_milarun(&file, results);
    return pr_buf_ok(results) ? PR_OK : pr_fail_nomem(err);
}

bool pr_suite_result_has_failed(struct pr_job *job)
{
    const struct pr_value *good;
    struct pr_value file;

    if (!read_milarun(job, &file))
        return false;
    good = pr_get(&file, "success");
    return good && good->kind == PR_BOOL && !good->b;
}
