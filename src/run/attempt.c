/*
 * One attempt at one experiment: everything around it is made ready, it is
 * started and waited for, and what it left is gathered.
 */
#include "run/attempt.h"

#include "base/clock.h"
#include "record/channel.h"
#include "record/sysinfo.h"
#include "run/attempt_impl.h"
#include "run/contained.h"
#include "run/contract.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program of ours in another language says why it failed near the end of its
 * log: its libraries may have more to say. */
enum { LINES_OF_WORDS = 20 };

/* What is started, with what is around it. */
struct around {
    const struct pr_workload *workload;
    struct pr_start start;
    struct pr_contained box; /* of a container, or empty */
    bool watched;
    char channel[4096];
};

/* With the file it is about; whose experiment it is, everybody knows. */
static int say_why(struct pr_attempt *a, const struct pr_err *why)
{
    bool file = strchr(why->where, '/') != NULL;

    a->status = PR_STATUS_FAILED;
    snprintf(a->reason, sizeof a->reason, "%.120s%s%.120s",
             file ? why->where : "", file ? ": " : "", why->msg);
    return PR_OK;
}

static int make_ready(struct pr_job *job, struct around *x, struct pr_err *err)
{
    int rc = pr_workload_of(job, &x->workload, err);

    if (!rc)
        rc = x->workload->prepare(job, &x->start, err);
    if (!rc && pr_contained_wanted(job, &x->start))
        rc = pr_contained_wrap(job, &x->start, &x->box, err);
    return rc;
}

/* ---- the machine meanwhile */

/* An experiment is worth more than what is seen of it: when nothing can be,
 * its result says so. */
static int watch(const struct pr_attempt_ctx *ctx, struct pr_job *job,
                 struct around *x, struct pr_attempt *a, struct pr_err *err)
{
    struct pr_monitor_opts opts;
    struct pr_watched watched = {0};
    char path[4096];
    int rc =
        pr_opt_fill(&pr_monitor_section, job->params, job->arena, &opts, err);

    if (rc || !ctx->monitor || opts.frequency <= 0)
        return rc;
    snprintf(path, sizeof path, "%s/monitor.ndjson", job->dir);
    watched.path = path;
    watched.interval_s = opts.frequency;
    watched.timeseries = opts.timeseries;
    rc = pr_monitor_begin(ctx->monitor, &watched, err);
    x->watched = rc == PR_OK;
    if (rc != PR_E_UNAVAIL && rc != PR_E_IO)
        return rc;
    snprintf(a->seen.trouble, sizeof a->seen.trouble, "%.250s", err->msg);
    return PR_OK;
}

static void stop_watching(const struct pr_attempt_ctx *ctx, struct around *x,
                          struct pr_attempt *a)
{
    const struct pr_child_event *e = &a->end;

    if (x->watched)
        pr_monitor_end(ctx->monitor,
                       (double)(e->cpu_user_ns + e->cpu_system_ns) / 1e9,
                       &a->seen);
}

/* ---- from start to end */

static void open_channel(const struct pr_job *job, struct around *x,
                         struct pr_spawn *spawn)
{
    if (!x->start.argv)
        return; /* workloads of ours have the log */
    snprintf(x->channel, sizeof x->channel, "%s/" PR_CHANNEL_FILE, job->dir);
    spawn->channel_path = x->channel;
}

/* Most programs know nothing of it. */
static void close_channel(const struct around *x)
{
    struct stat st;

    if (*x->channel && stat(x->channel, &st) == 0 && !st.st_size)
        (void)unlink(x->channel);
}

/* Where the program starts; exp.cwd is a folder inside the container then. */
static const char *folder_of(const struct pr_job *job, const struct around *x)
{
    return *job->exp.cwd && !x->box.box.argv ? job->exp.cwd : NULL;
}

static void judge(const struct pr_waiting *w, const struct around *x,
                  const char *log_path, struct pr_attempt *a)
{
    pr_contained_after(&x->box, a, a->left);
    pr_attempt_judge(w, a,
                     x->start.argv ? x->start.argv[0] : x->workload->name);
    pr_contained_explain(&x->box, log_path, a);
}

