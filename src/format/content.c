/*
 * What samples hold: format synthetic, element types, and random contents that
 * follow from a key, on their way into a stream.
 */
#include "format/content.h"

#include "base/names.h"
#include "base/random.h"
#include "format/dtype.h"
#include "format/format.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- format synthetic: files that hold nothing but their number, as DLIO
 * writes them. A reader opens nothing and makes up samples without a byte. What
 * is left is the cost of everything else. */

struct synthetic_writer {
    struct pr_out out;
};

static int number_text(const struct pr_file_spec *spec, char *out, size_t cap)
{
    return snprintf(out, cap, "%llu", (unsigned long long)spec->number);
}

static int synthetic_check(const struct pr_file_spec *spec, struct pr_err *err)
{
    if (spec->compression != PR_PLAIN)
        return pr_fail(err, PR_E_CONF, "dataset.compression",
                       "synthetic files are not compressed");
    return PR_OK;
}

static uint64_t synthetic_bytes(const struct pr_file_spec *spec,
                                bool *ret_exact)
{
    char text[24];

    *ret_exact = true;
    return (uint64_t)number_text(spec, text, sizeof text);
}

static int synthetic_write(struct pr_writer *w, const struct pr_file_spec *spec,
                           const char *name, uint64_t *ret_bytes,
                           struct pr_err *err)
{
    struct pr_out *out = &((struct synthetic_writer *)w->data)->out;
    char text[24];
    size_t n = (size_t)number_text(spec, text, sizeof text);
    int rc = synthetic_check(spec, err);

    if (!rc && !out->block)
        rc = pr_out_init(out, w->st, err);
    if (!rc)
        rc = pr_out_create(out, name, n, err);
    if (!rc)
        rc = pr_out_put(out, text, n, err);
    if (!rc)
        rc = pr_out_commit(out, err);
    if (rc)
        pr_out_discard(out);
    else
        *ret_bytes = n;
    return rc;
}

static int synthetic_open(struct pr_reader *r, struct pr_err *err)
{
    (void)err;
    r->samples = r->opts.samples ? r->opts.samples : 1;
    return PR_OK;
}

static int synthetic_read(struct pr_reader *r, uint64_t i, void *buf,
                          size_t cap, struct pr_sample *ret, struct pr_err *err)
{
    (void)r;
    (void)i;
    (void)cap;
    (void)err;
    *ret = (struct pr_sample){
        .data = buf,
        .dtype = PR_U8,
        .shape = {.ndim = 1, .dim = {0}},
    };
    return PR_OK;
}

static void synthetic_close(struct pr_reader *r)
{
    (void)r;
}

const struct pr_format pr_format_synthetic = {
    .abi = PR_FORMAT_ABI,
    .name = "synthetic",
    .desc = "a number: samples are made up, nothing is read",
    .flags = PR_FORMAT_EMPTY,
    .compressions = "none",
    .check = synthetic_check,
    .bytes = synthetic_bytes,
    .writer_bytes = sizeof(struct synthetic_writer),
    .write = synthetic_write,
    .open = synthetic_open,
    .read = synthetic_read,
    .close = synthetic_close,
};

/* ---- element types */

static const struct {
    const char *name;
    size_t bytes;
    char letter;
} types[] = {
#define X(id, name, bytes, letter) {name, bytes, letter},
    PR_DTYPES(X)
#undef X
};

size_t pr_dtype_bytes(enum pr_dtype t)
{
    return types[t].bytes;
}

const char *pr_dtype_name(enum pr_dtype t)
{
    return types[t].name;
}

char pr_dtype_letter(enum pr_dtype t)
{
    return types[t].letter;
}

bool pr_dtype_find(const char *name, enum pr_dtype *ret)
{
    static const struct {
        const char *name;
        enum pr_dtype type;
    } also[] = {
        {"bool_", PR_B8},   {"half", PR_F16},  {"single", PR_F32},
        {"double", PR_F64}, {"float", PR_F64}, {"int", PR_I64},
        {"byte", PR_I8},    {"ubyte", PR_U8},  {"short", PR_I16},
        {"ushort", PR_U16}, {"intc", PR_I32},  {"uintc", PR_U32},
    };

    for (int t = 0; t < PR_DTYPE_COUNT; t++)
        if (strcmp(types[t].name, name) == 0) {
            *ret = (enum pr_dtype)t;
            return true;
        }
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (strcmp(also[i].name, name) == 0) {
            *ret = also[i].type;
            return true;
        }
    return false;
}

bool pr_dtype_of(char letter, size_t bytes, enum pr_dtype *ret)
{
    for (int t = 0; t < PR_DTYPE_COUNT; t++)
        if (types[t].letter == letter && types[t].bytes == bytes) {
            *ret = (enum pr_dtype)t;
            return true;
        }
    return false;
}

const char *pr_dtype_list(void)
{
    static const char list[] =
#define X(id, name, bytes, letter) ", " name
        PR_DTYPES(X)
#undef X
        ;
    return list + 2;
}

void pr_dtype_swap(enum pr_dtype t, void *data, size_t bytes)
{
    uint8_t *p = data, *end = p + bytes;

    switch (types[t].bytes) {
    case 2:
        for (; p + 2 <= end; p += 2) {
            uint16_t v;
            memcpy(&v, p, 2);
            v = __builtin_bswap16(v);
            memcpy(p, &v, 2);
        }
        break;
    case 4:
        for (; p + 4 <= end; p += 4) {
            uint32_t v;
            memcpy(&v, p, 4);
            v = __builtin_bswap32(v);
            memcpy(p, &v, 4);
        }
        break;
    case 8:
        for (; p + 8 <= end; p += 8) {
            uint64_t v;
            memcpy(&v, p, 8);
            v = __builtin_bswap64(v);
            memcpy(p, &v, 8);
        }
        break;
    default:
        break;
    }
}

