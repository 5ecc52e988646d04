/*
 * The command lines of apptainer and singularity. What runs inside is their
 * child, so that nothing is left to do once it has ended. Variables travel in
 * the program's own environment, because its --env splits values at commas.
 */
#include "launch/container_impl.h"

#include <string.h>

static int refuse_user(const struct pr_container_plan *p, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, "container.user",
            "%s runs as the user who starts it",
            pr_container_kind_name(p->kind));
    return pr_hint(err, "leave container.user empty");
}

static void apptainer_add_limits(struct pr_container_words *w,
                                 const struct pr_container_opts *o)
{
    if (o->memory_bytes)
        pr_container_add_pair(
            w, "--memory",
            pr_arena_printf(w->arena, "%llu",
                            (unsigned long long)o->memory_bytes));
    if (o->cpus > 0)
        pr_container_add_pair(w, "--cpus",
                              pr_arena_printf(w->arena, "%.10g", o->cpus));
}

static void apptainer_add_surroundings(struct pr_container_words *w,
                                       const struct pr_container_plan *p)
{
    const struct pr_container_opts *o = p->o;

    if (*o->network && strcmp(o->network, "host") != 0) {
        pr_container_add_word(w, "--net");
        pr_container_add_pair(w, "--network", o->network);
    }
    if (*o->workdir)
        pr_container_add_pair(w, "--pwd", o->workdir);
    pr_container_add_mounts(w, p);
}

static int apptainer_plan_run(const struct pr_container_plan *p,
                              const char ***ret, struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    pr_container_add_words(&w, p->launcher);
    pr_container_add_word(&w, p->o->argv ? "exec" : "run");
    pr_container_add_words(&w, p->args);
    pr_container_add_word(&w, "--cleanenv");
    if (*p->o->gpus)
        pr_container_add_word(&w, "--nv");
    apptainer_add_limits(&w, p->o);
    apptainer_add_surroundings(&w, p);
    pr_container_add_word(&w, p->o->image);
    pr_container_add_words(&w, p->o->argv);
    return pr_container_end_words(&w, ret, err);
}

static bool env_has_name(const char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return true;
    return false;
}

static int apptainer_plan_env(const struct pr_container_plan *p,
                              const char ***ret, struct pr_err *err)
{
    static const char devices[] = "CUDA_VISIBLE_DEVICES";
    const char *prefix =
        p->kind == PR_CONTAINER_APPTAINER ? "APPTAINERENV_" : "SINGULARITYENV_";
    struct pr_container_words w = {.arena = p->arena};

    for (const char *const *e = p->o->env; e && *e; e++)
        pr_container_add_word(&w,
                              pr_arena_printf(p->arena, "%s%s", prefix, *e));
    if (*p->o->gpus && strcmp(p->o->gpus, "all") != 0 &&
        !env_has_name(p->o->env, devices))
        pr_container_add_word(&w, pr_arena_printf(p->arena, "%s%s=%s", prefix,
                                                  devices, p->o->gpus));
    return pr_container_end_words(&w, ret, err);
}

int pr_container_plan_apptainer(const struct pr_container_plan *p,
                                struct pr_container *ret, struct pr_err *err)
{
    int rc;

    if (*p->o->user)
        return refuse_user(p, err);
    rc = apptainer_plan_run(p, &ret->argv, err);
    if (!rc)
        rc = apptainer_plan_env(p, &ret->env, err);
    if (!rc && !strstr(p->o->image, "://"))
        ret->image_file = p->o->image;
    return rc;
}
