/*
 * What many ranks write together. Ranks of a stage write alike, so that one of
 * each is looked at and counted as often as there are such ranks.
 */
#include "checkpoint/checkpoint_shape.h"

#include <assert.h>

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
