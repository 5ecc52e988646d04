/*
 * Meetings of ranks. Who comes last lets all go; the others look a little
 * while, then sleep, and wake now and then to see whether the missing ones are
 * alive.
 */
#include "base/clock.h"
#include "native/replica/replicas_impl.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

void pr_replicas_fail(struct pr_replicas *r, unsigned rank,
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

void pr_replicas_leave(struct pr_replicas *r)
{
    __atomic_store_n(&r->board->is_done[r->rank], true, __ATOMIC_RELEASE);
    __atomic_store_n(&r->board->ended, r->rank + 1, __ATOMIC_RELEASE);
}

int pr_replicas_get_failure(const struct pr_replicas *r, struct pr_err *err)
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
    pr_replicas_fail(r, rank, &err);
}

bool pr_replicas_check_process(struct pr_replicas *r, unsigned rank)
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
        (void)pr_replicas_check_process(r, i);
    if (r->rank && getppid() != r->parent)
        return pr_fail(err, PR_E_JOB, "", "the process of replica 0 is gone");
    ended = __atomic_load_n(&r->board->ended, __ATOMIC_ACQUIRE);
    if (meeting_is_over(r, round))
        return PR_OK;
    rc = pr_replicas_get_failure(r, err);
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
    int rc = pr_replicas_get_failure(r, err);

    if (rc)
        return rc;
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
    int rc;

    pr_replicas_own_desk(r)->card = *card;
    rc = meeting_join(r, err);
    if (rc)
        return rc;
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
