/*
 * Chunks: where they are, their bytes, and what is in them once the filters
 * are undone.
 */
#include "format/hdf5/hdf5_chunk.h"

#include "base/mem.h"
#include "format/hdf5/hdf5_impl.h"

#include <endian.h>
#include <string.h>

/* ---- lzf */

/* A control byte below 32 is followed by that many bytes and one more. Any
 * other is a reference: its upper three bits are the length less 2 (7: a byte
 * with more follows), the rest and one byte the distance less 1. */
enum {
    RUN_MAX = 32,
    BACK_MAX = 1 << 13,
    REF_MIN = 3,
    REF_MAX = 264,
};

/* ---- lzf: decoding */

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

/* ---- lzf: encoding */

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

/* ---- filters */

enum { SUM_BYTES = 4, DEFLATE_RATIO = 1032 };

bool pr_hdf5_is_filter_known(int id)
{
    return id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE ||
           id == H5Z_FILTER_FLETCHER32 || id == PR_HDF5_LZF;
}

static uint64_t hdf5_filter_ratio(const struct pr_hdf5_set *s)
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

/* ---- filters: Fletcher-32 over big-endian 16-bit words */

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

/* ---- filters: shuffle: first all first bytes of elements, then all second
 * ones */

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

/* ---- filters: deflate */

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

/* ---- filters: all of a chunk */

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

/* Undoes the filters of a chunk: s->chunk_bytes to dst. */
static int hdf5_undo_filters(struct pr_reader *r, const struct pr_hdf5_set *s,
                             const struct pr_hdf5_place *where,
                             const uint8_t *src, uint8_t *dst,
                             struct pr_err *err)
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

/* ---- lzf for libhdf5, which does not have it */

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

uint8_t *pr_hdf5_buf_grow(struct pr_hdf5_buf *b, uint64_t bytes)
{
    uint8_t *p;

    if (bytes <= b->cap && b->data)
        return b->data;
    pr_free(b->data);
    b->cap = 0;
    p = bytes < SIZE_MAX - PR_IO_ALIGN
            ? pr_alloc_aligned(PR_IO_ALIGN, (size_t)bytes + 1)
            : NULL;
    b->data = p;
    if (p)
        b->cap = (size_t)bytes;
    return p;
}

static uint64_t hdf5_axis_chunks(const struct pr_hdf5_set *s, unsigned axis)
{
    return s->dim[axis] / s->chunk[axis] + (s->dim[axis] % s->chunk[axis] != 0);
}

/* The first element of a chunk. */
void pr_hdf5_chunk_start(const struct pr_hdf5_set *s, uint64_t index,
                         uint64_t *at)
{
    for (unsigned a = s->ndim; a-- > 0;) {
        at[a] = index % hdf5_axis_chunks(s, a) * s->chunk[a];
        index /= hdf5_axis_chunks(s, a);
    }
}

/* ---- where a chunk is */

/* libhdf5 reads the chunk, as it thinks; the driver notes where from. That is
 * one look into the index: H5Dget_chunk_info_by_coord goes through all of it,
 * and leaves the user block out of the address. */
int pr_hdf5_find_place_here(struct pr_reader *r, const struct pr_hdf5_set *s,
                            uint64_t index, struct pr_hdf5_place *ret,
                            struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    uint64_t at[PR_HDF5_AXES];
    hsize_t start[PR_HDF5_AXES], len = 0;
    uint32_t mask = 0;
    uint8_t nothing;
    herr_t rc;

    pr_hdf5_chunk_start(s, index, at);
    for (unsigned a = 0; a < s->ndim; a++)
        start[a] = at[a];
    h->io.is_learning = true;
    h->io.has_raw = false;
    rc = h->h5->H5Dread_chunk(s->id, H5P_DEFAULT, start, &mask, &nothing);
    h->io.is_learning = false;
    if (rc >= 0 && h->io.has_raw) {
        *ret =
            (struct pr_hdf5_place){h->io.raw_off, h->io.raw_len, mask, false};
        return PR_OK;
    }
    h->h5->H5Eclear2(H5E_DEFAULT);
    if (h->h5->H5Dget_chunk_info_by_coord(s->id, start, NULL, NULL, &len) < 0 ||
        len)
        return pr_hdf5_io_fail(&h->io, r->name, err, "a chunk cannot be found");
    *ret = (struct pr_hdf5_place){.is_missing = true};
    return PR_OK;
}

static int hdf5_locate_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                             uint64_t index, struct pr_hdf5_place *ret,
                             struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);

    if (!h->lay.has_places)
        return pr_hdf5_find_place(r, s, index, ret, err);
    *ret = h->lay.place[s->first_place + index];
    return PR_OK;
}

/* ---- bytes of the object */

