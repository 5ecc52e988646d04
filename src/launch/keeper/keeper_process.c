/*
 * The keeper's own life: settles down after the fork, then serves the runner's
 * messages and its children's deaths until the runner is gone; then ends all.
 */
#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"
#include "launch/slots/slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the groups of slots, as the keeper knows them: told of by the runner,
 * removed when everything in them has ended and the keeper does */

int pr_keeper_hold_cgroups(struct pr_keeper *k, const struct pr_slots *slots,
                           struct pr_err *err)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < slots->n_trees && !rc; i++) {
        pr_keeper_message_begin(&k->out, PR_KEEPER_MESSAGE_HOLD);
        pr_keeper_message_put_str(&k->out, slots->trees[i].top);
        pr_keeper_message_end(&k->out);
        rc = pr_keeper_send(k, err);
    }
    return rc;
}

/* Remembers the groups that the message tells of; false: out of memory, or it
 * tells of none. */
static bool keeper_cgroups_add(struct pr_keeper_state *s,
                               struct pr_keeper_message *m)
{
    struct pr_keeper_cgroups *h;
    const char *top;
    size_t bytes;

    if (!pr_keeper_message_get_str(m, &top) || !top)
        return false;
    bytes = strlen(top) + 1;
    h = pr_alloc(sizeof(*h) + bytes);
    if (!h)
        return false;
    h->tree.top = memcpy(h + 1, top, bytes);
    h->next = s->held;
    s->held = h;
    return true;
}

static void keeper_cgroups_remove(struct pr_keeper_state *s)
{
    while (s->held) {
        struct pr_keeper_cgroups *h = s->held;

        s->held = h->next;
        (void)pr_cgroup_tree_remove(&h->tree);
        pr_free(h);
    }
}

/* ---- starting an experiment: takes the message apart, finds the program,
 * starts it and keeps a record of it */

