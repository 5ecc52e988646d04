/*
 * Replicas, as others see them: meetings of ranks, processes of this machine,
 * and one rank alone, for which nothing is done.
 */
#include "native/replica/replicas.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- meetings of ranks: who comes last lets all go; the others look a little
 * while, then sleep, and wake now and then to see whether the missing ones are
 * alive */

enum { NAP_NS = 50000000 };

/* Not pr_sleep_on alone: the others are processes. */
static void futex_wait(struct pr_clock *clock, const uint32_t *at, uint32_t old)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    if (clock)
        pr_sleep_on(clock, (const _Atomic uint32_t *)at, old,
                    pr_now(clock) + NAP_NS);
    else
        (void)syscall(SYS_futex, at, FUTEX_WAIT, old, &nap, NULL, 0);
}

static void futex_wake(const uint32_t *at)
{
    (void)syscall(SYS_futex, at, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* ---- failures */

static void replicas_fail(struct pr_replicas *r, unsigned rank,
                          const struct pr_err *err)
{
    struct pr_replicas_board *b = r->board;
    uint32_t none = 0;

    if (__atomic_load_n(&b->failed, __ATOMIC_ACQUIRE))
        return;
    /* One that died while it was telling does not go on. */
    if (!__atomic_compare_exchange_n(&b->claim, &none, rank + 1, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
        (none != rank + 1 || rank == r->rank))
        return;
    b->err = *err;
    __atomic_store_n(&b->failed, rank + 1, __ATOMIC_RELEASE);
    futex_wake(&b->round);
}

static void replicas_leave(struct pr_replicas *r)
{
    __atomic_store_n(&r->board->is_done[r->rank], true, __ATOMIC_RELEASE);
    __atomic_store_n(&r->board->ended, r->rank + 1, __ATOMIC_RELEASE);
}

static int replicas_get_failure(const struct pr_replicas *r, struct pr_err *err)
{
    const struct pr_replicas_board *b = r->board;
    uint32_t who = __atomic_load_n(&b->failed, __ATOMIC_ACQUIRE);
    int rc;

    if (!who)
        return PR_OK;
    rc = b->err.code;
    if (rc == PR_E_INTR) /* all of them are */
        return pr_fail(err, rc, "", "interrupted");
    pr_fail(err, rc, b->err.where, "replica %u: %s", who - 1, b->err.msg);
    if (*b->err.hint)
        pr_hint(err, "%s", b->err.hint);
    return rc;
}

static void tell_death(struct pr_replicas *r, unsigned rank,
                       const siginfo_t *how)
{
    struct pr_err err = {0};

    if (how->si_code == CLD_EXITED)
        pr_fail(&err, PR_E_JOB, "", "its process ended early, with status %d",
                how->si_status);
    else
        pr_fail(&err, PR_E_JOB, "", "its process died of signal %d (%s)",
                how->si_status, strsignal(how->si_status));
    if (how->si_code != CLD_EXITED && how->si_status == SIGKILL)
        pr_hint(&err, "if nobody killed it, the machine was out of memory: "
                      "a smaller exp.replica_batch needs less");
    replicas_fail(r, rank, &err);
}

/* Rank 0: whether the process of another one is gone without a word, which is
 * told then. True: it has ended. */
static bool replicas_check_process(struct pr_replicas *r, unsigned rank)
{
    siginfo_t how = {0};
    int rc;

    if (r->is_dead[rank])
        return true;
    /* Not waited for: its number is nobody else's while others may ask. */
    rc = waitid(P_PID, (id_t)r->pids[rank], &how, WEXITED | WNOHANG | WNOWAIT);
    if (rc < 0 && errno != ECHILD)
        return false;
    if (rc == 0 && !how.si_pid)
        return false;
    r->is_dead[rank] = true;
    if (rc == 0 && !__atomic_load_n(&r->board->is_done[rank], __ATOMIC_ACQUIRE))
        tell_death(r, rank, &how); /* unless it has told itself */
    return true;
}

/* ---- waiting */

static bool meeting_is_over(const struct pr_replicas *r, uint32_t round)
{
    return __atomic_load_n(&r->board->round, __ATOMIC_SEQ_CST) != round;
}

/* Whether all that are missing can still come. What ended well did so after
 * the last meeting it took part in: the round is looked at once more. */
static int look_around(struct pr_replicas *r, uint32_t round,
                       struct pr_err *err)
{
    const bool *stop = r->opts->stop;
    uint32_t ended;
    int rc;

    for (unsigned i = 1; r->rank == 0 && i < r->ranks; i++)
        (void)replicas_check_process(r, i);
    if (r->rank && getppid() != r->parent)
        return pr_fail(err, PR_E_JOB, "", "the process of replica 0 is gone");
    ended = __atomic_load_n(&r->board->ended, __ATOMIC_ACQUIRE);
    if (meeting_is_over(r, round))
        return PR_OK;
    rc = replicas_get_failure(r, err);
    if (!rc && stop && __atomic_load_n(stop, __ATOMIC_RELAXED))
        rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    if (!rc && ended)
        rc = pr_fail(err, PR_E_BUG, "", "replica %u has ended already",
                     ended - 1);
    return rc;
}

static int meeting_wait(struct pr_replicas *r, uint32_t round,
                        struct pr_err *err)
{
    struct pr_replicas_board *b = r->board;
    int rc = PR_OK;

    for (unsigned i = 0; i < r->spins; i++) {
        if (meeting_is_over(r, round))
            return PR_OK;
        pause_briefly();
    }
    while (!rc && !meeting_is_over(r, round)) {
        rc = look_around(r, round, err);
        if (rc)
            break;
        __atomic_add_fetch(&b->sleepers, 1, __ATOMIC_SEQ_CST);
        if (!meeting_is_over(r, round))
            futex_wait(r->opts->clock, &b->round, round);
        __atomic_sub_fetch(&b->sleepers, 1, __ATOMIC_SEQ_CST);
    }
    return rc;
}

static int meeting_join(struct pr_replicas *r, struct pr_err *err)
{
    struct pr_replicas_board *b = r->board;
    uint32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);

    PR_TRY(replicas_get_failure(r, err));
    if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) < r->ranks)
        return meeting_wait(r, round, err);
    __atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&b->round, round + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&b->sleepers, __ATOMIC_SEQ_CST))
        futex_wake(&b->round);
    return PR_OK;
}

