/*
 * Spectrograms of spelled words: each letter is a chord of its own that lasts a
 * while, in noise. Letter 0 is none.
 */
#include "base/random.h"
#include "native/task/task_words.h"

#include <math.h>

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
