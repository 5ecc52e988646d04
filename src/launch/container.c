/* Containers: which program it is, and what its answers mean. */
#include "launch/container.h"

#include "conf/read/literal.h"
#include "launch/container_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- which program */

static const char *const kinds[PR_CONTAINER_KINDS] = {
    [PR_CONTAINER_DOCKER] = "docker",
    [PR_CONTAINER_NVIDIA_DOCKER] = "nvidia-docker",
    [PR_CONTAINER_PODMAN] = "podman",
    [PR_CONTAINER_APPTAINER] = "apptainer",
    [PR_CONTAINER_SINGULARITY] = "singularity",
};

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
        if (strlen(kinds[k]) == len && strncmp(kinds[k], word, len) == 0)
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

const char *pr_container_kind_name(enum pr_container_kind kind)
{
    return kinds[kind];
}

bool pr_container_is_apptainer(enum pr_container_kind kind)
{
    return kind == PR_CONTAINER_APPTAINER || kind == PR_CONTAINER_SINGULARITY;
}

/* ---- lists of words */

void pr_container_add_word(struct pr_container_words *w, const char *word)
{
    const char **items = NULL;

    if (!w->failed && word)
        items =
            pr_arena_grow(w->arena, w->items, w->count, &w->cap, sizeof *items);
    if (!items) {
        w->failed = true;
        return;
    }
    w->items = items;
    items[w->count++] = word;
}

void pr_container_add_pair(struct pr_container_words *w, const char *option,
                           const char *value)
{
    pr_container_add_word(w, option);
    pr_container_add_word(w, value);
}

void pr_container_add_words(struct pr_container_words *w,
                            const char *const *words)
{
    for (; words && *words; words++)
        pr_container_add_word(w, *words);
}

int pr_container_end_words(struct pr_container_words *w, const char ***ret,
                           struct pr_err *err)
{
    const char **items;

    if (w->failed)
        return pr_fail_nomem(err);
    items = pr_arena_grow(w->arena, w->items, w->count, &w->cap, sizeof *items);
    if (!items)
        return pr_fail_nomem(err);
    items[w->count] = NULL;
    *ret = items;
    return PR_OK;
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
        rc = pr_container_sort_args(&p, err);
    if (!rc)
        rc = pr_container_is_apptainer(p.kind)
                 ? pr_container_plan_apptainer(&p, &made, err)
                 : pr_container_plan_oci(&p, &made, err);
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
    oom = rest == strlen(yes) && strncmp(end, yes, rest) == 0;
    if (!oom && !(rest == strlen(no) && strncmp(end, no, rest) == 0))
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
