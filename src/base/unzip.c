/* ZIP archives in memory; the central directory is what counts. */
#include "base/unzip.h"

#include "base/checksum.h"
#include "base/deflate.h"

#include <endian.h>
#include <string.h>

enum {
    LOCAL = 30, /* bytes of the structures, without what varies */
    ENTRY = 46,
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    MAX_COMMENT = 0xffff,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1 << 0, /* flags */
};

static unsigned get16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static bool is_sig(const uint8_t *p, unsigned a, unsigned b)
{
    return p[0] == 'P' && p[1] == 'K' && p[2] == a && p[3] == b;
}

static int bad(const struct pr_unzip *z, struct pr_err *err, const char *what)
{
    return pr_fail(err, PR_E_FORMAT, z->path, "a damaged archive: %s", what);
}

/* The last end record that a comment of just its length follows. */
static const uint8_t *find_end(const struct pr_unzip *z)
{
    size_t most = z->len < END + MAX_COMMENT ? z->len : END + MAX_COMMENT;

    for (size_t back = END; back <= most; back++) {
        const uint8_t *p = z->data + z->len - back;
        if (is_sig(p, 5, 6) && get16(p + 20) == back - END)
            return p;
    }
    return NULL;
}

static const uint8_t *find_end64(const struct pr_unzip *z, const uint8_t *end)
{
    uint64_t at;

    if ((size_t)(end - z->data) < LOCATOR + END64 ||
        !is_sig(end - LOCATOR, 6, 7))
        return NULL;
    at = get64(end - LOCATOR + 8);
    if (at > (uint64_t)(end - z->data) - LOCATOR - END64 ||
        !is_sig(z->data + at, 6, 6))
        return NULL;
    return z->data + at;
}

int pr_unzip_open(struct pr_unzip *z, const void *data, size_t len,
                  const char *path, struct pr_err *err)
{
    const uint8_t *end, *end64;
    uint64_t bytes;

    *z = (struct pr_unzip){.data = data, .len = len, .path = path};
    end = find_end(z);
    if (!end)
        return bad(z, err, "it has no end");
    z->left = get16(end + 10);
    bytes = get32(end + 12);
    z->at = get32(end + 16);
    end64 = find_end64(z, end);
    if (end64) {
        z->left = get64(end64 + 32);
        bytes = get64(end64 + 40);
        z->at = get64(end64 + 48);
        end = end64;
    }
    if (z->at > (uint64_t)(end - z->data) ||
        bytes > (uint64_t)(end - z->data) - z->at || z->left > bytes / ENTRY)
        return bad(z, err, "its directory is not where it should be");
    z->directory = z->at;
    z->len = (size_t)(z->at + bytes);
    return PR_OK;
}

void pr_unzip_close(struct pr_unzip *z)
{
    pr_inflate_free(z->inflate);
    z->inflate = NULL;
}

/* Sizes and place that do not fit in 32 bits are in an extra field. */
static bool read_wide(struct pr_unzip_member *m, const uint8_t *p, size_t len)
{
    uint64_t *const fields[] = {&m->bytes, &m->packed, &m->local};

    while (len >= 4) {
        size_t n = get16(p + 2);

        if (n > len - 4)
            return false;
        if (get16(p) == 1) {
            const uint8_t *q = p + 4;
            for (int i = 0; i < 3; i++)
                if (*fields[i] == 0xffffffff && q + 8 <= p + 4 + n) {
                    *fields[i] = get64(q);
                    q += 8;
                }
            return true;
        }
        p += 4 + n;
        len -= 4 + n;
    }
    return true;
}

int pr_unzip_next(struct pr_unzip *z, struct pr_unzip_member *ret,
                  struct pr_err *err)
{
    const uint8_t *p = z->data + z->at;
    size_t left = z->len - (size_t)z->at, name, extra, need;

    if (!z->left)
        return 0;
    if (left < ENTRY || !is_sig(p, 1, 2))
        return bad(z, err, "a directory entry is broken");
    name = get16(p + 28);
    extra = get16(p + 30);
    need = ENTRY + name + extra + get16(p + 32);
    if (left < need)
        return bad(z, err, "a directory entry is cut short");
    *ret = (struct pr_unzip_member){
        .name = (const char *)p + ENTRY,
        .name_len = name,
        .packed = get32(p + 20),
        .bytes = get32(p + 24),
        .local = get32(p + 42),
        .crc = get32(p + 16),
        .method = get16(p + 10),
        .flags = get16(p + 8),
    };
    if (!read_wide(ret, p + ENTRY + name, extra))
        return bad(z, err, "a directory entry is broken");
    z->at += need;
    z->left--;
    return 1;
}

/* Where the bytes of a member begin; NULL: not before the directory. */
static const uint8_t *locate(const struct pr_unzip *z,
                             const struct pr_unzip_member *m)
{
    const uint8_t *p;
    uint64_t start;

    if (m->local > z->directory || z->directory - m->local < LOCAL)
        return NULL;
    p = z->data + m->local;
    if (!is_sig(p, 3, 4))
        return NULL;
    start = m->local + LOCAL + get16(p + 26) + get16(p + 28);
    if (start > z->directory || m->packed > z->directory - start)
        return NULL;
    return z->data + start;
}

static int inflate(struct pr_unzip *z, const uint8_t *in, size_t len,
                   size_t bytes, struct pr_buf *out, struct pr_err *err)
{
    enum pr_inflate_end end = PR_INFLATE_MORE;
    size_t got = 0;

    if (!z->inflate)
        z->inflate = pr_inflate_new();
    if (!z->inflate)
        return pr_fail_nomem(err);
    pr_inflate_start(z->inflate, PR_WRAP_NONE);
    /* A byte more than it should be: the end shows, and so does excess. */
    while (end == PR_INFLATE_MORE && got <= bytes) {
        size_t n = bytes + 1 - got;
        end = pr_inflate_run(z->inflate, &in, &len,
                             (uint8_t *)out->data + out->len + got, &n);
        if (!n && end == PR_INFLATE_MORE)
            break;
        got += n;
    }
    if (end != PR_INFLATE_END || got != bytes)
        return bad(z, err, "a member cannot be unpacked");
    return PR_OK;
}

int pr_unzip_take(struct pr_unzip *z, const struct pr_unzip_member *m,
                  struct pr_buf *out, struct pr_err *err)
{
    const uint8_t *in = locate(z, m);
    int rc = PR_OK;

    if (!in)
        return bad(z, err, "a member is not where it should be");
    if ((m->method != STORED && m->method != DEFLATED) ||
        (m->flags & ENCRYPTED) ||
        (m->method == STORED && m->packed != m->bytes))
        return bad(z, err, "a member is packed in a way that is not known");
    /* What unpacks to more than a thousand times its size is no text. */
    if (m->bytes / 1100 > m->packed || m->bytes > out->max - out->len)
        return bad(z, err, "a member claims to be too large");
    if (!pr_buf_reserve(out, (size_t)m->bytes + 2))
        return out->over ? bad(z, err, "a member is too large")
                         : pr_fail_nomem(err);
    if (m->method == STORED)
        memcpy(out->data + out->len, in, (size_t)m->bytes);
    else
        rc = inflate(z, in, (size_t)m->packed, (size_t)m->bytes, out, err);
    if (rc)
        return rc;
    if (pr_crc32(0, out->data + out->len, (size_t)m->bytes) != m->crc)
        return bad(z, err, "the checksum of a member is wrong");
    out->len += (size_t)m->bytes;
    out->data[out->len] = '\0';
    return PR_OK;
}
