/*
 * Random numbers for draws: small state, one generator for each stream, the
 * same numbers from the same key everywhere.
 */
#ifndef PR_BASE_RANDOM_H
#define PR_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- as numpy draws
 * The generator behind its old random functions (MT19937), number for number:
 * sizes and orders that DLIO draws from it come out the same here. */

struct pr_mt {
    uint32_t word[624];
    unsigned at;
    bool has_gauss; /* normal numbers come in pairs */
    double gauss;
};

void pr_mt_seed(struct pr_mt *mt, uint32_t seed); /* numpy.random.seed */
uint32_t pr_mt_u32(struct pr_mt *mt);
double pr_mt_gauss(struct pr_mt *mt); /* standard_normal */

/* ---- random bytes
 * As fast as memory takes them: a stream for each key, in blocks that can be
 * made in any order. The same on every machine of this byte order. Good enough
 * that nothing compresses or deduplicates; not for secrets. */

enum { PR_NOISE_BLOCK = 16 << 10 };

/* Blocks block, block + 1, … of the stream of key; the last one may be cut. */
void pr_noise_fill(void *out, size_t len, uint64_t key, uint64_t block);

/* Whether data is what pr_noise_fill would make. */
bool pr_noise_is_intact(const void *data, size_t len, uint64_t key,
                        uint64_t block);

struct pr_rng {
    uint64_t s[4];
};

/* Mixes all bits of a number: neighbours become strangers. */
uint64_t pr_mix64(uint64_t x);

/* Streams of the same key are independent of each other. */
void pr_rng_seed(struct pr_rng *r, uint64_t key, uint64_t stream);
uint64_t pr_rng_u64(struct pr_rng *r);
double pr_rng_double(struct pr_rng *r); /* [0, 1) */
double pr_rng_gauss(struct pr_rng *r);  /* mean 0, deviation 1 */

#endif
