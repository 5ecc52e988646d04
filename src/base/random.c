/* Random numbers: for draws, as numpy draws them, and bytes in bulk. */
#include "base/random.h"

#include "base/names.h"

#include <math.h>
#include <string.h>

/* ---- MT19937 (Matsumoto and Nishimura 1998) as numpy used it */

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

/* ---- random bytes
 * Sixteen 64-bit generators side by side, four to a vector, which stay in
 * registers: xorshift128+ steps without multiplication, seeded for each block
 * by splitmix64 from the key and the number of the block. */

enum { LANES = 16, ROUND = LANES * 8, WIDE = 4, VECS = LANES / WIDE };

/* One build of the loops for each kind of vector unit; the right one is chosen
 * when the program starts. Sanitizers cannot do that. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

typedef uint64_t vec __attribute__((vector_size(WIDE * 8)));

/* Anywhere in memory. */
typedef uint64_t loose
    __attribute__((vector_size(WIDE * 8), aligned(1), may_alias));

struct state {
    vec a[VECS], b[VECS];
};

static void noise_seed(struct state *s, uint64_t key, uint64_t block)
{
    uint64_t x = pr_hash_mix(key ^ pr_hash_mix(block + 0x632be59bd9b4e019u));

    for (int i = 0; i < LANES; i++) {
        s->a[i / WIDE][i % WIDE] = pr_hash_mix(x += 0x9e3779b97f4a7c15u);
        s->b[i / WIDE][i % WIDE] = /* never 0, 0 */
            pr_hash_mix(x += 0x9e3779b97f4a7c15u) | 1;
    }
}

/* A step of the xorshift128+ kind (Vigna 2014): the sum of both words. */
INLINE void noise_step(vec *a, vec *b, vec *out)
{
    vec x = *a, y = *b;

    *out = x + y;
    x ^= x << 23;
    *a = y;
    *b = x ^ y ^ x >> 18 ^ y >> 5;
}

/* Written out: a loop over the vectors would have them in memory. */
INLINE void step_all(struct state *t, vec out[static VECS])
{
    noise_step(&t->a[0], &t->b[0], &out[0]);
    noise_step(&t->a[1], &t->b[1], &out[1]);
    noise_step(&t->a[2], &t->b[2], &out[2]);
    noise_step(&t->a[3], &t->b[3], &out[3]);
}

CLONES static void noise_generate(struct state *s, uint8_t *out, size_t rounds)
{
    struct state t = *s;
    loose *to = (loose *)(void *)out;

    for (; rounds; rounds--, to += VECS) {
        vec v[VECS];

        step_all(&t, v);
        to[0] = v[0];
        to[1] = v[1];
        to[2] = v[2];
        to[3] = v[3];
    }
    *s = t;
}

/* As run, but looks whether the words are there. */
CLONES static bool noise_check_words(struct state *s, const uint8_t *in,
                                     size_t rounds)
{
    struct state t = *s;
    const loose *from = (const loose *)(const void *)in;
    vec diff[2] = {{0}, {0}};

    for (; rounds; rounds--, from += VECS) {
        vec v[VECS];

        step_all(&t, v);
        diff[0] |= (v[0] ^ from[0]) | (v[1] ^ from[1]);
        diff[1] |= (v[2] ^ from[2]) | (v[3] ^ from[3]);
    }
    *s = t;
    diff[0] |= diff[1];
    return !(diff[0][0] | diff[0][1] | diff[0][2] | diff[0][3]);
}

static void fill_block(uint8_t *out, size_t len, uint64_t key, uint64_t block)
{
    size_t whole = len - len % ROUND;
    uint8_t tail[ROUND];
    struct state s;

    noise_seed(&s, key, block);
    noise_generate(&s, out, whole / ROUND);
    if (whole < len) {
        noise_generate(&s, tail, 1);
        memcpy(out + whole, tail, len - whole);
    }
}

void pr_noise_fill(void *out, size_t len, uint64_t key, uint64_t block)
{
    uint8_t *p = out;

    for (; len > PR_NOISE_BLOCK; len -= PR_NOISE_BLOCK, p += PR_NOISE_BLOCK)
        fill_block(p, PR_NOISE_BLOCK, key, block++);
    if (len)
        fill_block(p, len, key, block);
}

static bool noise_is_block(const uint8_t *in, size_t len, uint64_t key,
                           uint64_t block)
{
    size_t whole = len - len % ROUND;
    uint8_t tail[ROUND];
    struct state s;

    noise_seed(&s, key, block);
    if (!noise_check_words(&s, in, whole / ROUND))
        return false;
    if (whole == len)
        return true;
    noise_generate(&s, tail, 1);
    return memcmp(in + whole, tail, len - whole) == 0;
}

bool pr_noise_is_intact(const void *data, size_t len, uint64_t key,
                        uint64_t block)
{
    const uint8_t *p = data;

    for (; len > PR_NOISE_BLOCK; len -= PR_NOISE_BLOCK, p += PR_NOISE_BLOCK)
        if (!noise_is_block(p, PR_NOISE_BLOCK, key, block++))
            return false;
    return !len || noise_is_block(p, len, key, block);
}

/* ---- draws: xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64 */

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
