/* Reading one sample, by a thread of the loader: from its file, or from memory
 * when it was read before and kept. */
#include "base/clock.h"
#include "base/mem.h"
#include "loader/feed_impl.h"

#include <string.h>

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

    if (atomic_load(slot) || pr_cached_sample_put(slot, s, f->o.took != NULL))
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

int pr_feed_read(struct pr_feed_worker *w, const struct pr_feed_taken *t,
                 struct pr_sample *ret, uint64_t *ret_start, uint64_t *ret_end,
                 struct pr_err *err)
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
