/*
 * Files below a folder: a folder gets another name, at once. Where that name
 * is taken, the two folders change places, so that there is a whole one at any
 * time.
 */
#include "storage/files.h"
#include "storage/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_TRIES = 100 };

/* ---- names on the device */

/* File systems that cannot sync a folder say EINVAL: nothing to be done. */
static int sync_folder(struct pr_storage *st, const char *folder,
                       struct pr_err *err)
{
    int fd = openat(st->root, *folder ? folder : ".",
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);

    if (fd >= 0 && rc < 0 && (errno == EINVAL || errno == ENOTSUP))
        rc = 0;
    if (rc < 0)
        rc = pr_files_fail(st, folder, err,
                           "cannot bring the folder to the device");
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static void files_parent_path(const char *name, char out[static PR_PATH_BYTES])
{
    memcpy(out, name, strlen(name) + 1);
    (void)pr_path_up(out);
}

static int sync_parents(struct pr_storage *st, const char *from, const char *to,
                        struct pr_err *err)
{
    char one[PR_PATH_BYTES], other[PR_PATH_BYTES];
    int rc;

    files_parent_path(to, one);
    files_parent_path(from, other);
    rc = sync_folder(st, one, err);
    if (!rc && strcmp(one, other) != 0)
        rc = sync_folder(st, other, err);
    return rc;
}

/* ---- changing places */

/* A name beside `to` that nothing has yet. */
static int name_aside(struct pr_storage *st, const char *to,
                      char out[static PR_PATH_BYTES], struct pr_err *err)
{
    size_t base = pr_path_base(to);
    struct stat sb;

    for (int i = 0; i < ASIDE_TRIES; i++) {
        int n =
            snprintf(out, PR_PATH_BYTES, "%.*s" PR_PART_PREFIX "old-%d-%.200s",
                     (int)base, to, i, to + base);

        if (n < 0 || n >= PR_PATH_BYTES)
            return pr_path_too_long(to, err);
        if (fstatat(st->root, out, &sb, AT_SYMLINK_NOFOLLOW) < 0)
            return errno == ENOENT
                       ? PR_OK
                       : pr_files_fail(st, out, err, "cannot look at");
    }
    pr_fail(err, PR_E_IO, to, "there is no free name to put it aside");
    return pr_hint(err,
                   "remove what begins with " PR_PART_PREFIX "old- beside it");
}

int pr_files_swap_by_names(struct pr_storage *st, const char *from,
                           const char *to, struct pr_err *err)
{
    char aside[PR_PATH_BYTES];
    int rc = name_aside(st, to, aside, err);

    if (rc)
        return rc;
    if (renameat(st->root, to, st->root, aside) < 0)
        return pr_files_fail(st, to, err, "cannot put aside");
    if (renameat(st->root, from, st->root, to) < 0) {
        rc = pr_files_fail(st, from, err, "cannot put in place");
        (void)renameat(st->root, aside, st->root, to);
        return rc;
    }
    /* The new one is in place; the old one is what the caller removes. */
    if (renameat(st->root, aside, st->root, from) < 0)
        return pr_files_fail(st, aside, err, "cannot put aside");
    return PR_OK;
}

static int files_swap(struct pr_storage *st, const char *from, const char *to,
                      struct pr_err *err)
{
    if (renameat2(st->root, from, st->root, to, RENAME_EXCHANGE) == 0)
        return PR_OK;
    if (errno == EINVAL || errno == ENOSYS)
        return pr_files_swap_by_names(st, from, to, err);
    return pr_files_fail(st, from, err, "cannot put in place");
}

/* ---- publishing */

/* Whether a name is there, as a folder, links not followed. */
static int look_folder(struct pr_storage *st, const char *name, struct stat *sb,
                       struct pr_err *err)
{
    int root = pr_files_root(st, name);

    if ((root < 0 && *name != '/') ||
        fstatat(root, name, sb, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0
                               : pr_files_fail(st, name, err, "cannot look at");
    if (S_ISDIR(sb->st_mode))
        return 1;
    return pr_fail(err, PR_E_IO, name, "is not a folder");
}

/* 1: something has the name that the folder is to get. */
static int files_check_publish(struct pr_storage *st, const char *from,
                               const char *to, struct pr_err *err)
{
    struct stat a, b;
    int rc = look_folder(st, from, &a, err);

    if (rc == 0) {
        errno = ENOENT;
        return pr_files_fail(st, from, err, "cannot look at");
    }
    if (rc > 0)
        rc = look_folder(st, to, &b, err);
    if (rc > 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return pr_fail(err, PR_E_IO, to, "is the same folder as '%.200s'",
                       from);
    return rc;
}

int pr_files_publish(struct pr_storage *st, const char *from, const char *to,
                     bool sync, bool *ret_swapped, struct pr_err *err)
{
    int taken = files_check_publish(st, from, to, err);
    int rc = taken < 0 ? taken : PR_OK;

    if (!rc && sync)
        rc = sync_folder(st, from, err);
    if (!rc && taken)
        rc = files_swap(st, from, to, err);
    else if (!rc && renameat(st->root, from, st->root, to) < 0)
        rc = pr_files_fail(st, from, err, "cannot put in place");
    if (!rc && sync)
        rc = sync_parents(st, from, to, err);
    if (!rc)
        *ret_swapped = taken;
    return rc;
}
