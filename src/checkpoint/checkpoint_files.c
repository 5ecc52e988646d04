/*
 * The files of a checkpoint and the tensors in them, computed for any rank
 * alone. Names, order and sizes are those that DLIO gives them.
 */
#include "checkpoint/checkpoint_shape.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

enum {
    LAYER_TENSORS = 6,     /* of a layer of a transformer */
    OPTIMIZER_TENSORS = 6, /* three moments, and what goes with each */
};

/* ---- who has what */

/* Where a rank stands. */
struct seat {
    uint64_t pp, dp, mp;
};

static struct seat seat_of(const struct pr_checkpoint_shape *s, uint64_t rank)
{
    return (struct seat){
        .pp = rank / s->tp % s->pp,
        .dp = rank / s->mp,
        .mp = rank % s->mp,
    };
}

static bool is_writer(const struct pr_checkpoint_shape *s, uint64_t rank)
{
    return s->parallelism.zero_stage > 0 || rank < s->mp;
}

static bool has_state(const struct pr_checkpoint_shape *s)
{
    return strcmp(s->model.type, "transformer") != 0 &&
           s->model.model_size_bytes > 0;
}

/* ZeRO 1 and 2 leave the parameters whole: the first copy saves them. */
static bool copies_share_layers(const struct pr_checkpoint_shape *s)
{
    return s->parallelism.zero_stage == 1 || s->parallelism.zero_stage == 2;
}

static bool has_file_per_layer(const struct pr_checkpoint_shape *s)
{
    return copies_share_layers(s) && s->pp > 1;
}

/* The layers of a stage; false: it has none. Before the first stands the
 * embedding, after the last the head and its norm. */
static bool stage_layers(const struct pr_checkpoint_shape *s, uint64_t stage,
                         uint64_t *first, uint64_t *last)
{
    uint64_t layers, each, rest;

    if (s->model.num_layers < 1)
        return false;
    layers = (uint64_t)s->model.num_layers;
    each = layers / s->pp;
    rest = layers % s->pp;
    *first = stage * each + (stage < rest ? stage : rest) + 1;
    *last = *first + each - (stage < rest ? 0 : 1);
    if (s->layers.is_given)
        return true;
    if (stage == 0)
        *first = 0;
    if (stage == s->pp - 1)
        *last = layers + 2;
    return true;
}

static uint64_t layer_files(const struct pr_checkpoint_shape *s, uint64_t stage)
{
    uint64_t first, last;

    if (!stage_layers(s, stage, &first, &last))
        return 0;
    return has_file_per_layer(s) ? last - first + 1 : 1;
}

/* ---- tensors of layers */

static uint64_t shape_shard_elements(const struct pr_checkpoint_shape *s,
                                     uint64_t elements)
{
    return s->parallelism.zero_stage == 3 ? elements / s->dp : elements;
}

/* Elements of tensor i of layer n; 0: there is none. */
static uint64_t layer_tensor(const struct pr_checkpoint_shape *s, uint64_t n,
                             unsigned i)
{
    const struct pr_model_transformer_opts *t = &s->transformer;
    uint64_t h = (uint64_t)t->hidden_size, ffn = (uint64_t)t->ffn_hidden_size;
    uint64_t layers = (uint64_t)s->model.num_layers;
    uint64_t kv =
        h / (uint64_t)t->num_attention_heads * (uint64_t)t->num_kv_heads;
    const uint64_t inner[LAYER_TENSORS] = {
        h, h * (h + 2 * kv) / s->tp, h * h / s->tp,
        h, 2 * h * ffn / s->tp,      h * ffn / s->tp,
    };

    if (n > 0 && n <= layers)
        return shape_shard_elements(s, inner[i]);
    if (i > 0)
        return 0;
    if (n == layers + 2)
        return shape_shard_elements(s, h);
    return shape_shard_elements(s, h * (uint64_t)t->vocab_size / s->tp);
}

/* What layer n has: only tensors with something in them are saved. */
struct layer {
    uint64_t tensors, elements;
};

static struct layer layer_at(const struct pr_checkpoint_shape *s, uint64_t n)
{
    struct layer l = {0};

    for (unsigned i = 0; i < LAYER_TENSORS; i++) {
        uint64_t elements = layer_tensor(s, n, i);
        l.tensors += elements > 0;
        l.elements += elements;
    }
    return l;
}

