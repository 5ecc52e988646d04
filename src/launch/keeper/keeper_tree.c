/*
 * Process trees in the keeper: which processes belong to an experiment, sending
 * them signals, and seeing to it that they are gone. Everything that descends
 * from the keeper stays below it (it is the child subreaper), so that a tree is
 * the main child's descendants, its process group, and the orphans that carry
 * its mark, or its marker in their environment. When but one experiment is
 * alive, every orphan is its own.
 */
#include "launch/keeper/keeper_impl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OURS = 1 << 0, TARGET = 1 << 1 };

/* What was sent a signal is given this long to die of it before it counts as
 * left behind. */
#define GRACE_NS (20 * PR_MS_NS)
#define GIVE_UP_NS (2 * PR_S_NS)
#define MAX_PAUSE_NS (16 * PR_MS_NS)
#define KILL_ALL_NS (10 * PR_S_NS)

/* Exit status of a shell whose command was killed. */
#define SHELL_SIGKILL (128 + SIGKILL)

static bool keeper_read_tree(struct pr_keeper_state *s)
{
    struct pr_proc *me;

    if (pr_proctree_read(&s->tree) < 0)
        return false;
    me = pr_proctree_find(&s->tree, s->self);
    if (!me)
        return false;
    me->marks |= OURS;
    pr_proctree_spread(&s->tree, OURS);
    me->marks = 0;
    return true;
}

static bool is_main_child(const struct pr_keeper_state *s, pid_t pid)
{
    for (const struct pr_keeper_child *x = s->exps; x; x = x->next)
        if (x->pid == pid && !x->ended)
            return true;
    return false;
}

static enum pr_proc_has tree_check_owner(const struct pr_keeper_state *s,
                                         const struct pr_keeper_child *x,
                                         const struct pr_proc *p)
{
    bool alone = s->exps == x && !x->next;

    if ((p->pid == x->pid && !x->ended) || p->pgrp == x->pid)
        return PR_PROC_HAS;
    if (p->ppid != s->self || is_main_child(s, p->pid) ||
        pr_pids_has(&s->stuck, p->pid))
        return PR_PROC_HAS_NOT;
    return alone || pr_proctree_get_mark(p->pid) == x->mark
               ? PR_PROC_HAS
               : pr_proctree_has_env(p->pid, x->marker);
}

/* Marks the tree of x among what the last look saw. True when a process could
 * not be told; a moment later it can. */
static bool mark_tree(struct pr_keeper_state *s,
                      const struct pr_keeper_child *x)
{
    bool unsure = false;

    pr_proctree_clear(&s->tree, TARGET);
    for (size_t i = 0; i < s->tree.n; i++) {
        struct pr_proc *p = &s->tree.procs[i];
        enum pr_proc_has has;

        if (!(p->marks & OURS) || p->dead)
            continue;
        has = tree_check_owner(s, x, p);
        if (has == PR_PROC_HAS)
            p->marks |= TARGET;
        unsure |= has == PR_PROC_UNSURE;
    }
    pr_proctree_spread(&s->tree, TARGET);
    return unsure;
}

static bool is_target(const struct pr_proc *p)
{
    return (p->marks & TARGET) && !p->dead;
}

void pr_keeper_tree_signal(struct pr_keeper_state *s, struct pr_keeper_child *x,
                           int signo)
{
    bool seen = keeper_read_tree(s);

    x->signalled = true;
    x->killed |= signo == SIGKILL;
    if (seen)
        (void)mark_tree(s, x);
    if (!x->ended)
        (void)kill(-x->pid, signo);
    for (size_t i = 0; seen && i < s->tree.n; i++) {
        const struct pr_proc *p = &s->tree.procs[i];

        if (is_target(p) && p->pgrp != x->pid)
            (void)kill(p->pid, signo);
    }
}

static uint64_t from_timeval(struct timeval t)
{
    return (uint64_t)t.tv_sec * PR_S_NS + (uint64_t)t.tv_usec * 1000;
}

static bool died_of_kill(int status)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == SHELL_SIGKILL);
}

/* The counter of a slot is its own: whatever of the tree was killed, it
 * failed of it. The machine's would also tell of its neighbours. */
static bool struck_by_oom(struct pr_keeper_state *s, struct pr_keeper_child *x,
                          int status, uint64_t now)
{
    if (x->killed || status == 0)
        return false;
    if (x->oom.fd >= 0)
        return pr_oom_cgroup_has_risen(&x->oom);
    if (!died_of_kill(status) && !x->orphan_killed)
        return false;
    s->oom_ns = now;
    return pr_oom_watch_has_risen(&s->oom);
}

static void main_ended(struct pr_keeper_state *s, struct pr_keeper_child *x,
                       int status, const struct rusage *ru)
{
    uint64_t now = pr_clock_ns();
    struct pr_child_event *ev = &x->event;

    x->ended = true;
    x->kill_ns = x->signalled ? now + GRACE_NS : now;
    x->give_up_ns = now + GIVE_UP_NS;
    x->sure_ns = now + PR_KEEPER_UNSURE_NS;
    x->look_ns = now;
    x->pause_ns = PR_MS_NS;
    ev->kind = PR_CHILD_ENDED;
    ev->wait_status = status;
    ev->ended_ns = pr_wall_clock_ns();
    ev->elapsed_ns = now - x->start_ns;
    ev->cpu_user_ns = from_timeval(ru->ru_utime);
    ev->cpu_system_ns = from_timeval(ru->ru_stime);
    ev->max_rss_bytes = (uint64_t)ru->ru_maxrss * 1024;
    ev->oom = struck_by_oom(s, x, status, now);
}

