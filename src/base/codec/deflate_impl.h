/*
 * What inflate.c and deflate.c want of a library: bare deflate, one stream at
 * a time. The wrapping is ours: isa-l's reads headers that come in pieces
 * wrongly (2.30), and zlib's cannot be changed without allocating. Only one of
 * deflate_isal.c and deflate_zlib.c has code.
 */
#ifndef PR_BASE_DEFLATE_IMPL_H
#define PR_BASE_DEFLATE_IMPL_H

#include "base/codec/deflate.h"

struct pr_inflater;

struct pr_inflater *pr_inflater_new(void); /* NULL when out of memory */
void pr_inflater_free(struct pr_inflater *z);
void pr_inflater_start(struct pr_inflater *z);

/* Bytes of earlier calls that turn out to lie behind the end of the stream. */
struct pr_inflate_back {
    unsigned len;
    uint8_t bytes[8];
};

/* One call of the library. The lengths become what was taken and put. */
enum pr_inflate_end pr_inflater_step(struct pr_inflater *z, const uint8_t *in,
                                     size_t *in_len, uint8_t *out,
                                     size_t *out_len,
                                     struct pr_inflate_back *ret_back);

struct pr_deflater;

struct pr_deflater *pr_deflater_new(int level);
void pr_deflater_free(struct pr_deflater *z);
void pr_deflater_start(struct pr_deflater *z);

/* The same; true when last was given and all is out. */
bool pr_deflater_step(struct pr_deflater *z, const uint8_t *in, size_t *in_len,
                      bool last, uint8_t *out, size_t *out_len);

/* Goes on from sum, 1 at the start. */
uint32_t pr_adler32(uint32_t sum, const void *data, size_t len);

/* The libraries count in 32 bits. */
static inline unsigned pr_deflate_clip(size_t n)
{
    const size_t most = (size_t)1 << 30;

    return (unsigned)(n < most ? n : most);
}

#endif
