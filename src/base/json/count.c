/* Bytes are counted sixteen at a time, in sixteen counters of a byte each. */
#include "base/json/count.h"

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STEP = 64 };

static __m128i count_load_block(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Of whole steps from *at on, which is moved behind them. */
static size_t count_byte_simd(const char **at, const char *end, char c)
{
    const __m128i wanted = _mm_set1_epi8(c), zero = _mm_setzero_si128();
    const char *p = *at;
    __m128i total = zero, some = zero; /* some: bytes that count up to 255 */
    uint64_t sum[2];

    while (end - p >= STEP) {
        for (int i = 0; i < 255 / 4 && end - p >= STEP; i++, p += STEP)
#pragma GCC unroll 4
            for (int k = 0; k < STEP; k += 16)
                some = _mm_sub_epi8(
                    some, _mm_cmpeq_epi8(count_load_block(p + k), wanted));
        total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
        some = zero;
    }
    for (; end - p >= 16; p += 16)
        some = _mm_sub_epi8(some, _mm_cmpeq_epi8(count_load_block(p), wanted));
    total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
    _mm_storeu_si128((__m128i *)(void *)sum, total);
    *at = p;
    return (size_t)(sum[0] + sum[1]);
}
#else
static size_t count_byte_simd(const char **at, const char *end, char c)
{
    (void)at, (void)end, (void)c;
    return 0;
}
#endif

size_t pr_count_byte(const char *p, const char *end, char c)
{
    size_t n = count_byte_simd(&p, end, c);

    for (; p < end; p++)
        n += *p == c;
    return n;
}
