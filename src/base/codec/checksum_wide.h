/* CRC-32 and CRC-32C on processors that multiply four polynomials at once. */
#ifndef PR_BASE_CHECKSUM_WIDE_H
#define PR_BASE_CHECKSUM_WIDE_H

#include <stddef.h>
#include <stdint.h>

#if PR_HAVE_ISAL && defined(__x86_64__)
#define PR_CRC32_WIDE 1

/* Whether this processor can. */
int pr_crc32_wide_works(void);

/* Folds the first *len & ~255 bytes (512 at least) into 256, so that
 * CRC(crc, data) = CRC(CRC(~0, rest), what follows). */
enum pr_crc32_kind { PR_CRC32, PR_CRC32C };
void pr_crc32_wide_fold(enum pr_crc32_kind kind, uint32_t crc,
                        const uint8_t *data, size_t len,
                        uint8_t rest[static 256]);
#else
#define PR_CRC32_WIDE 0
#endif

#endif
