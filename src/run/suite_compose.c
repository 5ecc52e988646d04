/*
 * A result as milarun writes it. What milarun does not have (status, reason,
 * slot, …) stands in one key of ours at the end, "prony".
 */
#include "run/suite_compose.h"

#include "base/json/json_write.h"
#include "run/suite_timings.h"
#include "workload/suite_workload.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_KEYS = 128 };

struct builder {
    const struct pr_suite_result_source *s;
    struct pr_arena *a;
    struct pr_member m[MAX_KEYS];
    uint32_t n;
    bool failed; /* out of memory */
};

static void suite_result_add(struct builder *b, const char *key,
                             struct pr_value v)
{
    b->m[b->n++] = (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
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

static struct pr_member suite_result_make_member(const char *key,
                                                 struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

static const struct pr_value *
suite_result_find_value(const struct pr_suite_result_source *s,
                        const char *name)
{
    const struct pr_value *results = pr_get(&s->result, "results");

    return results ? pr_get(results, name) : NULL;
}

static const char *str_of(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_STR ? v->s : "";
}

const char *pr_suite_result_job_id(const struct pr_suite_result_source *s,
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

static bool is_extra(const struct pr_suite_result_source *s, const char *key)
{
    return pr_get(s->suite.extra, key) != NULL;
}

static void suite_result_add_name(struct builder *b)
{
    const struct pr_suite_result_source *s = b->s;
    const char *data = getenv("PRONY_DATA");
    char id[64], whole[PATH_MAX];
    const char *name = pr_arena_printf(b->a, "%s%s%s", s->suite.name,
                                       *s->suite.job ? "." : "", s->suite.job);

    b->failed |= !name;
    suite_result_add(b, "name", pr_str(name ? name : ""));
    suite_result_add(b, "job_id",
                     suite_result_text(b, pr_suite_result_job_id(s, id)));
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
    const char *reason = str_of(&b->s->result, "reason");
    const char *tail = str_of(&b->s->result, "log_tail");
    const char *all;

    if (b->s->ok)
        return pr_null();
    if (own && own->kind == PR_STR && own->len)
        return *own;
    all = pr_arena_printf(b->a, "%s: %s\n%s", str_of(&b->s->result, "status"),
                          reason, tail);
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
    m[n++] = suite_result_make_member("status", pr_str(str_of(r, "status")));
    m[n++] = suite_result_make_member("reason", pr_str(str_of(r, "reason")));
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

int pr_suite_result_compose(const struct pr_suite_result_source *s,
                            struct pr_arena *a, struct pr_value *ret,
                            struct pr_err *err)
{
    struct builder b = {.s = s, .a = a};
    struct pr_value timings, metrics, gpus;
    int rc;

    suite_result_add_name(&b);
    rc = put_call(&b, err);
    if (!rc)
        rc = pr_suite_result_timings(s, a, &timings, &metrics, err);
    if (!rc)
        rc = pr_suite_result_gpus(s, a, &gpus, err);
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
