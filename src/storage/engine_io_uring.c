/*
 * Engine io_uring: large reads and writes are cut into requests of
 * storage.block_size, of which storage.queue_depth are under way at a time in
 * the ring of the storage. Buffers of pr_storage_buffer are registered, so
 * that the kernel need not look up their pages for every request. Requests
 * that would be alone in the ring are made as by pread: a system call less.
 */
#include "storage/files.h"

#if PR_HAVE_URING

#include "base/mem.h"

#include <errno.h>
#include <liburing.h>
#include <string.h>

enum {
    SLOTS = 64,               /* buffers that can be registered */
    SLOT_BYTES_MAX = 1 << 30, /* the kernel's limit for one */
    BLOCK_DEFAULT = 1 << 20,  /* for callers without options */
    DEPTH_DEFAULT = 8,
    DEPTH_MAX = 4096,
};

/* A request: what is left of its bytes. */
struct piece {
    uint64_t off;
    uint8_t *data;
    size_t len;
    struct piece *next; /* in the list of those not under way */
};

struct uring {
    struct io_uring ring;
    size_t block;
    unsigned depth;
    struct piece *pieces; /* depth of them */
    struct iovec slots[SLOTS];
    unsigned slot_count;
    bool can_register;
    bool broken; /* the ring itself failed: pread from then on */
};

/* One read or write while it lasts. */
struct transfer {
    struct pr_storage *st;
    struct pr_object *o;
    bool is_write;
    int slot;     /* of the buffer; -1: not registered */
    uint64_t off; /* what is not yet a piece */
    uint8_t *data;
    size_t len;
    struct piece *idle;
    unsigned under_way;
    int rc; /* of the first piece that failed */
    struct pr_err *err;
};

/* ---- start and stop */

static int ring_init(struct uring *u, struct pr_err *err)
{
    unsigned flags[] = {IORING_SETUP_COOP_TASKRUN, 0};
    int rc = -EINVAL;

    for (size_t i = 0; i < 2 && rc == -EINVAL; i++)
        rc = io_uring_queue_init(u->depth, &u->ring, flags[i]);
    if (rc == 0)
        return PR_OK;
    errno = -rc;
    return pr_fail_errno(err, PR_E_UNAVAIL, "storage.engine",
                         "io_uring cannot be used here, pread is");
}

static void uring_free(struct uring *u)
{
    if (u)
        pr_free(u->pieces);
    pr_free(u);
}

static int uring_start(struct pr_storage *st, struct pr_err *err)
{
    struct uring *u = pr_alloc_zeroed(sizeof *u);
    int64_t depth = st->opts->queue_depth;
    int rc;

    if (!u)
        return pr_fail_nomem(err);
    u->block = st->opts->block_size ? (size_t)st->opts->block_size
                                    : (size_t)BLOCK_DEFAULT;
    u->depth = depth < 1           ? DEPTH_DEFAULT
               : depth > DEPTH_MAX ? DEPTH_MAX
                                   : (unsigned)depth;
    u->pieces = pr_alloc_zeroed(u->depth * sizeof *u->pieces);
    rc = u->pieces ? ring_init(u, err) : pr_fail_nomem(err);
    if (rc) {
        uring_free(u);
        return rc;
    }
    rc = pr_files_start(st, err);
    if (rc) {
        io_uring_queue_exit(&u->ring);
        uring_free(u);
        return rc;
    }
    u->can_register = io_uring_register_buffers_sparse(&u->ring, SLOTS) == 0;
    st->data = u;
    return PR_OK;
}

static void uring_stop(struct pr_storage *st)
{
    struct uring *u = st->data;

    io_uring_queue_exit(&u->ring);
    uring_free(u);
    pr_files_stop(st);
}

/* One that cannot be registered (the limit of locked memory, ulimit -l) is
 * just a little slower. */
static void uring_buffer(struct pr_storage *st, void *buf, size_t bytes)
{
    struct uring *u = st->data;
    struct iovec iov = {buf, bytes};
    __u64 tag = 0;

    if (!u->can_register || u->slot_count == SLOTS || !bytes ||
        bytes > SLOT_BYTES_MAX)
        return;
    if (io_uring_register_buffers_update_tag(&u->ring, u->slot_count, &iov,
                                             &tag, 1) != 1)
        return;
    u->slots[u->slot_count++] = iov;
}

static int uring_find_slot(const struct uring *u, const uint8_t *data,
                           size_t len)
{
    for (unsigned i = 0; i < u->slot_count; i++) {
        const uint8_t *base = u->slots[i].iov_base;

        if (data >= base && len <= u->slots[i].iov_len &&
            (size_t)(data - base) <= u->slots[i].iov_len - len)
            return (int)i;
    }
    return -1;
}

/* ---- a transfer */

static void submit_later(struct transfer *t, struct piece *p)
{
    struct uring *u = t->st->data;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    unsigned len = (unsigned)p->len;

    /* There are as many places in the ring as pieces, at least. */
    if (t->is_write && t->slot >= 0)
        io_uring_prep_write_fixed(sqe, t->o->fd, p->data, len, p->off, t->slot);
    else if (t->is_write)
        io_uring_prep_write(sqe, t->o->fd, p->data, len, p->off);
    else if (t->slot >= 0)
        io_uring_prep_read_fixed(sqe, t->o->fd, p->data, len, p->off, t->slot);
    else
        io_uring_prep_read(sqe, t->o->fd, p->data, len, p->off);
    io_uring_sqe_set_data(sqe, p);
    t->under_way++;
}

