/*
 * tf.train.Example, the protobuf message inside TFRecord files, read and
 * written by hand: a map from names to lists of byte strings, of floats or of
 * int64s. Of these one is the sample and perhaps one the label.
 */
#ifndef PR_FORMAT_TF_EXAMPLE_H
#define PR_FORMAT_TF_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading */

/* A number of a protobuf message at *at, which is moved behind it; false: there
 * is none of 64 bits before end. */
static inline bool pr_get_varint(const uint8_t **at, const uint8_t *end,
                                 uint64_t *ret)
{
    const uint8_t *p = *at;
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t b = *p++;

        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *at = p;
            *ret = v;
            return true;
        }
    }
    return false;
}

enum pr_tf_example_kind {
    PR_TF_EXAMPLE_NONE,
    PR_TF_EXAMPLE_BYTES,
    PR_TF_EXAMPLE_FLOATS,
    PR_TF_EXAMPLE_INTS,
};

struct pr_tf_example {
    enum pr_tf_example_kind kind; /* NONE: there is nothing in it */
    const uint8_t *data;          /* borrowed; a list is as it was encoded */
    size_t size;
    uint64_t count; /* bytes, floats or int64s */
    bool has_label;
    int64_t label;
};

/* Finds the sample: the first string of `image`, `image/encoded`, `image_raw`
 * or `x`, else the longest feature of strings, else the longest list. Of
 * features of the same name the last counts. False: malformed, *ret_bad is
 * where. */
bool pr_tf_example_parse(const uint8_t *data, size_t size,
                         struct pr_tf_example *ret, size_t *ret_bad);

/* The floats or int64s of a list: count times 4 or 8 bytes. Floats may go to
 * where the list is, at it or before it. */
void pr_tf_example_decode(const struct pr_tf_example *e, void *out);

/* ---- writing */

/* An Example with `image`, `size` and perhaps `label`: the image goes between
 * head and tail. Its size depends on nothing but the arguments of init. */
struct pr_tf_example_frame {
    uint8_t head[64], tail[64];
    size_t head_len, tail_len;
    unsigned label_len; /* 0: there is none */
};

/* classes below 2: without a label. */
void pr_tf_example_frame_init(struct pr_tf_example_frame *f, uint64_t bytes,
                              uint64_t classes);
void pr_tf_example_frame_label(struct pr_tf_example_frame *f, int64_t label);

#endif
