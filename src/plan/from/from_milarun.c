/*
 * milarun's profiles: one group of experiments for each job, in the order of
 * the file.
 *     {"*": {…what all jobs have…},
 *      "vae": {"experiment": "milarun.models.vae:main",
 *              "arguments": {"--batch-size": 128, "--cuda": true},
 *              "partition_scheme": {"type": "per-gpu"}}}
 * Ours besides: "command" for the experiment "command", and "parameters", a map
 * of any of Prony's. Copies for devices are the cases of an extension, so that
 * they stand together whatever else is varied.
 */
#include "plan/from/from_milarun.h"

#include "base/text.h"
#include "machine/nvml.h"
#include "plan/source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of jobs become parts of files' names. */
enum { MAX_JOB_NAME = 100 };

/* What a name has to be, for hints. */
#define JOB_NAME_HINT                                            \
    "1 to 100 bytes, no '/', no control characters, and no '.' " \
    "at the start"

/* ---- --devices */

static int devices_fail(const char *text, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "", "--devices: '%.100s' is not a list of devices",
            text);
    return pr_hint(err, "auto, how many (4), or which: 0,2 or 0-3; at most %d",
                   PR_DEVICES_MAX);
}

/* A whole number, and where it ends; false: there is none. */
static bool devices_parse_number(const char **p, int64_t *ret)
{
    char *end;

    if (**p < '0' || **p > '9')
        return false;
    *ret = strtol(*p, &end, 10);
    *p = end;
    return *ret <= 1000000;
}

static bool devices_add(struct pr_plan_scope *s, int64_t device)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i] == device)
            return false;
    if (s->device_count == PR_DEVICES_MAX)
        return false;
    s->devices[s->device_count++] = device;
    return true;
}

/* "A" or "A-B", with the comma after it. */
static bool devices_parse_part(struct pr_plan_scope *s, const char **p)
{
    int64_t from, to;

    if (!devices_parse_number(p, &from))
        return false;
    to = from;
    if (**p == '-') {
        (*p)++;
        if (!devices_parse_number(p, &to) || to < from)
            return false;
    }
    for (; from <= to; from++)
        if (!devices_add(s, from))
            return false;
    if (**p == ',')
        (*p)++;
    else if (**p)
        return false;
    return true;
}

static int64_t count_here(void)
{
    struct pr_nvml *n = pr_nvml_open(NULL);
    unsigned count = n ? pr_nvml_count(n) : 0;

    pr_nvml_close(n);
    return count ? count : 1;
}

int pr_devices_set(struct pr_plan_scope *s, const char *text,
                   struct pr_err *err)
{
    bool is_auto = strcmp(text, "auto") == 0;
    const char *p = text;
    int64_t n = 0;

    s->devices = PR_ARENA_ARRAY(s->arena, int64_t, PR_DEVICES_MAX);
    s->device_count = 0;
    if (!s->devices)
        return pr_fail_nomem(err);
    if (is_auto)
        n = count_here();
    if (is_auto || (devices_parse_number(&p, &n) && !*p)) {
        if (n < 1 || n > PR_DEVICES_MAX)
            return devices_fail(text, err);
        for (int64_t i = 0; i < n; i++)
            (void)devices_add(s, i);
        return PR_OK;
    }
    for (p = text; *p;)
        if (!devices_parse_part(s, &p))
            return devices_fail(text, err);
    return s->device_count ? PR_OK : devices_fail(text, err);
}

/* ---- a job's parameters */

/* Of a job. The suite's is the profile's, and may be longer. */
static bool is_job_name(const char *name)
{
    return pr_filename_is_safe(name) && strlen(name) <= MAX_JOB_NAME;
}

struct reader {
    struct pr_plan_scope *scope;
    const char *path, *suite;
    enum pr_origin_kind origin;
    struct pr_config_part *out;
    const struct pr_member *job;
    struct pr_value merged;       /* the job with the defaults in it */
    const struct pr_value *entry; /* … */
    struct pr_err *err;
};

