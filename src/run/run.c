/* The loop over the experiments of a run directory. */
#include "run/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/plan_file.h"
#include "record/result.h"
#include "run/attempt.h"
#include "run/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct runner {
    const struct pr_run_opts *opts;
    struct pr_run_summary *sum;
    struct pr_plan_file plan;
    struct pr_keeper *keeper;
    struct pr_stop stop;
    struct pr_arena *arena; /* of one experiment */
    struct pr_buf line;     /* an event being written */
    struct pr_names *seen; /* ids that earlier runs recorded; NULL: a new run */
    bool *ended;           /* by id: its last event there is its end */
    size_t ended_cap;
    uint64_t done, failed;
    bool give_up; /* --fail-fast struck */
};

static bool is_failure(enum pr_status s)
{
    return s == PR_STATUS_FAILED || s == PR_STATUS_TIMEOUT ||
           s == PR_STATUS_OOM;
}

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

static void stopping(void *ctx)
{
    struct runner *r = ctx;
    struct pr_event e = {.kind = PR_EVENT_INTERRUPT,
                         .reason = "asked to stop by a signal"};

    /* Should this fail, so does what follows, and says why. */
    (void)!record(r, e, NULL);
}

static void count(struct runner *r, enum pr_status status)
{
    r->sum->by_status[status]++;
    r->done += status != PR_STATUS_INTERRUPTED;
    r->failed += is_failure(status);
}

/* One experiment on its way through. */
struct trip {
    struct pr_planned planned;
    struct pr_job job;
    char dir[4096], log[4096];
    struct pr_buf params; /* as JSON */
    struct pr_value full; /* the parameters with the plan's defaults */
    struct pr_attempt last;
    unsigned attempts, earlier; /* all; of these, by earlier runs */
};

/* The plan's defaults under the parameters: what a workload sees, and what
 * params.json keeps, whatever the defaults of a later version. */
static int add_defaults(struct runner *r, struct trip *t, struct pr_err *err)
{
    const struct pr_value *own = &t->planned.params, *def = &r->plan.defaults;
    struct pr_member *m =
        PR_ARENA_ARRAY(r->arena, struct pr_member, own->len + def->len);
    uint32_t n = own->len;

    if (!m)
        return pr_fail_nomem(err);
    memcpy(m, own->members, own->len * sizeof *m);
    for (uint32_t i = 0; i < def->len; i++)
        if (!pr_get(own, def->members[i].key))
            m[n++] = def->members[i];
    t->full = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

static int write_params(struct runner *r, struct trip *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf full = PR_BUF_INIT(64 << 20);
    char path[4096];
    int rc =
        pr_rundir_file(r->opts->dir, t->planned.id, "params.json", path, err);

    if (!rc)
        rc = add_defaults(r, t, err);
    if (rc)
        return rc;
    pr_json_write(&t->params, &t->planned.params);
    pr_json_write(&full, &t->full);
    if (!pr_buf_ok(&t->params) || !pr_buf_ok(&full))
        return pr_fail_nomem(err);
    return pr_file_write(path, full.data, full.len, err);
}

/* exp.log_file gets a copy of the log. Not for an experiment that will be run
 * again; and where it cannot be written, the result is still a result. */
static void copy_log(const struct trip *t, const char *dir,
                     struct pr_buf *warnings)
{
    struct pr_err err = {0};

    if (!*t->job.exp.log_file || !t->attempts ||
        t->last.status == PR_STATUS_INTERRUPTED ||
        pr_metrics_copy_log(t->log, t->job.exp.log_file, dir, &err) == PR_OK)
        return;
    pr_metrics_warn(warnings, "exp.log_file was not written: %s", err.msg);
}

/* Writes result.json, then the event. Killed between the two, a resumed run
 * finds the result and adds the event: finished_before(). */
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
    copy_log(t, r->opts->dir->path, &warnings);
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
    return t->earlier + 1 +
           (r->opts->retry >= 0 ? r->opts->retry : t->job.exp.retry);
}

