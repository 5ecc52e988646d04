/*
 * Random bytes as fast as memory takes them: a stream for each key, in blocks
 * that can be made in any order. The same on every machine of this byte order.
 * Good enough that nothing compresses or deduplicates; not for secrets.
 */
#ifndef PR_BASE_NOISE_H
#define PR_BASE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PR_NOISE_BLOCK = 16 << 10 };

/* Blocks block, block + 1, … of the stream of key; the last one may be cut. */
void pr_noise_fill(void *out, size_t len, uint64_t key, uint64_t block);

/* Whether data is what pr_noise_fill would make. */
bool pr_noise_is_intact(const void *data, size_t len, uint64_t key,
                        uint64_t block);

#endif
