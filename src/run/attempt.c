/* Starting an experiment and waiting for its end, with a time limit. */
#include "run/attempt.h"

#include "base/clock.h"
#include "record/logline.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { TICK_MS = 200, TAG = 1, LINES_OF_WORDS = 20 };

struct waiting {
    const struct pr_attempt_ctx *ctx;
    const struct pr_job *job;
    uint64_t term_at, kill_at; /* monotonic; 0: not planned */
    bool timed_out, interrupted;
    int stops_seen;
};

static int signal_tree(struct waiting *w, int signo, struct pr_err *err)
{
    return pr_keeper_signal(w->ctx->keeper, TAG, signo, err);
}

static uint64_t seconds_from(uint64_t now, double s)
{
    return now + (uint64_t)(s * 1e9);
}

/* SIGTERM now, SIGKILL after the grace time. */
static int ask_to_end(struct waiting *w, uint64_t now, struct pr_err *err)
{
    w->term_at = 0;
    w->kill_at = seconds_from(now, w->job->exp.grace);
    return signal_tree(w, SIGTERM, err);
}

/* What signals and the time ask for. */
static int check_limits(struct waiting *w, struct pr_err *err)
{
    uint64_t now = pr_clock_ns();
    int stops;

    pr_stop_read(w->ctx->stop);
    stops = w->ctx->stop->count;
    if (stops > w->stops_seen) {
        bool first = w->stops_seen == 0;
        w->stops_seen = stops;
        w->interrupted = !w->timed_out;
        if (stops > 1 || !first) {
            w->kill_at = 0;
            return signal_tree(w, SIGKILL, err);
        }
        if (w->ctx->stopping)
            w->ctx->stopping(w->ctx->watch_ctx);
        return ask_to_end(w, now, err);
    }
    if (w->term_at && now >= w->term_at) {
        w->timed_out = true;
        return ask_to_end(w, now, err);
    }
    if (w->kill_at && now >= w->kill_at) {
        w->kill_at = 0;
        return signal_tree(w, SIGKILL, err);
    }
    return PR_OK;
}

static int poll_ms(const struct waiting *w)
{
    uint64_t now = pr_clock_ns(), next = w->term_at ? w->term_at : w->kill_at;
    uint64_t ms;

    if (!next)
        return TICK_MS;
    ms = next <= now ? 0 : (next - now) / 1000000 + 1;
    return ms < TICK_MS ? (int)ms : TICK_MS;
}

/* Waits for the event that ends the attempt. */
static int wait_end(struct waiting *w, struct pr_child_event *ret,
                    struct pr_err *err)
{
    for (;;) {
        struct pollfd fds[2] = {{pr_keeper_fd(w->ctx->keeper), POLLIN, 0},
                                {w->ctx->stop->fd, POLLIN, 0}};
        int rc = pr_keeper_next(w->ctx->keeper, ret, err);

        if (rc < 0)
            return rc;
        if (rc == 1 && ret->kind != PR_CHILD_STARTED)
            return PR_OK;
        if (rc == 1)
            continue;
        if (poll(fds, 2, poll_ms(w)) == 0 && w->ctx->tick)
            w->ctx->tick(w->ctx->watch_ctx);
        rc = check_limits(w, err);
        if (rc)
            return rc;
    }
}

static void judge_signal(struct pr_attempt *a, int signo)
{
    const char *name = sigabbrev_np(signo);

    snprintf(a->reason, sizeof a->reason, "killed by signal %d (SIG%s)", signo,
             name ? name : "?");
}