/* ---- desks */

static struct pr_replicas_desk *replicas_desk_at(const struct pr_replicas *r,
                                                 uint32_t turn, unsigned rank)
{
    return &r->desks[(turn & 1) * r->ranks + rank];
}

struct pr_replicas_desk *pr_replicas_own_desk(struct pr_replicas *r)
{
    return replicas_desk_at(r, r->turn, r->rank);
}

const struct pr_replicas_desk *pr_replicas_get_desk(const struct pr_replicas *r,
                                                    unsigned rank)
{
    return replicas_desk_at(r, r->turn - 1, rank);
}

int pr_replicas_local_meet(struct pr_replicas *r,
                           const struct pr_replicas_card *card,
                           struct pr_err *err)
{
    pr_replicas_own_desk(r)->card = *card;
    PR_TRY(meeting_join(r, err));
    r->turn++;
    for (unsigned i = 0; i < r->ranks; i++) {
        const struct pr_replicas_card *other =
            &pr_replicas_get_desk(r, i)->card;

        if (other->what != card->what || other->count != card->count)
            return pr_fail(
                err, PR_E_BUG, "",
                "replicas %u and %u are not at the same: %d of %llu, %d of "
                "%llu",
                r->rank, i, (int)card->what, (unsigned long long)card->count,
                (int)other->what, (unsigned long long)other->count);
    }
    return PR_OK;
}

/* ---- figures */

static int local_fold(struct pr_replicas *r, enum pr_replicas_op what,
                      double *values, size_t count, struct pr_err *err)
{
    struct pr_replicas_card card = {.what = what, .count = count};
    int rc;

    if (count)
        memcpy(pr_replicas_own_desk(r)->data, values, count * sizeof *values);
    rc = pr_replicas_local_meet(r, &card, err);
    if (rc || !count)
        return rc;
    memcpy(values, pr_replicas_get_desk(r, 0)->data, count * sizeof *values);
    for (unsigned i = 1; i < r->ranks; i++) {
        const double *other = (const void *)pr_replicas_get_desk(r, i)->data;

        for (size_t k = 0; k < count; k++)
            if (what == PR_REPLICAS_OP_SUM)
                values[k] += other[k];
            else if (!(values[k] >= other[k])) /* no number wins, too */
                values[k] = other[k];
    }
    return PR_OK;
}

