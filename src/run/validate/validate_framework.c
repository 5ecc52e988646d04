/* Frameworks that are to run on bare metal: whether they are installed, and
 * whether they have the model. What a workload says itself is not repeated. */
#include "launch/capture.h"
#include "run/validate/validate_impl.h"
#include "workload/framework_script.h"
#include "workload/framework_workload.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define ANSWER_S 20.0

/* ---- the model */

static bool knows_model(const struct pr_framework *f, const char *model)
{
    if (!f->models)
        return true;
    for (const char **m = f->models; *m; m++)
        if (strcmp(*m, model) == 0)
            return true;
    return false;
}

/* A launcher of the user's may know more than the file does. */
static int validate_framework_model(struct pr_validator *v,
                                    const struct pr_job *job,
                                    const struct pr_framework *f, bool users,
                                    struct pr_err *err)
{
    struct pr_requirement lack = {
        .kind = PR_REQUIREMENT_MODEL, .code = PR_E_UNAVAIL, .stops = !users};

    if (!*job->exp.model || knows_model(f, job->exp.model))
        return PR_OK;
    lack.what = pr_arena_printf(job->arena, "%s is not known to have '%s'",
                                f->title, job->exp.model);
    lack.remedy = pr_arena_printf(
        job->arena, "'prony help --frameworks %s' lists its models", f->name);
    return pr_requirement_add(v, job, &lack, NULL, err);
}

/* ---- the framework itself */

/* No folder of this interpreter has the module. It may be a script that knows
 * another way: only what the interpreter itself says counts. */
static bool is_module_missing(const char *python, const char *module)
{
    PR_AUTO_BUF struct pr_buf said = PR_BUF_INIT(4096);
    char code[256];
    const char *argv[] = {python, "-c", code, NULL};
    int status;

    snprintf(code, sizeof code,
             "import importlib.util as u; "
             "print('prony:', u.find_spec('%.100s') is not None)",
             module);
    return pr_capture(argv, ANSWER_S, &said, &status, NULL) == PR_OK &&
           said.data && strstr(said.data, "prony: False");
}

static int validate_find_framework(const struct pr_job *job,
                                   const struct pr_framework *f,
                                   struct pr_requirement *lack, bool *ret_lacks,
                                   struct pr_err *err)
{
    const char *module = f->module ? f->module : f->find_module, *detail;
    const char *python;
    int here = pr_framework_find_installed(f, job->runtime.python, job->arena,
                                           &detail, err);

    *ret_lacks = false;
    if (here != PR_FRAMEWORK_ABSENT)
        return here < 0 ? here : PR_OK;
    if (module) {
        python = pr_framework_find_python(f, job->runtime.python, job->arena);
        if (!python)
            return pr_fail_nomem(err);
        *ret_lacks = is_module_missing(python, module);
        lack->what = pr_arena_printf(job->arena,
                                     "%s is not installed: '%s' has no module "
                                     "'%s'",
                                     f->title, python, module);
    } else {
        *ret_lacks = true;
        lack->what = pr_arena_printf(job->arena, "%s is not installed: %s",
                                     f->title, detail);
    }
    if (f->python_var)
        lack->remedy =
            pr_arena_printf(job->arena, "%s%sset %s to a Python that has it",
                            f->remedy ? f->remedy : "",
                            f->remedy ? ", or " : "", f->python_var);
    else
        lack->remedy = f->remedy ? f->remedy : "";
    return PR_OK;
}

/* A launcher of the user's may find it where nobody looks: then it is only
 * told. */
static int check_here(struct pr_validator *v, const struct pr_job *job,
                      const struct pr_framework *f, bool users,
                      struct pr_err *err)
{
    const char *question = pr_arena_printf(job->arena, "framework %d %s\n%s",
                                           users, f->name, job->runtime.python);
    struct pr_requirement lack = {.kind = PR_REQUIREMENT_FRAMEWORK,
                                  .code = PR_E_UNAVAIL,
                                  .stops = !users};
    int found = PR_NO_REQUIREMENT, rc;
    bool lacks;

    if (!question)
        return pr_fail_nomem(err);
    if (pr_requirement_cached(v, question, &found))
        return PR_OK;
    rc = validate_find_framework(job, f, &lack, &lacks, err);
    if (!rc && lacks)
        rc = pr_requirement_add(v, job, &lack, &found, err);
    return rc ? rc : pr_requirement_cache(v, question, found, err);
}

int pr_validate_framework(struct pr_validator *v, struct pr_job *job,
                          struct pr_err *err)
{
    const struct pr_framework *f;
    bool users;
    int rc = pr_frameworks_get(v->frameworks, job->exp.framework, &f, err);

    if (rc <= 0)
        return rc;
    users = f->kind == PR_FRAMEWORK_SCRIPT ||
            pr_framework_get_setting(job, "launcher");
    rc = validate_framework_model(v, job, f, users, err);
    if (rc || job->exp.docker || pr_get(job->params, "runtime.env.PYTHONPATH"))
        return rc;
    return check_here(v, job, f, users, err);
}