/* *ret points to the bytes: in memory already, or in h->raw. */
static int hdf5_fetch_chunk(struct pr_reader *r, uint64_t off, uint64_t len,
                            const uint8_t **ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    uint8_t *buf;

    if (off > r->obj.size || len > r->obj.size - off)
        return pr_reader_bad(r, off, err, "a chunk ends after the file");
    if (off <= h->io.head_len && len <= h->io.head_len - off) {
        *ret = h->io.head + off;
        return PR_OK;
    }
    buf = pr_hdf5_buf_grow(&h->raw, len + PR_IO_SLACK);
    if (!buf)
        return pr_fail_nomem(err);
    return pr_object_fetch(&r->obj, off, (size_t)len, buf, h->raw.cap, ret,
                           err);
}

int pr_hdf5_read_bytes(struct pr_reader *r, uint64_t off, uint64_t len,
                       uint8_t *dst, struct pr_err *err)
{
    const struct pr_hdf5_io *io = &pr_hdf5_state(r)->io;

    if (off > r->obj.size || len > r->obj.size - off)
        return pr_reader_bad(r, off, err, "a chunk ends after the file");
    if (off <= io->head_len && len <= io->head_len - off) {
        memcpy(dst, io->head + off, (size_t)len);
        return PR_OK;
    }
    return pr_object_read(&r->obj, off, (size_t)len, dst, err);
}

/* ---- chunks */

/* The filters can make so many bytes of what is stored, before memory is
 * asked for. */
static int hdf5_check_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                            const struct pr_hdf5_place *at, struct pr_err *err)
{
    uint64_t most;

    if (at->off > r->obj.size || at->len > r->obj.size - at->off)
        return pr_reader_bad(r, at->off, err, "a chunk ends after the file");
    if (!__builtin_mul_overflow(at->len, hdf5_filter_ratio(s), &most) &&
        most < s->chunk_bytes)
        return pr_reader_bad(
            r, at->off, err, "%llu bytes cannot be a chunk of %llu",
            (unsigned long long)at->len, (unsigned long long)s->chunk_bytes);
    return pr_reader_limit(r, s->chunk_bytes, err);
}

static bool is_unfiltered(const struct pr_hdf5_set *s, uint32_t mask)
{
    uint32_t all = (uint32_t)((1u << s->filter_count) - 1);

    return (mask & all) == all;
}

static int hdf5_decode_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                             const struct pr_hdf5_place *at, uint8_t *dst,
                             struct pr_err *err)
{
    const uint8_t *raw;
    int rc;

    if (is_unfiltered(s, at->mask) && at->len == s->chunk_bytes)
        return pr_hdf5_read_bytes(r, at->off, at->len, dst, err);
    rc = hdf5_fetch_chunk(r, at->off, at->len, &raw, err);
    return rc ? rc : hdf5_undo_filters(r, s, at, raw, dst, err);
}

/* Decodes to dst, or else to memory that the stored bytes justify. */
static int hdf5_read_chunk(struct pr_reader *r, const struct pr_hdf5_set *s,
                           uint64_t index, uint8_t *dst,
                           struct pr_hdf5_buf *buf, struct pr_err *err)
{
    struct pr_hdf5_place at;
    int rc = hdf5_locate_chunk(r, s, index, &at, err);

    if (rc || at.is_missing)
        return rc ? rc : 1;
    rc = hdf5_check_chunk(r, s, &at, err);
    if (rc)
        return rc;
    if (buf)
        dst = pr_hdf5_buf_grow(buf, s->chunk_bytes);
    if (!dst)
        return pr_fail_nomem(err);
    return hdf5_decode_chunk(r, s, &at, dst, err);
}

int pr_hdf5_chunk_read(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, uint8_t *dst, struct pr_err *err)
{
    return hdf5_read_chunk(r, s, index, dst, NULL, err);
}

int pr_hdf5_chunk_load(struct pr_reader *r, const struct pr_hdf5_set *s,
                       uint64_t index, const uint8_t **ret, struct pr_err *err)
{
    struct pr_hdf5_reader *h = pr_hdf5_state(r);
    struct pr_hdf5_kept_chunk *k = &h->kept[s->slot];
    int rc;

    if (k->set == s && k->index == index) {
        *ret = k->chunk.data;
        return PR_OK;
    }
    k->set = NULL;
    rc = hdf5_read_chunk(r, s, index, NULL, &k->chunk, err);
    if (rc)
        return rc;
    k->set = s;
    k->index = index;
    *ret = k->chunk.data;
    return PR_OK;
}

int pr_hdf5_read_stored(struct pr_reader *r, const struct pr_hdf5_set *s,
                        uint64_t row, uint8_t *dst, size_t cap, size_t *ret_len,
                        struct pr_err *err)
{
    uint64_t begin = row / s->chunk[0] * s->row_chunks;
    size_t used = 0;

    for (uint64_t i = begin; i < begin + s->row_chunks; i++) {
        struct pr_hdf5_place at;
        int rc = hdf5_locate_chunk(r, s, i, &at, err);

        if (rc)
            return rc;
        if (at.is_missing)
            continue;
        if (at.len > cap - used)
            return pr_reader_bad(r, at.off, err,
                                 "a chunk is larger stored than not");
        rc = pr_hdf5_read_bytes(r, at.off, at.len, dst + used, err);
        if (rc)
            return rc;
        used += (size_t)at.len;
    }
    *ret_len = used;
    return PR_OK;
}
