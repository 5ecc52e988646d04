/*
 * A permutation without a table: a Feistel network over a rectangle of high x
 * 2^low_bits cells, hardly more than n, in which an index walks on until it is
 * below n (Black and Rogaway 2002). A power of two on one side needs no
 * division; the other side fits so closely that one index in sqrt(n) walks.
 *
 * A network over a handful of cells has not every permutation, so up to
 * sixteen are really shuffled: four bits for each in one word.
 */
#include "base/names.h"
#include "loader/order.h"

/* The fewer cells, the more rounds until pairs of indices are independent. */
enum { TABLE_MAX = 16, FEW = 512, ROUNDS_FEW = 10, ROUNDS = 6 };

/* A number below m from a mixed word; m is at most 2^32. */
static uint64_t permute_scale_word(uint64_t word, uint64_t m)
{
    return (word >> 32) * m >> 32;
}

static uint64_t permute_get_nibble(uint64_t table, uint64_t i)
{
    return table >> 4 * i & 15;
}

/* Fisher and Yates, in a word. */
static uint64_t permute_make_table(uint64_t n, uint64_t key)
{
    uint64_t table = 0xfedcba9876543210u;

    for (uint64_t i = n; i-- > 1;) {
        uint64_t j = permute_scale_word(pr_hash_mix(key + i), i + 1);
        uint64_t swap =
            permute_get_nibble(table, i) ^ permute_get_nibble(table, j);
        table ^= i == j ? 0 : swap << 4 * i | swap << 4 * j;
    }
    return table;
}

void pr_permutation_init(struct pr_permutation *p, uint64_t n, uint64_t key)
{
    uint64_t x = pr_hash_mix(key + 0x9e3779b97f4a7c15u);

    p->n = n;
    p->low_bits = p->rounds = 0;
    if (n <= TABLE_MAX) {
        p->key[0] = permute_make_table(n, x);
        return;
    }
    p->low_bits = (64 - (unsigned)__builtin_clzll(n - 1)) / 2;
    p->high = ((n - 1) >> p->low_bits) + 1;
    p->rounds = n < FEW ? ROUNDS_FEW : ROUNDS;
    for (unsigned i = 0; i < p->rounds; i++)
        p->key[i] = pr_hash_mix(x + i);
}

static uint64_t permute_mix(uint64_t x, uint64_t key)
{
    x = (x ^ key) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x * 0x9e3779b97f4a7c15u;
}

static uint64_t permute_forward(const struct pr_permutation *p, uint64_t i)
{
    uint64_t low = i & (((uint64_t)1 << p->low_bits) - 1);
    uint64_t high = i >> p->low_bits;

    for (unsigned r = 0; r < p->rounds; r += 2) {
        low ^= permute_mix(high, p->key[r]) >> (64 - p->low_bits);
        high += permute_scale_word(permute_mix(low, p->key[r + 1]), p->high);
        high -= high >= p->high ? p->high : 0;
    }
    return high << p->low_bits | low;
}

static uint64_t permute_backward(const struct pr_permutation *p, uint64_t i)
{
    uint64_t low = i & (((uint64_t)1 << p->low_bits) - 1);
    uint64_t high = i >> p->low_bits;

    for (unsigned r = p->rounds; r > 0; r -= 2) {
        uint64_t by =
            permute_scale_word(permute_mix(low, p->key[r - 1]), p->high);
        high += high < by ? p->high - by : -by;
        low ^= permute_mix(high, p->key[r - 2]) >> (64 - p->low_bits);
    }
    return high << p->low_bits | low;
}

uint64_t pr_permutation_at(const struct pr_permutation *p, uint64_t i)
{
    if (p->n <= TABLE_MAX)
        return permute_get_nibble(p->key[0], i);
    do
        i = permute_forward(p, i);
    while (i >= p->n);
    return i;
}

uint64_t pr_permutation_of(const struct pr_permutation *p, uint64_t i)
{
    if (p->n <= TABLE_MAX) {
        uint64_t at = 0;
        while (permute_get_nibble(p->key[0], at) != i)
            at++;
        return at;
    }
    do
        i = permute_backward(p, i);
    while (i >= p->n);
    return i;
}