static uint64_t content_mix(uint64_t a, uint64_t b)
{
    return pr_hash_mix(a + 0x9e3779b97f4a7c15u * (b + 1));
}

uint64_t pr_content_key(uint64_t seed, unsigned split, uint64_t number)
{
    return content_mix(content_mix(pr_hash_mix(seed + 1), split), number);
}

int64_t pr_content_label(const struct pr_file_spec *spec, uint64_t sample)
{
    uint64_t x = content_mix(~spec->key, sample);

    return spec->classes < 2 ? 0 : (int64_t)(x % spec->classes);
}

/* The upper bits of a word as a number in [0, 1): in place. */
static void to_f32(void *data, size_t bytes)
{
    for (uint8_t *p = data, *end = p + bytes; p < end; p += 4) {
        uint32_t u;
        float f;
        memcpy(&u, p, 4);
        f = (float)(int32_t)(u >> 8) * 0x1p-24f;
        memcpy(p, &f, 4);
    }
}

static void to_f64(void *data, size_t bytes)
{
    for (uint8_t *p = data, *end = p + bytes; p < end; p += 8) {
        uint64_t u;
        double f;
        memcpy(&u, p, 8);
        f = (double)(int64_t)(u >> 11) * 0x1p-53;
        memcpy(p, &f, 8);
    }
}

/* n / 2048 as an IEEE half: eleven bits are all it has. */
static uint16_t half_of(unsigned n)
{
    unsigned top;

    if (!n)
        return 0;
    top = 31u - (unsigned)__builtin_clz(n); /* n = 2^top * 1.fraction */
    return (uint16_t)((top + 4u) << 10 | (n << (10 - top) & 0x3ffu));
}

static void to_f16(void *data, size_t bytes)
{
    for (uint8_t *p = data, *end = p + bytes; p < end; p += 2) {
        uint16_t u;
        memcpy(&u, p, 2);
        u = half_of(u >> 5);
        memcpy(p, &u, 2);
    }
}

static void content_to_bool(void *data, size_t bytes)
{
    for (uint8_t *p = data, *end = p + bytes; p < end; p++)
        *p &= 1;
}

static void fill_labels(const struct pr_file_spec *spec, uint64_t sample,
                        void *out, size_t len)
{
    int64_t label = pr_content_label(spec, sample);

    memcpy(out, &label, len < sizeof label ? len : sizeof label);
}

void pr_content_fill(const struct pr_file_spec *spec, uint64_t sample,
                     uint64_t off, void *out, size_t len)
{
    if (spec->labels_alone) {
        fill_labels(spec, sample, out, len);
        return;
    }
    pr_noise_fill(out, len, content_mix(spec->key, sample),
                  off / PR_NOISE_BLOCK);
    switch (spec->dtype) {
    case PR_F16:
        to_f16(out, len);
        break;
    case PR_F32:
        to_f32(out, len);
        break;
    case PR_F64:
        to_f64(out, len);
        break;
    case PR_B8:
        content_to_bool(out, len);
        break;
    default:
        break;
    }
}

/* ---- the content of a sample, put into a stream */

/* Vectors are stored whole only where they are aligned; elsewhere a copy is
 * cheaper. */
enum { GOOD_ALIGN = 32 };

/* What is summed up should still be in the cache next to the processor. */
enum { STEP = PR_CONTENT_BLOCK };

/* Some bytes from off on, `left` of the sample are to come; *ret are they. */
static int content_put_piece(struct pr_out *out, struct pr_content_piece *piece,
                             const struct pr_file_spec *spec, uint64_t sample,
                             uint64_t off, uint64_t left, const void **ret,
                             size_t *ret_len, struct pr_err *err)
{
    size_t want = left < STEP ? (size_t)left : STEP, n;
    uint8_t *room;
    int rc = pr_out_room(out, want, &room, &n, err);

    if (rc)
        return rc;
    if (n < left)
        n -= n % PR_CONTENT_BLOCK;
    if (n && (uintptr_t)room % GOOD_ALIGN == 0) {
        pr_content_fill(spec, sample, off, room, n);
        pr_out_advance(out, n);
        *ret = room;
    } else {
        n = left < PR_CONTENT_BLOCK ? (size_t)left : PR_CONTENT_BLOCK;
        pr_content_fill(spec, sample, off, piece->word, n);
        rc = pr_out_put(out, piece->word, n, err);
        *ret = piece->word;
    }
    *ret_len = n;
    return rc;
}

int pr_content_put_sample(struct pr_writer *w, struct pr_out *out,
                          struct pr_content_piece *piece,
                          const struct pr_file_spec *spec, uint64_t sample,
                          pr_fill_sum *sum, uint32_t *crc, struct pr_err *err)
{
    uint64_t bytes = pr_spec_sample_bytes(spec);
    const void *data;
    size_t n;

    for (uint64_t off = 0; off < bytes; off += n) {
        int rc = content_put_piece(out, piece, spec, sample, off, bytes - off,
                                   &data, &n, err);

        if (rc)
            return rc;
        if (sum)
            *crc = sum(*crc, data, n);
        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return PR_OK;
}
