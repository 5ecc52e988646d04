/*
 * Structures of ZIP archives as Python's zipfile writes them with force_zip64,
 * that is as numpy.savez does: a ZIP64 field in each local header, elsewhere
 * only where a number needs it. And as torch.save does: local headers that
 * leave sizes to what follows the contents.
 */
#include "format/zip.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* Above it Python writes ZIP64 fields, at half of what would still fit. */
static const uint64_t zip_build_limit = ((uint64_t)1 << 31) - 1;

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
    return m->bytes > zip_build_limit || m->packed > zip_build_limit;
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
    bool is_far = m->at > zip_build_limit;
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

    if (zip->dir_at > zip_build_limit || zip->dir_bytes > zip_build_limit ||
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
