/*
 * One experiment on its way through a run: parameters, attempts, result.
 * Everything that goes wrong with it is its result; only what keeps the run
 * from going on is an error.
 */
#include "base/file.h"
#include "base/json/json.h"
#include "record/channel.h"
#include "record/result.h"
#include "run/attempt.h"
#include "run/collect.h"
#include "run/contained.h"
#include "run/runner.h"
#include "workload/suite_workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- inside an experiment that starts no program */

/* A forked child of the keeper reads params.json and lets the workload run. Its
 * words and errors go to the log, where stdout and stderr already point. */

enum { MAX_PARAMS = 64 << 20 };

static int run_job(const char *dir, struct pr_arena *a, struct pr_err *err)
{
    const char *id = strrchr(dir, '/');
    const struct pr_workload *w;
    struct pr_json_in in = {0};
    struct pr_value params;
    struct pr_job job;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/params.json", dir);
    in.name = path;
    rc = pr_file_read(path, MAX_PARAMS, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, &params, NULL, err);
    if (!rc)
        rc = pr_job_init(&job, id ? id + 1 : dir, dir, &params, a, err);
    if (!rc)
        rc = pr_workload_find_for_job(&job, &w, err);
    if (!rc)
        rc = w->run(&job, err);
    return rc;
}

/* Processes of mpirun are also told to end when another one has failed, which
 * is the one with something to say. */
static bool has_words(int rc)
{
    return rc && (rc != PR_E_INTR || !getenv("OMPI_COMM_WORLD_RANK"));
}

int pr_experiment_body(void *ctx, const char *arg)
{
    struct pr_arena *a = pr_arena_new(65536);
    struct pr_err err = {0};
    int rc = a ? run_job(arg, a, &err) : pr_fail_nomem(&err);

    (void)ctx;
    if (has_words(rc))
        dprintf(2, "prony: %s%s%s%s%s\n", err.where, *err.where ? ": " : "",
                err.msg, *err.hint ? "; " : "", err.hint);
    if (rc) /* a thread that hangs may still use it */
        return pr_code_exit_status(rc);
    pr_arena_free(a);
    return 0;
}

/* ---- before it starts */

/* suite.run of a job that does not say it itself. */
static void count_run(struct pr_member *m, uint32_t n, int64_t repeat)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(m[i].key, "suite.run") == 0 && m[i].value.kind == PR_INT &&
            m[i].value.i == -1)
            m[i].value = pr_int(repeat > 0 ? repeat - 1 : 0);
}

/* With the plan's defaults: what a workload sees, and what params.json keeps,
 * whatever the defaults of a later version. */
static int write_params(struct pr_runner *r, struct pr_experiment_run *t,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf full = PR_BUF_INIT(64 << 20);
    struct pr_member *m;
    char path[4096];

    PR_TRY(
        pr_rundir_file(r->opts->dir, t->planned.id, "params.json", path, err));
    m = pr_plan_file_params(&r->plan, &t->planned, r->arena, &t->full);
    if (!m)
        return pr_fail_nomem(err);
    count_run(m, t->full.len, t->planned.repeat);
    pr_json_write(&t->params, &t->planned.params);
    pr_json_write(&full, &t->full);
    if (!pr_buf_ok(&t->params) || !pr_buf_ok(&full))
        return pr_fail_nomem(err);
    return pr_file_write_later(path, full.data, full.len, err);
}

/* exp.log_file gets a copy of the log. Not for an experiment that will be run
 * again; and where it cannot be written, the result is still a result. */
static void copy_log(const struct pr_experiment_run *t, const char *dir,
                     struct pr_buf *warnings)
{
    struct pr_err err = {0};

    if (!*t->job.exp.log_file || !t->attempts || t->last.wrote_log_file ||
        t->last.status == PR_STATUS_INTERRUPTED ||
        pr_collect_copy_log(t->log, t->job.exp.log_file, dir, t->planned.id,
                            &err) == PR_OK)
        return;
    pr_collect_add_warning(warnings, "exp.log_file was not written: %s",
                           err.msg);
}

static void warn_of_attempt(const struct pr_attempt *a, struct pr_buf *warnings)
{
    if (*a->left)
        pr_collect_add_warning(warnings, "%s", a->left);
    if (*a->seen.trouble)
        pr_collect_add_warning(warnings, "the monitor: %s", a->seen.trouble);
}

/* Writes result.json, then the event. Killed between the two, a resumed run
 * finds the result and adds the event: pr_runner_finished_before(). */
