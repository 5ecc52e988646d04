/*
 * The page cache: what of a file is in it, and how to get it out. The kernel
 * is asked by cachestat (6.5 and later), or by mincore on a mapping.
 */
#include "storage/page_cache.h"

#include "storage/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* the same on all machines */
#endif

/* ---- one file */

int pr_page_cache_stat(int fd, uint64_t size, struct pr_page_cache_use *ret)
{
    struct {
        uint64_t off, len;
    } range = {0, size};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages = {0};
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (size && syscall(SYS_cachestat, fd, &range, &pages, 0) < 0)
        return 0;
    *ret = (struct pr_page_cache_use){
        .bytes = pages.cached * page,
        .dirty = (pages.dirty + pages.writeback) * page,
    };
    if (ret->bytes > size)
        ret->bytes = size; /* the last page is not full */
    return 1;
}

/* For others than the owner and those who may write, mincore calls all pages
 * cached. */
static bool may_ask(int fd)
{
    char path[32];
    struct stat sb;
    int n = snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

    if (n < 0 || fstat(fd, &sb) < 0)
        return false;
    return sb.st_uid == geteuid() || geteuid() == 0 ||
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

enum { MAP_STEP = 64 << 20, MAP_PAGES = MAP_STEP / 4096 };

/* Of len bytes, up to MAP_STEP, at off; UINT64_MAX: cannot tell. */
static uint64_t count_mapped(int fd, uint64_t off, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char in[MAP_PAGES];
    uint64_t sum = 0;
    void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)off);

    if (map == MAP_FAILED)
        return UINT64_MAX;
    if (mincore(map, len, in) < 0)
        sum = UINT64_MAX;
    else
        for (size_t at = 0; at < len; at += page)
            if (in[at / page] & 1)
                sum += len - at < page ? len - at : page;
    (void)munmap(map, len);
    return sum;
}

int pr_page_cache_stat_by_map(int fd, uint64_t size,
                              struct pr_page_cache_use *ret)
{
    uint64_t sum = 0;

    if (!may_ask(fd))
        return 0;
    for (uint64_t off = 0; off < size; off += MAP_STEP) {
        uint64_t len = size - off < MAP_STEP ? size - off : MAP_STEP;
        uint64_t n = count_mapped(fd, off, (size_t)len);

        if (n == UINT64_MAX)
            return 0;
        sum += n;
    }
    *ret = (struct pr_page_cache_use){.bytes = sum};
    return 1;
}

/* ---- hooks of the engines with files */

static int open_plain(struct pr_storage *st, const char *name,
                      struct pr_object *o, struct pr_err *err)
{
    *o = (struct pr_object){.st = st, .name = name, .fd = -1};
    return pr_files_open(st, o, err);
}

int pr_files_drop_cache(struct pr_storage *st, const char *name,
                        struct pr_err *err)
{
    struct pr_page_cache_use use;
    struct pr_object o;
    int rc = open_plain(st, name, &o, err);

    if (rc)
        return rc;
    /* Dirty pages stay; to sync what is clean would wait for the device. File
     * systems that cannot be written to have nothing to sync. */
    if ((!pr_page_cache_stat(o.fd, o.size, &use) || use.dirty) &&
        fdatasync(o.fd) < 0 && errno != EROFS && errno != EINVAL)
        rc = pr_files_fail(st, name, err, "cannot write to the disk");
    if (!rc) {
        errno = posix_fadvise(o.fd, 0, 0, POSIX_FADV_DONTNEED);
        if (errno)
            rc = pr_files_fail(st, name, err, "cannot drop from the cache");
    }
    pr_files_close(st, &o);
    return rc;
}

int pr_files_cached_bytes(struct pr_storage *st, const char *name,
                          uint64_t *ret_cached, uint64_t *ret_bytes,
                          struct pr_err *err)
{
    struct pr_page_cache_use use;
    struct pr_object o;
    int rc = open_plain(st, name, &o, err);

    if (rc)
        return rc;
    rc = pr_page_cache_stat(o.fd, o.size, &use);
    if (!rc)
        rc = pr_page_cache_stat_by_map(o.fd, o.size, &use);
    if (rc) {
        *ret_cached = use.bytes;
        *ret_bytes = o.size;
    }
    pr_files_close(st, &o);
    return rc;
}

/* ---- calls of storage.h, in which wrappers have no part */

int pr_storage_drop_cache(struct pr_storage *st, const char *name,
                          struct pr_err *err)
{
    while (st->inner)
        st = st->inner;
    return st->engine->drop ? st->engine->drop(st, name, err) : PR_OK;
}

int pr_storage_cached_bytes(struct pr_storage *st, const char *name,
                            uint64_t *ret_cached, uint64_t *ret_bytes,
                            struct pr_err *err)
{
    while (st->inner)
        st = st->inner;
    if (!st->engine->cached)
        return pr_fail(err, PR_E_UNAVAIL, name,
                       "storage of kind '%s' has no page cache",
                       st->engine->name);
    return st->engine->cached(st, name, ret_cached, ret_bytes, err);
}

static const char drop_path[] = "/proc/sys/vm/drop_caches";

int pr_storage_drop_all_caches(struct pr_err *err)
{
    int fd = open(drop_path, O_WRONLY | O_CLOEXEC);
    int rc = PR_OK;

    /* Dirty pages stay, hence sync; not for nothing, it may take minutes. */
    if (fd >= 0)
        sync();
    if (fd < 0 || write(fd, "3\n", 2) != 2) {
        pr_fail_errno(err, PR_E_IO, drop_path, "cannot drop the page cache");
        rc = pr_hint(err, "only root can, and not in every container; the "
                          "files of a data set alone need no privilege");
    }
    if (fd >= 0)
        (void)close(fd);
    return rc;
}
