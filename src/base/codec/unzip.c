/* A member of a zip archive, unpacked in memory. */
#include "base/codec/unzip.h"

#include "base/codec/checksum.h"
#include "base/codec/deflate.h"

#include <string.h>

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