/* Cuts off new pieces while there are free ones. */
static void cut_pieces(struct transfer *t)
{
    const struct uring *u = t->st->data;

    while (t->len && t->idle && !t->rc) {
        struct piece *p = t->idle;

        t->idle = p->next;
        p->len = t->len < u->block ? t->len : u->block;
        p->off = t->off;
        p->data = t->data;
        t->off += p->len;
        t->data += p->len;
        t->len -= p->len;
        submit_later(t, p);
    }
}

static int piece_failed(const struct transfer *t, const struct piece *p,
                        int result)
{
    errno = result ? -result : EIO;
    if (t->is_write)
        return pr_files_write_failed(t->st, t->o, p->off, p->len, t->err);
    if (!result)
        return pr_files_cut_short(t->st, t->o, p->off, t->err);
    return pr_files_read_failed(t->st, t->o, p->off, p->len, t->err);
}

static void finish_piece(struct transfer *t, struct piece *p, int result)
{
    bool again = result == -EINTR || result == -EAGAIN;

    t->under_way--;
    if (result > 0) {
        p->off += (unsigned)result;
        p->data += result;
        p->len -= (unsigned)result;
        again = p->len > 0;
    } else if (!again && !t->rc) {
        t->rc = piece_failed(t, p, result);
    }
    if (again && !t->rc) {
        submit_later(t, p);
        return;
    }
    p->next = t->idle;
    t->idle = p;
}

static void uring_reap(struct transfer *t, struct io_uring *ring)
{
    struct io_uring_cqe *cqe;
    unsigned head, n = 0;

    io_uring_for_each_cqe(ring, head, cqe)
    {
        finish_piece(t, io_uring_cqe_get_data(cqe), cqe->res);
        n++;
    }
    io_uring_cq_advance(ring, n);
}

/* Also after an error it waits for what is under way: the kernel still uses
 * the buffer. */
static int uring_transfer(struct transfer *t)
{
    struct uring *u = t->st->data;

    for (unsigned i = 0; i < u->depth; i++) {
        u->pieces[i].next = t->idle;
        t->idle = &u->pieces[i];
    }
    cut_pieces(t);
    while (t->under_way) {
        int rc = io_uring_submit_and_wait(&u->ring, 1);

        if (rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY) {
            u->broken = true;
            errno = -rc;
            return pr_files_fail(t->st, t->o->name, t->err,
                                 "io_uring broke down");
        }
        uring_reap(t, &u->ring);
        pr_storage_beat(t->st);
        cut_pieces(t);
    }
    return t->rc;
}

/* Whether a ring is worth its calls. */
static bool is_small(const struct uring *u, size_t len)
{
    return len <= u->block || u->broken;
}

/* ---- hooks */

static int uring_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, struct pr_err *err)
{
    const struct uring *u = st->data;
    struct transfer t = {.st = st, .o = o, .off = off, .data = buf, .len = len};

    if (is_small(u, len))
        return pr_files_read(st, o, off, len, buf, err);
    t.slot = uring_find_slot(u, buf, len);
    t.err = err;
    return uring_transfer(&t);
}

static int uring_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       size_t len, void *buf, size_t cap, const uint8_t **ret,
                       struct pr_err *err)
{
    int rc = uring_read(st, o, off, len, buf, err);

    (void)cap;
    if (!rc)
        *ret = buf;
    return rc;
}

static int uring_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                       const void *data, size_t len, struct pr_err *err)
{
    const struct uring *u = st->data;
    struct transfer t = {.st = st, .o = o, .is_write = true, .off = off};
    int rc;

    if (is_small(u, len))
        return pr_files_write(st, o, off, data, len, err);
    t.data = (uint8_t *)(uintptr_t)data;
    t.len = len;
    t.slot = uring_find_slot(u, data, len);
    t.err = err;
    rc = uring_transfer(&t);
    if (!rc && off + len > o->size)
        o->size = off + len;
    return rc;
}

#else

static int uring_start(struct pr_storage *st, struct pr_err *err)
{
    (void)st;
    return pr_fail(err, PR_E_UNAVAIL, "storage.engine",
                   "this build has no io_uring (liburing was missing), pread "
                   "is used");
}

/* Never called: it does not start. */
#define uring_stop pr_files_stop
#define uring_buffer NULL
#define uring_fetch pr_files_fetch
#define uring_read pr_files_read
#define uring_write pr_files_write

#endif

const struct pr_engine pr_engine_io_uring = {
    .name = "io_uring",
    .desc = "files through the page cache, many requests at a time",
    .is_queued = true,
    .start = uring_start,
    .stop = uring_stop,
    .buffer = uring_buffer,
    .open = pr_files_open,
    .fetch = uring_fetch,
    .read = uring_read,
    .close = pr_files_close,
    .ahead = pr_files_ahead,
    .create = pr_files_create,
    .write = uring_write,
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
