/*
 * Validation: every experiment of a plan is looked at, and what it lacks goes
 * on the list. Whatever would be asked twice, for example whether an image is
 * there, is asked once: a plan may have a hundred thousand experiments.
 */
#include "run/validate/validate.h"

#include "base/mem.h"
#include "job/job.h"
#include "machine/describe/sysinfo.h"
#include "monitor/monitor.h"
#include "record/plan_file.h"
#include "run/jobs.h"
#include "run/metrics.h"
#include "run/validate/validate_impl.h"

#include <stdlib.h>
#include <string.h>

static bool validate_is_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- where experiments write */

/* Two experiments must not write to one place: what the first one wrote would
 * be lost, or the second be skipped for it. */
static int validate_check_place(struct pr_validator *v,
                                const struct pr_job *job, const char *param,
                                const char *path, struct pr_err *err)
{
    uint32_t before = pr_names_count(v->places);
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_LOG_FILE,
        .code = PR_E_CONF,
        .remedy = "make it differ, for example by ${exp.id}",
        .stops = true,
    };
    size_t n;

    while (strncmp(path, "./", 2) == 0)
        path += 2;
    n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (!n)
        return PR_OK;
    if (pr_names_add(v->places, path, n) == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (pr_names_count(v->places) > before)
        return PR_OK;
    lack.what = pr_arena_printf(
        job->arena, "another experiment has the same %s '%s'", param, path);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* A file of the user's that is not a log stays. */
static int check_log(struct pr_validator *v, const struct pr_job *job,
                     struct pr_err *err)
{
    struct pr_err why = {0};
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_LOG_FILE, .code = PR_E_CONF, .stops = true};

    if (pr_collect_check_log(job->exp.log_file, &why) == PR_OK)
        return PR_OK;
    lack.what = pr_arena_printf(job->arena, "%s: %s", why.where, why.msg);
    lack.remedy = why.hint;
    return pr_requirement_add(v, job, &lack, NULL, err);
}

static int check_places(struct pr_validator *v, const struct pr_job *job,
                        struct pr_err *err)
{
    const char *wanted = getenv("DLBS_LOG_FILE_CHECK"); /* as DLBS has it */
    int rc = wanted && validate_is_equal(wanted, "false")
                 ? PR_OK
                 : validate_check_place(v, job, "exp.log_file",
                                        job->exp.log_file, err);

    if (!rc && strcmp(job->exp.rerun, "never") != 0)
        rc = check_log(v, job, err);
    if (!rc && *pr_job_param_text(job, "output.folder"))
        return validate_check_place(v, job, "output.folder",
                                    pr_job_param_text(job, "output.folder"),
                                    err);
    return rc ? rc
              : validate_check_place(v, job, "hydra.run.dir",
                                     pr_job_param_text(job, "hydra.run.dir"),
                                     err);
}

/* ---- what workloads say */

/* w is NULL when there is none for the job. */
static enum pr_requirement_kind
validate_requirement_kind(struct pr_job *job, const struct pr_workload *w,
                          const struct pr_err *why)
{
    struct pr_model *model;
    bool computes = w && (validate_is_equal(w->name, "native") ||
                          validate_is_equal(w->name, "framework"));

    if (why->code == PR_E_IO)
        return strstr(why->msg, " free") ? PR_REQUIREMENT_SPACE
                                         : PR_REQUIREMENT_DATA;
    if (!w)
        return *job->exp.framework ? PR_REQUIREMENT_FRAMEWORK
                                   : PR_REQUIREMENT_CONFIG;
    if (strstr(why->msg, "launcher"))
        return PR_REQUIREMENT_COMMAND;
    if (computes &&
        (why->code == PR_E_UNAVAIL || strstr(why->msg, "framework")))
        return PR_REQUIREMENT_FRAMEWORK;
    return computes && pr_job_read_model(job, &model, NULL)
               ? PR_REQUIREMENT_MODEL
               : PR_REQUIREMENT_CONFIG;
}

/* The place of an error without the experiment, which the list has apart. */
static const char *validate_error_place(const struct pr_job *job,
                                        const struct pr_err *why)
{
    size_t n = strlen(job->id);

    if (strncmp(why->where, job->id, n) != 0)
        return why->where;
    return strncmp(why->where + n, ": ", 2) == 0 ? why->where + n + 2
                                                 : why->where + n;
}

