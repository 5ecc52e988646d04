/* From arguments to a plan. */
#include "cli/targets.h"

#include "base/units.h"
#include "conf/override.h"
#include "conf/share.h"
#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>

/* A name with a slash or a known ending is a file, anything else is bundled. */
static bool is_file_name(const char *s)
{
    static const char *const endings[] = {".yaml", ".yml", ".json", ".toml",
                                          ".sh"};
    size_t n = strlen(s);

    if (strchr(s, '/'))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && strcmp(s + n - e, endings[i]) == 0)
            return true;
    }
    return false;
}

static int add_target(struct cli *c, struct pr_plan *p, const char *name,
                      struct pr_err *err)
{
    const char *path = name;

    if (!is_file_name(name)) {
        path = pr_share_find(c->arena, "workloads", name);
        if (!path) {
            pr_fail(err, PR_E_USAGE, "", "nothing bundled is called '%s'",
                    name);
            return pr_hint(err,
                           "'prony plan --list' shows the names; a file "
                           "of yours is given with its ending or as "
                           "./%s",
                           name);
        }
    }
    return pr_plan_target(p, path, err);
}

/* --timeout and --retry are parameters, so that the plan keeps them. */
static int add_limit(struct cli *c, struct pr_plan *p, enum arg_id id,
                     const char *name, const char *option, struct pr_err *err)
{
    const char *value = c->verb->bit & ON_RUN ? arg_get(c, id) : NULL;
    double seconds;
    long n;
    int rc;

    if (!value)
        return PR_OK;
    if (id == A_TIMEOUT && !pr_parse_seconds(value, &seconds))
        return pr_fail(err, PR_E_USAGE, "",
                       "--timeout wants a time such as 90, 1.5s or 2m, got "
                       "'%s'",
                       value);
    rc = id == A_RETRY ? arg_number(c, id, 0, 0, &n, err) : PR_OK;
    return rc ? rc : pr_plan_param_text(p, name, value, option, err);
}

/* What stands after -- becomes exp.args. */
static int add_tail(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    struct pr_value *items, list;

    if (!c->tail_count)
        return PR_OK;
    items = PR_ARENA_ARRAY(c->arena, struct pr_value, c->tail_count);
    if (!items)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c->tail_count; i++)
        items[i] = pr_str(c->tail[i]);
    list = (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)c->tail_count, .items = items};
    return pr_plan_param_value(p, "exp.args", &list, "--", err);
}

static int add_args(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < c->arg_count && !rc; i++) {
        const struct arg *a = &c->args[i];
        if (a->id == A_CONFIG)
            rc = pr_plan_config(p, a->value, err);
        else if (a->id == A_PARAM)
            rc = pr_plan_param(p, a->value, err);
        else if (a->id == A_VARIABLE)
            rc = pr_plan_variable(p, a->value, err);
        else if (a->id == A_EXTENSION)
            rc = pr_plan_extension(p, a->value, err);
        else if (a->id == A_SET_FILE)
            rc = pr_plan_param_file(p, a->value, err);
    }
    return rc;
}

static int add_sources(struct cli *c, struct pr_plan *p, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < c->rest_count && !rc; i++)
        rc = pr_override_like(c->rest[i]) ? pr_plan_override(p, c->rest[i], err)
                                          : add_target(c, p, c->rest[i], err);
    if (!rc)
        rc = add_args(c, p, err);
    if (!rc)
        rc = add_limit(c, p, A_TIMEOUT, "exp.timeout", "--timeout", err);
    if (!rc)
        rc = add_limit(c, p, A_RETRY, "exp.retry", "--retry", err);
    if (!rc)
        rc = add_tail(c, p, err);
    return rc ? rc : pr_plan_build(p, err);
}

/* Bundled configs name files beside them as ${PRONY_SHARE}/…. */
static void set_share(struct cli *c)
{
    const char *dir = pr_share_dir(c->arena);

    if (dir)
        setenv("PRONY_SHARE", dir, 1);
}

int plan_from_args(struct cli *c, struct pr_plan **ret, struct pr_err *err)
{
    struct pr_plan_opts opts = {.no_defaults = arg_on(c, A_NO_DEFAULTS),
                                .only = arg_get(c, A_NAME)};
    struct pr_plan *p;
    long repeat;
    int rc = arg_number(c, A_REPEAT, 1, 1, &repeat, err);

    if (rc)
        return rc;
    opts.repeat = (unsigned)repeat;
    set_share(c);
    p = pr_plan_new(&opts);
    if (!p)
        return pr_fail_nomem(err);
    rc = add_sources(c, p, err);
    for (const struct pr_warning *w = pr_plan_warnings(p); w; w = w->next)
        say_warning(w->where, w->text, w->remedy);
    if (rc)
        pr_plan_free(p);
    else
        *ret = p;
    return rc;
}

