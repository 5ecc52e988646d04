/*
 * One file of a checkpoint: its name, its tensors and what they hold; writing
 * it, reading it, and comparing it with what was written.
 */
#include "checkpoint/checkpoint_file.h"

#include "base/clock.h"
#include "base/codec/checksum.h"
#include "base/names.h"
#include "base/random.h"
#include "format/tensor_file_find.h"
#include "format/tfrecord.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file and its tensors. */
struct pr_checkpoint_subject {
    struct pr_checkpoint_io *io;
    const struct pr_checkpoint_file *file;
    uint64_t key; /* of the file's contents */
    struct pr_tensor_list list;
    char path[PATH_MAX];
};

/* What a tensor holds: noise, or ones. */
struct pr_checkpoint_contents {
    bool is_noise;
    uint64_t key; /* or the number 1 */
};

static void subject_get_tensor(const void *ctx, uint64_t i,
                               struct pr_tensor *ret)
{
    const struct pr_checkpoint_subject *s = ctx;

    pr_checkpoint_get_tensor(s->io->shape, s->file, i, ret);
}

static uint64_t key_mix(uint64_t key, uint64_t x)
{
    return pr_hash_mix(key + 0x9e3779b97f4a7c15u + pr_hash_mix(x));
}

/* It must stay where it is. */
static int checkpoint_subject_init(struct pr_checkpoint_subject *s,
                                   struct pr_checkpoint_io *io,
                                   const char *path,
                                   const struct pr_checkpoint_file *f,
                                   uint64_t key, struct pr_err *err)
{
    int n = snprintf(s->path, sizeof s->path, "%s/%s", path, f->name);

    if (n < 0 || (size_t)n >= sizeof s->path)
        return pr_fail(err, PR_E_IO, f->name, "its folder has too long a name");
    s->io = io;
    s->file = f;
    s->key = key_mix(key_mix(key, f->rank), f->number);
    s->list = (struct pr_tensor_list){f->tensors, subject_get_tensor, s};
    return PR_OK;
}

int pr_checkpoint_io_init(struct pr_checkpoint_io *io,
                          const struct pr_checkpoint_shape *shape,
                          struct pr_storage *st, const bool *stop,
                          struct pr_err *err)
{
    /* Blocks that are not aligned would not go past the page cache. */
    size_t bytes = (size_t)shape->opts.block_size / PR_IO_ALIGN * PR_IO_ALIGN *
                   pr_storage_depth(st);
    size_t room = bytes;
    const struct pr_tensor_layout *layout =
        pr_tensor_layout_find(shape->opts.layout);
    uint8_t *block;

    if (!layout)
        return pr_fail(err, PR_E_CONF, "checkpoint.layout",
                       "there is no layout '%s'", shape->opts.layout);
    /* For the end of a block of noise, or what a fetch needs. */
    static_assert((int)PR_NOISE_BLOCK >= (int)PR_IO_SLACK, "room");
    room += PR_NOISE_BLOCK;
    block = pr_storage_buffer(st, room + PR_NOISE_BLOCK);
    if (!block)
        return pr_fail_nomem(err);
    *io = (struct pr_checkpoint_io){
        .shape = shape,
        .st = st,
        .layout = layout,
        .block = block,
        .want = block + room,
        .block_bytes = bytes,
        .stop = stop,
    };
    return PR_OK;
}

uint64_t pr_checkpoint_make_key(const struct pr_checkpoint_shape *s,
                                uint64_t epoch, uint64_t step)
{
    return key_mix(key_mix(key_mix(0, (uint64_t)s->opts.seed), epoch), step);
}