static int validate_add_refusal(struct pr_validator *v, struct pr_job *job,
                                enum pr_requirement_kind kind,
                                const struct pr_err *why, struct pr_err *err)
{
    const char *place = validate_error_place(job, why);
    /* A job of a suite that nobody here can run is a result, like any other
     * that fails: it does not keep the others from being run. */
    bool suite = why->code == PR_E_UNAVAIL &&
                 validate_is_equal(job->exp.workload, "suite");
    struct pr_requirement lack = {
        .kind = kind, .code = why->code, .remedy = why->hint, .stops = !suite};

    lack.what = pr_arena_printf(job->arena, "%s%s%s", place, *place ? ": " : "",
                                why->msg);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* ---- one experiment */

static int check_workload(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    const struct pr_workload *w = NULL;
    struct pr_start start = {0};
    struct pr_err why = {0};
    int refused = pr_workload_find_for_job(job, &w, &why), rc;

    if (!refused && w)
        refused = w->prepare(job, &start, &why);
    if (refused == PR_E_NOMEM || refused == PR_E_BUG) {
        *err = why;
        return refused;
    }
    rc = refused ? validate_add_refusal(v, job,
                                        validate_requirement_kind(job, w, &why),
                                        &why, err)
                 : PR_OK;
    if (!rc && !refused && start.argv)
        rc = pr_validate_program(v, job, &start, err);
    if (!rc && !refused && w && validate_is_equal(w->name, "framework"))
        rc = pr_validate_framework(v, job, err);
    if (!rc && w)
        rc = pr_validate_gpus(v, job, w, err);
    if (!rc && !refused && w)
        rc = pr_validate_honours(v, job, w, err);
    if (!rc && !refused)
        rc = pr_validate_data(v, job, w, err);
    return rc;
}

/* What is looked at while it runs and afterwards. */
static int check_watching(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    struct pr_timeseries *series = NULL;
    struct pr_monitor_opts opts;
    struct pr_err why = {0};
    int rc = pr_machine_sysinfo_check(job->exp.sys_info, &why);

    if (!rc)
        rc = pr_opt_fill(&pr_monitor_section, job->params, job->arena, &opts,
                         &why);
    if (!rc && *opts.timeseries)
        rc = pr_timeseries_new(opts.timeseries, &series, &why);
    pr_timeseries_free(series);
    return rc ? validate_add_refusal(v, job, PR_REQUIREMENT_CONFIG, &why, err)
              : PR_OK;
}

static int validate_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct pr_validator *v = ctx;
    int rc;

    v->ret->experiments++;
    if (pr_job_is_off(job)) {
        v->ret->off++;
        return PR_OK;
    }
    v->now++;
    v->concerned = false;
    rc = check_places(v, job, err);
    if (!rc)
        rc = check_watching(v, job, err);
    if (!rc && job->exp.docker)
        rc = pr_validate_container(v, job, err);
    if (!rc)
        rc = check_workload(v, job, err);
    v->ret->concerned += v->concerned;
    return rc;
}

/* ---- all of them */

/* By kind; what was found first stays first. */
static void sort_requirements(struct pr_validation *v)
{
    for (size_t i = 1; i < v->count; i++) {
        struct pr_requirement one = v->lacks[i];
        size_t k = i;

        for (; k > 0 && v->lacks[k - 1].kind > one.kind; k--)
            v->lacks[k] = v->lacks[k - 1];
        v->lacks[k] = one;
    }
}

static void validator_close(struct pr_validator *v)
{
    pr_names_free(v->lacks);
    pr_names_free(v->asked);
    pr_names_free(v->places);
    pr_names_free(v->made);
    for (int i = 0; i < 2; i++)
        pr_names_free(v->lost[i].words);
    pr_frameworks_free(v->frameworks);
    pr_expander_free(v->defaults);
    pr_nvml_close(v->nvml);
    pr_free(v->made_bytes);
    pr_free(v->answers);
    pr_free(v->last);
}

