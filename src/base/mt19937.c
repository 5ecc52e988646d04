/* MT19937 (Matsumoto and Nishimura 1998) as numpy's legacy functions use it. */
#include "base/mt19937.h"

#include <math.h>

enum { N = 624, M = 397 };

void pr_mt_seed(struct pr_mt *mt, uint32_t seed)
{
    for (uint32_t i = 0; i < N; i++) {
        mt->word[i] = seed;
        seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
    }
    mt->at = N;
    mt->has_gauss = false;
    mt->gauss = 0;
}

static void mt_refill_words(struct pr_mt *mt)
{
    uint32_t *w = mt->word;

    for (unsigned i = 0; i < N; i++) {
        uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % N] & 0x7fffffffu);
        w[i] = w[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    mt->at = 0;
}

uint32_t pr_mt_u32(struct pr_mt *mt)
{
    uint32_t y;

    if (mt->at == N)
        mt_refill_words(mt);
    y = mt->word[mt->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* random_sample: [0, 1) */
static double mt_double(struct pr_mt *mt)
{
    uint32_t a = pr_mt_u32(mt) >> 5, b = pr_mt_u32(mt) >> 6;

    return (a * 67108864.0 + b) / 9007199254740992.0;
}

/* The polar method; of each pair the second one comes first. */
double pr_mt_gauss(struct pr_mt *mt)
{
    double x1, x2, r2, f;

    if (mt->has_gauss) {
        mt->has_gauss = false;
        return mt->gauss;
    }
    do {
        x1 = 2.0 * mt_double(mt) - 1.0;
        x2 = 2.0 * mt_double(mt) - 1.0;
        r2 = x1 * x1 + x2 * x2;
    } while (r2 >= 1.0 || r2 == 0.0);
    f = sqrt(-2.0 * log(r2) / r2);
    mt->gauss = f * x1;
    mt->has_gauss = true;
    return f * x2;
}
