/* What is checked when all layers are there: the output, that every layer is
 * of use, the sums, and that they are what was published. */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- the output */

static int check_model_output(struct pr_model_builder *b,
                              const struct pr_value *at)
{
    const struct pr_layer *l = &b->m->layers[b->m->output];
    unsigned dims = l->shape.dims;
    char text[72];

    if (l->op == PR_LAYER_SOFTMAX && !pr_get(b->root, "losses")) {
        PR_MODEL_FAIL(b, at,
                      "the last layer is a softmax, which the loss "
                      "computes itself");
        return pr_hint(b->err, "leave it out");
    }
    if (!b->m->classes || (dims < 3 && l->shape.at[dims - 1] == b->m->classes &&
                           (dims == 1 || pr_get(b->root, "losses"))))
        return PR_OK;
    PR_MODEL_FAIL(b, at,
                  "the %s, '%s', gives %s, not one number for "
                  "each class: [%" PRId64 "]",
                  pr_get(b->root, "output") ? "output" : "last layer", l->name,
                  pr_shape_text(&l->shape, text), b->m->classes);
    return pr_hint(b->err, "end with {linear: $classes}");
}

int pr_model_read_output(struct pr_model_builder *b)
{
    static const struct pr_model_env no_env;
    static const struct pr_model_scope whole = {.prefix = "", .env = &no_env};
    const struct pr_value *v = pr_get(b->root, "output");
    struct pr_value at = pr_model_place(b, b->m->output);
    int rc = PR_OK;

    if (b->m->layer_count == b->m->input_count)
        return pr_fail(b->err, PR_E_CONF, b->name, "the model has no layers");
    if (v)
        rc = pr_model_find_name(b, v, "output", &whole, &b->m->output);
    if (rc)
        return rc;
    if (b->m->layers[b->m->output].op == PR_LAYER_INPUT)
        return PR_MODEL_FAIL(b, v ? v : &at, "the output is an input");
    return check_model_output(b, v ? v : &at);
}

/* ---- use */

static void mark_loss_layers(const struct pr_model *m, bool *used)
{
    for (unsigned i = 0; i < m->loss_count; i++) {
        const struct pr_loss *l = &m->losses[i];

        for (unsigned k = 0; k < l->of_count; k++)
            used[l->of[k]] = true;
        for (unsigned k = 0; k < l->target_count; k++)
            used[l->targets[k]] = true;
        if (l->weights >= 0)
            used[l->weights] = true;
        if (l->lengths >= 0)
            used[l->lengths] = true;
    }
}

static int check_layers_used(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    bool *used = PR_ARENA_ARRAY(b->work, bool, m->layer_count);

    if (!used)
        return pr_fail_nomem(b->err);
    used[m->output] = true;
    mark_loss_layers(m, used);
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; used[i] && k < m->layers[i].input_count; k++)
            used[m->layers[i].inputs[k]] = true;
    for (unsigned i = 0; i < m->layer_count; i++)
        if (!used[i]) {
            struct pr_value at = pr_model_place(b, i);

            return PR_MODEL_FAIL(b, &at, "nothing uses %s'%s'",
                                 i < m->input_count ? "the input "
                                                    : "the output of ",
                                 m->layers[i].name);
        }
    return PR_OK;
}

/* ---- sums */

static int sum_layer_costs(struct pr_model_builder *b)
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

static int check_reference_params(struct pr_model_builder *b,
                                  const struct pr_value *v)
{
    if (v->kind != PR_INT || v->i < 1)
        return pr_model_fail_wants(b, v, "params",
                                   "a whole number of at least 1");
    b->m->reference_params = (uint64_t)v->i;
    if (b->is_changed || (uint64_t)v->i == b->m->params)
        return PR_OK;
    return PR_MODEL_FAIL(b, v,
                         "the layers have %" PRIu64 " parameters, not %" PRId64,
                         b->m->params, v->i);
}

static int check_reference_flops(struct pr_model_builder *b,
                                 const struct pr_value *v)
{
    double is = (double)b->m->flops;

    if (!pr_value_is_number(v) || !(pr_value_number(v) > 0) ||
        !isfinite(pr_value_number(v)))
        return pr_model_fail_wants(b, v, "flops", "a number above 0");
    b->m->reference_flops = pr_value_number(v);
    if (b->is_changed ||
        fabs(is - pr_value_number(v)) <= 0.01 * pr_value_number(v))
        return PR_OK;
    PR_MODEL_FAIL(b, v, "the layers take %.6g operations, not %.6g", is,
                  pr_value_number(v));
    return pr_hint(b->err, "forward of one sample, two for each multiply-add "
                           "of conv and linear");
}

static int check_model_reference(struct pr_model_builder *b)
{
    const struct pr_value *params = pr_get(&b->reference, "params");
    const struct pr_value *flops = pr_get(&b->reference, "flops");
    int rc = params ? check_reference_params(b, params) : PR_OK;

    return !rc && flops ? check_reference_flops(b, flops) : rc;
}

int pr_model_check(struct pr_model_builder *b)
{
    int rc = check_layers_used(b);

    if (!rc)
        rc = sum_layer_costs(b);
    return rc ? rc : check_model_reference(b);
}
