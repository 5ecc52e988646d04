/*
 * exp.docker_args: what of it is passed on. Its default, and what people write
 * for a terminal, hold words that one or the other program refuses, or that
 * would take the container out of our hands.
 */
#include "launch/container_impl.h"

#include <string.h>

enum arg_use {
    ARG_PASS,
    ARG_DROP,       /* we do it, or it cannot be without a terminal */
    ARG_REFUSE,     /* would run on without us */
    ARG_SHM,        /* --shm-size: not always */
    ARG_OCI,        /* apptainer has none, and needs none */
    ARG_NETWORK,    /* left out where container.network says which: two are
                       refused */
    ARG_GPUS,       /* passed on; ours is left out */
    ARG_PULL,       /* … */
    ARG_LOG_DRIVER, /* … */
    ARG_CPUSET,     /* … */
    ARG_MEMORY,     /* … */
};

static const struct arg_row {
    const char *name;
    bool valued; /* its value may be the next word */
    enum arg_use use;
} rows[] = {
    {"--rm", false, ARG_DROP},
    {"--name", true, ARG_DROP},
    {"--tty", false, ARG_DROP},
    {"--interactive", false, ARG_DROP},
    {"--detach", false, ARG_REFUSE},
    {"--shm-size", true, ARG_SHM},
    {"--ulimit", true, ARG_OCI},
    {"--ipc", true, ARG_OCI},
    {"--network", true, ARG_NETWORK},
    {"--net", true, ARG_NETWORK},
    {"--gpus", true, ARG_GPUS},
    {"--pull", true, ARG_PULL},
    {"--log-driver", true, ARG_LOG_DRIVER},
    {"--cpuset-cpus", true, ARG_CPUSET},
    {"--cpuset-mems", true, ARG_CPUSET},
    {"--memory", true, ARG_MEMORY},
    {"-m", true, ARG_MEMORY},
};

/* -d, -it and the like. */
static bool is_cluster(const char *word)
{
    return word[0] == '-' && word[1] && word[1] != '-' &&
           word[1 + strspn(word + 1, "dit")] == '\0';
}

static const struct arg_row *find_arg_row(const char *word)
{
    static const struct arg_row other = {NULL, false, ARG_PASS},
                                terminal = {NULL, false, ARG_DROP},
                                memory = {NULL, false, ARG_MEMORY},
                                detach = {NULL, false, ARG_REFUSE};

    if (is_cluster(word))
        return strchr(word, 'd') ? &detach : &terminal;
    if (strncmp(word, "-m", 2) == 0 && word[2] >= '0' && word[2] <= '9')
        return &memory;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);

        if (strncmp(word, rows[i].name, n) == 0 &&
            (word[n] == '\0' || word[n] == '='))
            return &rows[i];
    }
    return &other;
}

static bool is_ipc_host(const char *const *word)
{
    return strcmp(word[0], "--ipc=host") == 0 ||
           (strcmp(word[0], "--ipc") == 0 && word[1] &&
            strcmp(word[1], "host") == 0);
}

static bool shares_ipc(const char *const *words)
{
    for (; *words; words++)
        if (is_ipc_host(words))
            return true;
    return false;
}

/* podman refuses a size for the /dev/shm of the host. */
static bool drops_shm(const struct pr_container_plan *p)
{
    return pr_container_is_apptainer(p->kind) || p->o->shm_bytes ||
           (p->kind == PR_CONTAINER_PODMAN && shares_ipc(p->args));
}

static bool apply_arg_use(struct pr_container_plan *p, enum arg_use use,
                          bool no_shm)
{
    switch (use) {
    case ARG_DROP:
    case ARG_REFUSE:
        return false;
    case ARG_SHM:
        return !no_shm;
    case ARG_OCI:
        return !pr_container_is_apptainer(p->kind);
    case ARG_NETWORK:
        return !*p->o->network;
    case ARG_GPUS:
        p->gpus = true;
        return true;
    case ARG_PULL:
        p->pull = true;
        return true;
    case ARG_LOG_DRIVER:
        p->log_driver = true;
        return true;
    case ARG_CPUSET:
        p->cpuset = true;
        return true;
    case ARG_MEMORY:
        p->memory = true;
        return true;
    case ARG_PASS:
        break;
    }
    return true;
}

/* Whether the next word is its value. apptainer's --net has none. */
static bool takes_next(const struct pr_container_plan *p,
                       const struct arg_row *row, const char *const *word)
{
    return row->valued && !strchr(word[0], '=') && word[1] &&
           !(pr_container_is_apptainer(p->kind) &&
             strcmp(row->name, "--net") == 0);
}

int pr_container_sort_args(struct pr_container_plan *p, struct pr_err *err)
{
    struct pr_container_words kept = {.arena = p->arena};
    const char **word = p->args;
    bool no_shm = drops_shm(p);

    while (*word) {
        const struct arg_row *row = find_arg_row(*word);
        bool two = takes_next(p, row, word);

        if (row->use == ARG_REFUSE) {
            pr_fail(err, PR_E_CONF, "exp.docker_args",
                    "'%s' lets a container run on without us", *word);
            return pr_hint(err, "leave it out");
        }
        if (apply_arg_use(p, row->use, no_shm)) {
            pr_container_add_word(&kept, word[0]);
            if (two)
                pr_container_add_word(&kept, word[1]);
        }
        word += two ? 2 : 1;
    }
    return pr_container_end_words(&kept, &p->args, err);
}
