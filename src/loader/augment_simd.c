/*
 * The two passes over a picture. Down: weighted sums of rows of bytes, sixteen
 * at a time where the processor can. Across: a pixel's channels in a vector,
 * and a loop for each number of taps, as a branch for each pixel would be
 * guessed wrong. No fused multiplication, so that all ways give the same.
 */
#include "loader/augment.h"

#include <string.h>

#if defined(__x86_64__)
#define PR_BLEND_WIDE 1
#include <immintrin.h>
#else
#define PR_BLEND_WIDE 0
#endif

static void blend_plain(const uint8_t *data, size_t stride,
                        const float *weights, unsigned count, size_t from,
                        size_t n, float *out)
{
    for (size_t i = from; i < n; i++) {
        float sum = 0;

        for (unsigned k = 0; k < count; k++)
            sum += weights[k] * (float)data[k * stride + i];
        out[i] = sum;
    }
}

#if PR_BLEND_WIDE

#define WIDE __attribute__((target("avx2")))

WIDE static inline __m256 simd_load_bytes(const uint8_t *p)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)p);

    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
}

/* Answers how many were done: a multiple of 16. */
WIDE static size_t blend_wide(const uint8_t *data, size_t stride,
                              const float *weights, unsigned count, size_t n,
                              float *out)
{
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_setzero_ps(), b = a;

        for (unsigned k = 0; k < count; k++) {
            __m256 w = _mm256_set1_ps(weights[k]);
            const uint8_t *p = data + k * stride + i;

            a = _mm256_add_ps(a, _mm256_mul_ps(w, simd_load_bytes(p)));
            b = _mm256_add_ps(b, _mm256_mul_ps(w, simd_load_bytes(p + 8)));
        }
        _mm256_storeu_ps(out + i, a);
        _mm256_storeu_ps(out + i + 8, b);
    }
    return i;
}

#endif

void pr_augment_blend(const uint8_t *data, size_t stride, const float *weights,
                      unsigned count, size_t n, float *out)
{
    size_t done = 0;

#if PR_BLEND_WIDE
    if (__builtin_cpu_supports("avx2"))
        done = blend_wide(data, stride, weights, count, n, out);
#endif
    blend_plain(data, stride, weights, count, done, n, out);
}

/* ---- across */

typedef float pixel __attribute__((vector_size(16)));

static inline pixel pixel_load(const float *p)
{
    pixel x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* What does not change within a row, where the compiler knows that. */
struct row {
    const float *from, *weights;
    const uint32_t *first;
    size_t left, stride;
    pixel factor, plus;
};

static struct row across_make_row(const struct pr_augment_across *a)
{
    return (struct row){.from = a->row,
                        .left = a->left,
                        .weights = a->taps->weights,
                        .first = a->taps->first,
                        .stride = a->taps->taps,
                        .factor = pixel_load(a->factor),
                        .plus = pixel_load(a->plus)};
}

static inline __attribute__((always_inline)) pixel
pixel_at(const struct row *r, uint64_t x, unsigned taps)
{
    const float *from = r->from + 3 * (r->first[x] - r->left);
    const float *w = r->weights + x * r->stride;
    pixel sum = w[0] * pixel_load(from);

    for (unsigned k = 1; k < taps; k++)
        sum += w[k] * pixel_load(from + 3 * (size_t)k);
    return sum * r->factor + r->plus;
}

/* Pixels from `x` on, one by one. */
static inline __attribute__((always_inline)) void
across_scale_remaining(const struct pr_augment_across *a, uint64_t x,
                       unsigned taps)
{
    struct row r = across_make_row(a);

    for (; x < a->columns; x++) {
        pixel p = pixel_at(&r, x, taps);

        for (int c = 0; c < 3; c++)
            a->out[x + (uint64_t)c * a->plane] = p[c];
    }
}

#if PR_BLEND_WIDE

/* Four pixels of three channels become three vectors of four. */
static inline __attribute__((always_inline, target("avx2"))) void
across_wide(const struct pr_augment_across *a, unsigned taps)
{
    float *first = a->out, *second = first + a->plane;
    float *third = second + a->plane;
    uint64_t x = 0, n = a->columns;
    struct row r = across_make_row(a);

    for (; x + 4 <= n; x += 4) {
        __m128 p = pixel_at(&r, x, taps), q = pixel_at(&r, x + 1, taps);
        __m128 s = pixel_at(&r, x + 2, taps), t = pixel_at(&r, x + 3, taps);

        _MM_TRANSPOSE4_PS(p, q, s, t);
        _mm_storeu_ps(first + x, p);
        _mm_storeu_ps(second + x, q);
        _mm_storeu_ps(third + x, s);
        (void)t;
    }
    across_scale_remaining(a, x, taps);
}

WIDE static void across_any_wide(const struct pr_augment_across *a)
{
    switch (a->taps->most) {
    case 1:
        across_wide(a, 1);
        break;
    case 2:
        across_wide(a, 2);
        break;
    case 3:
        across_wide(a, 3);
        break;
    case 4:
        across_wide(a, 4);
        break;
    case 5:
        across_wide(a, 5);
        break;
    case 6:
        across_wide(a, 6);
        break;
    default:
        across_wide(a, a->taps->most);
    }
}

#endif

void pr_augment_across(const struct pr_augment_across *a)
{
#if PR_BLEND_WIDE
    if (__builtin_cpu_supports("avx2")) {
        across_any_wide(a);
        return;
    }
#endif
    across_scale_remaining(a, 0, a->taps->most);
}

/* ---- one channel */

static float gray_at(const struct row *r, uint64_t x, unsigned taps)
{
    const float *from = r->from + (r->first[x] - r->left);
    const float *w = r->weights + x * r->stride;
    float sum = w[0] * from[0];

    for (unsigned k = 1; k < taps; k++)
        sum += w[k] * from[k];
    return sum;
}

#if PR_BLEND_WIDE

/* Four taps of a pixel, multiplied. */
static inline __m128 four_taps(const struct row *r, uint64_t x, unsigned k)
{
    return pixel_load(r->weights + x * r->stride + k) *
           pixel_load(r->from + (r->first[x] - r->left) + k);
}

/* Four pixels at a time; answers how many were done. Sums are in the order of
 * taps, as one by one. */
static uint64_t gray_wide(const struct row *r, uint64_t n, unsigned taps,
                          float *out)
{
    uint64_t x = 0;

    for (; x + 4 <= n; x += 4) {
        __m128 sum = _mm_setzero_ps();

        for (unsigned k = 0; k < taps; k += 4) {
            __m128 p = four_taps(r, x, k), q = four_taps(r, x + 1, k);
            __m128 s = four_taps(r, x + 2, k), t = four_taps(r, x + 3, k);

            _MM_TRANSPOSE4_PS(p, q, s, t);
            sum = sum + p + q + s + t;
        }
        _mm_storeu_ps(out + x, sum);
    }
    return x;
}

#endif

void pr_augment_gray(const struct pr_augment_across *a)
{
    struct row r = across_make_row(a);
    uint64_t x = 0;

#if PR_BLEND_WIDE
    x = gray_wide(&r, a->columns, a->taps->most, a->out);
#endif
    for (; x < a->columns; x++)
        a->out[x] = gray_at(&r, x, a->taps->most);
}

void pr_augment_scale(const float *from, uint64_t n, float factor, float plus,
                      float *out)
{
    uint64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        pixel x = pixel_load(from + i) * factor + plus;

        memcpy(out + i, &x, sizeof x);
    }
    for (; i < n; i++)
        out[i] = from[i] * factor + plus;
}