static int from_milarun_fail_kind(const struct reader *r,
                                  const struct pr_value *at, const char *what,
                                  const char *wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->path, at->line, at->col,
                      "'%s' of job '%.100s' must be %s, got %s", what,
                      r->job->key, wanted, pr_kind_name(at->kind));
}

static int from_milarun_set_param(struct reader *r, const char *name,
                                  const struct pr_value *v)
{
    struct pr_origin at = {r->origin, r->path, v->line, v->col};

    if (!at.line) {
        at.line = r->job->line;
        at.col = r->job->col;
    }
    return pr_config_part_add_param(r->scope, r->out, name, strlen(name), v,
                                    &at, r->err);
}

static int from_milarun_set_text(struct reader *r, const char *name,
                                 const char *text)
{
    struct pr_value v = pr_str(text);

    return from_milarun_set_param(r, name, &v);
}

/* ---- the file */

/* The name of the file without folders and ending. */
static const char *suite_name(struct pr_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');

    return pr_arena_copy(
        a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* "*" under a job, key by key: a value of the job's replaces the whole. */
static int from_milarun_merge_job(struct reader *r, const struct pr_value *all,
                                  const struct pr_value *job,
                                  struct pr_value *ret)
{
    uint32_t most = (all ? all->len : 0) + job->len, n = 0;
    struct pr_member *m =
        PR_ARENA_ARRAY(r->scope->arena, struct pr_member, most + 1);

    if (!m)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; all && i < all->len; i++) {
        const struct pr_value *own = pr_get(job, all->members[i].key);

        m[n] = all->members[i];
        if (own)
            m[n].value = *own;
        n++;
    }
    for (uint32_t i = 0; i < job->len; i++)
        if (!all || !pr_get(all, job->members[i].key))
            m[n++] = job->members[i];
    *ret = *job;
    ret->len = n;
    ret->members = m;
    return PR_OK;
}

/* ---- keys of a job */

/* Text, or a list of texts: commands and words. */
static int set_words(struct reader *r, const char *key, const char *name)
{
    const struct pr_value *v = pr_get(r->entry, key);
    struct pr_value list;

    if (!v || v->kind == PR_NULL)
        return PR_OK;
    if (v->kind == PR_STR) {
        list = (struct pr_value){.kind = PR_LIST,
                                 .line = v->line,
                                 .col = v->col,
                                 .len = 1,
                                 .items = v};
        v = &list;
    }
    if (v->kind != PR_LIST)
        return from_milarun_fail_kind(r, v, key, "a list of texts");
    for (uint32_t i = 0; i < v->len; i++)
        if (v->items[i].kind != PR_STR)
            return from_milarun_fail_kind(r, &v->items[i], key,
                                          "a list of texts");
    return from_milarun_set_param(r, name, v);
}

/* --x true is --x; false and null leave it out; all else has its value after
 * it, as Python writes it. */
static int argument_words(struct reader *r, const struct pr_value *map,
                          struct pr_value *ret)
{
    struct pr_value *words =
        PR_ARENA_ARRAY(r->scope->arena, struct pr_value, 2 * map->len + 1);
    uint32_t n = 0;

    if (!words)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
        const char *copy;

        if (m->value.kind == PR_NULL ||
            (m->value.kind == PR_BOOL && !m->value.b))
            continue;
        words[n++] = pr_strn(m->key, m->key_len);
        if (m->value.kind == PR_BOOL)
            continue;
        pr_value_write_text(&text, &m->value);
        copy = pr_arena_copy(r->scope->arena, text.data ? text.data : "",
                             text.len);
        if (!pr_buf_ok(&text) || !copy)
            return pr_fail_nomem(r->err);
        words[n++] = pr_strn(copy, text.len);
    }
    *ret = (struct pr_value){.kind = PR_LIST,
                             .line = map->line,
                             .col = map->col,
                             .len = n,
                             .items = words};
    return PR_OK;
}

