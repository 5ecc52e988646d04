/*
 * One attempt at one experiment: everything around it is made ready, it is
 * started, and when it has ended what it left is gathered.
 */
#include "run/attempt.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/describe/sysinfo.h"
#include "record/channel.h"
#include "record/log.h"
#include "run/contained.h"
#include "run/contract.h"
#include "run/gpu_task.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct pr_attempt_running {
    const struct pr_attempt_ctx *ctx;
    struct pr_job *job;
    const char *log_path;
    struct pr_attempt *ret; /* the answer, in the end */
    uint32_t tag;           /* the keeper's name for it */
    const struct pr_slot *slot;
    const struct pr_workload *workload;
    struct pr_start start;
    struct pr_job_container box;  /* of a container, or empty */
    struct pr_monitored *watched; /* NULL: it is not */
    char channel[4096];
    uint64_t term_at, kill_at; /* monotonic; 0: not planned */
    bool timed_out, interrupted, given_up;
    bool box_killed; /* the container program was told to end it */
    int stops_seen;
};

/* ---- what the end of an experiment means */

static void judge_signal(struct pr_attempt *a, int signo)
{
    const char *name = sigabbrev_np(signo);

    snprintf(a->reason, sizeof a->reason, "killed by signal %d (SIG%s)", signo,
             name ? name : "?");
}

/* What the end means; program is what was started. */
static void attempt_judge(const struct pr_attempt_running *w,
                          struct pr_attempt *a, const char *program)
{
    const struct pr_child_event *e = &a->end;
    int ws = e->wait_status;

    a->status = PR_STATUS_FAILED;
    a->reason[0] = '\0';
    if (e->kind == PR_CHILD_FAILED && strcmp(e->what, "chdir") == 0) {
        snprintf(a->reason, sizeof a->reason,
                 "cannot enter exp.cwd '%.150s': %s", w->job->exp.cwd,
                 strerror(e->sys_errno));
    } else if (e->kind == PR_CHILD_FAILED && strcmp(e->what, "slot") == 0) {
        snprintf(a->reason, sizeof a->reason, "cannot enter its slot: %s",
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
    } else if (w->given_up) {
        a->status = PR_STATUS_INTERRUPTED;
        snprintf(a->reason, sizeof a->reason,
                 "stopped by --fail-fast: one that ran beside it failed");
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
 * replica that was killed has no words of its own, but mpirun has, in a line
 * that since version 5 of Open MPI is broken within the sentence. */
static const char *last_words(char *text)
{
    static const char mark[] = "prony: ", other[] = " noticed that ";
    const char *words = NULL;
    char *noticed = strstr(text, other), *end;

    while (*text) {
        if (pr_text_starts_with(text, mark))
            words = text + strlen(mark);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (words || !noticed)
        return words;
    for (end = noticed; (end = strchr(end, '\n')) && end[-1] != '.'; end++)
        *end = ' ';
    return noticed + strlen(other);
}

void pr_attempt_read_reason(const char *log_path, size_t lines,
                            struct pr_attempt *a)
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

/* ---- ending it in time, or when we are asked to stop */

enum { CLEAR_UP_S = 5 };

static int signal_tree(struct pr_attempt_running *w, int signo,
                       struct pr_err *err)
{
    return pr_keeper_signal(w->ctx->keeper, w->tag, signo, err);
}

static uint64_t seconds_from(uint64_t now, double s)
{
    return now + (uint64_t)(s * 1e9);
}

/* SIGTERM now, SIGKILL after the grace time. */
static int ask_to_end(struct pr_attempt_running *w, uint64_t now,
                      struct pr_err *err)
{
    w->term_at = 0;
    w->kill_at = seconds_from(now, w->job->exp.grace);
    return signal_tree(w, SIGTERM, err);
}

/* A container is ended by its program first: killed with it, it would leave
 * mounts and control groups behind. */
static int end_now(struct pr_attempt_running *w, struct pr_err *err)
{
    w->term_at = w->kill_at = 0;
    if (!w->box_killed && pr_job_container_kill(&w->box)) {
        w->box_killed = true;
        w->kill_at = seconds_from(pr_now(w->ctx->clock), CLEAR_UP_S);
        return PR_OK;
    }
    return signal_tree(w, SIGKILL, err);
}

int pr_attempt_check_limits(struct pr_attempt_running *w, struct pr_err *err)
{
    uint64_t now = pr_now(w->ctx->clock);
    int stops = w->ctx->stop->count;

    if (stops > w->stops_seen) {
        bool first = w->stops_seen == 0;
        w->stops_seen = stops;
        w->interrupted = !w->timed_out;
        if (stops > 1 || !first)
            return end_now(w, err);
        return ask_to_end(w, now, err);
    }
    if (w->term_at && now >= w->term_at) {
        w->timed_out = true;
        return ask_to_end(w, now, err);
    }
    return w->kill_at && now >= w->kill_at ? end_now(w, err) : PR_OK;
}

int pr_attempt_give_up(struct pr_attempt_running *w, struct pr_err *err)
{
    if (w->timed_out || w->interrupted || w->given_up)
        return PR_OK; /* it is about to end */
    w->given_up = true;
    return ask_to_end(w, pr_now(w->ctx->clock), err);
}

uint64_t pr_attempt_due(const struct pr_attempt_running *w)
{
    return w->term_at ? w->term_at : w->kill_at;
}

/* ---- signals as data, by signalfd */

int pr_stop_init(struct pr_stop *s, struct pr_err *err)
{
    sigset_t mask;

    *s = (struct pr_stop){.fd = -1};
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, &s->old_mask);
    s->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (s->fd < 0) {
        pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
        return pr_fail_errno(err, PR_E_IO, "", "cannot watch for signals");
    }
    return PR_OK;
}

void pr_stop_close(struct pr_stop *s)
{
    bool is_known = s->count > 0;

    if (s->fd < 0)
        return;
    pr_stop_read(s); /* or they would strike once unblocked */
    close(s->fd);
    s->fd = -1;
    pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
    if (!is_known && s->count) /* nobody will ask any more */
        raise(s->signo);
}

void pr_stop_read(struct pr_stop *s)
{
    struct signalfd_siginfo info;

    while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGUSR1) {
            s->after_current = 1;
            continue;
        }
        if (!s->count++)
            s->signo = (int)info.ssi_signo;
    }
}

/* ---- making ready */

/* A program of ours in another language says why it failed near the end of its
 * log: its libraries may have more to say. */
enum { LINES_OF_WORDS = 20 };

/* With the file it is about; whose experiment it is, everybody knows. */
static int attempt_set_reason(struct pr_attempt *a, const struct pr_err *why)
{
    bool file = strchr(why->where, '/') != NULL;

    a->status = PR_STATUS_FAILED;
    snprintf(a->reason, sizeof a->reason, "%.120s%s%.120s",
             file ? why->where : "", file ? ": " : "", why->msg);
    return PR_OK;
}

static int attempt_prepare(struct pr_attempt_running *w, struct pr_err *err)
{
    int rc = pr_workload_find_for_job(w->job, &w->workload, err);

    if (!rc)
        rc = w->workload->prepare(w->job, &w->start, err);
    if (!rc && pr_job_needs_container(w->job, &w->start))
        rc = pr_job_container_wrap(w->job, &w->start, w->slot, &w->box, err);
    return rc;
}

/* ---- the machine meanwhile */

/* An experiment is worth more than what is seen of it: when nothing can be,
 * its result says so. */
static int attempt_start_monitor(struct pr_attempt_running *w,
                                 struct pr_err *err)
{
    struct pr_job *job = w->job;
    struct pr_monitor_opts opts;
    struct pr_monitor_watch_opts watched = {0};
    char path[4096];
    int rc =
        pr_opt_fill(&pr_monitor_section, job->params, job->arena, &opts, err);

