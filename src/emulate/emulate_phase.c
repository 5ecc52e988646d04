/* One epoch of all accelerators. */
#include "emulate/emulate_phase.h"

#include "base/clock.h"
#include "base/mem.h"

/* Woken later than STALL_NS is more than a late timer. */
enum { TICK_NS = 100000000, STALL_NS = 10000000 };

struct accel {
    uint64_t step, steps; /* done, to do */
    uint64_t asked, came, ready, end;
    uint64_t paused; /* for checkpoints, until it had made its last step */
    struct pr_rng rng;
};

/* A deadline. */
struct due {
    uint64_t at, accelerator;
};

struct run {
    const struct pr_emulate_phase_opts *d;
    const struct pr_duration *time;
    bool barrier;
    struct accel *accel;
    struct due *heap;
    uint64_t due_count;
    uint64_t *ask; /* accelerators that are to ask */
    uint64_t ask_count;
    uint64_t *arrived; /* accelerators at the barrier */
    uint64_t arrived_count, arrived_last;
    uint64_t live; /* accelerators with steps left */
    uint64_t gate; /* steps after which all wait for a checkpoint */
    bool is_shut;  /* they do */
    uint64_t next_tick;
    uint64_t due; /* when the driver should look at the clock again */
    /* For the board: since the first accelerator's last step. */
    uint64_t board_wait, board_compute, board_samples, board_since;
};

/* ---- deadlines, the earliest first */

static void push_due(struct run *r, uint64_t at, uint64_t a)
{
    uint64_t i = r->due_count++;

    while (i && r->heap[(i - 1) / 2].at > at) {
        r->heap[i] = r->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    r->heap[i] = (struct due){at, a};
}

static struct due pop_due(struct run *r)
{
    struct due first = r->heap[0], last = r->heap[--r->due_count];
    uint64_t i = 0, child;

    while ((child = 2 * i + 1) < r->due_count) {
        if (child + 1 < r->due_count &&
            r->heap[child + 1].at < r->heap[child].at)
            child++;
        if (r->heap[child].at >= last.at)
            break;
        r->heap[i] = r->heap[child];
        i = child;
    }
    r->heap[i] = last;
    return first;
}

/* ---- what there is to tell of a step */

static void tell_trace(const struct run *r, const struct pr_emulate_step *s)
{
    const struct pr_emulate_phase_opts *d = r->d;
    uint64_t epoch = d->phase->epoch;

    pr_trace_span(d->lane, PR_SPAN_FETCH, s->accelerator, 0, s->asked_ns,
                  s->ready_ns, epoch, s->step + 1);
    pr_trace_span(d->lane, PR_SPAN_COMPUTE, s->accelerator, 0, s->ready_ns,
                  s->end_ns, epoch, s->step + 1);
}

/* One point for each step of the first accelerator, over all of them. */
static void tell_board(struct run *r, const struct pr_emulate_step *s)
{
    struct pr_tensorboard *b = r->d->board;
    int64_t step = (int64_t)(r->d->steps_before + s->step + 1);
    double seconds = (double)(s->end_ns - r->board_since) / 1e9;
    double all = seconds * (double)r->d->e->accelerators;
    uint64_t wall = pr_wall_now(r->d->e->job->clock);

    r->board_wait += s->ready_ns - s->asked_ns;
    r->board_compute += s->end_ns - s->ready_ns;
    r->board_samples += s->samples;
    if (s->accelerator || seconds <= 0)
        return;
    pr_tensorboard_add_scalar(b, "throughput/samples_per_second", step,
                              (double)r->board_samples / seconds, wall);
    pr_tensorboard_add_scalar(b, "accelerator/utilisation", step,
                              (double)r->board_compute / 1e9 / all, wall);
    pr_tensorboard_add_scalar(
        b, "accelerator/wait_seconds", step,
        (double)r->board_wait / 1e9 / (double)r->d->e->accelerators, wall);
    r->board_wait = r->board_compute = r->board_samples = 0;
    r->board_since = s->end_ns;
}

static void count_step(struct run *r, uint64_t a, uint64_t woke)
{
    const struct pr_emulate_phase_opts *d = r->d;
    const struct accel *x = &r->accel[a];
    uint64_t end = (uint64_t)d->e->window.exclude_end_steps;
    uint64_t in_block = x->step - d->phase->accel[a].blocks_steps;
    struct pr_emulate_step s = {
        .accelerator = a,
        .step = x->step,
        .asked_ns = x->asked,
        .came_ns = x->came,
        .ready_ns = x->ready,
        .end_ns = x->end,
        /* Nothing was to be waited for, so nothing was late. */
        .woke_ns = x->end > x->ready ? woke : x->end,
        .samples = pr_order_batch_samples(d->order, a, x->step),
    };

    pr_emulate_stats_add_step(
        d->phase, &s,
        in_block >= (uint64_t)d->e->window.exclude_start_steps &&
            in_block + end < x->steps);
    if (d->lane)
        tell_trace(r, &s);
    if (d->board && !d->phase->evaluation)
        tell_board(r, &s);
}

/* ---- states */

static int phase_ask_batch(struct run *r, uint64_t a, struct pr_err *err)
{
    struct accel *x = &r->accel[a];
    uint64_t ready;
    int rc = pr_feed_take(r->d->feed, a, &ready, err);

    if (rc != 1)
        return rc;
    x->came = ready;
    x->ready = ready > x->asked ? ready : x->asked;
    x->end = x->ready + pr_duration_draw(r->time, &x->rng);
    push_due(r, x->end, a);
    return PR_OK;
}

static int ask_all(struct run *r, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t i = 0; !rc && i < r->ask_count; i++)
        rc = phase_ask_batch(r, r->ask[i], err);
    r->ask_count = 0;
    return rc;
}

