/* Random contents that follow from a key; see content.h. */
#include "format/content.h"

#include "base/names.h"
#include "base/random.h"

#include <string.h>

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
