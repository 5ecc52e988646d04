/*
 * Batches to train with: noise, digits, a task, a data set, a file, or episodes
 * of a pole on a cart.
 */
#include "native/native_source.h"

#include "base/mem.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* ---- the motion of a pole on a cart, by Euler's method */

static const double gravity = 9.8, cart = 1.0, pole = 0.1, half = 0.5;
static const double force = 10.0, tick = 0.02;
static const double farthest = 2.4, steepest = 12 * 2 * 3.141592653589793 / 360;

void pr_cartpole_start(struct pr_cartpole *c, struct pr_rng *rng)
{
    *c = (struct pr_cartpole){.x = 0.1 * pr_rng_double(rng) - 0.05,
                              .speed = 0.1 * pr_rng_double(rng) - 0.05,
                              .angle = 0.1 * pr_rng_double(rng) - 0.05,
                              .turning = 0.1 * pr_rng_double(rng) - 0.05};
}

bool pr_cartpole_push(struct pr_cartpole *c, bool right)
{
    double push = right ? force : -force, all = cart + pole;
    double cosine = cos(c->angle), sine = sin(c->angle);
    double pull = (push + pole * half * c->turning * c->turning * sine) / all;
    double bend = (gravity * sine - cosine * pull) /
                  (half * (4.0 / 3.0 - pole * cosine * cosine / all));

    c->x += tick * c->speed;
    c->speed += tick * (pull - pole * half * bend * cosine / all);
    c->angle += tick * c->turning;
    c->turning += tick * bend;
    c->steps++;
    return fabs(c->x) <= farthest && fabs(c->angle) <= steepest &&
           c->steps < PR_CARTPOLE_STEPS;
}

/* ---- episodes of a pole on a cart, and what is learned from them */

enum { SEES = 4, ACTIONS = 2 };
static const double discount = 0.99;

static bool is_vector(const struct pr_layer *l, int64_t count)
{
    return l->shape.dims == 1 && l->shape.at[0] == count;
}

static int cartpole_find_inputs(struct pr_cartpole_agent *c,
                                const struct pr_model *m, struct pr_err *err)
{
    int see = pr_model_input(m, "observation");
    int act = pr_model_input(m, "action");
    int worth = pr_model_input(m, "worth");
    const struct pr_layer *l = m->layers;

    if (see < 0 || act < 0 || worth < 0 || !is_vector(&l[see], SEES) ||
        l[see].ids || !is_vector(&l[worth], 1) || l[worth].ids ||
        !is_vector(&l[act], 1) || l[act].ids != ACTIONS ||
        !is_vector(&l[m->output], ACTIONS))
        return pr_fail(err, PR_E_CONF, m->path,
                       "data 'cartpole' wants inputs 'observation' of [4], "
                       "'action' of two ids and 'worth', and an output of two "
                       "classes");
    c->observation = (unsigned)see;
    c->action = (unsigned)act;
    c->worth = (unsigned)worth;
    return PR_OK;
}

int pr_cartpole_check_model(const struct pr_model *m, struct pr_err *err)
{
    struct pr_cartpole_agent c;

    return cartpole_find_inputs(&c, m, err);
}

int pr_cartpole_open(struct pr_cartpole_agent *c, const struct pr_native *n,
                     struct pr_net *learning, struct pr_err *err)
{
    struct pr_net_opts opts = n->net;
    int rc;

    *c = (struct pr_cartpole_agent){.reward = 0};
    opts.batch = 1;
    opts.training = opts.profile = opts.keep_gradients = false;
    opts.threads = 1; /* there is nothing to share out */
    opts.reduce = NULL;
    rc = cartpole_find_inputs(c, n->model, err);
    if (!rc)
        rc = pr_net_new(n->model, &opts, &c->acting, err);
    if (!rc)
        rc = pr_net_copy(c->acting, learning, err);
    pr_rng_seed(&c->rng, (uint64_t)n->nn.seed, 1 + n->rank);
    return rc;
}

void pr_cartpole_close(struct pr_cartpole_agent *c)
{
    pr_net_free(c->acting);
    c->acting = NULL;
}

/* Draws an action by the logits of the acting net. */
static int cartpole_draw_action(struct pr_cartpole_agent *c, const float *sees,
                                int32_t *ret, struct pr_err *err)
{
    float *in = pr_net_input(c->acting, c->observation);
    const float *logits;

    for (unsigned i = 0; i < SEES; i++)
        in[i] = sees[i];
    PR_TRY(pr_net_infer(c->acting, NULL, err));
    logits = pr_net_output(c->acting);
    *ret = pr_rng_double(&c->rng) >=
           1 / (1 + exp((double)(logits[1] - logits[0])));
    return PR_OK;
}

/* Each step is worth what came from it on, later rewards less, measured by
 * mean and deviation of the episode. */
static void cartpole_compute_worth(unsigned steps, float *worth)
{
    double later = 0, mean = 0, squares = 0, deviation;

    for (unsigned i = steps; i-- > 0;) {
        later = 1 + discount * later;
        worth[i] = (float)later;
        mean += later / steps;
    }
    for (unsigned i = 0; i < steps; i++)
        squares += (worth[i] - mean) * (worth[i] - mean);
    deviation = steps > 1 ? sqrt(squares / (steps - 1)) : 0;
    for (unsigned i = 0; i < PR_CARTPOLE_STEPS; i++)
        worth[i] =
            i < steps ? (float)((worth[i] - mean) / (deviation + 1.2e-7)) : 0;
}

static int cartpole_play_episode(struct pr_cartpole_agent *c,
                                 struct pr_net *learning, unsigned *ret_steps,
                                 struct pr_err *err)
{
    float *sees = pr_net_input(learning, c->observation);
    int32_t *actions = pr_net_input(learning, c->action);
    struct pr_cartpole world;
    bool goes_on = true;
    int rc = PR_OK;

    pr_cartpole_start(&world, &c->rng);
    for (; goes_on && !rc; sees += SEES, actions++) {
        sees[0] = (float)world.x;
        sees[1] = (float)world.speed;
        sees[2] = (float)world.angle;
        sees[3] = (float)world.turning;
        rc = cartpole_draw_action(c, sees, actions, err);
        if (!rc)
            goes_on = pr_cartpole_push(&world, *actions);
    }
    *ret_steps = world.steps;
    return rc;
}

int pr_cartpole_run_episode(struct pr_cartpole_agent *c,
                            const struct pr_native *n, struct pr_net *learning,
                            uint64_t *ret_steps, struct pr_net_score *ret,
                            struct pr_err *err)
{
    unsigned steps = 0;
    int rc;

    PR_TRY(cartpole_play_episode(c, learning, &steps, err));
    c->reward += (c->reward > 0 ? 0.1 : 1) * (steps - c->reward);
    *ret_steps = steps;
    if (!n->net.training)
        return PR_OK;
    cartpole_compute_worth(steps, pr_net_input(learning, c->worth));
    rc = pr_net_train(learning, ret, err);
    return rc ? rc : pr_net_copy(c->acting, learning, err);
}

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

/* ---- a source of any kind */

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