static int set_arguments(struct reader *r)
{
    const struct pr_value *v = pr_get(r->entry, "arguments");
    struct pr_value words;
    int rc;

    if (!v || v->kind == PR_NULL)
        return PR_OK;
    if (v->kind == PR_LIST)
        return set_words(r, "arguments", "suite.arguments");
    if (v->kind != PR_MAP)
        return from_milarun_fail_kind(r, v, "arguments", "a map of options");
    rc = argument_words(r, v, &words);
    return rc ? rc : from_milarun_set_param(r, "suite.arguments", &words);
}

static int set_experiment(struct reader *r)
{
    const struct pr_value *v = pr_get(r->entry, "experiment");
    const struct pr_value *command = pr_get(r->entry, "command");
    int rc;

    if (!v) {
        pr_fail_at(r->err, PR_E_CONF, r->path, r->job->line, r->job->col,
                   "job '%.100s' has no 'experiment'", r->job->key);
        return pr_hint(r->err, "for example milarun.models.vae:main");
    }
    if (v->kind != PR_STR || !v->len)
        return from_milarun_fail_kind(r, v, "experiment", "text");
    if (strcmp(v->s, "command") == 0) {
        if (!command || (command->kind != PR_STR && command->kind != PR_LIST))
            return pr_fail_at(r->err, PR_E_CONF, r->path, v->line, v->col,
                              "experiment 'command' of job '%.100s' needs a "
                              "'command', text or a list",
                              r->job->key);
    } else if (!strchr(v->s, ':')) {
        pr_fail_at(r->err, PR_E_CONF, r->path, v->line, v->col,
                   "experiment '%.100s' is not of the form module:function",
                   v->s);
        return pr_hint(r->err, "for example milarun.models.vae:main; or "
                               "'command', with a 'command' of your own");
    } else
        command = NULL;
    rc = command ? from_milarun_set_param(r, "exp.command", command) : PR_OK;
    return rc ? rc : from_milarun_set_param(r, "suite.experiment", v);
}

static int set_parameters(struct reader *r)
{
    const struct pr_value *v = pr_get(r->entry, "parameters");
    int rc = PR_OK;

    if (!v || v->kind == PR_NULL)
        return PR_OK;
    if (v->kind != PR_MAP)
        return from_milarun_fail_kind(r, v, "parameters", "a map");
    for (uint32_t i = 0; i < v->len && !rc; i++)
        rc = from_milarun_set_param(r, v->members[i].key, &v->members[i].value);
    return rc;
}

static int from_milarun_warn_unknown(struct reader *r)
{
    static const char *const known[] = {
        "experiment",  "arguments",        "prepare",
        "exec_prefix", "command",          "weight",
        "parameters",  "partition_scheme", NULL};

    for (uint32_t i = 0; i < r->entry->len; i++) {
        const struct pr_member *m = &r->entry->members[i];
        struct pr_origin at = {r->origin, r->path, m->line, m->col};
        struct pr_nearest near;
        char where[256], remedy[160] = "";
        size_t k = 0;

        pr_nearest_init(&near, m->key);
        for (; known[k] && strcmp(known[k], m->key) != 0; k++)
            pr_nearest_offer(&near, known[k]);
        if (known[k])
            continue;
        if (near.best)
            snprintf(remedy, sizeof remedy, "did you mean '%s'?", near.best);
        if (!pr_warn(&r->scope->warnings, pr_origin_text(&at, where), remedy,
                     "unknown key '%.100s' in job '%.100s', ignored", m->key,
                     r->job->key))
            return pr_fail_nomem(r->err);
    }
    return PR_OK;
}

/* ---- how a job is spread over the devices */

static struct pr_member from_milarun_make_member(const char *key,
                                                 struct pr_value v)
{
    return (struct pr_member){
        .key = key, .key_len = (uint32_t)strlen(key), .value = v};
}

/* Devices from..to of the list. */
static bool some_devices(struct reader *r, size_t from, size_t to,
                         struct pr_value *ret)
{
    struct pr_value *items =
        PR_ARENA_ARRAY(r->scope->arena, struct pr_value, to - from + 1);

