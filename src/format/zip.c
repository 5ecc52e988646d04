/*
 * ZIP archives: their structures, written and read, and members as streams.
 * A ZIP64 field is written in each local header, as numpy.savez has it, which
 * is what Python's zipfile does with force_zip64; elsewhere only where a number
 * needs it. As torch.save has it, local headers leave sizes to what follows the
 * contents.
 */
#include "format/zip.h"

#include "base/codec/checksum.h"
#include "base/mem.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* ---- writing */

/* Above it Python writes ZIP64 fields, at half of what would still fit. */
static const uint64_t zip64_above = ((uint64_t)1 << 31) - 1;

enum { DATE = 0x21 }; /* 1980-01-01 */

static uint8_t *zip_put_number(uint8_t *out, uint64_t v, size_t bytes)
{
    v = htole64(v);
    memcpy(out, &v, bytes);
    return out + bytes;
}

static uint8_t *zip_put_text(uint8_t *out, const char *text)
{
    size_t n = strlen(text);

    assert(n <= 64);
    memcpy(out, text, n);
    return out + n;
}

static bool is_large(const struct pr_zip_member *m)
{
    return m->bytes > zip64_above || m->packed > zip64_above;
}

/* What local header and directory entry have in common: from the version that
 * reading needs to the length of the name. */
static uint8_t *zip_put_common(uint8_t *p, const struct pr_zip_member *m,
                               const char *name, unsigned version)
{
    p = zip_put_number(p, version, 2);
    p = zip_put_number(p, m->flags, 2);
    p = zip_put_number(p, m->method, 2);
    p = zip_put_number(p, 0, 2); /* time */
    p = zip_put_number(p, DATE, 2);
    p = zip_put_number(p, m->crc, 4);
    p = zip_put_number(p, is_large(m) ? 0xffffffff : m->packed, 4);
    p = zip_put_number(p, is_large(m) ? 0xffffffff : m->bytes, 4);
    return zip_put_number(p, strlen(name), 2);
}

size_t pr_zip_build_local(const struct pr_zip_member *m, const char *name,
                          uint8_t *out)
{
    uint8_t *p = zip_put_text(out, "PK\x03\x04");

    p = zip_put_common(p, m, name, is_large(m) ? 45 : 20);
    p = zip_put_number(p, 20, 2); /* extra field */
    p = zip_put_text(p, name);
    p = zip_put_number(p, 1, 2);
    p = zip_put_number(p, 16, 2);
    p = zip_put_number(p, m->bytes, 8);
    p = zip_put_number(p, m->packed, 8);
    return (size_t)(p - out);
}

/* torch.save's rule, by which torch.load computes places without looking. */
static bool is_streamed_large(const struct pr_zip_member *m)
{
    return m->bytes >= 0xffffffff || m->at >= 0xffffffff;
}

static uint8_t *put_streamed64(uint8_t *p, const struct pr_zip_member *m)
{
    bool is_big = m->bytes >= 0xffffffff, is_far = m->at >= 0xffffffff;

    p = zip_put_number(p, 1, 2);
    p = zip_put_number(p, (is_big ? 16u : 0u) + (is_far ? 8u : 0u), 2);
    if (is_big) {
        p = zip_put_number(p, m->bytes, 8);
        p = zip_put_number(p, m->packed, 8);
    }
    return is_far ? zip_put_number(p, m->at, 8) : p;
}

size_t pr_zip_build_streamed(const struct pr_zip_member *m, const char *name,
                             size_t align, uint8_t *out)
{
    struct pr_zip_member later = {.flags = m->flags, .method = m->method};
    uint8_t *p = zip_put_text(out, "PK\x03\x04"), *extra, *length;
    size_t pad;

    assert(align <= PR_ZIP_ALIGN_MAX);
    p = length =
        zip_put_common(p, &later, name, is_streamed_large(m) ? 45 : 20);
    p = extra = zip_put_text(p + 2, name);
    if (is_streamed_large(m))
        p = put_streamed64(p, m);
    pad = (size_t)((0 - m->at - (uint64_t)(p + 4 - out)) % align);
    p = zip_put_text(p, "FB");
    p = zip_put_number(p, pad, 2);
    memset(p, 'Z', pad);
    p += pad;
    zip_put_number(length, (uint64_t)(p - extra), 2);
    return (size_t)(p - out);
}

size_t pr_zip_build_descriptor(const struct pr_zip_member *m, uint8_t *out)
{
    size_t width = is_streamed_large(m) ? 8 : 4;
    uint8_t *p = zip_put_text(out, "PK\x07\x08");

    p = zip_put_number(p, m->crc, 4);
    p = zip_put_number(p, m->packed, width);
    p = zip_put_number(p, m->bytes, width);
    return (size_t)(p - out);
}

