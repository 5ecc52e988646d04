/* Whole files, read and written; folders, programs and environments. */
#include "base/file.h"

#include "base/buf.h"
#include "base/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders */

static int folder_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A folder of a hundred thousand files is listed without a look at each. */
bool pr_entry_is_folder(int at, const struct dirent *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK)
        return e->d_type == DT_DIR;
    return fstatat(at, e->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool folder_is_wanted(bool (*take)(int at, const struct dirent *e),
                             DIR *d, const struct dirent *e)
{
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return false;
    return take ? take(dirfd(d), e) : e->d_name[0] != '.';
}

int pr_folder_names(const char *dir,
                    bool (*take)(int at, const struct dirent *e),
                    struct pr_arena *a, const char ***ret, size_t *ret_count,
                    struct pr_err *err)
{
    DIR *d = opendir(dir);
    const char **names = NULL;
    size_t n = 0, cap = 0;
    const struct dirent *e;
    bool ok = true;

    if (!d)
        return pr_fail_errno(err, PR_E_IO, dir, "cannot open");
    while (ok && (e = readdir(d))) {
        if (!folder_is_wanted(take, d, e))
            continue;
        names = pr_arena_grow(a, names, n, &cap, sizeof *names);
        ok = names && (names[n] = pr_arena_str(a, e->d_name));
        n += ok;
    }
    closedir(d);
    if (!ok)
        return pr_fail_nomem(err);
    if (n)
        qsort(names, n, sizeof *names, folder_compare_names);
    *ret = names;
    *ret_count = n;
    return PR_OK;
}

const char *pr_folder_absolute(const char *dir, struct pr_arena *a)
{
    char here[PATH_MAX];

    if (*dir == '/')
        return pr_arena_str(a, dir);
    return getcwd(here, sizeof here) ? pr_arena_printf(a, "%s/%s", here, dir)
                                     : NULL;
}

/* ---- programs */

bool pr_which(const char *program, char out[static PATH_MAX])
{
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t n = strcspn(at, ":");
        struct stat st;
        int len = snprintf(out, PATH_MAX, "%.*s/%s", n < PATH_MAX ? (int)n : 0,
                           at, program);

        if (n && len > 0 && len < PATH_MAX && access(out, X_OK) == 0 &&
            stat(out, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* ---- environments */

bool pr_environ_is_same(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");

    return strncmp(a, b, n) == 0 && b[n] == '=';
}

bool pr_environ_has(const char *const *list, const char *word)
{
    for (; list && *list; list++)
        if (pr_environ_is_same(word, *list))
            return true;
    return false;
}

/* ---- reading whole files */

static int file_close_and_fail(int fd, const char *path, const char *why,
                               struct pr_err *err)
{
    if (fd >= 0)
        close(fd);
    return pr_fail(err, PR_E_IO, path, "%s", why);
}

/* What an open file is: not a folder, and regular where that is asked for. */
static int file_check_kind(int fd, const char *path, bool regular,
                           struct stat *st, struct pr_err *err)
{
    if (fstat(fd, st) < 0) {
        pr_fail_errno(err, PR_E_IO, path, "cannot look at");
        close(fd);
        return PR_E_IO;
    }
    if (S_ISDIR(st->st_mode))
        return file_close_and_fail(fd, path, "is a folder, expected a file",
                                   err);
    if (regular && !S_ISREG(st->st_mode))
        return file_close_and_fail(fd, path, "is not a regular file", err);
    return fd;
}

static int open_to_read(const char *path, struct stat *st, struct pr_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    return file_check_kind(fd, path, false, st, err);
}

/* The file at rest, a path below the folder at, or -1: no step on the way may
 * be a link. A pipe that nobody writes to must not stop us. */
static int file_open_below(int at, const char *rest, bool *ret_link)
{
    char name[256];
    size_t n = strcspn(rest, "/");
    bool last = !rest[n];
    int how = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    struct stat st;
    int fd = -1;

    if (n < sizeof name) {
        memcpy(name, rest, n);
        name[n] = '\0';
        fd = openat(at, name, how | O_NOFOLLOW | O_CLOEXEC);
        *ret_link = fd < 0 && (errno == ELOOP || errno == ENOTDIR) &&
                    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISLNK(st.st_mode);
    } else {
        errno = ENAMETOOLONG;
    }
    close(at);
    rest += n + strspn(rest + n, "/");
    return fd < 0 || last ? fd : file_open_below(fd, rest, ret_link);
}

int pr_file_open_in(const char *dir, const char *path, struct stat *ret,
                    struct pr_err *err)
{
    size_t n = dir ? strlen(dir) : 0;
    bool link = false;
    int fd = open(dir ? dir : path,
                  dir ? O_PATH | O_DIRECTORY | O_CLOEXEC
                      : O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0 && dir && strncmp(path, dir, n) != 0)
        return file_close_and_fail(fd, path, "lies outside the folder", err);
    if (fd >= 0 && dir)
        fd = file_open_below(fd, path + n + strspn(path + n, "/"), &link);
    if (link) {
        file_close_and_fail(-1, path,
                            "a link leads there, which is not followed", err);
        return pr_hint(err, "put the file itself into the run directory");
    }
    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    return file_check_kind(fd, path, true, ret, err);
}

/* Pipes and /proc files have no size to trust: read until the end. */
static int file_read_fd(int fd, const char *path, size_t max,
                        struct pr_arena *a, struct pr_view *ret,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(SIZE_MAX / 2);
    ssize_t n = 1;

    while (n) {
        if (text.len > max)
            return pr_fail(err, PR_E_FORMAT, path,
                           "is larger than %zu MiB, too large for what it is",
                           max >> 20);
        if (!pr_buf_reserve(&text, 4096))
            return pr_fail_nomem(err);
        n = read(fd, text.data + text.len, text.cap - text.len - 1);
        if (n < 0 && errno != EINTR)
            return pr_fail_errno(err, PR_E_IO, path, "cannot read");
        text.len += n > 0 ? (size_t)n : 0;
    }
    ret->data = pr_arena_copy(a, text.data, text.len);
    ret->len = text.len;
    return ret->data ? PR_OK : pr_fail_nomem(err);
}

static int read_and_close(int fd, const char *path, size_t max,
                          struct pr_arena *a, const char **ret_text,
                          size_t *ret_len, struct pr_err *err)
{
    struct pr_view view = {0};
    int rc;

    if (fd < 0)
        return fd;
    rc = file_read_fd(fd, path, max, a, &view, err);
    close(fd);
    if (rc)
        return rc;
    *ret_text = view.data;
    *ret_len = view.len;
    return PR_OK;
}

int pr_file_read(const char *path, size_t max, struct pr_arena *a,
                 const char **ret_text, size_t *ret_len, struct pr_err *err)
{
    struct stat st;

    return read_and_close(open_to_read(path, &st, err), path, max, a, ret_text,
                          ret_len, err);
}

int pr_file_read_in(const char *dir, const char *path, size_t max,
                    struct pr_arena *a, const char **ret_text, size_t *ret_len,
                    struct pr_err *err)
{
    struct stat st;

    return read_and_close(pr_file_open_in(dir, path, &st, err), path, max, a,
                          ret_text, ret_len, err);
}

int pr_file_map_in(const char *dir, const char *path, struct pr_view *ret,
                   struct pr_err *err)
{
    struct stat st;
    int fd = pr_file_open_in(dir, path, &st, err);
    void *p;

    if (fd < 0)
        return fd;
    *ret = (struct pr_view){"", 0};
    if (st.st_size > 0) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            pr_fail_errno(err, PR_E_IO, path, "cannot map");
            close(fd);
            return PR_E_IO;
        }
        *ret = (struct pr_view){p, (size_t)st.st_size};
    }
    close(fd);
    return PR_OK;
}

int pr_file_map(const char *path, struct pr_view *ret, struct pr_err *err)
{
    return pr_file_map_in(NULL, path, ret, err);
}

void pr_file_unmap(struct pr_view *v)
{
    if (v->len)
        munmap((void *)(uintptr_t)v->data, v->len);
    *v = (struct pr_view){"", 0};
}

bool pr_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* A pipe that nobody reads must not stop us; what is read is written to as
 * usual. */
static int open_special(const char *path)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* The folder that a path is in. False: too long. */
static bool path_get_folder(const char *path, char out[static 4096])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;

    if (n >= 4096)
        return false;
    memcpy(out, n ? path : ".", n ? n : 1);
    out[n ? n : 1] = '\0';
    return true;
}

static int sync_folder_of(const char *path, struct pr_err *err)
{
    char folder[4096];

    return path_get_folder(path, folder) ? pr_sync_names(folder, err) : PR_OK;
}

/* ---- writing whole files */

/* Two writers of one path must not share a temporary file. */
static atomic_uint serial;

int pr_file_create(const char *path, struct pr_new_file *ret,
                   struct pr_err *err)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;
    int n = snprintf(ret->temp, sizeof ret->temp,
                     "%.*s" PR_TEMP_PREFIX "%s.%ld.%u", dir, path, path + dir,
                     (long)getpid(), atomic_fetch_add(&serial, 1));
    struct stat st;

    ret->fd = -1;
    ret->later = false;
    if (n < 0 || (size_t)n >= sizeof ret->temp)
        return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long",
                       path);
    memcpy(ret->path, path, strlen(path) + 1);
    /* Nothing may be renamed over a device or a pipe: /dev/stdout. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        ret->temp[0] = '\0';
    ret->fd =
        *ret->temp
            ? open(ret->temp,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)
            : open_special(path);
    if (ret->fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot create");
    return PR_OK;
}

int pr_file_append(struct pr_new_file *f, const void *data, size_t len,
                   struct pr_err *err)
{
    if (pr_write_all(f->fd, data, len))
        return PR_OK;
    return pr_fail_errno(err, PR_E_IO, f->path, "cannot write");
}

/* Bytes first, then the name: a name that is on the device without its bytes
 * is an empty file after a power cut. What is synced later is at least on its
 * way, which on most file systems is enough for that. */