/* What the end means. */
static void judge(const struct waiting *w, struct pr_attempt *a,
                  const char *program)
{
    const struct pr_child_event *e = &a->end;
    int ws = e->wait_status;

    a->status = PR_STATUS_FAILED;
    a->reason[0] = '\0';
    if (e->kind == PR_CHILD_FAILED && strcmp(e->what, "chdir") == 0) {
        snprintf(a->reason, sizeof a->reason,
                 "cannot enter exp.cwd '%.150s': %s", w->job->exp.cwd,
                 strerror(e->sys_errno));
    } else if (e->kind == PR_CHILD_FAILED) {
        snprintf(a->reason, sizeof a->reason, "cannot start '%.150s' (%s): %s",
                 program, e->what, strerror(e->sys_errno));
    } else if (w->timed_out) {
        a->status = PR_STATUS_TIMEOUT;
        snprintf(a->reason, sizeof a->reason, "no end within %g s",
                 w->job->exp.timeout);
    } else if (w->interrupted) {
        a->status = PR_STATUS_INTERRUPTED;
        snprintf(a->reason, sizeof a->reason, "stopped by SIG%s",
                 sigabbrev_np(w->ctx->stop->signo));
    } else if (e->oom) {
        a->status = PR_STATUS_OOM;
        snprintf(a->reason, sizeof a->reason,
                 "the kernel ended it for lack of memory");
    } else if (WIFSIGNALED(ws)) {
        judge_signal(a, WTERMSIG(ws));
    } else if (WEXITSTATUS(ws)) {
        snprintf(a->reason, sizeof a->reason, "exit status %d",
                 WEXITSTATUS(ws));
    } else {
        a->status = PR_STATUS_OK;
    }
}

/* What follows "prony: " in the last line that begins so. NULL: none does; a
 * replica that was killed has no words of its own, but mpirun has. */
static const char *last_words(const char *text)
{
    static const char mark[] = "prony: ", other[] = " noticed that ";
    const char *words = NULL, *noticed = strstr(text, other);

    while (*text) {
        if (strncmp(text, mark, strlen(mark)) == 0)
            words = text + strlen(mark);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (!words && noticed)
        words = noticed + strlen(other);
    return words;
}

/* A workload of ours says why in the last line of its log; a program of ours
 * in another language, near it: its libraries may have more to say. */
static void take_words(const char *log_path, size_t lines, struct pr_attempt *a)
{
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(8192);
    const char *words;
    size_t n;

    if (a->end.kind == PR_CHILD_FAILED || !WIFEXITED(a->end.wait_status) ||
        a->status != PR_STATUS_FAILED ||
        pr_log_tail(log_path, lines, 4096, &tail, NULL) || !pr_buf_ok(&tail) ||
        !tail.len)
        return;
    words = last_words(tail.data);
    n = words ? strcspn(words, "\n") : 0;
    if (n)
        snprintf(a->reason, sizeof a->reason, "%.*s", n < 250 ? (int)n : 250,
                 words);
}

int pr_attempt_run(const struct pr_attempt_ctx *ctx, struct pr_job *job,
                   const char *log_path, struct pr_attempt *ret,
                   struct pr_err *err)
{
    struct waiting w = {.ctx = ctx, .job = job};
    const struct pr_workload *workload;
    struct pr_start start = {0};
    struct pr_spawn spawn = {.tag = TAG, .id = job->id, .log_path = log_path};
    struct pr_err why = {0};
    int rc = pr_workload_of(job, &workload, &why);

    *ret = (struct pr_attempt){0};
    if (!rc)
        rc = workload->prepare(job, &start, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc) {
        ret->status = PR_STATUS_FAILED;
        snprintf(ret->reason, sizeof ret->reason, "%.250s", why.msg);
        return PR_OK;
    }
    spawn.argv = start.argv;
    spawn.env = start.env;
    spawn.body_arg = job->dir;
    spawn.cwd = *job->exp.cwd ? job->exp.cwd : NULL;
    if (job->exp.timeout > 0)
        w.term_at = seconds_from(pr_clock_ns(), job->exp.timeout);
    rc = pr_keeper_spawn(ctx->keeper, &spawn, &why);
    if (rc == PR_E_CONF) { /* more arguments than can be passed */
        ret->status = PR_STATUS_FAILED;
        snprintf(ret->reason, sizeof ret->reason, "%.250s", why.msg);
        return PR_OK;
    }
    if (rc && err)
        *err = why;
    if (!rc)
        rc = wait_end(&w, &ret->end, err);
    if (!rc)
        judge(&w, ret, start.argv ? start.argv[0] : workload->name);
    if (!rc && !start.argv)
        take_words(log_path, 1, ret);
    else if (!rc && strcmp(workload->name, "command") != 0)
        take_words(log_path, LINES_OF_WORDS, ret);
    return rc;
}
