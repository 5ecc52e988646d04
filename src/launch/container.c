/*
 * Containers: which program it is, the command line that it is given, and what
 * its answers mean.
 */
#include "launch/container.h"

#include "base/buf.h"
#include "base/text.h"
#include "conf/read/literal.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A list that grows in the arena. Words are borrowed; NULL is taken for a lack
 * of memory. Adding after a failure does nothing. */
struct pr_container_words {
    struct pr_arena *arena;
    const char **items;
    size_t count, cap;
    bool failed;
};

static void container_add_word(struct pr_container_words *w, const char *word)
{
    const char **slot = !w->failed && word ? PR_PUSH(w->arena, w) : NULL;

    if (slot)
        *slot = word;
    else
        w->failed = true;
}

static void container_add_pair(struct pr_container_words *w, const char *option,
                               const char *value)
{
    container_add_word(w, option);
    container_add_word(w, value);
}

/* Adds all words of a list; NULL: none. */
static void container_add_words(struct pr_container_words *w,
                                const char *const *words)
{
    for (; words && *words; words++)
        container_add_word(w, *words);
}

/* Ends the list with NULL. PR_E_NOMEM also for what failed before. */
static int container_end_words(struct pr_container_words *w, const char ***ret,
                               struct pr_err *err)
{
    const char **slot = w->failed ? NULL : PR_PUSH(w->arena, w);

    if (!slot)
        return pr_fail_nomem(err);
    *slot = NULL;
    *ret = w->items;
    return PR_OK;
}

static const char *const kinds[PR_CONTAINER_KINDS] = {
    [PR_CONTAINER_DOCKER] = "docker",
    [PR_CONTAINER_NVIDIA_DOCKER] = "nvidia-docker",
    [PR_CONTAINER_PODMAN] = "podman",
    [PR_CONTAINER_APPTAINER] = "apptainer",
    [PR_CONTAINER_SINGULARITY] = "singularity",
};

static const char *container_kind_name(enum pr_container_kind kind)
{
    return kinds[kind];
}

/* What is planned, with the texts split. */
struct pr_container_plan {
    const struct pr_container_opts *o;
    struct pr_arena *arena;
    enum pr_container_kind kind;
    const char **launcher;
    const char **args;           /* those that are passed on */
    bool gpus, pull, log_driver; /* … and these are among them */
    bool cpuset, memory;
};

/* ---- exp.docker_args: what of it is passed on. Its default, and what people
 * write for a terminal, hold words that one or the other program refuses, or
 * that would take the container out of our hands. */

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
    if (pr_text_starts_with(word, "-m") && word[2] >= '0' && word[2] <= '9')
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

/* Fills args and what follows it from o->args. */
static int container_sort_args(struct pr_container_plan *p, struct pr_err *err)
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
            container_add_word(&kept, word[0]);
            if (two)
                container_add_word(&kept, word[1]);
        }
        word += two ? 2 : 1;
    }
    return container_end_words(&kept, &p->args, err);
}

/* ---- what containers see of this machine: HOST:INSIDE is the short form;
 * paths that it would split are given by fields, which are those of a CSV file.
 * No program takes two mounts in one place: what the user's own arguments mount
 * holds, then the first of ours. */

/* ---- mounts: the two forms */

/* apptainer takes several in one word. */
static bool has_mount_separator(const struct pr_container_plan *p,
                                const char *path)
{
    return strpbrk(path, pr_container_is_apptainer(p->kind) ? ":," : ":") !=
           NULL;
}

static void mount_put_field(struct pr_buf *out, const char *key,
                            const char *path)
{
    bool quoted = strpbrk(path, ",\"\r\n") != NULL;

    pr_buf_str(out, quoted ? ",\"" : ",");
    pr_buf_str(out, key);
    for (; *path; path++)
        pr_buf_str(out, *path == '"' ? "\"\"" : (const char[]){*path, '\0'});
    if (quoted)
        pr_buf_char(out, '"');
}

static void add_fields(struct pr_container_words *w, const struct pr_mount *m)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_str(&text, "type=bind");
    mount_put_field(&text, "source=", m->host);
    mount_put_field(&text, "target=", m->inside);
    if (strcmp(m->options, "ro") == 0)
        pr_buf_str(&text, ",readonly");
    container_add_pair(w, "--mount",
                       pr_buf_ok(&text) ? pr_arena_str(w->arena, text.data)
                                        : NULL);
}

static void add_short(struct pr_container_words *w, const char *option,
                      const struct pr_mount *m)
{
    container_add_pair(w, option,
                       pr_arena_printf(w->arena, "%s:%s%s%s", m->host,
                                       m->inside, *m->options ? ":" : "",
                                       m->options));
}