const struct pr_replicas_transport pr_replicas_local = {pr_replicas_local_mean,
                                                        local_fold};

/* ---- ranks that are processes of this machine: starting them, and their
 * end */

/* How long others may take to end: after a failure they are in the middle of a
 * step, otherwise they give back memory. */
enum { FAILED_MS = 500, ENDED_MS = 30000 };

/* Somewhat longer than it takes to come back from a sleep. */
enum { SPINS = 2000 };

void pr_replicas_silence_stdout(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)dup2(fd, 1);
    (void)close(fd);
}

static int map_board(struct pr_replicas *r, struct pr_err *err)
{
    size_t desks = 2 * (size_t)r->ranks * sizeof *r->desks;
    char *p;

    r->bytes = sizeof *r->board + desks;
    p = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
             -1, 0);
    if (p == MAP_FAILED)
        return pr_fail_errno(err, PR_E_NOMEM, "",
                             "no memory for %u replicas to share", r->ranks);
    r->board = (void *)p;
    r->desks = (void *)(p + sizeof *r->board);
    for (unsigned i = 0; i < PR_SHARES; i++)
        r->memory[i] = memfd_create("prony-replicas", MFD_CLOEXEC);
    return PR_OK;
}

static void unmap_board(struct pr_replicas *r)
{
    pr_threads_free(r->par);
    pr_replicas_share_close_all(r);
    (void)munmap(r->board, r->bytes);
}

/* Only this rank's share of the processors; threads inherit it. */
static void fork_bind_to_slice(struct pr_replicas *r)
{
    cpu_set_t slice;
    unsigned count = pr_cpu_slices_get(&r->cpus, r->rank, r->ranks, &slice);

    if (count)
        (void)sched_setaffinity(0, sizeof slice, &slice);
    r->no_par = count == 1 && r->opts->threads == 0;
    r->spins = r->cpus.count >= r->ranks ? SPINS : 0;
}

/* ---- one of the others */

static _Noreturn void replica_run_child(struct pr_replicas *r, unsigned rank,
                                        pr_replica_fn *fn, void *ctx)
{
    struct pr_err err = {0};
    char name[32]; /* it is cut at 15 */
    int rc;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != r->parent)
        _exit(127); /* it died before it could take us along */
    snprintf(name, sizeof name, "prony-rank%u", rank);
    (void)prctl(PR_SET_NAME, name);
    r->rank = rank;
    pr_replicas_silence_stdout();
    fork_bind_to_slice(r);
    rc = fn(r, ctx, &err);
    if (rc)
        replicas_fail(r, rank, &err);
    else
        replicas_leave(r);
    _exit(pr_code_exit_status(rc));
}

/* ---- the one that reports */

static int start_all(struct pr_replicas *r, pr_replica_fn *fn, void *ctx,
                     struct pr_err *err)
{
    r->parent = getpid();
    for (unsigned i = 1; i < r->ranks; i++) {
        r->pids[i] = fork();
        if (r->pids[i] == 0)
            replica_run_child(r, i, fn, ctx);
        if (r->pids[i] < 0)
            return pr_fail_errno(err, PR_E_IO, "",
                                 "cannot start the process of replica %u", i);
    }
    return PR_OK;
}

static bool all_have_ended(struct pr_replicas *r)
{
    bool all = true;

    for (unsigned i = 1; i < r->ranks; i++)
        if (r->pids[i] > 0)
            all &= replicas_check_process(r, i);
    return all;
}

