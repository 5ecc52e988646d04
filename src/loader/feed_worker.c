/*
 * A thread of the loader: claims a piece of some accelerator's samples, reads
 * and decodes them, and says so in the batches they belong to. Nothing on the
 * way of a sample locks or allocates, once buffers have their size.
 */
#include "loader/feed_impl.h"

#include <string.h>

enum {
    NAP_NS = 50000000, /* how late a thread may learn that it should end */
    MAX_LANES = 64,
};

/* Samples of a piece, on their way into batches. */
struct piece {
    struct pr_feed_queue *queue;
    uint64_t accelerator, from, to;
    uint64_t batch, count;    /* samples of that batch not yet delivered */
    bool at_once;             /* all of it is delivered at the end */
    uint64_t lane[MAX_LANES]; /* when each of the preparing threads is free */
    unsigned lanes;
    double stretch;
};

static bool should_end(const struct pr_feed *f)
{
    return atomic_load_explicit(&f->quit, memory_order_relaxed) ||
           atomic_load_explicit(&f->failed, memory_order_relaxed) ||
           __atomic_load_n(f->o.stop, __ATOMIC_RELAXED);
}

static int feed_worker_hold_sample(struct pr_feed_worker *w,
                                   const struct piece *p, uint64_t place,
                                   const struct pr_sample *s,
                                   struct pr_err *err)
{
    struct pr_feed *f = w->feed;
    uint64_t batch;
    size_t i;

    if (!f->held)
        return PR_OK;
    batch = pr_order_batch_of(f->order, place);
    i = (p->accelerator * f->ring + batch % f->ring) * f->batch + place -
        pr_order_batch_start(f->order, batch);
    if (pr_feed_bytes_put(&f->held[i], s->data, s->size, f->delivered_bytes))
        return PR_OK;
    return pr_fail_nomem(err);
}

/* ---- preparing it, which takes time and nothing else */

static void sleep_until(const struct pr_feed *f, uint64_t until)
{
    uint64_t now;

    while ((now = pr_now(f->o.clock)) < until && !should_end(f)) {
        uint64_t to = until - now > NAP_NS ? now + NAP_NS : until;

        pr_sleep_on(f->o.clock, NULL, 0, to);
    }
}

/* Which preparing threads a piece has for itself. */
static void plan_lanes(const struct pr_feed *f, struct piece *p)
{
    double each = (double)f->o.reader->computation_threads / (double)f->active;

    p->lanes = each < 1 ? 1 : each < MAX_LANES ? (unsigned)each : MAX_LANES;
    p->stretch = p->lanes / each;
    memset(p->lane, 0, sizeof p->lane);
}

/* The reading thread prepares the sample itself, or hands it to the one that
 * is free first. Returns when it will be done. */
static uint64_t feed_worker_prepare(struct pr_feed_worker *w, struct piece *p)
{
    const struct pr_feed *f = w->feed;
    uint64_t took = pr_duration_draw(&f->preprocess, &w->rng);
    uint64_t now = pr_now(f->o.clock);
    unsigned first = 0;

    if (!f->is_stream) {
        sleep_until(f, now + took);
        return now + took;
    }
    for (unsigned i = 1; i < p->lanes; i++)
        if (p->lane[i] < p->lane[first])
            first = i;
    if (p->lane[first] < now)
        p->lane[first] = now;
    p->lane[first] += (uint64_t)((double)took * p->stretch);
    return p->lane[first];
}

/* ---- delivering it */

void pr_feed_wake_driver(struct pr_feed *f)
{
    atomic_fetch_add(&f->news, 1);
    if (atomic_load(&f->waiting))
        pr_wake(f->o.clock, &f->news, 1);
}

static void push_news(struct pr_feed *f, struct pr_feed_queue *q)
{
    struct pr_feed_queue *head = atomic_load(&f->news_first);

    if (atomic_exchange(&q->is_news, true))
        return; /* the driver has not seen the last one yet */
    do
        q->newer = head;
    while (!atomic_compare_exchange_weak(&f->news_first, &head, q));
    pr_feed_wake_driver(f);
}

/* count samples of a batch have come. */
static void feed_deliver(struct pr_feed *f, const struct piece *p,
                         uint64_t when)
{
    struct pr_feed_batch *s =
        &f->slots[p->accelerator * f->ring + p->batch % f->ring];
    uint64_t last = atomic_load_explicit(&s->ready, memory_order_relaxed);

    if (!p->count)
        return;
    while (last < when && !atomic_compare_exchange_weak_explicit(
                              &s->ready, &last, when, memory_order_relaxed,
                              memory_order_relaxed))
        ;
    if (atomic_fetch_sub(&s->missing, p->count) == p->count &&
        atomic_exchange(&p->queue->wanting, false))
        push_news(f, p->queue);
}

/* A sample is at its place; a batch is told when another one's turn comes. */
static void place_sample(struct pr_feed *f, struct piece *p, uint64_t place)
{
    uint64_t batch;

    if (p->at_once)
        return;
    batch = pr_order_batch_of(f->order, place);
    if (p->count && batch != p->batch) {
        feed_deliver(f, p, pr_now(f->o.clock));
        p->count = 0;
    }
    p->batch = batch;
    p->count++;
}

/* ---- pieces */

static int count_error(struct pr_feed_worker *w, const struct pr_err *why)
{
    if (why->code == PR_E_NOMEM || why->code == PR_E_INTR ||
        strcmp(w->feed->o.reader->on_error, "skip") != 0)
        return why->code;
    if (!w->stats.failed++)
        w->stats.first_error = *why;
    return PR_OK;
}

