/*
 * Files below a folder: opened, read, and put in place once written; the
 * folders themselves; and engine pread, which needs no more than that.
 */
#include "storage/files.h"

#include "base/file.h"
#include "storage/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- errors */

static const struct {
    int code;
    const char *hint;
} hints[] = {
    {ENOENT, "check storage.storage_root and the data folder; data sets are "
             "made by 'prony generate'"},
    {EACCES, "check the permissions of the file and of the folders above it"},
    {EPERM, "check the permissions of the file and of the folders above it"},
    {ENOTDIR, "a part of the path is a file, expected a folder"},
    {EROFS, "the file system cannot be written to: use another folder"},
    {EIO, "the device or network failed: the kernel's log (dmesg) may tell"},
    {ESTALE, "the file was replaced on the server: try again"},
};

/* The path as a user would write it: the root is left out when it is where
 * the program runs. */
static const char *files_display_path(const struct pr_storage *st,
                                      const char *name, char out[static 256])
{
    const char *root = st->opts->storage_root;
    size_t len = root ? strlen(root) : 0;

    while (len > 1 && root[len - 1] == '/')
        len--;
    if (*name == '/' || !len || (len == 1 && *root == '.'))
        return name;
    snprintf(out, 256, "%.*s%s%s", (int)len, root, len > 1 && *name ? "/" : "",
             name);
    return out;
}

int pr_files_fail(const struct pr_storage *st, const char *name,
                  struct pr_err *err, const char *fmt, ...)
{
    char msg[256], path[256];
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    errno = saved;
    pr_fail_errno(err, PR_E_IO, files_display_path(st, name, path), "%s", msg);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].code == saved)
            return pr_hint(err, "%s", hints[i].hint);
    return PR_E_IO;
}

/* Something else than a file is where a file should be. */
static int not_a_file(const struct pr_storage *st, const char *name,
                      mode_t mode, struct pr_err *err)
{
    char path[256];

    return pr_fail(err, PR_E_IO, files_display_path(st, name, path), "%s",
                   S_ISDIR(mode) ? "is a folder, expected a file"
                                 : "is not a regular file");
}

int pr_files_read_failed(const struct pr_storage *st, const struct pr_object *o,
                         uint64_t off, size_t len, struct pr_err *err)
{
    return pr_files_fail(st, o->name, err, "cannot read %zu bytes at byte %llu",
                         len, (unsigned long long)off);
}

int pr_files_write_failed(const struct pr_storage *st,
                          const struct pr_object *o, uint64_t off, size_t len,
                          struct pr_err *err)
{
    return pr_files_fail(st, o->name, err,
                         "cannot write %zu bytes at byte %llu", len,
                         (unsigned long long)off);
}

int pr_files_cut_short(const struct pr_storage *st, const struct pr_object *o,
                       uint64_t end, struct pr_err *err)
{
    char path[256];
    struct stat sb;

    /* A read that met the end began anywhere beyond it. */
    if (o->fd >= 0 && fstat(o->fd, &sb) == 0 && (uint64_t)sb.st_size < end)
        end = (uint64_t)sb.st_size;
    pr_fail(err, PR_E_IO, files_display_path(st, o->name, path),
            "ends at byte %llu, but had %llu bytes when it was opened",
            (unsigned long long)end, (unsigned long long)o->size);
    return pr_hint(err, "is another program writing it?");
}

/* ---- the root folder */

static const char *files_root_path(const struct pr_storage *st)
{
    const char *root = st->opts->storage_root;

    return root && *root ? root : ".";
}

