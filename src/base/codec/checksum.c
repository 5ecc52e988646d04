/* CRC-32 and CRC-32C by isa-l, or by zlib and a table where it is missing. */
#include "base/codec/checksum.h"

#if PR_HAVE_ISAL

#include "base/codec/checksum_wide.h"

#include <isa-l/crc.h>

enum { STEP = 1 << 30 }; /* crc32_iscsi takes an int */

uint32_t pr_crc32(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *p = data;

#if PR_CRC32_WIDE
    if (len >= 1024 && pr_crc32_wide_works()) {
        uint8_t rest[256];

        pr_crc32_wide_fold(PR_CRC32, crc, p, len, rest);
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
    if (len >= 1024 && pr_crc32_wide_works()) {
        uint8_t rest[256];

        /* Linear, which caches like better than isa-l's three streams. */
        pr_crc32_wide_fold(PR_CRC32C, crc, p, len, rest);
        crc = ~crc32_iscsi(rest, sizeof rest, 0);
        p += len & ~(size_t)255;
        len &= 255;
    }
#endif
    crc = ~crc;
    for (; len > STEP; p += STEP, len -= STEP)
        crc = crc32_iscsi((unsigned char *)p, STEP, crc);
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

    pthread_once(&table_made, make_table);
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
