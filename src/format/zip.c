/* Reading the structure of ZIP archives; see zip.h. */
#include "format/zip.h"

#include "base/codec/checksum.h"

#include <endian.h>
#include <string.h>

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

/* ---- the end of the file */

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

/* ---- the directory */

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

/* ---- one member */

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
