/* The list of workloads and what they share. */
#include "workload/workload.h"

#include "job/probe_job.h"
#include "workload/engine.h"
#include "workload/framework_script.h"

#include <stdio.h>
#include <string.h>

#define WORKLOAD(name) extern const struct pr_workload pr_workload_##name;
#include "workload/workload_list.def"
#undef WORKLOAD

static const struct pr_workload *const workloads[] = {
#define WORKLOAD(name) &pr_workload_##name,
#include "workload/workload_list.def"
#undef WORKLOAD
};

const struct pr_workload *pr_workload_at(size_t i)
{
    return i < sizeof workloads / sizeof *workloads ? workloads[i] : NULL;
}

const struct pr_workload *pr_workload_find(const char *name)
{
    const struct pr_workload *w;

    for (size_t i = 0; (w = pr_workload_at(i)); i++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

static bool job_has_command(const struct pr_job *job)
{
    const struct pr_value *c = job->exp.command;

    return c && c->len; /* text or a list */
}

/* What follows from the rest when exp.workload is empty; NULL: nothing does. */
static int workload_find_name(const struct pr_job *job, const char **ret,
                              struct pr_err *err)
{
    const struct pr_framework *f;
    int rc;

    *ret = NULL;
    if (*job->exp.workload)
        *ret = job->exp.workload;
    else if (job_has_command(job))
        *ret = "command";
    else if (strcmp(job->exp.framework, "native") == 0)
        *ret = "native";
    if (*ret || !*job->exp.framework)
        return PR_OK;
    rc = pr_job_find_framework(job, &f, err);
    if (rc == 1)
        *ret = f->kind == PR_FRAMEWORK_NATIVE ? "native" : "framework";
    else if (!rc && pr_framework_get_setting(job, "launcher"))
        *ret = "framework";
    return rc < 0 ? rc : PR_OK;
}

static int nothing_to_run(const struct pr_job *job, struct pr_err *err)
{
    if (*job->exp.framework) {
        pr_fail(err, PR_E_CONF, job->id, "there is no framework '%.128s'",
                job->exp.framework);
        return pr_framework_hint(job->exp.framework, err);
    }
    pr_fail(err, PR_E_CONF, job->id, "nothing to run");
    return pr_hint(err, "set exp.command, for example "
                        "-P exp.command='\"sleep 1\"'");
}

static bool can_be_probed(const char *name)
{
    return strcmp(name, "native") == 0 || strcmp(name, "emulate") == 0;
}

static int not_probed(const struct pr_job *job, const char *name,
                      struct pr_err *err)
{
    (void)pr_fail(err, PR_E_CONF, job->id,
                  "probe.run is for native and emulated training, not for the "
                  "workload '%s'",
                  name);
    return pr_hint(err, "in a program of yours, prony/probe.h or the Python "
                        "package prony times the loop");
}

int pr_workload_find_for_job(const struct pr_job *job,
                             const struct pr_workload **ret, struct pr_err *err)
{
    const struct pr_workload *w;
    const char *name;
    char version[32];
    int rc = workload_find_name(job, &name, err);

    if (rc)
        return rc;
    if (!name)
        return nothing_to_run(job, err);
    w = pr_workload_find(name);
    if (!w && strcmp(name, "native") == 0 && !pr_engine_is_there(version, err))
        return PR_E_UNAVAIL;
    if (!w)
        return pr_fail(err, PR_E_UNAVAIL, job->id,
                       "this build has no workload '%s'", name);
    if (pr_job_needs_probe(job) && !can_be_probed(name))
        return not_probed(job, name, err);
    *ret = w;
    return PR_OK;
}

int pr_job_estimate_cost(struct pr_job *job, struct pr_cost *ret,
                         struct pr_err *err)
{
    const struct pr_workload *w = NULL;
    struct pr_cost cost = {0};
    int rc = pr_workload_find_for_job(job, &w, err);

    if (!rc && w->estimate)
        rc = w->estimate(job, &cost, err);
    if (rc)
        return rc;
    cost.at_most_s = job->exp.timeout * (double)(job->exp.retry + 1);
    *ret = cost;
    return PR_OK;
}
