/*
 * The target of a search: the parameters somebody set, as they stood before
 * they were expanded, so that what follows from the number of accelerators
 * follows it in every trial.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "base/json/json_write.h"
#include "run/plan_jobs.h"
#include "study/capacity_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TARGET = 64 << 20 };

/* Seconds of computing that a trial should last. */
#define TRIAL_S 15.0

/* ---- writing it */

/* Names that a peer's file has in a section of ours mean nothing here. */
static bool is_ours_to_set(const char *name)
{
    const struct pr_opt_section *section;

    return pr_opt_find(name, &section) || !section;
}

static void put_params(struct pr_json_writer *jb, struct pr_plan *plan,
                       const struct pr_experiment *e)
{
    const struct pr_names *names = pr_plan_names(plan);

    pr_json_open_object(jb, NULL);
    for (uint32_t i = 0; i < e->params->count; i++) {
        const struct pr_setting *set =
            pr_params_get(e->params, e->params->order[i]);
        const char *name = pr_names_text(names, e->params->order[i]);

        if (set && pr_is_given(set) && strcmp(name, "exp.id") != 0 &&
            is_ours_to_set(name))
            pr_json_put_value(jb, name, &set->value);
    }
    pr_json_close(jb);
}

static int write_first(struct pr_walk *w, struct pr_plan *plan,
                       const char *path, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(MAX_TARGET);
    struct pr_experiment e;
    struct pr_json_writer jb;
    int rc = pr_walk_next(w, &e, err);

    if (rc < 0)
        return rc;
    /* A config that can be run by itself, too. */
    pr_json_writer_init(&jb, &json, 2);
    put_params(&jb, plan, &e);
    pr_buf_char(&json, '\n');
    if (!pr_buf_ok(&json))
        return pr_fail_nomem(err);
    return pr_file_write(path, json.data, json.len, err);
}

int pr_capacity_target_write(const char *dir, struct pr_plan *plan,
                             struct pr_err *err)
{
    char path[4096];
    struct pr_walk *w;
    uint64_t n;
    int rc = pr_plan_count(plan, &n, err);

    if (rc)
        return rc;
    if (n != 1) {
        pr_fail(err, PR_E_CONF, "",
                "the target gives %llu experiments, but the capacity is that "
                "of one",
                (unsigned long long)n);
        return pr_hint(err, "leave out variables and --repeat (trials are "
                            "repeated as --repeats says)");
    }
    snprintf(path, sizeof path, "%s/target.json", dir);
    w = pr_walk_new(plan);
    rc = w ? write_first(w, plan, path, err) : pr_fail_nomem(err);
    pr_walk_free(w);
    return rc;
}

/* ---- plans from it */

bool pr_capacity_is_set(const struct pr_capacity_study *s, const char *name)
{
    return pr_get(&s->target, name) != NULL;
}

/* As if all of it stood on the command line, so that the environment of today
 * changes nothing. */
static int add_target_sources(struct pr_capacity_study *s, struct pr_plan *p,
                              const struct pr_capacity_param *changes,
                              size_t count, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < s->target.len; i++)
        rc = pr_plan_param_value(p, s->target.members[i].key,
                                 &s->target.members[i].value, "target.json",
                                 err);
    for (size_t i = 0; !rc && i < count; i++)
        rc = pr_plan_param_value(p, changes[i].name, &changes[i].value,
                                 "capacity", err);
    return rc ? rc : pr_plan_build(p, err);
}

int pr_capacity_make_plan(struct pr_capacity_study *s,
                          const struct pr_capacity_param *changes, size_t count,
                          struct pr_plan **ret, struct pr_err *err)
{
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    struct pr_plan *p = pr_plan_new(&opts);
    int rc =
        p ? add_target_sources(s, p, changes, count, err) : pr_fail_nomem(err);

    if (rc)
        pr_plan_free(p);
    else
        *ret = p;
    return rc;
}

/* ---- reading it */

