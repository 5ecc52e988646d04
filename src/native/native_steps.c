/*
 * The steps of a training, the rates that its replicas measured meanwhile, and
 * the evaluation after it.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "job/result_lines.h"
#include "job/series.h"
#include "native/native_results.h"
#include "native/native_run.h"
#include "native/native_tensors.h"

#include <stdio.h>
#include <string.h>

/* ---- when the replicas measured, and which rates */

/* What the first replica knows of all. */
struct pr_native_timings {
    unsigned count;
    struct pr_rate_log_timing *each;
    double *rates; /* of all, one after another */
};

void pr_native_timings_free(struct pr_native_timings *t)
{
    if (!t)
        return;
    pr_free(t->each);
    pr_free(t->rates);
    pr_free(t);
}

static struct pr_native_timings *new_timings(unsigned count)
{
    struct pr_native_timings *t = pr_alloc_zeroed(sizeof *t);

    if (!t)
        return NULL;
    t->count = count;
    t->each = pr_alloc_zeroed(count * sizeof *t->each);
    if (!t->each) {
        pr_native_timings_free(t);
        return NULL;
    }
    return t;
}

/* Times and the number of rates of rank i, known by all. */
static int share_head(struct pr_native_session *r,
                      const struct pr_rate_log_timing *own, unsigned i,
                      struct pr_rate_log_timing *ret, struct pr_err *err)
{
    double head[] = {(double)own->start_wall_ns, (double)own->end_wall_ns,
                     own->wall_s, own->time_s, (double)own->count};
    int rc;

    if (r->n.rank != i)
        memset(head, 0, sizeof head);
    rc = pr_replicas_sum(r->replicas, head, 5, err);
    *ret = (struct pr_rate_log_timing){.start_wall_ns = (uint64_t)head[0],
                                       .end_wall_ns = (uint64_t)head[1],
                                       .wall_s = head[2],
                                       .time_s = head[3],
                                       .slice_s = own->slice_s,
                                       .count = (size_t)head[4]};
    return rc;
}

/* The rates of rank i, into to; NULL: this rank does not keep them. */
static int share_rates(struct pr_native_session *r,
                       const struct pr_rate_log_timing *own, unsigned i,
                       size_t count, double *to, struct pr_err *err)
{
    double part[PR_REPLICAS_VALUES];
    int rc = PR_OK;

    for (size_t at = 0; at < count && !rc;) {
        size_t n =
            count - at < PR_REPLICAS_VALUES ? count - at : PR_REPLICAS_VALUES;

        if (r->n.rank == i)
            memcpy(part, own->rates + at, n * sizeof *part);
        else
            memset(part, 0, n * sizeof *part);
        rc = pr_replicas_sum(r->replicas, part, n, err);
        if (to)
            memcpy(to + at, part, n * sizeof *part);
        at += n;
    }
    return rc;
}

static int share_timings(struct pr_native_session *r,
                         struct pr_native_timings *t, struct pr_err *err)
{
    struct pr_rate_log_timing own = pr_rate_log_get_timing(&r->own_rates);
    size_t all = 0, at = 0;
    int rc = PR_OK;

    for (unsigned i = 0; i < t->count && !rc; i++) {
        rc = share_head(r, &own, i, &t->each[i], err);
        all += t->each[i].count;
    }
    if (rc)
        return rc;
    t->rates = pr_alloc((all ? all : 1) * sizeof *t->rates);
    if (!t->rates)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < t->count && !rc; i++) {
        rc = share_rates(r, &own, i, t->each[i].count, t->rates + at, err);
        t->each[i].rates = t->rates + at;
        at += t->each[i].count;
    }
    return rc;
}

int pr_native_timings_gather(struct pr_native_session *r, struct pr_err *err)
{
    pr_rate_log_end(&r->rates);
    if (r->n.ranks == 1)
        return PR_OK;
    pr_rate_log_end(&r->own_rates);
    r->timings = new_timings((unsigned)r->n.ranks);
    return r->timings ? share_timings(r, r->timings, err) : pr_fail_nomem(err);
}

/* The last losses, as milarun's tests log them. */
static void put_timing_with_losses(const struct pr_native_session *r,
                                   struct pr_rate_log_timing t,
                                   struct pr_result_lines *k, const char *name)
{
    static const char *const names[] = {"loss", "reward"};
    double values[] = {r->losses.last, r->cart.reward};