static void end_all(struct pr_replicas *r, int limit_ms)
{
    uint64_t now = pr_now(r->opts->clock),
             until = now + (uint64_t)limit_ms * 1000000;

    while (!all_have_ended(r) && now < until) {
        if (replicas_get_failure(r, NULL) && limit_ms != FAILED_MS) {
            limit_ms = FAILED_MS; /* one of them, later than this one's end */
            until = now + (uint64_t)limit_ms * 1000000;
        }
        pr_sleep_until(r->opts->clock, now + 1000000, NULL);
        now = pr_now(r->opts->clock);
    }
    for (unsigned i = 1; i < r->ranks; i++) {
        if (r->pids[i] <= 0)
            continue;
        (void)kill(r->pids[i], SIGKILL); /* no matter, if it has ended */
        while (waitpid(r->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

static int replicas_finish(struct pr_replicas *r, int rc, struct pr_err *err)
{
    if (rc)
        replicas_fail(r, 0, err);
    else
        replicas_leave(r);
    end_all(r, rc ? FAILED_MS : ENDED_MS);
    if (!rc)
        rc = replicas_get_failure(r, err);
    return rc;
}

static int replicas_fork_run(struct pr_replicas *r, pr_replica_fn *fn,
                             void *ctx, struct pr_err *err)
{
    int rc;

    PR_TRY(map_board(r, err));
    r->way = &pr_replicas_local;
    rc = start_all(r, fn, ctx, err);
    if (!rc) {
        fork_bind_to_slice(r);
        rc = fn(r, ctx, err);
    }
    rc = replicas_finish(r, rc, err);
    unmap_board(r);
    if (r->cpus.count)
        (void)sched_setaffinity(0, sizeof r->cpus.mask, &r->cpus.mask);
    return rc;
}

/* ---- what others see */

static int replicas_mean_hook(void *ctx, float *values, size_t count,
                              struct pr_err *err)
{
    return pr_replicas_mean(ctx, values, count, err);
}

static int replicas_run_ranks(struct pr_replicas *r, pr_replica_fn *fn,
                              void *ctx, struct pr_err *err)
{
    if (r->opts->mpi)
        return pr_replicas_mpi_run(r, fn, ctx, err);
    if (r->ranks > 1)
        return replicas_fork_run(r, fn, ctx, err);
    return fn(r, ctx, err);
}

int pr_replicas_run(const struct pr_replicas_opts *opts, pr_replica_fn *fn,
                    void *ctx, struct pr_err *err)
{
    struct pr_err own = {0};
    struct pr_replicas *r;
    int rc;

    if (opts->ranks < 1 || (opts->ranks > PR_REPLICAS_MOST && !opts->mpi))
        return pr_fail(err, PR_E_CONF, "exp.num_local_replicas",
                       "%u replicas cannot be, 1 to %d can", opts->ranks,
                       PR_REPLICAS_MOST);
    r = pr_alloc_zeroed(sizeof *r);
    if (!r)
        return pr_fail_nomem(err);
    r->opts = opts;
    r->ranks = opts->ranks;
    r->reduce = (struct pr_net_reduce){r->ranks, r, replicas_mean_hook};
    pr_cpu_slices_init(&r->cpus, opts->sys);
    /* Ranks tell each other their errors, even if nobody asks here. */
    rc = replicas_run_ranks(r, fn, ctx, err ? err : &own);
    pr_free(r);
    return rc;
}

unsigned pr_replicas_rank(const struct pr_replicas *r)
{
    return r->rank;
}

unsigned pr_replicas_count(const struct pr_replicas *r)
{
    return r->ranks;
}

void pr_replicas_add_warning(const struct pr_replicas *r, struct pr_buf *notes)
{
    unsigned have = r->cpus.count;
    unsigned ranks = r->opts->mpi ? r->local_ranks : r->ranks;

    if (r->opts->is_bound || !have || have >= ranks)
        return;
    pr_buf_printf(notes,
                  "exp.num_local_replicas: %u replicas share %u processor%s, "
                  "which is slower than one each\n",
                  ranks, have, have == 1 ? "" : "s");
}

const struct pr_net_reduce *pr_replicas_reduce(const struct pr_replicas *r)
{
    return r->ranks > 1 ? &r->reduce : NULL;
}

int pr_replicas_mean(struct pr_replicas *r, float *values, size_t count,
                     struct pr_err *err)
{
    return r->way ? r->way->mean(r, values, count, err) : PR_OK;
}

static int replicas_fold(struct pr_replicas *r, enum pr_replicas_op what,
                         double *values, size_t count, struct pr_err *err)
{
    if (!r->way)
        return PR_OK;
    if (count > PR_REPLICAS_VALUES)
        return pr_fail(err, PR_E_BUG, "", "%zu figures at once, at most %d",
                       count, PR_REPLICAS_VALUES);
    return r->way->fold(r, what, values, count, err);
}

int pr_replicas_sum(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_SUM, values, count, err);
}

int pr_replicas_max(struct pr_replicas *r, double *values, size_t count,
                    struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_MAX, values, count, err);
}

int pr_replicas_meet(struct pr_replicas *r, struct pr_err *err)
{
    return replicas_fold(r, PR_REPLICAS_OP_MEET, NULL, 0, err);
}
