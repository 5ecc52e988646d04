/*
 * A model from a few lines of text: its input and its layers, or its inputs,
 * layers and losses; and what inputs of it may be filled with.
 */
#ifndef TESTS_UNIT_NN_MODEL_TEXT_H
#define TESTS_UNIT_NN_MODEL_TEXT_H

#include "base/random.h"
#include "nn/model/model.h"

#include "torture.h"

#include <string.h>

/* input: "[3, 8, 8]" of a model with three classes; or lines of a definition,
 * "inputs: {…}\n". The test fails when it cannot be read. */
static inline struct pr_model *model_of(struct pr_arena *a, const char *input,
                                        const char *layers)
{
    const char *text =
        input[0] == '['
            ? pr_arena_printf(a, "model: m\ninput: %s\nclasses: 3\nlayers:\n%s",
                              input, layers)
            : pr_arena_printf(a, "model: m\n%slayers:\n%s", input, layers);
    struct pr_err err = {0};
    struct pr_model *m = NULL;

    if (pr_model_parse(text, strlen(text), "test", NULL, a, &m, &err))
        fail_msg("%s: %s (%s)\n%s", err.where, err.msg, err.hint, text);
    return m;
}

/* ---- inputs */

/* Whether 0 is none of its ids: lengths of an attention, and what ctc is to
 * find, where 0 is blank. */
static inline bool is_from_one(const struct pr_model *m, unsigned input)
{
    for (unsigned i = 0; i < m->layer_count; i++) {
        const struct pr_layer *l = &m->layers[i];

        if (l->has_lengths && l->inputs[l->input_count - 1] == input)
            return true;
    }
    for (unsigned i = 0; i < m->loss_count; i++)
        if (m->losses[i].kind == PR_LOSS_CTC &&
            m->losses[i].targets[0] == input)
            return true;
    return false;
}

static inline bool is_weight(const struct pr_model *m, unsigned input)
{
    for (unsigned i = 0; i < m->loss_count; i++)
        if (m->losses[i].weights == (int)input)
            return true;
    return false;
}

/* One number for that input. */
static inline double draw_input(const struct pr_model *m, unsigned input,
                                struct pr_rng *rng)
{
    uint64_t n = (uint64_t)m->layers[input].ids;
    bool from_one = is_from_one(m, input);

    if (n)
        return (double)(from_one + pr_rng_u64(rng) % (n - from_one));
    if (is_weight(m, input))
        return pr_rng_double(rng) < 0.25 ? 0 : 0.2 + pr_rng_double(rng);
    return pr_rng_gauss(rng);
}

#endif
