/* tf.train.Example, written by hand; see example.c for the message. */
#include "format/example.h"

#include <string.h>

static unsigned varint_len(uint64_t v)
{
    unsigned n = 1;

    while (v >>= 7)
        n++;
    return n;
}

/* In exactly so many bytes, which may be more than it needs. */
static uint8_t *tf_example_put_varint(uint8_t *p, uint64_t v, unsigned len)
{
    while (--len) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)(v & 0x7f);
    return p;
}

static uint8_t *put_tag(uint8_t *p, uint8_t tag, uint64_t len)
{
    *p++ = tag;
    return tf_example_put_varint(p, len, varint_len(len));
}

static uint8_t *tf_example_put_text(uint8_t *p, const char *text)
{
    size_t n = strlen(text);

    p = put_tag(p, 0x0a, n);
    memcpy(p, text, n);
    return p + n;
}

/* Bytes of a field of len bytes, with its tag. */
static uint64_t tf_example_field_bytes(uint64_t len)
{
    return 1 + varint_len(len) + len;
}

/* The entry of one int64 up to the number itself. */
static uint8_t *put_int_entry(uint8_t *p, const char *name, unsigned len)
{
    uint64_t packed = len, list = tf_example_field_bytes(packed),
             feature = tf_example_field_bytes(list);

    p = put_tag(p, 0x0a,
                tf_example_field_bytes(strlen(name)) +
                    tf_example_field_bytes(feature));
    p = tf_example_put_text(p, name);
    p = put_tag(p, 0x12, feature);
    p = put_tag(p, 0x1a, list);
    return put_tag(p, 0x0a, packed);
}

static void init_tail(struct pr_tf_example_frame *f, uint64_t bytes)
{
    unsigned len = varint_len(bytes);
    uint8_t *p = put_int_entry(f->tail, "size", len);

    p = tf_example_put_varint(p, bytes, len);
    if (f->label_len) {
        p = put_int_entry(p, "label", f->label_len);
        p = tf_example_put_varint(p, 0, f->label_len);
    }
    f->tail_len = (size_t)(p - f->tail);
}

static void init_head(struct pr_tf_example_frame *f, uint64_t bytes)
{
    uint64_t list = tf_example_field_bytes(bytes),
             feature = tf_example_field_bytes(list);
    uint64_t entry = tf_example_field_bytes(strlen("image")) +
                     tf_example_field_bytes(feature);
    uint8_t *p =
        put_tag(f->head, 0x0a, tf_example_field_bytes(entry) + f->tail_len);

    p = put_tag(p, 0x0a, entry);
    p = tf_example_put_text(p, "image");
    p = put_tag(p, 0x12, feature);
    p = put_tag(p, 0x0a, list);
    p = put_tag(p, 0x0a, bytes);
    f->head_len = (size_t)(p - f->head);
}

/* All labels take as many bytes as the largest: then records, files and
 * offsets have sizes that are known without the labels. */
void pr_tf_example_frame_init(struct pr_tf_example_frame *f, uint64_t bytes,
                              uint64_t classes)
{
    f->label_len = classes < 2 ? 0 : varint_len(classes - 1);
    init_tail(f, bytes);
    init_head(f, bytes);
}

void pr_tf_example_frame_label(struct pr_tf_example_frame *f, int64_t label)
{
    if (f->label_len)
        tf_example_put_varint(f->tail + f->tail_len - f->label_len,
                              (uint64_t)label, f->label_len);
}
