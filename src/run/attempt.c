/*
 * One attempt at one experiment: everything around it is made ready, it is
 * started, and when it has ended what it left is gathered.
 */
#include "run/attempt.h"

#include "base/clock.h"
#include "machine/describe/sysinfo.h"
#include "record/channel.h"
#include "run/attempt_impl.h"
#include "run/contained.h"
#include "run/contract.h"
#include "run/gpu_task.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* What exp.sys_info asks for, after the monitor's lines. */
static int add_sysinfo(const struct pr_job *job, struct pr_buf *out,
                       struct pr_err *err)
{
    return *job->exp.sys_info
               ? pr_machine_sysinfo_lines(job->exp.sys_info, out, err)
               : PR_OK;
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
    rc = add_sysinfo(w->job, &more, &why);
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
    pr_attempt_judge(w, w->ret,
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