static int attempt_all(struct runner *r, struct trip *t, struct pr_err *err)
{
    struct pr_attempt_ctx ctx = {r->keeper, &r->stop, tick, stopping, r};
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

/* Why an experiment is not run at all; NULL: it is. One that was begun here
 * is not stopped by the log it left itself. */
static const char *why_skip(const struct pr_job *job, bool begun)
{
    if (strcmp(job->exp.status, "simulate") == 0)
        return "simulated: its command is in the log";
    if (pr_job_is_off(job))
        return *job->exp.status_msg ? job->exp.status_msg
                                    : "exp.status says so";
    return !begun && pr_metrics_done_before(job->exp.log_file, job->exp.rerun)
               ? "exp.log_file exists"
               : NULL;
}

static int simulate(struct trip *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    const struct pr_workload *w;
    struct pr_start start = {0};
    int rc = pr_workload_of(&t->job, &w, err);

    if (!rc)
        rc = w->prepare(&t->job, &start, err);
    for (size_t i = 0; !rc && start.argv && start.argv[i]; i++) {
        if (i)
            pr_buf_char(&text, ' ');
        pr_json_string(&text, start.argv[i], strlen(start.argv[i]));
    }
    pr_buf_char(&text, '\n');
    if (!rc && !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    return rc ? rc : pr_file_write(t->log, text.data, text.len, err);
}

static int skip(struct runner *r, struct trip *t, const char *why,
                struct pr_err *err)
{
    struct pr_err inner = {0};

    t->last.status = PR_STATUS_SKIPPED;
    snprintf(t->last.reason, sizeof t->last.reason, "%.250s", why);
    if (strcmp(t->job.exp.status, "simulate") == 0 && simulate(t, &inner)) {
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason, "%.250s", inner.msg);
    }
    return conclude(r, t, err);
}

static int travel(struct runner *r, struct trip *t, struct pr_err *err)
{
    struct pr_err inner = {0};
    const char *why;
    bool begun = false;
    int rc = pr_rundir_experiment(r->opts->dir, t->planned.id, &begun,
                                  &t->earlier, err);

    if (!rc)
        rc =
            pr_rundir_file(r->opts->dir, t->planned.id, "log.txt", t->log, err);
    if (!rc)
        rc = write_params(r, t, err);
    if (rc)
        return rc;
    memcpy(t->dir, t->log, strlen(t->log) - strlen("/log.txt"));
    t->dir[strlen(t->log) - strlen("/log.txt")] = '\0';
    t->attempts = t->earlier;
    put_log_aside(t);
    rc =
        pr_job_init(&t->job, t->planned.id, t->dir, &t->full, r->arena, &inner);
    if (rc) { /* a plan edited by hand: this experiment fails, not the run */
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason, "%.250s", inner.msg);
        t->job.exp.log_file = "";
        return conclude(r, t, err);
    }
    why = why_skip(&t->job, begun);
    if (why)
        return skip(r, t, why, err);
    rc = attempt_all(r, t, err);
    return rc ? rc : conclude(r, t, err);
}

/* The end of an experiment that an earlier run was killed before recording. */
static int mend_event(struct runner *r, const char *id,
                      const struct pr_value *result, struct pr_err *err)
{
    const struct pr_value *reason = pr_get(result, "reason");
    const struct pr_value *attempts = pr_get(result, "attempts");
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_END,
                         .id = id,
                         .status = pr_result_status(result)};

    uint32_t known =
        r->seen ? pr_names_find(r->seen, id, strlen(id)) : PR_NO_NAME;

    if (!r->seen || (known != PR_NO_NAME && r->ended[known]))
        return PR_OK;
    if (reason && reason->kind == PR_STR)
        e.reason = reason->s;
    if (attempts && attempts->kind == PR_INT)
        e.attempt = (unsigned)attempts->i;
    return record(r, e, err);
}

/* Whether an earlier run finished it. 1: yes, counted; 0: to be run. */
static int finished_before(struct runner *r, struct trip *t, struct pr_err *err)
{
    struct pr_value result;
    enum pr_status status;
    struct pr_err inner = {0};
    int rc = pr_result_read(r->opts->dir->path, t->planned.id, r->arena,
                            &result, &inner);

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
    rc = mend_event(r, t->planned.id, &result, err);
    return rc ? rc : 1;
}

static int run_next(struct runner *r, struct pr_err *err)
{
    struct trip t = {.params = PR_BUF_INIT(64 << 20)};
    uint64_t failed;
    int rc;

    pr_arena_reset(r->arena);
    rc = pr_plan_file_next(&r->plan, r->arena, &t.planned, err);
    if (rc != 1)
        return rc;
    rc = finished_before(r, &t, err);
    failed = r->failed;
    if (rc == 0)
        rc = travel(r, &t, err);
    pr_buf_done(&t.params);
    if (rc < 0)
        return rc;
    r->give_up = r->opts->fail_fast && r->failed > failed;
    return 1;
}

