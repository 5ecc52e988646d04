/*
 * LZF. A control byte below 32 is followed by that many bytes and one more.
 * Any other is a reference: its upper three bits are the length less 2 (7: a
 * byte with more follows), the rest and one byte the distance less 1.
 */
#include "format/hdf5/lzf.h"

#include <string.h>

enum {
    RUN_MAX = 32,
    BACK_MAX = 1 << 13,
    REF_MIN = 3,
    REF_MAX = 264,
};

/* ---- decoding */

/* Source and target overlap where a reference repeats itself. */
static void copy_back(uint8_t *out, size_t back, size_t len)
{
    const uint8_t *from = out - back;

    if (back >= len) {
        memcpy(out, from, len);
        return;
    }
    while (len--)
        *out++ = *from++;
}

bool pr_lzf_decode(const uint8_t *in, size_t in_len, uint8_t *out,
                   size_t out_len)
{
    size_t i = 0, o = 0;

    while (i < in_len) {
        size_t c = in[i++];
        size_t len, back;

        if (c < RUN_MAX) {
            len = c + 1;
            if (len > in_len - i || len > out_len - o)
                return false;
            memcpy(out + o, in + i, len);
            i += len;
            o += len;
            continue;
        }
        len = c >> 5;
        if (len == 7) {
            if (i == in_len)
                return false;
            len += in[i++];
        }
        len += 2;
        if (i == in_len)
            return false;
        back = ((c & 31) << 8) + in[i++] + 1;
        if (back > o || len > out_len - o)
            return false;
        copy_back(out + o, back, len);
        o += len;
    }
    return o == out_len;
}

/* ---- encoding */

struct sink {
    uint8_t *out;
    size_t len, cap;
    bool full;
};

static void lzf_put_byte(struct sink *s, size_t byte)
{
    if (s->len == s->cap)
        s->full = true;
    else
        s->out[s->len++] = (uint8_t)byte;
}

static void lzf_put_literals(struct sink *s, const uint8_t *p, size_t len)
{
    while (len && !s->full) {
        size_t n = len < RUN_MAX ? len : RUN_MAX;

        if (n + 1 > s->cap - s->len) {
            s->full = true;
            return;
        }
        lzf_put_byte(s, n - 1);
        memcpy(s->out + s->len, p, n);
        s->len += n;
        p += n;
        len -= n;
    }
}

static void put_ref(struct sink *s, size_t back, size_t len)
{
    size_t more = len - 2;

    back--;
    if (more < 7) {
        lzf_put_byte(s, more << 5 | back >> 8);
    } else {
        lzf_put_byte(s, 7u << 5 | back >> 8);
        lzf_put_byte(s, more - 7);
    }
    lzf_put_byte(s, back & 255);
}

static uint32_t lzf_hash(const uint8_t *p)
{
    uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

    return v * 2654435761u >> (32 - 14);
}

/* How far back the three bytes at i were seen, 0: not near enough. The slot
 * may hold anything, so what it says is looked at before it is believed. */
static size_t seen_back(struct pr_lzf *z, const uint8_t *in, size_t i)
{
    uint32_t *slot = &z->seen[lzf_hash(in + i)];
    size_t at = *slot;

    *slot = (uint32_t)i;
    if (at >= i || i - at > BACK_MAX || memcmp(in + at, in + i, REF_MIN) != 0)
        return 0;
    return i - at;
}

static size_t match_len(const uint8_t *in, size_t i, size_t back, size_t max)
{
    size_t len = REF_MIN;

    while (len < max && in[i + len] == in[i + len - back])
        len++;
    return len;
}

size_t pr_lzf_encode(struct pr_lzf *z, const uint8_t *in, size_t in_len,
                     uint8_t *out, size_t out_cap)
{
    struct sink s = {.out = out, .cap = out_cap};
    size_t run = 0; /* start of the bytes not yet put */
    size_t i = 0;

    memset(z->seen, 0, sizeof z->seen); /* the same bytes every time */
    while (in_len - i >= REF_MIN && !s.full) {
        size_t back = seen_back(z, in, i);
        size_t left = in_len - i, len;

        if (!back) {
            i++;
            continue;
        }
        len = match_len(in, i, back, left < REF_MAX ? left : REF_MAX);
        lzf_put_literals(&s, in + run, i - run);
        put_ref(&s, back, len);
        i += len;
        run = i;
    }
    lzf_put_literals(&s, in + run, in_len - run);
    return s.full ? 0 : s.len;
}
