/* The ops of a definition: their names, and which values each one takes. */
#include "nn/model/model_impl.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct pr_model_draft, member)
#define DIM (double)PR_MODEL_DIM
#define INT(name, member, min)                                 \
    {                                                          \
        name, PR_FIELD_INT, AT(member), min, DIM, false, false \
    }
#define PAIR(name, member)                                    \
    {                                                         \
        name, PR_FIELD_PAIR, AT(member), 1, DIM, false, false \
    }
#define PAD                                                  \
    {                                                        \
        "pad", PR_FIELD_PAD, AT(l.pad), 0, DIM, false, false \
    }
#define SIDES                                                  \
    {                                                          \
        "pad", PR_FIELD_SIDES, AT(l.pad), 0, DIM, false, false \
    }
#define SHAPE(name, member)                                     \
    {                                                           \
        name, PR_FIELD_SHAPE, AT(member), -1, DIM, false, false \
    }
#define INPUT(name)                                 \
    {                                               \
        name, PR_FIELD_INPUT, 0, 0, 0, false, false \
    }
#define BOOL(name, member)                                  \
    {                                                       \
        name, PR_FIELD_BOOL, AT(member), 0, 1, false, false \
    }
#define NUMBER(name, member, min, max, no_min, no_max)              \
    {                                                               \
        name, PR_FIELD_NUMBER, AT(member), min, max, no_min, no_max \
    }

