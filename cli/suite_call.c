/* From a result file to a plan of the same experiment. */
#include "cli/suite_call.h"

#include "base/file.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 64 << 20 };

/* ---- reading */

static struct pr_value any_in(const struct pr_value *map, const char *key,
                              enum pr_kind kind)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == kind ? *v : pr_null();
}

static int no_result(const char *path, struct pr_err *err)
{
    pr_fail(err, PR_E_FORMAT, path,
            "is neither a result of milarun's nor one of Prony's");
    return pr_hint(err, "a result has 'call' with 'function' and 'argv', or is "
                        "experiments/ID/result.json of a run");
}

int suite_call_read(struct cli *c, const char *path, struct suite_call *ret,
                    struct pr_err *err)
{
    struct pr_json_in in = {.name = path};
    const struct pr_value *call;
    struct pr_value root;
    int rc =
        pr_file_read_in(NULL, path, MAX_FILE, c->arena, &in.text, &in.len, err);

    if (!rc)
        rc = pr_json_read(&in, c->arena, &root, NULL, err);
    if (rc)
        return rc;
    *ret = (struct suite_call){.argv = {.kind = PR_LIST},
                               .params = any_in(&root, "params", PR_MAP)};
    if (ret->params.kind == PR_MAP)
        return PR_OK;
    call = pr_get(&root, "call");
    ret->function = pr_text_at(call, "function", NULL);
    if (!ret->function)
        return no_result(path, err);
    ret->name = pr_text_at(&root, "name", NULL);
    ret->job_id = pr_text_at(&root, "job_id", NULL);
    ret->dataroot = pr_text_at(&root, "dataroot", NULL);
    if (any_in(call, "argv", PR_LIST).kind == PR_LIST)
        ret->argv = any_in(call, "argv", PR_LIST);
    ret->environ = any_in(&root, "environ", PR_MAP);
    ret->job = any_in(&root, "job", PR_MAP);
    ret->devices = any_in(&root, "devices", PR_LIST);
    return PR_OK;
}

/* ---- planning */

struct maker {
    struct cli *c;
    struct pr_plan *p;
    struct pr_err *err;
    int rc;
};

static void suite_call_set_value(struct maker *m, const char *name,
                                 const struct pr_value *v)
{
    if (!m->rc && v->kind != PR_NULL)
        m->rc = pr_plan_param_value(m->p, name, v, "the result", m->err);
}

static void suite_call_set_text(struct maker *m, const char *name,
                                const char *text)
{
    struct pr_value v = pr_str(text);

    suite_call_set_value(m, name, &v);
}

static void set_int(struct maker *m, const char *name, int64_t i)
{
    struct pr_value v = pr_int(i);

    suite_call_set_value(m, name, &v);
}

/* "standard.vae" is a job of a suite, "m:f" a name of its own. */
static void suite_call_set_name(struct maker *m, const struct suite_call *call)
{
    const char *name = call->name ? call->name : call->function;
    const char *dot = strchr(name, ':') ? NULL : strchr(name, '.');
    char *suite = dot && dot > name && dot[1]
                      ? pr_arena_copy(m->c->arena, name, (size_t)(dot - name))
                      : pr_arena_str(m->c->arena, name);

    if (!suite)
        m->rc = pr_fail_nomem(m->err);
    for (char *p = suite; p && *p; p++)
        if (*p == '/')
            *p = '_';
    if (!m->rc)
        suite_call_set_text(m, "suite.name", suite);
    if (dot && dot > name && dot[1])
        suite_call_set_text(m, "suite.job", dot + 1);
    suite_call_set_text(m, "exp.name", name);
}

/* "RUN" or "RUN.DEVICE". */
static void set_job_id(struct maker *m, const char *id)
{
    char *end;
    long run = id ? strtol(id, &end, 10) : -2;
    long device = -1;

    if (id && *end == '.' && end > id)
        device = strtol(end + 1, &end, 10);
    if (id && (!*id || *end || run < 0)) {
        m->rc = pr_fail(m->err, PR_E_USAGE, "", "'%.100s' is not a job id", id);
        (void)pr_hint(m->err, "it is the repeat, or repeat and device: 0.1");
    }
    set_int(m, "suite.run", run);
    if (device >= 0)
        set_int(m, "suite.device", device);
}

static void suite_call_set_scheme(struct maker *m,
                                  const struct suite_call *call)
{
    const struct pr_value *scheme = pr_get(&call->job, "partition_scheme");
    const char *type = pr_text_at(scheme, "type", NULL);

    if (type)
        suite_call_set_text(m, "suite.scheme", type);
    if (call->devices.kind != PR_LIST)
        return;
    suite_call_set_value(m, "suite.devices", &call->devices);
    if (type && strcmp(type, "gpu-progression") == 0)
        set_int(m, "suite.device", -1);
}

static void set_call(struct maker *m, const struct suite_call *call)
{
    const struct pr_value *command = pr_get(&call->job, "command");

    suite_call_set_text(m, "exp.workload", "suite");
    suite_call_set_name(m, call);
    suite_call_set_text(m, "suite.experiment", call->function);
    suite_call_set_value(m, "suite.arguments", &call->argv);
    set_job_id(m, call->job_id);
    suite_call_set_scheme(m, call);
    suite_call_set_value(m, "suite.entry", &call->job);
    suite_call_set_value(m, "suite.extra", &call->extra);
    if (command && strcmp(call->function, "command") == 0)
        suite_call_set_value(m, "exp.command", command);
}

/* All parameters that a result of Prony's has; its id is the plan's. */
static void suite_call_set_params(struct maker *m,
                                  const struct pr_value *params)
{
    for (uint32_t i = 0; i < params->len && !m->rc; i++)
        if (strcmp(params->members[i].key, "exp.id") != 0)
            suite_call_set_value(m, params->members[i].key,
                                 &params->members[i].value);
}

/* What stands after -- comes after what was there. */
static void set_more(struct maker *m, const struct suite_call *call,
                     const char *const *more, size_t count)
{
    const struct pr_value *old = pr_get(&call->params, "exp.args");
    uint32_t had = old && old->kind == PR_LIST ? old->len : 0;
    struct pr_value *items =
        PR_ARENA_ARRAY(m->c->arena, struct pr_value, had + count + 1);
    struct pr_value list = {
        .kind = PR_LIST, .len = had + (uint32_t)count, .items = items};

    if (!items)
        m->rc = pr_fail_nomem(m->err);
    for (uint32_t i = 0; items && i < had; i++)
        items[i] = old->items[i];
    for (size_t i = 0; items && i < count; i++)
        items[had + i] = pr_str(more[i]);
    if (items && list.len)
        suite_call_set_value(m, "exp.args", &list);
}

int suite_call_plan(struct cli *c, const struct suite_call *call,
                    const char *const *more, size_t more_count,
                    struct pr_plan **ret, struct pr_err *err)
{
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    struct maker m = {.c = c, .p = pr_plan_new(&opts), .err = err};

    if (!m.p)
        return pr_fail_nomem(err);
    if (call->params.kind == PR_MAP)
        suite_call_set_params(&m, &call->params);
    else
        set_call(&m, call);
    set_more(&m, call, more, more_count);
    for (size_t i = 0; i < c->arg_count && !m.rc; i++)
        if (c->args[i].id == A_RERUN_PARAM)
            m.rc = pr_plan_param(m.p, c->args[i].value, err);
    if (!m.rc)
        m.rc = pr_plan_build(m.p, err);
    if (m.rc)
        pr_plan_free(m.p);
    else
        *ret = m.p;
    return m.rc;
}