static bool asked_to_stop(struct runner *r)
{
    pr_stop_read(&r->stop);
    return r->stop.count || r->stop.after_current || r->give_up;
}

/* What earlier runs finished beyond the place where this one stopped. */
static int count_rest(struct runner *r, struct pr_err *err)
{
    struct trip t = {.attempts = 0};
    int rc = PR_OK;

    while (rc >= 0) {
        pr_arena_reset(r->arena);
        rc = pr_plan_file_next(&r->plan, r->arena, &t.planned, err);
        if (rc != 1)
            return rc;
        rc = finished_before(r, &t, err);
    }
    return rc;
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
    r->sum->signo = r->stop.signo;
    if (!rc && asked_to_stop(r))
        rc = count_rest(r, err);
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
    if (good)
        return pr_fail(err, PR_E_PARTIAL, "", "%llu of %llu experiments failed",
                       (unsigned long long)r->failed,
                       (unsigned long long)r->sum->total);
    if (n[PR_STATUS_TIMEOUT] == r->failed)
        return pr_fail(
            err, PR_E_TIMEOUT, "", "%llu of %llu experiments ran out of time",
            (unsigned long long)r->failed, (unsigned long long)r->sum->total);
    return pr_fail(err, PR_E_JOB, "", "%llu of %llu experiments failed",
                   (unsigned long long)r->failed,
                   (unsigned long long)r->sum->total);
}

static int note_event(struct runner *r, const struct pr_event *e,
                      struct pr_err *err)
{
    uint32_t id = pr_names_add(r->seen, e->id, strlen(e->id));
    bool *ended = r->ended;

    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (id >= r->ended_cap) {
        size_t cap = r->ended_cap ? r->ended_cap * 2 : 256;
        ended = pr_realloc(r->ended, cap * sizeof *ended);
        if (!ended)
            return pr_fail_nomem(err);
        r->ended = ended;
        r->ended_cap = cap;
    }
    ended[id] = e->kind == PR_EVENT_EXPERIMENT_END;
    return PR_OK;
}

static int note_line(struct runner *r, const char *line, size_t len,
                     struct pr_err *err)
{
    struct pr_event e;
    int rc = pr_event_read(line, len, r->arena, &e, NULL);

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    /* Half a line of a run that was killed is no event. */
    rc = rc == 1 && e.id ? note_event(r, &e, err) : PR_OK;
    pr_arena_reset(r->arena);
    return rc;
}

/* Which ends earlier runs have recorded. */
static int read_ended(struct runner *r, struct pr_err *err)
{
    struct pr_view events = {0};
    char path[4096];
    int rc = pr_rundir_path(r->opts->dir, "events.ndjson", path, err);

    if (!rc)
        rc = pr_file_map(path, &events, err);
    if (rc || !events.len)
        return rc;
    r->seen = pr_names_new();
    if (!r->seen)
        rc = pr_fail_nomem(err);
    for (size_t at = 0; !rc && at < events.len;) {
        const char *line = events.data + at;
        const char *end = memchr(line, '\n', events.len - at);
        size_t len = end ? (size_t)(end - line) : events.len - at;
        rc = note_line(r, line, len, err);
        at += len + 1;
    }
    pr_file_unmap(&events);
    return rc;
}

/* What a plan says of its own size is not believed: it may have been edited. */
static int count_plan(struct runner *r, const char *path, struct pr_err *err)
{
    struct pr_plan_file plan;
    struct pr_planned one;
    int rc = pr_plan_file_open(path, &plan, err);

    if (rc)
        return rc;
    while ((rc = pr_plan_file_next(&plan, r->arena, &one, err)) == 1) {
        r->sum->total++;
        pr_arena_reset(r->arena);
    }
    pr_plan_file_close(&plan);
    return rc;
}

static int open_all(struct runner *r, struct pr_err *err)
{
    char path[4096];
    int rc = pr_rundir_path(r->opts->dir, "plan.json", path, err);

    if (!rc)
        rc = pr_plan_file_open(path, &r->plan, err);
    if (rc)
        return rc;
    r->arena = pr_arena_new(65536);
    if (!r->arena)
        return pr_fail_nomem(err);
    rc = count_plan(r, path, err);
    if (!rc)
        rc = read_ended(r, err);
    if (!rc)
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
    pr_names_free(r.seen);
    pr_free(r.ended);
    pr_arena_free(r.arena);
    pr_buf_done(&r.line);
    return rc;
}
