/* Members of ZIP archives as streams; see zip_stream.h. */
#include "format/zip_stream.h"

#include "base/codec/checksum.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

static int zip_stream_fail(const struct pr_zip_stream *s, const char *text,
                           struct pr_err *err)
{
    return pr_reader_bad(s->r, s->m->data, err, "%s", text);
}

void pr_zip_stream_done(struct pr_zip_stream *s)
{
    pr_inflate_free(s->z);
    pr_free(s->spare);
    *s = (struct pr_zip_stream){0};
}

int pr_zip_stream_start(struct pr_zip_stream *s, struct pr_reader *r,
                        struct pr_window *win, const struct pr_zip_member *m,
                        struct pr_err *err)
{
    if (!s->z && m->method == PR_ZIP_DEFLATED) {
        s->z = pr_inflate_new();
        if (!s->z)
            return pr_fail_nomem(err);
    }
    if (m->method == PR_ZIP_DEFLATED)
        pr_inflate_start(s->z, PR_WRAP_NONE);
    s->r = r;
    s->win = win;
    s->m = m;
    s->has_sum = !r->opts.skip_checksum;
    s->pos = s->fetched = 0;
    s->in_len = 0;
    s->is_at_end = false;
    s->crc = 0;
    return PR_OK;
}

uint8_t *pr_zip_stream_spare(struct pr_zip_stream *s)
{
    if (!s->spare)
        s->spare = pr_alloc_aligned(PR_IO_ALIGN, PR_ZIP_PIECE);
    return s->spare;
}

/* ---- stored */

static int copy_some(struct pr_zip_stream *s, uint8_t *dst, size_t len,
                     struct pr_err *err)
{
    uint64_t off = s->m->data + s->pos;
    const struct pr_window *w = s->win;

    if (off < w->off || off - w->off > w->len || len > w->len - (off - w->off))
        return pr_object_read(&s->r->obj, off, len, dst, err);
    memcpy(dst, w->data + (off - w->off), len);
    return PR_OK;
}

/* ---- deflated */

/* The next packed bytes: all of them, or a piece. */
static int zip_stream_refill(struct pr_zip_stream *s, struct pr_err *err)
{
    uint64_t off = s->m->data + s->fetched, left = s->m->packed - s->fetched;
    size_t n = left < PR_ZIP_PIECE ? (size_t)left : PR_ZIP_PIECE;
    uint8_t *buf;
    int rc;

    if (pr_window_is_whole(s->win, s->r)) {
        s->in = s->win->data + off;
        s->in_len = (size_t)left;
        s->fetched = s->m->packed;
        return PR_OK;
    }
    s->win->len = 0;
    buf = pr_reader_scratch(s->r, PR_ZIP_PIECE + PR_IO_SLACK);
    if (!buf)
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&s->r->obj, off, n, buf, s->r->scratch_cap, &s->in,
                         err);
    if (rc)
        return rc;
    s->in_len = n;
    s->fetched += n;
    return PR_OK;
}

/* Up to *len bytes, as many as come of one call; *len may become 0. */
static int zip_stream_inflate_some(struct pr_zip_stream *s, uint8_t *dst,
                                   size_t *len, struct pr_err *err)
{
    enum pr_inflate_end end;
    int rc;

    if (!s->in_len && s->fetched < s->m->packed) {
        rc = zip_stream_refill(s, err);
        if (rc)
            return rc;
    }
    size_t had = s->in_len;
    end = pr_inflate_run(s->z, &s->in, &s->in_len, dst, len);
    s->is_at_end = end == PR_INFLATE_END;
    if (end == PR_INFLATE_BAD)
        return zip_stream_fail(s, "the deflated bytes of a member are broken",
                               err);
    if (end == PR_INFLATE_MORE && !*len && s->in_len == had)
        return zip_stream_fail(
            s, "the deflated bytes of a member are cut short", err);
    return PR_OK;
}

static int zip_stream_inflate(struct pr_zip_stream *s, uint8_t *dst, size_t len,
                              struct pr_err *err)
{
    while (len) {
        size_t n = len;
        int rc;

        if (s->is_at_end)
            return zip_stream_fail(s, "a member has fewer bytes than it should",
                                   err);
        rc = zip_stream_inflate_some(s, dst, &n, err);
        if (rc)
            return rc;
        dst += n;
        len -= n;
    }
    return PR_OK;
}

/* ---- both */

int pr_zip_fail_checksum(const struct pr_reader *r,
                         const struct pr_zip_member *m, uint32_t crc,
                         struct pr_err *err)
{
    return pr_reader_bad(r, m->data, err,
                         "the checksum is wrong, %08lx instead of %08lx",
                         (unsigned long)crc, (unsigned long)m->crc);
}

static int check_end(struct pr_zip_stream *s, struct pr_err *err)
{
    uint8_t more[1];

    while (s->m->method == PR_ZIP_DEFLATED && !s->is_at_end) {
        size_t n = sizeof more;
        int rc = zip_stream_inflate_some(s, more, &n, err);

        if (rc)
            return rc;
        if (n)
            return zip_stream_fail(s, "a member has more bytes than it should",
                                   err);
    }
    if (s->m->method == PR_ZIP_DEFLATED &&
        (s->in_len || s->fetched < s->m->packed))
        return zip_stream_fail(
            s, "something follows the deflated bytes of a member", err);
    if (s->has_sum && s->crc != s->m->crc)
        return pr_zip_fail_checksum(s->r, s->m, s->crc, err);
    return PR_OK;
}

static int zip_stream_read_some(struct pr_zip_stream *s, uint8_t *dst,
                                size_t len, struct pr_err *err)
{
    int rc = s->m->method == PR_ZIP_STORED
                 ? copy_some(s, dst, len, err)
                 : zip_stream_inflate(s, dst, len, err);

    if (rc)
        return rc;
    if (s->has_sum)
        s->crc = pr_crc32(s->crc, dst, len);
    s->pos += len;
    return PR_OK;
}

int pr_zip_stream_read(struct pr_zip_stream *s, uint8_t *dst, size_t len,
                       struct pr_err *err)
{
    int rc = PR_OK;

    assert(len <= s->m->bytes - s->pos);
    for (size_t n; !rc && len; dst += n, len -= n) {
        n = len < PR_ZIP_PIECE ? len : PR_ZIP_PIECE;
        rc = zip_stream_read_some(s, dst, n, err);
    }
    if (!rc && s->pos == s->m->bytes)
        rc = check_end(s, err);
    if (rc)
        s->pos = UINT64_MAX; /* nowhere: the next seek starts again */
    return rc;
}

int pr_zip_stream_seek(struct pr_zip_stream *s, uint64_t to, struct pr_err *err)
{
    int rc = PR_OK;

    if (to < s->pos)
        rc = pr_zip_stream_start(s, s->r, s->win, s->m, err);
    if (!rc && to > s->pos && !pr_zip_stream_spare(s))
        rc = pr_fail_nomem(err);
    while (!rc && s->pos < to) {
        uint64_t n = to - s->pos;

        rc = pr_zip_stream_read(
            s, s->spare, n < PR_ZIP_PIECE ? (size_t)n : PR_ZIP_PIECE, err);
    }
    return rc;
}
