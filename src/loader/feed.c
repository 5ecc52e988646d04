/*
 * The driver's side of the loader: making room for batches, waiting for the
 * threads that fill them, noticing what goes wrong, and handing batches out.
 */
#include "loader/feed.h"

#include "base/mem.h"
#include "loader/feed_impl.h"
#include "loader/order.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

/* ---- waiting for the threads */

enum { LOOK_NS = 100000000, PAUSE_NS = 1000000000, AWAKE_NS = 150000 };

/* Why the loader cannot go on; PR_OK: it can. */
static int feed_failure(struct pr_feed *f, struct pr_err *err)
{
    if (__atomic_load_n(f->o.stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    if (!atomic_load(&f->failed))
        return PR_OK;
    pthread_mutex_lock(&f->error_lock);
    if (err)
        *err = f->error;
    pthread_mutex_unlock(&f->error_lock);
    return f->error.code;
}

static void wake_workers(struct pr_feed *f)
{
    uint64_t n = f->opened;

    if (!n)
        return;
    f->opened = 0;
    atomic_fetch_add(&f->work, 1);
    if (atomic_load(&f->sleepers))
        pr_wake(f->o.clock, &f->work, n < f->count ? (uint32_t)n : f->count);
}

static int hung_at(struct pr_feed *f, const struct pr_feed_worker *w,
                   struct pr_err *err)
{
    char name[PR_NAME_BYTES];
    uint64_t sample = atomic_load(&w->sample);

    f->hung = true;
    atomic_store(&f->failed, true); /* the others end */
    pr_dataset_name(f->o.set,
                    f->files_before + sample / f->order->o.samples_per_file,
                    PR_NAME_DATA, name);
    pr_fail(err, PR_E_TIMEOUT, name,
            "a storage call has not come back for %g s",
            f->o.reader->io_timeout);
    return pr_hint(err, "is the storage there? reader.io_timeout says how long "
                        "to wait");
}

static int look_for_hung(struct pr_feed *f, struct pr_err *err)
{
    uint64_t now = pr_now(f->o.clock), pulse;
    bool paused = now - f->looked_ns > PAUSE_NS; /* nobody has looked */

    f->looked_ns = now;
    for (unsigned i = 0; f->o.reader->io_timeout > 0 && i < f->count; i++) {
        struct pr_feed_worker *w = &f->workers[i];
        bool inside = pr_storage_is_inside(w->st, &pulse);

        if (!inside || paused || pulse != w->seen_pulse) {
            w->seen_pulse = pulse;
            w->seen_ns = now;
        } else if ((double)(now - w->seen_ns) > f->o.reader->io_timeout * 1e9) {
            return hung_at(f, w, err);
        }
    }
    return PR_OK;
}

static bool feed_has_news(const struct pr_feed *f)
{
    return f->news_taken || atomic_load(&f->news_first);
}

/* The machine's timers wake a thread some time after they should. After a long
 * sleep, the last bit is waited for awake. */
static void sleep_for_news(struct pr_feed *f, uint32_t seen, uint64_t now,
                           uint64_t until_ns, uint64_t look)
{
    bool is_long = !f->o.clock && until_ns - now > 4 * AWAKE_NS;
    uint64_t to = is_long ? until_ns - AWAKE_NS : until_ns;

    atomic_store(&f->waiting, 1);
    pr_sleep_on(f->o.clock, &f->news, seen, to < look ? to : look);
    atomic_store(&f->waiting, 0);
    now = pr_now(f->o.clock);
    while (is_long && now >= to && now < until_ns && !feed_has_news(f))
        now = pr_now(f->o.clock);
}

int pr_feed_wait(struct pr_feed *f, uint64_t until_ns, struct pr_err *err)
{
    uint32_t seen = atomic_load(&f->news);
    uint64_t look = 0;
    int rc = feed_failure(f, err);

    wake_workers(f);
    while (!rc && until_ns && !feed_has_news(f)) {
        uint64_t now = pr_now(f->o.clock);

        if (now >= until_ns)
            break;
        if (now >= look) {
            rc = look_for_hung(f, err);
            look = now + LOOK_NS;
        }
        if (rc)
            break;
        sleep_for_news(f, seen, now, until_ns, look);
        seen = atomic_load(&f->news);
        rc = feed_failure(f, err);
    }
    return rc;
}

/* The rest of a window may still be under way; nobody needs it. */
int pr_feed_end(struct pr_feed *f, struct pr_err *err)
{
    int rc = PR_OK;

    for (uint64_t a = 0; a < f->o.accelerators; a++)
        atomic_store(&f->queues[a].limit, 0);
    atomic_store(&f->ending, true);
    while (!rc && atomic_load(&f->busy)) {
        uint32_t seen = atomic_load(&f->news);

        rc = look_for_hung(f, err);
        atomic_store(&f->waiting, 1);
        if (!rc && atomic_load(&f->busy))
            pr_sleep_on(f->o.clock, &f->news, seen,
                        pr_now(f->o.clock) + LOOK_NS);
        atomic_store(&f->waiting, 0);
    }
    atomic_store(&f->ending, false);
    /* They rest. A file that is open, or mapped, would stay in the cache. */
    for (unsigned i = 0; !rc && i < f->count; i++)
        if (f->workers[i].reader->is_open)
            pr_reader_close(f->workers[i].reader);
    while (pr_feed_news(f) != UINT64_MAX)
        ;
    return rc ? rc : feed_failure(f, err);
}

enum { MAX_PREPARING = 1024, STACK = 1 << 20 };
static const uint64_t MAX_SLOTS = (uint64_t)1 << 36;

/* ---- settings */

static bool is_one_of(const char *s, const char *const *words)
{
    while (*words && strcmp(s, *words) != 0)
        words++;
    return *words != NULL;
}

/* How many bytes a sample has when it is delivered; 0: as it was read. */
static uint64_t delivered_bytes(const struct pr_dataset *d,
                                const struct pr_reader_opts *r)
{
    const struct pr_value *dims = r->transformed_record_dims;
    enum pr_dtype type;
    uint64_t n = 1;

    if (!dims || !dims->len)
        return (uint64_t)d->opts.record_length_bytes_resize;
    if (pr_dtype_find(r->transformed_record_element_type, &type))
        n = pr_dtype_bytes(type);
    for (uint32_t i = 0; i < dims->len; i++)
        if (__builtin_mul_overflow(
                n, (uint64_t)pr_value_number(&dims->items[i]), &n))
            return UINT64_MAX;
    return n;
}

static void read_settings(struct pr_feed *f)
{
    static const char *const none[] = {"synthetic", "none", NULL};
    static const char *const stream[] = {"tensorflow", NULL};
    const struct pr_reader_opts *r = f->o.reader;
    uint64_t ahead = (uint64_t)r->prefetch_size;

    f->prepares = pr_duration_mean(&f->preprocess) > 0;
    f->reads = !is_one_of(r->data_loader, none);
    f->is_stream = is_one_of(r->data_loader, stream);
    f->inline_read = r->read_threads == 0;
    f->active = f->inline_read ? 1 : (uint64_t)r->read_threads;
    if (f->inline_read)
        f->depth = 0;
    else if (f->is_stream)
        f->depth = ahead;
    else /* each reading thread has batches of its own */
        f->depth = ahead ? (ahead + f->active - 1) / f->active * f->active
                         : 2 * f->active;
    /* The page cache gives a file in small pieces as fast as whole, and from
     * others a large request may be more. */
    f->bytes_alone = f->reads && !r->decode && !r->hold &&
                     strcmp(r->read_type, "memory") != 0 &&
                     f->o.set->spec.samples == 1 &&
                     !(f->o.set->format->flags & PR_FORMAT_EMPTY) &&
                     strcmp(pr_storage_engine(f->o.first), "pread") == 0;
    f->delivered_bytes = r->hold ? delivered_bytes(f->o.set, r) : 0;
    f->read = (struct pr_read_opts){
        .skip_checksum = !r->checksum,
        .skip_decode = !r->decode,
        .samples = f->o.set->spec.samples,
        .dtype = f->o.set->spec.dtype,
        .sample_bytes = pr_spec_sample_bytes(&f->o.set->spec),
    };
}

unsigned pr_feed_threads_for(const struct pr_reader_opts *r,
                             const struct pr_duration *preprocess,
                             uint64_t accelerators)
{
    /* A thread that prepares does nothing else meanwhile. */
    uint64_t max =
        pr_duration_mean(preprocess) > 0 ? MAX_PREPARING : PR_FEED_THREADS_MAX;
    uint64_t each = r->read_threads ? (uint64_t)r->read_threads : 1;

    return accelerators < max / each + 1 && accelerators * each < max
               ? (unsigned)(accelerators * each)
               : (unsigned)max;
}

/* ---- start and end */

static int start_threads(struct pr_feed *f, struct pr_err *err)
{
    sigset_t all, before;
    pthread_attr_t attr;
    int rc = PR_OK;

    for (unsigned i = 0; !rc && i < f->count; i++)
        rc = pr_feed_worker_init(f, i, err);
    if (rc)
        return rc;
    /* Signals belong to the driver. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    for (unsigned i = 0; !rc && i < f->count; i++) {
        struct pr_feed_worker *w = &f->workers[i];

        pr_attend(f->o.clock, 1);
        errno = pthread_create(&w->thread, &attr, pr_feed_work, w);
        w->started = !errno;
        if (!w->started)
            pr_attend(f->o.clock, -1);
        if (errno)
            rc = pr_fail_errno(err, PR_E_IO, "emulate.io_threads",
                               "cannot start a thread");
    }
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static void *alloc_lines(size_t count, size_t bytes)
{
    void *p = pr_alloc_aligned(PR_CACHE_LINE, count * bytes);

    if (p)
        memset(p, 0, count * bytes);
    return p;
}

int pr_feed_new(const struct pr_feed_opts *opts, struct pr_feed **ret,
                struct pr_err *err)
{
    struct pr_feed *f = alloc_lines(1, sizeof *f);
    int rc;

    if (!f)
        return pr_fail_nomem(err);
    f->o = *opts;
    pthread_mutex_init(&f->error_lock, NULL);
    rc = pr_duration_parse(
        "reader.preprocess_time", opts->reader->preprocess_time,
        opts->reader->preprocess_time_stdev, &f->preprocess, err);
    if (!rc) {
        read_settings(f);
        f->count = opts->threads
                       ? opts->threads
                       : pr_feed_threads_for(opts->reader, &f->preprocess,
                                             opts->accelerators);
        f->queues = alloc_lines(opts->accelerators, sizeof *f->queues);
        f->workers = alloc_lines(f->count, sizeof *f->workers);
        if (!f->queues || !f->workers)
            rc = pr_fail_nomem(err);
    }
    /* Deadlines of a tenth of a millisecond need a timer that keeps them. */
    prctl(PR_SET_TIMERSLACK, 1);
    if (!rc)
        rc = start_threads(f, err);
    if (rc) {
        pr_feed_free(f);
        return rc;
    }
    *ret = f;
    return PR_OK;
}

static void free_memory(struct pr_feed *f)
{
    for (int s = 0; s < PR_SPLITS; s++)
        pr_cached_sample_free(f->memory[s],
                              f->o.set->files[s] * f->o.set->spec.samples);
    pr_feed_bytes_free(f->held, f->held_room);
}

void pr_feed_free(struct pr_feed *f)
{
    if (!f)
        return;
    atomic_store(&f->quit, true);
    atomic_fetch_add(&f->work, 1);
    pr_wake(f->o.clock, &f->work, UINT32_MAX);
    if (f->hung)
        return; /* a thread uses it still */
    pr_attend(f->o.clock, -1);
    for (unsigned i = 0; f->workers && i < f->count; i++)
        if (f->workers[i].started)
            pthread_join(f->workers[i].thread, NULL);
    pr_attend(f->o.clock, 1);
    for (unsigned i = 0; f->workers && i < f->count; i++)
        if (f->workers[i].feed)
            pr_feed_worker_done(&f->workers[i]);
    free_memory(f);
    pthread_mutex_destroy(&f->error_lock);
    pr_free(f->workers);
    pr_free(f->queues);
    pr_free(f->slots);
    pr_free(f);
}

bool pr_feed_is_hung(const struct pr_feed *f)
{
    return f && f->hung;
}

unsigned pr_feed_threads(const struct pr_feed *f)
{
    return f->count;
}

const char *pr_feed_warning(const struct pr_feed *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const char *note = pr_storage_warning(f->workers[i].st);

        if (*note)
            return note;
    }
    return "";
}

/* ---- errors */

void pr_feed_fail(struct pr_feed *f, const struct pr_err *why)
{
    pthread_mutex_lock(&f->error_lock);
    if (!atomic_load(&f->failed))
        f->error = *why;
    atomic_store(&f->failed, true);
    pthread_mutex_unlock(&f->error_lock);
    pr_feed_wake_driver(f);
}

/* ---- an epoch */

static int keep_all(struct pr_feed *f, enum pr_split split, struct pr_err *err)
{
    uint64_t n = f->o.set->files[split] * f->o.set->spec.samples;

    if (strcmp(f->o.reader->read_type, "memory") != 0 || f->memory[split] ||
        !f->reads)
        return PR_OK;
    if (n <= MAX_SLOTS)
        f->memory[split] = pr_alloc_zeroed(n * sizeof *f->memory[split]);
    return f->memory[split] ? PR_OK : pr_fail_nomem(err);
}

static int feed_make_batches(struct pr_feed *f, struct pr_err *err)
{
    const struct pr_order_opts *o = &f->order->o;
    uint64_t window = o->shuffle_samples ? o->window : 0, count;

    /* A piece, and the windows at both of its ends, may reach further. */
    f->ring = (f->depth ? f->depth : 1) + 4 + 2 * (window / f->batch);
    if (f->order->series)
        f->ring += pr_order_series_more(f->order->series);
    if (f->ring > f->order->batches)
        f->ring = f->order->batches;
    count = f->ring * f->o.accelerators;
    /* More than this is a mistake, and its products would not fit. */
    if (f->ring > MAX_SLOTS / f->o.accelerators ||
        (f->o.reader->hold && count && f->batch > MAX_SLOTS / count))
        return pr_fail_nomem(err);
    if (count > f->slot_room) {
        pr_free(f->slots);
        f->slot_room = 0;
        f->slots = pr_alloc_aligned(PR_CACHE_LINE, count * sizeof *f->slots);
        if (!f->slots)
            return pr_fail_nomem(err);
        f->slot_room = count;
    }
    if (f->o.reader->hold && count * f->batch > f->held_room) {
        pr_feed_bytes_free(f->held, f->held_room);
        f->held_room = 0;
        f->held = pr_alloc_zeroed(count * f->batch * sizeof *f->held);
        if (!f->held)
            return pr_fail_nomem(err);
        f->held_room = count * f->batch;
    }
    return PR_OK;
}

/* Lets threads read what the next `ahead` batches need. A piece may reach into
 * the batches after these, and a window into more: the slots of all that come
 * into it are made ready first. */
static void feed_release_pieces(struct pr_feed *f, uint64_t a, uint64_t ahead)
{
    struct pr_feed_queue *q = &f->queues[a];
    uint64_t batches = q->taken + ahead, pieces, before, reach;

    if (batches > q->steps)
        batches = q->steps;
    reach =
        pr_order_needed(f->order, a, pr_order_batch_start(f->order, batches));
    pieces = (reach + f->chunk - 1) / f->chunk;
    before = atomic_load_explicit(&q->limit, memory_order_relaxed);
    if (pieces <= before)
        return;
    reach = pr_order_needed(f->order, a, pieces * f->chunk);
    for (; pr_order_batch_start(f->order, q->prepared) < reach; q->prepared++) {
        struct pr_feed_batch *s =
            &f->slots[a * f->ring + q->prepared % f->ring];

        atomic_store_explicit(&s->missing,
                              pr_order_batch_samples(f->order, a, q->prepared),
                              memory_order_relaxed);
        atomic_store_explicit(&s->ready, 0, memory_order_relaxed);
    }
    atomic_store(&q->limit, pieces);
    f->opened += pieces - before;
}

static void reset_workers(struct pr_feed *f)
{
    uint64_t now = pr_now(f->o.clock);

    for (unsigned i = 0; i < f->count; i++) {
        struct pr_feed_worker *w = &f->workers[i];

        memset(&w->stats, 0, sizeof w->stats);
        (void)pr_storage_is_inside(w->st, &w->seen_pulse);
        w->seen_ns = now;
        w->timed_ns = w->timed_storage_ns = 0;
        w->base_bytes = pr_storage_read_bytes(w->st);
        w->base_opened = pr_storage_opened(w->st);
    }
}

int pr_feed_begin(struct pr_feed *f, enum pr_split split,
                  const struct pr_order *order, uint64_t steps,
                  struct pr_err *err)
{
    int rc;

    f->order = order;
    f->split = split;
    f->files_before = split == PR_TRAIN ? 0 : f->o.set->files[PR_TRAIN];
    f->batch = order->o.batch;
    f->chunk = f->is_stream ? (f->batch + f->active - 1) / f->active : f->batch;
    rc = feed_make_batches(f, err);
    if (!rc)
        rc = keep_all(f, split, err);
    if (rc)
        return rc;
    reset_workers(f);
    for (uint64_t a = 0; a < f->o.accelerators; a++) {
        struct pr_feed_queue *q = &f->queues[a];
        uint64_t batches = pr_order_batches(order, a);

        atomic_store(&q->claim, 0);
        atomic_store(&q->limit, 0);
        atomic_store(&q->wanting, false);
        q->samples = pr_order_samples(order, a);
        q->steps = batches < steps ? batches : steps;
        q->taken = q->prepared = 0;
        feed_release_pieces(f, a, f->depth);
    }
    return pr_feed_wait(f, 0, err);
}

/* ---- batches */

int pr_feed_take(struct pr_feed *f, uint64_t a, uint64_t *ret_ready,
                 struct pr_err *err)
{
    struct pr_feed_queue *q = &f->queues[a];
    struct pr_feed_batch *s = &f->slots[a * f->ring + q->taken % f->ring];
    int rc;

    if (!f->depth) /* nothing is read before it is asked for */
        feed_release_pieces(f, a, 1);
    if (atomic_load(&s->missing)) {
        rc = feed_failure(f, err);
        if (rc)
            return rc;
        atomic_store(&q->wanting, true);
        if (atomic_load(&s->missing) || !atomic_exchange(&q->wanting, false))
            return 0; /* if it came meanwhile, so did the news */
    }
    *ret_ready = atomic_load_explicit(&s->ready, memory_order_relaxed);
    q->taken++;
    if (f->depth)
        feed_release_pieces(f, a, f->depth);
    return 1;
}

uint64_t pr_feed_news(struct pr_feed *f)
{
    struct pr_feed_queue *q;

    if (!f->news_taken)
        f->news_taken = atomic_exchange(&f->news_first, NULL);
    q = f->news_taken;
    if (!q)
        return UINT64_MAX;
    f->news_taken = q->newer;
    atomic_store(&q->is_news, false);
    return (uint64_t)(q - f->queues);
}

void pr_feed_stats(struct pr_feed *f, struct pr_feed_stats *ret)
{
    uint64_t timed = 0, storage = 0;

    memset(ret, 0, sizeof *ret);
    for (unsigned i = 0; !f->hung && i < f->count; i++) {
        const struct pr_feed_worker *w = &f->workers[i];

        ret->samples += w->stats.samples;
        ret->bytes += w->stats.bytes;
        ret->order += w->stats.order;
        ret->storage_bytes += pr_storage_read_bytes(w->st) - w->base_bytes;
        ret->opened += pr_storage_opened(w->st) - w->base_opened;
        if (!ret->failed && w->stats.failed)
            ret->first_error = w->stats.first_error;
        ret->failed += w->stats.failed;
        ret->timed += w->stats.timed;
        ret->timed_ns += w->stats.timed_ns;
        timed += w->timed_ns;
        storage += w->timed_storage_ns;
    }
    ret->storage_share = timed ? (double)storage / (double)timed : 0;
}
