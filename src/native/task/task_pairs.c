/*
 * Sentences in two languages: the second has the words of the first, each under
 * another number, from the last to the first. Word 0 fills up, 1 begins and 2
 * ends a sentence.
 */
#include "base/random.h"
#include "native/task/task_words.h"

enum { SOURCE, TASK_PAIRS_LENGTH, BEFORE, TARGET };
enum { TASK_PAIRS_BEGIN = 1, END, TASK_PAIRS_FIRST_WORD };

static int pairs_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer *l = t->model->layers;
    int64_t rows = pr_task_input_shape(t, SOURCE)->at[0];
    int64_t ids = l[t->input[SOURCE]].ids;
    bool fits = pr_task_input_shape(t, SOURCE)->dims == 1 && rows >= 4 &&
                ids > TASK_PAIRS_FIRST_WORD + 1;

    for (unsigned i = BEFORE; i <= TARGET; i++)
        fits = fits && pr_task_input_shape(t, i)->dims == 1 &&
               pr_task_input_shape(t, i)->at[0] == rows &&
               l[t->input[i]].ids == ids;
    if (fits && l[t->input[TASK_PAIRS_LENGTH]].ids > rows)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'pairs' wants 'source', 'before' and 'target' of one "
                   "shape [n] and as many ids, and a 'length' of up to n");
}

static int32_t pairs_translate_word(const struct pr_words *w, int32_t word)
{
    return w->first + (word - w->first + w->count / 2) % w->count;
}

static void pairs_fill(const struct pr_task_run *t, const struct pr_task_at *at,
                       void *const *out)
{
    int32_t *source = out[SOURCE], *before = out[BEFORE], *target = out[TARGET];
    uint64_t text = at->step * at->columns + at->column;
    int64_t rows = pr_task_input_shape(t, SOURCE)->at[0], length;
    struct pr_words w;
    struct pr_rng rng;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_words_init(&w, t->seed, TASK_PAIRS_FIRST_WORD,
                  t->model->layers[t->input[SOURCE]].ids);
    length =
        rows / 2 + (int64_t)(pr_rng_u64(&rng) % (uint64_t)(rows - rows / 2));
    for (int64_t i = 0; i < rows; i++)
        source[i] = i < length ? pr_words_get(&w, text, (uint64_t)i) : 0;
    for (int64_t i = 0; i < rows; i++)
        target[i] = i < length
                        ? pairs_translate_word(&w, source[length - 1 - i])
                    : i == length ? END
                                  : 0;
    for (int64_t i = 0; i < rows; i++)
        before[i] = i ? target[i - 1] : TASK_PAIRS_BEGIN;
    *(int32_t *)out[TASK_PAIRS_LENGTH] = (int32_t)length;
}

const struct pr_task pr_task_pairs = {
    .name = "pairs",
    .says = "sentences and their translations",
    .inputs = {"source", "length", "before", "target"},
    .ids = 1 << SOURCE | 1 << TASK_PAIRS_LENGTH | 1 << BEFORE | 1 << TARGET,
    .open = pairs_open,
    .fill = pairs_fill,
};
