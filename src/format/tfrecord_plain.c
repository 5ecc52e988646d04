/*
 * Reading plain TFRecord files, in order or at random. Small records come out
 * of a window that is read ahead, others straight into the caller's buffer,
 * with the head of the record after them, so that each costs one request.
 */
#include "base/codec/checksum.h"
#include "format/tfrecord.h"

#include <string.h>

enum {
    SMALL = 16 << 10, /* records in order: read ahead up to this size */
    WALK = 4 << 10,   /* heads in order: the same */
    ANY = 1 << 20,    /* files up to this: buffer for whatever they hold */
};

static struct pr_tfrecord_plain *tfrecord_plain_state(struct pr_reader *r)
{
    return &((struct pr_tfrecord *)r->data)->plain;
}

/* ---- the window */

static const uint8_t *in_window(const struct pr_tfrecord_plain *p, uint64_t off,
                                uint64_t len)
{
    uint64_t skip = off - p->win_off;

    if (off < p->win_off || skip > p->win_len || len > p->win_len - skip)
        return NULL;
    return p->win + skip;
}

static int tfrecord_fill_window(struct pr_reader *r, uint64_t off,
                                struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    size_t cap = PR_TFRECORD_PIECE + PR_IO_SLACK;
    uint64_t left = r->obj.size - off;
    size_t len = left < PR_TFRECORD_PIECE ? (size_t)left : PR_TFRECORD_PIECE;
    uint8_t *scratch = pr_reader_scratch(r, cap);
    int rc;

    p->win_len = 0;
    if (!scratch)
        return pr_fail_nomem(err);
    rc = pr_object_fetch(&r->obj, off, len, scratch, cap, &p->win, err);
    if (!rc) {
        p->win_off = off;
        p->win_len = len;
    }
    return rc;
}

/* ---- the cursor */

/* Takes the head of the record at the cursor. */
static int take_head(struct pr_reader *r, const uint8_t *head,
                     struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t len, left = r->obj.size - p->off - PR_TFRECORD_FRAME;

    if (!pr_tfrecord_read_length(head, &len))
        return pr_reader_bad(r, p->off, err,
                             "the checksum of the length of record %llu is "
                             "wrong",
                             (unsigned long long)p->at);
    if (len > left)
        return pr_reader_bad(r, p->off, err,
                             "record %llu has %llu bytes, the file only %llu "
                             "more",
                             (unsigned long long)p->at, (unsigned long long)len,
                             (unsigned long long)left);
    p->len = len;
    p->has_len = true;
    if (len + PR_TFRECORD_FRAME > p->most)
        p->most = len + PR_TFRECORD_FRAME;
    return PR_OK;
}

static int tfrecord_read_head(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    const uint8_t *head = in_window(p, p->off, PR_TFRECORD_HEAD);
    uint64_t limit = p->at == p->next ? SMALL : WALK;
    uint8_t bytes[PR_TFRECORD_HEAD];
    int rc = PR_OK;

    if (p->off == r->obj.size)
        return pr_reader_bad(
            r, p->off, err, "the file ends after %llu records, not %llu",
            (unsigned long long)p->at, (unsigned long long)r->samples);
    if (r->obj.size - p->off < PR_TFRECORD_FRAME)
        return pr_reader_bad(r, p->off, err, "record %llu is cut short",
                             (unsigned long long)p->at);
    if (!head && p->before && p->before <= limit) {
        rc = tfrecord_fill_window(r, p->off, err);
        head = p->win;
    } else if (!head) {
        rc = pr_object_read(&r->obj, p->off, sizeof bytes, bytes, err);
        head = bytes;
    }
    return rc ? rc : take_head(r, head, err);
}

static int find_length(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t end;

    if (p->has_len)
        return PR_OK;
    if (pr_tfrecord_offsets_near(&p->offsets, p->at + 1, &end) != p->at + 1)
        return tfrecord_read_head(r, err);
    p->len = end - p->off - PR_TFRECORD_FRAME;
    p->has_len = true;
    return PR_OK;
}

static int tfrecord_step(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);

    p->before = p->len + PR_TFRECORD_FRAME;
    p->off += p->before;
    p->at++;
    p->has_len = false;
    return pr_tfrecord_offsets_add(&p->offsets, p->at, p->off, err);
}