static int experiment_write_result(struct pr_runner *r,
                                   struct pr_experiment_run *t,
                                   struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(32 << 20);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf rates = PR_BUF_INIT(16 << 20);
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(1 << 16);
    char channel[4096 + 32];
    struct pr_result result = {
        .id = t->planned.id,
        .status = t->last.status,
        .reason = t->last.reason,
        .params_json = t->params.data,
        .results = &results,
        .warnings = &warnings,
        .rates = &rates,
        .monitor = &t->last.seen.summary,
        .started_ns = t->last.end.started_ns,
        .ended_ns = t->last.end.ended_ns,
        .attempts = t->attempts,
        .later = !pr_job_needs_sync(&t->full),
    };
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_END,
                         .id = t->planned.id,
                         .status = t->last.status,
                         .reason = t->last.reason,
                         .attempt = t->attempts,
                         .elapsed_s = (double)t->last.end.elapsed_ns / 1e9};
    struct pr_output_paths words = {t->log, channel, &t->full};
    int rc;

    snprintf(channel, sizeof channel, "%s/" PR_CHANNEL_FILE, t->dir);
    rc = pr_collect_results(&t->last, &words, &results, &rates, &warnings, err);
    if (!rc)
        rc = pr_suite_result_gather(&t->job, &results, err);
    if (t->slot)
        pr_slot_sets_write_slot(t->slot, t->slots, &results);

    if (!rc && t->last.status != PR_STATUS_OK &&
        t->last.status != PR_STATUS_SKIPPED) {
        rc = pr_collect_log_tail(t->log, &tail, err);
        result.log_tail = tail.data;
    }
    copy_log(t, r->opts->dir->path, &warnings);
    warn_of_attempt(&t->last, &warnings);
    pr_buf_str(&warnings, warnings.len && t->notes.len ? ", " : "");
    pr_buf_add(&warnings, t->notes.data, t->notes.len);
    if (!rc)
        rc = pr_result_write(r->opts->dir, &result, err);
    if (!rc)
        rc = pr_suite_result_write(r->opts->dir->path, t->planned.id, &t->full,
                                   &r->gpus, r->arena, err);
    t->over = true;
    if (rc)
        return rc;
    pr_runner_count(r, t->last.status);
    return pr_runner_record(r, e, err);
}

/* What the attempt that counts wrote stays; of earlier ones it is numbered. */
static void put_logs_aside(const struct pr_experiment_run *t)
{
    static const char *const files[] = {
        "log.txt", PR_CHANNEL_FILE, "monitor.ndjson", PR_SUITE_MILARUN_FILE};
    char now[4096 + 32], old[4096 + 64];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(now, sizeof now, "%s/%s", t->dir, files[i]);
        snprintf(old, sizeof old, "%s.%u", now, t->attempts);
        (void)rename(now, old);
    }
}

static int64_t tries_allowed(const struct pr_runner *r,
                             const struct pr_experiment_run *t)
{
    return t->earlier + 1 +
           (r->opts->retry >= 0 ? r->opts->retry : t->job.exp.retry);
}

/* What isolation lacks here is said in each result. */
static void experiment_add_slot_warnings(struct pr_experiment_run *t)
{
    size_t n = 0;
    const struct pr_slots_warning *notes =
        t->slots ? pr_slots_get_warnings(t->slots, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        pr_collect_add_warning(&t->notes, "%s%s%s", notes[i].what,
                               *notes[i].remedy ? "; " : "", notes[i].remedy);
}

static int begin_try(struct pr_runner *r, struct pr_experiment_run *t,
                     struct pr_err *err)
{
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_START,
                         .id = t->planned.id,
                         .attempt = ++t->attempts};
    struct pr_attempt_what what = {
        .job = &t->job, .log_path = t->log, .slot = t->slot};
    int rc = pr_runner_record(r, e, err);

    pr_attempt_close(&t->last); /* of an earlier try */
    t->tag = ++r->tags;
    what.tag = t->tag;
    return rc ? rc
              : pr_attempt_begin(&r->attempts, &what, &t->last, &t->going, err);
}

static bool is_tried_again(const struct pr_runner *r,
                           const struct pr_experiment_run *t)
{
    return pr_status_is_failure(t->last.status) &&
           t->attempts < tries_allowed(r, t) && !r->stop.count && !r->give_up;
}

static int experiment_record_retry(struct pr_runner *r,
                                   struct pr_experiment_run *t,
                                   struct pr_err *err)
{
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_RETRY,
                         .id = t->planned.id,
                         .attempt = t->attempts,
                         .status = t->last.status,
                         .reason = t->last.reason,
                         .elapsed_s = (double)t->last.end.elapsed_ns / 1e9};
    int rc = pr_runner_record(r, e, err);

    put_logs_aside(t);
    return rc;
}

/* Attempts until one is under way, or no more are to be made. */
static int try_on(struct pr_runner *r, struct pr_experiment_run *t,
                  struct pr_err *err)
{
    int rc = PR_OK;

    while (!rc && !t->going && is_tried_again(r, t)) {
        rc = experiment_record_retry(r, t, err);
        if (!rc)
            rc = begin_try(r, t, err);
    }
    return rc || t->going ? rc : experiment_write_result(r, t, err);
}

static int experiment_fail(struct pr_runner *r, struct pr_experiment_run *t,
                           const struct pr_err *why, struct pr_err *err)
{
    t->last.status = PR_STATUS_FAILED;
    snprintf(t->last.reason, sizeof t->last.reason, "%.250s", why->msg);
    return experiment_write_result(r, t, err);
}

int pr_experiment_run_start(struct pr_runner *r, struct pr_experiment_run *t,
                            struct pr_err *err)
{
    struct pr_err why = {0};
    int rc = pr_slot_sets_get(&r->slots, r->keeper, &t->suite, &t->slot,
                              &t->slots, &why);

