/*
 * For tests of TFRecord files: records made by hand, with a checksum of our
 * own, and files that TensorFlow wrote.
 */
#ifndef TESTS_UNIT_TFRECORD_TOOL_H
#define TESTS_UNIT_TFRECORD_TOOL_H

#include "base/codec/deflate.h"

#include "files_tool.h"

/* A checksum of our own, bit by bit, so that the one tested is not judge. */
static inline uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t c = ~0u;

    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
    }
    c = ~c;
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

struct bytes {
    uint8_t data[4 << 20];
    size_t len;
};

static inline struct bytes *bytes_new(void)
{
    struct bytes *b = calloc(1, sizeof *b);

    assert_non_null(b);
    return b;
}

static inline void add(struct bytes *b, const void *data, size_t n)
{
    assert_true(n <= sizeof b->data - b->len);
    memcpy(b->data + b->len, data, n);
    b->len += n;
}

static inline void add_number(struct bytes *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++, v >>= 8)
        b->data[b->len++] = (uint8_t)v;
}

static inline void add_head(struct bytes *b, uint64_t len)
{
    add_number(b, len, 8);
    add_number(b, slow_crc(b->data + b->len - 8, 8), 4);
}

static inline void add_record(struct bytes *b, const void *payload, size_t n)
{
    add_head(b, n);
    add(b, payload, n);
    add_number(b, slow_crc(b->data + b->len - n, n), 4);
}

static inline void add_varint(struct bytes *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        b->data[b->len++] = (uint8_t)(v | 128);
    b->data[b->len++] = (uint8_t)v;
}

/* A record with an Example that has one feature `x`, of kind 1 to 3, whose
 * list is these bytes in field 1. */
static inline void add_feature(struct bytes *b, uint8_t kind, const void *data,
                               size_t n)
{
    struct bytes *sizes = bytes_new(), *e = bytes_new();
    size_t len[5] = {n};

    for (int i = 1; i < 5; i++) {
        sizes->len = 0;
        add_varint(sizes, len[i - 1]);
        len[i] = 1 + sizes->len + len[i - 1] + (i == 3 ? 3 : 0);
    }
    add(e, "\n", 1);
    add_varint(e, len[4]);
    add(e, "\n", 1);
    add_varint(e, len[3]);
    add(e, "\n\1x\x12", 4);
    add_varint(e, len[2]);
    e->data[e->len++] = (uint8_t)(kind << 3 | 2);
    add_varint(e, len[1]);
    add(e, "\n", 1);
    add_varint(e, len[0]);
    add(e, data, n);
    add_record(b, e->data, e->len);
    free(sizes);
    free(e);
}

/* ---- files of TensorFlow */

/* Written by tf.io.TFRecordWriter: abcde; nothing; xyz with label -1. */
static const char by_tensorflow[] =
    "\x25\0\0\0\0\0\0\0\xea\xbc\x36\xf3\x0a\x23\x0a\x12\x0a\x05image\x12\x09"
    "\x0a\x07\x0a\x05"
    "abcde\x0a\x0d\x0a\x04size\x12\x05\x1a\x03\x0a\x01\x05\x77\x44\xab\xb6"
    "\x20\0\0\0\0\0\0\0\x29\xed\xa9\x50\x0a\x1e\x0a\x0d\x0a\x05image\x12\x04"
    "\x0a\x02\x0a\0\x0a\x0d\x0a\x04size\x12\x05\x1a\x03\x0a\x01\0\x14\xae\x2c"
    "\x3c\x3c\0\0\0\0\0\0\0\xc8\xb7\xa3\x52\x0a\x3a\x0a\x10\x0a\x05image\x12"
    "\x07\x0a\x05\x0a\x03xyz\x0a\x17\x0a\x05label\x12\x0e\x1a\x0c\x0a\x0a\xff"
    "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x0d\x0a\x04size\x12\x05\x1a\x03"
    "\x0a\x01\x03\x7f\xde\x5d\xe5";

/* The same writer with TFRecordOptions: abcde; xyz with label -1. */
static const char by_tensorflow_gzip[] =
    "\x1f\x8b\x08\0\0\0\0\0\0\x03\x53\x65\x80\x80\x57\x7b\xcc\x3e\x73\x29\x73"
    "\x09\x71\xb1\x66\xe6\x26\xa6\xa7\x0a\x71\x72\xb1\x73\xb1\x26\x26\x25\xa7"
    "\xa4\x72\xf1\x72\xb1\x14\x67\x56\xa5\x0a\xb1\x4a\x31\x73\x31\xb2\x96\xbb"
    "\xac\xde\x66\x03\xd5\x74\x62\xfb\xe2\x20\x2e\x2b\x2e\x01\x98\x26\xa0\x16"
    "\x2e\xe6\x8a\xca\x2a\x2e\x71\x2e\xd6\x9c\xc4\xa4\xd4\x1c\x21\x3e\x29\x1e"
    "\x2e\xae\xff\x30\xc0\x88\x6a\x16\x73\xfd\xbd\xd8\xa7\0\xf6\x6e\x67\x6f"
    "\x81\0\0";
static const char by_tensorflow_zlib[] =
    "\x78\x9c\x53\x65\x80\x80\x57\x7b\xcc\x3e\x73\x29\x73\x09\x71\xb1\x66\xe6"
    "\x26\xa6\xa7\x0a\x71\x72\xb1\x73\xb1\x26\x26\x25\xa7\xa4\x72\xf1\x72\xb1"
    "\x14\x67\x56\xa5\x0a\xb1\x4a\x31\x73\x31\xb2\x96\xbb\xac\xde\x66\x03\xd5"
    "\x74\x62\xfb\xe2\x20\x2e\x2b\x2e\x01\x98\x26\xa0\x16\x2e\xe6\x8a\xca\x2a"
    "\x2e\x71\x2e\xd6\x9c\xc4\xa4\xd4\x1c\x21\x3e\x29\x1e\x2e\xae\xff\x30\xc0"
    "\x88\x6a\x16\x73\xfd\xbd\xd8\xa7\0\x8e\xbd\x22\xbd";

/* Opens and reads everything; the first error, or PR_OK. */
static inline int read_all(struct place *p, const struct pr_read_opts *opts,
                           const void *data, size_t len, struct reading *x)
{
    int rc;

    put_file(p, "f", data, len);
    assert_int_equal(reading_init(x, p, "tfrecord", opts), PR_OK);
    rc = reading_open(x, "f");
    for (uint64_t i = 0; !rc && i < x->r->samples; i++)
        rc = reading_read(x, i);
    return rc;
}

#endif
