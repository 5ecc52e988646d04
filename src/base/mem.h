/*
 * The only place that calls malloc. Out of memory is an error return, never an
 * abort; a test can make the Nth allocation fail (pr_mem_fail_after).
 */
#ifndef PR_BASE_MEM_H
#define PR_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* NULL when out of memory. Free with pr_free. */
void *pr_alloc(size_t bytes);
void *pr_alloc_zeroed(size_t bytes);
void *pr_realloc(void *old, size_t bytes); /* old stays valid on failure */
void pr_free(void *p);                     /* NULL is fine */

/* At a multiple of align, a power of two. */
void *pr_alloc_aligned(size_t align, size_t bytes);

/* Let n allocations succeed and the next one fail, once; n < 0 turns it off.
 * For tests: allocations are counted per process, not per thread. */
void pr_mem_fail_after(long n);

/* Whether the failure asked for has happened since. */
int pr_mem_failed(void);

/* For a program that builds large tables once, and ends: memory comes in large
 * pages where the system has these, threads share it, and what is freed is kept
 * for what comes next. Before there are threads. */
void pr_mem_large(void);

/* ---- arenas
 * Memory that belongs to a lifetime (a plan, a job, a batch), not to an object:
 * allocate by bumping a pointer, free all at once. Not for several threads. */

struct pr_arena;

/* NULL when out of memory. block_bytes is the size of one block to ask for. */
struct pr_arena *pr_arena_new(size_t block_bytes);
void pr_arena_free(struct pr_arena *a); /* NULL is fine */

/* Forgets everything but keeps the first block, for the next round. */
void pr_arena_reset(struct pr_arena *a);

/* Aligned for any type; NULL when out of memory. In the arena. */
void *pr_arena_alloc(struct pr_arena *a, size_t bytes);
void *pr_arena_zeroed(struct pr_arena *a, size_t bytes);

/* Copies with a NUL after the last byte. In the arena. */
char *pr_arena_copy(struct pr_arena *a, const char *s, size_t len);
char *pr_arena_str(struct pr_arena *a, const char *s);
char *pr_arena_printf(struct pr_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for one more item in an array that grows in the arena: returns the
 * array, moved if need be, or NULL when out of memory. count is the number of
 * items in it, *cap how many fit (0 at first, with old NULL). The old copies
 * stay in the arena, at most as much again as the array itself. */
void *pr_arena_grow(struct pr_arena *a, void *old, size_t count, size_t *cap,
                    size_t item_bytes);

/* Bytes held from the system, for limits and reports. */
size_t pr_arena_bytes(const struct pr_arena *a);

#define PR_ARENA_NEW(a, type) ((type *)pr_arena_zeroed((a), sizeof(type)))
#define PR_ARENA_ARRAY(a, type, n) \
    ((type *)pr_arena_zeroed((a), sizeof(type) * (size_t)(n)))

/* One more item, zeroed, at the end of a list {items, count, cap} that grows in
 * the arena; NULL when out of memory. */
#define PR_PUSH(a, list)                                              \
    (pr_arena_push((a), &(list)->items, &(list)->count, &(list)->cap, \
                   sizeof *(list)->items)                             \
         ? &(list)->items[(list)->count - 1]                          \
         : NULL)

/* What PR_PUSH does; items points to the list's pointer. */
bool pr_arena_push(struct pr_arena *a, void *items, size_t *count, size_t *cap,
                   size_t item_bytes);

static inline void pr_arena_auto(struct pr_arena **a)
{
    pr_arena_free(*a);
}
#define PR_AUTO_ARENA __attribute__((cleanup(pr_arena_auto)))

#endif
