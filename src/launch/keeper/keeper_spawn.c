/*
 * Starting an experiment in the keeper: takes the message apart, finds the
 * program, starts it and keeps a record of it.
 */
#include "base/mem.h"
#include "launch/keeper/keeper_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    pr_keeper_send_event(s, &ev);
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

void pr_keeper_child_free(struct pr_keeper_child *x)
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
    pr_keeper_send_event(s, &x->event);
    return true;
}

void pr_keeper_child_spawn(struct pr_keeper_state *s,
                           struct pr_keeper_message *m)
{
    struct pr_child_failure why = {.sys_errno = ENOMEM, .what = "memory"};
    struct request r = {0};
    struct pr_keeper_child *x = NULL;
    int rc = read_request(m, &r);

    if (rc == 0)
        x = exp_new(r.tag, r.child.env[0]);
    if (x)
        x->mark = r.child.mark = pr_keeper_make_mark(s->mark, r.tag);
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
            pr_keeper_child_free(x);
        }
    }
    pr_free(r.lists);
}
