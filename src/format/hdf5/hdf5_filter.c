/*
 * HDF5's filters, undone: deflate, shuffle, Fletcher-32 and lzf; and lzf for
 * libhdf5 itself, which does not have it.
 */
#include "format/hdf5/hdf5_impl.h"
#include "format/hdf5/lzf.h"

#include <endian.h>
#include <string.h>

enum { SUM_BYTES = 4, DEFLATE_RATIO = 1032 };

bool pr_hdf5_is_filter_known(int id)
{
    return id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE ||
           id == H5Z_FILTER_FLETCHER32 || id == PR_HDF5_LZF;
}

uint64_t pr_hdf5_filter_ratio(const struct pr_hdf5_set *s)
{
    uint64_t ratio = 1;

    for (unsigned i = 0; i < s->filter_count; i++) {
        if (s->filter[i] == H5Z_FILTER_DEFLATE)
            ratio *= DEFLATE_RATIO;
        else if (s->filter[i] == PR_HDF5_LZF)
            ratio *= PR_LZF_RATIO;
        if (ratio > 1u << 20)
            return 1u << 20;
    }
    return ratio;
}

/* ---- Fletcher-32 over big-endian 16-bit words */

static uint32_t hdf5_fletcher32(const uint8_t *p, size_t bytes)
{
    uint32_t a = 0, b = 0;
    size_t words = bytes / 2;

    while (words) {
        size_t n = words < 360 ? words : 360; /* no overflow in so many */

        words -= n;
        for (; n; n--, p += 2) {
            a += (uint32_t)p[0] << 8 | p[1];
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    if (bytes % 2) {
        a += (uint32_t)p[0] << 8;
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

static bool is_sum(const uint8_t *p, size_t bytes)
{
    uint32_t sum = hdf5_fletcher32(p, bytes), have, swapped;

    memcpy(&have, p + bytes, sizeof have);
    have = le32toh(have);
    /* HDF5 before 1.6.3 stored the bytes of each half the other way. */
    swapped = (sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu);
    return have == sum || have == swapped;
}

/* ---- shuffle: first all first bytes of elements, then all second ones */

static void hdf5_unshuffle_2(const uint8_t *restrict in, size_t n,
                             uint8_t *restrict out)
{
    const uint8_t *b = in + n;

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = in[i];
        out[2 * i + 1] = b[i];
    }
}

static void hdf5_unshuffle_4(const uint8_t *restrict in, size_t n,
                             uint8_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            out[4 * i + k] = in[k * n + i];
}

static void hdf5_unshuffle_8(const uint8_t *restrict in, size_t n,
                             uint8_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 8; k++)
            out[8 * i + k] = in[k * n + i];
}

static void hdf5_unshuffle(const uint8_t *in, size_t bytes, size_t element,
                           uint8_t *out)
{
    size_t n = element > 1 ? bytes / element : 0;

    if (element == 2)
        hdf5_unshuffle_2(in, n, out);
    else if (element == 4)
        hdf5_unshuffle_4(in, n, out);
    else if (element == 8)
        hdf5_unshuffle_8(in, n, out);
    else
        for (size_t k = 0; n && k < element; k++)
            for (size_t i = 0; i < n; i++)
                out[i * element + k] = in[k * n + i];
    /* What is left over was not shuffled. */
    memcpy(out + n * element, in + n * element, bytes - n * element);
}

/* ---- deflate */

/* Exactly out_len bytes, and the end of the stream. */
static bool hdf5_inflate(struct pr_inflate *z, const uint8_t *in, size_t in_len,
                         uint8_t *out, size_t out_len)
{
    uint8_t extra;
    size_t done = 0;

    pr_inflate_start(z, PR_WRAP_ZLIB);
    for (;;) {
        bool at_end = done == out_len;
        size_t n = at_end ? 1 : out_len - done, left = in_len;
        enum pr_inflate_end end =
            pr_inflate_run(z, &in, &in_len, at_end ? &extra : out + done, &n);

        if (end == PR_INFLATE_BAD || (at_end && n))
            return false;
        done += n;
        if (end == PR_INFLATE_END)
            return done == out_len;
        if (!n && in_len == left)
            return false;
    }
}

/* ---- all of a chunk */

struct stage {
    struct pr_reader *r;
    const struct pr_hdf5_set *set;
    const struct pr_hdf5_place *place;
    const uint8_t *cur;
    size_t len;
    unsigned turn; /* which buffer is not in use */
    uint8_t *dst;
};

/* What the bytes come to when filter i has been undone: the sums of filters
 * before it are still there. */
static uint64_t len_after(const struct stage *g, unsigned i)
{
    uint64_t len = g->set->chunk_bytes;

    while (i-- > 0)
        if (g->set->filter[i] == H5Z_FILTER_FLETCHER32 &&
            !(g->place->mask >> i & 1))
            len += SUM_BYTES;
    return len;
}

/* Whether filter i is the last to move bytes; its output goes to the end. */
static bool is_last_move(const struct stage *g, unsigned i)
{
    if (len_after(g, i) != g->set->chunk_bytes)
        return false;
    while (i-- > 0)
        if (!(g->place->mask >> i & 1))
            return false;
    return true;
}

static int hdf5_fail_filter(const struct stage *g, struct pr_err *err,
                            const char *what)
{
    return pr_reader_bad(g->r, g->place->off, err, "%s", what);
}

static int hdf5_check_fletcher32(struct stage *g, struct pr_err *err)
{
    if (g->len < SUM_BYTES)
        return hdf5_fail_filter(g, err, "a chunk is shorter than its checksum");
    g->len -= SUM_BYTES;
    if (!g->r->opts.skip_checksum && !is_sum(g->cur, g->len))
        return hdf5_fail_filter(g, err,
                                "the Fletcher-32 checksum of a chunk is wrong");
    return PR_OK;
}

static int need_inflate(struct pr_hdf5_reader *h, struct pr_err *err)
{
    if (!h->inflate)
        h->inflate = pr_inflate_new();
    return h->inflate ? PR_OK : pr_fail_nomem(err);
}

static int hdf5_undo_moving(struct stage *g, unsigned i, uint8_t *out,
                            size_t out_len, struct pr_err *err)
{
    struct pr_hdf5_reader *h = g->r->data;
    int rc;

    switch (g->set->filter[i]) {
    case H5Z_FILTER_DEFLATE:
        rc = need_inflate(h, err);
        if (rc)
            return rc;
        if (!hdf5_inflate(h->inflate, g->cur, g->len, out, out_len))
            return hdf5_fail_filter(g, err,
                                    "a chunk is not what deflate makes of it");
        return PR_OK;
    case PR_HDF5_LZF:
        if (!pr_lzf_decode(g->cur, g->len, out, out_len))
            return hdf5_fail_filter(g, err,
                                    "a chunk is not what lzf makes of it");
        return PR_OK;
    default: /* shuffle */
        if (g->len != out_len)
            return hdf5_fail_filter(g, err, "a chunk has the wrong length");
        hdf5_unshuffle(g->cur, out_len, g->set->shuffle_bytes, out);
        return PR_OK;
    }
}

static int hdf5_undo_filter(struct stage *g, unsigned i, struct pr_err *err)
{
    struct pr_hdf5_reader *h = g->r->data;
    uint64_t len = len_after(g, i);
    uint8_t *out = g->dst;
    int rc;

    if (g->set->filter[i] == H5Z_FILTER_FLETCHER32)
        return hdf5_check_fletcher32(g, err);
    if (!is_last_move(g, i))
        out = pr_hdf5_buf_grow(&h->tmp[g->turn], len);
    if (!out)
        return pr_fail_nomem(err);
    rc = hdf5_undo_moving(g, i, out, (size_t)len, err);
    if (rc)
        return rc;
    g->turn ^= 1;
    g->cur = out;
    g->len = (size_t)len;
    return PR_OK;
}

int pr_hdf5_undo_filters(struct pr_reader *r, const struct pr_hdf5_set *s,
                         const struct pr_hdf5_place *where, const uint8_t *src,
                         uint8_t *dst, struct pr_err *err)
{
    struct stage g = {.r = r,
                      .set = s,
                      .place = where,
                      .cur = src,
                      .len = (size_t)where->len,
                      .dst = dst};

    for (unsigned i = s->filter_count; i-- > 0;) {
        int rc = where->mask >> i & 1 ? PR_OK : hdf5_undo_filter(&g, i, err);
        if (rc)
            return rc;
    }
    if (g.len != s->chunk_bytes)
        return hdf5_fail_filter(&g, err, "a chunk has the wrong length");
    if (g.cur != dst)
        memcpy(dst, g.cur, g.len);
    return PR_OK;
}

/* ---- lzf for libhdf5 */

/* Only decodes: chunks of ours are encoded before libhdf5 gets them. */
static size_t lzf_filter(unsigned flags, size_t count, const unsigned *values,
                         size_t bytes, size_t *cap, void **buf)
{
    const struct pr_hdf5_api *h5;
    size_t len = count > 2 ? values[2] : 0;
    uint8_t *out;

    if (!(flags & H5Z_FLAG_REVERSE) || !len || len / PR_LZF_RATIO > bytes ||
        pr_hdf5_library_load(&h5, NULL))
        return 0;
    out = h5->H5allocate_memory(len, 0);
    if (!out)
        return 0;
    if (!pr_lzf_decode(*buf, bytes, out, len)) {
        h5->H5free_memory(out);
        return 0;
    }
    h5->H5free_memory(*buf);
    *buf = out;
    *cap = len;
    return len;
}

int pr_hdf5_register_lzf(const struct pr_hdf5_api *h5)
{
    static const H5Z_class2_t lzf = {
        .version = H5Z_CLASS_T_VERS,
        .id = PR_HDF5_LZF,
        .encoder_present = 1,
        .decoder_present = 1,
        .name = "lzf",
        .filter = lzf_filter,
    };

    return h5->H5Zregister(&lzf) < 0 ? -1 : 0;
}
