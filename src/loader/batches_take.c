/* What a reading thread does with a sample: makes it fit for the model, at its
 * place in its batch, and finds its label. */
#include "format/dataset/dataset_classes.h"
#include "loader/batches_impl.h"

#include <string.h>

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

void pr_batches_part(void *ctx, const struct pr_feed_taken *t,
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
           a->fortran == b->fortran && a->shape.ndim == b->shape.ndim &&
           memcmp(a->shape.dim, b->shape.dim,
                  a->shape.ndim * sizeof *a->shape.dim) == 0;
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
        rc = pr_batches_labels_get(&x->labels, &b->o, t->sample, &label, err);
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

int pr_batches_took(void *ctx, const struct pr_feed_taken *t,
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
