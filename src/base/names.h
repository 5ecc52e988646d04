/*
 * Interned names: each distinct text gets a dense number, so that a parameter
 * set is an array and comparing names is comparing numbers. Below them the hash
 * that finds them, and sets of keys.
 */
#ifndef PR_BASE_NAMES_H
#define PR_BASE_NAMES_H

#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pr_names;

#define PR_NO_NAME UINT32_MAX

struct pr_names *pr_names_new(void); /* NULL when out of memory */
void pr_names_free(struct pr_names *n);

/* The number of a name, new or old; PR_NO_NAME when out of memory. */
uint32_t pr_names_add(struct pr_names *n, const char *text, size_t len);

/* PR_NO_NAME when it was never added. */
uint32_t pr_names_find(const struct pr_names *n, const char *text, size_t len);

uint32_t pr_names_count(const struct pr_names *n);
const char *pr_names_text(const struct pr_names *n, uint32_t id); /* borrowed */

/* ---- the hash */

/* A fast 64-bit hash for tables and short ids; not for anything hostile. */
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

/* ---- sets of keys
 * Which keys a map already has: an open-addressing hash from key to index, for
 * maps too large to scan. It borrows the keys; zeroed, it is empty. */

struct pr_keyset_slot;

struct pr_keyset {
    struct pr_keyset_slot *slots;
    uint32_t used, mask; /* mask + 1 slots, once there are any */
};

void pr_keyset_free(struct pr_keyset *s); /* frees; zeroes for reuse */

/* Adds key with its index. 0: it is new; 1: it was there, and *ret_index is
 * the index it was added with; PR_E_NOMEM. The key is borrowed. */
int pr_keyset_put(struct pr_keyset *s, const char *key, uint32_t len,
                  uint32_t index, uint32_t *ret_index);

/* 1 and *ret_index when the key is there, else 0. */
int pr_keyset_find(const struct pr_keyset *s, const char *key, uint32_t len,
                   uint32_t *ret_index);

/* For a map under construction: 1 and *ret_index when one of the n members has
 * m's key, 0 when m is new and will be member n. Few members are compared one
 * by one, more are hashed; call it for each member in turn. PR_E_NOMEM. */
int pr_keyset_member(struct pr_keyset *s, const struct pr_member *members,
                     size_t n, const struct pr_member *m, size_t *ret_index);

#endif
