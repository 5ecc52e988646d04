/*
 * What a checkpoint is made of: which files each rank writes, sums over all
 * ranks, and the parameters all this follows from, checked as DLIO checks them.
 */
#include "checkpoint/checkpoint_shape.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

enum {
    LAYER_TENSORS = 6,     /* of a layer of a transformer */
    OPTIMIZER_TENSORS = 6, /* three moments, and what goes with each */
};

/* ---- files and tensors, computed for any rank alone: names, order and sizes
 * are those that DLIO gives them. First, who has what */

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

/* ---- what many ranks write together: ranks of a stage write alike, so that
 * one of each is looked at and counted as often as there are such ranks */

/* A sum that stays at its largest when it is too large to be told. */
static void sum_add_capped(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(*sum, product, sum))
        *sum = UINT64_MAX;
}

struct whole_file {
    const struct pr_checkpoint_shape *shape;
    struct pr_checkpoint_file file;
};

static void sum_get_tensor(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    const struct whole_file *w = ctx;

    pr_checkpoint_get_tensor(w->shape, &w->file, i, ret);
}

/* Adds a file that so many ranks write. */
static void sum_add_file(struct pr_checkpoint_sum *sum,
                         const struct whole_file *w, uint64_t ranks)
{
    const struct pr_tensor_layout *layout =
        pr_tensor_layout_find(w->shape->opts.layout);
    struct pr_tensor_list list = {
        .count = w->file.tensors, .at = sum_get_tensor, .ctx = w};

    assert(layout);
    if (!ranks)
        return;
    sum_add_capped(w->file.kind == PR_CHECKPOINT_OPTIMIZER
                       ? &sum->optimizer_bytes
                       : &sum->model_bytes,
                   w->file.bytes, ranks);
    sum_add_capped(&sum->disk_bytes, pr_tensor_file_bytes(layout, &list),
                   ranks);
    sum_add_capped(&sum->files, 1, ranks);
}

/* Ranks below `end` that are of a stage. */
static uint64_t sum_stage_ranks_below(const struct pr_checkpoint_shape *s,
                                      uint64_t stage, uint64_t end)
{
    uint64_t last = end % s->mp, before = stage * s->tp;
    uint64_t rest = last > before ? last - before : 0;

    return end / s->mp * s->tp + (rest < s->tp ? rest : s->tp);
}

static uint64_t sum_count_between(uint64_t first, uint64_t end, uint64_t most)
{
    end = end < most ? end : most;
    return end > first ? end - first : 0;
}

/* The files with layers, from the first rank of each stage. */
static void add_layers(const struct pr_checkpoint_shape *s, uint64_t first,
                       uint64_t end, struct pr_checkpoint_sum *sum)
{
    /* Without ZeRO 3 the first copy of the model is the one that is saved. */
    uint64_t most = s->parallelism.zero_stage == 3 ? s->all : s->mp;

    end = end < most ? end : most;
    if (first >= end)
        return;
    if (!sum->writers) /* there is nothing but layers */
        sum->writers = end - first;
    for (uint64_t stage = 0; stage < s->pp; stage++) {
        uint64_t rank = stage * s->tp,
                 files = pr_checkpoint_file_count(s, rank);
        uint64_t ranks = sum_stage_ranks_below(s, stage, end) -
                         sum_stage_ranks_below(s, stage, first);
        struct whole_file w = {.shape = s};
        for (uint64_t i = 0; ranks && i < files; i++) {
            pr_checkpoint_get_file(s, rank, i, &w.file);
            if (w.file.kind == PR_CHECKPOINT_LAYERS)
                sum_add_file(sum, &w, ranks);
        }
    }
}

void pr_checkpoint_sum_ranks(const struct pr_checkpoint_shape *s,
                             uint64_t first, uint64_t count,
                             struct pr_checkpoint_sum *ret)
{
    uint64_t most = s->parallelism.zero_stage > 0 ? s->all : s->mp;
    uint64_t files = pr_checkpoint_file_count(s, 0), end;
    struct whole_file w = {.shape = s};

