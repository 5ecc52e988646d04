/* A stream of bytes into an object being written. */
#include "format/out.h"

#include <string.h>

int pr_out_init(struct pr_out *out, struct pr_storage *st, struct pr_err *err)
{
    *out = (struct pr_out){.st = st, .cap = PR_OUT_BLOCK};
    out->whole = pr_storage_buffer(st, out->cap + PR_OUT_LEAD);
    out->block = out->whole;
    return out->whole ? PR_OK : pr_fail_nomem(err);
}

int pr_out_create(struct pr_out *out, const char *name, uint64_t size,
                  struct pr_err *err)
{
    int rc = pr_object_create(out->st, name, size, &out->obj, err);

    out->block = out->whole;
    out->used = 0;
    out->base = 0;
    out->is_open = rc == PR_OK;
    return rc;
}

void pr_out_lead(struct pr_out *out, size_t lead)
{
    if (!out->base && !out->used && !pr_storage_needs_aligned(out->st))
        out->block =
            out->whole + (PR_OUT_LEAD - lead % PR_OUT_LEAD) % PR_OUT_LEAD;
}

static int out_flush_block(struct pr_out *out, struct pr_err *err)
{
    int rc = PR_OK;

    if (out->used)
        rc = pr_object_write(&out->obj, out->base, out->block, out->used, err);
    if (!rc) {
        out->base += out->used;
        out->used = 0;
    }
    return rc;
}

int pr_out_room(struct pr_out *out, size_t want, uint8_t **ret, size_t *ret_len,
                struct pr_err *err)
{
    int rc = out->used == out->cap ? out_flush_block(out, err) : PR_OK;
    size_t room = out->cap - out->used;

    if (rc)
        return rc;
    *ret = out->block + out->used;
    *ret_len = want < room ? want : room;
    return PR_OK;
}

void pr_out_advance(struct pr_out *out, size_t len)
{
    out->used += len;
}

int pr_out_put(struct pr_out *out, const void *data, size_t len,
               struct pr_err *err)
{
    const uint8_t *p = data;

    while (len) {
        uint8_t *room;
        size_t n;
        int rc = pr_out_room(out, len, &room, &n, err);

        if (rc)
            return rc;
        memcpy(room, p, n);
        pr_out_advance(out, n);
        p += n;
        len -= n;
    }
    return PR_OK;
}

int pr_out_patch(struct pr_out *out, uint64_t off, const void *data, size_t len,
                 struct pr_err *err)
{
    const uint8_t *p = data;

    if (off < out->base) { /* the part that has left the block */
        uint64_t gone = out->base - off;
        size_t n = gone < len ? (size_t)gone : len;
        int rc = pr_object_write(&out->obj, off, p, n, err);

        if (rc)
            return rc;
        p += n;
        off += n;
        len -= n;
    }
    if (len)
        memcpy(out->block + (off - out->base), p, len);
    return PR_OK;
}

int pr_out_commit(struct pr_out *out, struct pr_err *err)
{
    int rc = out_flush_block(out, err);

    out->is_open = false;
    if (!rc)
        return pr_object_commit(&out->obj, err);
    pr_object_discard(&out->obj);
    return rc;
}

void pr_out_discard(struct pr_out *out)
{
    if (out->is_open)
        pr_object_discard(&out->obj);
    out->is_open = false;
}