/* Which sample came where, in a number that can be summed up in any order. */
static uint64_t order_hash(uint64_t accelerator, uint64_t place,
                           uint64_t sample)
{
    return pr_mix64(pr_mix64(accelerator << 40 ^ place) ^ sample);
}

/* Hands it to whoever makes use of it. */
static int feed_worker_hand_over(struct pr_feed_worker *w,
                                 const struct pr_feed_taken *t,
                                 struct pr_err *err)
{
    const struct pr_feed_opts *o = &w->feed->o;

    return o->took ? o->took(o->took_ctx, t, err) : PR_OK;
}

static int skip_sample(struct pr_feed_worker *w, const struct pr_feed_taken *t,
                       struct pr_err *err)
{
    struct pr_err why = *err;
    struct pr_feed_taken none = *t;
    int rc = count_error(w, err);

    none.data = NULL;
    none.why = &why;
    return rc ? rc : feed_worker_hand_over(w, &none, err);
}

static int do_sample(struct pr_feed_worker *w, struct piece *p, uint64_t q,
                     struct pr_err *err)
{
    struct pr_feed *f = w->feed;
    uint64_t sample = pr_order_read(f->order, p->accelerator, q);
    uint64_t place = pr_order_place(f->order, p->accelerator, q);
    uint64_t start = 0, end = 0, done;
    struct pr_sample s = {0};
    struct pr_feed_taken t = {.thread = w->number,
                              .accelerator = p->accelerator,
                              .place = place,
                              .sample = sample};
    int rc;

    rc = pr_feed_read(w, &t, &s, &start, &end, err);
    if (!rc)
        rc = feed_worker_hold_sample(w, p, place, &s, err);
    t.data = &s;
    if (!rc)
        rc = feed_worker_hand_over(w, &t, err);
    if (rc) {
        rc = skip_sample(w, &t, err);
        if (!rc)
            place_sample(f, p, place);
        return rc;
    }
    done = f->prepares ? feed_worker_prepare(w, p) : end;
    if (f->o.saw)
        f->o.saw(f->o.saw_ctx, w->number, p->accelerator, sample, start, end,
                 done);
    w->stats.order += order_hash(p->accelerator, place, sample);
    w->stats.samples++;
    w->stats.bytes += s.size;
    place_sample(f, p, place);
    return PR_OK;
}

/* Samples that others prepare are there when all of a piece are. */
static void deliver_all(struct pr_feed *f, struct piece *p)
{
    uint64_t done = 0;

    for (unsigned i = 0; i < p->lanes; i++)
        done = p->lane[i] > done ? p->lane[i] : done;
    sleep_until(f, done);
    p->at_once = false;
    for (uint64_t q = p->from; q < p->to; q++)
        place_sample(f, p, pr_order_place(f->order, p->accelerator, q));
}

static void do_piece(struct pr_feed_worker *w, struct piece *p)
{
    struct pr_feed *f = w->feed;
    struct pr_err err = {0};

    plan_lanes(f, p);
    p->at_once = f->is_stream && f->prepares;
    for (uint64_t q = p->from; q < p->to; q++) {
        if (should_end(f))
            return;
        if (do_sample(w, p, q, &err)) {
            pr_feed_fail(f, &err);
            return;
        }
    }
    if (p->at_once)
        deliver_all(f, p);
    feed_deliver(f, p, pr_now(f->o.clock));
}

/* ---- finding work */

static bool feed_claim_piece(const struct pr_feed *f, struct pr_feed_queue *q,
                             uint64_t *ret_piece)
{
    const uint64_t mask = (1u << PR_ACTIVE_BITS) - 1;
    uint64_t c = atomic_load_explicit(&q->claim, memory_order_relaxed);

    do {
        if ((c & mask) >= f->active ||
            c >> PR_ACTIVE_BITS >= atomic_load(&q->limit))
            return false;
    } while (!atomic_compare_exchange_weak(&q->claim, &c, c + mask + 2));
    *ret_piece = c >> PR_ACTIVE_BITS;
    return true;
}

/* Threads have accelerators of their own while there are enough of these, and
 * help each other out. */
static bool find_piece(struct pr_feed_worker *w, struct piece *ret)
{
    struct pr_feed *f = w->feed;
    uint64_t n = f->o.accelerators, at = w->at, piece;

    for (uint64_t i = 0; i < n; i++, at = at + 1 < n ? at + 1 : 0) {
        struct pr_feed_queue *q = &f->queues[at];

        if (!feed_claim_piece(f, q, &piece))
            continue;
        *ret = (struct piece){.queue = q,
                              .accelerator = at,
                              .from = piece * f->chunk,
                              .to = (piece + 1) * f->chunk};
        if (ret->to > q->samples)
            ret->to = q->samples;
        w->at = n > f->count ? (at + f->count) % n : at;
        return true;
    }
    return false;
}

static void work_on(struct pr_feed_worker *w, struct piece *p)
{
    do_piece(w, p);
    atomic_fetch_sub(&p->queue->claim, 1);
}

void *pr_feed_work(void *worker)
{
    struct pr_feed_worker *w = worker;
    struct pr_feed *f = w->feed;
    struct piece p;

    while (!atomic_load(&f->quit)) {
        uint32_t seen = atomic_load(&f->work);

        atomic_fetch_add(&f->busy, 1);
        while (!should_end(f) && find_piece(w, &p))
            work_on(w, &p);
        if (atomic_fetch_sub(&f->busy, 1) == 1 && atomic_load(&f->ending))
            pr_feed_wake_driver(f);
        atomic_fetch_add(&f->sleepers, 1);
        if (!atomic_load(&f->quit))
            pr_sleep_on(f->o.clock, &f->work, seen, 0);
        atomic_fetch_sub(&f->sleepers, 1);
    }
    pr_attend(f->o.clock, -1);
    return NULL;
}
