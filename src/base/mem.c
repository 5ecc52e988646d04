/*
 * Allocation, with a switch that makes one of them fail, and arenas: bump
 * allocation in a chain of blocks.
 */
#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20, LARGE = 30 << 20 };

static atomic_long until_failure = -1;
static atomic_int failed;

static int mem_is_refused(void)
{
    if (atomic_load_explicit(&until_failure, memory_order_relaxed) < 0)
        return 0;
    if (atomic_fetch_sub(&until_failure, 1) != 0)
        return 0;
    atomic_store(&failed, 1);
    return 1;
}

void pr_mem_fail_after(long n)
{
    atomic_store(&failed, 0);
    atomic_store(&until_failure, n);
}

int pr_mem_failed(void)
{
    return atomic_load(&failed);
}

void *pr_alloc(size_t bytes)
{
    return mem_is_refused() ? NULL : malloc(bytes ? bytes : 1);
}

void *pr_alloc_zeroed(size_t bytes)
{
    return mem_is_refused() ? NULL : calloc(1, bytes ? bytes : 1);
}

void *pr_realloc(void *old, size_t bytes)
{
    return mem_is_refused() ? NULL : realloc(old, bytes ? bytes : 1);
}

void *pr_alloc_aligned(size_t align, size_t bytes)
{
    size_t whole = (bytes + align - 1) & ~(align - 1);

    if (mem_is_refused() || whole < bytes)
        return NULL;
    return aligned_alloc(align, whole ? whole : align);
}

void pr_free(void *p)
{
    free(p);
}

void pr_mem_large(void)
{
#ifdef __GLIBC__
    char *p[2]; /* of the largest size that is not mapped apart */

    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE + LARGE_PAGE);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    for (int i = 0; i < 2; i++) {
        p[i] = malloc(LARGE);
        if (p[i])
            (void)madvise(p[i] + (-(uintptr_t)p[i] & (LARGE_PAGE - 1)),
                          LARGE - LARGE_PAGE, MADV_HUGEPAGE);
    }
    /* What comes next is carved from these. */
    for (int i = 0; i < 2; i++)
        free(p[i]);
#endif
}

/* ---- arenas */

struct block {
    struct block *next;
    size_t size;
    _Alignas(16) char data[];
};

/* Many are never used: the first block is made when it is needed. */
struct pr_arena {
    struct block *first, *current; /* NULL at first */
    size_t used;                   /* in current */
    size_t block_bytes;
    size_t held;
};

static struct block *block_new(struct pr_arena *a, size_t bytes)
{
    struct block *b;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    b = pr_alloc(sizeof *b + bytes);
    if (!b)
        return NULL;
    b->next = NULL;
    b->size = bytes;
    a->held += bytes;
    return b;
}

struct pr_arena *pr_arena_new(size_t block_bytes)
{
    struct pr_arena *a = pr_alloc_zeroed(sizeof *a);

    if (a)
        a->block_bytes = block_bytes < 1024 ? 1024 : block_bytes;
    return a;
}

static void free_chain(struct pr_arena *a, struct block *b)
{
    while (b) {
        struct block *next = b->next;
        a->held -= b->size;
        pr_free(b);
        b = next;
    }
}

void pr_arena_free(struct pr_arena *a)
{
    if (!a)
        return;
    free_chain(a, a->first);
    pr_free(a);
}

/* One block is kept, unless it was made for something large. */
void pr_arena_reset(struct pr_arena *a)
{
    struct block *kept = a->first;

    if (kept && kept->size > a->block_bytes)
        kept = NULL;
    free_chain(a, kept ? kept->next : a->first);
    if (kept)
        kept->next = NULL;
    a->first = a->current = kept;
    a->used = 0;
}

/* From start on in the current block if there is room, else in a new one. */
static void *arena_take_bytes(struct pr_arena *a, size_t start, size_t bytes)
{
    struct block *b = a->current;

    if (!b || start > b->size || bytes > b->size - start) {
        size_t size = bytes > a->block_bytes ? bytes : a->block_bytes;
        b = block_new(a, size);
        if (!b)
            return NULL;
        *(a->current ? &a->current->next : &a->first) = b;
        a->current = b;
        start = 0;
    }
    a->used = start + bytes;
    return b->data + start;
}

void *pr_arena_alloc(struct pr_arena *a, size_t bytes)
{
    return arena_take_bytes(a, (a->used + 15) & ~(size_t)15, bytes);
}

void *pr_arena_zeroed(struct pr_arena *a, size_t bytes)
{
    void *p = pr_arena_alloc(a, bytes);

    return p ? memset(p, 0, bytes) : NULL;
}

char *pr_arena_copy(struct pr_arena *a, const char *s, size_t len)
{
    /* Text needs no alignment: strings lie end to end. */
    char *p = len < SIZE_MAX ? arena_take_bytes(a, a->used, len + 1) : NULL;

    if (!p)
        return NULL;
    if (len)
        memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

char *pr_arena_str(struct pr_arena *a, const char *s)
{
    return pr_arena_copy(a, s, strlen(s));
}

char *pr_arena_printf(struct pr_arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    p = pr_arena_alloc(a, (size_t)n + 1);
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void *pr_arena_grow(struct pr_arena *a, void *old, size_t count, size_t *cap,
                    size_t item_bytes)
{
    size_t bigger = *cap ? *cap * 2 : 8;
    void *p;

    if (count < *cap)
        return old;
    p = pr_arena_alloc(a, bigger * item_bytes);
    if (!p)
        return NULL;
    if (count)
        memcpy(p, old, count * item_bytes);
    *cap = bigger;
    return p;
}

size_t pr_arena_bytes(const struct pr_arena *a)
{
    return a->held;
}

bool pr_arena_push(struct pr_arena *a, void *items, size_t *count, size_t *cap,
                   size_t item_bytes)
{
    void *old, *grown;

    /* A pointer of any type has the bytes of a void pointer. */
    memcpy(&old, items, sizeof old);
    grown = pr_arena_grow(a, old, *count, cap, item_bytes);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    memset((char *)grown + *count * item_bytes, 0, item_bytes);
    (*count)++;
    return true;
}
