/* Tasks of numbers: sine waves, polynomials, ratings, speech. */
#include "base/random.h"
#include "native/task/task.h"
#include "native/task/task_text.h"

#include <math.h>

/* ---- a polynomial of degree n without noise: powers of a normal number, and
 * the value that it has there. Its coefficients follow from the seed. */

enum { POWERS, VALUE };
enum { STREAM_SAMPLE, STREAM_COEFFICIENTS };

static int polynomial_open(struct pr_task_run *t, struct pr_err *err)
{
    if (pr_task_input_shape(t, POWERS)->dims == 1 &&
        pr_task_input_shape(t, VALUE)->dims == 1 &&
        pr_task_input_shape(t, VALUE)->at[0] == 1)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'polynomial' wants 'powers' of the shape [n] and "
                   "'value' of [1]");
}

static void polynomial_fill(const struct pr_task_run *t,
                            const struct pr_task_at *at, void *const *out)
{
    struct pr_task_at none = {0, 0, 1};
    float *powers = out[POWERS], *value = out[VALUE];
    struct pr_rng sample, all;
    double x, power = 1, sum;

    pr_task_seed_rng(t, at, STREAM_SAMPLE, &sample);
    pr_task_seed_rng(t, &none, STREAM_COEFFICIENTS, &all);
    x = pr_rng_gauss(&sample);
    sum = 5 * pr_rng_gauss(&all);
    for (int64_t i = 0; i < pr_task_input_shape(t, POWERS)->at[0]; i++) {
        power *= x;
        powers[i] = (float)power;
        sum += 5 * pr_rng_gauss(&all) * power;
    }
    *value = (float)sum;
}

const struct pr_task pr_task_polynomial = {
    .name = "polynomial",
    .says = "powers of a number and the value of a polynomial",
    .inputs = {"powers", "value"},
    .open = polynomial_open,
    .fill = polynomial_fill,
};

/* ---- who likes what: one in five things was chosen by its user, by taste, the
 * others are drawn at random, as recommenders are trained. Both users and
 * things follow Zipf's law. Tastes are four hidden numbers of each. */

enum { USER, THING, LIKED };
enum { TASTES = 4, NEGATIVES = 4, CHOICES = 8 };

static int ratings_open(struct pr_task_run *t, struct pr_err *err)
{
    bool fits = t->model->layers[t->input[USER]].ids > 1 &&
                t->model->layers[t->input[THING]].ids > 1;

    for (unsigned i = USER; i <= LIKED; i++)
        fits = fits && pr_task_input_shape(t, i)->dims == 1 &&
               pr_task_input_shape(t, i)->at[0] == 1;
    return fits ? PR_OK
                : pr_fail(err, PR_E_CONF, t->model->path,
                          "data 'ratings' wants 'user' and 'thing' of ids and "
                          "'liked', each of the shape [1]");
}

/* How well a thing suits a user: a product of tastes from -1 to 1. */
static double rating_affinity(uint64_t seed, int32_t user, int32_t thing)
{
    uint64_t a = pr_mix64(seed ^ (uint64_t)user << 1);
    uint64_t b = pr_mix64(seed ^ ((uint64_t)thing << 1 | 1));
    double sum = 0;

    for (unsigned i = 0; i < TASTES; i++) {
        double x = (double)(a >> 16 * i & 0xffff) / 32768 - 1;
        double y = (double)(b >> 16 * i & 0xffff) / 32768 - 1;

        sum += x * y;
    }
    return sum;
}

static void ratings_fill(const struct pr_task_run *t,
                         const struct pr_task_at *at, void *const *out)
{
    const struct pr_layer *l = t->model->layers;
    bool liked = at->column % (NEGATIVES + 1) == 0;
    struct pr_words users, things;
    struct pr_rng rng;
    int32_t user, best;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_words_init(&users, t->seed, 0, l[t->input[USER]].ids);
    pr_words_init(&things, t->seed, 0, l[t->input[THING]].ids);
    user = pr_words_draw(&users, pr_rng_u64(&rng));
    best = pr_words_draw(&things, pr_rng_u64(&rng));
    for (unsigned i = 1; liked && i < CHOICES; i++) {
        int32_t other = pr_words_draw(&things, pr_rng_u64(&rng));

        if (rating_affinity(t->seed, user, other) >
            rating_affinity(t->seed, user, best))
            best = other;
    }
    *(int32_t *)out[USER] = user;
    *(int32_t *)out[THING] = best;
    *(float *)out[LIKED] = liked;
}

