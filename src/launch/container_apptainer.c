/*
 * The command lines of apptainer and singularity. What runs inside is their
 * child, so that nothing is left to do once it has ended. Variables travel in
 * the program's own environment, because its --env splits values at commas.
 */
#include "launch/container_impl.h"

#include <string.h>

static int refuse_user(const struct pr_box_plan *p, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, "container.user",
            "%s runs as the user who starts it", pr_box_kind_name(p->kind));
    return pr_hint(err, "leave container.user empty");
}

static void add_limits(struct pr_box_words *w,
                       const struct pr_container_opts *o)
{
    if (o->memory_bytes)
        pr_box_pair(w, "--memory",
                    pr_arena_printf(w->arena, "%llu",
                                    (unsigned long long)o->memory_bytes));
    if (o->cpus > 0)
        pr_box_pair(w, "--cpus", pr_arena_printf(w->arena, "%.10g", o->cpus));
}

static void add_surroundings(struct pr_box_words *w,
                             const struct pr_box_plan *p)
{
    const struct pr_container_opts *o = p->o;

    if (*o->network && strcmp(o->network, "host") != 0) {
        pr_box_word(w, "--net");
        pr_box_pair(w, "--network", o->network);
    }
    if (*o->workdir)
        pr_box_pair(w, "--pwd", o->workdir);
    pr_box_mounts(w, p);
}

static int plan_run(const struct pr_box_plan *p, const char ***ret,
                    struct pr_err *err)
{
    struct pr_box_words w = {.arena = p->arena};

    pr_box_list(&w, p->launcher);
    pr_box_word(&w, p->o->argv ? "exec" : "run");
    pr_box_list(&w, p->args);
    pr_box_word(&w, "--cleanenv");
    if (*p->o->gpus)
        pr_box_word(&w, "--nv");
    add_limits(&w, p->o);
    add_surroundings(&w, p);
    pr_box_word(&w, p->o->image);
    pr_box_list(&w, p->o->argv);
    return pr_box_end(&w, ret, err);
}

static bool sets(const char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return true;
    return false;
}

static int plan_env(const struct pr_box_plan *p, const char ***ret,
                    struct pr_err *err)
{
    static const char devices[] = "CUDA_VISIBLE_DEVICES";
    const char *prefix =
        p->kind == PR_BOX_APPTAINER ? "APPTAINERENV_" : "SINGULARITYENV_";
    struct pr_box_words w = {.arena = p->arena};

    for (const char *const *e = p->o->env; e && *e; e++)
        pr_box_word(&w, pr_arena_printf(p->arena, "%s%s", prefix, *e));
    if (*p->o->gpus && strcmp(p->o->gpus, "all") != 0 &&
        !sets(p->o->env, devices))
        pr_box_word(&w, pr_arena_printf(p->arena, "%s%s=%s", prefix, devices,
                                        p->o->gpus));
    return pr_box_end(&w, ret, err);
}

int pr_box_apptainer(const struct pr_box_plan *p, struct pr_container *ret,
                     struct pr_err *err)
{
    int rc;

    if (*p->o->user)
        return refuse_user(p, err);
    rc = plan_run(p, &ret->argv, err);
    if (!rc)
        rc = plan_env(p, &ret->env, err);
    if (!rc && !strstr(p->o->image, "://"))
        ret->image_file = p->o->image;
    return rc;
}
