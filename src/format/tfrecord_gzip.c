/*
 * Reading compressed TFRecord files: one gzip or zlib stream, inflated into
 * the caller's buffer as it goes by. Going backward starts it again.
 */
#include "base/codec/checksum.h"
#include "format/tfrecord.h"

enum {
    INPUT = PR_TFRECORD_PIECE + PR_IO_SLACK, /* compressed bytes */
    WASTE = 64 << 10,                        /* where skipped bytes go */
    RATIO = 1032, /* deflate makes no more than this of one byte */
};

static struct pr_tfrecord_gzip *tfrecord_gzip_state(struct pr_reader *r)
{
    return &((struct pr_tfrecord *)r->data)->stream;
}

static void tfrecord_gzip_restart(struct pr_tfrecord_gzip *s)
{
    pr_inflate_start(s->z, s->wrap);
    s->in_len = 0;
    s->in_off = 0;
    s->has_ended = false;
    s->at = 0;
    s->off = 0;
    s->has_len = false;
}

/* After a failure in the middle of a record: the next read starts again. */
static void tfrecord_gzip_lose_place(struct pr_tfrecord_gzip *s)
{
    s->at = UINT64_MAX;
}

/* ---- inflating */

static int tfrecord_gzip_refill(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    uint64_t left = r->obj.size - s->in_off;
    size_t n = left < PR_TFRECORD_PIECE ? (size_t)left : PR_TFRECORD_PIECE;
    int rc;

    if (s->in_len || !n)
        return PR_OK;
    rc = pr_object_fetch(&r->obj, s->in_off, n, r->scratch, INPUT, &s->in, err);
    if (!rc) {
        s->in_len = n;
        s->in_off += n;
    }
    return rc;
}

/* Up to want bytes; fewer only where the stream ends. */
static int tfrecord_gzip_inflate(struct pr_reader *r, uint8_t *out, size_t want,
                                 size_t *ret, struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    size_t got = 0;
    int rc = PR_OK;

    while (!rc && got < want && !s->has_ended) {
        size_t n = want - got;
        enum pr_inflate_end end;

        rc = tfrecord_gzip_refill(r, err);
        if (rc)
            break;
        end = pr_inflate_run(s->z, &s->in, &s->in_len, out + got, &n);
        got += n;
        if (end == PR_INFLATE_BAD)
            rc = pr_reader_bad(r, s->in_off - s->in_len, err,
                               "the compressed data is damaged");
        else if (end == PR_INFLATE_END)
            s->has_ended = s->wrap != PR_WRAP_GZIP || s->in_len ||
                           s->in_off == r->obj.size;
        else if (got < want && !s->in_len && s->in_off == r->obj.size)
            rc = pr_reader_bad(r, r->obj.size, err,
                               "the compressed data is cut short");
    }
    *ret = got;
    return rc;
}

/* Exactly so many bytes of the record at the cursor. */
static int pull_all(struct pr_reader *r, uint8_t *out, size_t want,
                    struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    size_t got;
    int rc = tfrecord_gzip_inflate(r, out, want, &got, err);

    if (!rc && got < want)
        rc = pr_reader_bad(r, s->off, err,
                           "record %llu is cut short (offset when inflated)",
                           (unsigned long long)s->at);
    return rc;
}

/* ---- the cursor */

/* 1: there is a record at the cursor, and its length is known; 0: the end. */
static int next_head(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    uint8_t head[PR_TFRECORD_HEAD];
    size_t got;
    int rc;

    if (s->has_len)
        return 1;
    rc = tfrecord_gzip_inflate(r, head, sizeof head, &got, err);
    if (!rc && !got)
        return 0;
    if (!rc && (got < sizeof head || !pr_tfrecord_read_length(head, &s->len)))
        rc = pr_reader_bad(r, s->off, err,
                           "the head of record %llu is wrong (offset when "
                           "inflated)",
                           (unsigned long long)s->at);
    if (!rc && s->len / RATIO > r->obj.size)
        rc = pr_reader_bad(r, s->off, err,
                           "record %llu has %llu bytes, more than the file can "
                           "hold",
                           (unsigned long long)s->at,
                           (unsigned long long)s->len);
    if (rc) {
        tfrecord_gzip_lose_place(s);
        return rc;
    }
    s->has_len = true;
    if (s->len > s->most)
        s->most = s->len;
    return 1;
}

