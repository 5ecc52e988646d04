/*
 * Writing a file of a checkpoint. What a tensor holds is made where it is
 * written from, in whole blocks of noise: the last one of a block to write may
 * reach past its end, into room that is there for it, and what does is moved
 * to the front of the next.
 */
#include "base/codec/checksum.h"
#include "base/random.h"
#include "checkpoint/checkpoint_file_impl.h"

#include <stdio.h>
#include <string.h>

struct writing {
    struct pr_checkpoint_subject *s;
    struct pr_object obj;
    uint64_t at; /* of the block in the file */
    size_t len;  /* of what is in it */
};

static int put_out(struct writing *w, const uint8_t *data, size_t len,
                   struct pr_err *err)
{
    struct pr_checkpoint_io *io = w->s->io;
    int rc = pr_checkpoint_check_stop(io, w->s->path, err);

    if (!rc)
        rc = pr_object_write(&w->obj, w->at, data, len, err);
    if (!rc) {
        w->at += len;
        pr_checkpoint_io_count(io, len);
    }
    return rc;
}

/* Writes what is whole, and moves the rest to the front. */
static int writing_flush_blocks(struct writing *w, struct pr_err *err)
{
    struct pr_checkpoint_io *io = w->s->io;
    size_t done = 0;

    while (w->len - done >= io->block_bytes) {
        int rc = put_out(w, io->block + done, io->block_bytes, err);

        if (rc)
            return rc;
        done += io->block_bytes;
    }
    w->len -= done;
    memmove(io->block, io->block + done, w->len);
    return PR_OK;
}

static int writing_put_text(struct writing *w, const uint8_t *text,
                            uint64_t len, struct pr_err *err)
{
    struct pr_checkpoint_io *io = w->s->io;
    int rc = PR_OK;

    while (!rc && len) {
        size_t room = io->block_bytes - w->len;
        size_t n = len < room ? (size_t)len : room;

        memcpy(io->block + w->len, text, n);
        text += n;
        len -= n;
        w->len += n;
        rc = writing_flush_blocks(w, err);
    }
    return rc;
}

/* How much to make at once: to the end of the block and a bit over; where it
 * is looked at again, for its CRC, what the cache holds. */
static size_t writing_portion_bytes(const struct writing *w, uint64_t left)
{
    const struct pr_checkpoint_io *io = w->s->io;
    size_t room = io->block_bytes - w->len;
    size_t n = (room + PR_NOISE_BLOCK - 1) / PR_NOISE_BLOCK * PR_NOISE_BLOCK;

    if (pr_tensor_needs_crc(io->layout))
        n = PR_NOISE_BLOCK;
    return left < n ? (size_t)left : n;
}

static int put_tensor(struct writing *w, const struct pr_tensor_piece *p,
                      uint32_t *ret_crc, struct pr_err *err)
{
    struct pr_checkpoint_contents c = pr_checkpoint_get_contents(w->s, p);
    bool wants_crc = pr_tensor_needs_crc(w->s->io->layout);
    uint32_t crc = 0;

    for (uint64_t off = 0; off < p->bytes;) {
        uint8_t *to = w->s->io->block + w->len;
        size_t n = writing_portion_bytes(w, p->bytes - off);
        int rc;

        pr_checkpoint_fill_contents(&c, to, n, off);
        if (wants_crc)
            crc = pr_crc32(crc, to, n);
        off += n;
        w->len += n;
        rc = w->len < w->s->io->block_bytes ? PR_OK
                                            : writing_flush_blocks(w, err);
        if (rc)
            return rc;
    }
    *ret_crc = crc;
    return PR_OK;
}

static int write_pieces(struct writing *w, struct pr_tensor_walk *walk,
                        struct pr_err *err)
{
    struct pr_tensor_piece p;
    int rc;

    while ((rc = pr_tensor_walk_next(walk, &p, err)) == 1) {
        uint32_t crc = 0;

        rc = p.text ? writing_put_text(w, p.text, p.bytes, err)
                    : put_tensor(w, &p, &crc, err);
        if (rc)
            return rc;
        if (!p.text)
            pr_tensor_walk_crc(walk, crc);
    }
    if (!rc && w->len)
        rc = put_out(w, w->s->io->block, w->len, err);
    return rc;
}