static int tfrecord_seek(struct pr_reader *r, uint64_t i, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t off, near = pr_tfrecord_offsets_near(&p->offsets, i, &off);
    int rc = PR_OK;

    if (i < p->at || near > p->at) {
        p->at = near;
        p->off = off;
        p->has_len = false;
    }
    while (!rc && p->at < i) {
        rc = find_length(r, err);
        if (!rc)
            rc = tfrecord_step(r, err);
    }
    return rc;
}

/* ---- open */

static void tfrecord_set_need(struct pr_reader *r)
{
    uint64_t size = r->obj.size, most = tfrecord_plain_state(r)->most;

    if (size <= ANY)
        most = size;
    else if (r->opts.samples) /* only the first record was looked at */
        most += most / 4 < size - most ? most / 4 : size - most;
    r->need = (size_t)most + PR_TFRECORD_HEAD + PR_IO_ALIGN + PR_IO_SLACK;
}

/* Counts the records by their heads. */
static int tfrecord_count(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    int rc = PR_OK;

    while (!rc && p->off < r->obj.size) {
        rc = find_length(r, err);
        if (!rc)
            rc = tfrecord_step(r, err);
    }
    r->samples = p->at;
    return rc;
}

int pr_tfrecord_plain_open(struct pr_reader *r, const uint8_t *start,
                           size_t len, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    int rc;

    *p = (struct pr_tfrecord_plain){
        .win = start,
        .win_len = len,
        .next = UINT64_MAX,
        .offsets = p->offsets,
    };
    pr_tfrecord_offsets_clear(&p->offsets);
    rc = pr_tfrecord_offsets_add(&p->offsets, 0, 0, err);
    if (rc)
        return rc;
    r->samples = r->opts.samples;
    if (r->samples > r->obj.size / PR_TFRECORD_FRAME)
        return pr_reader_bad(r, r->obj.size, err,
                             "the file is too small for %llu records",
                             (unsigned long long)r->samples);
    rc = r->samples ? tfrecord_read_head(r, err) : tfrecord_count(r, err);
    tfrecord_set_need(r);
    return rc;
}

/* ---- read */

/* Goes on with the checksum of the payload over bytes of the file at off. */
static uint32_t sum_piece(const struct pr_tfrecord_plain *p, uint32_t crc,
                          const uint8_t *data, uint64_t off, size_t len)
{
    uint64_t from = p->off + PR_TFRECORD_HEAD, to = from + p->len;
    uint64_t end = off + len;

    from = from > off ? from : off;
    to = to < end ? to : end;
    return from < to ? pr_crc32c(crc, data + (from - off), (size_t)(to - from))
                     : crc;
}

/* Bytes [p->off, end) in pieces at aligned places, so that what arrives is
 * whole and no engine has to move it. */
static int fetch_pieces(struct pr_reader *r, uint64_t end, uint8_t *buf,
                        size_t cap, const uint8_t **ret, uint32_t *crc,
                        struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t start = p->off - p->off % PR_IO_ALIGN;

    for (uint64_t pos = start; pos < end; pos += PR_TFRECORD_PIECE) {
        uint64_t left = end - pos;
        size_t n = left < PR_TFRECORD_PIECE ? (size_t)left : PR_TFRECORD_PIECE;
        size_t place = (size_t)(pos - start);
        const uint8_t *got;
        int rc = pr_object_fetch(&r->obj, pos, n, buf + place, cap - place,
                                 &got, err);

        if (rc)
            return rc;
        if (got != buf + place)
            memmove(buf + place, got, n);
        *crc = sum_piece(p, *crc, buf + place, pos, n);
    }
    *ret = buf + p->off % PR_IO_ALIGN;
    return PR_OK;
}

