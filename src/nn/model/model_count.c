/* What a layer costs: numbers learned and operations of a forward pass. */
#include "nn/model/model_impl.h"

static bool multiply_count(uint64_t *x, int64_t by)
{
    return !__builtin_mul_overflow(*x, (uint64_t)by, x) && *x <= INT64_MAX;
}

bool pr_shape_elements(const struct pr_layer_shape *s, int64_t *ret)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < s->dims; i++)
        if (!multiply_count(&n, s->at[i]))
            return false;
    *ret = (int64_t)n;
    return n <= (uint64_t)PR_MODEL_ELEMENTS;
}

/* What its tensors hold of learned numbers. */
static bool count_params(const struct pr_model *m, struct pr_layer *l)
{
    struct pr_layer_tensor t[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(m, l, t);

    l->params = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t elements = 1;

        for (unsigned k = 0; k < t[i].dims; k++)
            if (!multiply_count(&elements, t[i].at[k]))
                return false;
        l->params += t[i].is_learned ? elements : 0;
        if (l->params > INT64_MAX)
            return false;
    }
    return true;
}

/* ---- operations */

static bool multiply_all_counts(uint64_t *ret, const int64_t *of,
                                unsigned count)
{
    *ret = 1;
    for (unsigned i = 0; i < count; i++)
        if (!multiply_count(ret, of[i]))
            return false;
    return true;
}

/* Each weight is used once for each place. */
static bool count_conv(struct pr_layer *l, const struct pr_layer_shape *in)
{
    bool turned = l->op == PR_LAYER_TRANSPOSED_CONV;
    const int64_t *places = turned ? in->at : l->shape.at;
    int64_t of[] = {
        2,         l->out,   in->at[0] / l->groups, l->kernel[0], l->kernel[1],
        places[1], places[2]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_linear(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, l->out, 0};

    return pr_shape_elements(in, &of[2]) &&
           multiply_all_counts(&l->flops, of, 3);
}

/* All gates of all rows: what comes in, and what was there. */
static bool count_gates(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, l->op == PR_LAYER_LSTM ? 4 : 3, l->out, in->at[0],
                    in->at[1] + l->out};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_attention(const struct pr_model *m, struct pr_layer *l)
{
    bool is_one = l->input_count - l->has_lengths == 1;
    const struct pr_layer *keys = &m->layers[l->inputs[is_one ? 0 : 1]];
    int64_t of[] = {4, l->shape.at[0], keys->shape.at[0], l->shape.at[1]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_gram(struct pr_layer *l, const struct pr_layer_shape *in)
{
    int64_t of[] = {2, in->at[0], in->at[0], in->at[1], in->at[2]};

    return multiply_all_counts(&l->flops, of, sizeof of / sizeof *of);
}

static bool count_flops(const struct pr_model *m, struct pr_layer *l)
{
    const struct pr_layer_shape *in = &m->layers[l->inputs[0]].shape;

    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        return count_conv(l, in);
    case PR_LAYER_LINEAR:
        return count_linear(l, in);
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        return count_gates(l, in);
    case PR_LAYER_ATTENTION:
        return count_attention(m, l);
    case PR_LAYER_GRAM:
        return count_gram(l, in);
    default:
        return true;
    }
}

bool pr_model_count(const struct pr_model *m, struct pr_layer *l)
{
    return count_params(m, l) && count_flops(m, l);
}
