/* Names of objects taken apart, and whole folders below them. */
#include "storage/path.h"

#include "storage/storage.h"
#include "storage/storage_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int pr_path_too_long(const char *name, struct pr_err *err)
{
    return pr_fail(err, PR_E_IO, "", "the name '%.100s…' is too long", name);
}

size_t pr_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_dots(const char *base)
{
    return !*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0;
}

/* A copy without slashes at its end. The place itself, . and .. are no names
 * to give or to take away. */
static int path_folder(const char *name, char out[static PR_PATH_BYTES],
                       struct pr_err *err)
{
    size_t len = strlen(name);

    if (len >= PR_PATH_BYTES)
        return pr_path_too_long(name, err);
    while (len && name[len - 1] == '/')
        len--;
    memcpy(out, name, len);
    out[len] = '\0';
    if (is_dots(out + pr_path_base(out)))
        return pr_fail(err, PR_E_IO, name, "is not a name for a folder");
    return PR_OK;
}

int pr_path_part(const char *name, char out[static PR_PATH_BYTES],
                 struct pr_err *err)
{
    size_t base = pr_path_base(name);
    int n;

    if (is_dots(name + base))
        return pr_fail(err, PR_E_IO, name, "is not a name for a file");
    n = snprintf(out, PR_PATH_BYTES, "%.*s" PR_PART_PREFIX "%s", (int)base,
                 name, name + base);
    return n < 0 || n >= PR_PATH_BYTES ? pr_path_too_long(name, err) : PR_OK;
}

bool pr_path_up(char *path)
{
    size_t len = strlen(path);
    size_t base;

    while (len > 1 && path[len - 1] == '/')
        path[--len] = '\0';
    if (!len || strcmp(path, "/") == 0)
        return false;
    base = pr_path_base(path);
    path[base > 1 ? base - 1 : base] = '\0';
    return true;
}

int pr_path_clean(const char *name, char out[static PR_PATH_BYTES],
                  struct pr_err *err)
{
    size_t root = *name == '/';
    size_t used = root;

    if (strlen(name) >= PR_PATH_BYTES - 1)
        return pr_path_too_long(name, err);
    memcpy(out, "/", 2);
    out[used] = '\0';
    while (*name) {
        size_t n = strcspn(name, "/");

        if (n == 2 && memcmp(name, "..", 2) == 0) {
            (void)pr_path_up(out);
            used = strlen(out);
        } else if (n && !(n == 1 && *name == '.')) {
            if (used > root)
                out[used++] = '/';
            memcpy(out + used, name, n);
            used += n;
            out[used] = '\0';
        }
        name += n + (name[n] == '/');
    }
    return PR_OK;
}

bool pr_path_is_within(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

/* ---- whole folders */

/* Taking one away needs only what every engine can: list a folder, remove one
 * thing. Everything is removed as what it is first, and only a folder that is
 * not empty is looked into, so that a link is removed and never followed. */

enum {
    DEPTH_MAX = 64, /* folders in each other; each is open meanwhile */
    ROUNDS_MAX = 16 /* looks at a folder that somebody else still fills */
};

struct removal {
    struct pr_storage *st;
    struct pr_err *err;
    size_t len; /* of path */
    unsigned depth;
    uint64_t removed;
    char path[PR_PATH_BYTES];
};

static int remove_tree(struct removal *r);

static int remove_entry(void *ctx, const char *name, bool is_folder)
{
    struct removal *r = ctx;
    size_t before = r->len, n = strlen(name);
    int rc;

    if (n >= sizeof r->path - before - 1)
        return pr_path_too_long(r->path, r->err);
    r->path[before] = '/';
    memcpy(r->path + before + 1, name, n + 1);
    r->len = before + 1 + n;
    rc = is_folder ? remove_tree(r)
                   : r->st->engine->remove(r->st, r->path, r->err);
    r->len = before;
    r->path[before] = '\0';
    r->removed += !rc;
    return rc;
}

/* Takes away r->path. Where names are removed while they are listed a file
 * system may leave some out: then it is listed again. */
static int remove_tree(struct removal *r)
{
    for (unsigned round = 0;; round++) {
        struct pr_err why = {0};
        uint64_t before = r->removed;
        int rc = r->st->engine->remove(r->st, r->path, &why);
        bool is_full =
            rc && (why.sys_errno == ENOTEMPTY || why.sys_errno == EEXIST);

        if (rc && r->err)
            *r->err = why;
        if (!is_full || round == ROUNDS_MAX)
            return rc;
        if (r->depth == DEPTH_MAX)
            return pr_fail(r->err, PR_E_IO, r->path,
                           "there are more than %d folders in each other",
                           DEPTH_MAX);
        r->depth++;
        rc = r->st->engine->list(r->st, r->path, remove_entry, r, r->err);
        r->depth--;
        if (rc)
            return rc;
        if (r->removed == before)
            round = ROUNDS_MAX - 1;
    }
}

int pr_storage_remove_all(struct pr_storage *st, const char *folder,
                          struct pr_err *err)
{
    struct removal r = {.st = st, .err = err};
    int rc = path_folder(folder, r.path, err);

    if (rc)
        return rc;
    r.len = strlen(r.path);
    return remove_tree(&r);
}

int pr_storage_publish(struct pr_storage *st, const char *from, const char *to,
                       bool sync, bool *ret_swapped, struct pr_err *err)
{
    char old_name[PR_PATH_BYTES], new_name[PR_PATH_BYTES];
    int rc = path_folder(from, old_name, err);

    if (!rc)
        rc = path_folder(to, new_name, err);
    if (rc)
        return rc;
    if (pr_path_is_within(old_name, new_name) ||
        pr_path_is_within(new_name, old_name))
        return pr_fail(err, PR_E_IO, new_name,
                       "a folder and what is in it cannot change places");
    return st->engine->publish(st, old_name, new_name, sync, ret_swapped, err);
}