static int checkpoint_check_stop(const struct pr_checkpoint_io *io,
                                 const char *path, struct pr_err *err)
{
    if (__atomic_load_n(io->stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, path, "stopped");
    return PR_OK;
}

/* PR_E_INTR when it is time to stop. */
static void checkpoint_io_count(struct pr_checkpoint_io *io, size_t bytes)
{
    __atomic_store_n(&io->bytes, io->bytes + bytes, __ATOMIC_RELAXED);
}

/* ---- contents */

static struct pr_checkpoint_contents
checkpoint_get_contents(const struct pr_checkpoint_subject *s,
                        const struct pr_tensor_piece *p)
{
    bool is_noise = s->io->shape->opts.randomize_tensor;

    return (struct pr_checkpoint_contents){
        .is_noise = is_noise,
        .key = is_noise ? key_mix(s->key, p->tensor)
                        : pr_tensor_type_one(p->info.type),
    };
}

/* Bytes at off, a multiple of PR_NOISE_BLOCK. */
static void checkpoint_fill_contents(const struct pr_checkpoint_contents *c,
                                     uint8_t *out, size_t len, uint64_t off)
{
    if (c->is_noise) {
        pr_noise_fill(out, len, c->key, off / PR_NOISE_BLOCK);
        return;
    }
    for (; len >= sizeof c->key; len -= sizeof c->key, out += sizeof c->key)
        memcpy(out, &c->key, sizeof c->key);
    memcpy(out, &c->key, len);
}

/* ---- writing: what a tensor holds is made where it is written from, in whole
 * blocks of noise. The last one of a block to write may reach past its end,
 * into room that is there for it, and what does is moved to the front of the
 * next. */

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
    int rc = checkpoint_check_stop(io, w->s->path, err);

    if (!rc)
        rc = pr_object_write(&w->obj, w->at, data, len, err);
    if (!rc) {
        w->at += len;
        checkpoint_io_count(io, len);
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
    struct pr_checkpoint_contents c = checkpoint_get_contents(w->s, p);
    bool wants_crc = pr_tensor_needs_crc(w->s->io->layout);
    uint32_t crc = 0;

    for (uint64_t off = 0; off < p->bytes;) {
        uint8_t *to = w->s->io->block + w->len;
        size_t n = writing_portion_bytes(w, p->bytes - off);
        int rc;

        checkpoint_fill_contents(&c, to, n, off);
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

static int checkpoint_companion_path(const struct pr_checkpoint_subject *s,
                                     char out[static PATH_MAX],
                                     struct pr_err *err)
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
    int rc;

    PR_TRY(pr_object_create(st, path, len, &obj, err));
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
    rc = checkpoint_companion_path(w->s, path, err);
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
    int rc;

    PR_TRY(checkpoint_subject_init(&s, io, path, f, key, err));
    PR_TRY(pr_object_create(io->st, s.path,
                            pr_tensor_file_bytes(io->layout, &s.list), &w.obj,
                            err));
    rc = writing_write_file(&w, err);
    if (!rc)
        return writing_finish(&w, err);
    pr_object_discard(&w.obj);
    return rc;
}

/* ---- reading: a check makes what was written again, in pieces that stay in
 * the cache, and compares */

typedef unsigned long long ull;

enum { AHEAD = 8 << 20, MEMORY_BYTES_NS = 4 };

const char pr_checkpoint_other_model[] =
    "it may have been written with other parameters: sections model and "
    "checkpoint, exp.accelerators, emulate.framework";

struct reading {
    struct pr_checkpoint_subject *s;
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
    struct pr_checkpoint_io *io = r->s->io;
    uint64_t left = r->obj.size - r->at;
    size_t n = left < io->block_bytes ? (size_t)left : io->block_bytes;
    int rc = checkpoint_check_stop(io, r->s->path, err);

    if (!rc && r->at >= r->ahead)
        look_ahead(r);
    if (!rc)
        rc = pr_object_fetch(&r->obj, r->at, n, io->block,
                             (size_t)(io->want - io->block), &r->data, err);
    if (rc)
        return rc;
    r->at += n;
    r->left = n;
    checkpoint_io_count(io, n);
    return PR_OK;
}

static int reading_fail_differs(const struct reading *r, const uint8_t *want,
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
static int reading_compare(struct reading *r, const uint8_t *want, uint64_t len,
                           const struct pr_tensor *t, struct pr_err *err)
{
    while (len) {
        int rc = r->left ? PR_OK : next_block(r, err);
        size_t n = len < r->left ? (size_t)len : r->left;

        if (rc)
            return rc;
        if (memcmp(r->data, want, n) != 0)
            return reading_fail_differs(r, want, t, err);
        r->data += n;
        r->left -= n;
        want += n;
        len -= n;
    }
    return PR_OK;
}

/* Up to a block of noise of a tensor, at off. What lies in one piece is looked
 * at where it is. */
static int compare_part(struct reading *r,
                        const struct pr_checkpoint_contents *c, size_t len,
                        uint64_t off, const struct pr_tensor *t,
                        struct pr_err *err)
{
    uint8_t *want = r->s->io->want;

    if (c->is_noise && r->left >= len &&
        pr_noise_is_intact(r->data, len, c->key, off / PR_NOISE_BLOCK)) {
        r->data += len;
        r->left -= len;
        return PR_OK;
    }
    checkpoint_fill_contents(c, want, len, off);
    return reading_compare(r, want, len, t, err);
}

static int compare_tensor(struct reading *r, const struct pr_tensor_piece *p,
                          uint32_t *ret_crc, struct pr_err *err)
{
    struct pr_checkpoint_contents c = checkpoint_get_contents(r->s, p);
    bool wants_crc = pr_tensor_needs_crc(r->s->io->layout);
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

static int reading_verify(struct reading *r, struct pr_err *err)
{
    struct pr_tensor_walk walk;
    struct pr_tensor_piece p;
    int rc;

    pr_tensor_walk_init(&walk, r->s->io->layout, &r->s->list);
    while ((rc = pr_tensor_walk_next(&walk, &p, err)) == 1) {
        uint32_t crc = 0;

        rc = p.text ? reading_compare(r, p.text, p.bytes, NULL, err)
                    : compare_tensor(r, &p, &crc, err);
        if (rc)
            break;
        if (!p.text)
            pr_tensor_walk_crc(&walk, crc);
    }
    pr_tensor_walk_done(&walk);
    return rc;
}

/* ---- what others wrote: their tensors must be the model's, and as their
 * checksums say */

struct size {
    enum pr_tensor_type type;
    uint64_t bytes;
};

static int compare_checkpoint_tensors(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* In any order: names are the writer's own. Empty ones leave no trace. */
static int reading_check_model(const struct reading *r,
                               const struct pr_tensor_found_list *found,
                               struct pr_arena *a, struct pr_err *err)
{
    const struct pr_tensor_list *list = &r->s->list;
    struct size *want = PR_ARENA_ARRAY(a, struct size, list->count + 1);
    struct size *have = PR_ARENA_ARRAY(a, struct size, found->count + 1);
    size_t n = 0;

    if (!want || !have)
        return pr_fail_nomem(err);
    for (uint64_t i = 0; i < list->count; i++) {
        struct pr_tensor t;

        list->at(list->ctx, i, &t);
        want[n] =
            (struct size){t.type, t.elements * pr_tensor_type_bytes(t.type)};
        n += want[n].bytes != 0;
    }
    for (size_t i = 0; i < found->count; i++)
        have[i] = (struct size){found->items[i].type, found->items[i].bytes};
    qsort(want, n, sizeof *want, compare_checkpoint_tensors);
    qsort(have, found->count, sizeof *have, compare_checkpoint_tensors);
    for (size_t i = 0; i < n || i < found->count; i++)
        if (i >= n || i >= found->count ||
            compare_checkpoint_tensors(&want[i], &have[i]) != 0) {
            pr_fail(err, PR_E_FORMAT, r->s->path,
                    "holds %zu tensors that are not the %zu of this model",
                    found->count, n);
            return pr_hint(err, "%s", pr_checkpoint_other_model);
        }
    return PR_OK;
}

/* The checksum of one tensor while blocks come by. */
static int reading_check_crc(struct reading *r,
                             const struct pr_tensor_found_list *found, size_t i,
                             struct pr_err *err)
{
    const struct pr_tensor_found *f = &found->items[i];
    uint64_t at = r->at - r->left, left = f->bytes;
    uint32_t crc = 0;
    int rc = PR_OK;

    while (!rc && (at < f->at || left)) {
        uint64_t n = at < f->at ? f->at - at : left;

        if (!r->left)
            rc = next_block(r, err);
        if (rc)
            return rc;
        n = n < r->left ? n : r->left;
        if (at >= f->at) {
            crc = found->is_crc32c ? pr_crc32c(crc, r->data, (size_t)n)
                                   : pr_crc32(crc, r->data, (size_t)n);
            left -= n;
        }
        r->data += n;
        r->left -= (size_t)n;
        at += n;
    }
    if (found->is_crc32c)
        crc = pr_tfrecord_mask(crc);
    if (crc == f->crc)
        return PR_OK;
    pr_fail(err, PR_E_FORMAT, r->s->path,
            "the tensor of %llu bytes at byte %llu is not what was written",
            (ull)f->bytes, (ull)f->at);
    return pr_hint(err, "its checksum differs: it is damaged");
}

/* TensorFlow's table beside the file. 1: there is one that is not ours. */
static int read_table(const struct reading *r, struct pr_arena *a,
                      struct pr_tensor_found_list *ret, struct pr_err *err)
{
    enum { MOST = 64 << 20 };
    struct pr_object obj;
    char path[PATH_MAX];
    const uint8_t *part;
    uint8_t *all;
    int rc = checkpoint_companion_path(r->s, path, err);

    if (!rc)
        rc = pr_object_open(r->s->io->st, path, &obj, err);
    if (rc)
        return rc;
    all = obj.size <= MOST ? pr_arena_alloc(a, (size_t)obj.size + 1) : NULL;
    if (!all)
        rc =
            pr_fail(err, PR_E_FORMAT, path,
                    "has %llu bytes, %d are read at most", (ull)obj.size, MOST);
    for (uint64_t at = 0; !rc && at < obj.size;) {
        struct pr_checkpoint_io *io = r->s->io;
        uint64_t left = obj.size - at;
        size_t n = left < io->block_bytes ? (size_t)left : io->block_bytes;

        rc = pr_object_fetch(&obj, at, n, io->block,
                             (size_t)(io->want - io->block), &part, err);
        if (!rc)
            memcpy(all + at, part, n);
        at += n;
    }
    if (!rc && obj.size && all[0] == '{')
        rc = 1;
    else if (!rc)
        rc = pr_tensor_find_bundle(all, (size_t)obj.size, r->obj.size, path, a,
                                   ret, err);
    pr_object_close(&obj);
    return rc;
}

/* Whether torch.save wrote it: an archive whose pickle puts what it makes into
 * its memory, which ours of checkpoint.layout=torch, the same otherwise, does
 * not. */
static int is_by_torch(struct reading *r, bool *ret, struct pr_err *err)
{
    enum { HEAD = 512 };
    struct pr_checkpoint_io *io = r->s->io;
    size_t n = r->obj.size < HEAD ? (size_t)r->obj.size : HEAD;
    const uint8_t *head;
    int rc = pr_object_fetch(&r->obj, 0, n, io->block,
                             (size_t)(io->want - io->block), &head, err);

    if (!rc)
        *ret = pr_tensor_find_is_torch(head, n) &&
               memmem(head, n, "\x80\2}q", 4) != NULL;
    return rc;
}

static int wrong_size(const struct reading *r, uint64_t want,
                      struct pr_err *err)
{
    pr_fail(err, PR_E_FORMAT, r->s->path,
            "has %llu bytes, but of this model it would have %llu",
            (ull)r->obj.size, (ull)want);
    return pr_hint(err, "%s", pr_checkpoint_other_model);
}

static int read_plainly(struct reading *r, struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && r->at < r->obj.size)
        rc = next_block(r, err);
    return rc;
}

static int read_foreign(struct reading *r, bool is_torch, uint64_t want,
                        bool is_verified, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_tensor_found_list found = {0};
    int rc = a ? PR_OK : pr_fail_nomem(err);

    if (!rc && is_torch)
        rc = pr_tensor_find_torch(r->s->io->st, r->s->path, a, &found, err);
    else if (!rc && r->s->io->shape->is_tensorflow)
        rc = read_table(r, a, &found, err);
    else if (!rc)
        rc = 1;
    if (rc == 1)
        return wrong_size(r, want, err);
    if (!rc)
        rc = reading_check_model(r, &found, a, err);
    for (size_t i = 0; !rc && is_verified && i < found.count; i++)
        rc = reading_check_crc(r, &found, i, err);
    return rc ? rc : read_plainly(r, err);
}

static int read_whole(struct reading *r, bool is_verified, struct pr_err *err)
{
    uint64_t want = pr_tensor_file_bytes(r->s->io->layout, &r->s->list);
    bool is_torch = false;
    int rc = PR_OK;

    /* Archives of ours and of torch.save can be of one size. */
    if (r->obj.size != want || pr_tensor_needs_crc(r->s->io->layout))
        rc = is_by_torch(r, &is_torch, err);
    if (rc)
        return rc;
    if (is_torch || r->obj.size != want)
        return read_foreign(r, is_torch, want, is_verified, err);
    return is_verified ? reading_verify(r, err) : read_plainly(r, err);
}

int pr_checkpoint_file_read(struct pr_checkpoint_io *io, const char *path,
                            const struct pr_checkpoint_file *f, uint64_t key,
                            bool is_verified, struct pr_err *err)
{
    struct pr_checkpoint_subject s;
    struct reading r = {.s = &s};
    int rc;

    PR_TRY(checkpoint_subject_init(&s, io, path, f, key, err));
    rc = pr_object_open(io->st, s.path, &r.obj, err);
    if (rc && err && err->sys_errno == ENOENT)
        (void)pr_hint(err, "%s", pr_checkpoint_other_model);
    if (rc)
        return rc;
    rc = read_whole(&r, is_verified, err);
    pr_object_close(&r.obj);
    return rc;
}
