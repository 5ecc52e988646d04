/* Allocation, with a switch that makes one of them fail. */
#include "base/mem.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
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
