/* Files below a folder: opened, read, and put in place once written. */
#include "storage/files.h"

#include "storage/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

const char *pr_files_root_path(const struct pr_storage *st)
{
    const char *root = st->opts->storage_root;

    return root && *root ? root : ".";
}

int pr_files_start(struct pr_storage *st, struct pr_err *err)
{
    st->root = open(pr_files_root_path(st), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (st->root >= 0 || errno == ENOENT)
        return PR_OK;
    pr_fail_errno(err, PR_E_IO, pr_files_root_path(st),
                  "cannot open the folder");
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

int pr_files_root(struct pr_storage *st, const char *name)
{
    if (st->root < 0 && *name != '/')
        st->root =
            open(pr_files_root_path(st), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return st->root;
}

static int open_at(struct pr_storage *st, const char *name, int flags)
{
    int root = pr_files_root(st, name);

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
    int root = pr_files_root(st, name);

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
