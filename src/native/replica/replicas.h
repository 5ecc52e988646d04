/*
 * Data-parallel training: the same work in several processes of this machine,
 * or in those that mpirun started, each with samples of its own, which learn
 * the mean of all gradients. Rank 0 is the process that reports.
 */
#ifndef PR_NATIVE_REPLICAS_H
#define PR_NATIVE_REPLICAS_H

#include "base/buf.h"
#include "nn/engine/net.h"

enum { PR_REPLICAS_MOST = 256 }; /* processes on one machine */

struct pr_replicas;

struct pr_replicas_opts {
    unsigned ranks;   /* at least 1 */
    bool mpi;         /* they are those of mpirun, which must be as many */
    bool is_bound;    /* mpirun gave each its processors */
    unsigned threads; /* that compute in each; 0: one for each processor */
    const bool *stop; /* becomes true: interrupted; may be NULL */
    struct pr_clock *clock; /* NULL: the machine's */
    const char *sys; /* where the kernel tells about processors; NULL: there */
};

/* What a rank does. Each calls the same functions of those below, in the same
 * order. */
typedef int pr_replica_fn(struct pr_replicas *r, void *ctx, struct pr_err *err);

/* Calls fn in all ranks and waits for them. The others are forked here: no
 * thread may exist yet. They have copies of all memory, their stdout leads
 * nowhere, and they end with fn. Each has its share of this process' processors
 * meanwhile. The first error of any rank ends all, and is returned: a process
 * that died as well. After an error with mpi this process must end, so that
 * mpirun ends the others. */
int pr_replicas_run(const struct pr_replicas_opts *opts, pr_replica_fn *fn,
                    void *ctx, struct pr_err *err) PR_MUST_CHECK;

unsigned pr_replicas_rank(const struct pr_replicas *r);
unsigned pr_replicas_count(const struct pr_replicas *r);

/* A line of warning where there are fewer processors than ranks. */
void pr_replicas_add_warning(const struct pr_replicas *r, struct pr_buf *notes);

/* For struct pr_net_opts; NULL when there is one rank alone. */
const struct pr_net_reduce *pr_replicas_reduce(const struct pr_replicas *r);

/* ---- what all ranks do together. PR_E_INTR, or the error of another one. */

/* Replaces each by its mean over all ranks, added up in the order of ranks
 * (with MPI in an order of its own); the same bits everywhere. Whole pages of a
 * long array are replaced by shared ones where they are, the first time: it
 * must lie in ordinary memory, and is quickest when it is the same one each
 * time. */
int pr_replicas_mean(struct pr_replicas *r, float *values, size_t count,
                     struct pr_err *err) PR_MUST_CHECK;

/* Replaces each by its sum, or the largest, over all ranks. */
enum { PR_REPLICAS_VALUES = 1024 }; /* at once */
int pr_replicas_sum(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_replicas_max(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err) PR_MUST_CHECK;

/* Waits until all are here: measuring begins for all at once. */
int pr_replicas_meet(struct pr_replicas *r, struct pr_err *err) PR_MUST_CHECK;

#endif