/* ---- mounts: what the user has mounted already */

/* The length of a path without slashes at its end. */
static size_t trim_path_slashes(const char *path, size_t n)
{
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

static bool is_same_path(const char *a, size_t a_len, const char *b,
                         size_t b_len)
{
    a_len = trim_path_slashes(a, a_len);
    return a_len == trim_path_slashes(b, b_len) && memcmp(a, b, a_len) == 0;
}

/* HOST:INSIDE[:OPTIONS], or INSIDE alone; apptainer has a list of them. */
static bool short_has(const char *text, const char *inside)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        const char *colon = memchr(text, ':', n);
        const char *at = colon ? colon + 1 : text;
        size_t len = strcspn(at, ":,");

        if (is_same_path(at, len, inside, strlen(inside)))
            return true;
        if (!text[n])
            return false;
        text += n + 1;
    }
}

/* type=bind,source=HOST,target=INSIDE. */
static bool fields_have(const char *text, const char *inside)
{
    static const char *const keys[] = {"target=", "destination=", "dst="};

    while (*text) {
        size_t n = strcspn(text, ",");

        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            size_t k = strlen(keys[i]);

            if (n > k && strncmp(text, keys[i], k) == 0 &&
                is_same_path(text + k, n - k, inside, strlen(inside)))
                return true;
        }
        text += n + (text[n] == ',');
    }
    return false;
}

/* The value of an option in this word or the next; NULL: another word. */
static const char *get_option_value(const char *const *word, const char *option)
{
    size_t n = strlen(option);

    if (strncmp(*word, option, n) != 0)
        return NULL;
    return (*word)[n] == '=' ? *word + n + 1 : (*word)[n] ? NULL : word[1];
}

static bool args_mount(const char *const *words, const char *inside)
{
    static const char *const options[] = {"-v", "--volume", "-B", "--bind"};

    for (; *words; words++) {
        const char *fields = get_option_value(words, "--mount");

        if (fields && fields_have(fields, inside))
            return true;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *value = get_option_value(words, options[i]);

            if (value && short_has(value, inside))
                return true;
        }
    }
    return false;
}

static bool is_mount_taken(const struct pr_container_plan *p, size_t which)
{
    const struct pr_mount *all = p->o->mounts;
    const char *inside = all[which].inside;

    for (size_t i = 0; i < which; i++)
        if (is_same_path(all[i].inside, strlen(all[i].inside), inside,
                         strlen(inside)))
            return true;
    return args_mount(p->args, inside);
}

/* The words for o->mounts. */
static void container_add_mounts(struct pr_container_words *w,
                                 const struct pr_container_plan *p)
{
    const char *option =
        pr_container_is_apptainer(p->kind) ? "--bind" : "--volume";

    for (size_t i = 0; i < p->o->mount_count; i++) {
        const struct pr_mount *m = &p->o->mounts[i];

        if (is_mount_taken(p, i))
            continue;
        if (has_mount_separator(p, m->host) ||
            has_mount_separator(p, m->inside))
            add_fields(w, m);
        else
            add_short(w, option, m);
    }
}

/* ---- apptainer and singularity: what runs inside is their child, so that
 * nothing is left to do once it has ended. Variables travel in the program's
 * own environment, because its --env splits values at commas. */

static int refuse_user(const struct pr_container_plan *p, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, "container.user",
            "%s runs as the user who starts it", container_kind_name(p->kind));
    return pr_hint(err, "leave container.user empty");
}

static void apptainer_add_limits(struct pr_container_words *w,
                                 const struct pr_container_opts *o)
{
    if (o->memory_bytes)
        container_add_pair(
            w, "--memory",
            pr_arena_printf(w->arena, "%llu",
                            (unsigned long long)o->memory_bytes));
    if (o->cpus > 0)
        container_add_pair(w, "--cpus",
                           pr_arena_printf(w->arena, "%.10g", o->cpus));
}

static void apptainer_add_surroundings(struct pr_container_words *w,
                                       const struct pr_container_plan *p)
{
    const struct pr_container_opts *o = p->o;

    if (*o->network && strcmp(o->network, "host") != 0) {
        container_add_word(w, "--net");
        container_add_pair(w, "--network", o->network);
    }
    if (*o->workdir)
        container_add_pair(w, "--pwd", o->workdir);
    container_add_mounts(w, p);
}

