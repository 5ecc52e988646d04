/* Pieces of texts that begin anew with each sample: words, their places, and
 * the words that come next. */
#include "native/task/task_words.h"

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
