/* The loop over the experiments of a run directory. */
#include "run/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "record/plan_file.h"
#include "record/result.h"
#include "run/attempt.h"
#include "run/metrics.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct runner {
    const struct pr_run_opts *opts;
    struct pr_run_summary *sum;
    struct pr_plan_file plan;
    struct pr_keeper *keeper;
    struct pr_stop stop;
    struct pr_arena *arena; /* of one experiment */
    struct pr_buf line;     /* an event being written */
    uint64_t done, failed;
    bool give_up; /* --fail-fast struck */
};

static void tick(void *ctx)
{
    struct runner *r = ctx;

    if (r->opts->watch)
        r->opts->watch(r->opts->watch_ctx, NULL);
}

/* Records an event and shows it to whoever watches. */
static int record(struct runner *r, struct pr_event e, struct pr_err *err)
{
    int rc;

    e.time_ns = pr_wall_clock_ns();
    e.done = r->done;
    e.failed = r->failed;
    e.total = r->sum->total;
    pr_buf_clear(&r->line);
    pr_event_write(&e, &r->line);
    rc = pr_rundir_append(r->opts->dir, &r->line, err);
    if (!rc && r->opts->watch)
        r->opts->watch(r->opts->watch_ctx, &e);
    return rc;
}

static void count(struct runner *r, enum pr_status status)
{
    r->sum->by_status[status]++;
    r->done++;
    r->failed += status == PR_STATUS_FAILED || status == PR_STATUS_TIMEOUT ||
                 status == PR_STATUS_OOM;
}

/* One experiment on its way through. */
struct trip {
    struct pr_planned planned;
    struct pr_job job;
    char dir[4096], log[4096];
    struct pr_buf params; /* as JSON */
    struct pr_attempt last;
    unsigned attempts;
};

static int write_params(struct runner *r, struct trip *t, struct pr_err *err)
{
    char path[4096];
    int rc =
        pr_rundir_file(r->opts->dir, t->planned.id, "params.json", path, err);

    pr_json_write(&t->params, &t->planned.params);
    if (!pr_buf_ok(&t->params))
        return pr_fail_nomem(err);
    return rc ? rc : pr_file_write(path, t->params.data, t->params.len, err);
}

/* Writes result.json, then the event. Killed between the two, a resumed run
 * finds the result and adds the event. */
static int conclude(struct runner *r, struct trip *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(32 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(1 << 16);
    struct pr_result result = {
        .id = t->planned.id,
        .status = t->last.status,
        .reason = t->last.reason,
        .params_json = t->params.data,
        .results = &results,
        .warnings = &warnings,
        .started_ns = t->last.end.started_ns,
        .ended_ns = t->last.end.ended_ns,
        .attempts = t->attempts,
    };
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_END,
                         .id = t->planned.id,
                         .status = t->last.status,
                         .reason = t->last.reason,
                         .attempt = t->attempts,
                         .elapsed_s = (double)t->last.end.elapsed_ns / 1e9};
    int rc = pr_metrics_collect(&t->last, t->log, &results, &warnings, err);

    if (!rc && t->last.status != PR_STATUS_OK &&
        t->last.status != PR_STATUS_SKIPPED) {
        rc = pr_metrics_tail(t->log, &tail, err);
        result.log_tail = tail.data;
    }
    if (!rc && *t->job.exp.log_file && t->attempts)
        rc = pr_metrics_copy_log(t->log, t->job.exp.log_file, err);
    if (!rc)
        rc = pr_result_write(r->opts->dir, &result, err);
    if (rc)
        return rc;
    count(r, t->last.status);
    return record(r, e, err);
}

/* The log of the attempt that counts stays; earlier ones are numbered. */
static void put_log_aside(const struct trip *t)
{
    char old[4096 + 16];

    snprintf(old, sizeof old, "%s.%u", t->log, t->attempts);
    (void)rename(t->log, old);
}

static int64_t tries_allowed(const struct runner *r, const struct trip *t)
{
    return 1 + (r->opts->retry >= 0 ? r->opts->retry : t->job.exp.retry);
}

static bool is_failure(enum pr_status s)
{
    return s == PR_STATUS_FAILED || s == PR_STATUS_TIMEOUT ||
           s == PR_STATUS_OOM;
}

