/* Files below a folder: the folders themselves, and the room for more. */
#include "base/file.h"
#include "storage/files.h"
#include "storage/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The place itself is the empty name, which the kernel does not know. */
static const char *or_here(const char *name)
{
    return *name ? name : ".";
}

/* fstatat, or -1 and ENOENT when there is no root yet. */
static int files_stat_at(struct pr_storage *st, const char *name,
                         struct stat *sb)
{
    int root = pr_files_root(st, name);

    if (root < 0 && *name != '/')
        return -1;
    return fstatat(root, or_here(name), sb, 0);
}

int pr_files_stat(struct pr_storage *st, const char *name,
                  struct pr_object_info *ret, struct pr_err *err)
{
    struct stat sb;

    if (files_stat_at(st, name, &sb) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        return pr_files_fail(st, name, err, "cannot look at");
    }
    *ret = (struct pr_object_info){
        .size = S_ISDIR(sb.st_mode) ? 0 : (uint64_t)sb.st_size,
        .is_folder = S_ISDIR(sb.st_mode),
    };
    return 1;
}

/* One folder; one that is there already is fine. */
static int files_make_one_folder(struct pr_storage *st, const char *path,
                                 struct pr_err *err)
{
    struct stat sb;

    if (mkdirat(st->root, path, 0755) == 0)
        return PR_OK;
    if (errno == EEXIST && fstatat(st->root, path, &sb, 0) == 0 &&
        S_ISDIR(sb.st_mode))
        return PR_OK;
    return pr_files_fail(st, path, err, "cannot make the folder");
}

int pr_files_make_folder(struct pr_storage *st, const char *name,
                         struct pr_err *err)
{
    char path[PR_PATH_BYTES];
    size_t len = strlen(name);
    int rc = PR_OK;

    if (len >= sizeof path)
        return pr_path_too_long(name, err);
    if (pr_files_root(st, name) < 0 && *name != '/') {
        rc = pr_make_dirs(pr_files_root_path(st), err);
        if (!rc && pr_files_root(st, name) < 0)
            rc = pr_files_fail(st, "", err, "cannot open the folder");
    }
    memcpy(path, name, len + 1);
    for (size_t i = 1; !rc && i <= len; i++) {
        if (name[i] && name[i] != '/')
            continue;
        path[i] = '\0';
        rc = files_make_one_folder(st, path, err);
        path[i] = name[i];
    }
    return rc;
}

int pr_files_remove(struct pr_storage *st, const char *name, struct pr_err *err)
{
    int root = pr_files_root(st, name);

    if (root < 0 && *name != '/')
        return errno == ENOENT ? PR_OK
                               : pr_files_fail(st, name, err, "cannot remove");
    if (unlinkat(root, name, 0) == 0 || errno == ENOENT)
        return PR_OK;
    /* POSIX says EPERM for a folder, Linux EISDIR. */
    if ((errno == EISDIR || errno == EPERM) &&
        unlinkat(root, name, AT_REMOVEDIR) == 0)
        return PR_OK;
    return pr_files_fail(st, name, err, "cannot remove");
}

static bool entry_is_folder(int dir, const struct dirent *e)
{
    struct stat sb;

    if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK)
        return e->d_type == DT_DIR;
    return fstatat(dir, e->d_name, &sb, 0) == 0 && S_ISDIR(sb.st_mode);
}

int pr_files_list(struct pr_storage *st, const char *folder,
                  int (*each)(void *ctx, const char *name, bool is_folder),
                  void *ctx, struct pr_err *err)
{
    int root = pr_files_root(st, folder);
    int fd =
        root < 0 && *folder != '/'
            ? -1
            : openat(root, or_here(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    int rc = PR_OK;

    if (!dir) {
        rc = pr_files_fail(st, folder, err, "cannot list the folder");
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    while (!rc && (errno = 0, e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = each(ctx, e->d_name, entry_is_folder(fd, e));
    if (!rc && errno)
        rc = pr_files_fail(st, folder, err, "cannot list the folder");
    (void)closedir(dir);
    return rc;
}

/* The nearest folder above path that is there, path cut to it. */
static int files_open_nearest(int dir, char *path)
{
    for (;;) {
        int fd = openat(dir, or_here(path), O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR) ||
            !pr_path_up(path))
            return fd;
    }
}

int pr_files_space(struct pr_storage *st, const char *name,
                   struct pr_storage_space *ret, struct pr_err *err)
{
    bool by_root = *name == '/' || pr_files_root(st, name) >= 0;
    const char *from = by_root ? name : pr_files_root_path(st);
    char path[PR_PATH_BYTES];
    struct statvfs vfs;
    int fd, rc;

    if (strlen(from) >= sizeof path)
        return pr_path_too_long(from, err);
    memcpy(path, from, strlen(from) + 1);
    fd = files_open_nearest(by_root ? st->root : AT_FDCWD, path);
    rc = fd < 0 ? -1 : fstatvfs(fd, &vfs);
    if (rc < 0)
        rc =
            pr_files_fail(st, name, err, "cannot tell how much space there is");
    else /* file systems without inodes count 0 of them in all */
        *ret = (struct pr_storage_space){
            (uint64_t)vfs.f_bavail * vfs.f_frsize,
            vfs.f_files ? vfs.f_favail : UINT64_MAX,
        };
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

int pr_files_lock(struct pr_storage *st, const char *folder, struct pr_err *err)
{
    int fd;

    if (st->locked >= 0)
        return PR_OK;
    fd = openat(pr_files_root(st, folder), or_here(folder),
                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pr_files_fail(st, folder, err, "cannot open");
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        (void)close(fd);
        pr_fail(err, PR_E_IO, folder, "another program is writing there");
        if (err)
            err->sys_errno = EWOULDBLOCK; /* one may wait for it */
        return pr_hint(err, "wait until it has ended");
    }
    st->locked = fd; /* file systems without locks: at our own risk */
    return PR_OK;
}
