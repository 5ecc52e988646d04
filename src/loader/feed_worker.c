/*
 * A thread of the loader: claims a piece of some accelerator's samples, reads
 * and decodes them, and says so in the batches they belong to. Nothing on the
 * way of a sample locks or allocates, once buffers have their size.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "loader/feed_impl.h"

#include <string.h>

/* ---- bytes of samples that are kept: batches that wait (reader.hold), and
 * whole data sets (reader.read_type=memory) */

/* False: out of memory. */
static bool feed_bytes_put(struct pr_feed_bytes *h, const void *data,
                           size_t len, size_t as_bytes)
{
    size_t want = as_bytes ? as_bytes : len;
    size_t copy = len < want ? len : want;

    if (want > h->cap) {
        uint8_t *more = pr_alloc(want);

        if (!more)
            return false;
        pr_free(h->data);
        h->data = more;
        h->cap = want;
    }
    if (copy)
        memcpy(h->data, data, copy);
    if (want > copy)
        memset(h->data + copy, 0, want - copy);
    h->len = want;
    return true;
}

void pr_feed_bytes_free(struct pr_feed_bytes *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        pr_free(list[i].data);
    pr_free(list);
}

/* Keeps a copy, unless another thread was faster. False: out of memory. */
static bool cached_sample_put(pr_cached_sample_slot *slot,
                              const struct pr_sample *s, bool has_head)
{
    size_t head = has_head ? PR_CACHED_SAMPLE_HEAD : 0;
    struct pr_cached_sample *k = pr_alloc(sizeof *k + head + s->size),
                            *none = NULL;

    if (!k)
        return false;
    k->len = s->size;
    if (has_head)
        memcpy(k->data, s, sizeof *s);
    if (s->size)
        memcpy(k->data + head, s->data, s->size);
    if (!atomic_compare_exchange_strong(slot, &none, k))
        pr_free(k);
    return true;
}

void pr_cached_sample_free(pr_cached_sample_slot *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        pr_free(atomic_load(&list[i]));
    pr_free(list);
}

/* ---- reading one sample: from its file, or from memory when it was read
 * before and kept */

enum {
    TIME_EVERY = 16,      /* samples that are fast are timed now and then */
    ALWAYS_ABOVE = 20000, /* ns: samples that are slow are all timed */
    PIECE = 1 << 20,      /* of a file whose bytes alone are wanted */
};

int pr_feed_worker_init(struct pr_feed *f, unsigned number, struct pr_err *err)
{
    struct pr_feed_worker *w = &f->workers[number];
    int rc;

    *w = (struct pr_feed_worker){
        .feed = f, .number = number, .at = number % f->o.accelerators};
    pr_rng_seed(&w->rng, f->o.seed, number);
    rc = pr_storage_open_beside(f->o.first, &w->st, err);
    if (rc)
        return rc;
    pr_storage_stop_by(w->st, f->o.stop);
    pr_storage_time_by(w->st, f->o.clock);
    return pr_reader_new(f->o.set->format, w->st, &f->read, &w->reader, err);
}

void pr_feed_worker_done(struct pr_feed_worker *w)
{
    pr_reader_free(w->reader);
    pr_storage_close(w->st);
    pr_free(w->buf);
}

static int feed_worker_grow(struct pr_feed_worker *w, size_t need,
                            struct pr_err *err)
{
    uint8_t *more = pr_alloc_aligned(PR_IO_ALIGN, need);

    if (!more)
        return pr_fail_nomem(err);
    pr_free(w->buf);
    w->buf = more;
    w->cap = need;
    return PR_OK;
}

static int feed_worker_open_file(struct pr_feed_worker *w, uint64_t file,
                                 struct pr_err *err)
{
    struct pr_feed *f = w->feed;

    if (w->reader->is_open)
        pr_reader_close(w->reader);
    w->file = file;
    pr_dataset_name(f->o.set, f->files_before + file, PR_NAME_DATA, w->name);
    return pr_reader_open(w->reader, w->name, err);
}