/* All layers but those at the ends are alike. */
static struct layer layers_from_to(const struct pr_checkpoint_shape *s,
                                   uint64_t first, uint64_t last)
{
    uint64_t layers = (uint64_t)s->model.num_layers;
    uint64_t from = first < 1 ? 1 : first, to = last > layers ? layers : last;
    struct layer sum = {0};

    if (from <= to) {
        sum = layer_at(s, 1);
        sum.tensors *= to - from + 1;
        sum.elements *= to - from + 1;
    }
    for (uint64_t n = first; n <= last; n = n < layers ? layers + 1 : n + 1)
        if (n == 0 || n > layers) {
            struct layer l = layer_at(s, n);
            sum.tensors += l.tensors;
            sum.elements += l.elements;
        }
    return sum;
}

static void name_tensor(struct pr_tensor *t, uint64_t layer, uint64_t i)
{
    snprintf(t->name, sizeof t->name, "%llu.%llu", (ull)layer, (ull)i);
}

/* Tensor i of layers that begin with `layer`. */
static void computed_tensor(const struct pr_checkpoint_shape *s, uint64_t layer,
                            uint64_t i, struct pr_tensor *ret)
{
    uint64_t layers = (uint64_t)s->model.num_layers, each, skip;
    unsigned number = 0;

    if (layer == 0 && (each = layer_at(s, 0).tensors) <= i) {
        i -= each;
        layer = 1;
    }
    if (layer > 0 && layer <= layers) {
        each = layer_at(s, 1).tensors;
        skip = each ? i / each : layers;
        if (skip > layers - layer + 1)
            skip = layers - layer + 1;
        layer += skip;
        i -= skip * each;
    }
    if (layer == layers + 1 && (each = layer_at(s, layer).tensors) <= i) {
        i -= each;
        layer++;
    }
    while (number < LAYER_TENSORS - 1 &&
           (!layer_tensor(s, layer, number) || i-- > 0))
        number++;
    name_tensor(ret, layer, number);
    ret->elements = layer_tensor(s, layer, number);
}

/* ---- the optimiser */

static uint64_t optimizer_part(const struct pr_checkpoint_shape *s)
{
    return s->parameters / (s->parallelism.zero_stage > 0 ? s->all : s->mp);
}

static bool has_optimizer(const struct pr_checkpoint_shape *s)
{
    if (s->groups.is_given)
        return s->groups.count > 0;
    return optimizer_part(s) > 0;
}

static void optimizer_size(const struct pr_checkpoint_shape *s,
                           struct pr_checkpoint_file *f)
{
    uint64_t other = 5 * (uint64_t)s->transformer.hidden_size;

    if (s->groups.is_given) {
        f->tensors = 2 * s->groups.count + 1;
        f->bytes = 3 * s->groups.sum;
        return;
    }
    f->tensors = OPTIMIZER_TENSORS;
    f->bytes = 3 * (optimizer_part(s) + other) *
               pr_tensor_type_bytes(s->optimizer_type);
}

static void optimizer_tensor(const struct pr_checkpoint_shape *s, uint64_t i,
                             struct pr_tensor *ret)
{
    if (!s->groups.is_given) {
        snprintf(ret->name, sizeof ret->name, "%llu", (ull)i);
        ret->type = s->optimizer_type;
        ret->elements = i % 2 ? 5 * (uint64_t)s->transformer.hidden_size
                              : optimizer_part(s);
        return;
    }
    ret->type = PR_TENSOR_INT8;
    if (i == 2 * s->groups.count) {
        snprintf(ret->name, sizeof ret->name, "combined");
        ret->elements = s->groups.sum;
        return;
    }
    snprintf(ret->name, sizeof ret->name, "%llu.%c",
             (ull)s->groups.numbers[i / 2], i % 2 ? 'b' : 'a');
    ret->elements = s->groups.elements[i / 2];
}

/* ---- files */

static void layers_size(const struct pr_checkpoint_shape *s,
                        struct pr_checkpoint_file *f)
{
    struct layer l;

    /* Layers of given sizes are one and the same, and saved once. */
    if (s->layers.is_given) {
        f->tensors = s->layers.count;
        f->bytes = s->layers.sum;
        return;
    }
    l = layers_from_to(s, f->first_layer, f->last_layer);
    f->tensors = l.tensors;
    f->bytes = l.elements * pr_tensor_type_bytes(s->model_type);
}