size_t pr_zip_build_entry(const struct pr_zip_member *m, const char *name,
                          uint8_t *out)
{
    bool is_far = m->at > zip64_above;
    unsigned version = is_large(m) || is_far ? 45 : 20;
    unsigned extra = (is_large(m) ? 16 : 0) + (is_far ? 8 : 0);
    uint8_t *p = zip_put_text(out, "PK\x01\x02");

    p = zip_put_number(p, version, 1);
    p = zip_put_number(p, 3, 1); /* Unix */
    p = zip_put_common(p, m, name, version);
    p = zip_put_number(p, extra ? 4 + extra : 0, 2);
    p = zip_put_number(p, 0, 2 + 2 + 2); /* comment, disk, kind of file */
    p = zip_put_number(p, 0600u << 16, 4);
    p = zip_put_number(p, is_far ? 0xffffffff : m->at, 4);
    p = zip_put_text(p, name);
    if (extra) {
        p = zip_put_number(p, 1, 2);
        p = zip_put_number(p, extra, 2);
    }
    if (is_large(m)) {
        p = zip_put_number(p, m->bytes, 8);
        p = zip_put_number(p, m->packed, 8);
    }
    if (is_far)
        p = zip_put_number(p, m->at, 8);
    return (size_t)(p - out);
}

static uint8_t *put_end64(uint8_t *p, const struct pr_zip *zip)
{
    p = zip_put_text(p, "PK\x06\x06");
    p = zip_put_number(p, 44, 8); /* bytes that follow */
    p = zip_put_number(p, 45, 2);
    p = zip_put_number(p, 45, 2);
    p = zip_put_number(p, 0, 8); /* disks */
    p = zip_put_number(p, zip->members, 8);
    p = zip_put_number(p, zip->members, 8);
    p = zip_put_number(p, zip->dir_bytes, 8);
    p = zip_put_number(p, zip->dir_at, 8);
    p = zip_put_text(p, "PK\x06\x07"); /* where that was */
    p = zip_put_number(p, 0, 4);
    p = zip_put_number(p, zip->dir_at + zip->dir_bytes, 8);
    return zip_put_number(p, 1, 4);
}

static uint64_t at_most_32(uint64_t v)
{
    return v < 0xffffffff ? v : 0xffffffff;
}

size_t pr_zip_build_end(const struct pr_zip *zip, uint8_t *out)
{
    uint64_t members = zip->members < 0xffff ? zip->members : 0xffff;
    uint8_t *p = out;

    if (zip->dir_at > zip64_above || zip->dir_bytes > zip64_above ||
        members == 0xffff)
        p = put_end64(p, zip);
    p = zip_put_text(p, "PK\x05\x06");
    p = zip_put_number(p, 0, 4); /* disks */
    p = zip_put_number(p, members, 2);
    p = zip_put_number(p, members, 2);
    p = zip_put_number(p, at_most_32(zip->dir_bytes), 4);
    p = zip_put_number(p, at_most_32(zip->dir_at), 4);
    p = zip_put_number(p, 0, 2); /* comment */
    return (size_t)(p - out);
}

/* ---- members as streams */

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

/* ---- streams: stored */

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

/* ---- streams: deflated */

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

/* ---- streams: both */

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

enum {
    LOCAL = 30, /* bytes of the structures, without what varies */
    ENTRY = 46,
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    MAX_COMMENT = 0xffff,
};

static unsigned zip_get_u16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static uint32_t zip_get_u32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static uint64_t zip_get_u64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static bool is_sig(const uint8_t *p, char a, char b)
{
    return p[0] == 'P' && p[1] == 'K' && p[2] == (uint8_t)a &&
           p[3] == (uint8_t)b;
}

/* ---- reading: the end of the file */

/* The last record in the last n bytes that a comment of just the right length
 * follows. -1: none. */
static int64_t search_end(const uint8_t *tail, size_t n)
{
    for (size_t i = n - END + 1; i-- > 0;)
        if (is_sig(tail + i, 5, 6) && zip_get_u16(tail + i + 20) == n - END - i)
            return (int64_t)i;
    return -1;
}

static int zip_find_end(struct pr_reader *r, struct pr_window *win,
                        uint64_t *ret, struct pr_err *err)
{
    static const size_t tries[] = {PR_WINDOW_STEP, END + MAX_COMMENT};
    uint64_t size = r->obj.size;

    for (int k = 0; k < 2 && size >= END; k++) {
        size_t n = size < tries[k] ? (size_t)size : tries[k];
        const uint8_t *tail;
        int64_t i;
        int rc = pr_window_get(win, r, size - n, n, &tail, err);

        if (rc)
            return rc;
        i = search_end(tail, n);
        if (i >= 0) {
            *ret = size - n + (uint64_t)i;
            return PR_OK;
        }
    }
    return pr_reader_bad(r, size, err,
                         "this is not a ZIP archive, or it is "
                         "cut short");
}

