/* Bare deflate by isa-l's igzip. Nine levels become its upper three. */
#include "base/codec/deflate.h"

#if PR_HAVE_ISAL

#include "base/mem.h"

#include <assert.h>
#include <isa-l/igzip_lib.h>
#include <string.h>

struct pr_inflater {
    struct inflate_state s;
    struct pr_inflate_back recent; /* the last bytes that were taken */
};

struct pr_inflater *pr_inflater_new(void)
{
    struct pr_inflater *z = pr_alloc_aligned(64, sizeof *z);

    if (z)
        isal_inflate_init(&z->s);
    return z;
}

void pr_inflater_free(struct pr_inflater *z)
{
    pr_free(z);
}

void pr_inflater_start(struct pr_inflater *z)
{
    isal_inflate_reset(&z->s);
    z->s.crc_flag = ISAL_DEFLATE;
    z->recent.len = 0;
}

static void inflater_keep_recent(struct pr_inflate_back *recent,
                                 const uint8_t *in, size_t len)
{
    const unsigned most = sizeof recent->bytes;

    if (len >= most) {
        memcpy(recent->bytes, in + len - most, most);
        recent->len = most;
        return;
    }
    unsigned keep =
        recent->len + len > most ? most - (unsigned)len : recent->len;
    memmove(recent->bytes, recent->bytes + recent->len - keep, keep);
    memcpy(recent->bytes + keep, in, len);
    recent->len = keep + (unsigned)len;
}

/* igzip takes up to eight bytes in advance. At the end it leaves those that it
 * had no use for in read_in (2.30), or gives them back by moving next_in (2.31
 * on), even to before the input of this call. */
static size_t end_of_stream(struct pr_inflater *z, unsigned give,
                            struct pr_inflate_back *ret_back)
{
    int64_t took =
        (int64_t)give - (int64_t)z->s.avail_in - z->s.read_in_length / 8;
    unsigned n;

    if (took >= 0)
        return (size_t)took;
    n = (unsigned)-took;
    assert(n <= z->recent.len);
    memcpy(ret_back->bytes, z->recent.bytes + z->recent.len - n, n);
    ret_back->len = n;
    return 0;
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
    rc = isal_inflate(&z->s);
    *out_len = room - z->s.avail_out;
    if (rc != ISAL_DECOMP_OK) {
        *in_len = 0;
        return PR_INFLATE_BAD;
    }
    if (z->s.block_state == ISAL_BLOCK_FINISH) {
        *in_len = end_of_stream(z, give, ret_back);
        return PR_INFLATE_END;
    }
    *in_len = give - z->s.avail_in;
    inflater_keep_recent(&z->recent, in, *in_len);
    return PR_INFLATE_MORE;
}

/* ---- deflate */

struct pr_deflater {
    struct isal_zstream s;
    uint8_t level_buf[];
};

static const struct {
    unsigned level, buf_bytes;
} levels[] = {
    {1, ISAL_DEF_LVL1_DEFAULT},
    {2, ISAL_DEF_LVL2_DEFAULT},
    {3, ISAL_DEF_LVL3_DEFAULT},
};

struct pr_deflater *pr_deflater_new(int level)
{
    unsigned i = (unsigned)(level - 1) / 3;
    struct pr_deflater *z =
        pr_alloc_aligned(64, sizeof *z + levels[i].buf_bytes);

    if (!z)
        return NULL;
    isal_deflate_init(&z->s);
    z->s.level = levels[i].level;
    z->s.level_buf = z->level_buf;
    z->s.level_buf_size = levels[i].buf_bytes;
    z->s.gzip_flag = IGZIP_DEFLATE;
    z->s.flush = NO_FLUSH;
    return z;
}

void pr_deflater_free(struct pr_deflater *z)
{
    pr_free(z);
}

void pr_deflater_start(struct pr_deflater *z)
{
    isal_deflate_reset(&z->s);
}

bool pr_deflater_step(struct pr_deflater *z, const uint8_t *in, size_t *in_len,
                      bool last, uint8_t *out, size_t *out_len)
{
    unsigned give = pr_deflate_clip(*in_len), room = pr_deflate_clip(*out_len);
    int rc;

    z->s.next_in = (uint8_t *)in;
    z->s.avail_in = give;
    z->s.next_out = out;
    z->s.avail_out = room;
    z->s.end_of_stream = last && give == *in_len;
    rc = isal_deflate(&z->s);
    assert(rc == COMP_OK);
    (void)rc;
    *in_len = give - z->s.avail_in;
    *out_len = room - z->s.avail_out;
    return z->s.internal_state.state == ZSTATE_END;
}

uint32_t pr_adler32(uint32_t sum, const void *data, size_t len)
{
    return isal_adler32(sum, data, len);
}

#endif
