/* Layers and losses as JSON, "prony.model/2": what frameworks build the network
 * from. One layer stands on one line. */
#include "nn/model/model_impl.h"

/* ---- what belongs to the op of a layer */

/* Options of one layer, in its object of prony.model/2. */
static void model_write_list_json(struct pr_json_writer *jb, const char *key,
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
    model_write_list_json(jb, "kernel", l->kernel, 2);
    model_write_list_json(jb, "stride", l->stride, 2);
    model_write_list_json(jb, "dilation", l->dilation, 2);
    model_write_list_json(jb, "pad", l->pad, 4);
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

static void model_write_layer_json(const struct pr_layer *l,
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
        model_write_list_json(jb, "pad", l->pad, 4);
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

static void write_model_optimizer(const struct pr_model *m,
                                  struct pr_json_writer *jb)
{
    const struct pr_optimizer_opts *o = &m->optimizer;

    pr_json_open_object(jb, "optimizer");
    pr_json_put_str(jb, "name", o->kind == PR_ADAM ? "adam" : "sgd");
    pr_json_put_float(jb, "learning_rate", o->learning_rate);
    pr_json_put_float(jb, "momentum", o->momentum);
    pr_json_put_float(jb, "weight_decay", o->weight_decay);
    pr_json_put_float(jb, "beta1", o->beta1);
    pr_json_put_float(jb, "beta2", o->beta2);
    pr_json_put_float(jb, "epsilon", o->epsilon);
    pr_json_put_float(jb, "clip", o->clip);
    pr_json_close(jb);
}

static void write_published_reference(const struct pr_model *m,
                                      struct pr_json_writer *jb)
{
    if (!m->reference_params && !(m->reference_flops > 0))
        return;
    pr_json_open_object(jb, "reference");
    if (m->reference_params)
        pr_json_put_uint(jb, "params", m->reference_params);
    if (m->reference_flops > 0)
        pr_json_put_float(jb, "flops", m->reference_flops);
    pr_json_put_str(jb, "source", m->reference_source);
    pr_json_close(jb);
}

/* ---- layers */

static void write_model_layer(const struct pr_model *m,
                              const struct pr_layer *l,
                              struct pr_json_writer *jb)
{
    unsigned indent = jb->indent;

    pr_json_open_object(jb, NULL);
    jb->indent = 0;
    pr_json_put_str(jb, "name", l->name);
    pr_json_put_str(jb, "op", pr_layer_op_name(l->op));
    pr_json_open_array(jb, "inputs");
    for (unsigned i = 0; i < l->input_count; i++)
        pr_json_put_str(jb, NULL, m->layers[l->inputs[i]].name);
    pr_json_close(jb);
    model_write_list_json(jb, "shape", l->shape.at, l->shape.dims);
    pr_json_put_uint(jb, "params", l->params);
    pr_json_put_uint(jb, "flops", l->flops);
    model_write_layer_json(l, jb);
    if (l->like != (unsigned)(l - m->layers))
        pr_json_put_str(jb, "like", m->layers[l->like].name);
    if (l->turn)
        pr_json_put_int(jb, "turn", l->turn);
    if (l->learns == PR_FROZEN)
        pr_json_put_null(jb, "learns");
    else if (l->learns)
        pr_json_put_int(jb, "learns", l->learns);
    pr_json_close(jb);
    jb->indent = indent;
}

static void write_model_input(const struct pr_layer *l,
                              struct pr_json_writer *jb)
{
    unsigned indent = jb->indent;

    pr_json_open_object(jb, NULL);
    jb->indent = 0;
    pr_json_put_str(jb, "name", l->name);
    model_write_list_json(jb, "shape", l->shape.at, l->shape.dims);
    pr_json_put_int(jb, "ids", l->ids);
    pr_json_close(jb);
    jb->indent = indent;
}

/* ---- losses */

static void write_layer_names(const struct pr_model *m,
                              struct pr_json_writer *jb, const char *key,
                              const unsigned *list, unsigned count)
{
    pr_json_open_array(jb, key);
    for (unsigned i = 0; i < count; i++)
        pr_json_put_str(jb, NULL, m->layers[list[i]].name);
    pr_json_close(jb);
}

static void write_layer_name(const struct pr_model *m,
                             struct pr_json_writer *jb, const char *key,
                             int layer)
{
    if (layer < 0)
        pr_json_put_null(jb, key);
    else
        pr_json_put_str(jb, key, m->layers[layer].name);
}

static void write_model_loss(const struct pr_model *m, const struct pr_loss *l,
                             struct pr_json_writer *jb)
{
    unsigned indent = jb->indent;

    pr_json_open_object(jb, NULL);
    jb->indent = 0;
    pr_json_put_str(jb, "name", l->name);
    pr_json_put_str(jb, "kind", pr_loss_kind_name(l->kind));
    write_layer_names(m, jb, "of", l->of, l->of_count);
    if (l->target_count)
        write_layer_names(m, jb, "target", l->targets, l->target_count);
    else if (l->kind == PR_LOSS_KL)
        pr_json_put_null(jb, "target");
    else
        pr_json_put_float(jb, "target", l->value);
    write_layer_name(m, jb, "weights", l->weights);
    write_layer_name(m, jb, "lengths", l->lengths);
    pr_json_put_str(jb, "reduce", l->sum ? "sum" : "mean");
    pr_json_put_float(jb, "factor", l->factor);
    pr_json_put_float(jb, "smoothing", l->smoothing);
    pr_json_put_float(jb, "beta", l->beta);
    if (l->ignore < 0)
        pr_json_put_null(jb, "ignore");
    else
        pr_json_put_int(jb, "ignore", l->ignore);
    pr_json_put_int(jb, "turn", l->turn);
    pr_json_close(jb);
    jb->indent = indent;
}

/* ---- all of it */

static void write_model_lists(const struct pr_model *m,
                              struct pr_json_writer *jb)
{
    pr_json_open_array(jb, "inputs");
    for (unsigned i = 0; i < m->input_count; i++)
        write_model_input(&m->layers[i], jb);
    pr_json_close(jb);
    pr_json_open_array(jb, "losses");
    for (unsigned i = 0; i < m->loss_count; i++)
        write_model_loss(m, &m->losses[i], jb);
    pr_json_close(jb);
    pr_json_open_array(jb, "layers");
    for (unsigned i = 0; i < m->layer_count; i++)
        write_model_layer(m, &m->layers[i], jb);
    pr_json_close(jb);
}

void pr_model_write_json(const struct pr_model *m, struct pr_json_writer *jb)
{
    const struct pr_layer_shape *input = &m->layers[0].shape;

    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "schema", "prony.model/2");
    pr_json_put_str(jb, "name", m->name);
    pr_json_put_str(jb, "title", m->title);
    pr_json_put_str(jb, "item", m->item);
    pr_json_put_str(jb, "says", m->says);
    pr_json_put_value(jb, "given", &m->given);
    model_write_list_json(jb, "input", input->at, input->dims);
    pr_json_put_int(jb, "classes", m->classes);
    pr_json_put_str(jb, "output", m->layers[m->output].name);
    pr_json_put_str(jb, "data", m->data);
    pr_json_put_uint(jb, "items", m->items);
    pr_json_put_int(jb, "turns", m->turn_count);
    write_model_optimizer(m, jb);
    pr_json_put_uint(jb, "params", m->params);
    pr_json_put_uint(jb, "flops", m->flops);
    write_published_reference(m, jb);
    write_model_lists(m, jb);
    pr_json_close(jb);
}
