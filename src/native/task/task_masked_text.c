/*
 * What BERT learns from: two pieces of text of which the second follows the
 * first in every other sample, some words masked. Words 1 to 3 are the mask and
 * the marks at the beginning and between the pieces; 0 fills up.
 */
#include "base/random.h"
#include "native/task/task_words.h"

enum {
    TASK_MASKED_TEXT_WORDS,
    TASK_MASKED_TEXT_PLACES,
    SENTENCES,
    LENGTH,
    MASKED,
    MISSING,
    FOLLOWS
};
enum { MASK = 1, BEGIN, BETWEEN, FIRST_WORD };

static int64_t ids_of(const struct pr_task_run *t, unsigned i)
{
    return t->model->layers[t->input[i]].ids;
}

static int masked_text_open(struct pr_task_run *t, struct pr_err *err)
{
    int64_t rows = pr_task_input_shape(t, TASK_MASKED_TEXT_WORDS)->at[0];
    int64_t masked = pr_task_input_shape(t, MASKED)->at[0];
    bool fits = ids_of(t, TASK_MASKED_TEXT_WORDS) > FIRST_WORD + 1 &&
                rows >= 8 && masked <= rows / 4;

    for (unsigned i = 0; i <= FOLLOWS; i++)
        fits = fits && pr_task_input_shape(t, i)->dims == 1;
    for (unsigned i = TASK_MASKED_TEXT_PLACES; i <= SENTENCES; i++)
        fits = fits && pr_task_input_shape(t, i)->at[0] == rows;
    fits = fits && ids_of(t, TASK_MASKED_TEXT_PLACES) >= rows &&
           ids_of(t, SENTENCES) > 1 && ids_of(t, LENGTH) > rows &&
           ids_of(t, MASKED) >= rows &&
           ids_of(t, MISSING) >= ids_of(t, TASK_MASKED_TEXT_WORDS) &&
           ids_of(t, FOLLOWS) > 1;
    if (fits && pr_task_input_shape(t, MISSING)->at[0] == masked)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'masked_text' wants at least 8 'words', as many "
                   "'places' and 'sentences', and for a quarter of them at "
                   "most 'masked' and 'missing', with ids for "
                   "all there can be");
}

/* Two pieces with their marks; returns how many words that are. */
static int64_t masked_text_write_words(const struct pr_task_run *t,
                                       struct pr_rng *rng, uint64_t text,
                                       bool follows, int32_t *words,
                                       int32_t *sentences)
{
    int64_t rows = pr_task_input_shape(t, TASK_MASKED_TEXT_WORDS)->at[0];
    int64_t length = rows - (int64_t)(pr_rng_u64(rng) % (uint64_t)(rows / 4));
    int64_t half = length / 2;
    struct pr_words w;

    pr_words_init(&w, t->seed, FIRST_WORD, ids_of(t, TASK_MASKED_TEXT_WORDS));
    for (int64_t i = 0; i < rows; i++) {
        bool second = i > half;
        /* A piece that does not follow is of another text. */
        uint64_t from = second && !follows ? ~text : text;

        words[i] = i == 0        ? BEGIN
                   : i == half   ? BETWEEN
                   : i >= length ? 0
                                 : pr_words_get(&w, from, (uint64_t)i);
        sentences[i] = second && i < length;
    }
    return length;
}

/* Masks words at places that are spread over the text, each in its share. */
static void masked_text_mask_words(const struct pr_task_run *t,
                                   struct pr_rng *rng, int64_t length,
                                   int32_t *words, int32_t *masked,
                                   int32_t *missing)
{
    int64_t count = pr_task_input_shape(t, MASKED)->at[0],
            share = (length - 1) / count;

    for (int64_t i = 0; i < count; i++) {
        int64_t from = 1 + i * share;
        int64_t at = (int64_t)(pr_rng_u64(rng) % (uint64_t)share);
        uint64_t how = pr_rng_u64(rng) % 10;

        /* The mark between the pieces stays; a share has three places. */
        at = from + (words[from + at] == BETWEEN ? (at + 1) % share : at);
        masked[i] = (int32_t)at;
        missing[i] = words[at];
        /* One in ten stays, and one becomes another word. */
        if (how == 9)
            words[at] = words[1 + (at + 1) % (length - 1)];
        else if (how < 8)
            words[at] = MASK;
    }
}

static void masked_text_fill(const struct pr_task_run *t,
                             const struct pr_task_at *at, void *const *out)
{
    uint64_t text = at->step * at->columns + at->column;
    struct pr_rng rng;
    int64_t length;
    bool follows;

    pr_task_seed_rng(t, at, 0, &rng);
    follows = pr_rng_u64(&rng) & 1;
    length = masked_text_write_words(
        t, &rng, text, follows, out[TASK_MASKED_TEXT_WORDS], out[SENTENCES]);
    masked_text_mask_words(t, &rng, length, out[TASK_MASKED_TEXT_WORDS],
                           out[MASKED], out[MISSING]);
    for (int64_t i = 0;
         i < pr_task_input_shape(t, TASK_MASKED_TEXT_PLACES)->at[0]; i++)
        ((int32_t *)out[TASK_MASKED_TEXT_PLACES])[i] = (int32_t)i;
    *(int32_t *)out[LENGTH] = (int32_t)length;
    *(int32_t *)out[FOLLOWS] = follows;
}

const struct pr_task pr_task_masked_text = {
    .name = "masked_text",
    .says = "pairs of sentences with masked words",
    .inputs = {"words", "places", "sentences", "length", "masked", "missing",
               "follows"},
    .ids = 1 << TASK_MASKED_TEXT_WORDS | 1 << TASK_MASKED_TEXT_PLACES |
           1 << SENTENCES | 1 << LENGTH | 1 << MASKED | 1 << MISSING |
           1 << FOLLOWS,
    .open = masked_text_open,
    .fill = masked_text_fill,
};
