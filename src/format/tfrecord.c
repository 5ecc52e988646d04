/*
 * TFRecord files: the format, the reader of plain ones, the writer of all, and
 * what this reader and that of compressed ones have in common.
 */
#include "format/tfrecord.h"

#include "base/codec/checksum.h"
#include "base/mem.h"
#include "format/tf_example.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- where the records of a file are, in bounded memory */

void pr_tfrecord_offsets_clear(struct pr_tfrecord_offsets *o)
{
    o->len = 0;
    o->stride = 1;
}

void pr_tfrecord_offsets_done(struct pr_tfrecord_offsets *o)
{
    pr_free(o->at);
    *o = (struct pr_tfrecord_offsets){0};
}

/* Every second one is enough, from now on. */
static void tfrecord_thin_offsets(struct pr_tfrecord_offsets *o)
{
    size_t n = 0;

    for (size_t i = 0; i < o->len; i += 2)
        o->at[n++] = o->at[i];
    o->len = n;
    o->stride *= 2;
}

static int tfrecord_grow_offsets(struct pr_tfrecord_offsets *o,
                                 struct pr_err *err)
{
    size_t cap = o->cap ? 2 * o->cap : 128;
    uint64_t *at = pr_realloc(o->at, cap * sizeof *at);

    if (!at)
        return pr_fail_nomem(err);
    o->at = at;
    o->cap = cap;
    return PR_OK;
}

int pr_tfrecord_offsets_add(struct pr_tfrecord_offsets *o, uint64_t i,
                            uint64_t off, struct pr_err *err)
{
    int rc = PR_OK;

    if (i != o->len * o->stride)
        return PR_OK;
    if (o->len == PR_TFRECORD_OFFSETS_MAX) /* even: i is one that stays */
        tfrecord_thin_offsets(o);
    else if (o->len == o->cap)
        rc = tfrecord_grow_offsets(o, err);
    if (!rc)
        o->at[o->len++] = off;
    return rc;
}

uint64_t pr_tfrecord_offsets_near(const struct pr_tfrecord_offsets *o,
                                  uint64_t i, uint64_t *ret_off)
{
    uint64_t n = i / o->stride;

    if (n >= o->len)
        n = o->len - 1;
    *ret_off = o->at[n];
    return n * o->stride;
}

/* ---- reading plain files, in order or at random. Small records come out of a
 * window that is read ahead, others straight into the caller's buffer, with the
 * head of the record after them, so that each costs one request. */

enum {
    SMALL = 16 << 10, /* records in order: read ahead up to this size */
    WALK = 4 << 10,   /* heads in order: the same */
    ANY = 1 << 20,    /* files up to this: buffer for whatever they hold */
};

static struct pr_tfrecord_plain *tfrecord_plain_state(struct pr_reader *r)
{
    return &((struct pr_tfrecord *)r->data)->plain;
}

/* ---- plain: the window */

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

/* ---- plain: the cursor */

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

/* ---- plain: open */

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

static int tfrecord_plain_open(struct pr_reader *r, const uint8_t *start,
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

/* ---- plain: read */

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

static int tfrecord_plain_read(struct pr_reader *r, uint64_t i, void *buf,
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

/* ---- writing files, plain or compressed as a whole, and the index that
 * NVIDIA's tfrecord2idx makes of them: a line for each record with its offset
 * and its bytes, framing included (of a compressed file: when inflated) */

enum { MESSAGE_MAX = INT32_MAX }; /* protobuf reads no larger message */

static void frame_of(const struct pr_file_spec *spec,
                     struct pr_tf_example_frame *ret)
{
    pr_tf_example_frame_init(ret, pr_spec_sample_bytes(spec),
                             spec->labels_inside ? spec->classes : 0);
}

static uint64_t tfrecord_record_bytes(const struct pr_file_spec *spec,
                                      const struct pr_tf_example_frame *f)
{
    return PR_TFRECORD_FRAME + f->head_len + pr_spec_sample_bytes(spec) +
           f->tail_len;
}

static int tfrecord_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(spec), all;

    if (spec->compression != PR_PLAIN && spec->compression != PR_GZIP &&
        spec->compression != PR_ZLIB)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "tfrecord files are plain, gzip or zlib");
    if (bytes > MESSAGE_MAX - 128) {
        pr_fail(err, PR_E_CONF, "dataset.record_length_bytes",
                "a tfrecord sample must be smaller than 2 GiB, not %llu bytes",
                (unsigned long long)bytes);
        return pr_hint(err, "no protobuf message is larger: use another "
                            "format");
    }
    if (__builtin_mul_overflow(bytes + 256, spec->samples, &all) ||
        all > INT64_MAX / 2)
        return pr_fail(err, PR_E_CONF, "dataset.num_samples_per_file",
                       "%llu samples are too many for a file",
                       (unsigned long long)spec->samples);
    return PR_OK;
}