static void orphan_ended(struct pr_keeper_state *s, pid_t pid, int status)
{
    struct pr_keeper_child *x = s->exps;
    bool alone = x && !x->next;

    if (alone && !x->ended && !x->killed && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGKILL)
        x->orphan_killed = true;
    pr_pids_remove(&s->stuck, pid);
}

bool pr_keeper_tree_reap(struct pr_keeper_state *s)
{
    struct rusage ru;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &ru)) > 0) {
        struct pr_keeper_child *x = s->exps;

        while (x && (x->pid != pid || x->ended))
            x = x->next;
        if (x)
            main_ended(s, x, status, &ru);
        else
            orphan_ended(s, pid, status);
    }
    return pid < 0 && errno == ECHILD;
}

static void tree_kill_targets(struct pr_keeper_state *s,
                              struct pr_keeper_child *x)
{
    bool group = false;

    for (size_t i = 0; i < s->tree.n; i++) {
        const struct pr_proc *p = &s->tree.procs[i];

        if (!is_target(p))
            continue;
        if (pr_pids_add(&x->hit, p->pid))
            x->event.leftovers++;
        group |= p->pgrp == x->pid;
        (void)kill(p->pid, SIGKILL);
    }
    /* Its number cannot have been given to others while members live. */
    if (group)
        (void)kill(-x->pid, SIGKILL);
}

static void leave_stuck(struct pr_keeper_state *s)
{
    for (size_t i = 0; i < s->tree.n; i++)
        if (is_target(&s->tree.procs[i]))
            (void)pr_pids_add(&s->stuck, s->tree.procs[i].pid);
}

/* Without a look at /proc the process group is all that we know. */
static bool group_gone(struct pr_keeper_child *x, uint64_t now)
{
    return kill(-x->pid, SIGKILL) < 0 || now >= x->give_up_ns;
}

/* Dead, but still to be waited for. */
static bool is_unreaped(const struct pr_keeper_state *s,
                        const struct pr_keeper_child *x,
                        const struct pr_proc *p)
{
    return p->dead && (p->marks & OURS) &&
           (p->ppid == s->self || p->pgrp == x->pid ||
            pr_pids_has(&x->hit, p->pid));
}

static bool tree_gone(struct pr_keeper_state *s, struct pr_keeper_child *x,
                      bool seen, uint64_t now)
{
    bool unsure, any = false, dead = false;

    x->look_ns = now + x->pause_ns;
    if (x->pause_ns < MAX_PAUSE_NS)
        x->pause_ns *= 2;
    if (!seen)
        return group_gone(x, now);
    unsure = mark_tree(s, x);
    for (size_t i = 0; i < s->tree.n; i++) {
        any |= is_target(&s->tree.procs[i]);
        dead |= is_unreaped(s, x, &s->tree.procs[i]);
    }
    if (!any && !dead)
        return !unsure || now >= x->sure_ns;
    if (now >= x->give_up_ns) {
        leave_stuck(s);
        return true;
    }
    if (now >= x->kill_ns)
        tree_kill_targets(s, x);
    return false;
}

void pr_keeper_tree_settle(struct pr_keeper_state *s, bool childless)
{
    uint64_t now = pr_clock_ns();
    bool looked = false, seen = false;

    for (struct pr_keeper_child **at = &s->exps; *at;) {
        struct pr_keeper_child *x = *at;
        bool gone = x->ended && childless;

        if (x->ended && !childless && now >= x->look_ns) {
            if (!looked)
                seen = keeper_read_tree(s);
            looked = true;
            gone = tree_gone(s, x, seen, now);
        }
        if (!gone) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        pr_keeper_send_event(s, &x->event);
        pr_keeper_child_free(x);
    }
}

int pr_keeper_tree_timeout(const struct pr_keeper_state *s)
{
    uint64_t now = 0, next = UINT64_MAX;

    for (const struct pr_keeper_child *x = s->exps; x; x = x->next)
        if (x->ended && x->look_ns < next)
            next = x->look_ns;
    if (next == UINT64_MAX)
        return -1;
    now = pr_clock_ns();
    return next <= now ? 0 : (int)((next - now) / PR_MS_NS) + 1;
}

static void kill_ours(struct pr_keeper_state *s)
{
    if (!keeper_read_tree(s))
        return;
    for (size_t i = 0; i < s->tree.n; i++)
        if (s->tree.procs[i].marks & OURS)
            (void)kill(s->tree.procs[i].pid, SIGKILL);
}

void pr_keeper_tree_kill_all(struct pr_keeper_state *s)
{
    uint64_t give_up = pr_clock_ns() + KILL_ALL_NS;
    int pause_ms = 1;

    for (const struct pr_keeper_child *x = s->exps; x; x = x->next)
        if (!x->ended)
            (void)kill(-x->pid, SIGKILL);
    for (;;) {
        pid_t pid;

        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return;
        kill_ours(s);
        if (pr_clock_ns() > give_up)
            return;
        poll(NULL, 0, pause_ms);
        if (pause_ms < 16)
            pause_ms *= 2;
    }
}
