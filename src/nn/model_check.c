/* What is checked when all layers are there: the output, that every layer is
 * of use, the sums, and that they are what was published. */
#include "nn/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A layer as a place for messages. */
static struct pr_value place(const struct pr_model_builder *b, unsigned layer)
{
    return (struct pr_value){.line = b->m->layers[layer].line,
                             .col = b->cols[layer]};
}

static int check_output(struct pr_model_builder *b)
{
    const struct pr_layer *l = &b->m->layers[b->m->output];
    struct pr_value at = place(b, b->m->output);
    char text[72];

    if (l->op == PR_LAYER_INPUT)
        return PR_MODEL_FAIL(b, &at, "the model has no layers");
    if (l->op == PR_LAYER_SOFTMAX) {
        PR_MODEL_FAIL(b, &at,
                      "the last layer is a softmax, which the loss "
                      "computes itself");
        return pr_hint(b->err, "leave it out");
    }
    if (l->shape.dims == 1 && l->shape.at[0] == b->m->classes)
        return PR_OK;
    PR_MODEL_FAIL(b, &at,
                  "the last layer, '%s', gives %s, not one number for "
                  "each class: [%" PRId64 "]",
                  l->name, pr_shape_text(&l->shape, text), b->m->classes);
    return pr_hint(b->err, "end with {linear: $classes}");
}

static int check_use(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    bool *used = PR_ARENA_ARRAY(b->work, bool, m->layer_count);

    if (!used)
        return pr_fail_nomem(b->err);
    used[m->output] = true;
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; used[i] && k < m->layers[i].input_count; k++)
            used[m->layers[i].inputs[k]] = true;
    for (unsigned i = 1; i < m->layer_count; i++)
        if (!used[i]) {
            struct pr_value at = place(b, i);

            return PR_MODEL_FAIL(b, &at, "nothing uses the output of '%s'",
                                 m->layers[i].name);
        }
    return PR_OK;
}

static int sum(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;

    for (unsigned i = 0; i < m->layer_count; i++) {
        m->params += m->layers[i].params;
        m->flops += m->layers[i].flops;
        if (m->params > INT64_MAX || m->flops > INT64_MAX)
            return pr_fail(b->err, PR_E_CONF, b->name,
                           "the model is too large to be counted");
    }
    return PR_OK;
}

static int check_params(struct pr_model_builder *b, const struct pr_value *v)
{
    if (v->kind != PR_INT || v->i < 1)
        return pr_model_wants(b, v, "params", "a whole number of at least 1");
    b->m->reference_params = (uint64_t)v->i;
    if (b->is_changed || (uint64_t)v->i == b->m->params)
        return PR_OK;
    return PR_MODEL_FAIL(b, v,
                         "the layers have %" PRIu64 " parameters, not %" PRId64,
                         b->m->params, v->i);
}

static int check_flops(struct pr_model_builder *b, const struct pr_value *v)
{
    double is = (double)b->m->flops;

    if (!pr_is_number(v) || !(pr_number(v) > 0) || !isfinite(pr_number(v)))
        return pr_model_wants(b, v, "flops", "a number above 0");
    b->m->reference_flops = pr_number(v);
    if (b->is_changed || fabs(is - pr_number(v)) <= 0.01 * pr_number(v))
        return PR_OK;
    PR_MODEL_FAIL(b, v, "the layers take %.6g operations, not %.6g", is,
                  pr_number(v));
    return pr_hint(b->err, "forward of one sample, two for each multiply-add "
                           "of conv and linear");
}

static int check_reference(struct pr_model_builder *b)
{
    const struct pr_value *params = pr_get(&b->reference, "params");
    const struct pr_value *flops = pr_get(&b->reference, "flops");
    int rc = params ? check_params(b, params) : PR_OK;

    return !rc && flops ? check_flops(b, flops) : rc;
}

int pr_model_check(struct pr_model_builder *b)
{
    int rc = check_output(b);

    if (!rc)
        rc = check_use(b);
    if (!rc)
        rc = sum(b);
    return rc ? rc : check_reference(b);
}
