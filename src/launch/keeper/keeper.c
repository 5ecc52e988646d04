/*
 * The runner's side of the keeper: forks it, sends it requests, reads what
 * happened, and remembers what is alive in case the keeper dies.
 */
#include "launch/keeper/keeper.h"

#include "base/file.h"
#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- when the keeper has died: its children are now ours, because we are a
 * child subreaper too. Kills those that belong to experiments, and nothing
 * else: we live in somebody's process, which may have children of its own. And
 * when both had died: a later run ends what is left of them. */

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

/* Waits for the end of a keeper that was told to end or has died, ends it by
 * force when that takes too long, and kills what it left to us. */
static void keeper_reap(struct pr_keeper *k)
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

/* ---- what earlier runs left */

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

/* ---- messages between runner and keeper: writing, sending, taking apart */

#define HEADER_BYTES (2 * sizeof(uint32_t))
#define NO_STRING UINT32_MAX

void pr_keeper_message_begin(struct pr_buf *b, enum pr_keeper_message_type type)
{
    pr_buf_clear(b);
    pr_keeper_message_put_u32(b, 0);
    pr_keeper_message_put_u32(b, type);
}

void pr_keeper_message_put_u32(struct pr_buf *b, uint32_t v)
{
    pr_buf_add(b, &v, sizeof(v));
}

void pr_keeper_message_put_str(struct pr_buf *b, const char *s)
{
    size_t len;

    if (!s) {
        pr_keeper_message_put_u32(b, NO_STRING);
        return;
    }
    len = strlen(s);
    if (len >= PR_KEEPER_MESSAGE_MAX) {
        b->failed = true;
        return;
    }
    pr_keeper_message_put_u32(b, (uint32_t)len);
    pr_buf_add(b, s, len + 1);
}

void pr_keeper_message_end(struct pr_buf *b)
{
    uint32_t len;

    if (!pr_buf_ok(b))
        return;
    len = (uint32_t)(b->len - HEADER_BYTES);
    memcpy(b->data, &len, sizeof(len));
}

int pr_keeper_message_send(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n >= 0) {
            data += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};

            if (poll(&p, 1, -1) < 0 && errno != EINTR)
                return -errno;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

int pr_keeper_message_read(const char *data, size_t len,
                           struct pr_keeper_message *ret_msg, size_t *ret_used)
{
    uint32_t head[2];

    if (len < HEADER_BYTES)
        return 0;
    memcpy(head, data, HEADER_BYTES);
    if (head[0] > PR_KEEPER_MESSAGE_MAX)
        return -1;
    if (len - HEADER_BYTES < head[0])
        return 0;
    ret_msg->type = head[1];
    ret_msg->pos = data + HEADER_BYTES;
    ret_msg->end = ret_msg->pos + head[0];
    *ret_used = HEADER_BYTES + head[0];
    return 1;
}

bool pr_keeper_message_get_u32(struct pr_keeper_message *m, uint32_t *ret_v)
{
    if ((size_t)(m->end - m->pos) < sizeof(*ret_v))
        return false;
    memcpy(ret_v, m->pos, sizeof(*ret_v));
    m->pos += sizeof(*ret_v);
    return true;
}

bool pr_keeper_message_get_str(struct pr_keeper_message *m, const char **ret_s)
{
    uint32_t len;

    if (!pr_keeper_message_get_u32(m, &len))
        return false;
    if (len == NO_STRING) {
        *ret_s = NULL;
        return true;
    }
    if ((size_t)(m->end - m->pos) <= len || m->pos[len] != '\0')
        return false;
    *ret_s = m->pos;
    m->pos += (size_t)len + 1;
    return true;
}

/* ---- the runner's request to start something, as a message: the environment
 * is the caller's, with what the keeper and the slot say put into it */

static uint32_t count_strings(const char *const *list)
{
    uint32_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* What the keeper itself puts there. The descriptors in an older DATA_FD or
 * PRONY_FD are closed to programs, so nothing is lost. */
static bool is_keeper_variable(const char *entry)
{
    static const char *const ours[] = {
        PR_KEEPER_MARKER, "PRONY_FD=", "PRONY_CHANNEL=", "DATA_FD=", NULL};

    return pr_environ_has(ours, entry);
}

/* The marker comes first, and instead of any other; then what the slot
 * insists on, the caller's, and what the slot has for those who say nothing.
 * Returns how many; b NULL: only counts. */
static uint32_t put_env(struct pr_buf *b, const struct pr_spawn *s,
                        const char *marker)
{
    static const char *const nothing[] = {NULL};
    const char *const *env = s->env ? s->env : (const char *const *)environ;
    const char *const *firm = s->slot ? s->slot->env : nothing;
    const char *const *soft = s->slot ? s->slot->env_default : nothing;
    uint32_t n = 1 + count_strings(firm);

    if (!env) /* after clearenv() */
        env = nothing;
    if (b) {
        pr_keeper_message_put_str(b, marker);
        for (const char *const *e = firm; *e; e++)
            pr_keeper_message_put_str(b, *e);
    }
    for (const char *const *e = env; *e; e++) {
        if (is_keeper_variable(*e) || pr_environ_has(firm, *e))
            continue;
        n++;
        if (b)
            pr_keeper_message_put_str(b, *e);
    }
    for (const char *const *e = soft; *e; e++) {
        if (pr_environ_has(env, *e))
            continue;
        n++;
        if (b)
            pr_keeper_message_put_str(b, *e);
    }
    return n;
}

/* The request to start s. */
static void keeper_put_spawn(struct pr_buf *b, const struct pr_spawn *s,
                             const char *marker)
{
    const struct pr_slot *slot = s->slot;
    uint32_t argc = count_strings(s->argv);
    uint32_t groups = slot ? count_strings(slot->groups) : 0;

    pr_keeper_message_begin(b, PR_KEEPER_MESSAGE_SPAWN);
    pr_keeper_message_put_u32(b, s->tag);
    pr_keeper_message_put_str(b, s->log_path ? s->log_path : "/dev/null");
    pr_keeper_message_put_str(b, s->channel_path);
    pr_keeper_message_put_str(b, s->cwd);
    pr_keeper_message_put_str(b, s->body_arg);
    pr_keeper_message_put_str(b, slot ? slot->cpus : NULL);
    pr_keeper_message_put_str(b, slot ? slot->memory_group : NULL);
    pr_keeper_message_put_u32(b, argc);
    pr_keeper_message_put_u32(b, put_env(NULL, s, marker));
    pr_keeper_message_put_u32(b, groups);
    for (uint32_t i = 0; i < argc; i++)
        pr_keeper_message_put_str(b, s->argv[i]);
    (void)put_env(b, s, marker);
    for (uint32_t i = 0; i < groups; i++)
        pr_keeper_message_put_str(b, slot->groups[i]);
    pr_keeper_message_end(b);
}

/* ---- starting the keeper, and talking to it */

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
        keeper_reap(k);
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
    keeper_reap(k);
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
    keeper_put_spawn(&k->out, s, marker);
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
