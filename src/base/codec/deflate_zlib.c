/* Bare deflate by zlib, where isa-l is missing. */
#include "base/codec/deflate.h"

#if !PR_HAVE_ISAL

#include "base/mem.h"

#include <zlib.h>

static void *z_alloc(void *ctx, unsigned items, unsigned size)
{
    size_t bytes;

    (void)ctx;
    if (__builtin_mul_overflow((size_t)items, (size_t)size, &bytes))
        return NULL;
    return pr_alloc(bytes);
}

static void z_free(void *ctx, void *p)
{
    (void)ctx;
    pr_free(p);
}

struct pr_inflater {
    z_stream s;
};

struct pr_inflater *pr_inflater_new(void)
{
    struct pr_inflater *z = pr_alloc_zeroed(sizeof *z);

    if (!z)
        return NULL;
    z->s.zalloc = z_alloc;
    z->s.zfree = z_free;
    if (inflateInit2(&z->s, -15) != Z_OK) {
        pr_free(z);
        return NULL;
    }
    /* Else the window is allocated in the midst of the first stream. */
    if (inflateSetDictionary(&z->s, (const Bytef *)"", 1) == Z_OK)
        return z;
    pr_inflater_free(z);
    return NULL;
}

void pr_inflater_free(struct pr_inflater *z)
{
    inflateEnd(&z->s);
    pr_free(z);
}

void pr_inflater_start(struct pr_inflater *z)
{
    inflateReset(&z->s);
}

enum pr_inflate_end pr_inflater_step(struct pr_inflater *z, const uint8_t *in,
                                     size_t *in_len, uint8_t *out,
                                     size_t *out_len,
                                     struct pr_inflate_back *ret_back)
{
    unsigned give = pr_deflate_clip(*in_len), room = pr_deflate_clip(*out_len);
    int rc;

    ret_back->len = 0;
    z->s.next_in = (uint8_t *)in;
    z->s.avail_in = give;
    z->s.next_out = out;
    z->s.avail_out = room;
    rc = inflate(&z->s, Z_NO_FLUSH);
    *in_len = give - z->s.avail_in;
    *out_len = room - z->s.avail_out;
    if (rc == Z_STREAM_END)
        return PR_INFLATE_END;
    /* Z_BUF_ERROR: there was nothing to take, or no room. */
    return rc == Z_OK || rc == Z_BUF_ERROR ? PR_INFLATE_MORE : PR_INFLATE_BAD;
}

/* ---- deflate */

struct pr_deflater {
    z_stream s;
};

struct pr_deflater *pr_deflater_new(int level)
{
    struct pr_deflater *z = pr_alloc_zeroed(sizeof *z);

    if (!z)
        return NULL;
    z->s.zalloc = z_alloc;
    z->s.zfree = z_free;
    if (deflateInit2(&z->s, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) ==
        Z_OK)
        return z;
    pr_free(z);
    return NULL;
}

void pr_deflater_free(struct pr_deflater *z)
{
    deflateEnd(&z->s);
    pr_free(z);
}

void pr_deflater_start(struct pr_deflater *z)
{
    deflateReset(&z->s);
}

bool pr_deflater_step(struct pr_deflater *z, const uint8_t *in, size_t *in_len,
                      bool last, uint8_t *out, size_t *out_len)
{
    unsigned give = pr_deflate_clip(*in_len), room = pr_deflate_clip(*out_len);
    int flush = last && give == *in_len ? Z_FINISH : Z_NO_FLUSH;
    int rc;

    z->s.next_in = (uint8_t *)in;
    z->s.avail_in = give;
    z->s.next_out = out;
    z->s.avail_out = room;
    rc = room ? deflate(&z->s, flush) : Z_OK;
    *in_len = give - z->s.avail_in;
    *out_len = room - z->s.avail_out;
    return rc == Z_STREAM_END;
}

uint32_t pr_adler32(uint32_t sum, const void *data, size_t len)
{
    return (uint32_t)adler32_z(sum, data, len);
}

#endif