/* Bytes of the index of n records of so many bytes: n times 0, bytes,
 * 2 * bytes and so on in decimal, and what each line has beside. */
static uint64_t tfrecord_index_bytes(uint64_t n, uint64_t bytes)
{
    uint64_t sum = n * (3 + pr_count_digits(bytes)), power = 1;

    while (!__builtin_mul_overflow(power, 10u, &power)) {
        uint64_t below = power / bytes + (power % bytes != 0);
        sum += below < n ? n - below : 0;
    }
    return sum;
}

static uint64_t tfrecord_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_tf_example_frame f;
    uint64_t each, all;

    *ret_exact = spec->compression == PR_PLAIN;
    if (tfrecord_check(spec, NULL))
        return UINT64_MAX;
    frame_of(spec, &f);
    each = tfrecord_record_bytes(spec, &f);
    all = each * spec->samples;
    if (spec->compression != PR_PLAIN)
        all = pr_deflate_bound(all);
    return all +
           (spec->index_name ? tfrecord_index_bytes(spec->samples, each) : 0);
}

/* ---- writing: bytes on their way */

static int tfrecord_writer_prepare(struct pr_writer *w,
                                   const struct pr_file_spec *spec,
                                   struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    int rc = PR_OK;

    if (!t->out.block)
        rc = pr_out_init(&t->out, w->st, err);
    if (!rc && spec->index_name && !t->index.block)
        rc = pr_out_init(&t->index, w->st, err);
    if (rc || spec->compression == PR_PLAIN)
        return rc;
    return pr_squeeze_start(
        &t->squeeze, spec->level,
        spec->compression == PR_GZIP ? PR_WRAP_GZIP : PR_WRAP_ZLIB, err);
}

static int tfrecord_put_bytes(struct pr_tfrecord_writer *t,
                              const struct pr_file_spec *spec, const void *data,
                              size_t len, struct pr_err *err)
{
    return spec->compression == PR_PLAIN
               ? pr_out_put(&t->out, data, len, err)
               : pr_squeeze_put(&t->squeeze, &t->out, data, len, false, err);
}

static int tfrecord_put_sample(struct pr_writer *w,
                               const struct pr_file_spec *spec, uint64_t sample,
                               uint32_t *crc, struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    int rc = PR_OK;

    if (spec->compression == PR_PLAIN)
        return pr_content_put_sample(w, &t->out, &t->piece, spec, sample,
                                     pr_crc32c, crc, err);
    for (uint64_t off = 0; !rc && off < bytes; off += PR_CONTENT_BLOCK) {
        uint64_t left = bytes - off;
        size_t n = left < PR_CONTENT_BLOCK ? (size_t)left : PR_CONTENT_BLOCK;

        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_content_fill(spec, sample, off, &t->piece, n);
        *crc = pr_crc32c(*crc, &t->piece, n);
        rc = pr_squeeze_put(&t->squeeze, &t->out, &t->piece, n, false, err);
    }
    return rc;
}

/* ---- writing: records */

static void make_head(uint64_t len, uint8_t out[static PR_TFRECORD_HEAD])
{
    uint64_t le = htole64(len);
    uint32_t crc;

    memcpy(out, &le, sizeof le);
    crc = htole32(pr_tfrecord_mask(pr_crc32c(0, out, sizeof le)));
    memcpy(out + sizeof le, &crc, sizeof crc);
}

static int put_record(struct pr_writer *w, const struct pr_file_spec *spec,
                      struct pr_tf_example_frame *f, uint64_t sample,
                      struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    uint8_t head[PR_TFRECORD_HEAD];
    uint32_t crc = pr_crc32c(0, f->head, f->head_len);
    int rc;

    make_head(tfrecord_record_bytes(spec, f) - PR_TFRECORD_FRAME, head);
    pr_tf_example_frame_label(f, pr_content_label(spec, sample));
    rc = tfrecord_put_bytes(t, spec, head, sizeof head, err);
    if (!rc)
        rc = tfrecord_put_bytes(t, spec, f->head, f->head_len, err);
    if (!rc)
        rc = tfrecord_put_sample(w, spec, sample, &crc, err);
    crc = htole32(pr_tfrecord_mask(pr_crc32c(crc, f->tail, f->tail_len)));
    if (!rc)
        rc = tfrecord_put_bytes(t, spec, f->tail, f->tail_len, err);
    if (!rc)
        rc = tfrecord_put_bytes(t, spec, &crc, sizeof crc, err);
    return rc;
}

