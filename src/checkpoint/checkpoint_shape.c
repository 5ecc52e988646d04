/*
 * The parameters of a checkpoint: read, checked as DLIO checks them, and what
 * follows from them for all ranks. checkpoint_files.c has the files.
 */
#include "checkpoint/checkpoint_shape.h"

#include <string.h>

typedef unsigned long long ull;

/* Everything that is computed from sizes below this fits into 64 bits: a rank's
 * optimiser state is the most, three times the parameters of eight bytes. */
#define MOST 100000000000000000ULL

static bool shape_is_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

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
    s->is_tensorflow = shape_is_text(emulate.framework, "tensorflow");
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

    if (!*name || shape_is_text(name, "None"))
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
        if (strncmp(params->members[i].key, prefix, sizeof prefix - 1) == 0)
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
    if (!shape_is_text(s->model.type, "transformer") &&
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
        rc = shape_is_text(made.opts.mode, "subset") ? spread_subset(&made, err)
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
