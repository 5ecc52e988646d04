/*
 * Batches to train with. The side of whoever trains: settings, waiting for a
 * batch, handing it out. The side of the loader's threads: what one of them
 * does with a sample that it has read.
 */
#include "loader/batches.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "format/dataset/dataset_classes.h"
#include "loader/augment.h"
#include "loader/feed.h"
#include "loader/order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Labels in files of their own, as one thread reads them. */
struct pr_batches_labels {
    struct pr_storage *st;
    struct pr_reader *reader; /* NULL: there are none */
    uint64_t file;            /* that is open */
    uint8_t *buf;
    size_t cap;
    char name[PR_NAME_BYTES];
};

/* File i of the split among all. */
static inline uint64_t pr_batches_file(const struct pr_batches_opts *o,
                                       uint64_t i)
{
    return o->split == PR_TRAIN ? i : o->set->files[PR_TRAIN] + i;
}

/* What a reading thread has for itself. Others only look at the counters. */
struct pr_batches_thread {
    _Alignas(64) struct pr_augment augment;
    struct pr_batches_labels labels;
    _Atomic uint64_t samples, bytes;
    _Atomic uint64_t labelled; /* samples that came with a label */
};

/* A batch that is being made, or waits. */
struct pr_batches_slot {
    void *input; /* floats, or with dims 0 samples as they are */
    int32_t *labels;
    bool *skipped; /* nothing is at this place */
};

struct pr_batches {
    struct pr_batches_opts o;
    struct pr_reader_opts reader; /* as the feed is to see it */
    bool never;                   /* where nobody says stop */
    struct pr_order_series series;
    struct pr_order order;
    struct pr_feed *feed;
    struct pr_batches_thread *threads;
    unsigned count;
    uint64_t each;       /* floats of a sample; with dims 0 bytes */
    uint64_t each_bytes; /* of a sample */
    bool has_next;       /* the next batch was taken, but not handed out */
    struct pr_batches_slot *slots;
    uint64_t ring;
    uint64_t buffer_bytes;
    uint64_t taken, failed; /* batches; samples in them */
    bool has_begun;
    _Atomic bool quit; /* threads should end soon */
    pthread_mutex_t error_lock;
    struct pr_err first_error; /* of samples that were skipped */
};

/* ---- labels that lie apart: a npy file beside each file of samples */

static int batches_labels_init(struct pr_batches_labels *l,
                               const struct pr_batches_opts *o,
                               struct pr_err *err)
{
    struct pr_read_opts read = {.skip_checksum = !o->reader->checksum,
                                .samples = o->set->spec.samples,
                                .dtype = PR_I64};
    const struct pr_format *npy;
    int rc = PR_OK;

    if (!o->set->has_labels_apart)
        return PR_OK;
    rc = pr_format_find("npy", &npy, err);
    if (!rc)
        rc = pr_storage_open_beside(o->first, &l->st, err);
    if (rc)
        return rc;
    pr_storage_stop_by(l->st, o->stop);
    return pr_reader_new(npy, l->st, &read, &l->reader, err);
}

static void batches_labels_done(struct pr_batches_labels *l)
{
    pr_reader_free(l->reader);
    pr_storage_close(l->st);
    pr_free(l->buf);
}

static int batches_labels_open(struct pr_batches_labels *l,
                               const struct pr_batches_opts *o, uint64_t file,
                               struct pr_err *err)
{
    if (l->reader->is_open)
        pr_reader_close(l->reader);
    l->file = file;
    pr_dataset_name(o->set, pr_batches_file(o, file), PR_NAME_LABELS, l->name);
    return pr_reader_open(l->reader, l->name, err);
}

static int batches_labels_grow(struct pr_batches_labels *l, struct pr_err *err)
{
    if (l->cap >= l->reader->need)
        return PR_OK;
    pr_free(l->buf);
    l->buf = pr_alloc_aligned(PR_IO_ALIGN, l->reader->need);
    l->cap = l->buf ? l->reader->need : 0;
    return l->buf ? PR_OK : pr_fail_nomem(err);
}

