/* The side of whoever trains: settings, waiting for a batch, copying it. */
#include "loader/batches.h"

#include "base/clock.h"
#include "base/mem.h"
#include "loader/batches_impl.h"

#include <string.h>

enum { MAX_THREADS = 128, WAIT_NS = 1000000000, MIN_AHEAD = 2 };

/* ---- settings */

static int batches_check_opts(const struct pr_batches_opts *o,
                              struct pr_err *err)
{
    const struct pr_format *format = o->set->format;

    if ((o->dims != 1 && o->dims != 3 && (o->dims || !o->like)) ||
        o->classes < 1 || o->classes > INT32_MAX || !o->batch)
        return pr_fail(err, PR_E_CONF, "",
                       "a model with %u dimensions and %lld classes cannot be "
                       "trained with batches of %llu",
                       o->dims, (long long)o->classes,
                       (unsigned long long)o->batch);
    if (format->flags & PR_FORMAT_EMPTY) {
        (void)pr_fail(err, PR_E_CONF, "dataset.format",
                      "'%s' has nothing in it to train with", format->name);
        return pr_hint(err, "jpeg, png, npz and others have");
    }
    if (o->set->spec.payload == PR_RAW)
        return pr_fail(err, PR_E_CONF, "dataset.payload",
                       "raw bytes are no images that could be trained with");
    if (!o->reader->decode)
        return pr_fail(err, PR_E_CONF, "reader.decode",
                       "what is not decoded cannot be trained with");
    return PR_OK;
}

/* Threads share each batch, so that no more are under way than need be. */
static void adapt_reader(struct pr_batches *b)
{
    struct pr_reader_opts *r = &b->reader;
    uint64_t threads =
        b->o.threads ? b->o.threads : (uint64_t)b->o.reader->read_threads;

    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    b->count = threads ? (unsigned)threads : 1;
    *r = *b->o.reader;
    r->data_loader = "tensorflow";
    r->read_threads = b->count;
    r->hold = false;
    if (r->prefetch_size < MIN_AHEAD)
        r->prefetch_size = MIN_AHEAD;
}

static int batches_make_order(struct pr_batches *b, struct pr_err *err)
{
    const struct pr_dataset *set = b->o.set;
    struct pr_order_opts opts = {
        .files = set->files[b->o.split],
        .samples_per_file = set->spec.samples,
        .accelerators = 1,
        .batch = b->o.batch,
        .drop_last = !b->o.keep_last,
        .shuffle_files = !b->o.in_order,
        .shuffle_samples = !b->o.in_order,
        .window = b->o.in_order ? 0 : (uint64_t)b->reader.shuffle_size,
        .seed = b->o.seed,
    };
    int rc;

    /* A window of everything is no window, and needs no memory. */
    if (opts.window >= opts.files * opts.samples_per_file)
        opts.window = 0;
    rc = pr_order_series_init(&b->series, &opts, &b->order, err);
    if (rc || b->order.batches)
        return rc;
    (void)pr_fail(err, PR_E_CONF,
                  b->o.split == PR_TRAIN ? "dataset.num_files_train"
                                         : "dataset.num_files_eval",
                  "%llu samples do not fill a batch of %llu",
                  (unsigned long long)b->order.total,
                  (unsigned long long)opts.batch);
    return pr_hint(err, "a smaller exp.replica_batch, or more files");
}

/* ---- start and end */

static int batches_start_feed(struct pr_batches *b, struct pr_err *err)
{
    struct pr_feed_opts opts = {.set = b->o.set,
                                .first = b->o.first,
                                .reader = &b->reader,
                                .accelerators = 1,
                                .threads = b->count,
                                .seed = b->o.seed,
                                .stop = b->o.stop,
                                .clock = b->o.clock,
                                .took = pr_batches_took,
                                .took_ctx = b};
    const struct pr_augment *a = &b->threads[0].augment;
    int rc;

    if (a->is_image && a->dims == 3)
        opts.part = pr_batches_part;
    rc = pr_feed_new(&opts, &b->feed, err);
    if (rc)
        return rc;
    b->has_begun = true;
    return pr_feed_begin(b->feed, b->o.split, &b->order, UINT64_MAX, err);
}

