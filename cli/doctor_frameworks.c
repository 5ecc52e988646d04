/* `prony doctor`: the frameworks that programs of ours run on. What launchers
 * of the user's start is the user's to look after. */
#include "cli/doctor.h"
#include "workload/framework_workload.h"

/* The Python that experiments get, as a path. */
static const char *doctor_find_python(struct doctor *d)
{
    static const char *const names[] = {"python3", NULL};
    const char *path = doctor_program(d, names);

    return path ? path : names[0];
}

static int doctor_check_framework(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err)
{
    struct doctor *d = ctx;
    const char *detail = "";
    int state;

    if (f->kind != PR_FRAMEWORK_PYTHON)
        return PR_OK;
    state = pr_framework_find_installed(f, doctor_find_python(d), d->arena,
                                        &detail, err);
    if (state < 0)
        return state;
    doctor_extra(d, f->title, state == PR_FRAMEWORK_HERE, detail,
                 pr_framework_remedy(f, d->arena));
    return PR_OK;
}

void doctor_frameworks(struct doctor *d)
{
    struct pr_err err = {0};

    if (pr_framework_each(d->arena, doctor_check_framework, d, &err))
        doctor_extra(d, "frameworks", false,
                     pr_arena_printf(d->arena, "%s: %s", err.where, err.msg),
                     "put that file right");
}