static int attempt_all(struct runner *r, struct trip *t, struct pr_err *err)
{
    struct pr_attempt_ctx ctx = {r->keeper, &r->stop, tick, r};
    int rc = PR_OK;

    while (!rc) {
        struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_START,
                             .id = t->planned.id,
                             .attempt = ++t->attempts};
        rc = record(r, e, err);
        if (!rc)
            rc = pr_attempt_run(&ctx, &t->job, t->log, &t->last, err);
        if (rc || !is_failure(t->last.status) ||
            t->attempts >= tries_allowed(r, t) || r->stop.count)
            break;
        e.kind = PR_EVENT_EXPERIMENT_RETRY;
        e.status = t->last.status;
        e.reason = t->last.reason;
        e.elapsed_s = (double)t->last.end.elapsed_ns / 1e9;
        rc = record(r, e, err);
        put_log_aside(t);
    }
    return rc;
}

/* Why an experiment is not run at all; NULL: it is. */
static const char *why_skip(const struct pr_job *job)
{
    const char *status = job->exp.status;

    if (strcmp(status, "disabled") == 0 || strcmp(status, "inactive") == 0)
        return *job->exp.status_msg ? job->exp.status_msg
                                    : "exp.status says so";
    if (strcmp(status, "simulate") == 0)
        return "simulated: its command is in the log";
    return pr_metrics_done_before(job->exp.log_file, job->exp.rerun)
               ? "exp.log_file exists"
               : NULL;
}

static int simulate(const struct runner *r, struct trip *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    const struct pr_workload *w;
    struct pr_start start = {0};
    int rc = pr_workload_of(&t->job, &w, err);

    (void)r;
    if (!rc)
        rc = w->prepare(&t->job, &start, err);
    for (size_t i = 0; !rc && start.argv && start.argv[i]; i++) {
        if (i)
            pr_buf_char(&text, ' ');
        pr_json_string(&text, start.argv[i], strlen(start.argv[i]));
    }
    pr_buf_char(&text, '\n');
    return rc ? rc : pr_file_write(t->log, text.data, text.len, err);
}

static int skip(struct runner *r, struct trip *t, const char *why,
                struct pr_err *err)
{
    struct pr_err inner = {0};

    t->last.status = PR_STATUS_SKIPPED;
    snprintf(t->last.reason, sizeof t->last.reason, "%.250s", why);
    if (strcmp(t->job.exp.status, "simulate") == 0 && simulate(r, t, &inner)) {
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason, "%.250s", inner.msg);
    }
    return conclude(r, t, err);
}

static int travel(struct runner *r, struct trip *t, struct pr_err *err)
{
    struct pr_err inner = {0};
    const char *why;
    int rc = pr_rundir_experiment(r->opts->dir, t->planned.id, err);

    if (!rc)
        rc =
            pr_rundir_file(r->opts->dir, t->planned.id, "log.txt", t->log, err);
    if (!rc)
        rc = write_params(r, t, err);
    if (rc)
        return rc;
    memcpy(t->dir, t->log, strlen(t->log) - strlen("/log.txt"));
    t->dir[strlen(t->log) - strlen("/log.txt")] = '\0';
    (void)unlink(t->log); /* of an attempt that was interrupted */
    rc = pr_job_init(&t->job, t->planned.id, t->dir, &t->planned.params,
                     r->arena, &inner);
    if (rc) { /* a plan edited by hand: this experiment fails, not the run */
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason, "%.250s", inner.msg);
        t->job.exp.log_file = "";
        return conclude(r, t, err);
    }
    why = why_skip(&t->job);
    if (why)
        return skip(r, t, why, err);
    rc = attempt_all(r, t, err);
    return rc ? rc : conclude(r, t, err);
}

/* Whether an earlier run finished it. 1: yes, counted; 0: to be run. */
static int finished_before(struct runner *r, const char *id, struct pr_err *err)
{
    struct pr_value result;
    enum pr_status status;
    struct pr_err inner = {0};
    int rc = pr_result_read(r->opts->dir->path, id, r->arena, &result, &inner);

    if (rc == PR_E_FORMAT)
        return 0; /* not ours, or edited: make it anew */
    if (rc < 0 && err)
        *err = inner;
    if (rc != 1)
        return rc;
    status = pr_result_status(&result);
    if (status == PR_STATUS_COUNT || status == PR_STATUS_INTERRUPTED ||
        (is_failure(status) && r->opts->retry >= 0))
        return 0;
    count(r, status);
    r->sum->earlier++;
    return 1;
}

