/*
 * Threads of the engine: those of the OpenMP runtime that oneDNN computes
 * with, so that there is one pool on the cores and not two. Loops of ours run
 * on it; parts are cut the same way each time, so that sums come out the same.
 */
#ifndef PR_NN_THREADS_H
#define PR_NN_THREADS_H

#include "base/err.h"

#include <stddef.h>

enum {
    PR_THREADS_MAX = 1024,                 /* threads */
    PR_THREADS_SCRATCH_BYTES = 256 * 1024, /* bytes for each thread */
};

struct pr_threads;

/* threads 0: one for each processor this process may use. Each thread but the
 * caller, which is thread 0, is pinned to one of them, as long as there are
 * enough. PR_E_UNAVAIL: no OpenMP runtime here. */
int pr_threads_new(unsigned threads, struct pr_threads **ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* Called by the thread that made it: lets the others go, and ends them with the
 * last one. NULL is fine. */
void pr_threads_free(struct pr_threads *p);
unsigned pr_threads_count(const struct pr_threads *p);

/* Calls fn on every thread and waits for all. */
typedef void pr_threads_fn(void *ctx, unsigned thread, unsigned threads);
void pr_threads_run(const struct pr_threads *p, pr_threads_fn *fn, void *ctx);

/* Memory of a thread, PR_THREADS_SCRATCH_BYTES bytes at a multiple of 64, which
 * keeps its contents until the next loop that uses it. */
void *pr_threads_scratch(const struct pr_threads *p, unsigned thread);

/* The part [*ret_from, *ret_to) of count items that is thread's, in multiples
 * of grain. */
void pr_threads_part(size_t count, size_t grain, unsigned thread,
                     unsigned threads, size_t *ret_from, size_t *ret_to);

/* n, or the next multiple of `of` above it. */
static inline size_t pr_round_up(size_t n, size_t of)
{
    return (n + of - 1) / of * of;
}

#endif
