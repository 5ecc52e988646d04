/*
 * Data-parallel training: the same work in several processes of this machine,
 * or in those that mpirun started, each with samples of its own, which learn
 * the mean of all gradients. Rank 0 is the process that reports.
 */
#ifndef PR_NATIVE_REPLICAS_H
#define PR_NATIVE_REPLICAS_H

#include "base/buf.h"
#include "machine/cpuset.h"
#include "nn/engine/net.h"
#include "nn/engine/threads.h"

#include <sys/types.h>

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

/* ---- what the files of replicas share. Ranks of one machine have a board and
 * desks in shared memory. Whatever they do together begins like this: each
 * writes a card and data to its desk, all meet, each reads all desks. There are
 * two sets of desks in turn: nobody can be two meetings ahead of one who still
 * reads. */

/* How many floats a desk has room for; the ends of an array that fill no page
 * must fit, with pages of 64 KiB, too. */
enum { PR_DESK_FLOATS = 32768, PR_SHARES = 8, PR_HUGE_PAGE = 2 << 20 };

/* Shared, by all ranks: in lines of the cache that do not disturb each other.
 */
struct pr_replicas_board {
    _Alignas(64) uint32_t arrived;  /* at the meeting that comes */
    _Alignas(64) uint32_t round;    /* meetings that were; a futex */
    uint32_t sleepers;              /* who wait for it there */
    _Alignas(64) uint32_t claim;    /* rank + 1 of who says why it fails, … */
    uint32_t failed;                /* … and has said it */
    uint32_t ended;                 /* rank + 1 of one that ended well */
    bool is_done[PR_REPLICAS_MOST]; /* all of those */
    struct pr_err err;
};

enum pr_replicas_op {
    PR_REPLICAS_OP_MEET = 1,
    PR_REPLICAS_OP_MEAN,
    PR_REPLICAS_OP_LONG, /* mean of an array in shared pages */
    PR_REPLICAS_OP_SHARE,
    PR_REPLICAS_OP_SUM,
    PR_REPLICAS_OP_MAX,
};

struct pr_replicas_card {
    enum pr_replicas_op what;
    uint64_t count;
    int share;     /* LONG: which, -1: none yet. SHARE: 0, or -1: no success */
    uint64_t head; /* LONG: floats before the first whole page */
    uint64_t skew; /* LONG: where that is within a huge page */
};

struct pr_replicas_desk {
    _Alignas(64) struct pr_replicas_card card;
    _Alignas(64) char data[PR_DESK_FLOATS * sizeof(float)];
};

/* An array whose whole pages all ranks see. */
struct pr_replicas_share {
    float *values;
    size_t count;
    size_t bytes;    /* of whole pages */
    char *probes[2]; /* the first and the last of them once more */
    float **at;      /* of each rank; that of this one is its own array */
};

struct pr_replicas_transport {
    int (*mean)(struct pr_replicas *r, float *values, size_t count,
                struct pr_err *err);
    int (*fold)(struct pr_replicas *r, enum pr_replicas_op what, double *values,
                size_t count, struct pr_err *err);
};

struct pr_replicas {
    const struct pr_replicas_opts *opts;
    const struct pr_replicas_transport *way; /* NULL: one rank alone */
    unsigned rank, ranks;
    struct pr_net_reduce reduce;
    struct pr_cpu_slices cpus; /* of all ranks */
    /* ---- ranks of this machine */
    struct pr_replicas_board *board;
    struct pr_replicas_desk *desks;
    size_t bytes;   /* of both */
    uint32_t turn;  /* meetings with desks */
    unsigned spins; /* before it sleeps */
    pid_t parent, pids[PR_REPLICAS_MOST];
    bool is_dead[PR_REPLICAS_MOST]; /* waited for */
    int memory[PR_SHARES]; /* files without a name; -1: used, or none */
    struct pr_replicas_share shares[PR_SHARES];
    unsigned share_count;
    bool no_shares;         /* arrays cannot be shared here */
    struct pr_threads *par; /* NULL: none yet, or not needed */
    bool no_par;
    /* ---- ranks of mpirun */
    unsigned local_ranks; /* on this machine */
    void *request;        /* the meeting that is waited for */
    double any_stopped;   /* it tells: 1 if any rank is to end */
    uint64_t met_ns;      /* when the last one was over; 0: there was none */
    uint64_t longest_ns;  /* from one to the next */
};

/* ---- processes of this machine */

/* Where stdout of those leads that do not report. */
void pr_replicas_silence_stdout(void);

/* ---- meetings */

extern const struct pr_replicas_transport pr_replicas_local;

/* This rank's desk for what comes next, and that of another for what was met
 * about last. */
struct pr_replicas_desk *pr_replicas_own_desk(struct pr_replicas *r);
const struct pr_replicas_desk *pr_replicas_get_desk(const struct pr_replicas *r,
                                                    unsigned rank);
/* Meets with the card, which is written to the desk; PR_E_BUG when others are
 * about something else. */
int pr_replicas_local_meet(struct pr_replicas *r,
                           const struct pr_replicas_card *card,
                           struct pr_err *err) PR_MUST_CHECK;

/* ---- means */

int pr_replicas_local_mean(struct pr_replicas *r, float *values, size_t count,
                           struct pr_err *err) PR_MUST_CHECK;
/* values /= ranks */
void pr_replicas_scale(unsigned ranks, float *values, size_t count);

/* ---- arrays that all ranks see */

/* Whole pages of an array. */
struct pr_replicas_pages {
    size_t head;  /* floats before them */
    size_t inner; /* floats in them */
};

void pr_replicas_share_close_all(struct pr_replicas *r);

/* ---- ranks of mpirun */

int pr_replicas_mpi_run(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
