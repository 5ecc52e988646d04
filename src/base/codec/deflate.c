/*
 * Streams of deflate, read and written: the wrapping of zlib and gzip, its
 * checksums, and gzip's members. The library does what is in between.
 */
#include "base/codec/deflate.h"

#include "base/codec/checksum.h"
#include "base/mem.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* ---- inflate: states */

struct pr_inflate {
    enum pr_wrap wrap;
    enum {
        HEAD_FIXED, /* zlib's and gzip's; the others are gzip's */
        HEAD_EXTRA_LEN,
        HEAD_EXTRA,
        HEAD_NAME,
        HEAD_COMMENT,
        HEAD_SUM,
        IN_BODY,
        IN_TAIL,
        BETWEEN, /* a member ended; another may follow */
        ENDED,
        BROKEN,
    } state;
    struct pr_inflater *z;
    uint32_t sum;     /* of what was put in this member */
    uint32_t put;     /* its bytes */
    uint8_t flags;    /* gzip's header: what it has */
    uint8_t edge[10]; /* fixed parts of header and trailer as they come in */
    unsigned edge_len;
    unsigned extra_len;
    uint32_t head_sum;
};

struct pr_inflate *pr_inflate_new(void)
{
    struct pr_inflate *z = pr_alloc_zeroed(sizeof *z);

    if (!z)
        return NULL;
    z->z = pr_inflater_new();
    if (!z->z) {
        pr_free(z);
        return NULL;
    }
    pr_inflate_start(z, PR_WRAP_NONE);
    return z;
}

void pr_inflate_free(struct pr_inflate *z)
{
    if (!z)
        return;
    pr_inflater_free(z->z);
    pr_free(z);
}

void pr_inflate_start(struct pr_inflate *z, enum pr_wrap wrap)
{
    pr_inflater_start(z->z);
    z->wrap = wrap;
    z->sum = wrap == PR_WRAP_ZLIB;
    z->put = 0;
    z->edge_len = 0;
    z->head_sum = 0;
    z->state = wrap == PR_WRAP_NONE ? IN_BODY : HEAD_FIXED;
}

/* ---- inflate: header */

/* Of gzip's header. */
enum { HAS_SUM = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };

/* From one part of gzip's header to the next that is there. */
static void next_part(struct pr_inflate *z)
{
    static const struct {
        unsigned state, flag;
    } parts[] = {
        {HEAD_EXTRA_LEN, HAS_EXTRA},
        {HEAD_NAME, HAS_NAME},
        {HEAD_COMMENT, HAS_COMMENT},
        {HEAD_SUM, HAS_SUM},
    };

    z->edge_len = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (z->state < parts[i].state && z->flags & parts[i].flag) {
            z->state = parts[i].state;
            return;
        }
    z->state = IN_BODY;
}

static void end_gzip_fixed(struct pr_inflate *z)
{
    const uint8_t *h = z->edge;

    if (h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 || h[3] & 0xe0) {
        z->state = BROKEN;
        return;
    }
    z->flags = h[3];
    next_part(z);
}

static void end_zlib_fixed(struct pr_inflate *z)
{
    unsigned h = (unsigned)z->edge[0] << 8 | z->edge[1];

    /* method, window, check bits; no dictionary */
    if ((h >> 8 & 15) != 8 || h >> 12 > 7 || h % 31 || h & 0x20)
        z->state = BROKEN;
    else
        z->state = IN_BODY;
    z->edge_len = 0;
}

/* Parts of a known length. */
static void fixed_byte(struct pr_inflate *z, uint8_t c)
{
    z->edge[z->edge_len++] = c;
    if (z->state == HEAD_FIXED) {
        if (z->wrap == PR_WRAP_ZLIB && z->edge_len == 2)
            end_zlib_fixed(z);
        else if (z->edge_len == 10)
            end_gzip_fixed(z);
        return;
    }
    if (z->edge_len < 2)
        return;
    unsigned v = z->edge[0] | (unsigned)z->edge[1] << 8;
    if (z->state == HEAD_SUM) {
        if (v != (z->head_sum & 0xffff))
            z->state = BROKEN;
        else
            next_part(z);
    } else {
        z->extra_len = v;
        z->state = HEAD_EXTRA;
        if (!v)
            next_part(z);
    }
}

