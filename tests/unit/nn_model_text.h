/* A model from a few lines of text: its input and its layers. */
#ifndef TESTS_UNIT_NN_MODEL_TEXT_H
#define TESTS_UNIT_NN_MODEL_TEXT_H

#include "nn/model.h"

#include "torture.h"

#include <string.h>

/* The test fails when it cannot be read. */
static inline struct pr_model *model_of(struct pr_arena *a, const char *input,
                                        const char *layers)
{
    const char *text = pr_arena_printf(
        a, "model: m\ninput: %s\nclasses: 3\nlayers:\n%s", input, layers);
    struct pr_err err = {0};
    struct pr_model *m = NULL;

    if (pr_model_parse(text, strlen(text), "test", NULL, a, &m, &err))
        fail_msg("%s: %s (%s)\n%s", err.where, err.msg, err.hint, text);
    return m;
}

#endif
