/*
 * The runner's side of the keeper: forks it, sends it requests, reads what
 * happened, and remembers what is alive in case the keeper dies.
 */
#include "launch/keeper/keeper.h"

#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* What must be there before the fork, so that nothing can fail after it. */
struct pieces {
    struct pr_keeper *k;
    struct pr_keeper_state *s;
    int sock[2]; /* ours, the keeper's */
    int signals;
    int null_fd;
};

/* Keeps clear of 0 to 2, should the caller run with those closed: the keeper
 * and its children put other things there. */
static int high_fd(int fd)
{
    int high;

    if (fd < 0 || fd > 2)
        return fd;
    high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void free_pieces(struct pieces *p)
{
    if (p->k) {
        pr_run_cgroup_remove(&p->k->group);
        pr_pids_free(&p->k->found);
    }
    close_fd(p->sock[0]);
    close_fd(p->sock[1]);
    close_fd(p->signals);
    close_fd(p->null_fd);
    pr_free(p->k);
    pr_free(p->s);
}

static int open_pieces(struct pieces *p, struct pr_err *err)
{
    sigset_t mask;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return pr_fail_errno(err, PR_E_IO, "", "cannot make a socket pair");
    p->sock[0] = high_fd(pair[0]);
    p->sock[1] = high_fd(pair[1]);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGUSR1);
    p->signals = high_fd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    p->null_fd = high_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (p->sock[0] < 0 || p->sock[1] < 0 || p->signals < 0 || p->null_fd < 0)
        return pr_fail_errno(err, PR_E_IO, "",
                             "cannot open what a keeper needs");
    return PR_OK;
}

/* 31 bits, so that with a tag behind it no limit is too high for it. */
static uint32_t draw_mark(void)
{
    uint32_t mark;

    if (getrandom(&mark, sizeof(mark), GRND_NONBLOCK) != sizeof(mark))
        mark = (uint32_t)pr_clock_ns() ^ ((uint32_t)getpid() << 16);
    return (mark & INT32_MAX) | 1;
}

static int make_pieces(struct pieces *p, struct pr_err *err)
{
    int rc;

    *p = (struct pieces){.sock = {-1, -1}, .signals = -1, .null_fd = -1};
    p->k = pr_alloc_zeroed(sizeof(*p->k));
    p->s = pr_alloc_zeroed(sizeof(*p->s));
    if (p->k)
        p->k->group.fd = -1;
    if (!p->k || !p->s)
        return pr_fail_nomem(err);
    p->k->out = (struct pr_buf)PR_BUF_INIT(PR_KEEPER_MESSAGE_MAX);
    p->k->owner = p->s->runner = getpid();
    p->s->in = (struct pr_buf)PR_BUF_INIT(2 * PR_KEEPER_MESSAGE_MAX);
    p->s->out = (struct pr_buf)PR_BUF_INIT(PR_KEEPER_MESSAGE_MAX);
    p->k->mark = p->s->mark = draw_mark();
    rc = open_pieces(p, err);
    if (!rc)
        rc =
            pr_run_cgroup_make("", p->k->mark, &p->k->group, &p->k->found, err);
    p->s->group = p->k->group;
    return rc;
}

static _Noreturn void become_keeper(struct pieces *p)
{
    close(p->sock[0]);
    pr_pids_free(&p->k->found);
    pr_free(p->k);
    pr_keeper_process_run(p->s, p->null_fd);
}

/* With all signals blocked, so that none meets the child between the fork and
 * its own arrangements. */