int pr_batches_new(const struct pr_batches_opts *opts, struct pr_batches **ret,
                   struct pr_err *err)
{
    struct pr_batches *b = NULL;
    int rc = batches_check_opts(opts, err);

    if (rc)
        return rc;
    b = pr_alloc_aligned(64, sizeof *b);
    if (!b)
        return pr_fail_nomem(err);
    memset(b, 0, sizeof *b);
    b->o = *opts;
    if (!b->o.stop)
        b->o.stop = &b->never;
    pthread_mutex_init(&b->error_lock, NULL);
    adapt_reader(b);
    rc = batches_make_order(b, err);
    if (!rc)
        rc = pr_batches_room_init(b, err);
    if (!rc)
        rc = batches_start_feed(b, err);
    if (rc) {
        pr_batches_free(b);
        return rc;
    }
    *ret = b;
    return PR_OK;
}

void pr_batches_end(struct pr_batches *b)
{
    if (!b || !b->has_begun)
        return;
    atomic_store(&b->quit, true);
    (void)!pr_feed_end(b->feed, NULL);
    b->has_begun = false;
}

void pr_batches_free(struct pr_batches *b)
{
    if (!b)
        return;
    pr_batches_end(b);
    if (pr_feed_is_hung(b->feed)) {
        pr_feed_free(b->feed);
        return; /* a thread uses it still */
    }
    pr_feed_free(b->feed);
    pr_batches_room_done(b);
    pthread_mutex_destroy(&b->error_lock);
    pr_free(b);
}

bool pr_batches_is_hung(const struct pr_batches *b)
{
    return b && pr_feed_is_hung(b->feed);
}

/* ---- batches */

int pr_batches_wait(struct pr_batches *b, uint64_t until_ns, struct pr_err *err)
{
    uint64_t ready;
    int rc;

    if (b->has_next)
        return 1;
    if (__atomic_load_n(b->o.stop, __ATOMIC_RELAXED))
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    while ((rc = pr_feed_take(b->feed, 0, &ready, err)) == 0) {
        uint64_t now = pr_now(b->o.clock);

        if (now >= until_ns)
            return 0;
        rc = pr_feed_wait(
            b->feed, until_ns - now < WAIT_NS ? until_ns : now + WAIT_NS, err);
        if (rc)
            return rc;
        while (pr_feed_news(b->feed) != UINT64_MAX)
            continue;
    }
    if (rc < 0)
        return rc;
    b->has_next = true;
    /* There is room for another one: threads should know before we copy. What
     * went wrong with later ones is for later. */
    (void)!pr_feed_wait(b->feed, 0, NULL);
    return 1;
}

/* Places that were skipped get what is before them. */
static int batches_fill_skipped(struct pr_batches *b,
                                const struct pr_batches_slot *s, uint64_t n,
                                struct pr_err *err)
{
    uint64_t good = n, missing = 0;

    for (uint64_t i = 0; i < n; i++) {
        missing += s->skipped[i];
        if (!s->skipped[i])
            good = i; /* the last one is before the first */
    }
    if (good == n) {
        pthread_mutex_lock(&b->error_lock);
        if (err)
            *err = b->first_error;
        pthread_mutex_unlock(&b->error_lock);
        return b->first_error.code;
    }
    for (uint64_t i = 0; missing && i < n; i++) {
        if (s->skipped[i]) {
            memcpy((char *)s->input + i * b->each_bytes,
                   (char *)s->input + good * b->each_bytes, b->each_bytes);
            s->labels[i] = s->labels[good];
        } else {
            good = i;
        }
    }
    b->failed += missing;
    return PR_OK;
}

/* The next batch. A slot is not used again before the one after it was
 * taken. */