static int put_records(struct pr_writer *w, const struct pr_file_spec *spec,
                       const char *name, struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    struct pr_tf_example_frame f;
    bool plain = spec->compression == PR_PLAIN;
    uint64_t size;
    int rc;

    frame_of(spec, &f);
    size = plain ? tfrecord_record_bytes(spec, &f) * spec->samples : 0;
    rc = pr_out_create(&t->out, name, size, err);
    for (uint64_t i = 0; !rc && i < spec->samples; i++)
        rc = put_record(w, spec, &f, i, err);
    if (!rc && !plain)
        rc = pr_squeeze_put(&t->squeeze, &t->out, NULL, 0, true, err);
    return rc;
}

static int tfrecord_put_index(struct pr_writer *w,
                              const struct pr_file_spec *spec,
                              struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    struct pr_tf_example_frame f;
    uint64_t each;
    int rc;

    frame_of(spec, &f);
    each = tfrecord_record_bytes(spec, &f);
    rc = pr_out_create(&t->index, spec->index_name,
                       tfrecord_index_bytes(spec->samples, each), err);
    for (uint64_t i = 0; !rc && i < spec->samples; i++) {
        char line[48];
        int n = snprintf(line, sizeof line, "%" PRIu64 " %" PRIu64 "\n",
                         i * each, each);

        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        rc = pr_out_put(&t->index, line, (size_t)n, err);
    }
    return rc;
}

/* The index comes first: who finds records finds their index too. */
static int tfrecord_commit_files(struct pr_writer *w,
                                 const struct pr_file_spec *spec,
                                 struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    int rc = spec->index_name ? pr_out_commit(&t->index, err) : PR_OK;

    if (rc)
        return rc;
    rc = pr_out_commit(&t->out, err);
    if (rc && spec->index_name)
        (void)!pr_storage_remove(w->st, spec->index_name, NULL);
    return rc;
}

static int tfrecord_write(struct pr_writer *w, const struct pr_file_spec *spec,
                          const char *name, uint64_t *ret_bytes,
                          struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    uint64_t bytes = 0;
    int rc = tfrecord_check(spec, err);

    if (!rc)
        rc = tfrecord_writer_prepare(w, spec, err);
    if (!rc && spec->index_name)
        rc = tfrecord_put_index(w, spec, err);
    if (!rc)
        rc = put_records(w, spec, name, err);
    if (!rc) {
        bytes = pr_out_offset(&t->out) +
                (spec->index_name ? pr_out_offset(&t->index) : 0);
        rc = tfrecord_commit_files(w, spec, err);
    }
    if (rc) {
        pr_out_discard(&t->out);
        pr_out_discard(&t->index);
        return rc;
    }
    *ret_bytes = bytes;
    return PR_OK;
}

static void tfrecord_writer_done(struct pr_writer *w)
{
    struct pr_tfrecord_writer *t = w->data;

    pr_squeeze_done(&t->squeeze);
}

uint32_t pr_tfrecord_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

uint32_t pr_tfrecord_load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

bool pr_tfrecord_read_length(const uint8_t *head, uint64_t *ret)
{
    uint64_t len;

    if (pr_tfrecord_mask(pr_crc32c(0, head, 8)) != pr_tfrecord_load32(head + 8))
        return false;
    memcpy(&len, head, sizeof len);
    *ret = le64toh(len);
    return true;
}

/* ---- writing: samples */

int pr_tfrecord_check_room(struct pr_reader *r, uint64_t need, size_t cap,
                           struct pr_err *err)
{
    if (need <= cap)
        return PR_OK;
    if (need > r->need)
        r->need = (size_t)need;
    return pr_fail(err, PR_E_CONF, r->name,
                   "a record needs a buffer of %llu bytes, this one has %llu",
                   (unsigned long long)need, (unsigned long long)cap);
}

/* Where the numbers of a list go: to the start of buf, behind the payload if
 * that is in buf and they take more room than it. */
static size_t list_place(const struct pr_tf_example *e,
                         const struct pr_tfrecord_payload *p, const void *buf,
                         size_t cap)
{
    uintptr_t from = (uintptr_t)buf, at = (uintptr_t)p->data;

    if (e->kind == PR_TF_EXAMPLE_FLOATS || at < from || at - from >= cap)
        return 0;
    return ((size_t)(at - from) + p->size + 7) & ~(size_t)7;
}

static int give_list(struct pr_reader *r, const struct pr_tf_example *e,
                     const struct pr_tfrecord_payload *p, void *buf, size_t cap,
                     struct pr_sample *ret, struct pr_err *err)
{
    bool ints = e->kind == PR_TF_EXAMPLE_INTS;
    size_t place = list_place(e, p, buf, cap);
    uint64_t bytes = e->count * (ints ? 8 : 4); /* at most 8 times the file */
    int rc = pr_tfrecord_check_room(r, place + bytes, cap, err);

    if (rc)
        return rc;
    pr_tf_example_decode(e, (uint8_t *)buf + place);
    ret->data = (uint8_t *)buf + place;
    ret->size = (size_t)bytes;
    ret->dtype = ints ? PR_I64 : PR_F32;
    return PR_OK;
}

