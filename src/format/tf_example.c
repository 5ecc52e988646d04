/*
 * tf.train.Example, read and written by hand.
 *   Example   { Features features = 1; }
 *   Features  { map<string, Feature> feature = 1; }  entry: key = 1, value = 2
 *   Feature   { oneof: BytesList = 1, FloatList = 2, Int64List = 3 }
 *   lists     { repeated bytes, float or int64 value = 1; }
 */
#include "format/tf_example.h"

#include "base/text.h"
#include "format/dtype.h"

#include <endian.h>
#include <string.h>

/* ---- writing */

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

/* ---- reading: the encoding */

enum wire_type { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

#define TAG(number, type) ((uint64_t)(number) << 3 | (type))

struct wire {
    const uint8_t *p, *end;
};

struct field {
    uint64_t tag;
    uint64_t number;     /* of VARINT */
    const uint8_t *data; /* of the others */
    size_t len;
};

static bool tf_example_get_bytes(struct wire *w, uint64_t len, struct field *f)
{
    if (len > (size_t)(w->end - w->p))
        return false;
    f->data = w->p;
    f->len = (size_t)len;
    w->p += len;
    return true;
}

static bool get_value(struct wire *w, struct field *f)
{
    uint64_t len;

    switch (f->tag & 7) {
    case VARINT:
        return pr_get_varint(&w->p, w->end, &f->number);
    case FIXED64:
        return tf_example_get_bytes(w, 8, f);
    case LENGTH:
        return pr_get_varint(&w->p, w->end, &len) &&
               tf_example_get_bytes(w, len, f);
    case FIXED32:
        return tf_example_get_bytes(w, 4, f);
    default: /* groups: no Example was ever written with them */
        return false;
    }
}

enum step { BAD = -1, END, FIELD };

/* The next field; BAD leaves w at its start. */
static enum step next_field(struct wire *w, struct field *f)
{
    struct wire at = *w;

    if (at.p == at.end)
        return END;
    *f = (struct field){.data = at.p};
    if (!pr_get_varint(&at.p, at.end, &f->tag) || f->tag >> 3 == 0 ||
        f->tag >> 32 || !get_value(&at, f))
        return BAD;
    *w = at;
    return FIELD;
}

static struct wire tf_example_enter_field(const struct field *f)
{
    return (struct wire){f->data, f->data + f->len};
}

/* ---- reading: what is in it */

struct feature {
    enum pr_tf_example_kind kind; /* a list without a string is NONE */
    const uint8_t *key;
    size_t key_len;
    const uint8_t *data; /* the first string, or the encoded list */
    size_t size;
};

static const char *const image_names[] = {"image", "image/encoded", "image_raw",
                                          "x"};
static const char *const label_names[] = {"label", "image/class/label", "y"};

enum {
    IMAGE_NAMES = sizeof image_names / sizeof *image_names,
    LABEL_NAMES = sizeof label_names / sizeof *label_names,
};

/* What has been seen so far. */
struct seen {
    struct feature image[IMAGE_NAMES], label[LABEL_NAMES];
    struct feature strings, list; /* the longest of each */
    const uint8_t *bad;
};

static bool is_bad(struct seen *s, const struct wire *w)
{
    s->bad = w->p;
    return false;
}

/* The first string becomes the feature's. */
static bool read_strings(struct seen *s, const struct field *list,
                         struct feature *ret)
{
    struct wire w = tf_example_enter_field(list);
    struct field f;
    enum step step;

    ret->kind = PR_TF_EXAMPLE_NONE;
    while ((step = next_field(&w, &f)) == FIELD)
        if (f.tag == TAG(1, LENGTH) && ret->kind == PR_TF_EXAMPLE_NONE) {
            ret->kind = PR_TF_EXAMPLE_BYTES;
            ret->data = f.data;
            ret->size = f.len;
        }
    return step == END || is_bad(s, &w);
}

static bool read_feature(struct seen *s, const struct field *value,
                         struct feature *ret)
{
    struct wire w = tf_example_enter_field(value);
    struct field f;
    enum step step;