static void head_byte(struct pr_inflate *z, uint8_t c)
{
    if (z->state != HEAD_SUM)
        z->head_sum = pr_crc32(z->head_sum, &c, 1);
    if (z->state == HEAD_EXTRA) {
        if (--z->extra_len == 0)
            next_part(z);
    } else if (z->state == HEAD_NAME || z->state == HEAD_COMMENT) {
        if (!c)
            next_part(z);
    } else {
        fixed_byte(z, c);
    }
}

/* ---- inflate: trailer */

static bool tail_is_right(const struct pr_inflate *z)
{
    uint32_t v[2];

    memcpy(v, z->edge, sizeof v);
    if (z->wrap == PR_WRAP_ZLIB)
        return be32toh(v[0]) == z->sum;
    return le32toh(v[0]) == z->sum && le32toh(v[1]) == z->put;
}

static void tail_byte(struct pr_inflate *z, uint8_t c)
{
    z->edge[z->edge_len++] = c;
    if (z->edge_len < (z->wrap == PR_WRAP_ZLIB ? 4 : 8))
        return;
    if (!tail_is_right(z))
        z->state = BROKEN;
    else
        z->state = z->wrap == PR_WRAP_GZIP ? BETWEEN : ENDED;
}

/* The wrapping: takes at least a byte of in, which has some. */
static size_t wrap_bytes(struct pr_inflate *z, const uint8_t *in, size_t len)
{
    size_t i = 0;

    while (i < len && z->state != IN_BODY && z->state < ENDED) {
        if (z->state == IN_TAIL) {
            tail_byte(z, in[i++]);
        } else if (z->state == BETWEEN) {
            if (in[i])
                pr_inflate_start(z, PR_WRAP_GZIP);
            else
                i++;
        } else {
            head_byte(z, in[i++]);
        }
    }
    return i;
}

/* ---- inflate: body */

static void end_body(struct pr_inflate *z, const struct pr_inflate_back *back)
{
    if (z->wrap == PR_WRAP_NONE) {
        z->state = ENDED;
        return;
    }
    z->state = IN_TAIL;
    z->edge_len = 0;
    for (unsigned i = 0; i < back->len && z->state == IN_TAIL; i++)
        tail_byte(z, back->bytes[i]);
}

/* One call of the library; whether more can come of these bytes and room. */
static bool body_bytes(struct pr_inflate *z, const uint8_t **in, size_t *in_len,
                       uint8_t *out, size_t *out_len)
{
    size_t took = *in_len, room = pr_deflate_clip(*out_len);
    struct pr_inflate_back back;
    enum pr_inflate_end end =
        pr_inflater_step(z->z, *in, &took, out, out_len, &back);

    *in += took;
    *in_len -= took;
    z->put += (uint32_t)*out_len;
    if (z->wrap == PR_WRAP_GZIP)
        z->sum = pr_crc32(z->sum, out, *out_len);
    else if (z->wrap == PR_WRAP_ZLIB)
        z->sum = pr_adler32(z->sum, out, *out_len);
    if (end == PR_INFLATE_BAD)
        z->state = BROKEN;
    else if (end == PR_INFLATE_END)
        end_body(z, &back);
    return end || *out_len == room || (took && *in_len);
}

static enum pr_inflate_end end_of(const struct pr_inflate *z)
{
    if (z->state == BROKEN)
        return PR_INFLATE_BAD;
    return z->state == BETWEEN || z->state == ENDED ? PR_INFLATE_END
                                                    : PR_INFLATE_MORE;
}

enum pr_inflate_end pr_inflate_run(struct pr_inflate *z, const uint8_t **in,
                                   size_t *in_len, uint8_t *out,
                                   size_t *out_len)
{
    uint8_t nothing[1] = {0};
    const uint8_t *p = *in_len ? *in : nothing;
    size_t room = *out_len, put = 0, taken;
    bool go_on = true;

    if (!room)
        out = nothing;
    while (go_on && z->state < ENDED) {
        size_t n = room - put;

        if (z->state == IN_BODY) {
            go_on = body_bytes(z, &p, in_len, out + put, &n);
            put += n;
            go_on = go_on && (z->state != IN_BODY || put < room);
        } else {
            taken = wrap_bytes(z, p, *in_len);
            p += taken;
            *in_len -= taken;
            go_on = *in_len > 0 || z->state == IN_BODY;
        }
    }
    if (p != nothing)
        *in = p;
    *out_len = put;
    return end_of(z);
}