    if (s->has_sums && ((first == s->first && count == s->ranks) ||
                        (first == 0 && count == s->all))) {
        *ret = count == s->all ? s->whole : s->here;
        return;
    }
    *ret = (struct pr_checkpoint_sum){0};
    if (__builtin_add_overflow(first, count, &end) || end > s->all)
        end = s->all;
    for (uint64_t i = 0; i < files; i++) {
        pr_checkpoint_get_file(s, 0, i, &w.file);
        if (w.file.kind == PR_CHECKPOINT_LAYERS)
            continue;
        ret->writers = sum_count_between(first, end, most);
        sum_add_file(ret, &w, ret->writers);
    }
    if (s->model.num_layers > 0)
        add_layers(s, first, end, ret);
}

typedef unsigned long long ull;

/* Everything that is computed from sizes below this fits into 64 bits: a rank's
 * optimiser state is the most, three times the parameters of eight bytes. */
#define MOST 100000000000000000ULL

/* ---- parameters: reading and checking them */

static int shape_fill_sections(struct pr_checkpoint_shape *s,
                               const struct pr_value *params,
                               struct pr_arena *a, struct pr_err *err)
{
    struct pr_emulate_opts emulate;
    const struct {
        const struct pr_opt_section *section;
        void *to;
    } all[] = {
        {&pr_model_section, &s->model},
        {&pr_model_parallelism_section, &s->parallelism},
        {&pr_model_transformer_section, &s->transformer},
        {&pr_checkpoint_section, &s->opts},
        {&pr_emulate_section, &emulate},
    };
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < sizeof all / sizeof *all; i++)
        rc = pr_opt_fill(all[i].section, params, a, all[i].to, err);
    if (rc)
        return rc;
    s->is_tensorflow = pr_text_equal(emulate.framework, "tensorflow");
    if (!pr_tensor_type_find(s->model.model_datatype, &s->model_type) ||
        !pr_tensor_type_find(s->model.optimizer_datatype, &s->optimizer_type))
        return pr_fail(err, PR_E_BUG, "model", "a type has no tensors");
    return PR_OK;
}

/* ---- what cannot be done */

/* Python's None in a text means that there is none. */
static int shape_refuse_python(const struct pr_checkpoint_shape *s,
                               struct pr_err *err)
{
    const char *name = s->opts.checkpoint_mechanism_classname;

    if (!*name || pr_text_equal(name, "None"))
        return PR_OK;
    pr_fail(err, PR_E_CONF, "checkpoint.checkpoint_mechanism_classname",
            "Python classes cannot be used: checkpoints are native");
    return pr_hint(err, "leave it out; checkpoint.layout=torch writes files "
                        "that torch.load reads");
}

/* A map of it may have come apart into one parameter for each key. */
static bool has_ksm(const struct pr_checkpoint_shape *s,
                    const struct pr_value *params)
{
    static const char prefix[] = "checkpoint.ksm.";
    const struct pr_value *v = s->opts.ksm;

    if (v && v->kind == PR_MAP)
        return true;
    if (v && v->kind == PR_BOOL && v->b)
        return true;
    for (uint32_t i = 0; params->kind == PR_MAP && i < params->len; i++)
        if (pr_text_starts_with(params->members[i].key, prefix))
            return true;
    return false;
}

static int check_counts(const struct pr_checkpoint_shape *s,
                        const struct pr_value *params, struct pr_err *err)
{
    int64_t writes = s->opts.num_checkpoints_write;
    int64_t reads = s->opts.num_checkpoints_read;

    if (reads > 0 && s->opts.recovery_after_steps > 0) {
        pr_fail(err, PR_E_CONF, "checkpoint.recovery_after_steps",
                "reads as it writes, num_checkpoints_read afterwards");
        return pr_hint(err, "set one of the two to 0");
    }
    if (writes > 0 && reads > writes) {
        pr_fail(err, PR_E_CONF, "checkpoint.num_checkpoints_read",
                "%lld cannot be read when only %lld are written",
                (long long)reads, (long long)writes);
        return pr_hint(err,
                       "set checkpoint.num_checkpoints_write=%lld, or 0 "
                       "to read those that are there",
                       (long long)reads);
    }
    if (s->opts.recovery_rank_shift && s->ranks > 1 && s->opts.rank_shift &&
        (uint64_t)s->opts.rank_shift % s->ranks == 0) {
        pr_fail(err, PR_E_CONF, "checkpoint.rank_shift",
                "a shift by %lld of %llu ranks is none",
                (long long)s->opts.rank_shift, (unsigned long long)s->ranks);
        return pr_hint(err, "choose one below %llu",
                       (unsigned long long)s->ranks);
    }
    if (has_ksm(s, params) && s->opts.randomize_tensor) {
        pr_fail(err, PR_E_CONF, "checkpoint.ksm",
                "only equal pages can be kept once, but contents are random");
        return pr_hint(err, "set checkpoint.randomize_tensor=false, or leave "
                            "checkpoint.ksm out: it is not needed");
    }
    return PR_OK;
}

