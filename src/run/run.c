/* The loop over the experiments of a run directory. */
#include "run/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "conf/read/literal.h"
#include "run/collect.h"
#include "run/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- who runs at the same time: most alone, as a group of one */

enum { TICK_NS = 200000000, MAX_TOGETHER = 1024 };

static const struct pr_value *
planned_param(const struct pr_runner *r,
              const struct pr_plan_file_experiment *p, const char *name)
{
    const struct pr_value *v = pr_get(&p->params, name);

    return v ? v : pr_get(&r->plan.defaults, name);
}

static const char *planned_group(const struct pr_runner *r,
                                 const struct pr_plan_file_experiment *p)
{
    const struct pr_value *v = planned_param(r, p, "suite.group");

    return v && v->kind == PR_STR ? v->s : "";
}

static bool same_device(const struct pr_runner *r,
                        const struct pr_plan_file_experiment *a,
                        const struct pr_plan_file_experiment *b)
{
    const struct pr_value *x = planned_param(r, a, "suite.device");
    const struct pr_value *y = planned_param(r, b, "suite.device");

    return !x || !y || pr_value_equal(x, y);
}

static bool run_group_has_place_for(const struct pr_runner *r,
                                    const struct pr_run_group *p,
                                    const struct pr_plan_file_experiment *one)
{
    const struct pr_plan_file_experiment *first = &p->items[0]->planned;

    if (one->repeat != first->repeat ||
        strcmp(planned_group(r, one), planned_group(r, first)) != 0)
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (same_device(r, &p->items[i]->planned, one))
            return false;
    return true;
}

/* Whether others may belong to it, too. */
static bool run_group_is_open(const struct pr_runner *r,
                              const struct pr_run_group *p)
{
    return *planned_group(r, &p->items[0]->planned) && p->count < MAX_TOGETHER;
}

/* Adds the experiment to those that start together. *ret_added false: it does
 * not belong to them. */
static int run_group_add(struct pr_runner *r, struct pr_run_group *p,
                         const struct pr_plan_file_experiment *planned,
                         bool *ret_added, struct pr_err *err)
{
    struct pr_experiment_run *t, **item;

    *ret_added = !p->count || run_group_has_place_for(r, p, planned);
    if (!*ret_added)
        return PR_OK;
    t = PR_ARENA_NEW(r->arena, struct pr_experiment_run);
    item = t ? PR_PUSH(r->arena, p) : NULL;
    if (!item)
        return pr_fail_nomem(err);
    t->planned = *planned;
    t->params = (struct pr_buf)PR_BUF_INIT(64 << 20);
    t->notes = (struct pr_buf)PR_BUF_INIT(1 << 20);
    *item = t;
    return PR_OK;
}

static void run_group_close(struct pr_run_group *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i]->going) /* the run could not go on */
            pr_attempt_abandon(p->items[i]->going);
        pr_experiment_run_close(p->items[i]);
    }
}

/* ---- waiting */

/* Until when there is nothing to do. */
static uint64_t next_due(const struct pr_runner *r,
                         const struct pr_run_group *p)
{
    uint64_t next = pr_now(r->opts->clock) + TICK_NS;

    for (size_t i = 0; i < p->count; i++) {
        const struct pr_attempt_running *w = p->items[i]->going;
        uint64_t due = w ? pr_attempt_due(w) : 0;
        if (due && due < next)
            next = due;
    }
    return next;
}

static int run_group_record_stop(struct pr_runner *r, struct pr_err *err)
{
    struct pr_event e = {.kind = PR_EVENT_INTERRUPT,
                         .reason = "asked to stop by a signal"};

    if (!r->stop.count || r->told)
        return PR_OK;
    r->told = true;
    return pr_runner_record(r, e, err);
}

static int mind_all(struct pr_runner *r, const struct pr_run_group *p,
                    struct pr_err *err)
{
    int rc;

    pr_stop_read(&r->stop);
    rc = run_group_record_stop(r, err);
    for (size_t i = 0; i < p->count && !rc; i++)
        if (p->items[i]->going)
            rc = pr_attempt_check_limits(p->items[i]->going, err);
    return rc;
}

/* Waits for the next event of the keeper, minding attempts of the group and
 * signals meanwhile. 1: until_stop, and we were asked to; or it is due (0:
 * never), a time of opts->clock. */
