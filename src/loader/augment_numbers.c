/* Numbers of any type as floats, and how pixels are normalised. */
#include "loader/augment.h"

#include <math.h>
#include <string.h>

/* Of the pictures of ImageNet, red, green and blue, where white is 1. */
static const double mean[] = {0.485, 0.456, 0.406},
                    deviation[] = {0.229, 0.224, 0.225};

void pr_augment_norm(const struct pr_augment *a, uint64_t channel, double most,
                     float *ret_factor, float *ret_plus)
{
    bool known = a->dims == 3 && a->shape[0] == 3 && channel < 3;
    double m = known ? mean[channel] : 0.5;
    double d = known ? deviation[channel] : 0.5;

    *ret_factor = (float)(1 / (most * d));
    *ret_plus = (float)(-m / d);
}

static float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float x = exponent == 31 ? (fraction ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(fraction + 1024), exponent - 25)
                             : ldexpf((float)fraction, -24);

    return half >> 15 ? -x : x;
}

/* Samples may lie anywhere in a file that is mapped. */
#define ANY(type, name) typedef type name __attribute__((aligned(1), may_alias))
ANY(uint16_t, any_u16);
ANY(int16_t, any_i16);
ANY(uint32_t, any_u32);
ANY(int32_t, any_i32);
ANY(uint64_t, any_u64);
ANY(int64_t, any_i64);
ANY(double, any_f64);

#define CONVERT(type)                    \
    do {                                 \
        const type *from = data;         \
        for (uint64_t i = 0; i < n; i++) \
            out[i] = (float)from[i];     \
    } while (0)

static void numbers_to_floats(const void *data, enum pr_dtype dtype, uint64_t n,
                              float *out)
{
    const any_u16 *half = data;

    switch (dtype) {
    case PR_U8:
        CONVERT(uint8_t);
        break;
    case PR_I8:
        CONVERT(int8_t);
        break;
    case PR_U16:
        CONVERT(any_u16);
        break;
    case PR_I16:
        CONVERT(any_i16);
        break;
    case PR_U32:
        CONVERT(any_u32);
        break;
    case PR_I32:
        CONVERT(any_i32);
        break;
    case PR_U64:
        CONVERT(any_u64);
        break;
    case PR_I64:
        CONVERT(any_i64);
        break;
    case PR_F64:
        CONVERT(any_f64);
        break;
    case PR_F16:
        for (uint64_t i = 0; i < n; i++)
            out[i] = half_to_float(half[i]);
        break;
    case PR_F32:
        memcpy(out, data, n * sizeof *out);
        break;
    case PR_B8:
        CONVERT(uint8_t);
        break;
    case PR_DTYPE_COUNT:
        break;
    }
}

void pr_augment_numbers(const struct pr_augment *a, const void *data,
                        enum pr_dtype dtype, float *out)
{
    uint64_t channels = a->dims == 3 ? a->shape[0] : 1;
    uint64_t each = a->count / channels;

    numbers_to_floats(data, dtype, a->count, out);
    if (dtype != PR_U8 && dtype != PR_U16)
        return;
    for (uint64_t c = 0; c < channels; c++) {
        float factor, plus, *at = out + c * each;

        pr_augment_norm(a, c, dtype == PR_U8 ? 255 : 65535, &factor, &plus);
        pr_augment_scale(at, each, factor, plus, at);
    }
}