/* The ZIP64 record, if the one at `end` refers to it. */
static int zip_read_end64(struct pr_zip *zip, struct pr_reader *r,
                          struct pr_window *win, uint64_t *end,
                          struct pr_err *err)
{
    const uint8_t *p;
    uint64_t at;
    int rc;

    if (*end < LOCATOR + END64)
        return PR_OK;
    rc = pr_window_get(win, r, *end - LOCATOR, LOCATOR, &p, err);
    if (rc || !is_sig(p, 6, 7))
        return rc;
    at = zip_get_u64(p + 8);
    if (zip_get_u32(p + 4) != 0 || zip_get_u32(p + 16) > 1)
        return pr_reader_bad(r, *end - LOCATOR, err,
                             "archives on several disks cannot be read");
    if (at > *end - LOCATOR - END64)
        return pr_reader_bad(r, *end - LOCATOR, err,
                             "the end record is not where it should be");
    rc = pr_window_get(win, r, at, END64, &p, err);
    if (rc)
        return rc;
    if (!is_sig(p, 6, 6) || zip_get_u32(p + 16) || zip_get_u32(p + 20))
        return pr_reader_bad(r, at, err, "the end record is broken");
    zip->members = zip_get_u64(p + 32);
    zip->dir_bytes = zip_get_u64(p + 40);
    zip->dir_at = zip_get_u64(p + 48);
    *end = at;
    return PR_OK;
}

int pr_zip_open(struct pr_zip *ret, struct pr_reader *r, struct pr_window *win,
                struct pr_err *err)
{
    struct pr_zip zip;
    const uint8_t *p;
    uint64_t end = 0, sum;
    int rc = zip_find_end(r, win, &end, err);

    if (!rc)
        rc = pr_window_get(win, r, end, END, &p, err);
    if (rc)
        return rc;
    if (zip_get_u16(p + 4) || zip_get_u16(p + 6) ||
        zip_get_u16(p + 8) != zip_get_u16(p + 10))
        return pr_reader_bad(r, end, err,
                             "archives on several disks cannot be read");
    zip.members = zip_get_u16(p + 10);
    zip.dir_bytes = zip_get_u32(p + 12);
    zip.dir_at = zip_get_u32(p + 16);
    if (zip.members == 0xffff || zip.dir_bytes == 0xffffffff ||
        zip.dir_at == 0xffffffff)
        rc = zip_read_end64(&zip, r, win, &end, err);
    if (rc)
        return rc;
    if (__builtin_add_overflow(zip.dir_at, zip.dir_bytes, &sum) || sum > end ||
        zip.members > zip.dir_bytes / ENTRY)
        return pr_reader_bad(r, end, err,
                             "the directory is not where it should be");
    *ret = zip;
    return PR_OK;
}

/* ---- reading: the directory */

/* Sizes and offset that do not fit in 32 bits are in an extra field, those and
 * no others, in this order. */
static bool read_zip64(struct pr_zip_member *m, const uint8_t *p, size_t len)
{
    uint64_t *const fields[] = {&m->bytes, &m->packed, &m->at};
    size_t missing = 0;

    for (int i = 0; i < 3; i++)
        missing += *fields[i] == 0xffffffff;
    while (missing && len >= 4) {
        size_t id = zip_get_u16(p), n = zip_get_u16(p + 2);

        p += 4;
        len -= 4;
        if (n > len)
            return false;
        if (id == 1) {
            if (n < missing * 8)
                return false;
            for (int i = 0; i < 3; i++)
                if (*fields[i] == 0xffffffff) {
                    *fields[i] = zip_get_u64(p);
                    p += 8;
                }
            return true;
        }
        p += n;
        len -= n;
    }
    return true; /* 4 GiB less a byte: can be meant as it is */
}

/* Whether all of it can be before the directory. */
static bool is_before(const struct pr_zip_member *m, uint64_t limit)
{
    uint64_t need = LOCAL + (uint64_t)m->name_len;

    return m->at <= limit && need <= limit - m->at &&
           m->packed <= limit - m->at - need;
}

