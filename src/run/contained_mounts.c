/*
 * What an experiment sees of this machine's files inside a container. Our own
 * folders keep their paths, so that parameters mean the same on both sides;
 * only the experiment's folder and its data can be written.
 */
#include "run/contained_mounts.h"

#include "conf/share.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mounts {
    const struct pr_job *job;
    const char **items;
    size_t count, cap;
};

static int add(struct mounts *m, const char *word, struct pr_err *err)
{
    const char **items;

    if (!word)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->items[i], word) == 0)
            return PR_OK;
    items = pr_arena_grow(m->job->arena, m->items, m->count, &m->cap,
                          sizeof *items);
    if (!items)
        return pr_fail_nomem(err);
    m->items = items;
    items[m->count++] = word;
    return PR_OK;
}

/* A path of ours, if it is there, under the same path; symbolic links stay
 * what they are on the way to it. */
static int add_same(struct mounts *m, const char *path, const char *how,
                    struct pr_err *err)
{
    char whole[PATH_MAX];

    if (!path || !*path || !realpath(path, whole) || strcmp(whole, "/") == 0)
        return PR_OK;
    if (strchr(whole, ':')) {
        pr_fail(err, PR_E_CONF, m->job->id,
                "'%.200s' cannot be mounted: its name has a ':'", whole);
        return pr_hint(err, "another folder for the run: -o DIR");
    }
    return add(m, pr_arena_printf(m->job->arena, "%s:%s%s", whole, whole, how),
               err);
}

/* ---- container.mounts */

/* What looks like a path and is none would silently become an empty folder;
 * a plain name is a volume of the container program. */
static int check_host(const char *word, size_t len, struct pr_err *err)
{
    char path[PATH_MAX];

    if (!len || word[len] != ':' || !word[len + 1]) {
        pr_fail(err, PR_E_CONF, "container.mounts",
                "'%s' is not HOST:INSIDE or HOST:INSIDE:ro", word);
        return pr_hint(err, "-P container.mounts='[\"/data:/data:ro\"]'");
    }
    if (word[0] != '/' && word[0] != '.')
        return PR_OK;
    snprintf(path, sizeof path, "%.*s", (int)len, word);
    if (access(path, F_OK) < 0)
        return pr_fail_errno(err, PR_E_CONF, "container.mounts",
                             "cannot mount '%.200s'", path);
    return PR_OK;
}

static int add_own(struct mounts *m, const struct pr_value *v,
                   struct pr_err *err)
{
    const char *word = v->kind == PR_STR ? v->s : "";
    char host[PATH_MAX], whole[PATH_MAX];
    size_t len = strcspn(word, ":");
    int rc = check_host(word, len, err);

    if (rc)
        return rc;
    if (word[0] != '.')
        return add(m, word, err);
    snprintf(host, sizeof host, "%.*s", (int)len, word);
    if (!realpath(host, whole))
        return pr_fail_errno(err, PR_E_CONF, "container.mounts",
                             "cannot mount '%.200s'", host);
    return add(m, pr_arena_printf(m->job->arena, "%s%s", whole, word + len),
               err);
}

/* ---- our own folders */

static const char *text_of(const struct pr_job *job, const char *name)
{
    const struct pr_value *v = pr_get(job->params, name);

    return v && v->kind == PR_STR ? v->s : "";
}

/* A path that is relative to another parameter's folder. */
static int add_below(struct mounts *m, const char *root, const char *path,
                     struct pr_err *err)
{
    char both[PATH_MAX];

    if (!*path || *path == '/' || !*root)
        return add_same(m, path, "", err);
    if ((size_t)snprintf(both, sizeof both, "%s/%s", root, path) >= sizeof both)
        return PR_OK; /* nothing can be there */
    return add_same(m, both, "", err);
}

static int add_data(struct mounts *m, struct pr_err *err)
{
    static const char *const folders[] = {"exp.data_dir",
                                          "checkpoint.checkpoint_folder",
                                          "nn.batches", "nn.load"};
    const char *root = text_of(m->job, "storage.storage_root");
    int rc = add_below(m, root, text_of(m->job, "dataset.data_folder"), err);

    /* Its default is the working folder: not for a container to see. */
    if (!rc && *root == '/')
        rc = add_same(m, root, "", err);
    for (size_t i = 0; !rc && i < sizeof folders / sizeof *folders; i++)
        rc = add_same(m, text_of(m->job, folders[i]), "", err);
    /* The name of a bundled model is no path. */
    if (!rc && strchr(m->job->exp.model, '/'))
        rc = add_same(m, m->job->exp.model, ":ro", err);
    return rc;
}

static int add_folder_of(struct mounts *m, const char *file, struct pr_err *err)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char folder[PATH_MAX];

    if (!slash)
        return PR_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), file);
    return add_same(m, folder, "", err);
}

int pr_contained_mounts(const struct pr_job *job, const struct pr_start *start,
                        const struct pr_container_params *params,
                        const char ***ret, struct pr_err *err)
{
    struct mounts m = {.job = job};
    const struct pr_value *own = params->mounts;
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && own && i < own->len; i++)
        rc = add_own(&m, &own->items[i], err);
    if (!rc)
        rc = add_same(&m, pr_share_dir(job->arena), ":ro", err);
    if (!rc)
        rc = add_same(&m, job->dir, "", err);
    if (!rc)
        rc = add_folder_of(&m, start->log_file, err);
    if (!rc)
        rc = add_data(&m, err);
    if (!rc) {
        *ret =
            pr_arena_grow(job->arena, m.items, m.count, &m.cap, sizeof **ret);
        rc = *ret ? PR_OK : pr_fail_nomem(err);
    }
    if (!rc)
        (*ret)[m.count] = NULL;
    return rc;
}

bool pr_contained_in(const char *const *mounts, const char *folder)
{
    size_t n = strlen(folder);

    for (; *mounts; mounts++) {
        const char *inside = strchr(*mounts, ':');

        if (inside && strncmp(inside + 1, folder, n) == 0 &&
            (inside[1 + n] == '/' || inside[1 + n] == ':' || !inside[1 + n]))
            return true;
    }
    return false;
}
