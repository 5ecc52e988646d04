/*
 * Sixteen 64-bit generators side by side, which a compiler turns into vector
 * code: xorshift128+ steps without multiplication, seeded for each block by
 * splitmix64 from the key and the number of the block.
 */
#include "base/noise.h"

#include "base/hash.h"

#include <string.h>

enum { LANES = 16, ROUND = LANES * 8 };

/* One build of the loop for each kind of vector unit; the right one is chosen
 * when the program starts. Sanitizers cannot do that. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

struct state {
    uint64_t a[LANES], b[LANES];
};

/* Anywhere in memory. */
struct words {
    uint64_t word[LANES];
} __attribute__((packed, may_alias));

static void seed(struct state *s, uint64_t key, uint64_t block)
{
    uint64_t x = pr_hash_mix(key ^ pr_hash_mix(block + 0x632be59bd9b4e019u));

    for (int i = 0; i < LANES; i++) {
        s->a[i] = pr_hash_mix(x += 0x9e3779b97f4a7c15u);
        s->b[i] = pr_hash_mix(x += 0x9e3779b97f4a7c15u) | 1; /* never 0, 0 */
    }
}

/* Rounds of the xorshift128+ kind (Vigna 2014): the sum of both words. */
CLONES static void run(struct state *s, struct words *out, size_t rounds)
{
    struct state t = *s;

    for (; rounds; rounds--, out++)
        for (int i = 0; i < LANES; i++) {
            uint64_t x = t.a[i], y = t.b[i];
            out->word[i] = x + y;
            x ^= x << 23;
            t.a[i] = y;
            t.b[i] = x ^ y ^ x >> 18 ^ y >> 5;
        }
    *s = t;
}

static void fill_block(uint8_t *out, size_t len, uint64_t key, uint64_t block)
{
    size_t whole = len - len % ROUND;
    struct words tail;
    struct state s;

    seed(&s, key, block);
    run(&s, (struct words *)(void *)out, whole / ROUND);
    if (whole < len) {
        run(&s, &tail, 1);
        memcpy(out + whole, &tail, len - whole);
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