/* Whole numbers of any size; false: it is something else. */
static bool label_read_integer(const struct pr_sample *s, int64_t *ret)
{
    size_t bytes = pr_dtype_bytes(s->dtype);
    char letter = pr_dtype_letter(s->dtype);
    uint64_t x = 0;

    if (s->size != bytes || (letter != 'i' && letter != 'u' && letter != 'b'))
        return false;
    switch (bytes) {
    case 1:
        x = *(const uint8_t *)s->data;
        break;
    case 2: {
        uint16_t small;
        memcpy(&small, s->data, sizeof small);
        x = small;
        break;
    }
    case 4: {
        uint32_t small;
        memcpy(&small, s->data, sizeof small);
        x = small;
        break;
    }
    default:
        memcpy(&x, s->data, sizeof x);
    }
    if (letter == 'i' && bytes < 8 && x >> (8 * bytes - 1))
        x |= UINT64_MAX << 8 * bytes;
    *ret = (int64_t)x;
    return true;
}

static int batches_labels_get(struct pr_batches_labels *l,
                              const struct pr_batches_opts *o, uint64_t sample,
                              int64_t *ret, struct pr_err *err)
{
    uint64_t each = o->set->spec.samples, file = sample / each,
             i = sample % each;
    struct pr_sample s = {0};
    int rc = PR_OK;

    if (!l->reader->is_open || l->file != file)
        rc = batches_labels_open(l, o, file, err);
    if (!rc && i >= l->reader->samples)
        rc = pr_fail(
            err, PR_E_FORMAT, l->name, "has %llu labels, expected %llu",
            (unsigned long long)l->reader->samples, (unsigned long long)each);
    if (!rc)
        rc = batches_labels_grow(l, err);
    if (!rc)
        rc = pr_reader_read(l->reader, i, l->buf, l->cap, &s, err);
    if (!rc && !label_read_integer(&s, ret))
        rc = pr_fail(err, PR_E_FORMAT, l->name, "labels are whole numbers");
    return rc;
}

/* ---- memory of batches that wait, and of the threads that make them */

/* Batches that may be under way at once: those read ahead, the one that is
 * being handed out, and those that the last piece and the windows at its ends
 * reach into. */
static uint64_t ring_for(const struct pr_batches *b)
{
    uint64_t batch = b->o.batch, window = b->series.o.window;
    uint64_t piece = (batch + b->count - 1) / b->count;
    uint64_t ahead = (uint64_t)b->reader.prefetch_size + 1;

    ahead += pr_order_series_more(&b->series);
    if (window)
        return ahead + 2 + 2 * (window / batch + 1);
    return ahead + (batch % piece > 0 || b->series.used % batch > 0);
}

static int too_much(const struct pr_batches *b, struct pr_err *err)
{
    (void)pr_fail(err, PR_E_NOMEM, "",
                  "%llu batches of %llu samples do not fit in memory",
                  (unsigned long long)b->ring, (unsigned long long)b->o.batch);
    return pr_hint(err, "exp.replica_batch, reader.prefetch_size and "
                        "reader.shuffle_size decide how much is read ahead");
}

static int batches_make_slots(struct pr_batches *b, struct pr_err *err)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(b->o.batch, b->each_bytes, &bytes) ||
        __builtin_mul_overflow(bytes, b->ring, &b->buffer_bytes) ||
        b->buffer_bytes > SIZE_MAX / 2)
        return too_much(b, err);
    b->slots = pr_alloc_zeroed(b->ring * sizeof *b->slots);
    if (!b->slots)
        return pr_fail_nomem(err);
    for (uint64_t i = 0; i < b->ring; i++) {
        struct pr_batches_slot *s = &b->slots[i];

        s->input = pr_alloc_aligned(64, bytes);
        s->labels = pr_alloc_zeroed(b->o.batch * sizeof *s->labels);
        s->skipped = pr_alloc_zeroed(b->o.batch * sizeof *s->skipped);
        if (!s->input || !s->labels || !s->skipped)
            return too_much(b, err);
    }
    return PR_OK;
}

static int make_thread(struct pr_batches *b, unsigned i, struct pr_err *err)
{
    struct pr_batches_thread *t = &b->threads[i];
    int rc;

    if (!b->o.dims) {
        b->each = b->each_bytes = b->o.like->size;
        return batches_labels_init(&t->labels, &b->o, err);
    }
    rc = pr_augment_init(&t->augment, b->o.dims, b->o.shape, err);
    if (rc)
        return rc;
    t->augment.random = b->o.augment;
    t->augment.is_cmyk = pr_text_equal(b->o.set->format->name, "jpeg");
    /* A format of pictures gives nothing else. */
    t->augment.is_image =
        t->augment.is_cmyk || pr_text_equal(b->o.set->format->name, "png");
    t->augment.as = b->o.set->spec.shape;
    b->each = t->augment.count;
    if (__builtin_mul_overflow(b->each, sizeof(float), &b->each_bytes))
        return too_much(b, err);
    return batches_labels_init(&t->labels, &b->o, err);
}