/* The parameters of an experiment as the map a job is made of. */
static int params_map(struct pr_plan *p, const struct pr_experiment *e,
                      struct pr_arena *a, struct pr_value *ret,
                      struct pr_err *err)
{
    struct pr_member *m = PR_ARENA_ARRAY(a, struct pr_member, e->params->count);

    if (!m)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < e->params->count; i++) {
        uint32_t name = e->params->order[i];
        const char *text = pr_names_text(pr_plan_names(p), name);
        m[i] = (struct pr_member){.key = text,
                                  .key_len = (uint32_t)strlen(text),
                                  .value = *pr_expanded(e->values, name)};
    }
    *ret = (struct pr_value){
        .kind = PR_MAP, .len = e->params->count, .members = m};
    return PR_OK;
}

static void add_cost(struct plan_cost *sum, const struct pr_cost *one)
{
    sum->write_bytes += one->write_bytes;
    sum->read_bytes += one->read_bytes;
    sum->seconds += one->seconds;
    sum->at_most_s += one->at_most_s;
    sum->unknown += !one->seconds_known;
    if (one->at_most_s <= 0)
        sum->limited = false;
}

static bool is_off(const struct pr_job *job)
{
    return strcmp(job->exp.status, "disabled") == 0 ||
           strcmp(job->exp.status, "inactive") == 0 ||
           strcmp(job->exp.status, "simulate") == 0;
}

/* Called for each experiment of a plan. */
typedef int each_job(void *ctx, struct pr_job *job, struct pr_err *err);

static int for_each_job(struct pr_plan *p, each_job *each, void *ctx,
                        struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_walk *w = a ? pr_walk_new(p) : NULL;
    struct pr_experiment e;
    int rc;

    if (!w)
        return pr_fail_nomem(err);
    while ((rc = pr_walk_next(w, &e, err)) == 1) {
        struct pr_value params;
        struct pr_job job;

        pr_arena_reset(a);
        rc = params_map(p, &e, a, &params, err);
        if (!rc)
            rc = pr_job_init(&job, e.id, "", &params, a, err);
        if (!rc)
            rc = each(ctx, &job, err);
        if (rc)
            break;
    }
    pr_walk_free(w);
    return rc;
}

static int check_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    const struct pr_workload *w;

    (void)ctx;
    return is_off(job) ? PR_OK : pr_workload_of(job, &w, err);
}

int plan_check(struct pr_plan *p, struct pr_err *err)
{
    return for_each_job(p, check_one, NULL, err);
}

/* An experiment that this version cannot run still has a place in the plan;
 * its cost is not known. */
static int cost_of_one(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct plan_cost *sum = ctx;
    struct pr_cost cost = {0};

    sum->experiments++;
    if (is_off(job)) {
        sum->skipped++;
        return PR_OK;
    }
    if (pr_job_cost(job, &cost, NULL) == PR_E_NOMEM)
        return pr_fail_nomem(err);
    add_cost(sum, &cost);
    return PR_OK;
}

int plan_cost(struct pr_plan *p, struct plan_cost *ret, struct pr_err *err)
{
    struct plan_cost sum = {.limited = true};
    int rc = for_each_job(p, cost_of_one, &sum, err);

    if (!rc)
        *ret = sum;
    return rc;
}

void plan_cost_text(const struct plan_cost *cost, struct pr_buf *out)
{
    uint64_t active = cost->experiments - cost->skipped;
    char text[24], bytes[16];

    pr_buf_printf(out, "%llu experiment%s",
                  (unsigned long long)cost->experiments,
                  cost->experiments == 1 ? "" : "s");
    if (cost->skipped)
        pr_buf_printf(out, ", %llu of them switched off",
                      (unsigned long long)cost->skipped);
    if (cost->write_bytes)
        pr_buf_printf(out, "; writes %s",
                      pr_format_bytes(bytes, cost->write_bytes));
    if (cost->read_bytes)
        pr_buf_printf(out, "; reads %s",
                      pr_format_bytes(bytes, cost->read_bytes));
    pr_buf_str(out, "; time: ");
    if (!active)
        pr_buf_str(out, "none");
    else if (!cost->unknown)
        pr_buf_printf(out, "about %s", pr_format_seconds(text, cost->seconds));
    else if (cost->limited)
        pr_buf_printf(out, "at most %s, by their timeouts",
                      pr_format_seconds(text, cost->at_most_s));
    else
        pr_buf_str(out, "as long as the commands take, no limit is set "
                        "(--timeout)");
    pr_buf_char(out, '\n');
}
