/* Ending an experiment in time, or when we are asked to stop. */
#include "base/clock.h"
#include "run/attempt_impl.h"

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