static int batches_room_init(struct pr_batches *b, struct pr_err *err)
{
    int rc = PR_OK;

    b->threads = pr_alloc_aligned(64, b->count * sizeof *b->threads);
    if (!b->threads)
        return pr_fail_nomem(err);
    memset(b->threads, 0, b->count * sizeof *b->threads);
    for (unsigned i = 0; !rc && i < b->count; i++)
        rc = make_thread(b, i, err);
    b->ring = ring_for(b);
    return rc ? rc : batches_make_slots(b, err);
}

static void batches_room_done(struct pr_batches *b)
{
    for (uint64_t i = 0; b->slots && i < b->ring; i++) {
        pr_free(b->slots[i].input);
        pr_free(b->slots[i].labels);
        pr_free(b->slots[i].skipped);
    }
    pr_free(b->slots);
    for (unsigned i = 0; b->threads && i < b->count; i++) {
        pr_augment_done(&b->threads[i].augment);
        batches_labels_done(&b->threads[i].labels);
    }
    pr_free(b->threads);
}

/* ---- what a reading thread does with a sample: makes it fit for the model,
 * at its place in its batch, and finds its label */

/* Counters have one writer each. */
static void batches_add_count(_Atomic uint64_t *x, uint64_t n)
{
    atomic_store_explicit(x, atomic_load_explicit(x, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static void batches_name_file(const struct pr_batches *b, uint64_t sample,
                              char out[static PR_NAME_BYTES])
{
    pr_dataset_name(b->o.set,
                    pr_batches_file(&b->o, sample / b->o.set->spec.samples),
                    PR_NAME_DATA, out);
}

/* Whoever draws for a sample, now or later, draws the same. */
static void seed_for(const struct pr_batches *b, const struct pr_feed_taken *t,
                     struct pr_rng *rng)
{
    uint64_t epoch = pr_order_series_epoch(&b->series, t->place);

    pr_rng_seed(rng, pr_mix64(pr_mix64(b->o.seed) + epoch), t->sample);
}

static void batches_part(void *ctx, const struct pr_feed_taken *t,
                         const struct pr_shape *whole, struct pr_part *ret)
{
    const struct pr_batches *b = ctx;
    struct pr_rng rng;

    seed_for(b, t, &rng);
    pr_augment_part(&b->threads[t->thread].augment, whole, &rng, ret);
}

static int batches_refuse_unlike(const struct pr_batches *b,
                                 const struct pr_feed_taken *t,
                                 struct pr_err *err)
{
    const struct pr_sample *like = b->o.like, *s = t->data;
    char name[PR_NAME_BYTES];

    batches_name_file(b, t->sample, name);
    (void)pr_fail(err, PR_E_CONF, name,
                  "a sample of %s and %zu bytes is not like the first one, "
                  "which is %s and has %zu bytes",
                  pr_dtype_name(s->dtype), s->size, pr_dtype_name(like->dtype),
                  like->size);
    return pr_hint(err, "samples that differ can be resized to one shape");
}

static bool is_sample_like(const struct pr_sample *a, const struct pr_sample *b)
{
    return a->size == b->size && a->dtype == b->dtype &&
           a->fortran == b->fortran && pr_shape_is_same(&a->shape, &b->shape);
}

static int batches_fit_sample(struct pr_batches *b,
                              const struct pr_feed_taken *t, void *out,
                              struct pr_err *err)
{
    struct pr_augment *a = &b->threads[t->thread].augment;
    char name[PR_NAME_BYTES];
    struct pr_rng rng;
    int rc;

    if (!b->o.dims) {
        if (!is_sample_like(t->data, b->o.like))
            return batches_refuse_unlike(b, t, err);
        memcpy(out, t->data->data, t->data->size);
        return PR_OK;
    }
    seed_for(b, t, &rng);
    rc = pr_augment_sample(a, t->data, &rng, "", out, err);
    if (rc != PR_E_CONF || !err)
        return rc;
    batches_name_file(b, t->sample, name); /* which takes a while */
    return pr_reword(err, name, "%s", err->msg);
}

static int bad_label(const struct pr_batches *b, uint64_t sample, int64_t label,
                     struct pr_err *err)
{
    char name[PR_NAME_BYTES];

    batches_name_file(b, sample, name);
    (void)pr_fail(err, PR_E_CONF, name,
                  "a sample is labelled %lld, the model knows 0 to %lld",
                  (long long)label, (long long)b->o.classes - 1);
    if (b->o.set->classes[b->o.split])
        return pr_hint(err, "exp.model_opts may give it more 'classes'");
    return pr_hint(err, "dataset.num_classes says how many classes a set that "
                        "is made has");
}

static int large_label(const struct pr_batches *b, uint64_t sample,
                       int64_t label, struct pr_err *err)
{
    char name[PR_NAME_BYTES];

    batches_name_file(b, sample, name);
    return pr_fail(err, PR_E_CONF, name,
                   "a sample is labelled %lld, labels have 32 bits",
                   (long long)label);
}

static int find_label(struct pr_batches *b, const struct pr_feed_taken *t,
                      int32_t *ret, struct pr_err *err)
{
    struct pr_batches_thread *x = &b->threads[t->thread];
    uint64_t classes = (uint64_t)b->o.classes;
    const struct pr_dataset_classes *folders = b->o.set->classes[b->o.split];
    int64_t label = t->data->label;
    int rc = PR_OK;

    if (folders && !folders->is_flat) {
        label = (int64_t)pr_dataset_classes_label(folders, t->sample);
    } else if (x->labels.reader) {
        rc = batches_labels_get(&x->labels, &b->o, t->sample, &label, err);
    } else if (!t->data->has_label && b->o.any_label) {
        *ret = -1;
        return PR_OK;
    } else if (!t->data->has_label) {
        *ret = (int32_t)(pr_mix64(t->sample) % classes);
        return PR_OK;
    }
    if (!rc && b->o.any_label && label != (int32_t)label)
        rc = large_label(b, t->sample, label, err);
    if (!rc && !b->o.any_label && (label < 0 || (uint64_t)label >= classes))
        rc = bad_label(b, t->sample, label, err);
    if (rc)
        return rc;
    *ret = (int32_t)label;
    batches_add_count(&x->labelled, 1);
    return PR_OK;
}

static void batches_keep_error(struct pr_batches *b, const struct pr_err *why)
{
    pthread_mutex_lock(&b->error_lock);
    if (!b->first_error.code)
        b->first_error = *why;
    pthread_mutex_unlock(&b->error_lock);
}

static int batches_took(void *ctx, const struct pr_feed_taken *t,
                        struct pr_err *err)
{
    struct pr_batches *b = ctx;
    uint64_t batch = pr_order_batch_of(&b->order, t->place);
    uint64_t i = t->place - pr_order_batch_start(&b->order, batch);
    struct pr_batches_slot *s = &b->slots[batch % b->ring];
    int rc;

    if (atomic_load_explicit(&b->quit, memory_order_relaxed))
        return pr_fail(err, PR_E_INTR, "", "interrupted");
    s->skipped[i] = !t->data;
    if (!t->data) {
        batches_keep_error(b, t->why);
        return PR_OK;
    }
    /* The label's file after the sample: its memory may be the reader's. */
    rc = batches_fit_sample(b, t, (char *)s->input + i * b->each_bytes, err);
    if (!rc)
        rc = find_label(b, t, &s->labels[i], err);
    if (rc)
        return rc;
    batches_add_count(&b->threads[t->thread].samples, 1);
    batches_add_count(&b->threads[t->thread].bytes, t->data->size);
    return PR_OK;
}

enum { WAIT_NS = 1000000000, MIN_AHEAD = 2 };

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

    if (threads > PR_FEED_THREADS_MAX)
        threads = PR_FEED_THREADS_MAX;
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
                                .took = batches_took,
                                .took_ctx = b};
    const struct pr_augment *a = &b->threads[0].augment;
    int rc;

    if (a->is_image && a->dims == 3)
        opts.part = batches_part;
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
        rc = batches_room_init(b, err);
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
    batches_room_done(b);
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
