/*
 * Engine direct: files past the page cache (O_DIRECT). Memory, offsets and
 * lengths must be aligned for that; what is not goes through a buffer of ours
 * (reading) or through the page cache (writing: heads, tails and patches,
 * which are small). The kernel keeps both views of a file the same. Where a
 * file system refuses, the file is read and written as by pread, with a note.
 */
#include "base/mem.h"
#include "storage/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ALIGN_MASK = PR_IO_ALIGN - 1, BOUNCE_MAX = 1 << 20 };

enum {                  /* of an object */
       PLAIN = 1 << 0,  /* O_DIRECT was refused */
       CACHED = 1 << 1, /* O_DIRECT is off at the moment */
};

struct direct {
    uint8_t *bounce;
    size_t bounce_bytes;
};

static bool is_aligned(uint64_t x)
{
    return (x & ALIGN_MASK) == 0;
}

static uint64_t align_down(uint64_t x)
{
    return x & ~(uint64_t)ALIGN_MASK;
}

static uint64_t align_up(uint64_t x)
{
    return align_down(x + ALIGN_MASK);
}

static int direct_start(struct pr_storage *st, struct pr_err *err)
{
    struct direct *d = pr_alloc_zeroed(sizeof *d);
    int rc = d ? pr_files_start(st, err) : pr_fail_nomem(err);

    if (!rc) {
        d->bounce_bytes = BOUNCE_MAX;
        d->bounce = pr_alloc_aligned(PR_IO_ALIGN, d->bounce_bytes);
        rc = d->bounce ? PR_OK : pr_fail_nomem(err);
    }
    if (rc) {
        pr_files_stop(st);
        pr_free(d);
        return rc;
    }
    st->data = d;
    return PR_OK;
}

static void direct_stop(struct pr_storage *st)
{
    struct direct *d = st->data;

    pr_files_stop(st);
    pr_free(d->bounce);
    pr_free(d);
}

static void direct_warn_refused(struct pr_storage *st, const char *name)
{
    pr_storage_set_warning(st,
                           "the file system of '%.100s' refuses O_DIRECT; the "
                           "page cache is used",
                           name);
}

/* After EINVAL from a file that could be opened with O_DIRECT. */
static bool go_plain(struct pr_storage *st, struct pr_object *o)
{
    if (o->flags & PLAIN || fcntl(o->fd, F_SETFL, 0) < 0)
        return false;
    o->flags |= PLAIN;
    direct_warn_refused(st, o->name);
    return true;
}

static int direct_open(struct pr_storage *st, struct pr_object *o,
                       struct pr_err *err)
{
    int rc = pr_files_try_open(st, o, O_DIRECT, err);

    if (rc <= 0)
        return rc;
    if (errno != EINVAL)
        return pr_files_fail(st, o->name, err, "cannot open");
    rc = pr_files_open(st, o, err);
    if (!rc) {
        o->flags |= PLAIN;
        direct_warn_refused(st, o->name);
    }
    return rc;
}

/* ---- reading */

/* An aligned range of room bytes at off, of which need are there to be had. */
struct range {
    uint64_t off;
    uint8_t *to;
    size_t room, need;
};

static int read_range(struct pr_storage *st, struct pr_object *o,
                      const struct range *r, struct pr_err *err)
{
    size_t got = 0, most = pr_files_request(st, r->room);

    if (most < r->room) /* whole blocks only */
        most = most > PR_IO_ALIGN ? (size_t)align_down(most) : PR_IO_ALIGN;
    while (got < r->need) {
        size_t want = r->room - got < most ? r->room - got : most;
        ssize_t n = pread(o->fd, r->to + got, want, (off_t)(r->off + got));
        size_t end = got + (n > 0 ? (size_t)n : 0);

        pr_storage_beat(st);
        if (n < 0 && (errno == EINTR || (errno == EINVAL && go_plain(st, o))))
            continue;
        if (n < 0)
            return pr_files_read_failed(st, o, r->off + got, r->need - got,
                                        err);
        if (end >= r->need)
            return PR_OK;
        /* Cut in the middle of a block: the file ends here, or the next call
         * reads the block again. */
        end = (size_t)align_down(end);
        if (end == got)
            return pr_files_cut_short(st, o, r->off + got + (size_t)n, err);
        got = end;
    }
    return PR_OK;
}

/* Some bytes at off, at most len, through our own buffer. */
static int read_bounced(struct pr_storage *st, struct pr_object *o,
                        uint64_t off, size_t len, void *buf, size_t *ret_len,
                        struct pr_err *err)
{
    struct direct *d = st->data;
    size_t head = (size_t)(off & ALIGN_MASK);
    size_t n = d->bounce_bytes - head < len ? d->bounce_bytes - head : len;
    struct range r = {off - head, d->bounce, (size_t)align_up(head + n),
                      head + n};
    int rc = read_range(st, o, &r, err);

    if (rc)
        return rc;
    memcpy(buf, d->bounce + head, n);
    *ret_len = n;
    return PR_OK;
}

