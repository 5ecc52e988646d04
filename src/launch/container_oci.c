/*
 * The command lines of docker, nvidia-docker and podman, which differ in how
 * GPUs are given. What the user's own arguments say comes first, so that ours
 * hold where both say something. Nothing is fetched: a download in the middle
 * of a measurement is none.
 */
#include "launch/container_impl.h"

#include <string.h>

static const char *oci_format_number(struct pr_arena *a, uint64_t n)
{
    return pr_arena_printf(a, "%llu", (unsigned long long)n);
}

/* --device nvidia.com/gpu=N for each. */
static void add_cdi(struct pr_container_words *w, const char *gpus)
{
    while (*gpus) {
        size_t len = strcspn(gpus, ",");

        if (len)
            pr_container_add_pair(w, "--device",
                                  pr_arena_printf(w->arena,
                                                  "nvidia.com/gpu=%.*s",
                                                  (int)len, gpus));
        gpus += len;
        gpus += *gpus == ',';
    }
}

/* docker takes a list of comma-separated fields, and the quotes with it. */
static void add_gpus(struct pr_container_words *w,
                     const struct pr_container_plan *p)
{
    const char *gpus = p->o->gpus;

    if (!*gpus || p->gpus)
        return;
    if (p->kind == PR_CONTAINER_PODMAN)
        add_cdi(w, gpus);
    else if (p->kind == PR_CONTAINER_NVIDIA_DOCKER)
        pr_container_add_pair(
            w, "--env",
            pr_arena_printf(w->arena, "NVIDIA_VISIBLE_DEVICES=%s", gpus));
    else if (strcmp(gpus, "all") == 0)
        pr_container_add_pair(w, "--gpus", gpus);
    else
        pr_container_add_pair(w, "--gpus",
                              pr_arena_printf(w->arena, "\"device=%s\"", gpus));
}

static void oci_add_limits(struct pr_container_words *w,
                           const struct pr_container_plan *p)
{
    const struct pr_container_opts *o = p->o;
    uint64_t memory = o->memory_bytes;

    if (!memory && !p->memory)
        memory = o->slot_memory;
    if (o->shm_bytes)
        pr_container_add_pair(w, "--shm-size",
                              oci_format_number(w->arena, o->shm_bytes));
    if (memory)
        pr_container_add_pair(w, "--memory",
                              oci_format_number(w->arena, memory));
    if (*o->slot_cpus && !p->cpuset)
        pr_container_add_pair(w, "--cpuset-cpus", o->slot_cpus);
    if (*o->slot_mems && !p->cpuset)
        pr_container_add_pair(w, "--cpuset-mems", o->slot_mems);
    if (o->cpus > 0)
        pr_container_add_pair(w, "--cpus",
                              pr_arena_printf(w->arena, "%.10g", o->cpus));
}

static void oci_add_surroundings(struct pr_container_words *w,
                                 const struct pr_container_plan *p)
{
    const struct pr_container_opts *o = p->o;

    if (*o->network)
        pr_container_add_pair(w, "--network", o->network);
    if (*o->user)
        pr_container_add_pair(w, "--user", o->user);
    if (*o->workdir)
        pr_container_add_pair(w, "--workdir", o->workdir);
    pr_container_add_mounts(w, p);
    for (const char *const *e = o->env; e && *e; e++)
        pr_container_add_pair(w, "--env", *e);
}

static int oci_plan_run(const struct pr_container_plan *p, const char ***ret,
                        struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    pr_container_add_words(&w, p->launcher);
    pr_container_add_word(&w, "run");
    pr_container_add_words(&w, p->args);
    pr_container_add_pair(&w, "--name", p->o->name);
    /* nvidia-docker is of a time whose docker had no such option. */
    if (!p->pull && p->kind != PR_CONTAINER_NVIDIA_DOCKER)
        pr_container_add_word(&w, "--pull=never");
    if (!p->log_driver) /* what it says reaches us; no second copy */
        pr_container_add_word(&w, "--log-driver=none");
    add_gpus(&w, p);
    oci_add_limits(&w, p);
    oci_add_surroundings(&w, p);
    pr_container_add_word(&w, p->o->image);
    pr_container_add_words(&w, p->o->argv);
    return pr_container_end_words(&w, ret, err);
}

static int plan_question(const struct pr_container_plan *p,
                         const char *const *verb, const char *subject,
                         const char ***ret, struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    pr_container_add_words(&w, p->launcher);
    pr_container_add_words(&w, verb);
    pr_container_add_word(&w, subject);
    return pr_container_end_words(&w, ret, err);
}

/* The first nvidia-docker wants it for itself. */
static int oci_plan_env(const struct pr_container_plan *p, const char ***ret,
                        struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    if (p->kind == PR_CONTAINER_NVIDIA_DOCKER && *p->o->gpus && !p->gpus)
        pr_container_add_word(
            &w, pr_arena_printf(p->arena, "NV_GPU=%s", p->o->gpus));
    return pr_container_end_words(&w, ret, err);
}

int pr_container_plan_oci(const struct pr_container_plan *p,
                          struct pr_container *ret, struct pr_err *err)
{
    static const char *const kill[] = {"kill", "--signal", "KILL", NULL};
    static const char *const look[] = {
        "container", "inspect", "--format",
        "{{.State.ExitCode}} {{.State.OOMKilled}}", NULL};
    static const char *const drop[] = {"rm", "--force", "--volumes", NULL};
    static const char *const image[] = {"image", "inspect", "--format",
                                        "{{.Id}}", NULL};
    const char *name = p->o->name;
    int rc = oci_plan_run(p, &ret->argv, err);

    if (!rc)
        rc = plan_question(p, kill, name, &ret->kill, err);
    if (!rc)
        rc = plan_question(p, look, name, &ret->inspect, err);
    if (!rc)
        rc = plan_question(p, drop, name, &ret->remove, err);
    if (!rc)
        rc = plan_question(p, image, p->o->image, &ret->has_image, err);
    return rc ? rc : oci_plan_env(p, &ret->env, err);
}
