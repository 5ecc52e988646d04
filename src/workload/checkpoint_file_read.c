/*
 * Reading a file of a checkpoint. A check makes what was written again, in
 * pieces that stay in the cache, and compares.
 */
#include "base/checksum.h"
#include "base/clock.h"
#include "base/noise.h"
#include "workload/checkpoint_file_impl.h"

#include <errno.h>
#include <string.h>

typedef unsigned long long ull;

enum { AHEAD = 8 << 20, MEMORY_BYTES_NS = 4 };

const char pr_ckpt_other_model[] =
    "it may have been written with other parameters: sections model and "
    "checkpoint, exp.accelerators, emulate.framework";

struct reading {
    struct pr_ckpt_subject *s;
    struct pr_object obj;
    uint64_t at;       /* after the block */
    uint64_t ahead;    /* where to look ahead again */
    uint64_t since_ns; /* when that was done last */
    const uint8_t *data;
    size_t left; /* of the block */
};

/* Keeps a device busy while what it gave is looked at. Where bytes come as
 * fast as from memory, asking for them would only cost time. */
static void look_ahead(struct reading *r)
{
    uint64_t now = pr_clock_ns();

    if (now - r->since_ns > AHEAD / MEMORY_BYTES_NS)
        pr_object_ahead(&r->obj, r->at + AHEAD, AHEAD);
    r->ahead = r->at + AHEAD;
    r->since_ns = now;
}

static int next_block(struct reading *r, struct pr_err *err)
{
    struct pr_ckpt_io *io = r->s->io;
    uint64_t left = r->obj.size - r->at;
    size_t n = left < io->block_bytes ? (size_t)left : io->block_bytes;
    int rc = pr_ckpt_look_at_stop(io, r->s->path, err);

    if (!rc && r->at >= r->ahead)
        look_ahead(r);
    if (!rc)
        rc = pr_object_fetch(&r->obj, r->at, n, io->block,
                             (size_t)(io->want - io->block), &r->data, err);
    if (rc)
        return rc;
    r->at += n;
    r->left = n;
    pr_ckpt_count(io, n);
    return PR_OK;
}

static int differs(const struct reading *r, const uint8_t *want,
                   const struct pr_tensor *t, struct pr_err *err)
{
    uint64_t at = r->at - r->left;

    for (size_t i = 0; r->data[i] == want[i]; i++)
        at++;
    if (t)
        pr_fail(err, PR_E_FORMAT, r->s->path,
                "byte %llu, of tensor '%s', is not what was written", (ull)at,
                t->name);
    else
        pr_fail(err, PR_E_FORMAT, r->s->path,
                "byte %llu is not what was written", (ull)at);
    return pr_hint(err, "it is damaged, or was written with another "
                        "checkpoint.seed or other parameters");
}

/* The next bytes must be these; t is the tensor they are of, or NULL. */
static int compare(struct reading *r, const uint8_t *want, uint64_t len,
                   const struct pr_tensor *t, struct pr_err *err)
{
    while (len) {
        int rc = r->left ? PR_OK : next_block(r, err);
        size_t n = len < r->left ? (size_t)len : r->left;

        if (rc)
            return rc;
        if (memcmp(r->data, want, n) != 0)
            return differs(r, want, t, err);
        r->data += n;
        r->left -= n;
        want += n;
        len -= n;
    }
    return PR_OK;
}

/* Up to a block of noise of a tensor, at off. What lies in one piece is looked
 * at where it is. */
static int compare_part(struct reading *r, const struct pr_ckpt_contents *c,
                        size_t len, uint64_t off, const struct pr_tensor *t,
                        struct pr_err *err)
{
    uint8_t *want = r->s->io->want;

    if (c->is_noise && r->left >= len &&
        pr_noise_is(r->data, len, c->key, off / PR_NOISE_BLOCK)) {
        r->data += len;
        r->left -= len;
        return PR_OK;
    }
    pr_ckpt_make(c, want, len, off);
    return compare(r, want, len, t, err);
}

static int compare_tensor(struct reading *r, const struct pr_tensor_piece *p,
                          uint32_t *ret_crc, struct pr_err *err)
{
    struct pr_ckpt_contents c = pr_ckpt_contents(r->s, p);
    bool wants_crc = pr_tensor_wants_crc(r->s->io->layout);
    uint32_t crc = 0;

    for (uint64_t off = 0; off < p->bytes; off += PR_NOISE_BLOCK) {
        uint64_t left = p->bytes - off;
        size_t n = left < PR_NOISE_BLOCK ? (size_t)left : PR_NOISE_BLOCK;
        bool is_whole = r->left >= n;
        const uint8_t *data = r->data;
        int rc = compare_part(r, &c, n, off, &p->info, err);

        if (rc)
            return rc;
        if (wants_crc) /* what was read is what was wanted */
            crc = pr_crc32(crc, is_whole ? data : r->s->io->want, n);
    }
    *ret_crc = crc;
    return PR_OK;
}

static int verify(struct reading *r, struct pr_err *err)
{
    struct pr_tensor_walk walk;
    struct pr_tensor_piece p;
    int rc;

    pr_tensor_walk_init(&walk, r->s->io->layout, &r->s->list);
    while ((rc = pr_tensor_walk_next(&walk, &p, err)) == 1) {
        uint32_t crc = 0;

        rc = p.text ? compare(r, p.text, p.bytes, NULL, err)
                    : compare_tensor(r, &p, &crc, err);
        if (rc)
            break;
        if (!p.text)
            pr_tensor_walk_crc(&walk, crc);
    }
    pr_tensor_walk_done(&walk);
    return rc;
}

static int read_whole(struct reading *r, bool is_verified, struct pr_err *err)
{
    uint64_t want = pr_tensor_file_bytes(r->s->io->layout, &r->s->list);
    int rc = PR_OK;

    if (r->obj.size != want) {
        pr_fail(err, PR_E_FORMAT, r->s->path,
                "has %llu bytes, but of this model it would have %llu",
                (ull)r->obj.size, (ull)want);
        return pr_hint(err, "%s", pr_ckpt_other_model);
    }
    if (is_verified)
        return verify(r, err);
    while (!rc && r->at < r->obj.size)
        rc = next_block(r, err);
    return rc;
}

int pr_ckpt_file_read(struct pr_ckpt_io *io, const char *path,
                      const struct pr_ckpt_file *f, uint64_t key,
                      bool is_verified, struct pr_err *err)
{
    struct pr_ckpt_subject s;
    struct reading r = {.s = &s};
    int rc = pr_ckpt_subject_init(&s, io, path, f, key, err);

    if (rc)
        return rc;
    rc = pr_object_open(io->st, s.path, &r.obj, err);
    if (rc && err && err->sys_errno == ENOENT)
        (void)pr_hint(err, "%s", pr_ckpt_other_model);
    if (rc)
        return rc;
    rc = read_whole(&r, is_verified, err);
    pr_object_close(&r.obj);
    return rc;
}
