/*
 * CRC-32 by folding (Gopal and others, Intel 2009), 256 bytes a step in eight
 * vectors: each is multiplied by x^2048 modulo the polynomial and added to
 * what comes 256 bytes later. Twice as fast as with 128-bit vectors.
 */
#include "base/codec/checksum_wide.h"

#if PR_CRC32_WIDE

#include <immintrin.h>

#define WIDE __attribute__((target("avx2,pclmul,vpclmulqdq")))

enum { VECTORS = 8, CHECKSUM_WIDE_STEP = VECTORS * 32 };

/* x^(2048+32) and x^(2048-32) modulo the polynomial, reflected, shifted by
 * one: of CRC-32 and of CRC-32C. */
static const long long factor[2][2] = {
    [PR_CRC32] = {0x11542778a, 0x1322d1430},
    [PR_CRC32C] = {0x0dcb17aa4, 0x0b9e02b86},
};

int pr_crc32_wide_works(void)
{
    return __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("vpclmulqdq");
}

WIDE static inline __m256i crc_load_block(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

WIDE static inline __m256i crc_fold_block(__m256i x, __m256i factors,
                                          __m256i next)
{
    __m256i low = _mm256_clmulepi64_epi128(x, factors, 0x00);
    __m256i high = _mm256_clmulepi64_epi128(x, factors, 0x11);

    return _mm256_xor_si256(_mm256_xor_si256(low, high), next);
}

WIDE void pr_crc32_wide_fold(enum pr_crc32_kind kind, uint32_t crc,
                             const uint8_t *data, size_t len,
                             uint8_t rest[static 256])
{
    const long long *f = factor[kind];
    const __m256i factors = _mm256_set_epi64x(f[1], f[0], f[1], f[0]);
    __m256i x[VECTORS];

    for (int i = 0; i < VECTORS; i++)
        x[i] = crc_load_block(data + 32 * i);
    x[0] = _mm256_xor_si256(x[0],
                            _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)~crc));
    for (data += CHECKSUM_WIDE_STEP, len -= CHECKSUM_WIDE_STEP;
         len >= CHECKSUM_WIDE_STEP;
         data += CHECKSUM_WIDE_STEP, len -= CHECKSUM_WIDE_STEP)
#pragma GCC unroll 8
        for (int i = 0; i < VECTORS; i++)
            x[i] = crc_fold_block(x[i], factors, crc_load_block(data + 32 * i));
    for (int i = 0; i < VECTORS; i++)
        _mm256_storeu_si256((__m256i *)(void *)(rest + 32 * i), x[i]);
}

#else
typedef int not_empty; /* ISO C wants a declaration */
#endif
