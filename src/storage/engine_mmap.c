/*
 * Engine mmap: files as mapped memory; reading copies nothing. Pages are
 * brought in by the kernel when they are fetched, all of a range in one call,
 * which also finds a file that has become shorter meanwhile: touching its
 * pages would end the process (SIGBUS). It still does when the file is cut
 * after the fetch and before its bytes are used, and on kernels before 5.14,
 * where a byte of each page is touched instead. Written files are not mapped.
 */
#include "storage/files.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static int mmap_open(struct pr_storage *st, struct pr_object *o,
                     struct pr_err *err)
{
    int rc = pr_files_open(st, o, err);
    void *map;

    if (rc || !o->size)
        return rc;
    map = o->size > SIZE_MAX
              ? (errno = ENOMEM, MAP_FAILED)
              : mmap(NULL, (size_t)o->size, PROT_READ, MAP_SHARED, o->fd, 0);
    if (map != MAP_FAILED) {
        o->data = map;
        o->map = map;
        return PR_OK;
    }
    pr_storage_set_warning(st, "cannot map '%.100s' (%s); it is read by pread",
                           o->name, strerror(errno));
    return PR_OK;
}

static void mmap_close(struct pr_storage *st, struct pr_object *o)
{
    if (o->data)
        (void)munmap(o->data, (size_t)o->size);
    o->data = NULL;
    o->map = NULL;
    pr_files_close(st, o);
}

static void mmap_touch_pages(const uint8_t *from, const uint8_t *to,
                             size_t page)
{
    for (const volatile uint8_t *p = from; p < to; p += page)
        (void)*p;
}

/* Why the kernel could not bring the pages in. */
static int mmap_explain_fault(struct pr_storage *st, struct pr_object *o,
                              uint64_t off, size_t len, struct pr_err *err)
{
    struct stat sb;

    if (fstat(o->fd, &sb) == 0 && (uint64_t)sb.st_size < o->size)
        return pr_files_cut_short(st, o, (uint64_t)sb.st_size, err);
    errno = EIO;
    return pr_files_read_failed(st, o, off, len, err);
}

static int bring_in(struct pr_storage *st, struct pr_object *o, uint64_t off,
                    size_t len, struct pr_err *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *from = (uint8_t *)o->data + (off & ~(uint64_t)(page - 1));
    uint8_t *to = (uint8_t *)o->data + off + len;
    int rc;

    do
        rc = madvise(from, (size_t)(to - from), MADV_POPULATE_READ);
    while (rc < 0 && (errno == EINTR || errno == EAGAIN));
    if (rc == 0)
        return PR_OK;
    if (errno == EFAULT || errno == EHWPOISON)
        return mmap_explain_fault(st, o, off, len, err);
    if (errno == ENOMEM)
        return pr_files_read_failed(st, o, off, len, err);
    mmap_touch_pages(from, to, page);
    return PR_OK;
}

static int mmap_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, size_t cap, const uint8_t **ret,
                      struct pr_err *err)
{
    int rc;

    if (!o->data)
        return pr_files_fetch(st, o, off, len, buf, cap, ret, err);
    rc = bring_in(st, o, off, len, err);
    if (!rc)
        *ret = (const uint8_t *)o->data + off;
    return rc;
}

static int mmap_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                     size_t len, void *buf, struct pr_err *err)
{
    const uint8_t *from = NULL;
    int rc;

    if (!o->data)
        return pr_files_read(st, o, off, len, buf, err);
    rc = mmap_fetch(st, o, off, len, NULL, 0, &from, err);
    if (!rc)
        memcpy(buf, from, len);
    return rc;
}

const struct pr_engine pr_engine_mmap = {
    .name = "mmap",
    .desc = "files as mapped memory",
    .start = pr_files_start,
    .stop = pr_files_stop,
    .open = mmap_open,
    .fetch = mmap_fetch,
    .read = mmap_read,
    .close = mmap_close,
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
