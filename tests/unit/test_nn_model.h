/* Reading definitions of models that are right. */
#ifndef TESTS_UNIT_TEST_NN_MODEL_H
#define TESTS_UNIT_TEST_NN_MODEL_H

#include "nn/model/model_impl.h"

#include "values.h"

/* The test fails when it cannot be read. */
static inline struct pr_model *parse(struct pr_arena *a, const char *text,
                                     const char *opts)
{
    struct pr_value v = opts ? json(a, opts) : pr_null();
    struct pr_model_variant variant = {.values = &v};
    struct pr_err err = {0};
    struct pr_model *m = NULL;

    if (pr_model_parse(text, strlen(text), "test", &variant, a, &m, &err))
        fail_msg("%s: %s (%s)\n%s", err.where, err.msg, err.hint, text);
    return m;
}

#define HEAD "model: m\ninput: [1, 8, 8]\nclasses: 3\n"

/* A body of layers after that head. */
static inline struct pr_model *parse_body(struct pr_arena *a, const char *body)
{
    return parse(a, pr_arena_printf(a, HEAD "%s", body), NULL);
}

#endif