    if (!items)
        return false;
    for (size_t i = from; i <= to; i++)
        items[i - from] = pr_int(r->scope->devices[i]);
    *ret = (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)(to - from + 1), .items = items};
    return true;
}

/* One copy: on a device of its own, or on the first of them in turn. */
static bool one_case(struct reader *r, size_t i, bool apart,
                     struct pr_value *ret)
{
    struct pr_member *m = PR_ARENA_ARRAY(r->scope->arena, struct pr_member, 4);
    struct pr_value devices, slots = {.kind = PR_LIST};

    if (!m || !some_devices(r, apart ? i : 0, i, &devices) ||
        (apart && !some_devices(r, 0, r->scope->device_count - 1, &slots)))
        return false;
    m[0] = from_milarun_make_member("suite.device",
                                    pr_int(apart ? r->scope->devices[i] : -1));
    m[1] = from_milarun_make_member("suite.devices", devices);
    m[2] =
        from_milarun_make_member("suite.slot", pr_int(apart ? (int64_t)i : 0));
    m[3] = from_milarun_make_member("suite.slots", slots);
    *ret = (struct pr_value){.kind = PR_MAP, .len = 4, .members = m};
    return true;
}

static int from_milarun_spread_devices(struct reader *r, bool apart)
{
    size_t n = r->scope->device_count;
    struct pr_value *cases =
        PR_ARENA_ARRAY(r->scope->arena, struct pr_value, n);
    struct pr_member *m = PR_ARENA_ARRAY(r->scope->arena, struct pr_member, 2);
    struct pr_value none = {.kind = PR_MAP}, map = {.kind = PR_MAP, .len = 2};
    struct pr_origin at = {PR_FROM_EXTENSION, r->path, r->job->line,
                           r->job->col};

    if (!cases || !m)
        return pr_fail_nomem(r->err);
    for (size_t i = 0; i < n; i++)
        if (!one_case(r, i, apart, &cases[i]))
            return pr_fail_nomem(r->err);
    m[0] = from_milarun_make_member("condition", none);
    m[1] = from_milarun_make_member(
        "cases",
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = cases});
    map.members = m;
    return pr_config_part_add_extension(r->scope, r->out, &map, &at, r->err);
}

static int bad_scheme(const struct reader *r, const struct pr_value *type)
{
    if (type->kind != PR_STR)
        return from_milarun_fail_kind(r, type, "partition_scheme",
                                      "a map with a 'type'");
    pr_fail_at(r->err, PR_E_CONF, r->path, type->line, type->col,
               "unknown partition_scheme '%.100s' of job '%.100s'", type->s,
               r->job->key);
    return pr_hint(r->err, "per-gpu, gpu-progression, per-slot or normal");
}

static int from_milarun_set_scheme(struct reader *r)
{
    static const char *const names[] = {"normal", "per-gpu", "per-slot",
                                        "gpu-progression", NULL};
    const struct pr_value *scheme = pr_get(r->entry, "partition_scheme");
    const struct pr_value *type = scheme ? pr_get(scheme, "type") : NULL;
    const struct pr_value *cgroup = scheme ? pr_get(scheme, "cgroup") : NULL;
    size_t k = 0;
    int rc;

    if (!scheme || scheme->kind == PR_NULL)
        return PR_OK;
    if (!type)
        return from_milarun_fail_kind(r, scheme, "partition_scheme",
                                      "a map with a 'type'");
    while (type->kind == PR_STR && names[k] && strcmp(names[k], type->s) != 0)
        k++;
    if (type->kind != PR_STR || !names[k])
        return bad_scheme(r, type);
    rc = from_milarun_set_param(r, "suite.scheme", type);
    if (!rc && cgroup && cgroup->kind == PR_STR)
        rc = from_milarun_set_param(r, "suite.cgroup", cgroup);
    if (rc || k == 0)
        return rc;
    if (k != 3)
        rc = from_milarun_set_text(r, "suite.group", r->job->key);
    return rc ? rc : from_milarun_spread_devices(r, k != 3);
}

