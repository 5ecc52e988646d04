/* Texts: words and those that come next, each column going on from one step to
 * the next. */
#include "native/task/task_words.h"

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
