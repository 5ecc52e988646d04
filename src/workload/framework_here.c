/* Finding frameworks. */
#include "workload/framework_here.h"

#include "base/file.h"
#include "workload/engine.h"
#include "workload/python.h"

#include <limits.h>
#include <stdlib.h>

const char *pr_framework_find_python(const struct pr_framework *f,
                                     const char *first, struct pr_arena *a)
{
    return pr_python_find_with(f->module ? f->module : f->find_module, first,
                               f->python_var ? getenv(f->python_var) : NULL, a);
}

static int framework_set_detail(bool there, const char *detail,
                                const char **ret, struct pr_err *err)
{
    if (!detail)
        return pr_fail_nomem(err);
    *ret = detail;
    return there ? PR_FRAMEWORK_HERE : PR_FRAMEWORK_ABSENT;
}

static int native_here(struct pr_arena *a, const char **ret, struct pr_err *err)
{
    struct pr_err why = {0};
    char version[32] = "";
    bool there = pr_engine_is_there(version, &why);

    return framework_set_detail(there,
                                there ? pr_arena_printf(a, "oneDNN %s", version)
                                      : pr_arena_str(a, why.msg),
                                ret, err);
}

int pr_framework_find_installed(const struct pr_framework *f, const char *first,
                                struct pr_arena *a, const char **ret,
                                struct pr_err *err)
{
    const char *module = f->module ? f->module : f->find_module, *python;
    char path[PATH_MAX];

    if (f->kind == PR_FRAMEWORK_NATIVE)
        return native_here(a, ret, err);
    if (f->find_program && pr_which(f->find_program, path))
        return framework_set_detail(true, pr_arena_str(a, path), ret, err);
    if (module) {
        python = pr_framework_find_python(f, first, a);
        if (!python)
            return pr_fail_nomem(err);
        return pr_python_has_package(python, module)
                   ? framework_set_detail(true, python, ret, err)
                   : framework_set_detail(false, "in no Python looked at", ret,
                                          err);
    }
    if (f->find_program)
        return framework_set_detail(
            false, pr_arena_printf(a, "no '%s' on PATH", f->find_program), ret,
            err);
    *ret = "not looked for";
    return PR_FRAMEWORK_UNKNOWN;
}

const char *pr_framework_remedy(const struct pr_framework *f,
                                struct pr_arena *a)
{
    const char *how = f->remedy ? f->remedy : "see its own documentation";

    if (f->python_var)
        return pr_arena_printf(a,
                               "only exp.framework=%s needs it: %s, or set "
                               "%s",
                               f->name, how, f->python_var);
    return pr_arena_printf(a, "only exp.framework=%s needs it: %s", f->name,
                           how);
}
