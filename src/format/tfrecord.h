/*
 * TFRecord files: records one after another, each
 *   u64 length, u32 masked CRC-32C of it, payload, u32 masked CRC-32C of that
 * in little-endian order, the payload a tf.train.Example; or all of that
 * compressed as one gzip or zlib stream, whose reader is in tfrecord_gzip.c.
 */
#ifndef PR_FORMAT_TFRECORD_H
#define PR_FORMAT_TFRECORD_H

#include "base/codec/deflate.h"
#include "format/content.h"
#include "format/format.h"

enum {
    PR_TFRECORD_HEAD = 12,
    PR_TFRECORD_FOOT = 4,
    PR_TFRECORD_FRAME = PR_TFRECORD_HEAD + PR_TFRECORD_FOOT,
    /* Checksums follow reads in pieces that stay in the cache. */
    PR_TFRECORD_PIECE = 256 << 10,
};

/* A checksum as it is stored. */
uint32_t pr_tfrecord_mask(uint32_t crc);
uint32_t pr_tfrecord_load32(const uint8_t *p);

/* The length in the head of a record; false when its checksum is wrong. */
bool pr_tfrecord_read_length(const uint8_t *head, uint64_t *ret);

/* ---- reading */

/* Offsets of records, found by walking from one to the next. Every stride-th
 * is kept, and the stride grows with the file, so that a million bytes do. */
struct pr_tfrecord_offsets {
    uint64_t *at; /* of records 0, stride, 2 * stride, … */
    size_t len, cap;
    uint64_t stride;
};

enum { PR_TFRECORD_OFFSETS_MAX = (1 << 20) / sizeof(uint64_t) };

void pr_tfrecord_offsets_clear(struct pr_tfrecord_offsets *o);
void pr_tfrecord_offsets_done(struct pr_tfrecord_offsets *o);

/* Record number i is at off. Those before it were told, in order. */
int pr_tfrecord_offsets_add(struct pr_tfrecord_offsets *o, uint64_t i,
                            uint64_t off, struct pr_err *err) PR_MUST_CHECK;

/* The last record known that is not after i; *ret_off is its offset. */
uint64_t pr_tfrecord_offsets_near(const struct pr_tfrecord_offsets *o,
                                  uint64_t i, uint64_t *ret_off);

/* Records of a plain file. */
struct pr_tfrecord_plain {
    const uint8_t *win; /* bytes [win_off, win_off + win_len) of the file */
    uint64_t win_off;
    size_t win_len;
    uint64_t at, off; /* a record's number and offset: the cursor */
    bool has_len;
    uint64_t len;    /* of its payload */
    uint64_t before; /* bytes of the record before it */
    uint64_t next;   /* what comes after the one read last */
    uint64_t most;   /* bytes of the largest record seen */
    struct pr_tfrecord_offsets offsets;
};

/* Records of a compressed file. Offsets are those of the inflated bytes. */
struct pr_tfrecord_gzip {
    struct pr_inflate *z;
    enum pr_wrap wrap;
    const uint8_t *in;
    size_t in_len;
    uint64_t in_off; /* of what is read next */
    bool has_ended;
    uint64_t at, off; /* a record's number and offset: the cursor */
    bool has_len;
    uint64_t len;
    uint64_t most;
};

struct pr_tfrecord {
    bool has_object;
    bool is_stream;
    struct pr_tfrecord_plain plain;
    struct pr_tfrecord_gzip stream;
};

/* A payload, in buf or elsewhere. */
struct pr_tfrecord_payload {
    const uint8_t *data;
    size_t size;
    uint64_t off; /* for messages */
};

/* Makes a sample of it. */
int pr_tfrecord_make_sample(struct pr_reader *r,
                            const struct pr_tfrecord_payload *p, void *buf,
                            size_t cap, struct pr_sample *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* Fails unless cap is at least need; r->need grows to it. */
int pr_tfrecord_check_room(struct pr_reader *r, uint64_t need, size_t cap,
                           struct pr_err *err) PR_MUST_CHECK;

/* Open: the object is, and these are its first bytes. They set samples and
 * need. */
int pr_tfrecord_gzip_open(struct pr_reader *r, enum pr_wrap wrap,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_tfrecord_gzip_read(struct pr_reader *r, uint64_t i, void *buf,
                          size_t cap, struct pr_sample *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* ---- writing */

struct pr_tfrecord_writer {
    struct pr_out out, index;
    struct pr_squeeze squeeze;
    struct pr_content_piece piece;
};

#endif
