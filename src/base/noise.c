/*
 * Sixteen 64-bit generators side by side, four to a vector, which stay in
 * registers: xorshift128+ steps without multiplication, seeded for each block
 * by splitmix64 from the key and the number of the block.
 */
#include "base/noise.h"

#include "base/hash.h"

#include <string.h>

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
