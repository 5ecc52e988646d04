/* A fast 64-bit hash for tables and short ids; not for anything hostile. */
#ifndef PR_BASE_HASH_H
#define PR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t pr_hash_bytes(const void *data, size_t len, uint64_t seed);

/* Spreads every bit of x over the result. */
static inline uint64_t pr_hash_mix(uint64_t x)
{
    /* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