    if (rc || !w->ctx->monitor || opts.frequency <= 0)
        return rc;
    snprintf(path, sizeof path, "%s/monitor.ndjson", job->dir);
    watched.path = path;
    watched.interval_s = opts.frequency;
    watched.timeseries = opts.timeseries;
    rc = pr_monitor_begin(w->ctx->monitor, &watched, &w->watched, err);
    if (rc != PR_E_UNAVAIL && rc != PR_E_IO)
        return rc;
    snprintf(w->ret->seen.trouble, sizeof w->ret->seen.trouble, "%.250s",
             err->msg);
    return PR_OK;
}

static void attempt_stop_monitor(struct pr_attempt_running *w)
{
    const struct pr_child_event *e = &w->ret->end;

    if (w->watched)
        pr_monitor_end(w->ctx->monitor, w->watched,
                       (double)(e->cpu_user_ns + e->cpu_system_ns) / 1e9,
                       &w->ret->seen);
    w->watched = NULL;
}

/* ---- the start */

static void attempt_open_channel(struct pr_attempt_running *w,
                                 struct pr_spawn *spawn)
{
    if (!w->start.argv)
        return; /* workloads of ours have the log */
    snprintf(w->channel, sizeof w->channel, "%s/" PR_CHANNEL_FILE, w->job->dir);
    spawn->channel_path = w->channel;
}

/* Most programs know nothing of it. */
static void attempt_close_channel(const struct pr_attempt_running *w)
{
    struct stat st;

    if (*w->channel && stat(w->channel, &st) == 0 && !st.st_size)
        (void)unlink(w->channel);
}

/* Where the program starts; exp.cwd is a folder inside the container then. */
static const char *attempt_working_dir(const struct pr_attempt_running *w)
{
    const char *cwd = w->job->exp.cwd;

    return *cwd && !w->box.box.argv ? cwd : NULL;
}

static int attempt_spawn(struct pr_attempt_running *w, struct pr_err *err)
{
    const struct pr_job *job = w->job;
    struct pr_spawn spawn = {.tag = w->tag,
                             .id = job->id,
                             .log_path = w->log_path,
                             .argv = w->start.argv,
                             .env = w->start.env,
                             .body_arg = job->dir,
                             .slot = w->slot,
                             .cwd = attempt_working_dir(w)};

    attempt_open_channel(w, &spawn);
    pr_job_container_begin(&w->box);
    if (job->exp.timeout > 0)
        w->term_at = pr_now(w->ctx->clock) + (uint64_t)(job->exp.timeout * 1e9);
    return pr_keeper_spawn(w->ctx->keeper, &spawn, err);
}

int pr_attempt_begin(const struct pr_attempt_ctx *ctx,
                     const struct pr_attempt_what *what, struct pr_attempt *ret,
                     struct pr_attempt_running **ret_waiting,
                     struct pr_err *err)
{
    struct pr_job *job = what->job;
    struct pr_attempt_running *w =
        PR_ARENA_NEW(job->arena, struct pr_attempt_running);
    struct pr_err why = {0};
    int rc;

