/*
 * Experiments that run at the same time: who belongs together, and waiting for
 * all of them. Most run alone, which is a party of one.
 */
#include "base/clock.h"
#include "run/runner.h"

#include <poll.h>
#include <string.h>

enum { TICK_NS = 200000000, MAX_TOGETHER = 1024 };

/* ---- who belongs together */

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
    const struct pr_plan_file_experiment *first = &p->trips[0]->planned;

    if (one->repeat != first->repeat ||
        strcmp(planned_group(r, one), planned_group(r, first)) != 0)
        return false;
    for (size_t i = 0; i < p->count; i++)
        if (same_device(r, &p->trips[i]->planned, one))
            return false;
    return true;
}

bool pr_run_group_is_open(const struct pr_runner *r,
                          const struct pr_run_group *p)
{
    return *planned_group(r, &p->trips[0]->planned) && p->count < MAX_TOGETHER;
}

int pr_run_group_add(struct pr_runner *r, struct pr_run_group *p,
                     const struct pr_plan_file_experiment *planned,
                     bool *ret_added, struct pr_err *err)
{
    struct pr_experiment_run **trips, *t;

    *ret_added = !p->count || run_group_has_place_for(r, p, planned);
    if (!*ret_added)
        return PR_OK;
    trips = pr_arena_grow(r->arena, p->trips, p->count, &p->cap, sizeof *trips);
    t = PR_ARENA_NEW(r->arena, struct pr_experiment_run);
    if (!trips || !t)
        return pr_fail_nomem(err);
    t->planned = *planned;
    t->params = (struct pr_buf)PR_BUF_INIT(64 << 20);
    t->notes = (struct pr_buf)PR_BUF_INIT(1 << 20);
    p->trips = trips;
    trips[p->count++] = t;
    return PR_OK;
}

void pr_run_group_close(struct pr_run_group *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->trips[i]->going) /* the run could not go on */
            pr_attempt_abandon(p->trips[i]->going);
        pr_experiment_run_close(p->trips[i]);
    }
}

/* ---- waiting */

/* Until when there is nothing to do. */
static uint64_t next_due(const struct pr_runner *r,
                         const struct pr_run_group *p)
{
    uint64_t next = pr_now(r->opts->clock) + TICK_NS;

    for (size_t i = 0; i < p->count; i++) {
        const struct pr_attempt_running *w = p->trips[i]->going;
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
        if (p->trips[i]->going)
            rc = pr_attempt_check_limits(p->trips[i]->going, err);
    return rc;
}

int pr_run_group_wait(struct pr_runner *r, const struct pr_run_group *p,
                      bool until_stop, uint64_t due, struct pr_child_event *ret,
                      struct pr_err *err)
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

/* ---- from start to end */

static bool any_going(const struct pr_run_group *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->trips[i]->going)
            return true;
    return false;
}

static int run_group_on_event(struct pr_runner *r, struct pr_run_group *p,
                              const struct pr_child_event *e,
                              struct pr_err *err)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->trips[i]->going && p->trips[i]->tag == e->tag)
            return pr_experiment_run_on_event(r, p->trips[i], e, err);
    return PR_OK; /* of something that was given up */
}

/* Those that earlier runs finished go; the others get ready. */
static int run_group_prepare_all(struct pr_runner *r, struct pr_run_group *p,
                                 bool *ret_any, struct pr_err *err)
{
    int rc = PR_OK;

    *ret_any = false;
    for (size_t i = 0; i < p->count && rc >= 0; i++) {
        struct pr_experiment_run *t = p->trips[i];

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
        if (p->trips[i]->going)
            rc = pr_attempt_give_up(p->trips[i]->going, err);
    return rc;
}

int pr_run_group_run(struct pr_runner *r, struct pr_run_group *p,
                     struct pr_err *err)
{
    uint64_t failed = r->failed;
    bool any, stopped = false;
    int rc = run_group_prepare_all(r, p, &any, err);

    if (!rc)
        rc = run_group_give_up(r, p, failed, err);
    if (!rc && any && !r->give_up)
        rc = pr_run_group_prepare(r, p, &stopped, err);
    for (size_t i = 0; i < p->count && !rc && !stopped && !r->give_up; i++) {
        if (!p->trips[i]->over)
            rc = pr_experiment_run_start(r, p->trips[i], err);
        rc = rc ? rc : run_group_give_up(r, p, failed, err);
    }
    while (!rc && any_going(p)) {
        struct pr_child_event e;

        rc = pr_run_group_wait(r, p, false, 0, &e, err);
        if (!rc)
            rc = run_group_on_event(r, p, &e, err);
        if (!rc)
            rc = run_group_give_up(r, p, failed, err);
    }
    return rc;
}
