/*
 * LZF, the compression that h5py declares as HDF5 filter 32000: byte runs and
 * back references of up to 264 bytes, at most 8 KiB back.
 */
#ifndef PR_FORMAT_HDF5_CHUNK_H
#define PR_FORMAT_HDF5_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PR_LZF_SLOTS = 1 << 14,
    PR_LZF_RATIO = 88, /* three bytes become 264 at best */
};

/* Where a three-byte string was seen last; any contents will do. */
struct pr_lzf {
    uint32_t seen[PR_LZF_SLOTS];
};

/* Bytes put at out; 0 when they do not fit, then out is not to be used. in_len
 * is at most 4 GiB - 1. */
size_t pr_lzf_encode(struct pr_lzf *z, const uint8_t *in, size_t in_len,
                     uint8_t *out, size_t out_cap);

/* False when it is not LZF, or not exactly out_len bytes of it. */
bool pr_lzf_decode(const uint8_t *in, size_t in_len, uint8_t *out,
                   size_t out_len);

#endif