const struct pr_task pr_task_ratings = {
    .name = "ratings",
    .says = "users and things, and whether they chose them",
    .inputs = {"user", "thing", "liked"},
    .ids = 1 << USER | 1 << THING,
    .open = ratings_open,
    .fill = ratings_fill,
};

/* ---- spectrograms of spelled words: each letter is a chord of its own that
 * lasts a while, in noise. Letter 0 is none. */

enum { SOUND, SPOKEN, LENGTH };
enum { TONES = 3 };

static int speech_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer *l = t->model->layers;
    const struct pr_layer_shape *s = pr_task_input_shape(t, SOUND);
    int64_t longest = pr_task_input_shape(t, SPOKEN)->at[0];

    if (s->dims == 3 && s->at[0] == 1 && s->at[2] >= 4 * longest &&
        pr_task_input_shape(t, SPOKEN)->dims == 1 &&
        l[t->input[SPOKEN]].ids > 2 && l[t->input[LENGTH]].ids > longest)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'speech' wants a 'sound' of [1, frequencies, times], "
                   "at least four times for each of the letters in 'spoken', "
                   "and a 'length' of up to as many");
}

/* The chord of a letter, from `from` to `to`. */
static void sound_letter(const struct pr_layer_shape *s, uint64_t seed,
                         int32_t letter, int64_t from, int64_t to, float *sound)
{
    for (uint64_t i = 0; i < TONES; i++) {
        uint64_t bits = pr_mix64(seed + (uint64_t)letter * TONES + i);
        float *row = sound + (int64_t)(bits % (uint64_t)s->at[1]) * s->at[2];

        for (int64_t x = from; x < to; x++)
            row[x] += (float)(2 * sin(3.141592653589793 * (double)(x - from) /
                                      (double)(to - from)));
    }
}

static void speech_fill(const struct pr_task_run *t,
                        const struct pr_task_at *at, void *const *out)
{
    const struct pr_layer_shape *s = pr_task_input_shape(t, SOUND);
    int64_t longest = pr_task_input_shape(t, SPOKEN)->at[0], length;
    int32_t *spoken = out[SPOKEN];
    float *sound = out[SOUND];
    struct pr_words w;
    struct pr_rng rng;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_words_init(&w, t->seed, 1, t->model->layers[t->input[SPOKEN]].ids);
    length = longest / 2 +
             (int64_t)(pr_rng_u64(&rng) % (uint64_t)(longest - longest / 2)) +
             1;
    for (int64_t i = 0; i < s->at[1] * s->at[2]; i++)
        sound[i] = (float)(pr_rng_double(&rng) - 0.5);
    for (int64_t i = 0; i < longest; i++) {
        spoken[i] = i < length ? pr_words_draw(&w, pr_rng_u64(&rng)) : 0;
        if (i < length)
            sound_letter(s, t->seed, spoken[i], i * s->at[2] / length,
                         (i + 1) * s->at[2] / length, sound);
    }
    *(int32_t *)out[LENGTH] = (int32_t)length;
}

const struct pr_task pr_task_speech = {
    .name = "speech",
    .says = "spectrograms of letters",
    .inputs = {"sound", "spoken", "length"},
    .ids = 1 << SPOKEN | 1 << LENGTH,
    .open = speech_open,
    .fill = speech_fill,
};

/* ---- sine waves of period 2 π 20 that begin anywhere, and the same one row
 * on: what comes next is to be told */

enum { WAVE, NEXT };
enum { PERIOD = 20 };

static int sine_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer_shape *a = pr_task_input_shape(t, WAVE);
    const struct pr_layer_shape *b = pr_task_input_shape(t, NEXT);

    if (a->dims == 2 && b->dims == 2 && a->at[1] == 1 && b->at[1] == 1 &&
        a->at[0] == b->at[0])
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'sine' wants 'wave' and 'next' of one shape [rows, "
                   "1]");
}

static void sine_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                      void *const *out)
{
    float *wave = out[WAVE], *next = out[NEXT];
    struct pr_rng rng;
    int64_t begin;

    pr_task_seed_rng(t, at, 0, &rng);
    begin = (int64_t)(pr_rng_u64(&rng) % (8 * PERIOD)) - 4 * PERIOD;
    for (int64_t i = 0; i < pr_task_input_shape(t, WAVE)->at[0]; i++) {
        wave[i] = (float)sin((double)(begin + i) / PERIOD);
        next[i] = (float)sin((double)(begin + i + 1) / PERIOD);
    }
}

const struct pr_task pr_task_sine = {
    .name = "sine",
    .says = "sine waves and what comes next in them",
    .inputs = {"wave", "next"},
    .open = sine_open,
    .fill = sine_fill,
};
