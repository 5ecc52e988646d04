/* Interned names, sets of keys, and the hash of both: open addressing with
 * linear probing, at most half full. */
#include "base/names.h"

#include "base/mem.h"
#include "prony/error.h"

#include <string.h>

/* ---- sets of keys */

enum {
    FIRST_SLOTS = 128,
    MAX_SLOTS = 1 << 30,
    SCANNED = 32, /* keys of a map that are compared one by one */
};

struct pr_keyset_slot {
    const char *key; /* NULL: free */
    uint32_t len, hash, index;
};

/* Seeded by an address, so that no file can be made to collide everywhere. */
static uint32_t hash_key(const struct pr_keyset *s, const char *key,
                         uint32_t len)
{
    const uint64_t prime = 0x9e3779b97f4a7c15u;
    uint64_t h = ((uintptr_t)s ^ len) * prime;
    uint64_t part = 0;

    for (; len >= 8; key += 8, len -= 8) {
        memcpy(&part, key, 8);
        h = (h ^ part) * prime;
        h ^= h >> 29;
    }
    part = 0;
    memcpy(&part, key, len);
    h = (h ^ part) * prime;
    return (uint32_t)(h >> 32);
}

void pr_keyset_free(struct pr_keyset *s)
{
    pr_free(s->slots);
    *s = (struct pr_keyset){0};
}

/* The slot that holds the key, or the free one where it belongs. */
static struct pr_keyset_slot *keyset_find_slot(const struct pr_keyset *s,
                                               const char *key, uint32_t len,
                                               uint32_t hash)
{
    for (uint32_t i = hash & s->mask;; i = (i + 1) & s->mask) {
        struct pr_keyset_slot *slot = &s->slots[i];
        if (!slot->key || (slot->hash == hash && slot->len == len &&
                           memcmp(slot->key, key, len) == 0))
            return slot;
    }
}

static int keyset_grow(struct pr_keyset *s)
{
    size_t slots = s->slots ? ((size_t)s->mask + 1) * 2 : FIRST_SLOTS;
    struct pr_keyset_slot *old = s->slots;
    size_t old_slots = old ? (size_t)s->mask + 1 : 0;
    struct pr_keyset_slot *fresh;

    if (slots > MAX_SLOTS)
        return PR_E_NOMEM;
    fresh = pr_alloc_zeroed(slots * sizeof *fresh);
    if (!fresh)
        return PR_E_NOMEM;
    s->slots = fresh;
    s->mask = (uint32_t)(slots - 1);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].key)
            *keyset_find_slot(s, old[i].key, old[i].len, old[i].hash) = old[i];
    pr_free(old);
    return PR_OK;
}

int pr_keyset_put(struct pr_keyset *s, const char *key, uint32_t len,
                  uint32_t index, uint32_t *ret_index)
{
    uint32_t hash = hash_key(s, key, len);
    struct pr_keyset_slot *slot;

    if (!s->slots || s->used >= s->mask / 2) {
        int rc = keyset_grow(s);
        if (rc)
            return rc;
    }
    slot = keyset_find_slot(s, key, len, hash);
    if (slot->key) {
        *ret_index = slot->index;
        return 1;
    }
    *slot = (struct pr_keyset_slot){key, len, hash, index};
    s->used++;
    return 0;
}

int pr_keyset_find(const struct pr_keyset *s, const char *key, uint32_t len,
                   uint32_t *ret_index)
{
    const struct pr_keyset_slot *slot;

    if (!s->slots)
        return 0;
    slot = keyset_find_slot(s, key, len, hash_key(s, key, len));
    if (!slot->key)
        return 0;
    *ret_index = slot->index;
    return 1;
}

static int keyset_scan_members(const struct pr_member *members, size_t n,
                               const struct pr_member *m, size_t *ret_index)
{
    for (size_t i = 0; i < n; i++) {
        if (members[i].key_len == m->key_len &&
            memcmp(members[i].key, m->key, m->key_len) == 0) {
            *ret_index = i;
            return 1;
        }
    }
    return 0;
}

