/* Batches to train with. */
#include "native/native_source.h"

#include "base/mem.h"
#include "base/random.h"

#include <string.h>

enum { KEPT_BYTES = 256 << 20 }; /* of digits that are drawn once */
enum { STREAM_NOISE = 1 };

/* ---- noise: a sample follows from its number */

/* Mean 0, deviation 1, nearly normal: the sum of four even numbers. Millions
 * are wanted at once, before the first step. */
static void noise_floats(struct pr_rng *rng, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t w = pr_rng_u64(rng);
        int sum = (int)(w & 0xffff) + (int)(w >> 16 & 0xffff) +
                  (int)(w >> 32 & 0xffff) + (int)(w >> 48);

        out[i] = (float)(sum - 131070) * (float)(1.7320508 / 65536);
    }
}

/* From first on, below ids. */
static void noise_ids(struct pr_rng *rng, int32_t *out, size_t count,
                      int64_t first, int64_t ids)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int32_t)(first + pr_rng_u64(rng) % (uint64_t)(ids - first));
}

/* Lengths, and what ctc spells, are never 0. */
static bool begins_at_1(const struct pr_model *m, unsigned input)
{
    for (unsigned i = m->input_count; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        if (l->has_lengths && l->inputs[l->input_count - 1] == input)
            return true;
    }
    for (unsigned i = 0; i < m->loss_count; i++)
        if (m->losses[i].kind == PR_LOSS_CTC &&
            (m->losses[i].lengths == (int)input ||
             m->losses[i].targets[0] == input))
            return true;
    return false;
}

static void fill_noise(const struct pr_native *n, unsigned input, void *out)
{
    const struct pr_layer *l = &n->model->layers[input];
    size_t each = pr_shape_numbers(&l->shape);
    struct pr_rng rng;

    for (uint64_t i = 0; i < n->batch; i++) {
        uint64_t sample = n->rank * n->batch + i;

        pr_rng_seed(&rng, (uint64_t)n->nn.seed,
                    sample * PR_MODEL_INPUTS + input + STREAM_NOISE);
        if (l->ids)
            noise_ids(&rng, (int32_t *)out + i * each, each,
                      l->ids > 1 && begins_at_1(n->model, input), l->ids);
        else
            noise_floats(&rng, (float *)out + i * each, each);
    }
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
    const struct pr_digit_images *d = &s->n->digits;
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
    uint64_t first = n->rank * n->batch, all = n->ranks * n->batch;

    if (s->at + all > n->samples) {
        s->epoch++;
        s->at = 0;
        pr_permutation_init(&s->order, n->samples,
                            pr_mix64(n->digits.seed + s->epoch));
    }
    for (uint64_t i = 0; i < n->batch; i++)
        labels[i] =
            take_digit(s, pr_permutation_at(&s->order, s->at + first + i),
                       input + i * s->elements);
    s->at += all;
}

static void held_out_digits(struct pr_native_source *s, uint64_t first,
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

static int native_source_open_set(struct pr_native_source *s,
                                  struct pr_progress *progress,
                                  const bool *stop, struct pr_err *err)
{
    const struct pr_native *n = s->n;
    const struct pr_layer_shape *shape = &n->model->layers[0].shape;
    struct pr_image_set_opts opts = {
        .batch = n->batch,
        .seed = (uint64_t)n->nn.seed + n->rank,
        .dims = shape->dims,
        .classes = n->model->classes,
        .augment = n->nn.augment && n->net.training,
        .learns = n->net.training,
        .evaluates = n->evaluate > 0 && !n->rank,
        .stop = stop,
        .progress = progress,
    };

    memcpy(opts.shape, shape->at, sizeof opts.shape);
    return pr_image_set_open(n->job, &opts, &s->set, err);
}

static int open_task(struct pr_native_source *s, struct pr_err *err)
{
    const struct pr_native *n = s->n;
    int rc = pr_task_batches_open(&s->task, n->model, (uint64_t)n->nn.seed,
                                  n->batch, n->warmup + n->batches, err);

    s->task.first = n->rank * n->batch;
    s->task.columns = n->ranks * n->batch;
    return rc;
}

int pr_native_source_open(struct pr_native_source *s, const struct pr_native *n,
                          struct pr_progress *progress, const bool *stop,
                          struct pr_err *err)
{
    int rc = PR_OK;

    *s = (struct pr_native_source){
        .n = n, .elements = pr_shape_numbers(&n->model->layers[0].shape)};
    if (n->from == PR_NATIVE_DIGITS)
        rc = open_digits(s, err);
    else if (n->from == PR_NATIVE_TASK)
        rc = open_task(s, err);
    else if (n->from == PR_NATIVE_SET)
        rc = native_source_open_set(s, progress, stop, err);
    if (rc)
        pr_native_source_close(s);
    return rc;
}

void pr_native_source_close(struct pr_native_source *s)
{
    pr_free(s->gray);
    pr_free(s->labels);
    pr_image_set_free(s->set);
    pr_task_batches_close(&s->task);
    s->gray = NULL;
    s->labels = NULL;
    s->set = NULL;
}

static void inputs_of(const struct pr_native_source *s, struct pr_net *net,
                      void **ret)
{
    for (unsigned i = 0; i < s->n->model->input_count; i++)
        ret[i] = pr_net_input(net, i);
}

int pr_native_source_next(struct pr_native_source *s, struct pr_net *net,
                          uint64_t *ret_wait_ns, struct pr_err *err)
{
    const struct pr_native *n = s->n;
    void *inputs[PR_MODEL_INPUTS];

    *ret_wait_ns = 0;
    if (s->is_filled)
        return PR_OK;
    inputs_of(s, net, inputs);
    if (n->from == PR_NATIVE_SET)
        return pr_image_set_next(s->set, inputs[0], inputs[1], ret_wait_ns,
                                 err);
    if (n->from == PR_NATIVE_DIGITS) {
        next_digits(s, inputs[0], inputs[1]);
        return PR_OK;
    }
    if (n->from == PR_NATIVE_CARTPOLE) /* it plays as it goes */
        return PR_OK;
    if (n->from == PR_NATIVE_TASK) {
        pr_task_batches_get(&s->task, s->step++, inputs);
        return PR_OK;
    }
    for (unsigned i = 0; i < n->model->input_count; i++)
        fill_noise(n, i, inputs[i]);
    s->is_filled = true;
    return PR_OK;
}

int pr_native_source_next_held_out(struct pr_native_source *s, uint64_t first,
                                   struct pr_net *net, struct pr_err *err)
{
    void *inputs[PR_MODEL_INPUTS];

    inputs_of(s, net, inputs);
    if (s->n->from == PR_NATIVE_SET)
        return pr_image_set_next_held_out(s->set, inputs[0], inputs[1], err);
    if (s->n->from == PR_NATIVE_TASK)
        pr_task_batches_get_held_out(&s->task, first / s->n->batch, inputs);
    else
        held_out_digits(s, first, inputs[0], inputs[1]);
    return PR_OK;
}