static int start_and_wait(struct pr_waiting *w, struct around *x,
                          const char *log_path, struct pr_attempt *ret,
                          struct pr_err *err)
{
    const struct pr_job *job = w->job;
    struct pr_spawn spawn = {.tag = PR_ATTEMPT_TAG,
                             .id = job->id,
                             .log_path = log_path,
                             .argv = x->start.argv,
                             .env = x->start.env,
                             .body_arg = job->dir,
                             .cwd = folder_of(job, x)};
    struct pr_err why = {0};
    int rc;

    open_channel(job, x, &spawn);
    w->box = &x->box;
    pr_contained_begin(&x->box);
    if (job->exp.timeout > 0)
        w->term_at = pr_clock_ns() + (uint64_t)(job->exp.timeout * 1e9);
    rc = pr_keeper_spawn(w->ctx->keeper, &spawn, &why);
    if (rc == PR_E_CONF) /* more arguments than can be passed */
        return say_why(ret, &why);
    if (rc && err)
        *err = why;
    if (!rc)
        rc = pr_attempt_wait(w, &ret->end, err);
    if (!rc)
        judge(w, x, log_path, ret);
    else /* the keeper is gone, not what a daemon holds */
        pr_contained_after(&x->box, ret, ret->left);
    close_channel(x);
    return rc;
}

static void take_words(const struct around *x, const char *log_path,
                       struct pr_attempt *a)
{
    if (!x->start.argv)
        pr_attempt_take_words(log_path, 1, a);
    else if (strcmp(x->workload->name, "command") != 0)
        pr_attempt_take_words(log_path, LINES_OF_WORDS, a);
}

/* What exp.sys_info asks for, after the monitor's lines. */
static int add_sysinfo(const struct pr_job *job, struct pr_buf *out,
                       struct pr_err *err)
{
    return *job->exp.sys_info ? pr_sysinfo_lines(job->exp.sys_info, out, err)
                              : PR_OK;
}

/* What it wrote elsewhere comes into log.txt, which then has the last word. */
static void gather_log(const struct pr_job *job, struct around *x,
                       const char *log_path, struct pr_attempt *a)
{
    PR_AUTO_BUF struct pr_buf more = PR_BUF_INIT(64 << 20);
    struct pr_err why = {0};
    int rc;

    pr_buf_add(&more, a->seen.log.data, a->seen.log.len);
    a->wrote_log_file = pr_contract_is_apart(&x->start, log_path);
    if (!a->wrote_log_file) /* what follows there is ours */
        take_words(x, log_path, a);
    rc = add_sysinfo(job, &more, &why);
    if (!rc)
        rc = pr_contract_gather(job, &x->start, log_path, &more, &why);
    if (rc)
        say_why(a, &why);
    if (a->wrote_log_file)
        take_words(x, log_path, a);
    if (x->start.log_file)
        pr_contract_judge(job, log_path, x->channel, a);
}

int pr_attempt_run(const struct pr_attempt_ctx *ctx, struct pr_job *job,
                   const char *log_path, struct pr_attempt *ret,
                   struct pr_err *err)
{
    struct pr_waiting w = {.ctx = ctx, .job = job};
    struct around x = {.workload = NULL};
    struct pr_err why = {0};
    int rc;

    *ret = (struct pr_attempt){.status = PR_STATUS_FAILED};
    rc = make_ready(job, &x, &why);
    if (!rc)
        rc = pr_contract_begin(job, &x.start, log_path, &why);
    if (!rc)
        rc = watch(ctx, job, &x, ret, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc)
        return say_why(ret, &why);
    rc = start_and_wait(&w, &x, log_path, ret, err);
    stop_watching(ctx, &x, ret);
    if (!rc)
        gather_log(job, &x, log_path, ret);
    return rc;
}

void pr_attempt_done(struct pr_attempt *a)
{
    pr_monitor_sum_done(&a->seen);
}
