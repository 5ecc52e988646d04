/* Tasks of text: words, chapters, pairs of sentences, masked words. */
#include "native/task/task_text.h"

#include "base/random.h"

#include <math.h>

enum { LONGEST_RUN = 32 }; /* of successors */

void pr_words_init(struct pr_words *w, uint64_t seed, int32_t first,
                   int64_t ids)
{
    *w = (struct pr_words){seed, first, (int32_t)(ids - first), 0};
    w->log_count = log((double)w->count + 1);
}

/* The density of ranks is 1 / rank, so their logarithm is even. */
int32_t pr_words_draw(const struct pr_words *w, uint64_t bits)
{
    double u = (double)(bits >> 11) * 0x1p-53;
    int32_t rank = (int32_t)(exp(u * w->log_count) - 1);

    return w->first + (rank < w->count ? rank : w->count - 1);
}

static uint64_t bits_at(const struct pr_words *w, uint64_t text, uint64_t place)
{
    return pr_mix64(pr_mix64(w->seed + pr_mix64(text)) + place);
}

static int32_t words_successor(const struct pr_words *w, int32_t word)
{
    return pr_words_draw(w, pr_mix64(w->seed ^ (uint64_t)word << 20));
}

int32_t pr_words_get(const struct pr_words *w, uint64_t text, uint64_t place)
{
    unsigned run = 0;
    int32_t word;

    while (run < LONGEST_RUN && run < place &&
           bits_at(w, text, place - run) & 1)
        run++;
    word = pr_words_draw(w, bits_at(w, text, place - run));
    for (; run; run--)
        word = words_successor(w, word);
    return word;
}

/* ---- texts: words and those that come next, each column going on from one
 * step to the next */

enum { TASK_TEXT_WORDS, TASK_TEXT_NEXT };

static int task_text_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer *a = &t->model->layers[t->input[TASK_TEXT_WORDS]];
    const struct pr_layer *b = &t->model->layers[t->input[TASK_TEXT_NEXT]];

    if (a->ids > 2 && a->ids == b->ids && a->shape.dims == 1 &&
        b->shape.dims == 1 && a->shape.at[0] == b->shape.at[0])
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'text' wants 'words' and 'next' of one shape [n] and "
                   "as many ids");
}

static void task_text_fill(const struct pr_task_run *t,
                           const struct pr_task_at *at, void *const *out)
{
    int32_t *words = out[TASK_TEXT_WORDS], *next = out[TASK_TEXT_NEXT];
    uint64_t rows = (uint64_t)pr_task_input_shape(t, TASK_TEXT_WORDS)->at[0];
    uint64_t from = at->step * rows;
    struct pr_words w;

    pr_words_init(&w, t->seed, 1,
                  t->model->layers[t->input[TASK_TEXT_WORDS]].ids);
    words[0] = pr_words_get(&w, at->column, from);
    for (uint64_t i = 0; i < rows; i++) {
        next[i] = pr_words_get(&w, at->column, from + i + 1);
        if (i + 1 < rows)
            words[i + 1] = next[i];
    }
}

const struct pr_task pr_task_text = {
    .name = "text",
    .says = "texts of words as frequent as in a language",
    .inputs = {"words", "next"},
    .ids = 1 << TASK_TEXT_WORDS | 1 << TASK_TEXT_NEXT,
    .open = task_text_open,
    .fill = task_text_fill,
};

/* ---- pieces of texts that begin anew with each sample: words, their places,
 * and the words that come next */

enum { WORDS, PLACES, NEXT };

static int chapters_open(struct pr_task_run *t, struct pr_err *err)
{
    const struct pr_layer *a = &t->model->layers[t->input[WORDS]];
    const struct pr_layer *b = &t->model->layers[t->input[NEXT]];
    const struct pr_layer *p = &t->model->layers[t->input[PLACES]];
    int64_t rows = a->shape.at[0];

    if (a->ids > 2 && a->ids == b->ids && a->shape.dims == 1 &&
        b->shape.dims == 1 && p->shape.dims == 1 && b->shape.at[0] == rows &&
        p->shape.at[0] == rows && p->ids >= rows)
        return PR_OK;
    return pr_fail(err, PR_E_CONF, t->model->path,
                   "data 'chapters' wants 'words', 'places' and 'next' of one "
                   "shape [n]");
}

static void chapters_fill(const struct pr_task_run *t,
                          const struct pr_task_at *at, void *const *out)
{
    int32_t *words = out[WORDS], *places = out[PLACES], *next = out[NEXT];
    uint64_t text = at->step * at->columns + at->column;
    int64_t rows = pr_task_input_shape(t, WORDS)->at[0];
    struct pr_words w;

    pr_words_init(&w, t->seed, 1, t->model->layers[t->input[WORDS]].ids);
    words[0] = pr_words_get(&w, text, 0);
    for (int64_t i = 0; i < rows; i++) {
        places[i] = (int32_t)i;
        next[i] = pr_words_get(&w, text, (uint64_t)i + 1);
        if (i + 1 < rows)
            words[i + 1] = next[i];
    }
}

const struct pr_task pr_task_chapters = {
    .name = "chapters",
    .says = "pieces of texts, each beginning anew",
    .inputs = {"words", "places", "next"},
    .ids = 1 << WORDS | 1 << PLACES | 1 << NEXT,
    .open = chapters_open,
    .fill = chapters_fill,
};

/* ---- sentences in two languages: the second has the words of the first, each
 * under another number, from the last to the first. Word 0 fills up, 1 begins
 * and 2 ends a sentence. */

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

/* ---- what BERT learns from: two pieces of text of which the second follows
 * the first in every other sample, some words masked. Words 1 to 3 are the mask
 * and the marks at the beginning and between the pieces; 0 fills up. */

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
