/*
 * When the keeper has died: its children are now ours, because we are a child
 * subreaper too. Kills those that belong to experiments, and nothing else: we
 * live in somebody's process, which may have children of its own.
 *
 * And when both had died: a later run ends what is left of them.
 */
#include "launch/keeper/keeper_impl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OURS = 1 << 0, TARGET = 1 << 1 };

/* A keeper that was told to end needs milliseconds. */
#define PATIENCE_NS (3 * PR_S_NS)
#define SWEEP_NS (2 * PR_S_NS)

static bool is_live_child(const struct pr_keeper *k, pid_t pid)
{
    for (size_t i = 0; i < k->n_live; i++)
        if (k->live[i].pid == pid)
            return true;
    return false;
}

static enum pr_proc_has sweep_check_owner(const struct pr_keeper *k,
                                          const struct pr_proc *p)
{
    bool unsure = false;

    if (is_live_child(k, p->pid) || is_live_child(k, p->pgrp) ||
        pr_proctree_get_mark(p->pid) >> 32 == k->mark)
        return PR_PROC_HAS;
    for (size_t i = 0; i < k->n_live; i++) {
        enum pr_proc_has has = pr_proctree_has_env(p->pid, k->live[i].marker);

        if (has == PR_PROC_HAS)
            return has;
        unsure |= has == PR_PROC_UNSURE;
    }
    return unsure ? PR_PROC_UNSURE : PR_PROC_HAS_NOT;
}

static bool mark_targets(const struct pr_keeper *k, struct pr_proctree *t)
{
    struct pr_proc *me = pr_proctree_find(t, k->owner);
    bool unsure = false;

    if (!me)
        return false;
    me->marks |= OURS;
    pr_proctree_spread(t, OURS);
    me->marks = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct pr_proc *p = &t->procs[i];
        enum pr_proc_has has;

        if (!(p->marks & OURS))
            continue;
        has = sweep_check_owner(k, p);
        if (has == PR_PROC_HAS)
            p->marks |= TARGET;
        unsure |= has == PR_PROC_UNSURE && !p->dead;
    }
    pr_proctree_spread(t, TARGET);
    return unsure;
}

/* Whether anything was there. The dead count until we have waited for them;
 * having no environment, they are known by having been hit. */
static bool sweep_kill_targets(const struct pr_proctree *t, struct pr_pids *hit)
{
    bool any = false;

    for (size_t i = 0; i < t->n; i++) {
        const struct pr_proc *p = &t->procs[i];
        bool target = p->marks & TARGET;

        if (!target && !((p->marks & OURS) && pr_pids_has(hit, p->pid)))
            continue;
        any = true;
        (void)pr_pids_add(hit, p->pid);
        if (!p->dead)
            (void)kill(p->pid, SIGKILL);
        (void)waitpid(p->pid, NULL, WNOHANG); /* fails while not our child */
    }
    return any;
}

static void sweep_descendants(const struct pr_keeper *k)
{
    uint64_t start = pr_clock_ns(), spent = 0;
    struct pr_proctree t = {0};
    struct pr_pids hit = {0};
    bool more = true;

    while (more && spent < SWEEP_NS && pr_proctree_read(&t) == 0) {
        bool unsure = mark_targets(k, &t);

        more = sweep_kill_targets(&t, &hit);
        more |= unsure && spent < PR_KEEPER_UNSURE_NS;
        if (more)
            poll(NULL, 0, 1);
        spent = pr_clock_ns() - start;
    }
    pr_proctree_free(&t);
    pr_pids_free(&hit);
}

/* Its exit status, or -1 when somebody else has waited for it. */
static int wait_for_keeper(pid_t pid)
{
    uint64_t end = pr_clock_ns() + PATIENCE_NS;
    /* Its end is a matter of microseconds, as a rule. */
    struct timespec nap = {.tv_nsec = 20000};
    bool forced = false;
    int status = -1;
    pid_t got;

    while ((got = waitpid(pid, &status, forced ? 0 : WNOHANG)) != pid) {
        if (got < 0 && errno != EINTR) {
            status = -1;
            break;
        }
        if (!forced && pr_clock_ns() > end) {
            (void)kill(pid, SIGKILL);
            forced = true;
        }
        if (!forced)
            nanosleep(&nap, NULL);
        if (nap.tv_nsec < 1000000)
            nap.tv_nsec *= 2;
    }
    return status;
}

void pr_keeper_reap(struct pr_keeper *k)
{
    int status;

    if (!k->pid)
        return;
    status = wait_for_keeper(k->pid);
    k->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (*k->group.dir)
            (void)pr_run_cgroup_kill(k->group.dir, NULL);
        sweep_descendants(k);
    }
    pr_run_cgroup_remove(
        &k->group); /* what is left, the next run tries again */
}

/* ---- what earlier ones left */

static bool has_trace_mark(const struct pr_keeper_trace *traces, size_t n,
                           pid_t pid)
{
    uint64_t mark = pr_proctree_get_mark(pid) >> 32;

    for (size_t i = 0; mark && i < n; i++)
        if (traces[i].mark == mark)
            return true;
    return false;
}

static void mark_elders(struct pr_proctree *t)
{
    struct pr_proc *p = pr_proctree_find(t, getpid());

    for (; p && !(p->marks & OURS); p = pr_proctree_find(t, p->ppid))
        p->marks |= OURS;
}

/* How many were alive. */
static size_t kill_marked(struct pr_proctree *t,
                          const struct pr_keeper_trace *traces, size_t n,
                          struct pr_pids *killed)
{
    size_t alive = 0;

    mark_elders(t);
    for (size_t i = 0; i < t->n; i++) {
        const struct pr_proc *p = &t->procs[i];

        if ((p->marks & OURS) || p->dead ||
            !has_trace_mark(traces, n, p->pid) || kill(p->pid, SIGKILL) < 0)
            continue;
        alive++;
        (void)pr_pids_add(killed, p->pid);
    }
    return alive;
}

void pr_keeper_end_traces(const struct pr_keeper_trace *traces, size_t n,
                          struct pr_pids *killed)
{
    uint64_t end = pr_clock_ns() + SWEEP_NS;
    struct pr_proctree t = {0};

    for (size_t i = 0; i < n; i++)
        if (traces[i].group)
            pr_run_cgroup_kill_stale(traces[i].group, killed);
    while (n && pr_proctree_read(&t) == 0 &&
           kill_marked(&t, traces, n, killed) && pr_clock_ns() < end)
        poll(NULL, 0, 1);
    pr_proctree_free(&t);
}
