/* xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64. */
#include "base/rng.h"

#include "base/hash.h"

#include <math.h>

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t pr_mix64(uint64_t x)
{
    return pr_hash_mix(x + GOLDEN); /* 0 is no fixed point */
}

void pr_rng_seed(struct pr_rng *r, uint64_t key, uint64_t stream)
{
    uint64_t x = pr_mix64(key) ^ pr_mix64(stream ^ 0x632be59bd9b4e019u);

    /* The mixer maps different words to different words: never all zero. */
    for (int i = 0; i < 4; i++)
        r->s[i] = pr_mix64(x += GOLDEN);
}

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

uint64_t pr_rng_u64(struct pr_rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double pr_rng_double(struct pr_rng *r)
{
    return (double)(pr_rng_u64(r) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method. The second number of a pair is given away, so
 * that the state is no more than four words. */
double pr_rng_gauss(struct pr_rng *r)
{
    double x, y, s;

    do {
        x = 2 * pr_rng_double(r) - 1;
        y = 2 * pr_rng_double(r) - 1;
        s = x * x + y * y;
    } while (s >= 1 || s == 0);
    return x * sqrt(-2 * log(s) / s);
}