/* The record at the cursor, with the head after it, and its checksum. */
static int fetch_record(struct pr_reader *r, uint8_t *buf, size_t cap,
                        const uint8_t **ret, uint32_t *crc, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t end = p->off + p->len + PR_TFRECORD_FRAME, len;
    int rc;

    if (r->obj.size - end >= PR_TFRECORD_HEAD)
        end += PR_TFRECORD_HEAD;
    len = end - p->off;
    rc = pr_tfrecord_check_room(r, len + PR_IO_ALIGN + PR_IO_SLACK, cap, err);
    if (rc)
        return rc;
    if (!r->opts.skip_checksum && !r->obj.map && len > 2 * PR_TFRECORD_PIECE)
        return fetch_pieces(r, end, buf, cap, ret, crc, err);
    rc = pr_object_fetch(&r->obj, p->off, (size_t)len, buf, cap, ret, err);
    if (!rc && !r->opts.skip_checksum)
        *crc = sum_piece(p, 0, *ret, p->off, (size_t)len);
    return rc;
}

static int load_record(struct pr_reader *r, uint8_t *buf, size_t cap,
                       const uint8_t **ret, uint32_t *crc, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t total = p->len + PR_TFRECORD_FRAME;
    int rc = PR_OK;

    *ret = in_window(p, p->off, total);
    if (!*ret && total <= SMALL && p->at == p->next) {
        rc = tfrecord_fill_window(r, p->off, err);
        *ret = p->win;
    }
    if (rc)
        return rc;
    if (!*ret)
        return fetch_record(r, buf, cap, ret, crc, err);
    if (!r->opts.skip_checksum)
        *crc = sum_piece(p, 0, *ret, p->off, (size_t)total);
    return PR_OK;
}

static int check_record(struct pr_reader *r, const uint8_t *record,
                        uint32_t crc, struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t len = p->len;
    const uint8_t *foot = record + PR_TFRECORD_HEAD + len;
    int rc = take_head(r, record, err);

    if (rc)
        return rc;
    if (p->len != len) /* its length came from the offset of the next */
        return pr_reader_bad(r, p->off, err,
                             "the file changed while it was read");
    if (!r->opts.skip_checksum &&
        pr_tfrecord_mask(crc) != pr_tfrecord_load32(foot))
        return pr_reader_bad(r, p->off + PR_TFRECORD_HEAD, err,
                             "the checksum of record %llu is wrong",
                             (unsigned long long)p->at);
    return PR_OK;
}

/* Steps over the record just given. The head of the next one was read with it
 * unless it came out of the window; a bad one is left for those who want it. */
static int tfrecord_pass_record(struct pr_reader *r, const uint8_t *head,
                                struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    int rc;

    p->next = p->at + 1;
    rc = tfrecord_step(r, err);
    if (!rc && head)
        (void)!take_head(r, head, NULL);
    return rc;
}

/* Copies the head behind the record at the cursor: decoding a list may use
 * what is there. NULL: there is none, or the window has it. */
static const uint8_t *save_head(struct pr_reader *r, const uint8_t *record,
                                uint8_t *out)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    uint64_t total = p->len + PR_TFRECORD_FRAME;

    if (in_window(p, p->off, total) ||
        r->obj.size - p->off - total < PR_TFRECORD_FRAME)
        return NULL;
    return memcpy(out, record + total, PR_TFRECORD_HEAD);
}

int pr_tfrecord_plain_read(struct pr_reader *r, uint64_t i, void *buf,
                           size_t cap, struct pr_sample *ret,
                           struct pr_err *err)
{
    struct pr_tfrecord_plain *p = tfrecord_plain_state(r);
    struct pr_tfrecord_payload payload;
    uint8_t space[PR_TFRECORD_HEAD];
    const uint8_t *record = NULL, *head;
    struct pr_sample s;
    uint32_t crc = 0;
    int rc = tfrecord_seek(r, i, err);

    if (!rc)
        rc = find_length(r, err);
    if (!rc)
        rc = load_record(r, buf, cap, &record, &crc, err);
    if (!rc)
        rc = check_record(r, record, crc, err);
    if (rc)
        return rc;
    head = save_head(r, record, space);
    payload = (struct pr_tfrecord_payload){
        record + PR_TFRECORD_HEAD, (size_t)p->len, p->off + PR_TFRECORD_HEAD};
    rc = pr_tfrecord_make_sample(r, &payload, buf, cap, &s, err);
    if (!rc)
        rc = tfrecord_pass_record(r, head, err);
    if (!rc)
        *ret = s;
    return rc;
}
