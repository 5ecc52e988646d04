/*
 * What an experiment sees of this machine's files inside a container. Our own
 * folders keep their paths, so that parameters mean the same on both sides;
 * only the experiment's folder and its data can be written.
 */
#include "run/contained_mounts.h"

#include "base/file.h"
#include "conf/read/bundled.h"
#include "job/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mounts {
    const struct pr_job *job;
    struct pr_mount *items;
    size_t count, cap;
};

static int mounts_add(struct mounts *m, const char *host, const char *inside,
                      const char *options, struct pr_err *err)
{
    struct pr_mount *items = NULL;

    if (host && inside && options)
        items = pr_arena_grow(m->job->arena, m->items, m->count, &m->cap,
                              sizeof *items);
    if (!items)
        return pr_fail_nomem(err);
    m->items = items;
    items[m->count++] = (struct pr_mount){host, inside, options};
    return PR_OK;
}

/* How far a path is in a folder: what follows its name; NULL: it is not. */
static const char *path_after_folder(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/')
               ? path + n
               : NULL;
}

/* Whether it is in something that is mounted, in its place there. A mount of
 * its own would only be in the way: no file can be renamed to its name. */
static bool is_seen(const struct mounts *m, const char *host,
                    const char *inside, bool to_write)
{
    for (size_t i = 0; i < m->count; i++) {
        const char *a = path_after_folder(host, m->items[i].host);
        const char *b = path_after_folder(inside, m->items[i].inside);

        if (a && b && strcmp(a, b) == 0 &&
            !(to_write && strcmp(m->items[i].options, "ro") == 0))
            return true;
    }
    return false;
}

/* Whether two paths lead to the same place. */
static bool leads_to(const char *path, const char *real)
{
    char whole[PATH_MAX];

    return realpath(path, whole) && strcmp(whole, real) == 0;
}

/* A path of ours, if it is there or will be, under the path that it is called
 * by: /data stays /data where that is a link. */
static int add_same(struct mounts *m, const char *path, enum pr_place_use use,
                    struct pr_err *err)
{
    const char *given = NULL, *host;
    char real[PATH_MAX] = "";
    int rc;

    if (!path || !*path)
        return PR_OK;
    if (!realpath(path, real)) {
        if (use != PR_PLACE_MADE)
            return PR_OK;
        real[0] = '\0';
    }
    rc = pr_job_absolute_path(path, m->job->arena, &given, err);
    if (rc || strcmp(real, "/") == 0)
        return rc;
    host = *real ? pr_arena_str(m->job->arena, real) : given;
    /* What ".." after a link means is known outside alone. */
    if (*real && host && !leads_to(given, real))
        given = host;
    if (host && is_seen(m, host, given, use == PR_PLACE_MADE))
        return PR_OK;
    return mounts_add(m, host, given, use == PR_PLACE_READ ? "ro" : "", err);
}

/* Our own programs name these by their real paths. */
static int add_real(struct mounts *m, const char *path, enum pr_place_use use,
                    struct pr_err *err)
{
    char real[PATH_MAX];

    return add_same(m, path && realpath(path, real) ? real : NULL, use, err);
}

/* ---- container.mounts */

/* HOST:INSIDE[:OPTIONS] taken apart. False: it is none. */
static bool mounts_parse_word(const char *word, struct pr_arena *a,
                              struct pr_mount *ret)
{
    size_t host = strcspn(word, ":"), inside;

    if (!host || word[host] != ':')
        return false;
    inside = strcspn(word + host + 1, ":");
    ret->host = pr_arena_copy(a, word, host);
    ret->inside = pr_arena_copy(a, word + host + 1, inside);
    ret->options = word + host + 1 + inside;
    ret->options += *ret->options == ':';
    return inside > 0;
}

static int bad_mount(const char *word, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, "container.mounts",
            "'%s' is not HOST:INSIDE or HOST:INSIDE:ro", word);
    return pr_hint(err, "-P container.mounts='[\"/data:/data:ro\"]'");
}

/* What looks like a path and is none would silently become an empty folder;
 * a plain name is a volume of the container program. */
static int mounts_add_own(struct mounts *m, const struct pr_value *v,
                          struct pr_err *err)
{
    const char *word = v->kind == PR_STR ? v->s : "", *host;
    struct pr_mount one;
    char real[PATH_MAX];

    if (!mounts_parse_word(word, m->job->arena, &one))
        return bad_mount(word, err);
    host = one.host;
    if (host && (*host == '/' || *host == '.')) {
        if (!realpath(host, real))
            return pr_fail_errno(err, PR_E_CONF, "container.mounts",
                                 "cannot mount '%.200s'", host);
        host = pr_arena_str(m->job->arena, real);
    }
    return mounts_add(m, host, one.inside, one.options, err);
}

bool pr_job_container_has_own_mount(const struct pr_job *job, const char *path)
{
    const struct pr_value *own = pr_get(job->params, "container.mounts");

    for (uint32_t i = 0; own && own->kind == PR_LIST && i < own->len; i++) {
        const struct pr_value *v = &own->items[i];
        struct pr_mount one;

        if (v->kind == PR_STR && mounts_parse_word(v->s, job->arena, &one) &&
            one.inside && path_after_folder(path, one.inside))
            return true;
    }
    return false;
}

/* ---- our own folders */

static int add_places(struct mounts *m, struct pr_err *err)
{
    struct pr_place *places = NULL;
    size_t count = 0;
    int rc = pr_job_find_places(m->job, &places, &count, err);

    for (size_t i = 0; !rc && i < count; i++)
        if (!pr_job_container_has_own_mount(m->job, places[i].path))
            rc = add_same(m, places[i].path, places[i].use, err);
    return rc;
}

static int add_log_folder(struct mounts *m, const char *file,
                          struct pr_err *err)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char folder[PATH_MAX];

    if (!slash)
        return PR_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - file), file);
    return add_same(m, folder, PR_PLACE_MADE, err);
}

int pr_job_container_mounts(const struct pr_job *job,
                            const struct pr_start *start,
                            const struct pr_container_params *params,
                            struct pr_container_opts *ret, struct pr_err *err)
{
    struct mounts m = {.job = job};
    const struct pr_value *own = params->mounts;
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && own && i < own->len; i++)
        rc = mounts_add_own(&m, &own->items[i], err);
    if (!rc)
        rc = add_real(&m, pr_bundled_dir(job->arena), PR_PLACE_READ, err);
    if (!rc)
        rc = add_real(&m, job->dir, PR_PLACE_MADE, err);
    if (!rc)
        rc = add_log_folder(&m, start->log_file, err);
    if (!rc)
        rc = add_places(&m, err);
    if (rc)
        return rc;
    ret->mounts = m.items;
    ret->mount_count = m.count;
    return PR_OK;
}

int pr_job_container_make_folders(const struct pr_job *job, struct pr_err *err)
{
    struct pr_place *places = NULL;
    size_t count = 0;
    int rc = pr_job_find_places(job, &places, &count, err);

    for (size_t i = 0; !rc && i < count; i++)
        if (places[i].use == PR_PLACE_MADE &&
            !pr_job_container_has_own_mount(job, places[i].path))
            rc = pr_make_dirs(places[i].path, err);
    return rc;
}

bool pr_job_container_has_mount_in(const struct pr_container_opts *o,
                                   const char *folder)
{
    for (size_t i = 0; i < o->mount_count; i++)
        if (path_after_folder(o->mounts[i].inside, folder))
            return true;
    return false;
}
