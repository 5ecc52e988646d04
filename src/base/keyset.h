/*
 * Which keys a map already has: an open-addressing hash from key to index, for
 * maps too large to scan. It borrows the keys; zeroed, it is empty.
 */
#ifndef PR_BASE_KEYSET_H
#define PR_BASE_KEYSET_H

#include "base/value.h"

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