/* ---- all of it */

static int read_job(struct reader *r)
{
    int rc;

    r->out->file = r->path;
    r->out->name = r->job->key;
    r->out->peer = r->out->suite = true;
    rc = from_milarun_set_text(r, "exp.workload", "suite");
    if (!rc)
        rc = from_milarun_set_text(r, "suite.name", r->suite);
    if (!rc)
        rc = from_milarun_set_text(r, "suite.job", r->job->key);
    if (!rc)
        rc = set_experiment(r);
    if (!rc)
        rc = set_arguments(r);
    if (!rc)
        rc = set_words(r, "prepare", "suite.prepare");
    if (!rc)
        rc = set_words(r, "exec_prefix", "suite.exec_prefix");
    if (!rc)
        rc = from_milarun_set_param(r, "suite.entry", r->entry);
    if (!rc)
        rc = from_milarun_set_scheme(r);
    if (!rc)
        rc = set_parameters(r);
    return rc ? rc : from_milarun_warn_unknown(r);
}

/* A name becomes part of a file's. */
static int from_milarun_check_name(const struct reader *r)
{
    const char *key = r->job->key;

    if (is_job_name(key) && strlen(key) == r->job->key_len)
        return PR_OK;
    pr_fail_at(r->err, PR_E_CONF, r->path, r->job->line, r->job->col,
               "'%.100s' cannot be the name of a job: it becomes part "
               "of a file's name",
               key);
    return pr_hint(r->err, JOB_NAME_HINT);
}

/* The same for the profile's own name. */
static int check_suite(const struct reader *r)
{
    if (!pr_filename_has_control(r->suite))
        return PR_OK;
    pr_fail(r->err, PR_E_CONF, r->path,
            "'%.100s' cannot be the name of a suite: it becomes part of a "
            "file's name",
            r->suite);
    return pr_hint(r->err, "rename the profile: no control characters");
}

static int from_milarun_read_entry(struct reader *r, const struct pr_value *all)
{
    int rc = from_milarun_check_name(r);

    if (!rc && r->job->value.kind != PR_MAP)
        rc = pr_fail_at(r->err, PR_E_CONF, r->path, r->job->line, r->job->col,
                        "job '%.100s' must be a map, got %s", r->job->key,
                        pr_kind_name(r->job->value.kind));
    if (!rc)
        rc = from_milarun_merge_job(r, all, &r->job->value, &r->merged);
    r->entry = &r->merged;
    return rc ? rc : read_job(r);
}

int pr_from_milarun(struct pr_plan_scope *s, const struct pr_config_source *src,
                    enum pr_origin_kind origin, struct pr_config_part **ret,
                    size_t *ret_count, struct pr_err *err)
{
    const struct pr_value *root = &src->root, *all = pr_get(root, "*");
    struct pr_config_part *f =
        PR_ARENA_ARRAY(s->arena, struct pr_config_part, root->len + 1);
    struct reader r = {.scope = s,
                       .path = src->path,
                       .suite = suite_name(s->arena, src->path),
                       .origin = origin,
                       .err = err};
    int rc = s->device_count ? PR_OK : pr_devices_set(s, "auto", err);
    size_t n = 0;

    if (!f || !r.suite)
        return pr_fail_nomem(err);
    if (!rc)
        rc = check_suite(&r);
    if (!rc && all && all->kind != PR_MAP)
        rc = pr_fail_at(err, PR_E_CONF, src->path, all->line, all->col,
                        "'*' must be a map, got %s", pr_kind_name(all->kind));
    for (uint32_t i = 0; i < root->len && !rc; i++) {
        r.job = &root->members[i];
        r.out = &f[n];
        if (strcmp(r.job->key, "*") == 0)
            continue;
        rc = from_milarun_read_entry(&r, all);
        n++;
    }
    if (!rc && !n)
        rc = pr_fail(err, PR_E_CONF, src->path, "the profile has no jobs");
    *ret = f;
    *ret_count = n;
    return rc;
}