static int run_group_wait(struct pr_runner *r, const struct pr_run_group *p,
                          bool until_stop, uint64_t due,
                          struct pr_child_event *ret, struct pr_err *err)
{
    for (;;) {
        struct pollfd fds[2] = {{pr_keeper_fd(r->keeper), POLLIN, 0},
                                {r->stop.fd, POLLIN, 0}};
        int rc = pr_keeper_next(r->keeper, ret, err);

        if (rc)
            return rc < 0 ? rc : PR_OK;
        if (pr_poll_until(r->opts->clock, fds, 2, next_due(r, p)) == 0 &&
            r->opts->watch)
            r->opts->watch(r->opts->watch_ctx, NULL);
        rc = mind_all(r, p, err);
        if (rc || (until_stop && r->stop.count) ||
            (due && pr_now(r->opts->clock) >= due))
            return rc ? rc : 1;
    }
}

/* ---- suite.prepare: commands before a job, once for all its copies */

/*
 * They are run by the keeper, so that none outlives us, and say what they say
 * in prepare.txt beside the first experiment's log. One that fails is a warning
 * of all of the job's results: a cache that could not be dropped spoils no
 * measurement for good, but whoever reads it should know.
 */

struct preparing {
    const char *command;
    double limit; /* seconds; 0: none */
};

static const struct pr_value *commands_of(const struct pr_run_group *p,
                                          struct pr_experiment_run **ret_first)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->items[i]->over) {
            *ret_first = p->items[i];
            return p->items[i]->suite.prepare;
        }
    return NULL;
}

static void prepare_add_warning(struct pr_run_group *p, const char *command,
                                const char *why)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->items[i]->over)
            pr_collect_add_warning(&p->items[i]->notes, "prepare: '%.200s' %s",
                                   command, why);
}

/* The words in the log before what they do, as milarun shows them. */
static int log_command(const char *path, const char *command,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 20);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    bool ok;

    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot write");
    pr_buf_printf(&line, "+ %s\n", command);
    ok = pr_buf_ok(&line) && pr_write_all(fd, line.data, line.len);
    close(fd);
    return ok ? PR_OK : pr_fail_errno(err, PR_E_IO, path, "cannot write");
}

static void prepare_check_end(struct pr_run_group *p, const char *command,
                              const struct pr_child_event *e)
{
    char why[200] = "";

    if (e->kind == PR_CHILD_FAILED)
        snprintf(why, sizeof why, "could not be started: %s",
                 strerror(e->sys_errno));
    else if (WIFSIGNALED(e->wait_status))
        snprintf(why, sizeof why, "was killed by signal %d",
                 WTERMSIG(e->wait_status));
    else if (WEXITSTATUS(e->wait_status))
        snprintf(why, sizeof why, "ended with status %d",
                 WEXITSTATUS(e->wait_status));
    if (*why)
        prepare_add_warning(p, command, why);
}

static void prepare_warn_late(struct pr_run_group *p, const char *command,
                              double limit)
{
    char why[64];

    snprintf(why, sizeof why, "did not end within %g s", limit);
    prepare_add_warning(p, command, why);
}

/* Until it has ended. A signal to us ends it, and so does its limit, which it
 * has for itself. */
static int prepare_wait(struct pr_runner *r, struct pr_run_group *p,
                        uint32_t tag, const struct preparing *what,
                        struct pr_err *err)
{
    struct pr_child_event e = {.kind = PR_CHILD_STARTED};
    uint64_t due = what->limit > 0
                       ? pr_now(r->opts->clock) + (uint64_t)(what->limit * 1e9)
                       : 0;
    bool killed = false;
    int rc = PR_OK;

    while (!rc && (e.tag != tag || e.kind == PR_CHILD_STARTED)) {
        rc = run_group_wait(r, p, !killed, killed ? 0 : due, &e, err);
        if (rc == 1) {
            killed = true;
            if (!r->stop.count)
                prepare_warn_late(p, what->command, what->limit);
            rc = pr_keeper_signal(r->keeper, tag, SIGKILL, err);
        }
    }
    if (!rc && !killed)
        prepare_check_end(p, what->command, &e);
    return rc;
}

/* The shorter one of the two that are set. */
static double limit_of(const struct pr_experiment_run *t)
{
    double own = t->suite.prepare_timeout, exp = t->job.exp.timeout;

    return own > 0 && (exp <= 0 || own < exp) ? own : exp;
}

static int run_command(struct pr_runner *r, struct pr_run_group *p,
                       struct pr_experiment_run *first, const char *command,
                       struct pr_err *err)
{
    struct pr_spawn spawn = {.tag = ++r->tags, .id = first->planned.id};
    const struct preparing what = {command, limit_of(first)};
    struct pr_err why = {0};
    char path[4096 + 32];
    size_t n = 0;
    int rc;

