/* Interned names in an open-addressing table. */
#include "base/names.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

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
