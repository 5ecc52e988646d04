/* Having files on stable storage: one by one, or by one call. */
#include "base/sync.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Of all that is not written yet, that of other programs and of experiments
 * under way, what one syncfs may bring to the device, too. */
enum { MAX_DIRTY_KB = 8192 };

bool pr_synced(int rc)
{
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ||
           errno == ENOSYS;
}

int pr_sync_names(const char *folder, struct pr_err *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = PR_OK;

    if (fd < 0 && errno == EACCES)
        return PR_OK; /* we may write there, not look */
    if (fd < 0 || !pr_synced(fsync(fd)))
        rc = pr_fail_errno(err, PR_E_IO, folder,
                           "cannot bring the folder to the device");
    if (fd >= 0)
        close(fd);
    return rc;
}

/* A regular file of a folder; -1: it is none, or gone, or not ours to open. */
static int open_in(DIR *dir, const char *name)
{
    int fd = openat(dirfd(dir), name,
                    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool is_temporary(const char *name)
{
    return pr_text_starts_with(name, PR_TEMP_PREFIX);
}

/* Half-made ones are waited for by those who make them. */
static bool sync_one(int fd, const char *name)
{
    return is_temporary(name) || pr_synced(fdatasync(fd));
}

static bool send_one(int fd, const char *name)
{
    (void)name;
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    return true;
}

static bool await_one(int fd, const char *name)
{
    (void)name;
    (void)sync_file_range(fd, 0, 0,
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                              SYNC_FILE_RANGE_WAIT_AFTER);
    return true;
}

static int each_file(DIR *dir, const char *folder,
                     bool (*of)(void *ctx, const char *name), void *ctx,
                     bool (*does)(int fd, const char *name), struct pr_err *err)
{
    struct dirent *e;
    int rc = PR_OK;

    rewinddir(dir);
    while (!rc && (e = readdir(dir))) {
        int fd = of && !of(ctx, e->d_name) ? -1 : open_in(dir, e->d_name);

        if (fd >= 0 && !does(fd, e->d_name))
            rc = pr_fail_errno(err, PR_E_IO, folder,
                               "cannot bring '%s' to the device", e->d_name);
        if (fd >= 0)
            close(fd);
    }
    return rc;
}

/* All files are on their way before the first is waited for: the file system
 * has them with one entry of its journal then, not with one each. */
static int send_and(const char *folder, bool (*of)(void *ctx, const char *name),
                    void *ctx, bool (*does)(int fd, const char *name),
                    struct pr_err *err)
{
    DIR *dir = opendir(folder);
    int rc;

    if (!dir)
        return pr_fail_errno(err, PR_E_IO, folder, "cannot open");
    rc = each_file(dir, folder, of, ctx, send_one, err);
    if (!rc)
        rc = each_file(dir, folder, of, ctx, does, err);
    closedir(dir);
    return rc;
}

int pr_sync_files(const char *folder, bool (*of)(void *ctx, const char *name),
                  void *ctx, struct pr_err *err)
{
    return send_and(folder, of, ctx, sync_one, err);
}

int pr_sync_data(const char *folder, struct pr_err *err)
{
    return send_and(folder, NULL, NULL, await_one, err);
}

/* ---- everything at once */

/* Those whose syncfs is known to wait for the device. FUSE does not pass it
 * on, and what lies below an overlay is not known. */
static bool has_syncfs(int fd)
{
    struct statfs st;

    if (fstatfs(fd, &st) < 0)
        return false;
    switch ((unsigned long)st.f_type & 0xffffffffUL) {
    case EXT4_SUPER_MAGIC: /* ext2 and ext3, too */
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

static long kb_of(const char *meminfo, const char *key)
{
    const char *at = strstr(meminfo, key);

    return at ? atol(at + strlen(key)) : MAX_DIRTY_KB;
}

static bool is_little_dirty(void)
{
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    return kb_of(text, "\nDirty:") + kb_of(text, "\nWriteback:") < MAX_DIRTY_KB;
}

bool pr_sync_is_one(int fd)
{
    return has_syncfs(fd) && is_little_dirty();
}

bool pr_sync_all(int fd)
{
    return syncfs(fd) == 0;
}