static int batches_take_slot(struct pr_batches *b, struct pr_batches_slot **ret,
                             uint64_t *ret_samples, struct pr_err *err)
{
    int rc = pr_batches_wait(b, UINT64_MAX, err);

    if (rc < 0)
        return rc;
    b->has_next = false;
    *ret = &b->slots[b->taken % b->ring];
    *ret_samples = pr_order_batch_samples(&b->order, 0, b->taken++);
    return batches_fill_skipped(b, *ret, *ret_samples, err);
}

int pr_batches_swap(struct pr_batches *b, void **io_input, int32_t **io_labels,
                    uint64_t *ret_samples, struct pr_err *err)
{
    struct pr_batches_slot *s;
    void *input = *io_input;
    int32_t *labels = *io_labels;
    int rc = batches_take_slot(b, &s, ret_samples, err);

    if (rc)
        return rc;
    *io_input = s->input;
    *io_labels = s->labels;
    s->input = input;
    s->labels = labels;
    return PR_OK;
}

size_t pr_batches_bytes(const struct pr_batches *b)
{
    return b->o.batch * b->each_bytes;
}

int pr_batches_borrow(struct pr_batches *b, const float **ret_input,
                      const int32_t **ret_labels, uint64_t *ret_wait_ns,
                      struct pr_err *err)
{
    struct pr_batches_slot *s;
    uint64_t from = pr_now(b->o.clock), samples;
    int rc = batches_take_slot(b, &s, &samples, err);

    if (rc)
        return rc;
    *ret_input = s->input;
    *ret_labels = s->labels;
    if (ret_wait_ns)
        *ret_wait_ns = pr_now(b->o.clock) - from;
    return PR_OK;
}

int pr_batches_next(struct pr_batches *b, float *input, int32_t *labels,
                    uint64_t *ret_wait_ns, struct pr_err *err)
{
    uint64_t from = pr_now(b->o.clock), n = b->o.batch;
    const int32_t *their_labels;
    const float *their_input;
    int rc = pr_batches_borrow(b, &their_input, &their_labels, NULL, err);

    if (rc)
        return rc;
    memcpy(input, their_input, n * b->each_bytes);
    memcpy(labels, their_labels, n * sizeof *labels);
    if (ret_wait_ns)
        *ret_wait_ns = pr_now(b->o.clock) - from;
    return PR_OK;
}

/* ---- figures */

void pr_batches_stats(struct pr_batches *b, struct pr_batches_stats *ret)
{
    *ret = (struct pr_batches_stats){
        .threads = b->count,
        .epoch_batches = b->series.batches,
        .batches = b->taken,
        .samples = pr_order_batch_start(&b->order, b->taken),
        .epochs = b->taken / b->series.batches,
        .failed = b->failed,
        .buffer_bytes = b->buffer_bytes,
    };
    for (unsigned i = 0; i < b->count; i++) {
        ret->read_samples += atomic_load(&b->threads[i].samples);
        ret->read_bytes += atomic_load(&b->threads[i].bytes);
    }
    pthread_mutex_lock(&b->error_lock);
    ret->first_error = b->first_error;
    pthread_mutex_unlock(&b->error_lock);
}

const char *pr_batches_warning(const struct pr_batches *b)
{
    uint64_t samples = 0, labelled = 0;

    if (b->o.set->classes[b->o.split])
        return "labels are the folders of the files";
    if (b->o.set->has_labels_apart)
        return "labels are those of the files beside the samples";
    for (unsigned i = 0; i < b->count; i++) {
        samples += atomic_load(&b->threads[i].samples);
        labelled += atomic_load(&b->threads[i].labelled);
    }
    if (!samples)
        return "";
    if (!labelled)
        return "labels follow from the numbers of samples, the files have none";
    return labelled < samples ? "labels are those of the files, where these "
                                "have one; others follow from the sample's "
                                "number"
                              : "labels are those of the files";
}
