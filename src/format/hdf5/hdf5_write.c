/*
 * Writing HDF5 files. libhdf5 makes the structure and says where the bytes of
 * samples go; these are made up and written here. The structure of a file
 * without chunks follows from its plan, so the next one with the same plan
 * gets a copy of it.
 */
#include "format/hdf5/hdf5_write.h"

#include "base/mem.h"

#include <string.h>

/* ---- bytes on their way */

static int out_flush(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->out_used)
        rc = pr_object_write(&h->obj, h->out_base, h->out, h->out_used, err);
    h->out_base += h->out_used;
    h->out_used = 0;
    return rc;
}

static int out_seek(struct pr_hdf5_writer *h, uint64_t off, struct pr_err *err)
{
    int rc = PR_OK;

    if (h->is_image) {
        h->out_used = (size_t)off;
        return PR_OK;
    }
    if (h->out_base + h->out_used != off) {
        rc = out_flush(h, err);
        h->out_base = off;
    }
    return rc;
}

/* Room for want bytes or fewer. */
static int out_room(struct pr_hdf5_writer *h, uint64_t want, size_t *ret,
                    struct pr_err *err)
{
    int rc = h->out_used == PR_HDF5_OUT ? out_flush(h, err) : PR_OK;
    size_t room = PR_HDF5_OUT - h->out_used;

    *ret = want < room ? (size_t)want : room;
    return rc;
}

/* A set's part of one sample. */
static int put_part(struct pr_hdf5_writer *h, uint64_t k, uint64_t sample,
                    struct pr_err *err)
{
    uint64_t off = k * h->plan.row_bytes, left = h->plan.row_bytes;

    while (left) {
        size_t n;
        int rc = out_room(h, left, &n, err);

        if (rc)
            return rc;
        if (pr_writer_is_stopped(h->w))
            return pr_fail(err, PR_E_INTR, h->obj.name, "interrupted");
        if (n < left && n > PR_CONTENT_BLOCK) /* stay at whole blocks */
            n -= (off + n) % PR_CONTENT_BLOCK;
        pr_hdf5_content_fill(h, sample, off, h->out + h->out_used, n);
        h->out_used += n;
        off += n;
        left -= n;
    }
    return PR_OK;
}

static int put_set(struct pr_hdf5_writer *h, uint64_t k, struct pr_err *err)
{
    int rc = out_seek(h, h->sets[k].offset, err);

    for (uint64_t i = 0; !rc && i < h->plan.dim[0]; i++)
        rc = put_part(h, k, i, err);
    return rc;
}

static int hdf5_write_labels(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = out_seek(h, h->labels.offset, err);

    for (uint64_t i = 0; !rc && i < h->plan.dim[0]; i++) {
        int64_t label = pr_content_label(h->spec, i);

        if (PR_HDF5_OUT - h->out_used < sizeof label)
            rc = out_flush(h, err);
        memcpy(h->out + h->out_used, &label, sizeof label);
        h->out_used += sizeof label;
    }
    return rc;
}

static int hdf5_write_contents(struct pr_hdf5_writer *h, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t k = 0; !rc && k < h->plan.sets; k++)
        rc = h->plan.chunk[0] ? pr_hdf5_write_chunks(h, k, err)
                              : put_set(h, k, err);
    if (!rc && h->plan.has_labels)
        rc = hdf5_write_labels(h, err);
    return rc;
}

/* ---- files */

/* Space that libhdf5 wants at the end and nobody wrote to. */
static int hdf5_extend_file(struct pr_hdf5_writer *h, uint64_t end,
                            struct pr_err *err)
{
    if (end >= h->io.wanted)
        return PR_OK;
    return pr_object_write(&h->obj, h->io.wanted - 1, "", 1, err);
}

static uint64_t data_end(const struct pr_hdf5_writer *h)
{
    const struct pr_hdf5_plan *p = &h->plan;
    uint64_t end = h->io.end;

    for (uint64_t k = 0; !p->chunk[0] && k < p->sets; k++)
        if (h->sets[k].offset + p->row_bytes * p->dim[0] > end)
            end = h->sets[k].offset + p->row_bytes * p->dim[0];
    if (p->has_labels && h->labels.offset + 8 * p->dim[0] > end)
        end = h->labels.offset + 8 * p->dim[0];
    return end;
}

static int write_new(struct pr_hdf5_writer *h, uint64_t *ret_bytes,
                     struct pr_err *err)
{
    uint64_t end;
    int rc, finish;