static int run_next(struct runner *r, struct pr_err *err)
{
    struct trip t = {.params = PR_BUF_INIT(64 << 20)};
    int rc;

    pr_arena_reset(r->arena);
    rc = pr_plan_file_next(&r->plan, r->arena, &t.planned, err);
    if (rc != 1)
        return rc;
    rc = finished_before(r, t.planned.id, err);
    if (rc == 0)
        rc = travel(r, &t, err);
    pr_buf_done(&t.params);
    if (rc < 0)
        return rc;
    r->give_up = r->opts->fail_fast && r->failed;
    return 1;
}

static bool asked_to_stop(struct runner *r)
{
    pr_stop_read(&r->stop);
    return r->stop.count || r->stop.after_current || r->give_up;
}

static int loop(struct runner *r, struct pr_err *err)
{
    struct pr_event e = {.kind = PR_EVENT_RUN_START};
    int rc = record(r, e, err);

    while (!rc && !asked_to_stop(r)) {
        rc = run_next(r, err);
        if (rc == 0)
            break;
        rc = rc == 1 ? PR_OK : rc;
    }
    if (!rc && r->stop.count) {
        r->sum->signo = r->stop.signo;
        e.kind = PR_EVENT_INTERRUPT;
        e.reason = "asked to stop by a signal";
        rc = record(r, e, err);
    }
    e = (struct pr_event){.kind = PR_EVENT_RUN_END};
    return rc ? rc : record(r, e, err);
}

/* How the run as a whole went. */
static int verdict(const struct runner *r, struct pr_err *err)
{
    const uint64_t *n = r->sum->by_status;
    uint64_t good = n[PR_STATUS_OK] + n[PR_STATUS_SKIPPED];

    if (r->sum->signo)
        return pr_fail(err, PR_E_INTR, "", "stopped by SIG%s",
                       sigabbrev_np(r->sum->signo));
    if (!r->failed)
        return PR_OK;
    if (good && !r->opts->fail_fast)
        return pr_fail(err, PR_E_PARTIAL, "", "%llu of %llu experiments failed",
                       (unsigned long long)r->failed,
                       (unsigned long long)r->sum->total);
    if (n[PR_STATUS_TIMEOUT] == r->failed)
        return pr_fail(err, PR_E_TIMEOUT, "", "no experiment ended in time");
    return pr_fail(err, PR_E_JOB, "", "%llu of %llu experiments failed",
                   (unsigned long long)r->failed,
                   (unsigned long long)r->sum->total);
}

static int open_all(struct runner *r, struct pr_err *err)
{
    char path[4096];
    int rc = pr_rundir_path(r->opts->dir, "plan.json", path, err);

    if (!rc)
        rc = pr_plan_file_open(path, &r->plan, err);
    if (rc)
        return rc;
    r->sum->total = r->plan.count;
    r->arena = pr_arena_new(65536);
    if (!r->arena)
        return pr_fail_nomem(err);
    rc = pr_stop_init(&r->stop, err);
    if (!rc)
        rc = pr_keeper_new(pr_attempt_body, NULL, &r->keeper, err);
    return rc;
}

int pr_run(const struct pr_run_opts *opts, struct pr_run_summary *ret,
           struct pr_err *err)
{
    struct runner r = {.opts = opts,
                       .sum = ret,
                       .stop = {.fd = -1},
                       .line = PR_BUF_INIT(1 << 20)};
    uint64_t start = pr_clock_ns();
    int rc;

    *ret = (struct pr_run_summary){0};
    rc = open_all(&r, err);
    if (!rc)
        rc = loop(&r, err);
    ret->elapsed_s = (double)(pr_clock_ns() - start) / 1e9;
    if (!rc)
        rc = verdict(&r, err);
    pr_keeper_free(r.keeper);
    pr_stop_done(&r.stop);
    if (r.plan.arena)
        pr_plan_file_close(&r.plan);
    pr_arena_free(r.arena);
    pr_buf_done(&r.line);
    return rc;
}