static int read_target_params(struct pr_capacity_study *s, struct pr_err *err)
{
    struct pr_json_in in = {0};
    struct pr_value root;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/target.json", s->dir);
    in.name = path;
    rc = pr_file_read_in(s->dir, path, MAX_TARGET, s->arena, &in.text, &in.len,
                         err);
    if (!rc)
        rc = pr_json_read(&in, s->arena, &root, NULL, err);
    if (rc)
        return rc;
    if (root.kind != PR_MAP)
        return pr_fail(err, PR_E_FORMAT, path, "holds no parameters");
    s->target = root;
    return PR_OK;
}

static int capacity_check_target(const struct pr_capacity_study *s,
                                 struct pr_err *err)
{
    if (pr_job_is_off(&s->job))
        return pr_fail(err, PR_E_CONF, "exp.status",
                       "the experiment is switched off");
    if (!s->e.workflow.train)
        return pr_fail(err, PR_E_CONF, "workflow.train",
                       "the target does not train; the capacity is that of a "
                       "training");
    if (!pr_emulate_needs_storage(&s->e))
        return pr_fail(err, PR_E_CONF, "reader.data_loader",
                       "the target reads nothing, so no storage limits it");
    if (pr_duration_mean(&s->e.compute) > 0)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "train.computation_time",
            "accelerators that compute nothing are never busy");
    return pr_hint(err, "set the time of a step, for example "
                        "train.computation_time=0.3");
}

/* Before checkpoints are switched off: without them it would do nothing. */
static int refuse_checkpoints(const struct pr_capacity_study *s,
                              struct pr_err *err)
{
    const struct pr_value *train = pr_get(&s->target, "workflow.train");
    const struct pr_value *save = pr_get(&s->target, "workflow.checkpoint");

    if (!train || train->kind != PR_BOOL || train->b || !save ||
        save->kind != PR_BOOL || !save->b)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "workflow.train",
            "the target only writes and reads checkpoints; the capacity is "
            "that of a training");
    return pr_hint(err, "'prony run' measures checkpoints");
}

static int read_target_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_capacity_study *s = ctx;
    struct pr_value *params = PR_ARENA_NEW(s->arena, struct pr_value);
    const struct pr_workload *w;
    int rc;

    if (!params || !pr_value_copy(s->arena, job->params, params))
        return pr_fail_nomem(err);
    rc = pr_job_init(&s->job, "capacity", "", params, s->arena, err);
    if (!rc)
        rc = pr_workload_find_for_job(&s->job, &w, err);
    if (rc)
        return rc;
    if (strcmp(w->name, "emulate") != 0) {
        pr_fail(err, PR_E_CONF, "exp.workload",
                "the capacity is that of an emulated training, not of '%s'",
                w->name);
        return pr_hint(err, "'prony plan --list' shows such workloads");
    }
    rc = pr_emulate_init(&s->e, &s->job, err);
    return rc ? rc : capacity_check_target(s, err);
}

int pr_capacity_target_read(struct pr_capacity_study *s, struct pr_err *err)
{
    const struct pr_capacity_param one[] = {
        {"exp.accelerators", pr_int(1)},
        {"workflow.evaluation", pr_bool(false)},
        {"workflow.checkpoint", pr_bool(false)},
    };
    struct pr_plan *p;
    int rc = read_target_params(s, err);

    if (!rc)
        rc = refuse_checkpoints(s, err);
    if (!rc)
        rc = pr_capacity_make_plan(s, one, sizeof one / sizeof *one, &p, err);
    if (rc)
        return rc;
    rc = pr_plan_each_job(p, NULL, read_target_job, s, err);
    pr_plan_free(p);
    return rc;
}

/* ---- steps */

bool pr_capacity_is_mlperf(const struct pr_capacity_study *s)
{
    const struct pr_value *v = pr_get(s->job.params, "mlperf.division");

    return v && v->kind == PR_STR && *v->s && strcmp(v->s, "none") != 0;
}

uint64_t pr_capacity_default_steps(const struct pr_emulate *e, bool mlperf)
{
    double steps = ceil(TRIAL_S / pr_duration_mean(&e->compute));

    if (mlperf || steps > 500)
        return 500;
    return steps > 20 ? (uint64_t)steps : 20;
}
