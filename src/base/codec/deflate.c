/*
 * Writing streams of deflate: the wrapping of zlib and gzip and its checksums.
 * The library does what is in between.
 */
#include "base/codec/deflate.h"

#include "base/codec/checksum.h"
#include "base/codec/deflate_impl.h"
#include "base/mem.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

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