static pid_t fork_keeper(struct pieces *p)
{
    sigset_t all, before;
    pid_t pid;

    fflush(NULL);
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = pr_run_cgroup_fork(&p->k->group);
    if (pid == 0)
        become_keeper(p);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

int pr_keeper_new(const struct pr_keeper_calls *calls, struct pr_keeper **ret,
                  struct pr_err *err)
{
    struct pieces p;
    struct pr_keeper *k;
    int rc = make_pieces(&p, err);

    if (rc != PR_OK) {
        free_pieces(&p);
        return rc;
    }
    k = p.k;
    p.s->sock = p.sock[1];
    p.s->signals = p.signals;
    if (calls)
        p.s->calls = *calls;
    k->has_body = calls && calls->body;
    (void)prctl(PR_GET_CHILD_SUBREAPER, &k->subreaper);
    k->pid = fork_keeper(&p);
    if (k->pid < 0) {
        rc = pr_fail_errno(err, PR_E_IO, "", "cannot fork the keeper");
        free_pieces(&p);
        return rc;
    }
    /* Should the keeper be killed, its children come to us. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    k->sock = p.sock[0];
    p.sock[0] = -1;
    p.k = NULL;
    free_pieces(&p);
    *ret = k;
    return PR_OK;
}

struct pr_keeper_trace pr_keeper_get_trace(const struct pr_keeper *k)
{
    return (struct pr_keeper_trace){k->mark, k->group.dir};
}

const struct pr_pids *pr_keeper_get_killed(const struct pr_keeper *k)
{
    return &k->found;
}

/* It then knows that we were not killed. Does not wait: one that takes nothing
 * any more is ended by force. */
static void send_goodbye(struct pr_keeper *k)
{
    pr_keeper_message_begin(&k->out, PR_KEEPER_MESSAGE_GOODBYE);
    pr_keeper_message_end(&k->out);
    if (pr_buf_ok(&k->out))
        (void)send(k->sock, k->out.data, k->out.len,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
}

void pr_keeper_free(struct pr_keeper *k)
{
    if (!k)
        return;
    if (k->owner == getpid()) {
        send_goodbye(k);
        /* Unlike close(), this reaches the keeper even when somebody forked
         * from us holds the socket too. */
        (void)shutdown(k->sock, SHUT_RDWR);
        pr_keeper_reap(k);
        (void)prctl(PR_SET_CHILD_SUBREAPER, k->subreaper);
    }
    close(k->sock);
    close_fd(k->group.fd); /* in a fork: the group is not its own to remove */
    for (size_t i = 0; i < k->n_live; i++)
        pr_free(k->live[i].marker);
    pr_free(k->live);
    pr_pids_free(&k->found);
    pr_buf_free(&k->out);
    pr_free(k);
}

static int keeper_fail_gone(struct pr_keeper *k, struct pr_err *err)
{
    pr_keeper_reap(k);
    k->gone = true;
    return pr_fail(err, PR_E_IO, "",
                   "the keeper process has died, and its experiments with it");
}

static struct pr_keeper_live_child *find_live(struct pr_keeper *k, uint32_t tag)
{
    for (size_t i = 0; i < k->n_live; i++)
        if (k->live[i].tag == tag)
            return &k->live[i];
    return NULL;
}

static bool reserve_live(struct pr_keeper *k)
{
    size_t cap = k->cap_live ? 2 * k->cap_live : 16;
    struct pr_keeper_live_child *more;

    if (k->n_live < k->cap_live)
        return true;
    more = pr_realloc(k->live, cap * sizeof(*more));
    if (!more)
        return false;
    k->live = more;
    k->cap_live = cap;
    return true;
}

int pr_keeper_send(struct pr_keeper *k, struct pr_err *err)
{
    bool made = pr_buf_ok(&k->out);
    int rc =
        made ? pr_keeper_message_send(k->sock, k->out.data, k->out.len) : 0;

    if (!made || k->out.cap > 1u << 16)
        pr_buf_free(&k->out);
    if (!made)
        return pr_fail_nomem(err);
    if (rc == -EPIPE || rc == -ECONNRESET)
        return keeper_fail_gone(k, err);
    if (rc < 0) {
        errno = -rc;
        return pr_fail_errno(err, PR_E_IO, "", "cannot reach the keeper");
    }
    return PR_OK;
}

static char *make_marker(const char *id)
{
    size_t bytes = sizeof(PR_KEEPER_MARKER) + strlen(id);
    char *marker = pr_alloc(bytes);

    if (marker)
        snprintf(marker, bytes, "%s%s", PR_KEEPER_MARKER, id);
    return marker;
}

static size_t count_list_bytes(const char *const *list)
{
    size_t bytes = 0;

    for (; list && *list; list++)
        bytes += strlen(*list) + 1 + sizeof(uint32_t);
    return bytes;
}

static int check_spawn_size(const struct pr_spawn *s, struct pr_err *err)
{
    /* Half: the rest is for our own environment and the paths. */
    if (count_list_bytes(s->argv) + count_list_bytes(s->env) <=
        PR_KEEPER_MESSAGE_MAX / 2)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, s->id,
                   "the arguments and environment are larger than any "
                   "program can take");
}

int pr_keeper_spawn(struct pr_keeper *k, const struct pr_spawn *s,
                    struct pr_err *err)
{
    int rc = check_spawn_size(s, err);
    char *marker;

    assert(s->argv ? s->argv[0] != NULL : k->has_body);
    assert(!find_live(k, s->tag));
    if (rc != PR_OK)
        return rc;
    if (k->gone)
        return keeper_fail_gone(k, err);
    if (!reserve_live(k))
        return pr_fail_nomem(err);
    marker = make_marker(s->id);
    if (!marker)
        return pr_fail_nomem(err);
    pr_keeper_put_spawn(&k->out, s, marker);
    rc = pr_keeper_send(k, err);
    if (rc != PR_OK) {
        pr_free(marker);
        return rc;
    }
    k->live[k->n_live++] =
        (struct pr_keeper_live_child){.tag = s->tag, .marker = marker};
    return PR_OK;
}

int pr_keeper_signal(struct pr_keeper *k, uint32_t tag, int signo,
                     struct pr_err *err)
{
    assert(signo > 0 && signo < _NSIG);
    if (k->gone)
        return keeper_fail_gone(k, err);
    if (!find_live(k, tag))
        return PR_OK;
    pr_keeper_message_begin(&k->out, PR_KEEPER_MESSAGE_SIGNAL);
    pr_keeper_message_put_u32(&k->out, tag);
    pr_keeper_message_put_u32(&k->out, (uint32_t)signo);
    pr_keeper_message_end(&k->out);
    return pr_keeper_send(k, err);
}

int pr_keeper_fd(const struct pr_keeper *k)
{
    return k->sock;
}

static void keeper_apply_event(struct pr_keeper *k,
                               const struct pr_child_event *ev)
{
    struct pr_keeper_live_child *l = find_live(k, ev->tag);

    if (!l)
        return;
    if (ev->kind == PR_CHILD_STARTED) {
        l->pid = ev->pid;
        return;
    }
    pr_free(l->marker);
    *l = k->live[--k->n_live];
}

int pr_keeper_next(struct pr_keeper *k, struct pr_child_event *ret,
                   struct pr_err *err)
{
    if (k->gone)
        return keeper_fail_gone(k, err);
    /* Never reads beyond one event, so that the descriptor polls readable as
     * long as there is another. */
    while (k->have < sizeof(k->event)) {
        ssize_t n = recv(k->sock, (char *)&k->event + k->have,
                         sizeof(k->event) - k->have, MSG_DONTWAIT);

        if (n > 0)
            k->have += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else if (n == 0 || errno != EINTR)
            return keeper_fail_gone(k, err);
    }
    k->have = 0;
    keeper_apply_event(k, &k->event);
    *ret = k->event;
    return 1;
}