/* Never waits: a runner that is busy sending to us would wait for us. */
static void keeper_send_event(struct pr_keeper_state *s,
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

#define DEFAULT_PATH "/usr/local/bin:/bin:/usr/bin"

/* Counters older than this are read anew before an experiment starts alone, so
 * that an old accident elsewhere is not laid at its door. */
#define OOM_STALE_NS PR_S_NS

struct request {
    uint32_t tag;
    struct pr_child_spec child;
    const char **lists; /* what argv, env and groups point into */
    const char *memory_group;
    struct pr_cpuset cpus;
    char path[PATH_MAX]; /* where the program was found */
    char fds[2][32];     /* of the channel, for env */
    char channel[sizeof("PRONY_CHANNEL=") + 2 * PATH_MAX];
};

/* Reads a counted list of strings into out, with a NULL after them. */
static bool get_list(struct pr_keeper_message *m, uint32_t n, const char **out)
{
    for (uint32_t i = 0; i < n; i++)
        if (!pr_keeper_message_get_str(m, &out[i]) || !out[i])
            return false;
    out[n] = NULL;
    return true;
}

/* Where the child finds its channel, at the end of its environment. It is
 * opened in the child's folder, so its path must be whole; one that cannot be
 * made so cannot be opened. */
static void add_channel(struct request *r, const char **env)
{
    static const char name[] = "PRONY_CHANNEL=";
    const char *path = r->child.channel_path;
    char folder[PATH_MAX] = "";
    bool whole = path[0] == '/' || getcwd(folder, sizeof(folder));
    int n = snprintf(r->channel, sizeof(r->channel), "%s%s%s%s", name, folder,
                     *folder ? "/" : "", path);

    if (!whole || n < 0 || (size_t)n >= sizeof(r->channel))
        r->channel[sizeof(name) - 1] = '\0';
    r->child.channel_path = r->channel + sizeof(name) - 1;
    snprintf(r->fds[0], sizeof(r->fds[0]), "PRONY_FD=%d", PR_CHILD_CHANNEL_FD);
    snprintf(r->fds[1], sizeof(r->fds[1]), "DATA_FD=%d", PR_CHILD_CHANNEL_FD);
    *env++ = r->channel;
    *env++ = r->fds[0];
    *env++ = r->fds[1];
    *env = NULL;
}

static bool read_slot(struct pr_keeper_message *m, struct request *r)
{
    const char *cpus;

    if (!pr_keeper_message_get_str(m, &cpus) ||
        !pr_keeper_message_get_str(m, &r->memory_group) ||
        (cpus && !pr_cpuset_parse(cpus, &r->cpus)))
        return false;
    r->child.cpus = cpus ? &r->cpus : NULL;
    return true;
}

/* How many are in argv, env and groups. */
static bool request_read_counts(struct pr_keeper_message *m,
                                uint32_t ret[static 3])
{
    for (int i = 0; i < 3; i++)
        if (!pr_keeper_message_get_u32(m, &ret[i]) ||
            ret[i] > PR_KEEPER_MESSAGE_MAX)
            return false;
    return ret[1] > 0;
}

/* 0, -ENOMEM, or -EBADMSG. The strings stay in the message. */
static int read_request(struct pr_keeper_message *m, struct request *r)
{
    struct pr_child_spec *c = &r->child;
    const char **argv, **env, **groups;
    uint32_t n[3];

    if (!pr_keeper_message_get_u32(m, &r->tag) ||
        !pr_keeper_message_get_str(m, &c->log_path) ||
        !pr_keeper_message_get_str(m, &c->channel_path) ||
        !pr_keeper_message_get_str(m, &c->cwd) ||
        !pr_keeper_message_get_str(m, &c->body_arg) || !c->log_path ||
        !read_slot(m, r) || !request_read_counts(m, n))
        return -EBADMSG;
    r->lists =
        pr_alloc(((size_t)n[0] + n[1] + n[2] + 3 + 3) * sizeof(*r->lists));
    if (!r->lists)
        return -ENOMEM;
    argv = r->lists;
    groups = argv + n[0] + 1;
    env = groups + n[2] + 1; /* last: it may grow */
    if (!get_list(m, n[0], argv) || !get_list(m, n[1], env) ||
        !get_list(m, n[2], groups))
        return -EBADMSG;
    c->argv = argv;
    c->env = env;
    c->groups = groups;
    if (c->channel_path)
        add_channel(r, env + n[1]);
    return 0;
}

static bool request_is_runnable(const char *cwd, const char *path)
{
    char below[2 * PATH_MAX];
    struct stat st;

    if (path[0] != '/' && cwd) {
        snprintf(below, sizeof(below), "%s/%s", cwd, path);
        path = below;
    }
    if (stat(path, &st) < 0)
        return false;
    if (!S_ISREG(st.st_mode)) {
        errno = EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

static const char *search_path(const char *const *env)
{
    const char *ours;

    for (; *env; env++)
        if (!strncmp(*env, "PATH=", 5))
            return *env + 5;
    ours = getenv("PATH");
    return ours ? ours : DEFAULT_PATH;
}

/* As execvp() would find it; 0 or an errno. */
static int request_find_program(struct request *r)
{
    const char *name = r->child.argv[0];
    int why = ENOENT;

    if (strchr(name, '/') || !*name) {
        r->child.path = name;
        return 0;
    }
    for (const char *at = search_path(r->child.env);; at++) {
        size_t len = strcspn(at, ":");
        int n = snprintf(r->path, sizeof(r->path), "%.*s%s%s", (int)len, at,
                         len ? "/" : "", name);

        if (n > 0 && (size_t)n < sizeof(r->path)) {
            if (request_is_runnable(r->child.cwd, r->path)) {
                r->child.path = r->path;
                return 0;
            }
            if (errno == EACCES)
                why = EACCES;
        }
        at += len;
        if (!*at)
            return why;
    }
}

static void send_failure(struct pr_keeper_state *s, uint32_t tag,
                         const struct pr_child_failure *f)
{
    struct pr_child_event ev;

    memset(&ev, 0, sizeof(ev)); /* all bytes of it travel */
    ev.kind = PR_CHILD_FAILED;
    ev.tag = tag;
    ev.sys_errno = f->sys_errno;
    memcpy(ev.what, f->what, sizeof(ev.what));
    keeper_send_event(s, &ev);
}

static struct pr_keeper_child *exp_new(uint32_t tag, const char *marker)
{
    struct pr_keeper_child *x = pr_alloc_zeroed(sizeof(*x));
    size_t bytes = strlen(marker) + 1;

    if (!x)
        return NULL;
    x->tag = tag;
    x->event.tag = tag;
    x->oom.fd = -1;
    x->marker = pr_alloc(bytes);
    if (!x->marker) {
        pr_free(x);
        return NULL;
    }
    memcpy(x->marker, marker, bytes);
    return x;
}

/* Forgets it; it is in no list any more. NULL is fine. */
static void keeper_child_free(struct pr_keeper_child *x)
{
    if (!x)
        return;
    pr_pids_free(&x->hit);
    pr_oom_cgroup_close(&x->oom);
    pr_free(x->marker);
    pr_free(x);
}

static void freshen_oom(struct pr_keeper_state *s, uint64_t now)
{
    if (s->exps || now - s->oom_ns < OOM_STALE_NS)
        return;
    (void)pr_oom_watch_has_risen(&s->oom);
    s->oom_ns = now;
}

static bool keeper_launch_child(struct pr_keeper_state *s,
                                const struct request *r,
                                struct pr_keeper_child *x,
                                struct pr_child_failure *ret_why)
{
    x->start_ns = pr_clock_ns();
    freshen_oom(s, x->start_ns);
    pr_oom_cgroup_open(&x->oom, r->memory_group);
    x->event.started_ns = pr_wall_clock_ns();
    x->start_ns = pr_clock_ns();
    x->pid = pr_keeper_child_start(s, &r->child, ret_why);
    if (x->pid < 0)
        return false;
    x->event.kind = PR_CHILD_STARTED;
    x->event.pid = x->pid;
    x->next = s->exps;
    s->exps = x;
    keeper_send_event(s, &x->event);
    return true;
}

/* Starts what the message says, and tells of it. */
static void keeper_child_spawn(struct pr_keeper_state *s,
                               struct pr_keeper_message *m)
{
    struct pr_child_failure why = {.sys_errno = ENOMEM, .what = "memory"};
    struct request r = {0};
    struct pr_keeper_child *x = NULL;
    int rc = read_request(m, &r);

    if (rc == 0)
        x = exp_new(r.tag, r.child.env[0]);
    if (x)
        /* The mark of one experiment among those of a keeper. */
        x->mark = r.child.mark = (uint64_t)s->mark << 32 | r.tag;
    if (rc == -EBADMSG) {
        s->broken = true;
    } else if (!x) {
        send_failure(s, r.tag, &why);
    } else {
        int missing = r.child.argv[0] ? request_find_program(&r) : 0;

        if (missing)
            why = (struct pr_child_failure){missing, "exec"};
        if (missing || !keeper_launch_child(s, &r, x, &why)) {
            send_failure(s, r.tag, &why);
            keeper_child_free(x);
        }
    }
    pr_free(r.lists);
}

/* ---- process trees: which processes belong to an experiment, sending them
 * signals, and seeing to it that they are gone. Everything that descends from
 * the keeper stays below it (it is the child subreaper), so that a tree is the
 * main child's descendants, its process group, and the orphans that carry its
 * mark, or its marker in their environment. When but one experiment is alive,
 * every orphan is its own. */

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

static void keeper_tree_signal(struct pr_keeper_state *s,
                               struct pr_keeper_child *x, int signo)
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

/* Waits for all that have died. True when no child at all is left. */
static bool keeper_tree_reap(struct pr_keeper_state *s)
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

/* Kills what ended experiments left, and tells of those of which nothing is
 * left. childless: there is nothing to look for. */
static void keeper_tree_settle(struct pr_keeper_state *s, bool childless)
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
        keeper_send_event(s, &x->event);
        keeper_child_free(x);
    }
}

/* Milliseconds until keeper_tree_settle has something to do; -1: not in
 * sight. */
static int keeper_tree_timeout(const struct pr_keeper_state *s)
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

/* Ends every descendant. */
static void keeper_tree_kill_all(struct pr_keeper_state *s)
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

static void keeper_apply_message(struct pr_keeper_state *s,
                                 struct pr_keeper_message *m)
{
    uint32_t tag, signo;
    struct pr_keeper_child *x;

    if (m->type == PR_KEEPER_MESSAGE_SPAWN) {
        keeper_child_spawn(s, m);
        return;
    }
    if (m->type == PR_KEEPER_MESSAGE_HOLD) {
        s->broken |= !keeper_cgroups_add(s, m);
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
        keeper_tree_signal(s, x, (int)signo);
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
    int timeout = keeper_tree_timeout(s);
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
        keeper_tree_settle(s, keeper_tree_reap(s));
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
        keeper_child_free(x);
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
    keeper_tree_kill_all(s);
    keeper_cgroups_remove(s);
    if (!was_told(s)) {
        if (s->calls.orphaned)
            s->calls.orphaned(s->calls.ctx);
        pr_run_cgroup_leave(&s->group);
    }
    broken = s->broken;
    keeper_free_state(s);
    _exit(broken);
}