static void tfrecord_gzip_step(struct pr_tfrecord_gzip *s)
{
    s->at++;
    s->off += s->len + PR_TFRECORD_FRAME;
    s->has_len = false;
}

/* Inflates the payload at the cursor to nowhere. */
static int tfrecord_gzip_skip_payload(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    uint64_t left = s->len + PR_TFRECORD_FOOT;

    while (left) {
        size_t n = left < WASTE ? (size_t)left : WASTE;
        int rc = pull_all(r, r->scratch + INPUT, n, err);

        if (rc) {
            tfrecord_gzip_lose_place(s);
            return rc;
        }
        left -= n;
    }
    tfrecord_gzip_step(s);
    return PR_OK;
}

static int tfrecord_gzip_seek(struct pr_reader *r, uint64_t i,
                              struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);

    if (i < s->at)
        tfrecord_gzip_restart(s);
    for (;;) {
        int rc = next_head(r, err);

        if (rc == 0)
            return pr_reader_bad(r, r->obj.size, err,
                                 "the file ends after %llu records, not %llu",
                                 (unsigned long long)s->at,
                                 (unsigned long long)r->samples);
        if (rc < 0 || s->at == i)
            return rc < 0 ? rc : PR_OK;
        rc = tfrecord_gzip_skip_payload(r, err);
        if (rc)
            return rc;
    }
}

/* ---- open and read */

static int tfrecord_gzip_count(struct pr_reader *r, struct pr_err *err)
{
    int rc;

    while ((rc = next_head(r, err)) == 1) {
        rc = tfrecord_gzip_skip_payload(r, err);
        if (rc)
            return rc;
    }
    r->samples = tfrecord_gzip_state(r)->at;
    return rc;
}

int pr_tfrecord_gzip_open(struct pr_reader *r, enum pr_wrap wrap,
                          struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    int rc;

    if (!s->z)
        s->z = pr_inflate_new();
    if (!s->z || !pr_reader_scratch(r, INPUT + WASTE))
        return pr_fail_nomem(err);
    s->wrap = wrap;
    s->most = 0;
    tfrecord_gzip_restart(s);
    r->samples = r->opts.samples;
    if (r->samples) {
        rc = next_head(r, err);
        rc = rc < 0 ? rc : PR_OK;
    } else {
        rc = tfrecord_gzip_count(r, err);
    }
    r->need = (size_t)s->most + PR_TFRECORD_FOOT + PR_IO_SLACK;
    return rc;
}

static int tfrecord_gzip_read_payload(struct pr_reader *r, uint8_t *buf,
                                      struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    uint8_t foot[PR_TFRECORD_FOOT];
    uint32_t crc = 0;
    uint64_t done = 0;
    int rc = PR_OK;

    while (!rc && done < s->len) {
        uint64_t left = s->len - done;
        size_t n = left < PR_TFRECORD_PIECE ? (size_t)left : PR_TFRECORD_PIECE;

        rc = pull_all(r, buf + done, n, err);
        if (!rc && !r->opts.skip_checksum)
            crc = pr_crc32c(crc, buf + done, n);
        done += n;
    }
    if (!rc)
        rc = pull_all(r, foot, sizeof foot, err);
    if (!rc && !r->opts.skip_checksum &&
        pr_tfrecord_mask(crc) != pr_tfrecord_load32(foot))
        rc = pr_reader_bad(r, s->off + PR_TFRECORD_HEAD, err,
                           "the checksum of record %llu is wrong (offset when "
                           "inflated)",
                           (unsigned long long)s->at);
    return rc;
}

int pr_tfrecord_gzip_read(struct pr_reader *r, uint64_t i, void *buf,
                          size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    struct pr_tfrecord_gzip *s = tfrecord_gzip_state(r);
    struct pr_tfrecord_payload payload = {.data = buf};
    int rc = tfrecord_gzip_seek(r, i, err);

    if (!rc)
        rc = pr_tfrecord_check_room(r, s->len + PR_TFRECORD_FOOT, cap, err);
    if (rc)
        return rc;
    rc = tfrecord_gzip_read_payload(r, buf, err);
    if (rc) {
        tfrecord_gzip_lose_place(s);
        return rc;
    }
    payload.size = (size_t)s->len;
    payload.off = s->off + PR_TFRECORD_HEAD;
    tfrecord_gzip_step(s);
    return pr_tfrecord_make_sample(r, &payload, buf, cap, ret, err);
}