/* The k-th file of a stage's layers; its name depends on the rank. */
static void layers_file(const struct pr_checkpoint_shape *s, uint64_t stage,
                        uint64_t k, struct pr_checkpoint_file *f)
{
    f->kind = PR_CHECKPOINT_LAYERS;
    stage_layers(s, stage, &f->first_layer, &f->last_layer);
    if (has_file_per_layer(s)) {
        f->first_layer += k;
        f->last_layer = f->first_layer;
    }
    layers_size(s, f);
}

static void name_file(const struct pr_checkpoint_shape *s,
                      struct pr_checkpoint_file *f)
{
    const char *end = s->is_tensorflow ? ".pb-1.data-00000-of-00001" : ".pt";
    struct seat at = seat_of(s, f->rank);
    size_t room = sizeof f->name;

    if (f->kind == PR_CHECKPOINT_STATE)
        snprintf(f->name, room, "model_states-%llu%s", (ull)f->rank, end);
    else if (f->kind == PR_CHECKPOINT_OPTIMIZER)
        snprintf(f->name, room, "zero_pp_rank_%llu_mp_rank_%llu_optim_states%s",
                 (ull)at.dp, (ull)at.mp, end);
    else if (has_file_per_layer(s))
        snprintf(f->name, room, "layer_%llu-model_%llu_model_states%s",
                 (ull)f->first_layer, (ull)at.mp, end);
    else if (copies_share_layers(s))
        snprintf(f->name, room, "model_%llu_model_states%s", (ull)at.mp, end);
    else
        snprintf(f->name, room, "zero_pp_rank_%llu_mp_rank_%llu_model_states%s",
                 (ull)at.dp, (ull)at.mp, end);
}

uint64_t pr_checkpoint_file_count(const struct pr_checkpoint_shape *s,
                                  uint64_t rank)
{
    struct seat at = seat_of(s, rank);
    uint64_t n = 0;

    if (!is_writer(s, rank))
        return 0;
    if (at.dp == 0 || !copies_share_layers(s))
        n = layer_files(s, at.pp);
    return n + has_state(s) + has_optimizer(s);
}

void pr_checkpoint_get_file(const struct pr_checkpoint_shape *s, uint64_t rank,
                            uint64_t number, struct pr_checkpoint_file *ret)
{
    uint64_t files = pr_checkpoint_file_count(s, rank);

    assert(number < files);
    *ret = (struct pr_checkpoint_file){.rank = rank, .number = number};
    if (number == 0 && has_state(s)) {
        ret->kind = PR_CHECKPOINT_STATE;
        ret->tensors = 1;
        ret->bytes = s->model.model_size_bytes;
    } else if (number == files - 1 && has_optimizer(s)) {
        ret->kind = PR_CHECKPOINT_OPTIMIZER;
        optimizer_size(s, ret);
    } else {
        layers_file(s, seat_of(s, rank).pp, number - has_state(s), ret);
    }
    name_file(s, ret);
}

void pr_checkpoint_get_tensor(const struct pr_checkpoint_shape *s,
                              const struct pr_checkpoint_file *f, uint64_t i,
                              struct pr_tensor *ret)
{
    assert(i < f->tensors);
    if (f->kind == PR_CHECKPOINT_STATE) {
        snprintf(ret->name, sizeof ret->name, "a");
        ret->type = PR_TENSOR_INT8;
        ret->elements = s->model.model_size_bytes;
    } else if (f->kind == PR_CHECKPOINT_OPTIMIZER) {
        optimizer_tensor(s, i, ret);
    } else if (s->layers.is_given) {
        name_tensor(ret, f->first_layer, s->layers.numbers[i]);
        ret->type = PR_TENSOR_INT8;
        ret->elements = s->layers.elements[i];
    } else {
        ret->type = s->model_type;
        computed_tensor(s, f->first_layer, i, ret);
    }
}

const char *pr_checkpoint_folder_name(char out[static 64], uint64_t epoch,
                                      uint64_t step)
{
    snprintf(out, 64, "global_epoch%llu_step%llu", (ull)epoch, (ull)step);
    return out;
}