    t.metrics = names;
    t.values = values;
    t.metric_count =
        !r->losses.count ? 0 : 1 + (r->n.from == PR_NATIVE_CARTPOLE);
    pr_rate_log_put_timing(&t, k, name);
}

int pr_native_timings_put(const struct pr_native_session *r,
                          struct pr_result_lines *k, struct pr_err *err)
{
    const struct pr_native_timings *t = r->timings;

    if (!t)
        put_timing_with_losses(r, pr_rate_log_get_timing(&r->rates), k,
                               "train");
    for (unsigned i = 0; t && i < t->count; i++) {
        char name[32];

        snprintf(name, sizeof name, "train_%u", i);
        put_timing_with_losses(r, t->each[i], k, name);
    }
    return pr_rate_log_put_steady(&r->rates, k, err);
}

/* ---- steps */

/* Between lines of the log; in a long run they become rare. */
enum { LINE_NS = 2000000000, LINES_SHARE = 16 };

static bool native_is_stopped(const struct pr_native_session *r)
{
    return __atomic_load_n(r->stop, __ATOMIC_RELAXED);
}

/* Losses and items of all replicas, and whether the first one says that it was
 * enough: all stop after the same step. */
static int native_join_replicas(struct pr_native_session *r,
                                struct pr_net_score *score, uint64_t *items,
                                struct pr_err *err)
{
    enum { FIRST = 3 };
    double all[FIRST + PR_LOSSES] = {score->loss, (double)*items,
                                     r->n.rank == 0 && r->may_stop};
    unsigned count = r->n.model->loss_count;
    int rc;

    if (r->n.ranks == 1)
        return PR_OK;
    memcpy(all + FIRST, score->losses, count * sizeof *all);
    rc = pr_replicas_sum(r->replicas, all, FIRST + count, err);
    score->loss = all[0] / (double)r->n.ranks;
    *items = (uint64_t)all[1];
    r->stops = all[2] > 0;
    for (unsigned i = 0; i < count; i++)
        score->losses[i] = all[FIRST + i] / (double)r->n.ranks;
    return rc;
}

/* *ret_items: how much was done, by all; *ret_own: by this replica. */
static int native_compute_step(struct pr_native_session *r, uint64_t *ret_items,
                               uint64_t *ret_own, struct pr_err *err)
{
    const struct pr_native *n = &r->n;
    struct pr_net_score score = {.loss = 0};
    int rc;

    *ret_items = n->batch * n->model->items;
    if (n->from == PR_NATIVE_CARTPOLE)
        rc = pr_cartpole_run_episode(&r->cart, n, r->net, ret_items, &score,
                                     err);
    else if (n->net.training)
        rc = pr_net_train(r->net, &score, err);
    else
        rc = pr_net_infer(r->net, NULL, err);
    *ret_own = *ret_items;
    if (!rc)
        rc = native_join_replicas(r, &score, ret_items, err);
    if (rc || !n->net.training)
        return rc;
    pr_series_add(&r->losses, score.loss);
    memcpy(r->each_loss, score.losses, sizeof r->each_loss);
    return PR_OK;
}

static void note_rate(struct pr_native_session *r, uint64_t start, uint64_t end,
                      uint64_t items, uint64_t own)
{
    r->may_stop = pr_rate_log_add(&r->rates, start, end, items);
    if (r->n.ranks > 1)
        (void)pr_rate_log_add(&r->own_rates, start, end, own);
    else
        r->stops = r->may_stop;
}

static int native_run_step(struct pr_native_session *r, struct pr_err *err)
{
    bool counts = r->steps >= r->n.warmup;
    uint64_t start = pr_clock_ns(), wait = 0, items = 0, own = 0;
    int rc = pr_native_source_next(&r->source, r->net, &wait, err);
    uint64_t cpu = pr_machine_cpu_ns(), got = pr_clock_ns(), end;

    if (!rc)
        rc = native_compute_step(r, &items, &own, err);
    if (rc)
        return rc;
    r->steps++;
    if (!counts)
        return PR_OK;
    end = pr_clock_ns();
    pr_series_add(&r->times, (double)(end - start) / 1e6);
    note_rate(r, start, end, items, own);
    r->items += items;
    r->wait_ns += wait;
    r->compute_ns += end - got;
    r->cpu_ns += pr_machine_cpu_ns() - cpu;
    return PR_OK;
}

