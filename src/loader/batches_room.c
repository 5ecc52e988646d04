/* Memory of batches that wait, and of the threads that make them. */
#include "base/mem.h"
#include "loader/batches_impl.h"

#include <string.h>

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

/* A format of pictures gives nothing else. */
static bool batches_is_format(const struct pr_dataset *set, const char *name)
{
    return strcmp(set->format->name, name) == 0;
}

static int make_thread(struct pr_batches *b, unsigned i, struct pr_err *err)
{
    struct pr_batches_thread *t = &b->threads[i];
    int rc;

    if (!b->o.dims) {
        b->each = b->each_bytes = b->o.like->size;
        return pr_batches_labels_init(&t->labels, &b->o, err);
    }
    rc = pr_augment_init(&t->augment, b->o.dims, b->o.shape, err);
    if (rc)
        return rc;
    t->augment.random = b->o.augment;
    t->augment.is_cmyk = batches_is_format(b->o.set, "jpeg");
    t->augment.is_image =
        t->augment.is_cmyk || batches_is_format(b->o.set, "png");
    t->augment.as = b->o.set->spec.shape;
    b->each = t->augment.count;
    if (__builtin_mul_overflow(b->each, sizeof(float), &b->each_bytes))
        return too_much(b, err);
    return pr_batches_labels_init(&t->labels, &b->o, err);
}

int pr_batches_room_init(struct pr_batches *b, struct pr_err *err)
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

void pr_batches_room_done(struct pr_batches *b)
{
    for (uint64_t i = 0; b->slots && i < b->ring; i++) {
        pr_free(b->slots[i].input);
        pr_free(b->slots[i].labels);
        pr_free(b->slots[i].skipped);
    }
    pr_free(b->slots);
    for (unsigned i = 0; b->threads && i < b->count; i++) {
        pr_augment_done(&b->threads[i].augment);
        pr_batches_labels_done(&b->threads[i].labels);
    }
    pr_free(b->threads);
}
