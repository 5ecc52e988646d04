/*
 * Emulated training, probed: batches for all accelerators alone, computing
 * alone, and both. A step is one of all accelerators together: it begins when
 * each has its batch and ends when the slowest has computed.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "emulate/emulate_session.h"
#include "job/probe_job.h"

enum { WAIT_NS = 100000000, AWAKE_NS = 150000 };

struct loop {
    struct pr_emulate_session *s;
    struct pr_order order;
    unsigned epoch;
    bool is_open; /* an epoch is being read */
    uint64_t step;
    bool *has; /* which accelerators have their batch */
    struct pr_rng rng;
};

/* ---- data */

static int end_epoch(struct loop *l, struct pr_err *err)
{
    if (!l->is_open)
        return PR_OK;
    l->is_open = false;
    return pr_feed_end(l->s->feed, err);
}

static int next_epoch(void *ctx, struct pr_err *err)
{
    struct loop *l = ctx;
    struct pr_order_opts opts;
    int rc = end_epoch(l, err);

    l->step = 0;
    pr_emulate_fill_order_opts(&l->s->e, false, ++l->epoch, &opts);
    if (!rc)
        rc = pr_order_init(&l->order, &opts, err);
    if (!rc) {
        l->is_open = true;
        rc = pr_feed_begin(l->s->feed, PR_TRAIN, &l->order, l->order.batches,
                           err);
    }
    return rc;
}

/* All that are missing; *ret_left: how many still are. */
static int take_some(struct loop *l, uint64_t *ret_left, struct pr_err *err)
{
    uint64_t ready;

    *ret_left = 0;
    for (uint64_t a = 0; a < l->s->e.accelerators; a++) {
        int rc = l->has[a] ? 1 : pr_feed_take(l->s->feed, a, &ready, err);

        if (rc < 0)
            return rc;
        l->has[a] = rc == 1;
        *ret_left += rc == 0;
    }
    return PR_OK;
}

static int probe_take_batches(struct loop *l, struct pr_err *err)
{
    uint64_t left = 1;
    int rc = PR_OK;

    for (uint64_t a = 0; a < l->s->e.accelerators; a++)
        l->has[a] = l->step >= pr_order_batches(&l->order, a);
    while (!rc && left) {
        rc = take_some(l, &left, err);
        if (!rc)
            rc = pr_feed_wait(l->s->feed,
                              left ? pr_now(l->s->e.job->clock) + WAIT_NS : 0,
                              err);
        while (pr_feed_news(l->s->feed) != UINT64_MAX)
            continue; /* all are asked again */
        if (!rc && __atomic_load_n(l->s->stop, __ATOMIC_RELAXED))
            rc = pr_fail(err, PR_E_INTR, "", "interrupted");
    }
    return rc;
}

static int emulate_probe_fetch(void *ctx, void **ret_batch,
                               uint64_t *ret_samples, struct pr_err *err)
{
    struct loop *l = ctx;
    uint64_t samples = 0;

    if (!l->is_open || l->step >= l->order.batches)
        return 0; /* and start again */
    for (uint64_t a = 0; a < l->s->e.accelerators; a++)
        if (l->step < pr_order_batches(&l->order, a))
            samples += pr_order_batch_samples(&l->order, a, l->step);
    PR_TRY(probe_take_batches(l, err));
    l->step++;
    *ret_batch = l;
    *ret_samples = samples;
    return 1;
}

/* ---- computing */

/* As long as the slowest accelerator; the last bit of it awake, for timers are
 * late. */
static int emulate_probe_use(void *ctx, void *batch, struct pr_err *err)
{
    struct loop *l = ctx;
    struct pr_clock *clock = l->s->e.job->clock;
    uint64_t from = pr_now(clock), longest = 0, until;

    (void)batch;
    (void)err;
    for (uint64_t a = 0; a < l->s->e.accelerators; a++) {
        uint64_t time = pr_duration_draw(&l->s->e.compute, &l->rng);

        longest = time > longest ? time : longest;
    }
    until = from + longest;
    if (clock || longest > AWAKE_NS)
        pr_sleep_until(clock, clock ? until : until - AWAKE_NS, l->s->stop);
    while (pr_now(clock) < until &&
           !__atomic_load_n(l->s->stop, __ATOMIC_RELAXED))
        continue;
    return PR_OK;
}

static void emulate_probe_add_warnings(struct pr_emulate_session *s)
{
    if (s->e.accelerators > 1 && !s->e.train.barrier)
        pr_buf_str(&s->notes, "probe: accelerators wait for each other after "
                              "every step, although train.barrier is false\n");
    if (s->e.workflow.checkpoint)
        pr_buf_str(&s->notes, "probe: no checkpoints are written\n");
}

static int emulate_probe_run(struct loop *l, struct pr_err *err)
{
    struct pr_emulate_session *s = l->s;
    struct pr_probe_job j = {
        .job = s->e.job,
        .calls = PR_PROBE_CALLS_INIT,
        .batch = (uint64_t)s->e.reader.batch_size * s->e.accelerators,
        .ranks = 1,
        .progress = &s->progress,
        .stop = s->stop,
        .notes = &s->notes,
    };
    struct pr_err ended = {0};
    double cached;
    int rc = pr_data_session_before_phase(&s->data, PR_TRAIN, &cached, err);

    pr_rng_seed(&l->rng, (uint64_t)s->e.train.seed, 0);
    j.calls.fetch = emulate_probe_fetch;
    j.calls.use = emulate_probe_use;
    j.calls.restart = next_epoch;
    j.calls.ctx = l;
    emulate_probe_add_warnings(s);
    if (!rc)
        rc = pr_probe_job_run(&j, err);
    if (end_epoch(l, &ended) && !rc) {
        rc = ended.code;
        if (err)
            *err = ended;
    }
    return rc;
}

int pr_emulate_session_run_probe(struct pr_emulate_session *s,
                                 struct pr_err *err)
{
    struct loop *l = pr_alloc_zeroed(sizeof *l);
    int rc;

    if (!l)
        return pr_fail_nomem(err);
    l->s = s;
    l->has = pr_alloc_zeroed(s->e.accelerators);
    rc = l->has ? emulate_probe_run(l, err) : pr_fail_nomem(err);
    if (pr_feed_is_hung(s->feed))
        return rc; /* a thread may come back to the order in it */
    pr_free(l->has);
    pr_free(l);
    return rc;
}