static double share_done(const struct pr_native_session *r)
{
    double by_time = pr_rate_log_time_share(&r->rates);
    double by_steps = (double)r->steps / (double)(r->n.warmup + r->n.batches);

    return r->n.open_ended || by_time > by_steps ? by_time : by_steps;
}

static void native_write_progress(struct pr_native_session *r)
{
    const struct pr_native *n = &r->n;
    double done = share_done(r);
    char speed[64], of[32], loss[32] = "";

    if (!pr_progress_is_due(&r->progress))
        return;
    if (n->net.training)
        snprintf(loss, sizeof loss, ", loss %.4g", r->losses.last);
    if (r->steps <= n->warmup)
        pr_progress_write(&r->progress, done, "warming up: batch %llu of %llu",
                          (unsigned long long)r->steps,
                          (unsigned long long)n->warmup);
    else
        pr_progress_write(&r->progress, done, "batch %llu%s, %s%s",
                          (unsigned long long)(r->steps - n->warmup),
                          pr_native_batches_text(n, of),
                          pr_native_speed_text(r, speed), loss);
}

static int native_print_step_line(struct pr_native_session *r,
                                  struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(4096);
    uint64_t now = pr_clock_ns();

    if (now < r->next_line_ns)
        return PR_OK;
    r->next_line_ns = now + LINE_NS + (now - r->first_ns) / LINES_SHARE;
    pr_native_print_step(r, &line);
    return pr_job_log_write(&line, err);
}

int pr_native_run_steps(struct pr_native_session *r, struct pr_err *err)
{
    uint64_t total = r->n.warmup + r->n.batches;
    int rc = PR_OK;

    r->start_s = pr_machine_age_s();
    if (r->start_s >= 0)
        r->start_s -= r->apart_s;
    pr_progress_start(&r->progress);
    r->first_ns = pr_clock_ns();
    r->next_line_ns = r->first_ns + LINE_NS;
    while (!rc && !r->stops && r->steps < total &&
           (!r->n.most_items || r->items < r->n.most_items)) {
        if (r->steps == r->n.warmup && r->n.net.profile)
            pr_net_forget_times(r->net);
        rc = native_run_step(r, err);
        if (!rc && native_is_stopped(r))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
        if (rc)
            break;
        native_write_progress(r);
        rc = native_print_step_line(r, err);
    }
    return rc;
}

/* ---- evaluation */

static int evaluate_with(struct pr_native_session *r, struct pr_net *net,
                         struct pr_err *err)
{
    const struct pr_native *n = &r->n;
    int rc = PR_OK;

    /* Whole batches: as many samples as asked for, or a few more. */
    while (!rc && r->evaluated < n->evaluate) {
        struct pr_net_score score = {.loss = 0};

        rc = pr_native_source_next_held_out(&r->source, r->evaluated, net, err);
        if (!rc)
            rc = pr_net_infer(net, &score, err);
        if (rc)
            break;
        r->right += score.right;
        r->scored += score.rows;
        r->held_out_loss += score.loss;
        r->evaluated += n->batch;
        if (native_is_stopped(r))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_progress_write(
            &r->progress, (double)r->evaluated / (double)n->evaluate,
            "evaluating: %llu of %llu", (unsigned long long)r->evaluated,
            (unsigned long long)n->evaluate);
    }
    return rc;
}

/* The weights of the net that ran. One for inference has those of its output
 * alone: the others come from where they came from. */
static int take_weights(struct pr_native_session *r, struct pr_net *net,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf known = PR_BUF_INIT(65536); /* notes */
    bool batch;

    if (!r->n.net.training && *r->n.nn.load)
        return pr_native_load_tensors(&r->n, net, &batch, &known, err);
    return pr_net_copy(net, r->net, err);
}

int pr_native_evaluate(struct pr_native_session *r, struct pr_err *err)
{
    struct pr_net_opts opts = r->n.net;
    struct pr_net *net = NULL;
    int rc;

    opts.training = opts.keep_gradients = opts.profile = false;
    opts.all_losses = true;
    rc = pr_net_new(r->n.model, &opts, &net, err);
    if (!rc)
        rc = take_weights(r, net, err);
    pr_progress_start(&r->progress);
    if (!rc)
        rc = evaluate_with(r, net, err);
    pr_net_free(net);
    return rc;
}
