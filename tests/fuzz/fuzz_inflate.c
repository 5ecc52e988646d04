/*
 * Streams of deflate: in pieces they give what they give as a whole, and what
 * was deflated comes back. The last two bytes say how.
 */
#include "base/codec/deflate.h"

#include <stdlib.h>
#include <string.h>

enum { MAX = 64 << 10, LEVELS = 9 };

/* States go from stream to stream, so that one input may disturb the next. */
static struct pr_inflate *inflate;
static struct pr_deflate *deflate[LEVELS];
static uint8_t whole[MAX], pieces[MAX], packed[2 * MAX];

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* All that comes out, up to MAX bytes, with so much in and out at a time. */
static enum pr_inflate_end run(enum pr_wrap wrap, const uint8_t *in, size_t len,
                               size_t in_step, size_t out_step, uint8_t *out,
                               size_t *ret_len)
{
    size_t put = 0, have = 0;
    enum pr_inflate_end end;

    pr_inflate_start(inflate, wrap);
    for (;;) {
        size_t room = MAX - put < out_step ? MAX - put : out_step, n = room;
        const uint8_t *was = in;
        size_t had;

        if (!have) {
            have = len < in_step ? len : in_step;
            len -= have;
        }
        had = have;
        end = pr_inflate_run(inflate, &in, &have, out + put, &n);
        must(n <= room && have <= had && in == was + (had - have));
        put += n;
        *ret_len = put;
        if (end == PR_INFLATE_BAD || put == MAX)
            return end;
        if (end == PR_INFLATE_END && (have || !len))
            return end;
        if (end == PR_INFLATE_MORE && n < room && !have && !len)
            return end;
    }
}

static void both_ways(enum pr_wrap wrap, unsigned level, const uint8_t *data,
                      size_t bytes)
{
    size_t n = (size_t)pr_deflate_bound(bytes), left = bytes, got;
    const uint8_t *in = data;

    if (!deflate[level])
        deflate[level] = pr_deflate_new((int)level + 1);
    must(deflate[level] && n <= sizeof packed);
    pr_deflate_start(deflate[level], wrap);
    must(pr_deflate_run(deflate[level], &in, &left, true, packed, &n) && !left);
    must(run(wrap, packed, n, 7, 100, whole, &got) == PR_INFLATE_END);
    must(got == bytes && memcmp(data, whole, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    unsigned how = bytes ? data[--bytes] : 0, step = bytes ? data[--bytes] : 0;
    enum pr_wrap wrap = (enum pr_wrap)(how % 3);
    enum pr_inflate_end a, b;
    size_t n, m;

    if (bytes > MAX / 2)
        return 0;
    if (!inflate)
        inflate = pr_inflate_new();
    must(inflate != NULL);
    a = run(wrap, data, bytes, bytes + 1, MAX, whole, &n);
    b = run(wrap, data, bytes, step % 16 + 1, step / 16 * 37 + 1, pieces, &m);
    must(n == MAX || m == MAX || a == b);
    if (a == PR_INFLATE_END && b == PR_INFLATE_END)
        must(n == m && memcmp(whole, pieces, n) == 0);
    both_ways(wrap, how / 3 % LEVELS, data, bytes);
    return 0;
}