    if (rc == PR_E_CONF)
        return experiment_fail(r, t, &why, err);
    if (rc) {
        *err = why;
        return rc;
    }
    experiment_add_slot_warnings(t);
    rc = begin_try(r, t, err);
    return rc || t->going ? rc : try_on(r, t, err);
}

int pr_experiment_run_on_event(struct pr_runner *r, struct pr_experiment_run *t,
                               const struct pr_child_event *e,
                               struct pr_err *err)
{
    if (!pr_attempt_on_event(t->going, e))
        return PR_OK;
    t->going = NULL;
    if (t->last.status == PR_STATUS_OK && pr_suite_result_has_failed(&t->job)) {
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason,
                 "milarun says that it failed");
    }
    return try_on(r, t, err);
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
    return !begun &&
                   pr_collect_is_done_before(job->exp.log_file, job->exp.rerun)
               ? "exp.log_file exists"
               : NULL;
}

static int experiment_simulate(struct pr_experiment_run *t, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    const struct pr_workload *w;
    struct pr_start start = {0};
    struct pr_job_container box;
    int rc = pr_workload_find_for_job(&t->job, &w, err);

    if (!rc)
        rc = w->prepare(&t->job, &start, err);
    if (!rc && pr_job_needs_container(&t->job, &start))
        rc = pr_job_container_wrap(&t->job, &start, t->slot, &box, err);
    for (size_t i = 0; !rc && start.own_env && start.own_env[i]; i++) {
        size_t n = strcspn(start.own_env[i], "=") + 1;
        pr_buf_add(&text, start.own_env[i], n);
        pr_json_write_string(&text, start.own_env[i] + n,
                             strlen(start.own_env[i] + n));
        pr_buf_char(&text, ' ');
    }
    for (size_t i = 0; !rc && start.argv && start.argv[i]; i++) {
        if (i)
            pr_buf_char(&text, ' ');
        pr_json_write_string(&text, start.argv[i], strlen(start.argv[i]));
    }
    pr_buf_char(&text, '\n');
    if (!rc && !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    return rc ? rc : pr_file_write_later(t->log, text.data, text.len, err);
}

static int experiment_skip(struct pr_runner *r, struct pr_experiment_run *t,
                           const char *why, struct pr_err *err)
{
    struct pr_err inner = {0};

    t->last.status = PR_STATUS_SKIPPED;
    snprintf(t->last.reason, sizeof t->last.reason, "%.250s", why);
    if (strcmp(t->job.exp.status, "simulate") == 0 &&
        experiment_simulate(t, &inner)) {
        t->last.status = PR_STATUS_FAILED;
        snprintf(t->last.reason, sizeof t->last.reason, "%.250s", inner.msg);
    }
    return experiment_write_result(r, t, err);
}

/* Where it leaves what. */
static int make_places(struct pr_runner *r, struct pr_experiment_run *t,
                       bool *begun, struct pr_err *err)
{
    const char *id = t->planned.id;
    size_t n;
    int rc = pr_rundir_file(r->opts->dir, id, "log.txt", t->log, err);

    if (!rc)
        rc = pr_suite_result_remove(r->opts->dir->path, id, &t->planned.params,
                                    r->arena, err);
    if (!rc)
        rc = pr_rundir_experiment(r->opts->dir, id, begun, &t->earlier, err);
    if (!rc)
        rc = write_params(r, t, err);
    if (rc)
        return rc;
    n = strlen(t->log) - strlen("/log.txt");
    memcpy(t->dir, t->log, n);
    t->dir[n] = '\0';
    t->attempts = t->earlier;
    if (*begun)
        put_logs_aside(t);
    return PR_OK;
}

int pr_experiment_run_prepare(struct pr_runner *r, struct pr_experiment_run *t,
                              struct pr_err *err)
{
    struct pr_err inner = {0};
    const char *why;
    bool begun = false;
    int rc = make_places(r, t, &begun, err);

    if (rc)
        return rc;
    rc =
        pr_job_init(&t->job, t->planned.id, t->dir, &t->full, r->arena, &inner);
    if (!rc)
        rc = pr_opt_fill(&pr_suite_section, &t->full, r->arena, &t->suite,
                         &inner);
    if (rc) { /* a plan edited by hand: this experiment fails, not the run */
        t->job.exp.log_file = "";
        return experiment_fail(r, t, &inner, err);
    }
    r->sum->jobs += *t->suite.name != '\0';
    why = why_skip(&t->job, begun);
    if (why)
        return experiment_skip(r, t, why, err);
    if (!pr_collect_is_inside(t->job.exp.log_file, r->opts->dir->path))
        rc = pr_collect_check_log(t->job.exp.log_file, &inner);
    if (!rc)
        rc = pr_suite_result_check(&t->job, &t->notes, &inner);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    return rc ? experiment_fail(r, t, &inner, err) : PR_OK;
}

void pr_experiment_run_close(struct pr_experiment_run *t)
{
    pr_buf_free(&t->params);
    pr_buf_free(&t->notes);
    pr_attempt_close(&t->last);
}
