/*
 * Writing TFRecord files, plain or compressed as a whole, and the index that
 * NVIDIA's tfrecord2idx makes of them: a line for each record with its offset
 * and its bytes, framing included (of a compressed file: when inflated).
 */
#include "base/codec/checksum.h"
#include "format/example.h"
#include "format/tfrecord.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int pr_tfrecord_check(const struct pr_file_spec *spec, struct pr_err *err)
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

static unsigned tfrecord_count_digits(uint64_t n)
{
    unsigned d = 1;

    while (n /= 10)
        d++;
    return d;
}

/* Bytes of the index of n records of so many bytes: n times 0, bytes,
 * 2 * bytes and so on in decimal, and what each line has beside. */
static uint64_t tfrecord_index_bytes(uint64_t n, uint64_t bytes)
{
    uint64_t sum = n * (3 + tfrecord_count_digits(bytes)), power = 1;

    while (!__builtin_mul_overflow(power, 10u, &power)) {
        uint64_t below = power / bytes + (power % bytes != 0);
        sum += below < n ? n - below : 0;
    }
    return sum;
}

uint64_t pr_tfrecord_bytes(const struct pr_file_spec *spec, bool *ret_exact)
{
    struct pr_tf_example_frame f;
    uint64_t each, all;

    *ret_exact = spec->compression == PR_PLAIN;
    if (pr_tfrecord_check(spec, NULL))
        return UINT64_MAX;
    frame_of(spec, &f);
    each = tfrecord_record_bytes(spec, &f);
    all = each * spec->samples;
    if (spec->compression != PR_PLAIN)
        all = pr_deflate_bound(all);
    return all +
           (spec->index_name ? tfrecord_index_bytes(spec->samples, each) : 0);
}

/* ---- bytes on their way */

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

/* ---- records */

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

int pr_tfrecord_write(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_tfrecord_writer *t = w->data;
    uint64_t bytes = 0;
    int rc = pr_tfrecord_check(spec, err);

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

void pr_tfrecord_writer_done(struct pr_writer *w)
{
    struct pr_tfrecord_writer *t = w->data;

    pr_squeeze_done(&t->squeeze);
}
