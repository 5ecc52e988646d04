/* Waiting for an experiment's end, with a time limit and an ear for signals. */
#include "base/clock.h"
#include "run/attempt_impl.h"

#include <poll.h>

enum { TICK_MS = 200, CLEAR_UP_S = 5 };

static int signal_tree(struct pr_waiting *w, int signo, struct pr_err *err)
{
    return pr_keeper_signal(w->ctx->keeper, PR_ATTEMPT_TAG, signo, err);
}

static uint64_t seconds_from(uint64_t now, double s)
{
    return now + (uint64_t)(s * 1e9);
}

/* SIGTERM now, SIGKILL after the grace time. */
static int ask_to_end(struct pr_waiting *w, uint64_t now, struct pr_err *err)
{
    w->term_at = 0;
    w->kill_at = seconds_from(now, w->job->exp.grace);
    return signal_tree(w, SIGTERM, err);
}

/* A container is ended by its program first: killed with it, it would leave
 * mounts and control groups behind. */
static int end_now(struct pr_waiting *w, struct pr_err *err)
{
    w->term_at = w->kill_at = 0;
    if (!w->box_killed && pr_contained_kill(w->box)) {
        w->box_killed = true;
        w->kill_at = seconds_from(pr_clock_ns(), CLEAR_UP_S);
        return PR_OK;
    }
    return signal_tree(w, SIGKILL, err);
}

/* What signals and the time ask for. */
static int check_limits(struct pr_waiting *w, struct pr_err *err)
{
    uint64_t now = pr_clock_ns();
    int stops;

    pr_stop_read(w->ctx->stop);
    stops = w->ctx->stop->count;
    if (stops > w->stops_seen) {
        bool first = w->stops_seen == 0;
        w->stops_seen = stops;
        w->interrupted = !w->timed_out;
        if (stops > 1 || !first)
            return end_now(w, err);
        if (w->ctx->stopping)
            w->ctx->stopping(w->ctx->watch_ctx);
        return ask_to_end(w, now, err);
    }
    if (w->term_at && now >= w->term_at) {
        w->timed_out = true;
        return ask_to_end(w, now, err);
    }
    return w->kill_at && now >= w->kill_at ? end_now(w, err) : PR_OK;
}

static int poll_ms(const struct pr_waiting *w)
{
    uint64_t now = pr_clock_ns(), next = w->term_at ? w->term_at : w->kill_at;
    uint64_t ms;

    if (!next)
        return TICK_MS;
    ms = next <= now ? 0 : (next - now) / 1000000 + 1;
    return ms < TICK_MS ? (int)ms : TICK_MS;
}

int pr_attempt_wait(struct pr_waiting *w, struct pr_child_event *ret,
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
        if (rc == 1) {
            pr_monitor_pid(w->ctx->monitor, ret->pid);
            continue;
        }
        if (poll(fds, 2, poll_ms(w)) == 0 && w->ctx->tick)
            w->ctx->tick(w->ctx->watch_ctx);
        rc = check_limits(w, err);
        if (rc)
            return rc;
    }
}
