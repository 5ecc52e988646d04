/*
 * A container in a slot. Those of a daemon, and podman's control groups, are
 * elsewhere than the program that starts them, so that limits travel as words
 * of the command line. What a child of ours finds in its environment has to be
 * set inside.
 */
#include "run/contained_slot.h"

#include "base/file.h"
#include "launch/container.h"

#include <string.h>

static const char *job_container_find_device(const struct pr_slot *slot)
{
    for (const char *const *e = slot->env; *e; e++)
        if (pr_environ_is_same("CUDA_VISIBLE_DEVICES=", *e))
            return strchr(*e, '=') + 1;
    return NULL;
}

static bool is_device(const char *entry)
{
    return pr_environ_is_same("CUDA_VISIBLE_DEVICES=", entry) ||
           pr_environ_is_same("ROCR_VISIBLE_DEVICES=", entry);
}

static size_t job_container_count_env(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* What the slot insists on, what the experiment sets, what the slot has for
 * those who say nothing. */
static int job_container_add_env(const struct pr_slot *slot, bool devices,
                                 struct pr_arena *a,
                                 struct pr_container_opts *o,
                                 struct pr_err *err)
{
    size_t most = job_container_count_env(slot->env) +
                  job_container_count_env(o->env) +
                  job_container_count_env(slot->env_default);
    const char **all = PR_ARENA_ARRAY(a, const char *, most + 1);
    size_t n = 0;

    if (!all)
        return pr_fail_nomem(err);
    for (const char *const *e = slot->env; *e; e++)
        if (devices || !is_device(*e))
            all[n++] = *e;
    for (const char *const *e = o->env; e && *e; e++)
        if (!pr_environ_has(slot->env, *e))
            all[n++] = *e;
    for (const char *const *e = slot->env_default; *e; e++)
        if (!pr_environ_has(o->env, *e))
            all[n++] = *e;
    o->env = all; /* its end is there: an array comes as zeros */
    return PR_OK;
}

int pr_job_container_use_slot(const struct pr_slot *slot, struct pr_arena *a,
                              struct pr_container_opts *o, struct pr_err *err)
{
    enum pr_container_kind kind = pr_container_find_kind(o->launcher);
    const char *device = job_container_find_device(slot);
    /* A container that is given one GPU calls it the first; apptainer shows
     * all. */
    bool given = device && *o->gpus && !strstr(o->args, "--gpus");

    if (given)
        o->gpus = device;
    /* podman hands our affinity down, and who may not make groups here may
     * not there. A daemon may. */
    if (slot->cpus_grouped || kind != PR_CONTAINER_PODMAN) {
        o->slot_cpus = slot->cpus;
        o->slot_mems = slot->cpus_grouped ? slot->mems : NULL;
    }
    o->slot_memory = slot->memory_bytes;
    return job_container_add_env(
        slot, !given || pr_container_is_apptainer(kind), a, o, err);
}
