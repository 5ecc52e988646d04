/*
 * The runner's request to start something, as a message: the environment is
 * the caller's, with what the keeper and the slot say put into it.
 */
#include "base/file.h"
#include "launch/keeper/keeper_impl.h"

#include <unistd.h>

static uint32_t count_strings(const char *const *list)
{
    uint32_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* What the keeper itself puts there. The descriptors in an older DATA_FD or
 * PRONY_FD are closed to programs, so nothing is lost. */
static bool is_keeper_variable(const char *entry)
{
    static const char *const ours[] = {
        PR_KEEPER_MARKER, "PRONY_FD=", "PRONY_CHANNEL=", "DATA_FD=", NULL};

    return pr_environ_has(ours, entry);
}

/* The marker comes first, and instead of any other; then what the slot
 * insists on, the caller's, and what the slot has for those who say nothing.
 * Returns how many; b NULL: only counts. */
static uint32_t put_env(struct pr_buf *b, const struct pr_spawn *s,
                        const char *marker)
{
    static const char *const nothing[] = {NULL};
    const char *const *env = s->env ? s->env : (const char *const *)environ;
    const char *const *firm = s->slot ? s->slot->env : nothing;
    const char *const *soft = s->slot ? s->slot->env_default : nothing;
    uint32_t n = 1 + count_strings(firm);

    if (!env) /* after clearenv() */
        env = nothing;
    if (b) {
        pr_keeper_message_put_str(b, marker);
        for (const char *const *e = firm; *e; e++)
            pr_keeper_message_put_str(b, *e);
    }
    for (const char *const *e = env; *e; e++) {
        if (is_keeper_variable(*e) || pr_environ_has(firm, *e))
            continue;
        n++;
        if (b)
            pr_keeper_message_put_str(b, *e);
    }
    for (const char *const *e = soft; *e; e++) {
        if (pr_environ_has(env, *e))
            continue;
        n++;
        if (b)
            pr_keeper_message_put_str(b, *e);
    }
    return n;
}

void pr_keeper_put_spawn(struct pr_buf *b, const struct pr_spawn *s,
                         const char *marker)
{
    const struct pr_slot *slot = s->slot;
    uint32_t argc = count_strings(s->argv);
    uint32_t groups = slot ? count_strings(slot->groups) : 0;

    pr_keeper_message_begin(b, PR_KEEPER_MESSAGE_SPAWN);
    pr_keeper_message_put_u32(b, s->tag);
    pr_keeper_message_put_str(b, s->log_path ? s->log_path : "/dev/null");
    pr_keeper_message_put_str(b, s->channel_path);
    pr_keeper_message_put_str(b, s->cwd);
    pr_keeper_message_put_str(b, s->body_arg);
    pr_keeper_message_put_str(b, slot ? slot->cpus : NULL);
    pr_keeper_message_put_str(b, slot ? slot->memory_group : NULL);
    pr_keeper_message_put_u32(b, argc);
    pr_keeper_message_put_u32(b, put_env(NULL, s, marker));
    pr_keeper_message_put_u32(b, groups);
    for (uint32_t i = 0; i < argc; i++)
        pr_keeper_message_put_str(b, s->argv[i]);
    (void)put_env(b, s, marker);
    for (uint32_t i = 0; i < groups; i++)
        pr_keeper_message_put_str(b, slot->groups[i]);
    pr_keeper_message_end(b);
}
