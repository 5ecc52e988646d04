/*
 * Random numbers for draws: small state, one generator for each stream, the
 * same numbers from the same key everywhere.
 */
#ifndef PR_BASE_RNG_H
#define PR_BASE_RNG_H

#include <stdint.h>

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