int pr_files_start(struct pr_storage *st, struct pr_err *err)
{
    st->root = open(files_root_path(st), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (st->root >= 0 || errno == ENOENT)
        return PR_OK;
    pr_fail_errno(err, PR_E_IO, files_root_path(st), "cannot open the folder");
    return errno == EMFILE || errno == ENFILE
               ? PR_E_IO
               : pr_hint(err, "storage.storage_root must be a folder");
}

void pr_files_stop(struct pr_storage *st)
{
    if (st->root >= 0)
        (void)close(st->root);
    if (st->locked >= 0)
        (void)close(st->locked);
    st->root = st->locked = -1;
}

static int files_root(struct pr_storage *st, const char *name)
{
    if (st->root < 0 && *name != '/')
        st->root = open(files_root_path(st), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return st->root;
}

static int open_at(struct pr_storage *st, const char *name, int flags)
{
    int root = files_root(st, name);

    if (root < 0 && *name != '/')
        return -1;
    return openat(root, name, flags | O_CLOEXEC, 0644);
}

/* ---- reading */

int pr_files_try_open(struct pr_storage *st, struct pr_object *o, int flags,
                      struct pr_err *err)
{
    /* Opening a pipe must not wait for its other end. */
    int fd = open_at(st, o->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
    struct stat sb;
    int rc = PR_OK;

    if (fd < 0)
        return 1;
    if (fstat(fd, &sb) < 0)
        rc = pr_files_fail(st, o->name, err, "cannot look at");
    else if (!S_ISREG(sb.st_mode))
        rc = not_a_file(st, o->name, sb.st_mode, err);
    /* Lustre and io_uring give up early on what was opened not to wait. */
    else if (fcntl(fd, F_SETFL, flags) < 0)
        rc = pr_files_fail(st, o->name, err, "cannot open");
    if (rc) {
        (void)close(fd);
        return rc;
    }
    o->fd = fd;
    o->size = (uint64_t)sb.st_size;
    return PR_OK;
}

int pr_files_open(struct pr_storage *st, struct pr_object *o,
                  struct pr_err *err)
{
    int rc = pr_files_try_open(st, o, 0, err);

    return rc <= 0 ? rc : pr_files_fail(st, o->name, err, "cannot open");
}

size_t pr_files_request(const struct pr_storage *st, size_t len)
{
    uint64_t most = st->opts->request_size;

    return most && most < len ? (size_t)most : len;
}

int pr_files_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                  size_t len, void *buf, struct pr_err *err)
{
    size_t got = 0, most = pr_files_request(st, len);

    while (got < len) {
        size_t want = len - got < most ? len - got : most;
        ssize_t n = pread(o->fd, (char *)buf + got, want, (off_t)(off + got));

        if (n == 0)
            return pr_files_cut_short(st, o, off + got, err);
        if (n < 0 && errno != EINTR)
            return pr_files_read_failed(st, o, off + got, len - got, err);
        got += n > 0 ? (size_t)n : 0;
        pr_storage_beat(st);
    }
    return PR_OK;
}

int pr_files_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                   size_t len, void *buf, size_t cap, const uint8_t **ret,
                   struct pr_err *err)
{
    int rc = pr_files_read(st, o, off, len, buf, err);

    (void)cap;
    if (!rc)
        *ret = buf;
    return rc;
}

void pr_files_ahead(struct pr_object *o, uint64_t off, uint64_t len)
{
    (void)posix_fadvise(o->fd, (off_t)off, (off_t)len, POSIX_FADV_WILLNEED);
}

void pr_files_close(struct pr_storage *st, struct pr_object *o)
{
    (void)st;
    if (o->fd >= 0)
        (void)close(o->fd);
    o->fd = -1;
}

/* ---- writing */

/* A device must not be replaced by a file, and a folder had better be found
 * before the work is done than after. */
static int check_target(struct pr_storage *st, const char *name,
                        struct pr_err *err)
{
    struct stat sb;
    int root = files_root(st, name);

    if (fstatat(root, name, &sb, 0) == 0 && !S_ISREG(sb.st_mode))
        return not_a_file(st, name, sb.st_mode, err);
    return PR_OK;
}

int pr_files_try_create(struct pr_storage *st, struct pr_object *o, int flags,
                        struct pr_err *err)
{
    char part[PR_PATH_BYTES];
    int rc = pr_path_part(o->name, part, err);

    if (!rc)
        rc = check_target(st, o->name, err);
    if (rc)
        return rc;
    /* What a killed process left of it is overwritten. */
    o->fd =
        open_at(st, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | flags);
    return o->fd < 0;
}

int pr_files_create(struct pr_storage *st, struct pr_object *o, uint64_t size,
                    struct pr_err *err)
{
    int rc = pr_files_try_create(st, o, 0, err);

    (void)size;
    return rc <= 0 ? rc : pr_files_fail(st, o->name, err, "cannot create");
}

int pr_files_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                   const void *data, size_t len, struct pr_err *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pwrite(o->fd, (const char *)data + done, len - done,
                           (off_t)(off + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* else this would go on for ever */
        if (n <= 0)
            return pr_files_write_failed(st, o, off + done, len - done, err);
        done += (size_t)n;
    }
    if (off + len > o->size)
        o->size = off + len;
    return PR_OK;
}

int pr_files_sync(struct pr_storage *st, struct pr_object *o,
                  struct pr_err *err)
{
    int rc;

    do
        rc = fsync(o->fd);
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return PR_OK;
    return pr_files_fail(st, o->name, err, "cannot bring to the device");
}

static void unlink_part(struct pr_storage *st, const struct pr_object *o)
{
    char part[PR_PATH_BYTES];

    if (pr_path_part(o->name, part, NULL) == PR_OK)
        (void)unlinkat(st->root, part, 0);
}

int pr_files_commit(struct pr_storage *st, struct pr_object *o,
                    struct pr_err *err)
{
    char part[PR_PATH_BYTES];
    int fd = o->fd;
    int rc = pr_path_part(o->name, part, err);

    o->fd = -1;
    /* Network file systems report late errors here. */
    if (close(fd) < 0 && errno != EINTR && !rc)
        rc = pr_files_fail(st, o->name, err, "cannot finish writing");
    if (!rc && renameat(st->root, part, st->root, o->name) < 0)
        rc = pr_files_fail(st, o->name, err, "cannot put in place");
    if (rc)
        unlink_part(st, o);
    return rc;
}

void pr_files_discard(struct pr_storage *st, struct pr_object *o)
{
    pr_files_close(st, o);
    unlink_part(st, o);
}

/* ---- folders, and the room for more */

/* The place itself is the empty name, which the kernel does not know. */
static const char *or_here(const char *name)
{
    return *name ? name : ".";
}

/* fstatat, or -1 and ENOENT when there is no root yet. */
static int files_stat_at(struct pr_storage *st, const char *name,
                         struct stat *sb)
{
    int root = files_root(st, name);

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
    if (files_root(st, name) < 0 && *name != '/') {
        rc = pr_make_dirs(files_root_path(st), err);
        if (!rc && files_root(st, name) < 0)
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
    int root = files_root(st, name);

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
    int root = files_root(st, folder);
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
    bool by_root = *name == '/' || files_root(st, name) >= 0;
    const char *from = by_root ? name : files_root_path(st);
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
    fd = openat(files_root(st, folder), or_here(folder),
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

/* ---- another name for a folder, at once. Where that name is taken, the two
 * folders change places, so that there is a whole one at any time. */

enum { ASIDE_TRIES = 100 };

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
    int root = files_root(st, name);

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

/* ---- engine pread */

const struct pr_engine pr_engine_pread = {
    .name = "pread",
    .desc = "files through the page cache, one system call a read",
    .start = pr_files_start,
    .stop = pr_files_stop,
    .open = pr_files_open,
    .fetch = pr_files_fetch,
    .read = pr_files_read,
    .close = pr_files_close,
    .ahead = pr_files_ahead,
    .create = pr_files_create,
    .write = pr_files_write,
    .sync = pr_files_sync,
    .commit = pr_files_commit,
    .discard = pr_files_discard,
    .stat = pr_files_stat,
    .make_folder = pr_files_make_folder,
    .remove = pr_files_remove,
    .publish = pr_files_publish,
    .list = pr_files_list,
    .space = pr_files_space,
    .lock = pr_files_lock,
    .drop = pr_files_drop_cache,
    .cached = pr_files_cached_bytes,
};