/* ---- deflate */

struct pr_deflate {
    struct pr_deflater *z;
    enum pr_wrap wrap;
    enum { HEAD, BODY, TAIL, DONE } state;
    uint32_t sum, taken; /* of the input */
    uint8_t edge[10];    /* header or trailer on its way out */
    unsigned edge_pos, edge_len;
};

struct pr_deflate *pr_deflate_new(int level)
{
    struct pr_deflate *z;

    assert(level >= 1 && level <= 9);
    z = pr_alloc_zeroed(sizeof *z);
    if (!z)
        return NULL;
    z->z = pr_deflater_new(level);
    if (!z->z) {
        pr_free(z);
        return NULL;
    }
    pr_deflate_start(z, PR_WRAP_NONE);
    return z;
}

void pr_deflate_free(struct pr_deflate *z)
{
    if (!z)
        return;
    pr_deflater_free(z->z);
    pr_free(z);
}

static void set_edge(struct pr_deflate *z, const void *data, unsigned len)
{
    memcpy(z->edge, data, len);
    z->edge_pos = 0;
    z->edge_len = len;
}

void pr_deflate_start(struct pr_deflate *z, enum pr_wrap wrap)
{
    /* No name, no time, so that the same input gives the same bytes. */
    static const uint8_t gzip[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    static const uint8_t zlib[2] = {0x78, 0x9c};

    pr_deflater_start(z->z);
    z->wrap = wrap;
    z->state = HEAD;
    z->sum = wrap == PR_WRAP_ZLIB;
    z->taken = 0;
    if (wrap == PR_WRAP_GZIP)
        set_edge(z, gzip, sizeof gzip);
    else
        set_edge(z, zlib, wrap == PR_WRAP_ZLIB ? sizeof zlib : 0);
}

static void set_tail(struct pr_deflate *z)
{
    uint32_t gzip[2] = {htole32(z->sum), htole32(z->taken)};
    uint32_t zlib = htobe32(z->sum);

    if (z->wrap == PR_WRAP_GZIP)
        set_edge(z, gzip, sizeof gzip);
    else
        set_edge(z, &zlib, z->wrap == PR_WRAP_ZLIB ? sizeof zlib : 0);
}

/* The number of bytes put at out. */
static size_t put_edge(struct pr_deflate *z, uint8_t *out, size_t room)
{
    size_t n = z->edge_len - z->edge_pos;

    if (n > room)
        n = room;
    memcpy(out, z->edge + z->edge_pos, n);
    z->edge_pos += (unsigned)n;
    if (z->edge_pos == z->edge_len)
        z->state++;
    return n;
}

/* One call of the library; whether more can come of these bytes and room. */
static bool put_body(struct pr_deflate *z, const uint8_t **in, size_t *in_len,
                     bool last, uint8_t *out, size_t *out_len)
{
    size_t took = *in_len;
    bool done = pr_deflater_step(z->z, *in, &took, last, out, out_len);

    z->taken += (uint32_t)took;
    if (z->wrap == PR_WRAP_GZIP)
        z->sum = pr_crc32(z->sum, *in, took);
    else if (z->wrap == PR_WRAP_ZLIB)
        z->sum = pr_adler32(z->sum, *in, took);
    *in += took;
    *in_len -= took;
    if (done) {
        z->state = TAIL;
        set_tail(z);
    }
    return done || took || *out_len;
}

bool pr_deflate_run(struct pr_deflate *z, const uint8_t **in, size_t *in_len,
                    bool last, uint8_t *out, size_t *out_len)
{
    uint8_t nothing[1] = {0};
    const uint8_t *p = *in_len ? *in : nothing;
    size_t room = *out_len, put = 0;
    bool go_on = true;

    if (!room)
        out = nothing;
    while (go_on && z->state != DONE) {
        size_t n = room - put;

        if (z->state == BODY)
            go_on = put_body(z, &p, in_len, last, out + put, &n);
        else
            n = put_edge(z, out + put, n);
        put += n;
        go_on = go_on && (put < room || z->state == DONE);
    }
    if (p != nothing)
        *in = p;
    *out_len = put;
    return z->state == DONE;
}

/* Noise costs the libraries a little over eight bits a byte; a sixteenth is
 * far more than either was seen to add. The rest is for wrapping and tables. */
uint64_t pr_deflate_bound(uint64_t len)
{
    return len + len / 16 + 1024;
}
