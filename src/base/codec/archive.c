/*
 * Zip archives in memory: the directory at the end, every number checked, and
 * one member unpacked.
 */
#include "base/codec/archive.h"

#include "base/codec/checksum.h"
#include "base/codec/deflate.h"

#include <string.h>

/* ---- a member, unpacked */

/* Deflate makes of a byte 1032 at most. */
enum { MOST_FROM_ONE = 1032 };

/* Room is a byte more than the member: so its end shows, and excess does. */
static bool unzip_inflate_member(const struct pr_archive_member *m,
                                 struct pr_inflate *z, char *out)
{
    enum pr_inflate_end end = PR_INFLATE_MORE;
    const uint8_t *in = m->data;
    size_t left = m->packed_bytes, got = 0, n = 1;

    pr_inflate_start(z, PR_WRAP_NONE);
    while (end == PR_INFLATE_MORE && n && got <= m->bytes) {
        n = (size_t)m->bytes + 1 - got;
        end = pr_inflate_run(z, &in, &left, (uint8_t *)out + got, &n);
        got += n;
    }
    return end == PR_INFLATE_END && got == m->bytes;
}

static bool unzip_unpack_member(const struct pr_archive_member *m,
                                struct pr_inflate *z, char *out)
{
    if (m->method == PR_ZIP_DEFLATED)
        return unzip_inflate_member(m, z, out);
    if (m->packed_bytes != m->bytes)
        return false;
    memcpy(out, m->data, m->packed_bytes);
    return true;
}

int pr_zipdir_read_member(const struct pr_archive_member *m,
                          struct pr_inflate *z, struct pr_buf *out,
                          const char *name, struct pr_err *err)
{
    pr_buf_clear(out);
    if (m->encrypted ||
        (m->method != PR_ZIP_STORED && m->method != PR_ZIP_DEFLATED))
        return pr_fail(err, PR_E_FORMAT, name,
                       "packed in a way that is not known");
    if (m->bytes + 2 > out->max || m->bytes / MOST_FROM_ONE > m->packed_bytes)
        return pr_fail(err, PR_E_FORMAT, name, "claims to be too large");
    if (!pr_buf_reserve(out, (size_t)m->bytes + 2))
        return pr_fail_nomem(err);
    if (!unzip_unpack_member(m, z, out->data) ||
        pr_crc32(0, out->data, (size_t)m->bytes) != m->crc)
        return pr_fail(err, PR_E_FORMAT, name, "the archive is damaged here");
    out->len = (size_t)m->bytes;
    out->data[out->len] = '\0';
    return PR_OK;
}

/* ---- the directory */

enum {
    LOCAL = 0x04034b50,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    MAX_COMMENT = 65535,
    EXTRA64 = 1,
};

static uint16_t zipdir_get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t zipdir_get_u32(const uint8_t *p)
{
    return zipdir_get_u16(p) | (uint32_t)zipdir_get_u16(p + 2) << 16;
}

static uint64_t zipdir_get_u64(const uint8_t *p)
{
    return zipdir_get_u32(p) | (uint64_t)zipdir_get_u32(p + 4) << 32;
}

static int zipdir_fail_damaged(const struct pr_zipdir *z, const char *what,
                               struct pr_err *err)
{
    return pr_fail(err, PR_E_FORMAT, z->name,
                   "a damaged zip archive of %zu bytes: %s", z->bytes, what);
}

bool pr_zipdir_is_archive(const void *data, size_t bytes)
{
    return bytes >= 4 &&
           (zipdir_get_u32(data) == LOCAL || zipdir_get_u32(data) == END);
}

/* Whether so many bytes are there from that place on. */
static bool zipdir_has_bytes(const struct pr_zipdir *z, uint64_t from,
                             uint64_t bytes)
{
    return from <= z->bytes && bytes <= z->bytes - from;
}

/* A record before the end has the numbers that do not fit into it. */
static int zipdir_read_end64(struct pr_zipdir *z, size_t end, uint64_t *from,
                             uint64_t *bytes, struct pr_err *err)
{
    const uint8_t *p;
    uint64_t at;

    if (end < LOCATOR_BYTES ||
        zipdir_get_u32(z->data + end - LOCATOR_BYTES) != LOCATOR64)
        return zipdir_fail_damaged(z, "the place of its directory is missing",
                                   err);
    at = zipdir_get_u64(z->data + end - LOCATOR_BYTES + 8);
    if (!zipdir_has_bytes(z, at, END64_BYTES) ||
        zipdir_get_u32(z->data + at) != END64)
        return zipdir_fail_damaged(z, "the place of its directory is wrong",
                                   err);
    p = z->data + at;
    *bytes = zipdir_get_u64(p + 40);
    *from = zipdir_get_u64(p + 48);
    return PR_OK;
}

