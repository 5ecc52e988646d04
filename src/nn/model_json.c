/* The layers as JSON, "prony.model/1": what frameworks build the network from.
 * One layer stands on one line. */
#include "nn/model_impl.h"

static void put_list(struct pr_jb *jb, const char *key, const int64_t *list,
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

static void put_optimizer(const struct pr_model *m, struct pr_jb *jb)
{
    const struct pr_optimizer_opts *o = &m->optimizer;

    pr_jb_obj(jb, "optimizer");
    pr_jb_str(jb, "name", o->kind == PR_ADAM ? "adam" : "sgd");
    pr_jb_float(jb, "learning_rate", o->learning_rate);
    pr_jb_float(jb, "momentum", o->momentum);
    pr_jb_float(jb, "weight_decay", o->weight_decay);
    pr_jb_float(jb, "beta1", o->beta1);
    pr_jb_float(jb, "beta2", o->beta2);
    pr_jb_float(jb, "epsilon", o->epsilon);
    pr_jb_end(jb);
}

static void put_reference(const struct pr_model *m, struct pr_jb *jb)
{
    if (!m->reference_params && !(m->reference_flops > 0))
        return;
    pr_jb_obj(jb, "reference");
    if (m->reference_params)
        pr_jb_uint(jb, "params", m->reference_params);
    if (m->reference_flops > 0)
        pr_jb_float(jb, "flops", m->reference_flops);
    pr_jb_str(jb, "source", m->reference_source);
    pr_jb_end(jb);
}

static void put_window(const struct pr_layer *l, struct pr_jb *jb)
{
    put_list(jb, "kernel", l->kernel, 2);
    put_list(jb, "stride", l->stride, 2);
    put_list(jb, "dilation", l->dilation, 2);
    put_list(jb, "pad", l->pad, 4);
}

/* What belongs to its op. */
static void put_values(const struct pr_layer *l, struct pr_jb *jb)
{
    switch (l->op) {
    case PR_LAYER_CONV:
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
        put_window(l, jb);
        break;
    case PR_LAYER_AVERAGE_POOL:
        put_window(l, jb);
        pr_jb_bool(jb, "count_pad", l->count_pad);
        break;
    case PR_LAYER_BATCH_NORM:
        pr_jb_float(jb, "epsilon", l->epsilon);
        pr_jb_float(jb, "momentum", l->momentum);
        pr_jb_bool(jb, "scale", l->has_scale);
        break;
    case PR_LAYER_LRN:
        pr_jb_int(jb, "size", l->size);
        pr_jb_float(jb, "alpha", l->alpha);
        pr_jb_float(jb, "beta", l->beta);
        pr_jb_float(jb, "k", l->k);
        break;
    case PR_LAYER_DROPOUT:
        pr_jb_float(jb, "rate", l->rate);
        break;
    case PR_LAYER_SCALE:
        pr_jb_float(jb, "factor", l->factor);
        break;
    default:
        break;
    }
}

static void put_layer(const struct pr_model *m, const struct pr_layer *l,
                      struct pr_jb *jb)
{
    unsigned indent = jb->indent;

    pr_jb_obj(jb, NULL);
    jb->indent = 0;
    pr_jb_str(jb, "name", l->name);
    pr_jb_str(jb, "op", pr_layer_op_name(l->op));
    pr_jb_arr(jb, "inputs");
    for (unsigned i = 0; i < l->input_count; i++)
        pr_jb_str(jb, NULL, m->layers[l->inputs[i]].name);
    pr_jb_end(jb);
    put_list(jb, "shape", l->shape.at, l->shape.dims);
    pr_jb_uint(jb, "params", l->params);
    pr_jb_uint(jb, "flops", l->flops);
    put_values(l, jb);
    pr_jb_end(jb);
    jb->indent = indent;
}

void pr_model_json(const struct pr_model *m, struct pr_jb *jb)
{
    pr_jb_obj(jb, NULL);
    pr_jb_str(jb, "schema", "prony.model/1");
    pr_jb_str(jb, "name", m->name);
    pr_jb_str(jb, "title", m->title);
    pr_jb_str(jb, "item", m->item);
    pr_jb_str(jb, "says", m->says);
    put_list(jb, "input", m->input.at, m->input.dims);
    pr_jb_int(jb, "classes", m->classes);
    pr_jb_str(jb, "output", m->layers[m->output].name);
    put_optimizer(m, jb);
    pr_jb_uint(jb, "params", m->params);
    pr_jb_uint(jb, "flops", m->flops);
    put_reference(m, jb);
    pr_jb_arr(jb, "layers");
    for (unsigned i = 0; i < m->layer_count; i++)
        put_layer(m, &m->layers[i], jb);
    pr_jb_end(jb);
    pr_jb_end(jb);
}
