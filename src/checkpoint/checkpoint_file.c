/* What writing and reading a file of a checkpoint have in common: its name, its
 * tensors, and what they hold. */
#include "checkpoint/checkpoint_file.h"

#include "base/names.h"
#include "base/random.h"
#include "checkpoint/checkpoint_file_impl.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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

int pr_checkpoint_subject_init(struct pr_checkpoint_subject *s,
                               struct pr_checkpoint_io *io, const char *path,
                               const struct pr_checkpoint_file *f, uint64_t key,
                               struct pr_err *err)
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

int pr_checkpoint_check_stop(const struct pr_checkpoint_io *io,
                             const char *path, struct pr_err *err)
{
    if (__atomic_load_n(io->stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, path, "stopped");
    return PR_OK;
}

void pr_checkpoint_io_count(struct pr_checkpoint_io *io, size_t bytes)
{
    __atomic_store_n(&io->bytes, io->bytes + bytes, __ATOMIC_RELAXED);
}

/* ---- contents */

struct pr_checkpoint_contents
pr_checkpoint_get_contents(const struct pr_checkpoint_subject *s,
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
void pr_checkpoint_fill_contents(const struct pr_checkpoint_contents *c,
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
