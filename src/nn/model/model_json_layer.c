/* What belongs to the op of a layer, as JSON. */
#include "nn/model/model_impl.h"

void pr_model_write_list_json(struct pr_json_writer *jb, const char *key,
                              const int64_t *list, unsigned count)
{
    unsigned indent = jb->indent;

    pr_json_open_array(jb, key);
    jb->indent = 0;
    for (unsigned i = 0; i < count; i++)
        pr_json_put_int(jb, NULL, list[i]);
    pr_json_close(jb);
    jb->indent = indent;
}

static void write_layer_window(const struct pr_layer *l,
                               struct pr_json_writer *jb)
{
    pr_model_write_list_json(jb, "kernel", l->kernel, 2);
    pr_model_write_list_json(jb, "stride", l->stride, 2);
    pr_model_write_list_json(jb, "dilation", l->dilation, 2);
    pr_model_write_list_json(jb, "pad", l->pad, 4);
}

static void write_layer_norm(const struct pr_layer *l,
                             struct pr_json_writer *jb)
{
    pr_json_put_float(jb, "epsilon", l->epsilon);
    if (l->op == PR_LAYER_BATCH_NORM)
        pr_json_put_float(jb, "momentum", l->momentum);
    pr_json_put_bool(jb, "scale", l->has_scale);
}

static void write_layer_lrn(const struct pr_layer *l, struct pr_json_writer *jb)
{
    pr_json_put_int(jb, "size", l->size);
    pr_json_put_float(jb, "alpha", l->alpha);
    pr_json_put_float(jb, "beta", l->beta);
    pr_json_put_float(jb, "k", l->k);
}

/* Ops on rows and on the order of numbers. */
static void write_row_layer(const struct pr_layer *l, struct pr_json_writer *jb)
{
    switch (l->op) {
    case PR_LAYER_INPUT:
        if (l->ids)
            pr_json_put_int(jb, "ids", l->ids);
        break;
    case PR_LAYER_EMBEDDING:
        pr_json_put_int(jb, "out", l->out);
        pr_json_put_int(jb, "ids", l->ids);
        pr_json_put_bool(jb, "sparse", l->sparse);
        break;
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        pr_json_put_int(jb, "out", l->out);
        pr_json_put_bool(jb, "reverse", l->reverse);
        pr_json_put_bool(jb, "carry", l->carry);
        break;
    case PR_LAYER_ATTENTION:
        pr_json_put_int(jb, "heads", l->heads);
        pr_json_put_bool(jb, "causal", l->causal);
        pr_json_put_bool(jb, "lengths", l->has_lengths);
        break;
    case PR_LAYER_ADDITIVE_ATTENTION:
        pr_json_put_bool(jb, "lengths", l->has_lengths);
        break;
    case PR_LAYER_SLICE:
        pr_json_put_int(jb, "axis", l->axis);
        pr_json_put_int(jb, "first", l->first);
        pr_json_put_int(jb, "count", l->count);
        break;
    case PR_LAYER_CONCAT:
        pr_json_put_int(jb, "axis", l->axis);
        break;
    default:
        break;
    }
}

void pr_model_write_layer_json(const struct pr_layer *l,
                               struct pr_json_writer *jb)
{
    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        pr_json_put_int(jb, "out", l->out);
        write_layer_window(l, jb);
        pr_json_put_int(jb, "groups", l->groups);
        pr_json_put_bool(jb, "bias", l->bias);
        break;
    case PR_LAYER_LINEAR:
        pr_json_put_int(jb, "out", l->out);
        pr_json_put_bool(jb, "bias", l->bias);
        break;
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        write_layer_window(l, jb);
        if (l->op == PR_LAYER_AVERAGE_POOL)
            pr_json_put_bool(jb, "count_pad", l->count_pad);
        break;
    case PR_LAYER_BATCH_NORM:
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_INSTANCE_NORM:
        write_layer_norm(l, jb);
        break;
    case PR_LAYER_LRN:
        write_layer_lrn(l, jb);
        break;
    case PR_LAYER_REFLECT_PAD:
        pr_model_write_list_json(jb, "pad", l->pad, 4);
        break;
    case PR_LAYER_PIXEL_SHUFFLE:
    case PR_LAYER_UPSAMPLE:
        pr_json_put_int(jb, "size", l->size);
        break;
    case PR_LAYER_DROPOUT:
        pr_json_put_float(jb, "rate", l->rate);
        break;
    case PR_LAYER_LEAKY_RELU:
    case PR_LAYER_SCALE:
        pr_json_put_float(jb, "factor", l->factor);
        break;
    default:
        write_row_layer(l, jb);
        break;
    }
}
