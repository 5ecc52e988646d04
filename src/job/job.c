/* What all workloads ask of a job. */
#include "job/job.h"

#include <string.h>

const char *pr_job_param_text(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_STR ? v->s : "";
}

bool pr_job_needs_sync(const struct pr_value *params)
{
    const struct pr_value *v = params ? pr_get(params, "run.fsync") : NULL;

    return !v || v->kind != PR_BOOL || v->b;
}

int pr_job_find_framework(const struct pr_job *job,
                          const struct pr_framework **ret, struct pr_err *err)
{
    const char *name = job->exp.framework;

    return job->frameworks ? pr_frameworks_get(job->frameworks, name, ret, err)
                           : pr_framework_find(name, job->arena, ret, err);
}

int pr_job_init(struct pr_job *job, const char *id, const char *dir,
                const struct pr_value *params, struct pr_arena *a,
                struct pr_err *err)
{
    int rc;

    *job = (struct pr_job){.id = id, .dir = dir, .params = params, .arena = a};
    rc = pr_opt_fill(&pr_exp_section, params, a, &job->exp, err);
    if (!rc)
        rc = pr_opt_fill(&pr_runtime_section, params, a, &job->runtime, err);
    return rc;
}

bool pr_job_is_off(const struct pr_job *job)
{
    static const char *const words[] = {"disabled", "inactive", "simulate"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(job->exp.status, words[i]) == 0)
            return true;
    return false;
}