int pr_tfrecord_make_sample(struct pr_reader *r,
                            const struct pr_tfrecord_payload *p, void *buf,
                            size_t cap, struct pr_sample *ret,
                            struct pr_err *err)
{
    struct pr_sample s = {.data = p->data, .size = p->size, .dtype = PR_U8};
    struct pr_tf_example e = {.count = p->size};
    size_t bad;
    int rc = PR_OK;

    if (!r->opts.skip_decode) {
        if (!pr_tf_example_parse(p->data, p->size, &e, &bad))
            return pr_reader_bad(r, p->off + bad, err,
                                 "the record is not a tf.train.Example");
        if (e.kind == PR_TF_EXAMPLE_NONE)
            return pr_reader_bad(r, p->off, err,
                                 "the tf.train.Example has no feature to read");
        s.data = e.data;
        s.size = e.size;
        s.has_label = e.has_label;
        s.label = e.label;
        if (e.kind != PR_TF_EXAMPLE_BYTES)
            rc = give_list(r, &e, p, buf, cap, &s, err);
    }
    s.shape = (struct pr_shape){.ndim = 1, .dim = {e.count}};
    if (!rc)
        *ret = s;
    return rc;
}

/* ---- opening and closing */

/* Small files are read whole by this, of others only the start. */
static int tfrecord_read_start(struct pr_reader *r, const uint8_t **ret,
                               size_t *ret_len, struct pr_err *err)
{
    size_t cap = PR_TFRECORD_PIECE + PR_IO_SLACK;
    uint8_t *scratch = pr_reader_scratch(r, cap);
    uint64_t size = r->obj.size;

    if (!scratch)
        return pr_fail_nomem(err);
    *ret = scratch;
    *ret_len = size <= PR_TFRECORD_PIECE ? (size_t)size : 64;
    return size ? pr_object_fetch(&r->obj, 0, *ret_len, scratch, cap, ret, err)
                : PR_OK;
}

static int open_as(struct pr_reader *r, const uint8_t *start, size_t len,
                   struct pr_err *err)
{
    struct pr_tfrecord *t = r->data;
    uint64_t length;
    bool plain = !len || (len >= PR_TFRECORD_HEAD &&
                          pr_tfrecord_read_length(start, &length));

    t->is_stream = true;
    if (!plain && len >= 2 && start[0] == 0x1f && start[1] == 0x8b)
        return pr_tfrecord_gzip_open(r, PR_WRAP_GZIP, err);
    if (!plain && len >= 2 && (start[0] & 0x8f) == 0x08 &&
        (start[0] << 8 | start[1]) % 31 == 0)
        return pr_tfrecord_gzip_open(r, PR_WRAP_ZLIB, err);
    t->is_stream = false;
    return tfrecord_plain_open(r, start, len, err);
}

static int tfrecord_open(struct pr_reader *r, struct pr_err *err)
{
    struct pr_tfrecord *t = r->data;
    const uint8_t *start = NULL;
    size_t len = 0;
    int rc = pr_object_open(r->st, r->name, &r->obj, err);

    t->has_object = rc == PR_OK;
    if (!rc)
        rc = tfrecord_read_start(r, &start, &len, err);
    return rc ? rc : open_as(r, start, len, err);
}

static int tfrecord_read(struct pr_reader *r, uint64_t i, void *buf, size_t cap,
                         struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_tfrecord *t = r->data;

    return t->is_stream ? pr_tfrecord_gzip_read(r, i, buf, cap, ret, err)
                        : tfrecord_plain_read(r, i, buf, cap, ret, err);
}

static void tfrecord_close(struct pr_reader *r)
{
    struct pr_tfrecord *t = r->data;

    if (t->has_object)
        pr_object_close(&r->obj);
    t->has_object = false;
}

static void tfrecord_reader_done(struct pr_reader *r)
{
    struct pr_tfrecord *t = r->data;

    pr_tfrecord_offsets_done(&t->plain.offsets);
    pr_inflate_free(t->stream.z);
}

const struct pr_format pr_format_tfrecord = {
    .abi = PR_FORMAT_ABI,
    .name = "tfrecord",
    .desc = "TensorFlow's records: tf.train.Example messages with checksums",
    .flags = PR_FORMAT_LABELS | PR_FORMAT_STREAM,
    .compressions = "none|gzip|zlib",
    .check = tfrecord_check,
    .bytes = tfrecord_bytes,
    .writer_bytes = sizeof(struct pr_tfrecord_writer),
    .write = tfrecord_write,
    .writer_done = tfrecord_writer_done,
    .reader_bytes = sizeof(struct pr_tfrecord),
    .open = tfrecord_open,
    .read = tfrecord_read,
    .close = tfrecord_close,
    .reader_done = tfrecord_reader_done,
};