    while ((step = next_field(&w, &f)) == FIELD) {
        if (f.tag == TAG(1, LENGTH) && !read_strings(s, &f, ret))
            return false;
        if (f.tag == TAG(2, LENGTH) || f.tag == TAG(3, LENGTH)) {
            ret->kind = f.tag == TAG(2, LENGTH) ? PR_TF_EXAMPLE_FLOATS
                                                : PR_TF_EXAMPLE_INTS;
            ret->data = f.data;
            ret->size = f.len;
        }
    }
    return step == END || is_bad(s, &w);
}

static bool tf_example_is_named(const struct feature *f, const char *name)
{
    return pr_text_is((const char *)f->key, f->key_len, name);
}

/* Below 0 when a's name comes first. A map has no order of its own. */
static int tf_example_compare_names(const struct feature *a,
                                    const struct feature *b)
{
    size_t n = a->key_len < b->key_len ? a->key_len : b->key_len;
    int order = n ? memcmp(a->key, b->key, n) : 0;

    return order ? order
                 : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

static void keep_longest(struct feature *best, const struct feature *f)
{
    int order = best->kind ? tf_example_compare_names(f, best) : -1;

    if (!best->kind || order == 0 || f->size > best->size ||
        (f->size == best->size && order < 0))
        *best = *f;
}

static void tf_example_keep_feature(struct seen *s, const struct feature *f)
{
    for (int i = 0; i < IMAGE_NAMES; i++)
        if (tf_example_is_named(f, image_names[i]))
            s->image[i] = *f;
    for (int i = 0; i < LABEL_NAMES; i++)
        if (tf_example_is_named(f, label_names[i]))
            s->label[i] = *f;
    if (f->kind == PR_TF_EXAMPLE_BYTES)
        keep_longest(&s->strings, f);
    else if (f->kind != PR_TF_EXAMPLE_NONE)
        keep_longest(&s->list, f);
}

static bool tf_example_read_entry(struct seen *s, const struct field *entry)
{
    struct wire w = tf_example_enter_field(entry);
    struct feature feature = {.key = entry->data};
    struct field f;
    enum step step;

    while ((step = next_field(&w, &f)) == FIELD) {
        if (f.tag == TAG(1, LENGTH)) {
            feature.key = f.data;
            feature.key_len = f.len;
        }
        if (f.tag == TAG(2, LENGTH) && !read_feature(s, &f, &feature))
            return false;
    }
    if (step == BAD)
        return is_bad(s, &w);
    tf_example_keep_feature(s, &feature);
    return true;
}

static bool read_features(struct seen *s, const struct field *features)
{
    struct wire w = tf_example_enter_field(features);
    struct field f;
    enum step step;

    while ((step = next_field(&w, &f)) == FIELD)
        if (f.tag == TAG(1, LENGTH) && !tf_example_read_entry(s, &f))
            return false;
    return step == END || is_bad(s, &w);
}

static bool read_example(struct seen *s, struct wire w)
{
    struct field f;
    enum step step;

    while ((step = next_field(&w, &f)) == FIELD)
        if (f.tag == TAG(1, LENGTH) && !read_features(s, &f))
            return false;
    return step == END || is_bad(s, &w);
}

/* ---- reading: lists: packed, or a field for every number, or both */

static bool count_floats(struct seen *s, const struct feature *list,
                         uint64_t *ret)
{
    struct wire w = {list->data, list->data + list->size};
    struct field f;
    enum step step;

    *ret = 0;
    while ((step = next_field(&w, &f)) == FIELD) {
        if (f.tag != TAG(1, LENGTH) && f.tag != TAG(1, FIXED32))
            continue;
        if (f.len % 4) {
            s->bad = f.data;
            return false;
        }
        *ret += f.len / 4;
    }
    return step == END || is_bad(s, &w);
}

static void decode_floats(const struct pr_tf_example *e, uint8_t *out)
{
    struct wire w = {e->data, e->data + e->size};
    struct field f;

    while (next_field(&w, &f) == FIELD) {
        if (f.tag != TAG(1, LENGTH) && f.tag != TAG(1, FIXED32))
            continue;
        memmove(out, f.data, f.len);
        if (__BYTE_ORDER == __BIG_ENDIAN)
            pr_dtype_swap(PR_F32, out, f.len);
        out += f.len;
    }
}

/* Puts the numbers at out unless it is NULL. */
static bool walk_ints(struct seen *s, const struct feature *list, uint8_t *out,
                      uint64_t *ret)
{
    struct wire w = {list->data, list->data + list->size};
    struct field f;
    enum step step;
    uint64_t n = 0;

    while ((step = next_field(&w, &f)) == FIELD) {
        struct wire in = tf_example_enter_field(&f);

        if (f.tag == TAG(1, VARINT)) {
            if (out)
                memcpy(out + 8 * n, &f.number, 8);
            n++;
        }
        while (f.tag == TAG(1, LENGTH) && in.p < in.end) {
            uint64_t v;
            if (!pr_get_varint(&in.p, in.end, &v))
                return is_bad(s, &in);
            if (out)
                memcpy(out + 8 * n, &v, 8);
            n++;
        }
    }
    *ret = n;
    return step == END || is_bad(s, &w);
}

/* The first number of a list, if it has one. */
static bool read_label(struct seen *s, const struct feature *list,
                       struct pr_tf_example *e)
{
    struct wire w = {list->data, list->data + list->size};
    struct field f;
    enum step step;

    while (!e->has_label && (step = next_field(&w, &f)) != END) {
        struct wire in = tf_example_enter_field(&f);
        uint64_t v = f.number;

        if (step == BAD)
            return is_bad(s, &w);
        if (f.tag == TAG(1, LENGTH) && f.len) {
            if (!pr_get_varint(&in.p, in.end, &v))
                return is_bad(s, &in);
        } else if (f.tag != TAG(1, VARINT)) {
            continue;
        }
        e->label = (int64_t)v;
        e->has_label = true;
    }
    return true;
}

/* ---- reading: the choice */

static const struct feature *tf_example_choose_data(const struct seen *s)
{
    for (int i = 0; i < IMAGE_NAMES; i++)
        if (s->image[i].kind == PR_TF_EXAMPLE_BYTES)
            return &s->image[i];
    return s->strings.kind ? &s->strings : &s->list;
}

static bool tf_example_fill(struct seen *s, struct pr_tf_example *e)
{
    const struct feature *f = tf_example_choose_data(s);

    e->kind = f->kind;
    e->data = f->data;
    e->size = f->size;
    e->count = f->size;
    for (int i = 0; i < LABEL_NAMES && !e->has_label; i++)
        if (s->label[i].kind == PR_TF_EXAMPLE_INTS &&
            !read_label(s, &s->label[i], e))
            return false;
    if (f->kind == PR_TF_EXAMPLE_FLOATS)
        return count_floats(s, f, &e->count);
    return f->kind != PR_TF_EXAMPLE_INTS || walk_ints(s, f, NULL, &e->count);
}

bool pr_tf_example_parse(const uint8_t *data, size_t size,
                         struct pr_tf_example *ret, size_t *ret_bad)
{
    struct seen s = {.bad = data};
    struct pr_tf_example e = {0};

    if (!read_example(&s, (struct wire){data, data + size}) ||
        !tf_example_fill(&s, &e)) {
        *ret_bad = (size_t)(s.bad - data);
        return false;
    }
    *ret = e;
    return true;
}

void pr_tf_example_decode(const struct pr_tf_example *e, void *out)
{
    struct feature list = {.data = e->data, .size = e->size};
    struct seen s;
    uint64_t n;

    if (e->kind == PR_TF_EXAMPLE_FLOATS)
        decode_floats(e, out);
    else
        walk_ints(&s, &list, out, &n);
}