static int validator_open(struct pr_validator *v, struct pr_validation *ret,
                          struct pr_err *err)
{
    *ret = (struct pr_validation){.arena = pr_arena_new(16384)};
    ret->warnings.arena = ret->arena;
    *v = (struct pr_validator){
        .ret = ret,
        .lacks = pr_names_new(),
        .asked = pr_names_new(),
        .places = pr_names_new(),
        .made = pr_names_new(),
        .lost = {{.words = pr_names_new()},
                 {.words = pr_names_new(), .stops = true}},
        .frameworks = pr_frameworks_new(),
    };
    return ret->arena && v->lacks && v->asked && v->places && v->made &&
                   v->lost[0].words && v->lost[1].words && v->frameworks
               ? PR_OK
               : pr_fail_nomem(err);
}

static int close_with(struct pr_validator *v, int rc,
                      struct pr_validation *found, struct pr_validation *ret,
                      struct pr_err *err)
{
    if (!rc)
        rc = pr_validate_gpus_end(v, err);
    if (!rc)
        rc = pr_validate_space_end(v, err);
    if (!rc)
        rc = pr_validate_honours_end(v, err);
    validator_close(v);
    if (rc)
        pr_validation_close(found);
    else {
        sort_requirements(found);
        *ret = *found;
    }
    return rc;
}

int pr_plan_validate(struct pr_plan *p, struct pr_validation *ret,
                     struct pr_err *err)
{
    struct pr_validation found;
    struct pr_validator v;
    int rc = validator_open(&v, &found, err);

    if (!rc)
        rc = pr_plan_each_job(p, NULL, validate_job, &v, err);
    return close_with(&v, rc, &found, ret, err);
}

/* ---- a finished plan */

/* The plan's defaults under the parameters, as a run does it. */
static int validate_add_defaults(const struct pr_value *own,
                                 const struct pr_value *def, struct pr_arena *a,
                                 struct pr_value *ret, struct pr_err *err)
{
    struct pr_member *m =
        PR_ARENA_ARRAY(a, struct pr_member, own->len + def->len);
    uint32_t n = own->len;

    if (!m)
        return pr_fail_nomem(err);
    if (n)
        memcpy(m, own->members, own->len * sizeof *m);
    for (uint32_t i = 0; i < def->len; i++)
        if (!pr_get(own, def->members[i].key))
            m[n++] = def->members[i];
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

/* A plan may be edited by hand: what is wrong with one is a lack of it. */
static int validate_planned(struct pr_validator *v, struct pr_plan_file *plan,
                            const struct pr_plan_file_experiment *one,
                            struct pr_arena *a, struct pr_err *err)
{
    struct pr_job job = {.id = one->id, .arena = a};
    struct pr_err why = {0};
    struct pr_value params;
    int rc =
        validate_add_defaults(&one->params, &plan->defaults, a, &params, err);
    int refused = rc ? rc : pr_job_init(&job, one->id, "", &params, a, &why);

    if (rc)
        return rc;
    if (refused == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (!refused)
        return validate_job(v, &job, err);
    v->ret->experiments++;
    v->now++;
    v->ret->concerned++;
    return validate_add_refusal(v, &job, PR_REQUIREMENT_CONFIG, &why, err);
}

static int validate_plan_file(struct pr_validator *v, struct pr_plan_file *plan,
                              const char *path, struct pr_names *ids,
                              struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_plan_file_experiment one;
    uint32_t n = 0;
    int rc = a ? PR_OK : pr_fail_nomem(err);

    while (!rc && (rc = pr_plan_file_next(plan, a, &one, err)) == 1) {
        if (pr_names_add(ids, one.id, strlen(one.id)) == PR_NO_NAME)
            return pr_fail_nomem(err);
        if (pr_names_count(ids) == n++)
            return pr_fail(err, PR_E_FORMAT, path,
                           "two experiments have the id '%s'", one.id);
        rc = validate_planned(v, plan, &one, a, err);
        pr_arena_reset(a);
    }
    return rc;
}

int pr_plan_file_validate(const char *path, struct pr_validation *ret,
                          struct pr_err *err)
{
    struct pr_validation found;
    struct pr_plan_file plan;
    struct pr_validator v;
    struct pr_names *ids = pr_names_new();
    int rc = validator_open(&v, &found, err);

    if (!rc && !ids)
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = pr_plan_file_open(path, &plan, err);
    if (!rc) {
        rc = validate_plan_file(&v, &plan, path, ids, err);
        pr_plan_file_close(&plan);
    }
    pr_names_free(ids);
    return close_with(&v, rc, &found, ret, err);
}
