/* Frameworks by name: where their files are, and those that are there. */
#include "catalog/framework.h"

#include "base/file.h"
#include "base/text.h"
#include "catalog/framework_impl.h"
#include "conf/read/share.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".yaml"

enum { FOLDERS = 2 };

/* The folders that are looked at, in turn; NULL: that one is not there. What
 * is beside a file is found from anywhere, so paths are whole. */
static bool framework_find_folders(struct pr_arena *a,
                                   const char *ret[static FOLDERS])
{
    const char *own = getenv("PRONY_FRAMEWORKS"), *share = pr_bundled_dir(a);
    char whole[PATH_MAX];
    bool there = own && *own && realpath(own, whole);

    ret[0] = there ? pr_arena_str(a, whole) : NULL;
    ret[1] = share ? pr_arena_printf(a, "%s/frameworks", share) : NULL;
    return (!there || ret[0]) && (!share || ret[1]);
}

/* The file of that name: in $PRONY_FRAMEWORKS, else in the share folder. In the
 * arena. 1: there; 0: in neither. */
static int framework_path(const char *name, struct pr_arena *a,
                          const char **ret, struct pr_err *err)
{
    const char *dirs[FOLDERS];

    if (!pr_framework_is_name(name, strlen(name)))
        return 0;
    if (!framework_find_folders(a, dirs))
        return pr_fail_nomem(err);
    for (size_t i = 0; i < FOLDERS; i++) {
        const char *path;

        if (!dirs[i])
            continue;
        path = pr_arena_printf(a, "%s/%s" ENDING, dirs[i], name);
        if (!path)
            return pr_fail_nomem(err);
        if (access(path, F_OK) == 0) {
            *ret = path;
            return 1;
        }
    }
    return 0;
}

int pr_framework_find(const char *name, struct pr_arena *a,
                      const struct pr_framework **ret, struct pr_err *err)
{
    const char *path = NULL, *text;
    struct pr_framework *f;
    size_t len;
    int rc = framework_path(name, a, &path, err);

    if (rc != 1)
        return rc;
    rc = pr_file_read(path, PR_FRAMEWORK_BYTES, a, &text, &len, err);
    if (!rc)
        rc = pr_framework_parse(text, len, name, path, a, &f, err);
    if (rc)
        return rc;
    *ret = f;
    return 1;
}

/* ---- all of them */

struct names {
    struct pr_arena *arena;
    const char **items;
    size_t count, cap;
};

/* The name of a file without its ending; what cannot be one is passed over. */
static bool framework_add_name(struct names *n, const char *file)
{
    size_t len = strlen(file), end = sizeof ENDING - 1;
    const char **items;

    if (len <= end || strcmp(file + len - end, ENDING) != 0)
        return true;
    items = pr_arena_grow(n->arena, n->items, n->count, &n->cap, sizeof *items);
    if (!items)
        return false;
    n->items = items;
    items[n->count] = pr_arena_copy(n->arena, file, len - end);
    if (!items[n->count])
        return false;
    n->count += pr_framework_is_name(items[n->count], len - end);
    return true;
}

static bool add_folder(struct names *n, const char *dir)
{
    DIR *d = dir ? opendir(dir) : NULL;
    struct dirent *e;
    bool ok = true;

    if (!d)
        return true;
    while (ok && (e = readdir(d)))
        ok = framework_add_name(n, e->d_name);
    closedir(d);
    return ok;
}

static int framework_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. False: out of memory. */
static bool all_names(struct names *n)
{
    const char *dirs[FOLDERS];
    size_t kept = 0;

    if (!framework_find_folders(n->arena, dirs))
        return false;
    for (size_t i = 0; i < FOLDERS; i++)
        if (!add_folder(n, dirs[i]))
            return false;
    if (n->count)
        qsort(n->items, n->count, sizeof *n->items, framework_compare_names);
    for (size_t i = 0; i < n->count; i++)
        if (!i || strcmp(n->items[i], n->items[kept - 1]) != 0)
            n->items[kept++] = n->items[i];
    n->count = kept;
    return true;
}

int pr_framework_each(struct pr_arena *a,
                      int (*each)(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err),
                      void *ctx, struct pr_err *err)
{
    struct names n = {.arena = a};

    if (!all_names(&n))
        return pr_fail_nomem(err);
    for (size_t i = 0; i < n.count; i++) {
        const struct pr_framework *f;
        int rc = pr_framework_find(n.items[i], a, &f, err);

        if (rc == 1)
            rc = each(ctx, f, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

int pr_framework_hint(const char *name, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *own = getenv("PRONY_FRAMEWORKS");
    struct names n = {.arena = a};
    struct pr_nearest near;

    if (own && *own && access(own, R_OK | X_OK) < 0)
        return pr_hint(err, "$PRONY_FRAMEWORKS, '%.200s', cannot be read: %s",
                       own, strerror(errno));
    pr_nearest_init(&near, name);
    if (a && all_names(&n))
        for (size_t i = 0; i < n.count; i++)
            pr_nearest_offer(&near, n.items[i]);
    if (near.best)
        return pr_hint(err,
                       "did you mean '%s'? 'prony help --frameworks' "
                       "lists them",
                       near.best);
    return pr_hint(err,
                   "'prony help --frameworks' lists them; a file NAME" ENDING
                   " in the folder $PRONY_FRAMEWORKS adds one; "
                   "exp.command runs any program");
}