    h->is_known = false;
    h->is_image = false;
    h->io.trail = h->plan.chunk[0] ? NULL : h->trail;
    rc = pr_hdf5_make_file(h, err);
    if (!rc)
        rc = hdf5_write_contents(h, err);
    if (!rc)
        rc = out_flush(h, err);
    finish = pr_hdf5_finish_file(h, rc ? NULL : err); /* in any case */
    if (rc || finish)
        return rc ? rc : finish;
    end = data_end(h);
    rc = hdf5_extend_file(h, end, err);
    *ret_bytes = end > h->io.wanted ? end : h->io.wanted;
    h->is_known = !rc && h->io.trail && !h->trail->is_full;
    h->known = h->plan;
    h->known_size = *ret_bytes;
    return rc;
}

/* The structure of the file before, and contents of this one's own. A small
 * file is put together in memory and written at once. */
static int write_again(struct pr_hdf5_writer *h, uint64_t *ret_bytes,
                       struct pr_err *err)
{
    const struct pr_hdf5_trail *t = h->trail;
    int rc = PR_OK;

    h->is_image = h->known_size <= PR_HDF5_OUT;
    if (h->is_image)
        memset(h->out, 0, (size_t)h->known_size);
    for (unsigned i = 0; !rc && i < t->count; i++) {
        const struct pr_hdf5_range *g = &t->range[i];
        const uint8_t *p = t->bytes + g->at;

        if (h->is_image)
            memcpy(h->out + g->off, p, g->len);
        else
            rc = pr_object_write(&h->obj, g->off, p, g->len, err);
    }
    if (!rc)
        rc = hdf5_write_contents(h, err);
    if (h->is_image)
        h->out_used = (size_t)h->known_size;
    if (!rc)
        rc = out_flush(h, err);
    if (!rc && !h->is_image)
        rc = hdf5_extend_file(h, data_end(h), err);
    *ret_bytes = h->known_size;
    return rc;
}

static int hdf5_writer_start(struct pr_hdf5_writer *h, struct pr_writer *w,
                             const struct pr_file_spec *spec,
                             struct pr_err *err)
{
    int rc = h->h5 ? PR_OK : pr_hdf5_library_load(&h->h5, err);

    if (rc)
        return rc;
    if (!h->out)
        h->out = pr_storage_buffer(w->st, PR_HDF5_OUT);
    if (!h->blocks)
        h->blocks =
            pr_alloc_aligned(64, (size_t)PR_HDF5_BLOCKS * PR_CONTENT_BLOCK);
    if (!h->trail)
        h->trail = pr_alloc(sizeof *h->trail);
    if (!h->out || !h->blocks || !h->trail)
        return pr_fail_nomem(err);
    h->w = w;
    h->spec = spec;
    h->io.h5 = h->h5;
    h->io.obj = &h->obj;
    h->io.is_new = true;
    h->out_used = 0;
    h->out_base = 0;
    pr_hdf5_content_reset(h);
    return PR_OK;
}

static bool is_again(const struct pr_hdf5_writer *h)
{
    return h->is_known && memcmp(&h->plan, &h->known, sizeof h->plan) == 0;
}

int pr_hdf5_writer_write(struct pr_writer *w, const struct pr_file_spec *spec,
                         const char *name, uint64_t *ret_bytes,
                         struct pr_err *err)
{
    struct pr_hdf5_writer *h = w->data;
    uint64_t bytes = 0;
    int rc = pr_hdf5_plan_init(spec, &h->plan, err);

    if (!rc)
        rc = hdf5_writer_start(h, w, spec, err);
    if (!rc && !is_again(h)) {
        h->is_known = false;
        h->sets = (struct pr_hdf5_spot *)(void *)pr_hdf5_buf_grow(
            &h->set_mem, h->plan.sets * sizeof *h->sets);
        if (!h->sets)
            rc = pr_fail_nomem(err);
    }
    if (!rc)
        rc = pr_object_create(w->st, name, is_again(h) ? h->known_size : 0,
                              &h->obj, err);
    if (rc)
        return rc;
    rc = is_again(h) ? write_again(h, &bytes, err) : write_new(h, &bytes, err);
    if (rc) {
        pr_object_discard(&h->obj);
        return rc;
    }
    rc = pr_object_commit(&h->obj, err);
    if (!rc)
        *ret_bytes = bytes;
    return rc;
}

void pr_hdf5_writer_done(struct pr_writer *w)
{
    struct pr_hdf5_writer *h = w->data;

    if (h->h5) {
        pr_hdf5_enter(h->h5);
        if (h->access > 0)
            h->h5->H5Pclose(h->access);
        if (h->creation > 0)
            h->h5->H5Pclose(h->creation);
        pr_hdf5_leave(h->h5);
    }
    pr_deflate_free(h->deflate);
    pr_free(h->lzf);
    pr_free(h->chunk.data);
    pr_free(h->packed.data);
    pr_free(h->set_mem.data);
    pr_free(h->blocks);
    pr_free(h->trail);
}
