/* Allocation, with a switch that makes one of them fail. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long until_failure = -1;
static atomic_int failed;

static int refused(void)
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
    return refused() ? NULL : malloc(bytes ? bytes : 1);
}

void *pr_alloc_zeroed(size_t bytes)
{
    return refused() ? NULL : calloc(1, bytes ? bytes : 1);
}

void *pr_realloc(void *old, size_t bytes)
{
    return refused() ? NULL : realloc(old, bytes ? bytes : 1);
}

void *pr_alloc_aligned(size_t align, size_t bytes)
{
    size_t whole = (bytes + align - 1) & ~(align - 1);

    if (refused() || whole < bytes)
        return NULL;
    return aligned_alloc(align, whole ? whole : align);
}

void pr_free(void *p)
{
    free(p);
}
