/*
 * A short question to another program: spawned without a shell in a process
 * group of its own, so that neither Ctrl-C nor our blocked signals reach it,
 * and read until it ends. What it leaves running in the background may keep
 * the pipe open; nobody waits for that.
 */
#include "launch/capture.h"

#include "base/clock.h"
#include "base/file.h"
#include "launch/unconst.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 20, CHUNK = 4096, AT_ONCE = 64 };

struct question {
    pid_t pid;
    int fd;            /* what it says; -1: no more */
    uint64_t deadline; /* 0: none */
    struct pr_buf *out;
};

static int spawn_with(const char *path, const char *const *argv, int write_end,
                      posix_spawn_file_actions_t *files,
                      posix_spawnattr_t *attr, pid_t *ret)
{
    sigset_t none, all;
    int rc;

    sigemptyset(&none);
    sigfillset(&all);
    rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc : posix_spawnattr_setpgroup(attr, 0);
    rc = rc ? rc : posix_spawnattr_setsigmask(attr, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
    rc = rc ? rc
            : posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY,
                                               0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(files, write_end, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(files, write_end, 2);
    if (rc)
        return rc;
    return posix_spawn(ret, path, files, attr, pr_unconst(argv), environ);
}

/* 0 or an errno. posix_spawnp() would say it, too, but not under tools that
 * turn vfork() into fork(). */
static int capture_find_program(const char *name, char out[static PATH_MAX])
{
    struct stat st;

    if (!strchr(name, '/'))
        return pr_which(name, out) ? 0 : ENOENT;
    if (snprintf(out, PATH_MAX, "%s", name) >= PATH_MAX)
        return ENAMETOOLONG;
    if (stat(out, &st) < 0)
        return errno;
    return S_ISREG(st.st_mode) && access(out, X_OK) == 0 ? 0 : EACCES;
}

/* 0 or an errno. */
static int capture_spawn(const char *const *argv, int write_end, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    char path[PATH_MAX];
    int rc = capture_find_program(argv[0], path);

    if (!rc)
        rc = posix_spawn_file_actions_init(&files);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (!rc) {
        rc = spawn_with(path, argv, write_end, &files, &attr, ret);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* As much as fits; the buffer knows then that it was too small. */
static void capture_keep_output(struct pr_buf *out, const char *bytes, size_t n)
{
    size_t room;

    if (!out || !pr_buf_ok(out))
        return;
    room = out->max > out->len ? out->max - out->len : 0;
    if (n > room) {
        pr_buf_add(out, bytes, room);
        bytes += room;
        n -= room;
    }
    pr_buf_add(out, bytes, n);
}

/* Takes what is there without waiting, but not for ever: some never stop
 * talking. */
static void capture_drain(struct question *q)
{
    char chunk[CHUNK];

    for (int i = 0; i < AT_ONCE && q->fd >= 0; i++) {
        ssize_t n = read(q->fd, chunk, sizeof chunk);

        if (n > 0) {
            capture_keep_output(q->out, chunk, (size_t)n);
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
            close(q->fd);
            q->fd = -1;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static bool capture_is_timed_out(const struct question *q)
{
    return q->deadline && pr_clock_ns() >= q->deadline;
}

static void capture_wait_for(pid_t pid, int *ret_status)
{
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
        ;
}

static int cut_off(struct question *q, int *ret_status)
{
    (void)kill(-q->pid, SIGKILL);
    capture_wait_for(q->pid, ret_status);
    return PR_E_TIMEOUT;
}

static int listen_to(struct question *q, int *ret_status)
{
    for (;;) {
        struct pollfd p = {.fd = q->fd, .events = POLLIN};
        pid_t got;

        capture_drain(q);
        got = waitpid(q->pid, ret_status, WNOHANG);
        if (got == q->pid) {
            capture_drain(q); /* said between the two */
            return PR_OK;
        }
        if (got < 0 && errno != EINTR)
            return PR_E_UNAVAIL; /* somebody else has waited for it */
        if (capture_is_timed_out(q))
            return cut_off(q, ret_status);
        (void)poll(&p, 1, q->fd < 0 ? 1 : TICK_MS);
    }
}

static int capture_start(const char *const *argv, struct question *q,
                         struct pr_err *err)
{
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return pr_fail_errno(err, PR_E_UNAVAIL, argv[0], "cannot start");
    /* Only our end: the program's must block. */
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        rc = errno;
    else
        rc = capture_spawn(argv, ends[1], &q->pid);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        errno = rc;
        return pr_fail_errno(err, PR_E_UNAVAIL, argv[0], "cannot start");
    }
    q->fd = ends[0];
    return PR_OK;
}

int pr_capture(const char *const *argv, double timeout_s, struct pr_buf *out,
               int *ret_wait_status, struct pr_err *err)
{
    struct question q = {.fd = -1, .out = out};
    int status = 0, rc;

    if (timeout_s > 0)
        q.deadline = pr_clock_ns() + (uint64_t)(timeout_s * 1e9);
    PR_TRY(capture_start(argv, &q, err));
    rc = listen_to(&q, &status);
    if (q.fd >= 0)
        close(q.fd);
    if (rc == PR_E_UNAVAIL)
        return pr_fail_errno(err, rc, argv[0], "its end was not seen");
    if (rc)
        return pr_fail(err, PR_E_TIMEOUT, argv[0], "gave no answer within %g s",
                       timeout_s);
    if (out && out->failed && !out->over)
        return pr_fail_nomem(err);
    *ret_wait_status = status;
    return PR_OK;
}