static int direct_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       size_t len, void *buf, struct pr_err *err)
{
    uint8_t *to = buf;

    if (o->flags & PLAIN)
        return pr_files_read(st, o, off, len, buf, err);
    while (len) {
        size_t n = (size_t)align_down(len);
        struct range r = {off, to, n, n};
        bool fits = n && is_aligned(off) && is_aligned((uintptr_t)to);
        int rc = fits ? read_range(st, o, &r, err)
                      : read_bounced(st, o, off, len, to, &n, err);

        if (rc)
            return rc;
        to += n;
        off += n;
        len -= n;
    }
    return PR_OK;
}

static int direct_fetch(struct pr_storage *st, struct pr_object *o,
                        uint64_t off, size_t len, void *buf, size_t cap,
                        const uint8_t **ret, struct pr_err *err)
{
    size_t head = (size_t)(off & ALIGN_MASK);
    size_t shift = (size_t)(align_up((uintptr_t)buf) - (uintptr_t)buf);
    struct range r = {off - head, (uint8_t *)buf + shift,
                      (size_t)align_up(head + len), head + len};
    int rc;

    if (o->flags & PLAIN)
        return pr_files_fetch(st, o, off, len, buf, cap, ret, err);
    if (shift > cap || r.room > cap - shift) { /* too little slack */
        r.to = buf;
        head = 0;
        rc = direct_read(st, o, off, len, buf, err);
    } else {
        rc = read_range(st, o, &r, err);
    }
    if (!rc)
        *ret = r.to + head;
    return rc;
}

/* ---- writing */

static int direct_create(struct pr_storage *st, struct pr_object *o,
                         uint64_t size, struct pr_err *err)
{
    int rc = pr_files_try_create(st, o, O_DIRECT, err);

    if (rc <= 0)
        return rc;
    if (errno != EINVAL)
        return pr_files_fail(st, o->name, err, "cannot create");
    /* Linux has made the file before it looked at O_DIRECT. */
    rc = pr_files_create(st, o, size, err);
    if (rc) {
        pr_files_discard(st, o);
        return rc;
    }
    o->flags |= PLAIN;
    direct_warn_refused(st, o->name);
    return PR_OK;
}

static int set_cached(struct pr_storage *st, struct pr_object *o, bool on,
                      struct pr_err *err)
{
    if (o->flags & PLAIN || !!(o->flags & CACHED) == on)
        return PR_OK;
    if (fcntl(o->fd, F_SETFL, on ? 0 : O_DIRECT) < 0)
        return pr_files_fail(st, o->name, err, "cannot switch O_DIRECT");
    o->flags ^= CACHED;
    return PR_OK;
}

static int write_cached(struct pr_storage *st, struct pr_object *o,
                        uint64_t off, const void *data, size_t len,
                        struct pr_err *err)
{
    int rc = set_cached(st, o, true, err);

    return rc ? rc : pr_files_write(st, o, off, data, len, err);
}

/* All aligned. What the kernel leaves over of a write, near the end of a
 * device's space for example, need not be: that goes through the cache. */
static int write_direct(struct pr_storage *st, struct pr_object *o,
                        uint64_t off, const uint8_t *data, size_t len,
                        struct pr_err *err)
{
    int rc = set_cached(st, o, false, err);
    size_t done = 0;

    while (!rc && done < len) {
        ssize_t n = pwrite(o->fd, data + done, len - done, (off_t)(off + done));

        if (n < 0 && (errno == EINTR || (errno == EINVAL && go_plain(st, o))))
            continue;
        if (n < 0)
            return pr_files_write_failed(st, o, off + done, len - done, err);
        done += (size_t)n;
        if (n == 0 || !is_aligned(done)) {
            rc = write_cached(st, o, off + done, data + done, len - done, err);
            break;
        }
    }
    if (!rc && off + len > o->size)
        o->size = off + len;
    return rc;
}

/* The first bytes of a write, as many as can be written in one way. */
static int write_some(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      const uint8_t *data, size_t len, size_t *ret_len,
                      struct pr_err *err)
{
    struct direct *d = st->data;
    size_t to_block = PR_IO_ALIGN - (size_t)(off & ALIGN_MASK);
    size_t n = (size_t)align_down(len);

    if (!is_aligned(off) || !n) {
        *ret_len = n = is_aligned(off) || len < to_block ? len : to_block;
        return write_cached(st, o, off, data, n, err);
    }
    if (!is_aligned((uintptr_t)data)) {
        n = n < d->bounce_bytes ? n : d->bounce_bytes;
        memcpy(d->bounce, data, n);
        data = d->bounce;
    }
    *ret_len = n;
    return write_direct(st, o, off, data, n, err);
}

static int direct_write(struct pr_storage *st, struct pr_object *o,
                        uint64_t off, const void *data, size_t len,
                        struct pr_err *err)
{
    const uint8_t *from = data;

    if (o->flags & PLAIN)
        return pr_files_write(st, o, off, data, len, err);
    while (len) {
        size_t n;
        int rc = write_some(st, o, off, from, len, &n, err);

        if (rc)
            return rc;
        from += n;
        off += n;
        len -= n;
    }
    return PR_OK;
}

const struct pr_engine pr_engine_direct = {
    .name = "direct",
    .desc = "files past the page cache (O_DIRECT)",
    .wants_aligned = true,
    .start = direct_start,
    .stop = direct_stop,
    .open = direct_open,
    .fetch = direct_fetch,
    .read = direct_read,
    .close = pr_files_close,
    .create = direct_create,
    .write = direct_write,
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