static int check_stages(const struct pr_checkpoint_shape *s, struct pr_err *err)
{
    int64_t layers = s->model.num_layers;

    if (layers > 0 && (uint64_t)layers < s->pp) {
        pr_fail(err, PR_E_CONF, "model.num_layers",
                "%lld layers cannot be divided into %llu stages",
                (long long)layers, (ull)s->pp);
        return pr_hint(err, "set model.parallelism.pipeline to %lld or less",
                       (long long)layers);
    }
    if (s->pp > 1 && s->parallelism.zero_stage == 3) {
        pr_fail(err, PR_E_CONF, "model.parallelism.zero_stage",
                "stage 3 does not go with a pipeline of %llu stages",
                (ull)s->pp);
        return pr_hint(err, "set model.parallelism.pipeline=1, or a zero_stage "
                            "of 2 or less");
    }
    return PR_OK;
}

/* ---- ranks */

static int spread_subset(struct pr_checkpoint_shape *s, struct pr_err *err)
{
    s->first = (uint64_t)s->opts.first_rank;
    if (s->parallelism.data <= 0) {
        pr_fail(err, PR_E_CONF, "model.parallelism.data",
                "checkpoint.mode=subset wants the copies of the whole job");
        return pr_hint(err,
                       "set it to the ranks of that job divided by %llu "
                       "(tensor x pipeline)",
                       (ull)s->mp);
    }
    s->dp = (uint64_t)s->parallelism.data;
    s->all = s->mp * s->dp;
    if (s->first + s->ranks <= s->all)
        return PR_OK;
    pr_fail(err, PR_E_CONF,
            s->first ? "checkpoint.first_rank" : "exp.accelerators",
            "ranks %llu to %llu are asked for, but the job has %llu: %llu "
            "tensor x %llu pipeline x %llu data",
            (ull)s->first, (ull)(s->first + s->ranks - 1), (ull)s->all,
            (ull)s->tp, (ull)s->pp, (ull)s->dp);
    return pr_hint(err, "use fewer exp.accelerators, or a larger "
                        "model.parallelism.data");
}

static int spread_all(struct pr_checkpoint_shape *s, struct pr_err *err)
{
    if (s->opts.first_rank) {
        pr_fail(err, PR_E_CONF, "checkpoint.first_rank",
                "is for a part of the ranks, but all are run");
        return pr_hint(err, "set checkpoint.mode=subset");
    }
    s->dp = s->ranks / s->mp;
    s->all = s->ranks;
    if (s->ranks % s->mp == 0)
        return PR_OK;
    pr_fail(
        err, PR_E_CONF, "exp.accelerators",
        "%llu is not a multiple of %llu, the ranks that share one copy of the "
        "model: %llu tensor x %llu pipeline",
        (ull)s->ranks, (ull)s->mp, (ull)s->tp, (ull)s->pp);
    return pr_hint(err,
                   "set exp.accelerators=%llu, or checkpoint.mode=subset "
                   "with model.parallelism.data",
                   (ull)(s->dp + 1) * s->mp);
}

/* ---- sizes */

static int shape_fail_too_large(const char *key, struct pr_err *err)
{
    pr_fail(err, PR_E_CONF, key, "makes a checkpoint larger than any storage");
    return pr_hint(err, "look for a digit too many");
}

/* Sizes are whole numbers of bytes; those that are 0 are left out. */
static int shape_read_list(const char *key, const struct pr_value *list,
                           uint64_t divisor, struct pr_arena *a,
                           struct pr_checkpoint_list *ret, struct pr_err *err)
{
    uint64_t *elements, *numbers;
    uint32_t n = list && list->kind == PR_LIST ? list->len : 0;