/* clang-format off */
static const struct pr_model_op ops[] = {
    {.op = PR_LAYER_CONV, .has_main = true, .field_count = 8, .fields = {
        INT("outputs", l.out, 1),
        PAIR("kernel", l.kernel),
        PAIR("stride", l.stride),
        PAD,
        PAIR("dilation", l.dilation),
        INT("groups", l.groups, 1),
        BOOL("depthwise", depthwise),
        BOOL("bias", l.bias)}},
    {.op = PR_LAYER_TRANSPOSED_CONV, .has_main = true, .field_count = 5,
     .fields = {
        INT("outputs", l.out, 1),
        PAIR("kernel", l.kernel),
        PAIR("stride", l.stride),
        SIDES,
        BOOL("bias", l.bias)}},
    {.op = PR_LAYER_LINEAR, .has_main = true, .field_count = 2, .fields = {
        INT("outputs", l.out, 1),
        BOOL("bias", l.bias)}},
    {.op = PR_LAYER_EMBEDDING, .has_main = true, .field_count = 2, .fields = {
        INT("outputs", l.out, 1),
        BOOL("sparse", l.sparse)}},
    {.op = PR_LAYER_BATCH_NORM, .field_count = 3, .fields = {
        NUMBER("epsilon", l.epsilon, 0, 1, true, false),
        NUMBER("momentum", l.momentum, 0, 1, false, false),
        BOOL("scale", l.has_scale)}},
    {.op = PR_LAYER_LAYER_NORM, .field_count = 2, .fields = {
        NUMBER("epsilon", l.epsilon, 0, 1, true, false),
        BOOL("scale", l.has_scale)}},
    {.op = PR_LAYER_INSTANCE_NORM, .field_count = 2, .fields = {
        NUMBER("epsilon", l.epsilon, 0, 1, true, false),
        BOOL("scale", l.has_scale)}},
    {.op = PR_LAYER_LRN, .has_main = true, .field_count = 4, .fields = {
        INT("size", l.size, 1),
        NUMBER("alpha", l.alpha, 0, 1e6, false, false),
        NUMBER("beta", l.beta, 0, 1e3, false, false),
        NUMBER("k", l.k, 0, 1e6, false, false)}},
    {.op = PR_LAYER_MAX_POOL, .has_main = true, .field_count = 4, .fields = {
        PAIR("kernel", l.kernel),
        PAIR("stride", l.stride),
        PAD,
        BOOL("ceil", ceil)}},
    {.op = PR_LAYER_AVERAGE_POOL, .has_main = true, .field_count = 5,
     .fields = {
        PAIR("kernel", l.kernel),
        PAIR("stride", l.stride),
        PAD,
        BOOL("ceil", ceil),
        BOOL("count_pad", l.count_pad)}},
    {.op = PR_LAYER_DROPOUT, .has_main = true, .field_count = 1, .fields = {
        NUMBER("rate", l.rate, 0, 1, false, true)}},
    {.op = PR_LAYER_SCALE, .has_main = true, .field_count = 1, .fields = {
        NUMBER("factor", l.factor, -1e30, 1e30, false, false)}},
    {.op = PR_LAYER_LEAKY_RELU, .has_main = true, .field_count = 1, .fields = {
        NUMBER("factor", l.factor, 0, 1, false, false)}},
    {.op = PR_LAYER_LSTM, .has_main = true, .field_count = 3, .fields = {
        INT("outputs", l.out, 1),
        BOOL("reverse", l.reverse),
        BOOL("carry", l.carry)}},
    {.op = PR_LAYER_GRU, .has_main = true, .field_count = 3, .fields = {
        INT("outputs", l.out, 1),
        BOOL("reverse", l.reverse),
        BOOL("carry", l.carry)}},
    {.op = PR_LAYER_ATTENTION, .has_main = true,
     .froms = "[queries, keys, values]", .from_count = 3, .from_one = true,
     .field_count = 3, .fields = {
        INT("heads", l.heads, 1),
        BOOL("causal", l.causal),
        INPUT("lengths")}},
    {.op = PR_LAYER_ADDITIVE_ATTENTION,
     .froms = "[queries, keys, values]", .from_count = 3,
     .field_count = 1, .fields = {INPUT("lengths")}},
    {.op = PR_LAYER_GATHER, .froms = "[rows, ids]", .from_count = 2},
    {.op = PR_LAYER_RESHAPE, .has_main = true, .field_count = 1, .fields = {
        SHAPE("shape", reshape)}},
    {.op = PR_LAYER_SLICE, .has_main = true, .field_count = 3, .fields = {
        INT("first", l.first, 0),
        INT("count", l.count, 1),
        INT("axis", axis, 0)}},
    {.op = PR_LAYER_PIXEL_SHUFFLE, .has_main = true, .field_count = 1,
     .fields = {INT("size", l.size, 1)}},
    {.op = PR_LAYER_UPSAMPLE, .has_main = true, .field_count = 1, .fields = {
        INT("size", l.size, 1)}},
    {.op = PR_LAYER_REFLECT_PAD, .has_main = true, .field_count = 1,
     .fields = {SIDES}},
    {.op = PR_LAYER_GLOBAL_POOL},
    {.op = PR_LAYER_RELU},
    {.op = PR_LAYER_GELU},
    {.op = PR_LAYER_SIGMOID},
    {.op = PR_LAYER_TANH},
    {.op = PR_LAYER_EXP},
    {.op = PR_LAYER_SOFTMAX},
    {.op = PR_LAYER_FLATTEN},
    {.op = PR_LAYER_TRANSPOSE},
    {.op = PR_LAYER_GRAM},
    {.op = PR_LAYER_CONCAT, .is_join = true, .field_count = 1, .fields = {
        INT("axis", axis, 0)}},
    {.op = PR_LAYER_MULTIPLY, .is_join = true},
    {.op = PR_LAYER_ADD, .is_join = true},
};
/* clang-format on */

const char *pr_layer_op_name(enum pr_layer_op op)
{
    static const char *const names[] = {
#define X(id, name) name,
        PR_LAYER_OPS(X)
#undef X
    };

    return op < PR_LAYER_OP_COUNT ? names[op] : "?";
}

const struct pr_model_op *pr_model_op_at(size_t i)
{
    return i < sizeof ops / sizeof *ops ? &ops[i] : NULL;
}

const struct pr_model_op *pr_model_op_find(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(name, pr_layer_op_name(ops[i].op)) == 0)
            return &ops[i];
    return NULL;
}