static bool file_sync_bytes(const struct pr_new_file *f)
{
    if (f->later)
        (void)sync_file_range(f->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return f->later || pr_synced(fdatasync(f->fd));
}

int pr_file_commit(struct pr_new_file *f, struct pr_err *err)
{
    bool is_new = *f->temp != '\0';
    bool ok = !is_new || file_sync_bytes(f);
    int saved = errno;

    if (close(f->fd) < 0 && ok) {
        saved = errno;
        ok = false;
    }
    f->fd = -1;
    errno = saved;
    if (ok && (!is_new || rename(f->temp, f->path) == 0))
        return is_new && !f->later ? sync_folder_of(f->path, err) : PR_OK;
    pr_fail_errno(err, PR_E_IO, f->path, "cannot write");
    if (is_new)
        (void)unlink(f->temp);
    return PR_E_IO;
}

void pr_file_discard(struct pr_new_file *f)
{
    if (f->fd < 0)
        return;
    (void)close(f->fd);
    if (*f->temp)
        (void)unlink(f->temp);
    f->fd = -1;
}

static int file_write_whole(const char *path, const void *data, size_t len,
                            bool later, struct pr_err *err)
{
    struct pr_new_file f;
    int rc = pr_file_create(path, &f, err);

    f.later = later;
    if (!rc)
        rc = pr_file_append(&f, data, len, err);
    if (!rc)
        return pr_file_commit(&f, err);
    pr_file_discard(&f);
    return rc;
}

int pr_file_write(const char *path, const void *data, size_t len,
                  struct pr_err *err)
{
    return file_write_whole(path, data, len, false, err);
}

int pr_file_write_later(const char *path, const void *data, size_t len,
                        struct pr_err *err)
{
    return file_write_whole(path, data, len, true, err);
}

int pr_make_dirs(const char *path, struct pr_err *err)
{
    char part[4096];
    size_t len = strlen(path);

    if (len >= sizeof part)
        return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long",
                       path);
    for (size_t i = 1; i <= len; i++) {
        struct stat st;
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) == 0) {
            PR_TRY(sync_folder_of(part, err));
            continue;
        }
        if (errno == EEXIST && path[i])
            continue;
        if (errno == EEXIST && stat(part, &st) == 0 && S_ISDIR(st.st_mode))
            continue;
        return pr_fail_errno(err, PR_E_IO, part, "cannot make the folder");
    }
    return PR_OK;
}