    snprintf(path, sizeof path, "%s/prepare.txt", first->dir);
    rc = log_command(path, command, err);
    if (rc)
        return rc;
    spawn.log_path = path;
    rc = pr_words_split(command, r->arena, (const char ***)&spawn.argv, &n,
                        &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc || !n) {
        prepare_add_warning(p, command, rc ? why.msg : "is empty");
        return PR_OK;
    }
    rc = pr_keeper_spawn(r->keeper, &spawn, err);
    return rc ? rc : prepare_wait(r, p, spawn.tag, &what, err);
}

/* suite.prepare of the first experiment. *ret_stopped: a signal came. */
static int run_group_prepare(struct pr_runner *r, struct pr_run_group *p,
                             bool *ret_stopped, struct pr_err *err)
{
    struct pr_experiment_run *first = NULL;
    const struct pr_value *list = commands_of(p, &first);
    int rc = PR_OK;

    for (uint32_t i = 0; list && i < list->len && !rc; i++) {
        pr_stop_read(&r->stop);
        if (r->stop.count)
            break;
        if (list->items[i].kind == PR_STR)
            rc = run_command(r, p, first, list->items[i].s, err);
    }
    *ret_stopped = r->stop.count > 0;
    return rc;
}

/* ---- a group from start to end */

static bool any_going(const struct pr_run_group *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i]->going)
            return true;
    return false;
}

static int run_group_on_event(struct pr_runner *r, struct pr_run_group *p,
                              const struct pr_child_event *e,
                              struct pr_err *err)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i]->going && p->items[i]->tag == e->tag)
            return pr_experiment_run_on_event(r, p->items[i], e, err);
    return PR_OK; /* of something that was given up */
}

/* Those that earlier runs finished go; the others get ready. */
static int run_group_prepare_all(struct pr_runner *r, struct pr_run_group *p,
                                 bool *ret_any, struct pr_err *err)
{
    int rc = PR_OK;

    *ret_any = false;
    for (size_t i = 0; i < p->count && rc >= 0; i++) {
        struct pr_experiment_run *t = p->items[i];

        rc = pr_runner_finished_before(r, &t->planned, err);
        t->over = rc == 1;
        if (rc == 0)
            rc = pr_experiment_run_prepare(r, t, err);
        *ret_any |= rc >= 0 && !t->over;
    }
    return rc < 0 ? rc : PR_OK;
}

/* --fail-fast: one has failed for good, so the others need not go on. */
static int run_group_give_up(struct pr_runner *r, struct pr_run_group *p,
                             uint64_t failed, struct pr_err *err)
{
    int rc = PR_OK;

    r->give_up = r->opts->fail_fast && r->failed > failed;
    for (size_t i = 0; i < p->count && !rc && r->give_up; i++)
        if (p->items[i]->going)
            rc = pr_attempt_give_up(p->items[i]->going, err);
    return rc;
}

static int run_group_run(struct pr_runner *r, struct pr_run_group *p,
                         struct pr_err *err)
{
    uint64_t failed = r->failed;
    bool any, stopped = false;
    int rc = run_group_prepare_all(r, p, &any, err);

    if (!rc)
        rc = run_group_give_up(r, p, failed, err);
    if (!rc && any && !r->give_up)
        rc = run_group_prepare(r, p, &stopped, err);
    for (size_t i = 0; i < p->count && !rc && !stopped && !r->give_up; i++) {
        if (!p->items[i]->over)
            rc = pr_experiment_run_start(r, p->items[i], err);
        rc = rc ? rc : run_group_give_up(r, p, failed, err);
    }
    while (!rc && any_going(p)) {
        struct pr_child_event e;

        rc = run_group_wait(r, p, false, 0, &e, err);
        if (!rc)
            rc = run_group_on_event(r, p, &e, err);
        if (!rc)
            rc = run_group_give_up(r, p, failed, err);
    }
    return rc;
}

/* ---- all of them */

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

    while (rc == 1 && added && (!p->count || run_group_is_open(r, p))) {
        rc = next_planned(r, &planned, err);
        if (rc == 1) {
            int failed = run_group_add(r, p, &planned, &added, err);
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
        int stopped = run_group_run(r, &p, err);
        rc = stopped ? stopped : 1;
    }
    run_group_close(&p);
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