int pr_zipdir_open(struct pr_zipdir *z, const void *data, size_t bytes,
                   const char *name, struct pr_err *err)
{
    uint64_t from, length;
    size_t end;

    *z = (struct pr_zipdir){.data = data, .bytes = bytes, .name = name};
    if (bytes < END_BYTES)
        return zipdir_fail_damaged(z, "it is cut short", err);
    for (end = bytes - END_BYTES; zipdir_get_u32(z->data + end) != END; end--)
        if (!end || bytes - end >= END_BYTES + MAX_COMMENT)
            return zipdir_fail_damaged(
                z, "its directory is missing, it may be cut short", err);
    length = zipdir_get_u32(z->data + end + 12);
    from = zipdir_get_u32(z->data + end + 16);
    if (from == UINT32_MAX || length == UINT32_MAX) {
        PR_TRY(zipdir_read_end64(z, end, &from, &length, err));
    }
    if (!zipdir_has_bytes(z, from, length))
        return zipdir_fail_damaged(z, "its directory is beyond its end", err);
    z->at = (size_t)from;
    z->end = (size_t)(from + length);
    return PR_OK;
}

/* Numbers of 64 bits stand in an extra field, those that are needed, in this
 * order. */
static void read_extra(const uint8_t *p, size_t len, uint64_t *values[3])
{
    while (len >= 4) {
        size_t n = zipdir_get_u16(p + 2), at = 4;

        if (n > len - 4)
            return;
        for (int i = 0; zipdir_get_u16(p) == EXTRA64 && i < 3; i++)
            if (*values[i] == UINT32_MAX && at + 8 <= n + 4) {
                *values[i] = zipdir_get_u64(p + at);
                at += 8;
            }
        p += n + 4;
        len -= n + 4;
    }
}

/* The bytes of a member follow its own header, whose names may differ. */
static int find_data(const struct pr_zipdir *z, uint64_t local, uint64_t packed,
                     struct pr_archive_member *m, struct pr_err *err)
{
    const uint8_t *p;
    uint64_t from;

    if (!zipdir_has_bytes(z, local, LOCAL_BYTES) ||
        zipdir_get_u32(z->data + local) != LOCAL)
        return zipdir_fail_damaged(
            z, "a member is not where its directory says", err);
    p = z->data + local;
    from =
        local + LOCAL_BYTES + zipdir_get_u16(p + 26) + zipdir_get_u16(p + 28);
    if (!zipdir_has_bytes(z, from, packed))
        return zipdir_fail_damaged(z, "a member is beyond its end", err);
    m->data = z->data + from;
    m->packed_bytes = (size_t)packed;
    return PR_OK;
}

int pr_zipdir_next(struct pr_zipdir *z, struct pr_archive_member *ret,
                   struct pr_err *err)
{
    const uint8_t *p = z->data + z->at;
    uint64_t packed = 0, bytes = 0, local = 0;
    uint64_t *values[3] = {&bytes, &packed, &local};
    size_t left = z->end - z->at, whole;
    int rc;

    if (!left)
        return 0;
    if (left < ENTRY_BYTES || zipdir_get_u32(p) != ENTRY)
        return zipdir_fail_damaged(z, "its directory is", err);
    whole = (size_t)ENTRY_BYTES + zipdir_get_u16(p + 28) +
            zipdir_get_u16(p + 30) + zipdir_get_u16(p + 32);
    if (left < whole)
        return zipdir_fail_damaged(z, "its directory is cut short", err);
    packed = zipdir_get_u32(p + 20);
    bytes = zipdir_get_u32(p + 24);
    local = zipdir_get_u32(p + 42);
    read_extra(p + ENTRY_BYTES + zipdir_get_u16(p + 28), zipdir_get_u16(p + 30),
               values);
    *ret = (struct pr_archive_member){
        .name = (const char *)p + ENTRY_BYTES,
        .name_len = zipdir_get_u16(p + 28),
        .method = zipdir_get_u16(p + 10),
        .encrypted = zipdir_get_u16(p + 8) & 1,
        .bytes = bytes,
        .crc = zipdir_get_u32(p + 16),
    };
    rc = find_data(z, local, packed, ret, err);
    z->at += whole;
    /* Each byte is unpacked once at most, however often it is listed. */
    z->listed += ret->packed_bytes;
    if (!rc && z->listed > z->bytes)
        return zipdir_fail_damaged(
            z,
            "its members overlap: together they are larger than "
            "all of it",
            err);
    return rc ? rc : 1;
}
