/*
 * The keeper's own life: settles down after the fork, then serves the runner's
 * messages and its children's deaths until the runner is gone; then ends all.
 */
#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK_BYTES 65536

/* As linux/close_range.h has it; older C libraries do not. */
#define CLOEXEC_RANGE (1u << 2)

static struct pr_keeper_child *keeper_child_find(struct pr_keeper_state *s,
                                                 uint32_t tag)
{
    struct pr_keeper_child *x = s->exps;

    while (x && x->tag != tag)
        x = x->next;
    return x;
}

/* Sends what the socket takes now. False when nobody can hear us any more. */
static bool keeper_flush_events(struct pr_keeper_state *s)
{
    while (s->out.len > 0) {
        ssize_t n =
            send(s->sock, s->out.data, s->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        s->out.len -= (size_t)n;
        memmove(s->out.data, s->out.data + n, s->out.len);
    }
    return true;
}

/* Never waits: a runner that is busy sending to us would wait for us. */
void pr_keeper_send_event(struct pr_keeper_state *s,
                          const struct pr_child_event *ev)
{
    size_t sent = 0;

    if (s->out.len == 0) {
        ssize_t n = send(s->sock, ev, sizeof(*ev), MSG_NOSIGNAL | MSG_DONTWAIT);

        sent = n > 0 ? (size_t)n : 0;
    }
    if (sent < sizeof(*ev))
        pr_buf_add(&s->out, (const char *)ev + sent, sizeof(*ev) - sent);
    s->broken |= !pr_buf_ok(&s->out);
}

static void keeper_apply_message(struct pr_keeper_state *s,
                                 struct pr_keeper_message *m)
{
    uint32_t tag, signo;
    struct pr_keeper_child *x;

    if (m->type == PR_KEEPER_MESSAGE_SPAWN) {
        pr_keeper_child_spawn(s, m);
        return;
    }
    if (m->type == PR_KEEPER_MESSAGE_HOLD) {
        s->broken |= !pr_keeper_cgroups_add(s, m);
        return;
    }
    if (m->type ==
        PR_KEEPER_MESSAGE_GOODBYE) { /* the end of the socket is near */
        s->told = true;
        return;
    }
    if (m->type != PR_KEEPER_MESSAGE_SIGNAL ||
        !pr_keeper_message_get_u32(m, &tag) ||
        !pr_keeper_message_get_u32(m, &signo)) {
        s->broken = true;
        return;
    }
    x = keeper_child_find(s, tag);
    if (x)
        pr_keeper_tree_signal(s, x, (int)signo);
}

static void keeper_apply_messages(struct pr_keeper_state *s)
{
    struct pr_keeper_message m;
    size_t at = 0, used;
    int rc = 0;

    while (!s->broken &&
           (rc = pr_keeper_message_read(s->in.data + at, s->in.len - at, &m,
                                        &used)) > 0) {
        keeper_apply_message(s, &m);
        at += used;
    }
    s->broken |= rc < 0;
    s->in.len -= at;
    if (s->in.len == 0 && s->in.cap > 2 * CHUNK_BYTES)
        pr_buf_free(&s->in); /* a rare giant */
    else
        memmove(s->in.data, s->in.data + at, s->in.len);
}

/* Whether the runner ended us on purpose. What it asked for before that does
 * not matter any more. */
static bool was_told(struct pr_keeper_state *s)
{
    struct pr_keeper_message m = {0};
    size_t at = 0, used;
    ssize_t n = 1;

    while (n > 0 && pr_buf_reserve(&s->in, CHUNK_BYTES)) {
        n = recv(s->sock, s->in.data + s->in.len, CHUNK_BYTES, MSG_DONTWAIT);
        s->in.len += n > 0 ? (size_t)n : 0;
    }
    while (s->in.len > at &&
           pr_keeper_message_read(s->in.data + at, s->in.len - at, &m, &used) >
               0)
        at += used;
    return s->told || m.type == PR_KEEPER_MESSAGE_GOODBYE;
}

/* False when the runner has closed its end. */
static bool keeper_receive(struct pr_keeper_state *s)
{
    ssize_t n;

    if (!pr_buf_reserve(&s->in, CHUNK_BYTES)) {
        s->broken = true;
        return true;
    }
    n = recv(s->sock, s->in.data + s->in.len, CHUNK_BYTES, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    s->in.len += (size_t)n;
    if (n > 0)
        keeper_apply_messages(s);
    return n > 0;
}

static void drain_signals(struct pr_keeper_state *s)
{
    struct signalfd_siginfo info[8];

    while (read(s->signals, info, sizeof(info)) > 0)
        ;
}

/* One round. False when it is time to end: the other end of the socket is
 * closed, or our parent is not the one we had (somebody forked from it may
 * still hold the socket open). */
static bool keeper_serve_round(struct pr_keeper_state *s)
{
    short out = s->out.len ? POLLOUT : 0;
    struct pollfd p[2] = {{.fd = s->sock, .events = (short)(POLLIN | out)},
                          {.fd = s->signals, .events = POLLIN}};
    int timeout = pr_keeper_tree_timeout(s);
    int n = poll(p, 2, timeout);

    if (n < 0)
        return errno == EINTR;
    if (p[0].revents & (POLLHUP | POLLERR))
        return false;
    if (p[1].revents) {
        drain_signals(s);
        if (getppid() != s->runner)
            return false;
    }
    if (p[1].revents || n == 0 || timeout == 0)
        pr_keeper_tree_settle(s, pr_keeper_tree_reap(s));
    if ((p[0].revents & POLLOUT) && !keeper_flush_events(s))
        return false;
    return !(p[0].revents & POLLIN) || keeper_receive(s);
}

/* What we inherited stays open with us, for the sake of locks, but does not go
 * on to any program. */
static void keep_from_programs(void)
{
    struct dirent *e;
    DIR *d;

#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3u, ~0u, CLOEXEC_RANGE) == 0)
        return;
#endif
    d = opendir("/proc/self/fd");
    if (!d)
        return;
    while ((e = readdir(d))) {
        int fd = atoi(e->d_name);

        if (fd > 2)
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    closedir(d);
}

static void settle_down(struct pr_keeper_state *s, int null_fd)
{
    s->self = getpid();
    /* Away from the runner's group: who kills that group, kills the runner,
     * and we remain to clear up. */
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_NAME, "prony-keeper");
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_PDEATHSIG, SIGUSR1);
    (void)dup2(null_fd, 0);
    /* Were they closed, the next thing opened would become them. */
    for (int fd = 1; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)dup2(null_fd, fd);
    close(null_fd);
    keep_from_programs();
    pr_oom_watch_init(&s->oom, "");
    s->oom_ns = pr_clock_ns();
}

static void keeper_free_state(struct pr_keeper_state *s)
{
    while (s->exps) {
        struct pr_keeper_child *x = s->exps;

        s->exps = x->next;
        pr_keeper_child_free(x);
    }
    pr_buf_free(&s->in);
    pr_buf_free(&s->out);
    pr_proctree_free(&s->tree);
    pr_pids_free(&s->stuck);
    pr_oom_watch_close(&s->oom);
    pr_free(s);
}

_Noreturn void pr_keeper_process_run(struct pr_keeper_state *s, int null_fd)
{
    bool broken;
    sigset_t mask;

    pr_keeper_child_ignore_signals();
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGUSR1);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    settle_down(s, null_fd);
    if (getppid() == s->runner)
        while (!s->broken && keeper_serve_round(s))
            ;
    pr_keeper_tree_kill_all(s);
    pr_keeper_cgroups_remove(s);
    if (!was_told(s)) {
        if (s->calls.orphaned)
            s->calls.orphaned(s->calls.ctx);
        pr_run_cgroup_leave(&s->group);
    }
    broken = s->broken;
    keeper_free_state(s);
    _exit(broken);
}
