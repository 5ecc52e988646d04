/* What a layer costs: numbers learned, operations of a forward pass, and the
 * tensors that it keeps. */
#include "nn/model_impl.h"

static bool mul(uint64_t *x, int64_t by)
{
    return !__builtin_mul_overflow(*x, (uint64_t)by, x) && *x <= INT64_MAX;
}

bool pr_shape_elements(const struct pr_layer_shape *s, int64_t *ret)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < s->dims; i++)
        if (!mul(&n, s->at[i]))
            return false;
    *ret = (int64_t)n;
    return n <= (uint64_t)PR_MODEL_ELEMENTS;
}

/* Numbers that each output of a conv or linear is a sum over. */
static bool fan_in(const struct pr_layer *l, const struct pr_layer_shape *in,
                   uint64_t *ret)
{
    int64_t elements;

    *ret = 1;
    if (l->op == PR_LAYER_CONV)
        return mul(ret, in->at[0] / l->groups) && mul(ret, l->kernel[0]) &&
               mul(ret, l->kernel[1]);
    return pr_shape_elements(in, &elements) && mul(ret, elements);
}

bool pr_model_count(struct pr_layer *l, const struct pr_layer_shape *in)
{
    uint64_t weights, flops;

    if (l->op == PR_LAYER_BATCH_NORM)
        l->params = (uint64_t)in->at[0] * (l->has_scale ? 2 : 1);
    if (l->op != PR_LAYER_CONV && l->op != PR_LAYER_LINEAR)
        return true;
    if (!fan_in(l, in, &weights) || !mul(&weights, l->out))
        return false;
    flops = weights;
    for (unsigned i = 1; i < l->shape.dims; i++)
        if (!mul(&flops, l->shape.at[i]))
            return false;
    l->params = weights + (l->bias ? (uint64_t)l->out : 0);
    l->flops = flops;
    return mul(&l->flops, 2);
}

/* ---- tensors */

static struct pr_layer_tensor per_channel(const char *suffix, int64_t channels,
                                          bool is_learned)
{
    return (struct pr_layer_tensor){suffix, is_learned, 1, {channels}};
}

static struct pr_layer_tensor weight(const struct pr_layer *l,
                                     const struct pr_layer_shape *in)
{
    struct pr_layer_tensor t = {"weight", true, 2, {l->out}};

    if (l->op == PR_LAYER_CONV) {
        t.dims = 4;
        t.at[1] = in->at[0] / l->groups;
        t.at[2] = l->kernel[0];
        t.at[3] = l->kernel[1];
    } else {
        t.at[1] = 1;
        for (unsigned i = 0; i < in->dims; i++)
            t.at[1] *= in->at[i];
    }
    return t;
}

unsigned pr_layer_tensors(const struct pr_model *m, const struct pr_layer *l,
                          struct pr_layer_tensor out[static PR_LAYER_TENSORS])
{
    const struct pr_layer_shape *in =
        l->input_count ? &m->layers[l->inputs[0]].shape : NULL;
    unsigned n = 0;

    if (l->op == PR_LAYER_CONV || l->op == PR_LAYER_LINEAR) {
        out[n++] = weight(l, in);
        if (l->bias)
            out[n++] = per_channel("bias", l->out, true);
    } else if (l->op == PR_LAYER_BATCH_NORM) {
        if (l->has_scale)
            out[n++] = per_channel("weight", in->at[0], true);
        out[n++] = per_channel("bias", in->at[0], true);
        out[n++] = per_channel("mean", in->at[0], false);
        out[n++] = per_channel("var", in->at[0], false);
    }
    return n;
}
