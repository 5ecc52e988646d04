/* What belongs to the op of a layer, as JSON. */
#include "nn/model_impl.h"

void pr_model_json_list(struct pr_jb *jb, const char *key, const int64_t *list,
                        unsigned count)
{
    unsigned indent = jb->indent;

    pr_jb_arr(jb, key);
    jb->indent = 0;
    for (unsigned i = 0; i < count; i++)
        pr_jb_int(jb, NULL, list[i]);
    pr_jb_end(jb);
    jb->indent = indent;
}

static void put_window(const struct pr_layer *l, struct pr_jb *jb)
{
    pr_model_json_list(jb, "kernel", l->kernel, 2);
    pr_model_json_list(jb, "stride", l->stride, 2);
    pr_model_json_list(jb, "dilation", l->dilation, 2);
    pr_model_json_list(jb, "pad", l->pad, 4);
}

static void put_norm(const struct pr_layer *l, struct pr_jb *jb)
{
    pr_jb_float(jb, "epsilon", l->epsilon);
    if (l->op == PR_LAYER_BATCH_NORM)
        pr_jb_float(jb, "momentum", l->momentum);
    pr_jb_bool(jb, "scale", l->has_scale);
}

static void put_lrn(const struct pr_layer *l, struct pr_jb *jb)
{
    pr_jb_int(jb, "size", l->size);
    pr_jb_float(jb, "alpha", l->alpha);
    pr_jb_float(jb, "beta", l->beta);
    pr_jb_float(jb, "k", l->k);
}

/* Ops on rows and on the order of numbers. */
static void put_rows(const struct pr_layer *l, struct pr_jb *jb)
{
    switch (l->op) {
    case PR_LAYER_INPUT:
        if (l->ids)
            pr_jb_int(jb, "ids", l->ids);
        break;
    case PR_LAYER_EMBEDDING:
        pr_jb_int(jb, "out", l->out);
        pr_jb_int(jb, "ids", l->ids);
        pr_jb_bool(jb, "sparse", l->sparse);
        break;
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        pr_jb_int(jb, "out", l->out);
        pr_jb_bool(jb, "reverse", l->reverse);
        pr_jb_bool(jb, "carry", l->carry);
        break;
    case PR_LAYER_ATTENTION:
        pr_jb_int(jb, "heads", l->heads);
        pr_jb_bool(jb, "causal", l->causal);
        pr_jb_bool(jb, "lengths", l->has_lengths);
        break;
    case PR_LAYER_ADDITIVE_ATTENTION:
        pr_jb_bool(jb, "lengths", l->has_lengths);
        break;
    case PR_LAYER_SLICE:
        pr_jb_int(jb, "axis", l->axis);
        pr_jb_int(jb, "first", l->first);
        pr_jb_int(jb, "count", l->count);
        break;
    case PR_LAYER_CONCAT:
        pr_jb_int(jb, "axis", l->axis);
        break;
    default:
        break;
    }
}

void pr_model_json_layer(const struct pr_layer *l, struct pr_jb *jb)
{
    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        pr_jb_int(jb, "out", l->out);
        put_window(l, jb);
        pr_jb_int(jb, "groups", l->groups);
        pr_jb_bool(jb, "bias", l->bias);
        break;
    case PR_LAYER_LINEAR:
        pr_jb_int(jb, "out", l->out);
        pr_jb_bool(jb, "bias", l->bias);
        break;
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        put_window(l, jb);
        if (l->op == PR_LAYER_AVERAGE_POOL)
            pr_jb_bool(jb, "count_pad", l->count_pad);
        break;
    case PR_LAYER_BATCH_NORM:
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_INSTANCE_NORM:
        put_norm(l, jb);
        break;
    case PR_LAYER_LRN:
        put_lrn(l, jb);
        break;
    case PR_LAYER_REFLECT_PAD:
        pr_model_json_list(jb, "pad", l->pad, 4);
        break;
    case PR_LAYER_PIXEL_SHUFFLE:
    case PR_LAYER_UPSAMPLE:
        pr_jb_int(jb, "size", l->size);
        break;
    case PR_LAYER_DROPOUT:
        pr_jb_float(jb, "rate", l->rate);
        break;
    case PR_LAYER_LEAKY_RELU:
    case PR_LAYER_SCALE:
        pr_jb_float(jb, "factor", l->factor);
        break;
    default:
        put_rows(l, jb);
        break;
    }
}
