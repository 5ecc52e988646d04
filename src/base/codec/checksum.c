/*
 * CRC-32 and CRC-32C by isa-l, or by zlib and a table where it is missing. Long
 * runs are folded first on processors that multiply four polynomials at once.
 */
#include "base/codec/checksum.h"

#include <stddef.h>
#include <stdint.h>

/* ---- folding */

/*
 * CRC-32 by folding (Gopal and others, Intel 2009), 256 bytes a step in eight
 * vectors: each is multiplied by x^2048 modulo the polynomial and added to
 * what comes 256 bytes later. Twice as fast as with 128-bit vectors.
 */

#if PR_HAVE_ISAL && defined(__x86_64__)
#define PR_CRC32_WIDE 1

#include <immintrin.h>

#define WIDE __attribute__((target("avx2,pclmul,vpclmulqdq")))

enum pr_crc32_kind { PR_CRC32, PR_CRC32C };

enum { VECTORS = 8, FOLD_STEP = VECTORS * 32 };

/* x^(2048+32) and x^(2048-32) modulo the polynomial, reflected, shifted by
 * one: of CRC-32 and of CRC-32C. */
static const long long factor[2][2] = {
    [PR_CRC32] = {0x11542778a, 0x1322d1430},
    [PR_CRC32C] = {0x0dcb17aa4, 0x0b9e02b86},
};

/* Whether this processor can. */
static int crc32_wide_works(void)
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

static WIDE void crc32_wide_fold(enum pr_crc32_kind kind, uint32_t crc,
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
    for (data += FOLD_STEP, len -= FOLD_STEP; len >= FOLD_STEP;
         data += FOLD_STEP, len -= FOLD_STEP)
#pragma GCC unroll 8
        for (int i = 0; i < VECTORS; i++)
            x[i] = crc_fold_block(x[i], factors, crc_load_block(data + 32 * i));
    for (int i = 0; i < VECTORS; i++)
        _mm256_storeu_si256((__m256i *)(void *)(rest + 32 * i), x[i]);
}

#else
#define PR_CRC32_WIDE 0
#endif

/* ---- by isa-l, or without it */

#if PR_HAVE_ISAL

#include <isa-l/crc.h>

enum { CRC32C_STEP = 1 << 30 }; /* crc32_iscsi takes an int */

uint32_t pr_crc32(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *p = data;

#if PR_CRC32_WIDE
    if (len >= 1024 && crc32_wide_works()) {
        uint8_t rest[256];

        crc32_wide_fold(PR_CRC32, crc, p, len, rest);
        crc = crc32_gzip_refl(~(uint32_t)0, rest, sizeof rest);
        p += len & ~(size_t)255;
        len &= 255;
    }
#endif
    return crc32_gzip_refl(crc, p, len);
}

uint32_t pr_crc32c(uint32_t crc, const void *data, size_t len)
{
    const unsigned char *p = data;

#if PR_CRC32_WIDE
    if (len >= 1024 && crc32_wide_works()) {
        uint8_t rest[256];

        /* Linear, which caches like better than isa-l's three streams. */
        crc32_wide_fold(PR_CRC32C, crc, p, len, rest);
        crc = ~crc32_iscsi(rest, sizeof rest, 0);
        p += len & ~(size_t)255;
        len &= 255;
    }
#endif
    crc = ~crc;
    for (; len > CRC32C_STEP; p += CRC32C_STEP, len -= CRC32C_STEP)
        crc = crc32_iscsi((unsigned char *)p, CRC32C_STEP, crc);
    return ~crc32_iscsi((unsigned char *)p, (int)len, crc);
}

#else

#include <pthread.h>
#include <zlib.h>

static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

/* Eight tables, so that eight bytes go in at once. */
static void crc32c_make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++) {
            uint32_t c = table[t - 1][i];
            table[t][i] = c >> 8 ^ table[0][c & 0xff];
        }
}

uint32_t pr_crc32(uint32_t crc, const void *data, size_t len)
{
    return (uint32_t)crc32_z(crc, data, len);
}

uint32_t pr_crc32c(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *p = data;

    pthread_once(&table_made, crc32c_make_tables);
    crc = ~crc;
    for (; len >= 8; p += 8, len -= 8) {
        uint32_t lo = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 |
                             (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][lo & 0xff] ^ table[6][lo >> 8 & 0xff] ^
              table[5][lo >> 16 & 0xff] ^ table[4][lo >> 24] ^ table[3][p[4]] ^
              table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; len; p++, len--)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
    return ~crc;
}

#endif
