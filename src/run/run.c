/* The loop over the experiments of a run directory. */
#include "run/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/names.h"
#include "run/runner.h"

#include <stdio.h>
#include <string.h>

int pr_runner_record(struct pr_runner *r, struct pr_event e, struct pr_err *err)
{
    int rc;

    e.time_ns = pr_wall_now(r->opts->clock);
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

void pr_runner_count(struct pr_runner *r, enum pr_status status)
{
    r->sum->by_status[status]++;
    r->done += status != PR_STATUS_INTERRUPTED;
    r->failed += pr_status_is_failure(status);
}

/* The next experiment of the plan: what was read already comes first. */
static int next_planned(struct pr_runner *r,
                        struct pr_plan_file_experiment *ret, struct pr_err *err)
{
    if (!r->has_ahead) {
        int rc =
            r->read_all ? 0 : pr_plan_file_next(&r->plan, r->arena, ret, err);
        r->read_all = rc == 0;
        return rc;
    }
    r->has_ahead = false;
    *ret = r->ahead;
    return 1;
}

/* It belongs to the next ones: kept until then. */
static int keep_ahead(struct pr_runner *r,
                      const struct pr_plan_file_experiment *planned,
                      struct pr_err *err)
{
    r->ahead.repeat = planned->repeat;
    r->ahead.id = pr_arena_str(r->spare, planned->id);
    if (!r->ahead.id ||
        !pr_value_copy(r->spare, &planned->params, &r->ahead.params))
        return pr_fail_nomem(err);
    r->has_ahead = true;
    return PR_OK;
}

/* Those that start together. 0: there are none left. */
static int run_fill_group(struct pr_runner *r, struct pr_run_group *p,
                          struct pr_err *err)
{
    struct pr_plan_file_experiment planned;
    bool added = true;
    int rc = 1;

    while (rc == 1 && added && (!p->count || pr_run_group_is_open(r, p))) {
        rc = next_planned(r, &planned, err);
        if (rc == 1) {
            int failed = pr_run_group_add(r, p, &planned, &added, err);
            rc = failed ? failed : 1;
        }
    }
    if (!added && rc == 1)
        rc = keep_ahead(r, &planned, err);
    return rc < 0 ? rc : p->count > 0;
}

/* What is ahead lives in the other one of the two. */
static void turn_arenas(struct pr_runner *r)
{
    struct pr_arena *now = r->spare;

    r->spare = r->arena;
    r->arena = now;
    pr_arena_reset(r->spare);
    if (!r->has_ahead)
        pr_arena_reset(r->arena);
}

static int run_next(struct pr_runner *r, struct pr_err *err)
{
    struct pr_run_group p = {0};
    uint64_t failed = r->failed;
    int rc;

    turn_arenas(r);
    rc = run_fill_group(r, &p, err);
    if (rc == 1) {
        int stopped = pr_run_group_run(r, &p, err);
        rc = stopped ? stopped : 1;
    }
    pr_run_group_close(&p);
    r->give_up = r->opts->fail_fast && r->failed > failed;
    return rc;
}

static bool asked_to_stop(struct pr_runner *r)
{
    pr_stop_read(&r->stop);
    return r->stop.count || r->stop.after_current || r->give_up;
}

/* What earlier runs finished beyond the place where this one stopped. */
static int count_rest(struct pr_runner *r, struct pr_err *err)
{
    struct pr_plan_file_experiment planned;
    int rc = PR_OK;

    while (rc >= 0) {
        turn_arenas(r);
        rc = next_planned(r, &planned, err);
        if (rc != 1)
            return rc;
        rc = pr_runner_finished_before(r, &planned, err);
    }
    return rc;
}

static int run_experiments(struct pr_runner *r, struct pr_err *err)
{
    struct pr_keeper_trace trace = pr_keeper_get_trace(r->keeper);
    struct pr_event e = {
        .kind = PR_EVENT_RUN_START, .mark = trace.mark, .group = trace.group};
    int rc = pr_runner_record(r, e, err);

    if (!rc)
        rc = pr_runner_record_leftovers(r, err);
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
    if (!rc)
        rc = pr_runner_record(r, e, err);
    return rc ? rc : pr_rundir_sync(r->opts->dir, err);
}

/* How the run as a whole went. */
static int run_check_summary(const struct pr_runner *r, struct pr_err *err)
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

/* What a plan says of its own size is not believed: it may have been edited. */
static int count_plan(struct pr_runner *r, const char *path, struct pr_err *err)
{
    struct pr_plan_file plan;
    struct pr_plan_file_experiment one;
    int rc = pr_plan_file_open_brief(r->opts->dir->path, path, &plan, err);

    if (rc)
        return rc;
    while ((rc = pr_plan_file_next(&plan, r->arena, &one, err)) == 1) {
        r->sum->total++;
        pr_arena_reset(r->arena);
    }
    pr_plan_file_close(&plan);
    return rc;
}

static int run_open(struct pr_runner *r, struct pr_err *err)
{
    const struct pr_keeper_calls calls = {
        .body = pr_experiment_body, .orphaned = pr_runner_orphaned, .ctx = r};
    char path[4096];
    int rc = pr_rundir_path(r->opts->dir, "plan.json", path, err);

    if (!rc)
        rc = pr_plan_file_open_in(r->opts->dir->path, path, &r->plan, err);
    if (rc)
        return rc;
    r->arena = pr_arena_new(65536);
    r->spare = pr_arena_new(65536);
    if (!r->arena || !r->spare)
        return pr_fail_nomem(err);
    rc = count_plan(r, path, err);
    if (!rc)
        rc = pr_runner_read_ended(r, err);
    if (!rc)
        rc = pr_stop_init(&r->stop, err);
    if (!rc) {
        pr_runner_end_leftovers(r);
        rc = pr_keeper_new(&calls, &r->keeper, err);
    }
    if (!rc)
        rc = pr_monitor_new(NULL, &r->monitor, err);
    r->slots.gpus = &r->gpus;
    r->attempts = (struct pr_attempt_ctx){r->keeper, r->monitor, &r->stop,
                                          r->opts->clock};
    return rc;
}

/* The run cannot go on: what ran says why it has no more to say. */
static void run_write_lost(struct pr_runner *r, const struct pr_err *err)
{
    char reason[300];

    snprintf(reason, sizeof reason, "the run could not go on: %.200s",
             err ? err->msg : "an error");
    pr_runner_write_lost(r, reason);
}

int pr_run(const struct pr_run_opts *opts, struct pr_run_summary *ret,
           struct pr_err *err)
{
    struct pr_runner r = {.opts = opts,
                          .sum = ret,
                          .stop = {.fd = -1},
                          .line = PR_BUF_INIT(1 << 20)};
    uint64_t start = pr_now(opts->clock);
    bool began;
    int rc;

    *ret = (struct pr_run_summary){0};
    rc = run_open(&r, err);
    began = !rc;
    if (!rc) {
        pr_runner_reserve_space(&r);
        rc = run_experiments(&r, err);
    }
    ret->elapsed_s = (double)(pr_now(opts->clock) - start) / 1e9;
    pr_monitor_free(r.monitor);
    pr_keeper_free(r.keeper);
    if (began && rc)
        run_write_lost(&r, err);
    else if (began)
        pr_runner_release_space(&r);
    if (!rc)
        rc = run_check_summary(&r, err);
    pr_slot_sets_close(&r.slots);
    pr_stop_close(&r.stop);
    if (r.plan.arena)
        pr_plan_file_close(&r.plan);
    pr_names_free(r.seen);
    pr_free(r.told_of);
    pr_free(r.traces);
    pr_pids_free(&r.left);
    pr_arena_free(r.arena);
    pr_arena_free(r.spare);
    pr_buf_free(&r.line);
    return rc;
}
