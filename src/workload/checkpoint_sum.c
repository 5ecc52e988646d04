/*
 * What many ranks write together. Ranks of a stage write alike, so that one of
 * each is looked at and counted as often as there are such ranks.
 */
#include "workload/checkpoint_shape.h"

#include <assert.h>

/* A sum that stays at its largest when it is too large to be told. */
static void add(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(*sum, product, sum))
        *sum = UINT64_MAX;
}

struct whole_file {
    const struct pr_ckpt_shape *shape;
    struct pr_ckpt_file file;
};

static void tensor_at(const void *ctx, uint64_t i, struct pr_tensor *ret)
{
    const struct whole_file *w = ctx;

    pr_ckpt_tensor(w->shape, &w->file, i, ret);
}

/* Adds a file that so many ranks write. */
static void add_file(struct pr_ckpt_sum *sum, const struct whole_file *w,
                     uint64_t ranks)
{
    const struct pr_tensor_layout *layout =
        pr_tensor_layout_find(w->shape->opts.layout);
    struct pr_tensor_list list = {
        .count = w->file.tensors, .at = tensor_at, .ctx = w};

    assert(layout);
    if (!ranks)
        return;
    add(w->file.kind == PR_CKPT_OPTIMIZER ? &sum->optimizer_bytes
                                          : &sum->model_bytes,
        w->file.bytes, ranks);
    add(&sum->disk_bytes, pr_tensor_file_bytes(layout, &list), ranks);
    add(&sum->files, 1, ranks);
}

/* Ranks below `end` that are of a stage. */
static uint64_t below(const struct pr_ckpt_shape *s, uint64_t stage,
                      uint64_t end)
{
    uint64_t last = end % s->mp, before = stage * s->tp;
    uint64_t rest = last > before ? last - before : 0;

    return end / s->mp * s->tp + (rest < s->tp ? rest : s->tp);
}

static uint64_t between(uint64_t first, uint64_t end, uint64_t most)
{
    end = end < most ? end : most;
    return end > first ? end - first : 0;
}

/* The files with layers, from the first rank of each stage. */
static void add_layers(const struct pr_ckpt_shape *s, uint64_t first,
                       uint64_t end, struct pr_ckpt_sum *sum)
{
    /* Without ZeRO 3 the first copy of the model is the one that is saved. */
    uint64_t most = s->parallelism.zero_stage == 3 ? s->all : s->mp;

    end = end < most ? end : most;
    if (first >= end)
        return;
    if (!sum->writers) /* there is nothing but layers */
        sum->writers = end - first;
    for (uint64_t stage = 0; stage < s->pp; stage++) {
        uint64_t rank = stage * s->tp, files = pr_ckpt_files(s, rank);
        uint64_t ranks = below(s, stage, end) - below(s, stage, first);
        struct whole_file w = {.shape = s};
        for (uint64_t i = 0; ranks && i < files; i++) {
            pr_ckpt_file(s, rank, i, &w.file);
            if (w.file.kind == PR_CKPT_LAYERS)
                add_file(sum, &w, ranks);
        }
    }
}

void pr_ckpt_sum(const struct pr_ckpt_shape *s, uint64_t first, uint64_t count,
                 struct pr_ckpt_sum *ret)
{
    uint64_t most = s->parallelism.zero_stage > 0 ? s->all : s->mp;
    uint64_t files = pr_ckpt_files(s, 0), end;
    struct whole_file w = {.shape = s};

    if (s->has_sums && ((first == s->first && count == s->ranks) ||
                        (first == 0 && count == s->all))) {
        *ret = count == s->all ? s->whole : s->here;
        return;
    }
    *ret = (struct pr_ckpt_sum){0};
    if (__builtin_add_overflow(first, count, &end) || end > s->all)
        end = s->all;
    for (uint64_t i = 0; i < files; i++) {
        pr_ckpt_file(s, 0, i, &w.file);
        if (w.file.kind == PR_CKPT_LAYERS)
            continue;
        ret->writers = between(first, end, most);
        add_file(ret, &w, ret->writers);
    }
    if (s->model.num_layers > 0)
        add_layers(s, first, end, ret);
}