static void next_step(struct run *r, uint64_t a, uint64_t at)
{
    struct accel *x = &r->accel[a];

    r->d->phase->accel[a].barrier_ns += at - x->end;
    x->asked = at;
    r->ask[r->ask_count++] = a;
}

/* All that have steps left are there: they go on together, or wait for a
 * checkpoint. */
static void open_barrier(struct run *r)
{
    if (r->arrived_count < r->live)
        return;
    if (r->accel[r->arrived[0]].step == r->gate) {
        r->is_shut = true;
        return;
    }
    for (uint64_t i = 0; i < r->arrived_count; i++)
        next_step(r, r->arrived[i], r->arrived_last);
    r->arrived_count = r->arrived_last = 0;
}

/* The checkpoint, and on with it. Its time is nobody's: not of computing, not
 * of waiting. */
static int phase_save_checkpoint(struct run *r, struct pr_err *err)
{
    struct pr_emulate_phase *p = r->d->phase;
    uint64_t end = r->arrived_last, now;
    int rc;

    if (!pr_emulate_stats_pause(p, r->d->e->job->arena, end))
        return pr_fail_nomem(err);
    rc = r->d->save(r->d->save_ctx, p, r->gate, err);
    now = pr_now(r->d->e->job->clock);
    pr_emulate_stats_resume(p, now);
    for (uint64_t i = 0; i < r->arrived_count; i++) {
        struct accel *x = &r->accel[r->arrived[i]];

        p->accel[r->arrived[i]].barrier_ns += end - x->end;
        x->end = now;
        next_step(r, r->arrived[i], now);
    }
    r->arrived_count = r->arrived_last = 0;
    r->gate += r->d->save_every;
    r->board_since = r->due = now;
    r->is_shut = false;
    return rc;
}

static void end_step(struct run *r, uint64_t a, uint64_t now)
{
    struct accel *x = &r->accel[a];

    count_step(r, a, now);
    if (r->arrived_last < x->end)
        r->arrived_last = x->end;
    if (++x->step == x->steps) {
        x->paused = r->d->phase->pause_ns;
        r->live--;
    } else if (r->barrier || x->step == r->gate) {
        r->arrived[r->arrived_count++] = a;
    } else {
        next_step(r, a, x->end);
    }
    if (r->arrived_count && r->live)
        open_barrier(r);
}

/* Whoever stops this process, or takes its processors, stops reading, too:
 * that is not the storage's fault. */
static void count_stall(struct run *r, uint64_t now)
{
    struct pr_emulate_phase *p = r->d->phase;
    uint64_t late = now > r->due ? now - r->due : 0;

    if (late < STALL_NS)
        return;
    p->stall_ns += late;
    if (late > p->stall_max_ns)
        p->stall_max_ns = late;
}

static uint64_t end_due(struct run *r)
{
    uint64_t now = pr_now(r->d->e->job->clock);

    count_stall(r, now);
    while (r->due_count && r->heap[0].at <= now)
        end_step(r, pop_due(r).accelerator, now);
    return now;
}

