/* Layers and losses as JSON, "prony.model/2": what frameworks build the network
 * from. One layer stands on one line. */
#include "nn/model_impl.h"

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
    pr_jb_float(jb, "clip", o->clip);
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

/* ---- layers */

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
    pr_model_json_list(jb, "shape", l->shape.at, l->shape.dims);
    pr_jb_uint(jb, "params", l->params);
    pr_jb_uint(jb, "flops", l->flops);
    pr_model_json_layer(l, jb);
    if (l->like != (unsigned)(l - m->layers))
        pr_jb_str(jb, "like", m->layers[l->like].name);
    if (l->turn)
        pr_jb_int(jb, "turn", l->turn);
    if (l->learns == PR_FROZEN)
        pr_jb_null(jb, "learns");
    else if (l->learns)
        pr_jb_int(jb, "learns", l->learns);
    pr_jb_end(jb);
    jb->indent = indent;
}

static void put_input(const struct pr_layer *l, struct pr_jb *jb)
{
    unsigned indent = jb->indent;

    pr_jb_obj(jb, NULL);
    jb->indent = 0;
    pr_jb_str(jb, "name", l->name);
    pr_model_json_list(jb, "shape", l->shape.at, l->shape.dims);
    pr_jb_int(jb, "ids", l->ids);
    pr_jb_end(jb);
    jb->indent = indent;
}

/* ---- losses */

static void put_names(const struct pr_model *m, struct pr_jb *jb,
                      const char *key, const unsigned *list, unsigned count)
{
    pr_jb_arr(jb, key);
    for (unsigned i = 0; i < count; i++)
        pr_jb_str(jb, NULL, m->layers[list[i]].name);
    pr_jb_end(jb);
}

static void put_name(const struct pr_model *m, struct pr_jb *jb,
                     const char *key, int layer)
{
    if (layer < 0)
        pr_jb_null(jb, key);
    else
        pr_jb_str(jb, key, m->layers[layer].name);
}

static void put_loss(const struct pr_model *m, const struct pr_loss *l,
                     struct pr_jb *jb)
{
    unsigned indent = jb->indent;

    pr_jb_obj(jb, NULL);
    jb->indent = 0;
    pr_jb_str(jb, "name", l->name);
    pr_jb_str(jb, "kind", pr_loss_kind_name(l->kind));
    put_names(m, jb, "of", l->of, l->of_count);
    if (l->target_count)
        put_names(m, jb, "target", l->targets, l->target_count);
    else if (l->kind == PR_LOSS_KL)
        pr_jb_null(jb, "target");
    else
        pr_jb_float(jb, "target", l->value);
    put_name(m, jb, "weights", l->weights);
    put_name(m, jb, "lengths", l->lengths);
    pr_jb_str(jb, "reduce", l->sum ? "sum" : "mean");
    pr_jb_float(jb, "factor", l->factor);
    pr_jb_float(jb, "smoothing", l->smoothing);
    pr_jb_float(jb, "beta", l->beta);
    if (l->ignore < 0)
        pr_jb_null(jb, "ignore");
    else
        pr_jb_int(jb, "ignore", l->ignore);
    pr_jb_int(jb, "turn", l->turn);
    pr_jb_end(jb);
    jb->indent = indent;
}

/* ---- all of it */

static void put_lists(const struct pr_model *m, struct pr_jb *jb)
{
    pr_jb_arr(jb, "inputs");
    for (unsigned i = 0; i < m->input_count; i++)
        put_input(&m->layers[i], jb);
    pr_jb_end(jb);
    pr_jb_arr(jb, "losses");
    for (unsigned i = 0; i < m->loss_count; i++)
        put_loss(m, &m->losses[i], jb);
    pr_jb_end(jb);
    pr_jb_arr(jb, "layers");
    for (unsigned i = 0; i < m->layer_count; i++)
        put_layer(m, &m->layers[i], jb);
    pr_jb_end(jb);
}

void pr_model_json(const struct pr_model *m, struct pr_jb *jb)
{
    const struct pr_layer_shape *input = &m->layers[0].shape;

    pr_jb_obj(jb, NULL);
    pr_jb_str(jb, "schema", "prony.model/2");
    pr_jb_str(jb, "name", m->name);
    pr_jb_str(jb, "title", m->title);
    pr_jb_str(jb, "item", m->item);
    pr_jb_str(jb, "says", m->says);
    pr_jb_value(jb, "given", &m->given);
    pr_model_json_list(jb, "input", input->at, input->dims);
    pr_jb_int(jb, "classes", m->classes);
    pr_jb_str(jb, "output", m->layers[m->output].name);
    pr_jb_str(jb, "data", m->data);
    pr_jb_uint(jb, "items", m->items);
    pr_jb_int(jb, "turns", m->turn_count);
    put_optimizer(m, jb);
    pr_jb_uint(jb, "params", m->params);
    pr_jb_uint(jb, "flops", m->flops);
    put_reference(m, jb);
    put_lists(m, jb);
    pr_jb_end(jb);
}