static int writing_write_file(struct writing *w, struct pr_err *err)
{
    struct pr_checkpoint_io *io = w->s->io;
    struct pr_tensor_walk walk;
    int rc;

    pr_tensor_walk_init(&walk, io->layout, &w->s->list);
    rc = write_pieces(w, &walk, err);
    pr_tensor_walk_done(&walk);
    if (!rc && io->shape->opts.fsync)
        rc = pr_object_sync(&w->obj, err);
    return rc;
}

/* ---- what TensorFlow has beside it: a list of what is in it */

int pr_checkpoint_companion_path(const struct pr_checkpoint_subject *s,
                                 char out[static PATH_MAX], struct pr_err *err)
{
    const char *end =
        strstr(s->path + strlen(s->path) - strlen(s->file->name), ".data-");
    int n =
        snprintf(out, PATH_MAX, "%.*s.index",
                 (int)(end ? end - s->path : (long)strlen(s->path)), s->path);

    if (n < 0 || n >= PATH_MAX)
        return pr_fail(err, PR_E_IO, s->file->name,
                       "the name of its folder is too long");
    return PR_OK;
}

static void list_tensors(const struct pr_checkpoint_subject *s,
                         struct pr_buf *text)
{
    pr_buf_printf(text, "{\"data\": \"%s\", \"tensors\": [", s->file->name);
    for (uint64_t i = 0; i < s->list.count; i++) {
        struct pr_tensor t;

        s->list.at(s->list.ctx, i, &t);
        pr_buf_printf(text,
                      "%s\n{\"name\": \"%s\", \"type\": \"%s\", "
                      "\"elements\": %llu}",
                      i ? "," : "", t.name, pr_tensor_type_name(t.type),
                      (unsigned long long)t.elements);
    }
    pr_buf_str(text, "]}\n");
}

int pr_checkpoint_file_write_text(struct pr_storage *st, const char *path,
                                  const char *text, size_t len, bool sync,
                                  struct pr_err *err)
{
    struct pr_object obj;
    int rc = pr_object_create(st, path, len, &obj, err);

    if (rc)
        return rc;
    rc = pr_object_write(&obj, 0, text, len, err);
    if (!rc && sync)
        rc = pr_object_sync(&obj, err);
    if (!rc)
        return pr_object_commit(&obj, err);
    pr_object_discard(&obj);
    return rc;
}

static int write_companion(const struct pr_checkpoint_subject *s,
                           const char *path, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(SIZE_MAX / 2);

    list_tensors(s, &text);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    return pr_checkpoint_file_write_text(s->io->st, path, text.data, text.len,
                                         s->io->shape->opts.fsync, err);
}

/* The companion first, so that it is never missing. */
static int writing_finish(struct writing *w, struct pr_err *err)
{
    char path[PATH_MAX];
    int rc;

    if (!w->s->io->shape->is_tensorflow)
        return pr_object_commit(&w->obj, err);
    rc = pr_checkpoint_companion_path(w->s, path, err);
    if (!rc)
        rc = write_companion(w->s, path, err);
    if (rc) {
        pr_object_discard(&w->obj);
        return rc;
    }
    rc = pr_object_commit(&w->obj, err);
    if (rc)
        (void)!pr_storage_remove(w->s->io->st, path, NULL);
    return rc;
}

int pr_checkpoint_file_write(struct pr_checkpoint_io *io, const char *path,
                             const struct pr_checkpoint_file *f, uint64_t key,
                             struct pr_err *err)
{
    struct pr_checkpoint_subject s;
    struct writing w = {.s = &s};
    int rc = pr_checkpoint_subject_init(&s, io, path, f, key, err);

    if (rc)
        return rc;
    rc = pr_object_create(
        io->st, s.path, pr_tensor_file_bytes(io->layout, &s.list), &w.obj, err);
    if (rc)
        return rc;
    rc = writing_write_file(&w, err);
    if (!rc)
        return writing_finish(&w, err);
    pr_object_discard(&w.obj);
    return rc;
}
