/*
 * From the keeper to a running experiment: what happens between vfork() (for
 * programs) or fork() (for bodies) and the first instruction of the experiment.
 * After vfork() the child borrows the keeper's memory, so that everything here
 * on its side only makes system calls and changes nothing.
 */
#include "launch/keeper/keeper_impl.h"
#include "launch/unconst.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The keeper must outlive what a terminal, a shell or an impatient person
 * sends to everything in sight. */
static const int ignored[] = {SIGINT,  SIGHUP,  SIGTERM, SIGPIPE,
                              SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU,
                              SIGUSR2, SIGALRM, SIGXFSZ};

#define N_IGNORED (sizeof(ignored) / sizeof(ignored[0]))

void pr_keeper_child_ignore_signals(void)
{
    struct sigaction sa = {.sa_handler = SIG_DFL};

    for (int i = 1; i < _NSIG; i++)
        (void)sigaction(i, &sa, NULL); /* some cannot be set: no matter */
    sa.sa_handler = SIG_IGN;
    for (size_t i = 0; i < N_IGNORED; i++)
        (void)sigaction(ignored[i], &sa, NULL);
}

static void default_signals(void)
{
    struct sigaction sa = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (size_t i = 0; i < N_IGNORED; i++)
        (void)sigaction(ignored[i], &sa, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void child_report_failure(int report, const char *what)
{
    struct pr_child_failure f = {.sys_errno = errno};
    ssize_t n;

    strncpy(f.what, what, sizeof(f.what) - 1);
    n = write(report, &f, sizeof(f));
    (void)n; /* nobody left to tell */
    _exit(127);
}

/* Opened here and not in the keeper: no other child can ever see it. */
static int child_open_channel(const struct pr_child_spec *c, int report)
{
    int fd = open(c->channel_path,
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);

    if (fd < 0)
        child_report_failure(report, "open");
    return fd;
}

/* Puts the channel where a program expects it. What is there belongs to the
 * keeper, and would be closed by exec() anyway. */
static void place_channel(const struct pr_child_spec *c, int report)
{
    int fd = child_open_channel(c, report);

    if (fd == PR_CHILD_CHANNEL_FD) {
        (void)fcntl(fd, F_SETFD, 0);
        return;
    }
    if (dup2(fd, PR_CHILD_CHANNEL_FD) < 0)
        child_report_failure(report, "open");
    close(fd);
}

/* A body may have other things open in that place, so its channel gets a free
 * number; after fork() the environment is its own to change. */
static void name_channel(const struct pr_child_spec *c, int report)
{
    static char text[2][32];
    static const char *const names[] = {"PRONY_FD=", "DATA_FD="};
    int fd = child_open_channel(c, report);

    (void)fcntl(fd, F_SETFD, 0);
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof(text[i]), "%s%d", names[i], fd);
        for (char **e = environ; *e; e++)
            if (!strncmp(*e, names[i], strlen(names[i])))
                *e = text[i];
    }
}

/* The groups first: entering a cpuset sets the affinity. */
static void enter_slot(const struct pr_child_spec *c, int report)
{
    for (const char *const *g = c->groups; *g; g++)
        if (!pr_cgroup_join(*g))
            child_report_failure(report, "slot");
    if (c->cpus && sched_setaffinity(0, sizeof(c->cpus->word),
                                     (const cpu_set_t *)c->cpus->word) < 0)
        child_report_failure(report, "slot");
}

static void child_prepare(pid_t keeper, const struct pr_child_spec *c,
                          int report)
{
    int log;

    /* The kernel shares time out by session first (autogroup): were two slots
     * one, the busier one would weigh its neighbour down. */
    if (c->cpus)
        (void)setsid();
    else
        (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127); /* it died before it could take us along */
    default_signals();
    pr_proctree_set_mark(c->mark);
    log = open(c->log_path,
               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        child_report_failure(report, "open");
    close(log);
    if (c->cwd && chdir(c->cwd) < 0)
        child_report_failure(report, "chdir");
    enter_slot(c, report);
}

static _Noreturn void become_program(pid_t keeper,
                                     const struct pr_child_spec *c, int report)
{
    child_prepare(keeper, c, report);
    if (c->channel_path)
        place_channel(c, report);
    execve(c->path, pr_unconst(c->argv), pr_unconst(c->env));
    child_report_failure(report, "exec");
}

static _Noreturn void become_body(struct pr_keeper_state *s,
                                  const struct pr_child_spec *c, int report)
{
    int status;

    child_prepare(s->self, c, report);
    (void)signal(SIGXFSZ, SIG_IGN); /* what is ours tells of it instead */
    (void)prctl(PR_SET_NAME, "prony-body");
    close(s->sock);
    close(s->signals);
    if (s->group.fd >= 0)
        close(s->group.fd);
    pr_oom_watch_close(&s->oom);
    environ = (char **)pr_unconst(c->env);
    if (c->channel_path)
        name_channel(c, report);
    close(report); /* all went well */
    status = s->calls.body(s->calls.ctx, c->body_arg);
    fflush(NULL);
    _exit(status & 0xff);
}

/* In a function of its own: nothing of the caller's may live in registers that
 * the child changes. */
static __attribute__((noinline)) pid_t
start_program(pid_t keeper, const struct pr_child_spec *c, int report)
{
    pid_t pid = vfork();

    if (pid == 0)
        become_program(keeper, c, report);
    return pid;
}

static pid_t child_fork(struct pr_keeper_state *s,
                        const struct pr_child_spec *c, int report)
{
    pid_t pid;

    if (c->path)
        return start_program(s->self, c, report);
    pid = fork();
    if (pid == 0)
        become_body(s, c, report);
    return pid;
}

static bool child_set_failure(struct pr_child_failure *f, const char *what)
{
    f->sys_errno = errno;
    snprintf(f->what, sizeof(f->what), "%s", what);
    return true;
}

/* The pipe says nothing until exec() or the body's start closes it. (vfork()
 * alone would tell us, but not under tools that turn it into fork().) */
static bool read_report(int fd, struct pr_child_failure *ret_why)
{
    struct pr_child_failure f;
    ssize_t n;

    do
        n = read(fd, &f, sizeof(f));
    while (n < 0 && errno == EINTR);
    if (n != sizeof(f))
        return false;
    *ret_why = f;
    return true;
}

pid_t pr_keeper_child_start(struct pr_keeper_state *s,
                            const struct pr_child_spec *c,
                            struct pr_child_failure *ret_why)
{
    int report[2];
    bool bad;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0) {
        child_set_failure(ret_why, "pipe");
        return -1;
    }
    /* 0 to 2 are open, and the other end comes before it. */
    assert(report[1] > PR_CHILD_CHANNEL_FD);
    pid = child_fork(s, c, report[1]);
    bad = pid < 0 && child_set_failure(ret_why, "fork");
    close(report[1]);
    if (!bad && read_report(report[0], ret_why)) {
        bad = true;
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(report[0]);
    return bad ? -1 : pid;
}