    *ret_waiting = NULL;
    *ret = (struct pr_attempt){.status = PR_STATUS_FAILED};
    if (!w)
        return pr_fail_nomem(err);
    w->ctx = ctx;
    w->job = job;
    w->log_path = what->log_path;
    w->tag = what->tag;
    w->slot = what->slot;
    w->ret = ret;
    rc = attempt_prepare(w, &why);
    if (!rc)
        rc = pr_contract_begin(job, &w->start, w->log_path, &why);
    if (!rc)
        rc = attempt_start_monitor(w, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc)
        return attempt_set_reason(ret, &why);
    rc = attempt_spawn(w, &why);
    if (!rc) {
        *ret_waiting = w;
        return PR_OK;
    }
    pr_attempt_abandon(w);
    if (rc == PR_E_CONF) /* more arguments than can be passed */
        return attempt_set_reason(ret, &why);
    if (err)
        *err = why;
    return rc;
}

/* ---- the end */

static void attempt_read_words(const struct pr_attempt_running *w)
{
    if (!w->start.argv)
        pr_attempt_read_reason(w->log_path, 1, w->ret);
    else if (strcmp(w->workload->name, "command") != 0)
        pr_attempt_read_reason(w->log_path, LINES_OF_WORDS, w->ret);
}

/* What it wrote elsewhere comes into log.txt, which then has the last word. */
static void gather_log(struct pr_attempt_running *w)
{
    PR_AUTO_BUF struct pr_buf more = PR_BUF_INIT(64 << 20);
    struct pr_attempt *a = w->ret;
    struct pr_err why = {0};
    int rc;

    pr_buf_add(&more, a->seen.log.data, a->seen.log.len);
    a->wrote_log_file = pr_contract_is_apart(&w->start, w->log_path);
    if (!a->wrote_log_file) /* what follows there is ours */
        attempt_read_words(w);
    /* After the monitor's lines. */
    rc = *w->job->exp.sys_info
             ? pr_machine_sysinfo_lines(w->job->exp.sys_info, &more, &why)
             : PR_OK;
    if (!rc)
        rc = pr_contract_gather(w->job, &w->start, w->log_path, &more, &why);
    if (rc)
        attempt_set_reason(a, &why);
    if (a->wrote_log_file)
        attempt_read_words(w);
    if (w->start.log_file)
        pr_contract_judge(w->job, w->log_path, w->channel, a);
    pr_gpu_task_finish(w->job, w->log_path, a);
}

bool pr_attempt_on_event(struct pr_attempt_running *w,
                         const struct pr_child_event *e)
{
    if (e->kind == PR_CHILD_STARTED) {
        if (w->watched)
            pr_monitor_set_pid(w->ctx->monitor, w->watched, e->pid);
        return false;
    }
    w->ret->end = *e;
    pr_job_container_end(&w->box, w->ret, w->ret->left);
    attempt_judge(w, w->ret,
                  w->start.argv ? w->start.argv[0] : w->workload->name);
    pr_job_container_explain(&w->box, w->log_path, w->ret);
    attempt_close_channel(w);
    attempt_stop_monitor(w);
    gather_log(w);
    return true;
}

void pr_attempt_abandon(struct pr_attempt_running *w)
{
    /* not what a daemon holds */
    pr_job_container_end(&w->box, w->ret, w->ret->left);
    attempt_close_channel(w);
    attempt_stop_monitor(w);
}

void pr_attempt_close(struct pr_attempt *a)
{
    pr_monitor_sum_free(&a->seen);
}
