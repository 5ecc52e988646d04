/*
 * Deflate, alone or wrapped as zlib or gzip, as streams of constant memory.
 * One state is used for any number of streams, without allocating again.
 */
#ifndef PR_BASE_DEFLATE_H
#define PR_BASE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pr_wrap { PR_WRAP_NONE, PR_WRAP_ZLIB, PR_WRAP_GZIP };

/* ---- inflate */

struct pr_inflate;

struct pr_inflate *pr_inflate_new(void);    /* NULL when out of memory */
void pr_inflate_free(struct pr_inflate *z); /* NULL is fine */

/* A new stream, also when the last one was not finished. */
void pr_inflate_start(struct pr_inflate *z, enum pr_wrap wrap);

enum pr_inflate_end {
    PR_INFLATE_BAD = -1, /* not deflate, or its checksum is wrong */
    PR_INFLATE_MORE,     /* wants input or room */
    PR_INFLATE_END,      /* the stream has ended */
};

/* Takes from *in, puts at out; *in, *in_len, *out_len become what was not
 * taken, and what was put.
 * MORE: all input was taken, or all room used. With room left it wants input,
 * and the stream is cut short if there is none. When the room was just enough
 * the end may show only at the next call, which needs room for a byte.
 * gzip: members one after another are one stream, and zeros between and after
 * them are nothing. END comes wherever a member ends with the input; if there
 * is more input after all, run again with it.
 * Otherwise what follows the stream is left, but for up to eight bytes of it
 * that may have been taken by a call before the one that finds the end. */
enum pr_inflate_end pr_inflate_run(struct pr_inflate *z, const uint8_t **in,
                                   size_t *in_len, uint8_t *out,
                                   size_t *out_len);

/* ---- deflate */

struct pr_deflate;

struct pr_deflate *pr_deflate_new(int level); /* 1 to 9; NULL: no memory */
void pr_deflate_free(struct pr_deflate *z);   /* NULL is fine */
void pr_deflate_start(struct pr_deflate *z, enum pr_wrap wrap);

/* Takes from *in, puts at out; as above. last: there is no more input after
 * this. True when last was given and all is out; false: call again, with new
 * room if it was all used, with more input if that was all taken. */
bool pr_deflate_run(struct pr_deflate *z, const uint8_t **in, size_t *in_len,
                    bool last, uint8_t *out, size_t *out_len);

/* An upper limit of what len bytes become, wrapped or not. */
uint64_t pr_deflate_bound(uint64_t len);

/* ---- the library
 * What is wanted of one: bare deflate, one stream at a time. The wrapping is
 * ours: isa-l's reads headers that come in pieces wrongly (2.30), and zlib's
 * cannot be changed without allocating. Only one of deflate_isal.c and
 * deflate_zlib.c has code. */

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