    elements = PR_ARENA_ARRAY(a, uint64_t, n + 1);
    numbers = PR_ARENA_ARRAY(a, uint64_t, n + 1);
    if (!elements || !numbers)
        return pr_fail_nomem(err);
    *ret = (struct pr_checkpoint_list){
        .is_given = n > 0, .elements = elements, .numbers = numbers};
    for (uint32_t i = 0; i < n; i++) {
        const struct pr_value *v = &list->items[i];
        if (v->kind != PR_INT || v->i < 0)
            return pr_fail(err, PR_E_CONF, key,
                           "wants sizes in bytes, whole numbers from 0 on");
        if ((uint64_t)v->i > MOST || ret->sum > MOST)
            return shape_fail_too_large(key, err);
        if ((uint64_t)v->i / divisor == 0)
            continue;
        elements[ret->count] = (uint64_t)v->i / divisor;
        numbers[ret->count] = i;
        ret->sum += elements[ret->count++];
    }
    return PR_OK;
}

/* *sum += a * b. */
static bool shape_add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;

    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

static int count_parameters(struct pr_checkpoint_shape *s, struct pr_err *err)
{
    const struct pr_model_transformer_opts *t = &s->transformer;
    uint64_t h = (uint64_t)t->hidden_size, ffn = (uint64_t)t->ffn_hidden_size;
    uint64_t layers = (uint64_t)s->model.num_layers;
    uint64_t kv = h / (uint64_t)t->num_attention_heads;
    uint64_t layer = 2 * h, all = h;

    if (s->model.num_layers < 1 || (s->layers.is_given && s->groups.is_given))
        return PR_OK;
    kv *= (uint64_t)t->num_kv_heads; /* at most 1e13 */
    if (!shape_add_product(&layer, h, h + 2 * kv) ||
        !shape_add_product(&layer, h, h) ||
        !shape_add_product(&layer, 3 * h, ffn) ||
        !shape_add_product(&all, layers, layer) ||
        !shape_add_product(&all, 2 * (uint64_t)t->vocab_size, h) || all > MOST)
        return shape_fail_too_large("model.transformer", err);
    s->parameters = all;
    return PR_OK;
}

static int check_sizes(struct pr_checkpoint_shape *s, struct pr_err *err)
{
    if (!pr_text_equal(s->model.type, "transformer") &&
        s->model.model_size_bytes > MOST)
        return shape_fail_too_large("model.model_size_bytes", err);
    if (s->model.num_layers > 0 &&
        s->layers.sum > MOST / (uint64_t)s->model.num_layers)
        return shape_fail_too_large("model.layer_parameters", err);
    pr_checkpoint_sum_ranks(s, 0, s->all, &s->whole);
    if (s->whole.disk_bytes > INT64_MAX)
        return shape_fail_too_large("model.parallelism", err);
    pr_checkpoint_sum_ranks(s, s->first, s->ranks, &s->here);
    s->has_sums = true;
    return PR_OK;
}

int pr_checkpoint_shape_init(struct pr_checkpoint_shape *s,
                             const struct pr_value *params, uint64_t ranks,
                             struct pr_arena *a, struct pr_err *err)
{
    struct pr_checkpoint_shape made = {.ranks = ranks ? ranks : 1};
    int rc = shape_fill_sections(&made, params, a, err);

    if (!rc) {
        made.tp = (uint64_t)made.parallelism.tensor;
        made.pp = (uint64_t)made.parallelism.pipeline;
        made.mp = made.tp * made.pp;
        rc = shape_refuse_python(&made, err);
    }
    if (!rc)
        rc = check_stages(&made, err);
    if (!rc)
        rc = pr_text_equal(made.opts.mode, "subset") ? spread_subset(&made, err)
                                                     : spread_all(&made, err);
    if (!rc)
        rc = check_counts(&made, params, err);
    if (!rc)
        rc = shape_read_list("model.layer_parameters",
                             made.model.layer_parameters, made.tp, a,
                             &made.layers, err);
    if (!rc)
        rc = shape_read_list("model.optimization_groups",
                             made.model.optimization_groups, 1, a, &made.groups,
                             err);
    if (!rc)
        rc = count_parameters(&made, err);
    if (!rc)
        rc = check_sizes(&made, err);
    if (!rc)
        *s = made;
    return rc;
}