static int zip_read_entry(const struct pr_zip *zip, const struct pr_reader *r,
                          uint64_t at, const uint8_t *p,
                          struct pr_zip_member *m, struct pr_err *err)
{
    *m = (struct pr_zip_member){
        .at = zip_get_u32(p + 42),
        .packed = zip_get_u32(p + 20),
        .bytes = zip_get_u32(p + 24),
        .crc = zip_get_u32(p + 16),
        .name_crc = pr_crc32(0, p + ENTRY, zip_get_u16(p + 28)),
        .name_len = (uint16_t)zip_get_u16(p + 28),
        .method = (uint16_t)zip_get_u16(p + 10),
        .flags = (uint16_t)zip_get_u16(p + 8),
    };
    if (!read_zip64(m, p + ENTRY + m->name_len, zip_get_u16(p + 30)))
        return pr_reader_bad(r, at, err, "a directory entry is broken");
    if (zip_get_u16(p + 34) != 0)
        return pr_reader_bad(r, at, err,
                             "archives on several disks cannot be read");
    if (!is_before(m, zip->dir_at))
        return pr_reader_bad(r, at, err, "a member lies beyond the directory");
    return PR_OK;
}

/* The entry at `at`, whole, in the window. */
static int get_entry(const struct pr_zip *zip, struct pr_reader *r,
                     struct pr_window *win, uint64_t at, const uint8_t **ret,
                     size_t *ret_len, struct pr_err *err)
{
    uint64_t left = zip->dir_at + zip->dir_bytes - at;
    size_t len = 0;
    int rc = PR_OK;

    if (left >= ENTRY)
        rc = pr_window_get(win, r, at, ENTRY, ret, err);
    if (rc)
        return rc;
    if (left >= ENTRY && is_sig(*ret, 1, 2))
        len = (size_t)ENTRY + zip_get_u16(*ret + 28) + zip_get_u16(*ret + 30) +
              zip_get_u16(*ret + 32);
    if (!len || len > left)
        return pr_reader_bad(r, at, err, "the directory is broken");
    *ret_len = len;
    return pr_window_get(win, r, at, len, ret, err);
}

int pr_zip_each(const struct pr_zip *zip, struct pr_reader *r,
                struct pr_window *win,
                int (*each)(void *ctx, const char *name,
                            const struct pr_zip_member *m, struct pr_err *err),
                void *ctx, struct pr_err *err)
{
    uint64_t at = zip->dir_at, sum = 0;
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < zip->members; i++) {
        struct pr_zip_member m;
        const uint8_t *p;
        size_t len = 0;

        rc = get_entry(zip, r, win, at, &p, &len, err);
        if (!rc)
            rc = zip_read_entry(zip, r, at, p, &m, err);
        if (rc)
            return rc;
        /* No overflow: each is less than the file, and so was the sum. */
        sum += LOCAL + m.name_len + m.packed;
        if (sum > zip->dir_at)
            return pr_reader_bad(r, at, err, "members overlap");
        rc = each(ctx, (const char *)p + ENTRY, &m, err);
        at += len;
    }
    return rc;
}

/* ---- reading: one member */

enum { ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13 };

/* Deflate packs no more than this into a byte. */
enum { MOST_PACKED = 1032 };

static int check_member(const struct pr_zip_member *m,
                        const struct pr_reader *r, struct pr_err *err)
{
    if (m->flags & ENCRYPTED)
        return pr_reader_bad(r, m->at, err, "encrypted members cannot be read");
    if (m->method != PR_ZIP_STORED && m->method != PR_ZIP_DEFLATED)
        return pr_reader_bad(r, m->at, err,
                             "compression method %u cannot be read", m->method);
    if (m->method == PR_ZIP_STORED ? m->bytes != m->packed
                                   : m->bytes / MOST_PACKED > m->packed)
        return pr_reader_bad(
            r, m->at, err, "%llu bytes cannot be packed into %llu",
            (unsigned long long)m->bytes, (unsigned long long)m->packed);
    return PR_OK;
}

int pr_zip_locate(const struct pr_zip *zip, struct pr_zip_member *m,
                  struct pr_reader *r, struct pr_window *win,
                  struct pr_err *err)
{
    const uint8_t *p;
    size_t skip;
    int rc = check_member(m, r, err);

    if (!rc)
        rc = pr_window_get(win, r, m->at, (size_t)LOCAL + m->name_len, &p, err);
    if (rc)
        return rc;
    skip = (size_t)LOCAL + zip_get_u16(p + 26) + zip_get_u16(p + 28);
    if (!is_sig(p, 3, 4) || zip_get_u16(p + 26) != m->name_len ||
        zip_get_u16(p + 8) != m->method ||
        ((zip_get_u16(p + 6) ^ m->flags) & ENCRYPTED) != 0 ||
        pr_crc32(0, p + LOCAL, m->name_len) != m->name_crc)
        return pr_reader_bad(r, m->at, err,
                             "a member's header and the directory differ");
    if (skip > zip->dir_at - m->at || m->packed > zip->dir_at - m->at - skip)
        return pr_reader_bad(r, m->at, err,
                             "a member lies beyond the directory");
    m->data = m->at + skip;
    return PR_OK;
}
