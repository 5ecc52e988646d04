/* TFRecord files: the format, and what its readers have in common. */
#include "format/tfrecord.h"

#include "base/codec/checksum.h"
#include "format/example.h"

#include <endian.h>
#include <string.h>

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

/* ---- samples */

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
    return pr_tfrecord_plain_open(r, start, len, err);
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
                        : pr_tfrecord_plain_read(r, i, buf, cap, ret, err);
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
    .check = pr_tfrecord_check,
    .bytes = pr_tfrecord_bytes,
    .writer_bytes = sizeof(struct pr_tfrecord_writer),
    .write = pr_tfrecord_write,
    .writer_done = pr_tfrecord_writer_done,
    .reader_bytes = sizeof(struct pr_tfrecord),
    .open = tfrecord_open,
    .read = tfrecord_read,
    .close = tfrecord_close,
    .reader_done = tfrecord_reader_done,
};