static void phase_tick(struct run *r, uint64_t now)
{
    uint64_t steps = UINT64_MAX;

    if (!r->d->tick || now < r->next_tick)
        return;
    r->next_tick = now + TICK_NS;
    for (uint64_t a = 0; a < r->d->e->accelerators; a++)
        if (r->accel[a].steps && r->accel[a].step < steps)
            steps = r->accel[a].step;
    r->d->tick(r->d->tick_ctx, r->d->phase, steps, now);
}

static int wait_for_something(struct run *r, uint64_t now, struct pr_err *err)
{
    uint64_t until = r->due_count ? r->heap[0].at : now + TICK_NS, a;
    int rc;

    if (r->d->tick && until > r->next_tick && r->next_tick > now)
        until = r->next_tick;
    r->due = r->ask_count ? now : until;
    rc = pr_feed_wait(r->d->feed, r->ask_count ? 0 : until, err);
    while (!rc && (a = pr_feed_news(r->d->feed)) != UINT64_MAX)
        r->ask[r->ask_count++] = a;
    return rc;
}

/* ---- a phase */

static void phase_start(struct run *r)
{
    struct pr_emulate_phase *p = r->d->phase;
    const struct pr_emulate *e = r->d->e;
    uint64_t now = p->start_ns;

    r->board_since = now;
    r->due = pr_now(r->d->e->job->clock);
    for (uint64_t a = 0; a < e->accelerators; a++) {
        struct accel *x = &r->accel[a];
        uint64_t batches = pr_order_batches(r->d->order, a);

        *x = (struct accel){.asked = now, .end = now};
        x->steps = batches < p->steps_planned ? batches : p->steps_planned;
        pr_rng_seed(&x->rng, (uint64_t)e->train.seed + p->epoch,
                    2 * a + p->evaluation);
        if (!x->steps)
            continue;
        r->live++;
        r->ask[r->ask_count++] = a;
    }
}

static void phase_finish(struct run *r)
{
    struct pr_emulate_phase *p = r->d->phase;

    p->end_ns = p->start_ns;
    for (uint64_t a = 0; a < r->d->e->accelerators; a++)
        if (r->accel[a].end > p->end_ns)
            p->end_ns = r->accel[a].end;
    /* After the last step, too, all wait for the slowest. */
    for (uint64_t a = 0; r->barrier && a < r->d->e->accelerators; a++)
        p->accel[a].barrier_ns +=
            p->end_ns - r->accel[a].end - (p->pause_ns - r->accel[a].paused);
    p->end_wall_ns = p->start_wall_ns + (p->end_ns - p->start_ns);
}

static int phase_loop(struct run *r, struct pr_err *err)
{
    int rc = PR_OK;

    phase_start(r);
    while (!rc && r->live) {
        uint64_t now;

        rc = ask_all(r, err);
        now = end_due(r);
        phase_tick(r, now);
        if (!rc && r->is_shut)
            rc = phase_save_checkpoint(r, err);
        else if (!rc && r->live)
            rc = wait_for_something(r, now, err);
    }
    phase_finish(r);
    return rc;
}

int pr_emulate_phase_run(const struct pr_emulate_phase_opts *d,
                         struct pr_err *err)
{
    uint64_t n = d->e->accelerators;
    bool eval = d->phase->evaluation;
    struct run r = {
        .d = d,
        .time = eval ? &d->e->eval : &d->e->compute,
        .barrier = !eval && d->e->train.barrier,
        .gate = d->save_every ? d->save_every : UINT64_MAX,
        .accel = pr_alloc(n * sizeof *r.accel),
        .heap = pr_alloc(n * sizeof *r.heap),
        .ask = pr_alloc(n * sizeof *r.ask),
        .arrived = pr_alloc(n * sizeof *r.arrived),
    };
    struct pr_err ended = {0};
    int rc =
        r.accel && r.heap && r.ask && r.arrived ? PR_OK : pr_fail_nomem(err);

    /* Reading ahead is part of it: the clock starts first. */
    d->phase->start_wall_ns = pr_wall_now(d->e->job->clock);
    d->phase->start_ns = pr_now(d->e->job->clock);
    if (!rc)
        rc = pr_feed_begin(d->feed, eval ? PR_VALID : PR_TRAIN, d->order,
                           d->phase->steps_planned, err);
    if (!rc) {
        rc = phase_loop(&r, err);
        if (pr_feed_end(d->feed, &ended) && !rc) {
            rc = ended.code;
            if (err)
                *err = ended;
        }
        pr_feed_stats(d->feed, &d->phase->feed);
    }
    pr_free(r.arrived);
    pr_free(r.ask);
    pr_free(r.heap);
    pr_free(r.accel);
    return rc;
}