/* What is wanted of sample i; part NULL: all. */
static int read_wanted(struct pr_feed_worker *w, uint64_t i,
                       const struct pr_part *part, struct pr_sample *ret,
                       struct pr_err *err)
{
    struct pr_reader *r = w->reader;

    return part ? pr_reader_read_part(r, i, part, w->buf, w->cap, ret, err)
                : pr_reader_read(r, i, w->buf, w->cap, ret, err);
}

/* A file with fewer samples than the set should have is an error of its own:
 * which sample is missing says more than a number out of range. */
static int feed_worker_read_sample(struct pr_feed_worker *w, uint64_t i,
                                   const struct pr_part *part,
                                   struct pr_sample *ret, struct pr_err *err)
{
    struct pr_reader *r = w->reader;
    int rc = PR_OK;

    if (i >= r->samples) {
        pr_fail(err, PR_E_FORMAT, w->name, "has %llu samples, expected %llu",
                (unsigned long long)r->samples,
                (unsigned long long)w->feed->order->o.samples_per_file);
        return pr_hint(err, "dataset.num_samples_per_file says how many");
    }
    if (w->cap < r->need)
        rc = feed_worker_grow(w, r->need, err);
    if (!rc)
        rc = read_wanted(w, i, part, ret, err);
    if (rc == PR_E_CONF && w->cap < r->need) { /* it is larger than thought */
        rc = feed_worker_grow(w, r->need, err);
        if (!rc)
            rc = read_wanted(w, i, part, ret, err);
    }
    return rc;
}

static int from_storage(struct pr_feed_worker *w, const struct pr_feed_taken *t,
                        bool in_part, struct pr_sample *ret, struct pr_err *err)
{
    const struct pr_feed_opts *o = &w->feed->o;
    uint64_t each = w->feed->order->o.samples_per_file;
    uint64_t file = t->sample / each;
    struct pr_part part;
    int rc = PR_OK;

    if (!w->reader->is_open || w->file != file)
        rc = feed_worker_open_file(w, file, err);
    if (rc)
        return rc;
    in_part = in_part && o->part && w->reader->whole.ndim;
    if (in_part)
        o->part(o->took_ctx, t, &w->reader->whole, &part);
    return feed_worker_read_sample(w, t->sample % each, in_part ? &part : NULL,
                                   ret, err);
}

/* Whether files are at least as large as their samples: all alike, and not
 * compressed in any way. */
static bool is_dataset_plain(const struct pr_dataset *d)
{
    return d->spread <= 0 && d->spec.compression == PR_PLAIN &&
           !(d->format->flags & PR_FORMAT_LOSSY) &&
           strcmp(d->format->name, "png") != 0;
}

/* A whole file, without a look at what is in it: a piece after another into
 * the same memory, which stays in the processor's cache. */
static int from_bytes(struct pr_feed_worker *w, uint64_t file,
                      struct pr_sample *ret, struct pr_err *err)
{
    struct pr_feed *f = w->feed;
    const uint8_t *data = NULL;
    struct pr_object o;
    int rc = PR_OK;

    if (w->cap < PIECE + PR_IO_SLACK)
        rc = feed_worker_grow(w, PIECE + PR_IO_SLACK, err);
    pr_dataset_name(f->o.set, f->files_before + file, PR_NAME_DATA, w->name);
    if (!rc)
        rc = pr_object_open(w->st, w->name, &o, err);
    if (rc)
        return rc;
    if (o.size < pr_spec_sample_bytes(&f->o.set->spec) &&
        is_dataset_plain(f->o.set))
        rc = pr_fail(err, PR_E_FORMAT, w->name,
                     "has %llu bytes, too few for a sample of %llu",
                     (unsigned long long)o.size,
                     (unsigned long long)pr_spec_sample_bytes(&f->o.set->spec));
    for (uint64_t off = 0; !rc && off < o.size; off += PIECE)
        rc = pr_object_fetch(
            &o, off, o.size - off < PIECE ? (size_t)(o.size - off) : PIECE,
            w->buf, w->cap, &data, err);
    *ret = (struct pr_sample){.data = data, .size = (size_t)o.size};
    pr_object_close(&o);
    return rc;
}

