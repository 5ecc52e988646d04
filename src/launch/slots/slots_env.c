/* What the environment of a child says about its slot. */
#include "launch/slots/slots_impl.h"

enum { MOST_VARIABLES = 8 };

/* A list of NAME=value that fills up; it keeps its NULL at the end. */
static bool slot_env_add(const char **list, const char *entry)
{
    size_t n = 0;

    while (list[n])
        n++;
    if (!entry)
        return false;
    list[n] = entry;
    return true;
}

static bool slot_env_add_devices(struct pr_slots *s, struct pr_slot *slot,
                                 const char **list)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES"};

    for (size_t i = 0; s->opts->devices && i < 2; i++)
        if (!slot_env_add(list,
                          pr_arena_printf(s->arena, "%s=%s", names[i],
                                          s->opts->devices[slot->index].id)))
            return false;
    return true;
}

static bool slot_env_add_cores(struct pr_slots *s, struct pr_slot *slot,
                               const char **list)
{
    return !s->shares ||
           slot_env_add(list, pr_arena_printf(s->arena, "PRONY_CORES=%u",
                                              slot->n_cores));
}

/* Libraries that count the machine's cores and not those they may use. */
static bool slot_env_add_threads(struct pr_slots *s, struct pr_slot *slot,
                                 const char **list)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                        "OPENBLAS_NUM_THREADS"};

    for (size_t i = 0; s->shares && i < sizeof names / sizeof *names; i++)
        if (!slot_env_add(list, pr_arena_printf(s->arena, "%s=%u", names[i],
                                                slot->n_cores)))
            return false;
    /* CUDA counts devices from the fastest on, everybody else by place. */
    return !s->opts->devices ||
           slot_env_add(list, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
}

int pr_slots_make_env(struct pr_slots *s, struct pr_err *err)
{
    for (unsigned i = 0; i < s->n; i++) {
        struct pr_slot *slot = &s->slots[i];
        const char **env =
            PR_ARENA_ARRAY(s->arena, const char *, MOST_VARIABLES);
        const char **def =
            PR_ARENA_ARRAY(s->arena, const char *, MOST_VARIABLES);

        if (!env || !def ||
            !slot_env_add(env, pr_arena_printf(s->arena, "PRONY_SLOT=%u", i)) ||
            !slot_env_add_cores(s, slot, env) ||
            !slot_env_add_devices(s, slot, env) ||
            !slot_env_add_threads(s, slot, def))
            return pr_fail_nomem(err);
        slot->env = env;
        slot->env_default = def;
    }
    return PR_OK;
}
