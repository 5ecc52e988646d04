/*
 * The only place that calls malloc. Out of memory is an error return, never an
 * abort; a test can make the Nth allocation fail (pr_mem_fail_after).
 */
#ifndef PR_BASE_MEM_H
#define PR_BASE_MEM_H

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

#endif
