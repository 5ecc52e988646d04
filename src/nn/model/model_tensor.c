/* The tensors that a layer keeps: what is learned, and what norms remember. */
#include "nn/model/model_impl.h"

struct list {
    struct pr_layer_tensor *out;
    unsigned count;
};

static void tensor_list_add(struct list *list, const char *suffix,
                            unsigned dims, const int64_t *at)
{
    struct pr_layer_tensor *t = &list->out[list->count++];

    *t = (struct pr_layer_tensor){suffix, true, dims, {0}};
    for (unsigned i = 0; i < dims; i++)
        t->at[i] = at[i];
}

static void add_conv_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    bool turned = l->op == PR_LAYER_TRANSPOSED_CONV;
    int64_t each = in->at[0] / l->groups;

    tensor_list_add(list, "weight", 4,
                    (int64_t[]){turned ? each : l->out, turned ? l->out : each,
                                l->kernel[0], l->kernel[1]});
    if (l->bias)
        tensor_list_add(list, "bias", 1, &l->out);
}

static void add_linear_tensors(struct list *list, const struct pr_layer *l,
                               const struct pr_layer_shape *in)
{
    int64_t features = 1;

    for (unsigned i = in->dims == 2; i < in->dims; i++)
        features *= in->at[i];
    tensor_list_add(list, "weight", 2, (int64_t[]){l->out, features});
    if (l->bias)
        tensor_list_add(list, "bias", 1, &l->out);
}

static void add_norm_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    int64_t channels = pr_shape_channels(in);
    unsigned n;

    if (l->has_scale)
        tensor_list_add(list, "weight", 1, &channels);
    tensor_list_add(list, "bias", 1, &channels);
    if (l->op != PR_LAYER_BATCH_NORM)
        return;
    n = list->count;
    tensor_list_add(list, "mean", 1, &channels);
    tensor_list_add(list, "var", 1, &channels);
    list->out[n].is_learned = list->out[n + 1].is_learned = false;
}

static void add_gate_tensors(struct list *list, const struct pr_layer *l,
                             const struct pr_layer_shape *in)
{
    int64_t all = (l->op == PR_LAYER_LSTM ? 4 : 3) * l->out;

    tensor_list_add(list, "weight", 2, (int64_t[]){all, in->at[1]});
    tensor_list_add(list, "recurrent", 2, (int64_t[]){all, l->out});
    tensor_list_add(list, "bias", 1, &all);
    tensor_list_add(list, "recurrent_bias", 1, &all);
}

unsigned pr_layer_tensors(const struct pr_model *m, const struct pr_layer *l,
                          struct pr_layer_tensor out[static PR_LAYER_TENSORS])
{
    const struct pr_layer_shape *in =
        l->input_count ? &m->layers[l->inputs[0]].shape : NULL;
    struct list list = {.out = out};

    switch (l->op) {
    case PR_LAYER_CONV:
    case PR_LAYER_TRANSPOSED_CONV:
        add_conv_tensors(&list, l, in);
        break;
    case PR_LAYER_LINEAR:
        add_linear_tensors(&list, l, in);
        break;
    case PR_LAYER_EMBEDDING:
        tensor_list_add(&list, "weight", 2, (int64_t[]){l->ids, l->out});
        break;
    case PR_LAYER_BATCH_NORM:
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_INSTANCE_NORM:
        add_norm_tensors(&list, l, in);
        break;
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        add_gate_tensors(&list, l, in);
        break;
    case PR_LAYER_ADDITIVE_ATTENTION:
        tensor_list_add(&list, "weight", 1, &in->at[1]);
        break;
    default:
        break;
    }
    return list.count;
}