int pr_keyset_member(struct pr_keyset *s, const struct pr_member *members,
                     size_t n, const struct pr_member *m, size_t *ret_index)
{
    uint32_t index;
    int rc;

    if (n < SCANNED)
        return keyset_scan_members(members, n, m, ret_index);
    for (size_t i = s->used; i < n; i++) {
        rc = pr_keyset_put(s, members[i].key, members[i].key_len, (uint32_t)i,
                           &index);
        if (rc < 0)
            return rc;
    }
    rc = pr_keyset_find(s, m->key, m->key_len, &index);
    if (rc)
        *ret_index = index;
    return rc;
}

/* ---- the hash */

/* Eight bytes a round: multiply, rotate, mix at the end. */
uint64_t pr_hash_bytes(const void *data, size_t len, uint64_t seed)
{
    const char *p = data;
    uint64_t h = seed ^ (len * 0x9e3779b97f4a7c15u);
    uint64_t word;

    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0x9fb21c651e98df25u;
        h = h << 29 | h >> 35;
    }
    word = 0;
    if (len)
        memcpy(&word, p, len);
    return pr_hash_mix((h ^ word) * 0x9fb21c651e98df25u);
}

/* ---- interned names */

struct name {
    const char *text;
    uint32_t len;
    uint32_t hash;
};

struct pr_names {
    struct pr_arena *arena;
    struct name *names;
    uint32_t count, cap;
    uint32_t *table; /* id + 1, 0 when free; a power of two of them */
    uint32_t mask;
};

struct pr_names *pr_names_new(void)
{
    struct pr_names *n = pr_alloc_zeroed(sizeof *n);

    if (!n)
        return NULL;
    n->cap = 128;
    n->mask = 255;
    n->arena = pr_arena_new(8192);
    n->names = pr_alloc(n->cap * sizeof *n->names);
    n->table = pr_alloc_zeroed((n->mask + 1) * sizeof *n->table);
    if (!n->arena || !n->names || !n->table) {
        pr_names_free(n);
        return NULL;
    }
    return n;
}

void pr_names_free(struct pr_names *n)
{
    if (!n)
        return;
    pr_arena_free(n->arena);
    pr_free(n->names);
    pr_free(n->table);
    pr_free(n);
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *names_find_slot(const struct pr_names *n, const char *text,
                                 size_t len, uint32_t hash)
{
    for (uint32_t i = hash & n->mask;; i = (i + 1) & n->mask) {
        uint32_t id = n->table[i];
        const struct name *name;

        if (!id)
            return &n->table[i];
        name = &n->names[id - 1];
        if (name->hash == hash && name->len == len &&
            memcmp(name->text, text, len) == 0)
            return &n->table[i];
    }
}

static bool names_grow(struct pr_names *n)
{
    uint32_t cap = n->cap * 2, mask = n->mask * 2 + 1;
    struct name *names;
    uint32_t *table;

    names = pr_realloc(n->names, cap * sizeof *names);
    if (!names)
        return false;
    n->names = names;
    table = pr_alloc_zeroed(((size_t)mask + 1) * sizeof *table);
    if (!table)
        return false;
    pr_free(n->table);
    n->table = table;
    n->mask = mask;
    n->cap = cap;
    for (uint32_t id = 0; id < n->count; id++) {
        const struct name *name = &n->names[id];
        *names_find_slot(n, name->text, name->len, name->hash) = id + 1;
    }
    return true;
}

uint32_t pr_names_add(struct pr_names *n, const char *text, size_t len)
{
    uint32_t hash = (uint32_t)pr_hash_bytes(text, len, 0);
    uint32_t *at = names_find_slot(n, text, len, hash);
    char *copy;

    if (*at)
        return *at - 1;
    if (n->count == n->cap) {
        if (!names_grow(n))
            return PR_NO_NAME;
        at = names_find_slot(n, text, len, hash);
    }
    copy = pr_arena_copy(n->arena, text, len);
    if (!copy)
        return PR_NO_NAME;
    n->names[n->count] = (struct name){copy, (uint32_t)len, hash};
    *at = ++n->count;
    return n->count - 1;
}

uint32_t pr_names_find(const struct pr_names *n, const char *text, size_t len)
{
    return *names_find_slot(n, text, len,
                            (uint32_t)pr_hash_bytes(text, len, 0)) -
           1;
}

uint32_t pr_names_count(const struct pr_names *n)
{
    return n->count;
}

const char *pr_names_text(const struct pr_names *n, uint32_t id)
{
    return n->names[id].text;
}