/* Once in memory, always from there: the copy is the load that is left. */
static int from_memory(struct pr_feed_worker *w, pr_cached_sample_slot *slot,
                       const struct pr_feed_taken *t, struct pr_sample *ret,
                       struct pr_err *err)
{
    const struct pr_cached_sample *k = atomic_load(slot);
    int rc = PR_OK;

    if (k && w->feed->o.took) { /* which is a load of its own */
        memcpy(ret, k->data, sizeof *ret);
        ret->data = k->data + PR_CACHED_SAMPLE_HEAD;
        return PR_OK;
    }
    if (k) {
        if (w->cap < k->len)
            rc = feed_worker_grow(w, k->len, err);
        if (!rc)
            memcpy(w->buf, k->data, k->len);
        *ret = (struct pr_sample){.data = w->buf, .size = k->len};
        return rc;
    }
    return from_storage(w, t, false, ret, err);
}

/* Keeping it is not part of reading it, and not timed. */
static int keep_in_memory(struct pr_feed *f, uint64_t sample,
                          const struct pr_sample *s, struct pr_err *err)
{
    pr_cached_sample_slot *slot = &f->memory[f->split][sample];

    if (atomic_load(slot) || cached_sample_put(slot, s, f->o.took != NULL))
        return PR_OK;
    (void)pr_fail(err, PR_E_NOMEM, "", "the data set does not fit in memory");
    return pr_hint(err, "leave out reader.read_type=memory");
}

static int feed_worker_fetch(struct pr_feed_worker *w,
                             const struct pr_feed_taken *t,
                             struct pr_sample *ret, struct pr_err *err)
{
    struct pr_feed *f = w->feed;
    uint64_t sample = t->sample;

    atomic_store_explicit(&w->sample, sample, memory_order_relaxed);
    if (!f->reads)
        return PR_OK;
    if (f->bytes_alone)
        return from_bytes(w, sample, ret, err);
    if (f->memory[f->split])
        return from_memory(w, &f->memory[f->split][sample], t, ret, err);
    return from_storage(w, t, true, ret, err);
}

/* The same, timed: how long, and how much of it in the storage. */
static int fetch_timed(struct pr_feed_worker *w, const struct pr_feed_taken *t,
                       struct pr_sample *ret, uint64_t *ret_start,
                       uint64_t *ret_end, struct pr_err *err)
{
    uint64_t before = pr_storage_ns(w->st), start = pr_now(w->feed->o.clock),
             took;
    int rc;

    pr_storage_time(w->st, true);
    rc = feed_worker_fetch(w, t, ret, err);
    pr_storage_time(w->st, false);
    *ret_start = start;
    *ret_end = pr_now(w->feed->o.clock);
    took = *ret_end - start;
    w->timed_ns += took;
    w->timed_storage_ns += pr_storage_ns(w->st) - before;
    w->stats.timed++;
    w->stats.timed_ns += took;
    w->rest = took > ALWAYS_ABOVE ? 0 : TIME_EVERY - 1;
    return rc;
}

/* Sample t->sample, read and decoded. Times only now and then, else untouched.
 */
static int feed_read(struct pr_feed_worker *w, const struct pr_feed_taken *t,
                     struct pr_sample *ret, uint64_t *ret_start,
                     uint64_t *ret_end, struct pr_err *err)
{
    struct pr_feed *f = w->feed;
    int rc;

    if (f->o.saw || w->rest == 0) {
        rc = fetch_timed(w, t, ret, ret_start, ret_end, err);
    } else {
        w->rest--;
        rc = feed_worker_fetch(w, t, ret, err);
    }
    if (!rc && f->memory[f->split])
        rc = keep_in_memory(f, t->sample, ret, err);
    return rc;
}

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
    if (feed_bytes_put(&f->held[i], s->data, s->size, f->delivered_bytes))
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

    rc = feed_read(w, &t, &s, &start, &end, err);
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
