/*
 * Threads of the engine: those of the OpenMP runtime that oneDNN computes
 * with, so that there is one pool on the cores and not two. Loops of ours run
 * on it; parts are cut the same way each time, so that sums come out the same.
 */
#ifndef PR_NN_PAR_H
#define PR_NN_PAR_H

#include "base/err.h"

#include <stddef.h>

enum {
    PR_PAR_MOST = 1024,          /* threads */
    PR_PAR_SCRATCH = 256 * 1024, /* bytes for each thread */
};

struct pr_par;

/* threads 0: one for each processor this process may use. Each thread but the
 * caller, which is thread 0, is pinned to one of them, as long as there are
 * enough. PR_E_UNAVAIL: no OpenMP runtime here. */
int pr_par_new(unsigned threads, struct pr_par **ret,
               struct pr_err *err) PR_MUST_CHECK;

/* Called by the thread that made it: lets the others go, and ends them with the
 * last one. NULL is fine. */
void pr_par_free(struct pr_par *p);
unsigned pr_par_threads(const struct pr_par *p);

/* Calls fn on every thread and waits for all. */
typedef void pr_par_fn(void *ctx, unsigned thread, unsigned threads);
void pr_par_run(const struct pr_par *p, pr_par_fn *fn, void *ctx);

/* Memory of a thread, PR_PAR_SCRATCH bytes at a multiple of 64, which keeps its
 * contents until the next loop that uses it. */
void *pr_par_scratch(const struct pr_par *p, unsigned thread);

/* The part [*ret_from, *ret_to) of count items that is thread's, in multiples
 * of grain. */
void pr_par_part(size_t count, size_t grain, unsigned thread, unsigned threads,
                 size_t *ret_from, size_t *ret_to);

#endif