static int apptainer_plan_run(const struct pr_container_plan *p,
                              const char ***ret, struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    container_add_words(&w, p->launcher);
    container_add_word(&w, p->o->argv ? "exec" : "run");
    container_add_words(&w, p->args);
    container_add_word(&w, "--cleanenv");
    if (*p->o->gpus)
        container_add_word(&w, "--nv");
    apptainer_add_limits(&w, p->o);
    apptainer_add_surroundings(&w, p);
    container_add_word(&w, p->o->image);
    container_add_words(&w, p->o->argv);
    return container_end_words(&w, ret, err);
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
        container_add_word(&w, pr_arena_printf(p->arena, "%s%s", prefix, *e));
    if (*p->o->gpus && strcmp(p->o->gpus, "all") != 0 &&
        !env_has_name(p->o->env, devices))
        container_add_word(&w, pr_arena_printf(p->arena, "%s%s=%s", prefix,
                                               devices, p->o->gpus));
    return container_end_words(&w, ret, err);
}

static int container_plan_apptainer(const struct pr_container_plan *p,
                                    struct pr_container *ret,
                                    struct pr_err *err)
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

/* ---- docker, nvidia-docker and podman, which differ in how GPUs are given:
 * what the user's own arguments say comes first, so that ours hold where both
 * say something. Nothing is fetched: a download in the middle of a measurement
 * is none. */

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
            container_add_pair(w, "--device",
                               pr_arena_printf(w->arena, "nvidia.com/gpu=%.*s",
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
        container_add_pair(
            w, "--env",
            pr_arena_printf(w->arena, "NVIDIA_VISIBLE_DEVICES=%s", gpus));
    else if (strcmp(gpus, "all") == 0)
        container_add_pair(w, "--gpus", gpus);
    else
        container_add_pair(w, "--gpus",
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
        container_add_pair(w, "--shm-size",
                           oci_format_number(w->arena, o->shm_bytes));
    if (memory)
        container_add_pair(w, "--memory", oci_format_number(w->arena, memory));
    if (*o->slot_cpus && !p->cpuset)
        container_add_pair(w, "--cpuset-cpus", o->slot_cpus);
    if (*o->slot_mems && !p->cpuset)
        container_add_pair(w, "--cpuset-mems", o->slot_mems);
    if (o->cpus > 0)
        container_add_pair(w, "--cpus",
                           pr_arena_printf(w->arena, "%.10g", o->cpus));
}

static void oci_add_surroundings(struct pr_container_words *w,
                                 const struct pr_container_plan *p)
{
    const struct pr_container_opts *o = p->o;

    if (*o->network)
        container_add_pair(w, "--network", o->network);
    if (*o->user)
        container_add_pair(w, "--user", o->user);
    if (*o->workdir)
        container_add_pair(w, "--workdir", o->workdir);
    container_add_mounts(w, p);
    for (const char *const *e = o->env; e && *e; e++)
        container_add_pair(w, "--env", *e);
}

static int oci_plan_run(const struct pr_container_plan *p, const char ***ret,
                        struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    container_add_words(&w, p->launcher);
    container_add_word(&w, "run");
    container_add_words(&w, p->args);
    container_add_pair(&w, "--name", p->o->name);
    /* nvidia-docker is of a time whose docker had no such option. */
    if (!p->pull && p->kind != PR_CONTAINER_NVIDIA_DOCKER)
        container_add_word(&w, "--pull=never");
    if (!p->log_driver) /* what it says reaches us; no second copy */
        container_add_word(&w, "--log-driver=none");
    add_gpus(&w, p);
    oci_add_limits(&w, p);
    oci_add_surroundings(&w, p);
    container_add_word(&w, p->o->image);
    container_add_words(&w, p->o->argv);
    return container_end_words(&w, ret, err);
}

static int plan_question(const struct pr_container_plan *p,
                         const char *const *verb, const char *subject,
                         const char ***ret, struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    container_add_words(&w, p->launcher);
    container_add_words(&w, verb);
    container_add_word(&w, subject);
    return container_end_words(&w, ret, err);
}

/* The first nvidia-docker wants it for itself. */
static int oci_plan_env(const struct pr_container_plan *p, const char ***ret,
                        struct pr_err *err)
{
    struct pr_container_words w = {.arena = p->arena};

    if (p->kind == PR_CONTAINER_NVIDIA_DOCKER && *p->o->gpus && !p->gpus)
        container_add_word(&w,
                           pr_arena_printf(p->arena, "NV_GPU=%s", p->o->gpus));
    return container_end_words(&w, ret, err);
}

static int container_plan_oci(const struct pr_container_plan *p,
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

/* ---- which program */

#define BLANK " \t\r\n\"'"

static enum pr_container_kind kind_of_word(const char *word, size_t len)
{
    for (size_t i = len; i > 0; i--)
        if (word[i - 1] == '/') {
            word += i;
            len -= i;
            break;
        }
    for (int k = 0; k < PR_CONTAINER_KINDS; k++)
        if (pr_text_is(word, len, kinds[k]))
            return (enum pr_container_kind)k;
    return PR_CONTAINER_KINDS;
}

enum pr_container_kind pr_container_find_kind(const char *launcher)
{
    for (;;) {
        enum pr_container_kind kind;
        size_t len;

        launcher += strspn(launcher, BLANK);
        if (!*launcher)
            return PR_CONTAINER_KINDS;
        len = strcspn(launcher, BLANK);
        kind = kind_of_word(launcher, len);
        if (kind != PR_CONTAINER_KINDS)
            return kind;
        launcher += len;
    }
}

bool pr_container_is_apptainer(enum pr_container_kind kind)
{
    return kind == PR_CONTAINER_APPTAINER || kind == PR_CONTAINER_SINGULARITY;
}

/* ---- the plan */

static int split_option_words(const char *what, const char *text,
                              struct pr_arena *a, const char ***ret,
                              struct pr_err *err)
{
    struct pr_err inner = {0};
    size_t n;
    int rc = pr_words_split(text, a, ret, &n, &inner);

    return rc ? pr_fail(err, rc, what, "%s", inner.msg) : PR_OK;
}

static int fail_unknown_launcher(const char *launcher, struct pr_err *err)
{
    pr_fail(err, PR_E_UNAVAIL, "exp.docker_launcher",
            "'%s' names no container program that is known", launcher);
    return pr_hint(err, "docker, nvidia-docker, podman, apptainer or "
                        "singularity, with options of their own if need be");
}

static struct pr_container_opts
fill_empty_texts(const struct pr_container_opts *from)
{
    struct pr_container_opts o = *from;
    const char **texts[] = {&o.launcher,  &o.args,     &o.image, &o.name,
                            &o.gpus,      &o.network,  &o.user,  &o.workdir,
                            &o.slot_cpus, &o.slot_mems};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i])
            *texts[i] = "";
    return o;
}

int pr_container_make_plan(const struct pr_container_opts *opts,
                           struct pr_arena *a, struct pr_container *ret,
                           struct pr_err *err)
{
    const struct pr_container_opts o = fill_empty_texts(opts);
    struct pr_container_plan p = {
        .o = &o, .arena = a, .kind = pr_container_find_kind(o.launcher)};
    struct pr_container made = {0};
    int rc;

    if (p.kind == PR_CONTAINER_KINDS)
        return fail_unknown_launcher(o.launcher, err);
    if (!*o.image) {
        pr_fail(err, PR_E_CONF, "exp.docker_image",
                "a container needs an image");
        return pr_hint(err, "-P exp.docker_image=NAME");
    }
    rc = split_option_words("exp.docker_launcher", o.launcher, a, &p.launcher,
                            err);
    if (!rc)
        rc = split_option_words("exp.docker_args", o.args, a, &p.args, err);
    if (!rc)
        rc = container_sort_args(&p, err);
    if (!rc)
        rc = pr_container_is_apptainer(p.kind)
                 ? container_plan_apptainer(&p, &made, err)
                 : container_plan_oci(&p, &made, err);
    if (!rc)
        *ret = made;
    return rc;
}

/* ---- answers */

static bool inspected_line(const char *line, size_t len, int *ret_status,
                           bool *ret_oom)
{
    static const char yes[] = " true", no[] = " false";
    char *end;
    long status = strtol(line, &end, 10);
    size_t rest = len - (size_t)(end - line);
    bool oom;

    if (end == line || end > line + len || status < INT_MIN || status > INT_MAX)
        return false;
    oom = pr_text_is(end, rest, yes);
    if (!oom && !pr_text_is(end, rest, no))
        return false;
    *ret_status = (int)status;
    *ret_oom = oom;
    return true;
}

/* Warnings of the program may stand around it. */
bool pr_container_parse_inspect(const char *text, int *ret_status,
                                bool *ret_oom)
{
    bool found = false;

    while (*text) {
        size_t len = strcspn(text, "\r\n");

        found |= inspected_line(text, len, ret_status, ret_oom);
        text += len;
        text += strspn(text, "\r\n");
    }
    return found;
}

const char *pr_container_status_words(const char *launcher, int status,
                                      const char *line)
{
    enum pr_container_kind kind = pr_container_find_kind(launcher);

    if (kind == PR_CONTAINER_KINDS)
        return NULL;
    if (pr_container_is_apptainer(kind))
        return status == 255 && strstr(line, "FATAL")
                   ? "the container could not be started"
                   : NULL;
    switch (status) {
    case 125:
        return "the container could not be started";
    case 126:
        return "the program inside cannot be executed";
    case 127:
        return "the program was not found inside";
    default:
        return NULL;
    }
}
