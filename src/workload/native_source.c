/* Batches to train with. */
#include "workload/native_source.h"

#include "base/mem.h"
#include "base/rng.h"

#include <string.h>

enum { KEPT_BYTES = 256 << 20 }; /* of digits that are drawn once */
enum { STREAM_IMAGES = 1, STREAM_LABELS = 2 };

/* ---- noise */

/* Mean 0, deviation 1, nearly normal: the sum of four even numbers. Millions
 * are wanted at once, before the first step. */
static void fill_noise(uint64_t seed, float *out, size_t count)
{
    struct pr_rng rng;

    pr_rng_seed(&rng, seed, STREAM_IMAGES);
    for (size_t i = 0; i < count; i++) {
        uint64_t w = pr_rng_u64(&rng);
        int sum = (int)(w & 0xffff) + (int)(w >> 16 & 0xffff) +
                  (int)(w >> 32 & 0xffff) + (int)(w >> 48);

        out[i] = (float)(sum - 131070) * (float)(1.7320508 / 65536);
    }
}

static void fill_labels(uint64_t seed, int32_t *out, size_t count,
                        int64_t classes)
{
    struct pr_rng rng;

    pr_rng_seed(&rng, seed, STREAM_LABELS);
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)(pr_rng_u64(&rng) % (uint64_t)classes);
}

/* ---- digits */

static int open_digits(struct pr_native_source *s, struct pr_err *err)
{
    const struct pr_native *n = s->n;
    uint64_t bytes;

    s->pixels = (uint64_t)n->digits.rows * n->digits.columns;
    if (__builtin_mul_overflow(s->pixels, n->samples, &bytes) ||
        bytes > KEPT_BYTES)
        bytes = s->pixels;
    s->gray = pr_alloc(bytes);
    if (!s->gray)
        return pr_fail_nomem(err);
    pr_permutation_init(&s->order, n->samples, pr_mix64(n->digits.seed));
    if (bytes == s->pixels)
        return PR_OK;
    s->labels = pr_alloc(n->samples * sizeof *s->labels);
    if (!s->labels)
        return pr_fail_nomem(err);
    for (uint64_t i = 0; i < n->samples; i++)
        s->labels[i] = -1;
    return PR_OK;
}

/* Its numbers to out, its class returned. */
static int32_t take_digit(struct pr_native_source *s, uint64_t i, float *out)
{
    const struct pr_digits *d = &s->n->digits;
    uint8_t *gray = s->gray + (s->labels ? i * s->pixels : 0);
    int32_t label = s->labels ? s->labels[i] : -1;

    if (label < 0)
        label = pr_digits_draw(d, false, i, gray);
    if (s->labels)
        s->labels[i] = label;
    pr_digits_numbers(d, gray, out);
    return label;
}

static void next_digits(struct pr_native_source *s, float *input,
                        int32_t *labels)
{
    const struct pr_native *n = s->n;

    if (s->at + n->batch > n->samples) {
        s->epoch++;
        s->at = 0;
        pr_permutation_init(&s->order, n->samples,
                            pr_mix64(n->digits.seed + s->epoch));
    }
    for (uint64_t i = 0; i < n->batch; i++)
        labels[i] = take_digit(s, pr_permutation_at(&s->order, s->at + i),
                               input + i * s->elements);
    s->at += n->batch;
}

void pr_source_held_out(struct pr_native_source *s, uint64_t first,
                        float *input, int32_t *labels)
{
    const struct pr_native *n = s->n;

    /* Drawn where the first of those to train with is kept: again later. */
    if (s->labels)
        s->labels[0] = -1;
    for (uint64_t i = 0; i < n->batch; i++) {
        labels[i] = pr_digits_draw(&n->digits, true, first + i, s->gray);
        pr_digits_numbers(&n->digits, s->gray, input + i * s->elements);
    }
}

/* ---- all of them */

static int open_set(struct pr_native_source *s, struct pr_progress *progress,
                    const bool *stop, struct pr_err *err)
{
    const struct pr_native *n = s->n;
    struct pr_native_set_opts opts = {
        .batch = n->batch,
        .seed = (uint64_t)n->nn.seed,
        .dims = n->model->input.dims,
        .classes = n->model->classes,
        .augment = n->nn.augment && n->net.training,
        .learns = n->net.training,
        .stop = stop,
        .progress = progress,
    };

    memcpy(opts.shape, n->model->input.at, sizeof opts.shape);
    return pr_native_set_open(n->job, &opts, &s->set, err);
}

int pr_source_open(struct pr_native_source *s, const struct pr_native *n,
                   struct pr_progress *progress, const bool *stop,
                   struct pr_err *err)
{
    int rc = PR_OK;

    *s = (struct pr_native_source){.n = n, .elements = 1};
    for (unsigned i = 0; i < n->model->input.dims; i++)
        s->elements *= (size_t)n->model->input.at[i];
    if (n->from == PR_NATIVE_DIGITS)
        rc = open_digits(s, err);
    else if (n->from == PR_NATIVE_SET)
        rc = open_set(s, progress, stop, err);
    if (rc)
        pr_source_close(s);
    return rc;
}

void pr_source_close(struct pr_native_source *s)
{
    pr_free(s->gray);
    pr_free(s->labels);
    pr_native_set_free(s->set);
    s->gray = NULL;
    s->labels = NULL;
    s->set = NULL;
}

int pr_source_next(struct pr_native_source *s, float *input, int32_t *labels,
                   uint64_t *ret_wait_ns, struct pr_err *err)
{
    const struct pr_native *n = s->n;

    *ret_wait_ns = 0;
    if (s->is_filled)
        return PR_OK;
    if (n->from == PR_NATIVE_SET)
        return pr_native_set_next(s->set, input, labels, ret_wait_ns, err);
    if (n->from == PR_NATIVE_DIGITS) {
        next_digits(s, input, labels);
        return PR_OK;
    }
    fill_noise((uint64_t)n->nn.seed, input, n->batch * s->elements);
    fill_labels((uint64_t)n->nn.seed, labels, n->batch, n->model->classes);
    s->is_filled = true;
    return PR_OK;
}
