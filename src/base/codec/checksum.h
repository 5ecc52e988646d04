/* CRC-32 (zip, gzip, PNG) and CRC-32C (TFRecord), at the speed of memory. */
#ifndef PR_BASE_CHECKSUM_H
#define PR_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from crc, 0 at the start. */
uint32_t pr_crc32(uint32_t crc, const void *data, size_t len);
uint32_t pr_crc32c(uint32_t crc, const void *data, size_t len);

#endif
