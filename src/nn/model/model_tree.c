/*
 * A definition as written: the ops with the values that each one takes, the
 * items of its lists, which become ops or blocks with their options, and the
 * blocks. Nothing is computed yet but where a layer is filled, which expanding
 * asks for.
 */
#include "nn/model/model_impl.h"

#include <stddef.h>
#include <string.h>

/* ---- one layer: the defaults of its op, and over them what its item gives */

static void set_pair(int64_t pair[2], int64_t v)
{
    pair[0] = pair[1] = v;
}

static void set_layer_defaults(struct pr_model_draft *d)
{
    struct pr_layer *l = &d->l;

    set_pair(l->kernel, 1);
    set_pair(l->stride, 1);
    set_pair(l->dilation, 1);
    l->groups = 1;
    l->bias = l->op == PR_LAYER_CONV || l->op == PR_LAYER_TRANSPOSED_CONV ||
              l->op == PR_LAYER_LINEAR;
    l->count_pad = l->op == PR_LAYER_AVERAGE_POOL;
    l->has_scale = l->op == PR_LAYER_BATCH_NORM ||
                   l->op == PR_LAYER_LAYER_NORM ||
                   l->op == PR_LAYER_INSTANCE_NORM;
    l->epsilon = l->has_scale ? 1e-5 : 0;
    l->momentum = l->op == PR_LAYER_BATCH_NORM ? 0.1 : 0;
    l->count = l->op == PR_LAYER_SLICE;
    if (l->op == PR_LAYER_LRN) {
        l->alpha = 1e-4;
        l->beta = 0.75;
        l->k = 1;
    }
}

/* ---- one value */

/* Two or four numbers, or one for all. */
static int fill_list(struct pr_model_builder *b, const struct pr_model_env *env,
                     const struct pr_model_field *f, const struct pr_value *v,
                     int64_t *out, unsigned count)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < count && !rc; i++)
        rc = pr_model_eval_int(
            b, env, v->kind == PR_LIST ? &v->items[i % v->len] : v, f->name,
            (int64_t)f->min, (int64_t)f->max, &out[i]);
    return rc;
}

static int fill_layer_window(struct pr_model_builder *b,
                             const struct pr_model_env *env,
                             const struct pr_model_field *f,
                             const struct pr_value *v, struct pr_model_draft *d)
{
    bool is_pad = f->kind != PR_FIELD_PAIR;
    int64_t *out = (int64_t *)(void *)((char *)d + f->offset);
    struct pr_value is;
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (f->kind == PR_FIELD_PAD && is.kind == PR_STR &&
        strcmp(is.s, "same") == 0) {
        d->same = true;
        return PR_OK;
    }
    if (is.kind == PR_LIST && is.len != 2 && !(is_pad && is.len == 4))
        return pr_model_fail_wants(
            b, &is, f->name,
            is_pad ? "[rows, columns] or [top, left, bottom, "
                     "right]"
                   : "[rows, columns]");
    if (is.kind != PR_INT && is.kind != PR_LIST)
        return pr_model_fail_wants(
            b, &is, f->name,
            f->kind == PR_FIELD_SIDES
                ? "a whole number, [rows, columns] or [top, "
                  "left, bottom, right]"
            : is_pad ? "a whole number, [rows, columns], [top, "
                       "left, bottom, right] or 'same'"
                     : "a whole number or [rows, columns]");
    return fill_list(b, env, f, &is, out, is_pad ? 4 : 2);
}

/* A shape, of which one number may be -1: what is left. */
static int fill_layer_shape(struct pr_model_builder *b,
                            const struct pr_model_env *env,
                            const struct pr_model_field *f,
                            const struct pr_value *v,
                            struct pr_layer_shape *ret)
{
    struct pr_value is;
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (is.kind != PR_LIST || !is.len || is.len > PR_LAYER_DIMS)
        return pr_model_fail_wants(b, &is, f->name,
                                   "one to three whole numbers");
    ret->dims = is.len;
    rc = fill_list(b, env, f, &is, ret->at, is.len);
    for (unsigned i = 0; i < is.len && !rc; i++)
        if (!ret->at[i])
            rc = pr_model_fail_wants(b, &is.items[i], f->name,
                                     "a whole number of at least 1, or -1");
    return rc;
}

static int fill_field(struct pr_model_builder *b,
                      const struct pr_model_env *env,
                      const struct pr_model_field *f, const struct pr_value *v,
                      struct pr_model_draft *d)
{
    void *at = (char *)d + f->offset;

    switch (f->kind) {
    case PR_FIELD_INT:
        return pr_model_eval_int(b, env, v, f->name, (int64_t)f->min,
                                 (int64_t)f->max, at);
    case PR_FIELD_BOOL:
        return pr_model_eval_bool(b, env, v, f->name, at);
    case PR_FIELD_NUMBER:
        return pr_model_eval_number(b, env, v, f, at);
    case PR_FIELD_SHAPE:
        return fill_layer_shape(b, env, f, v, at);
    case PR_FIELD_INPUT: /* is among its inputs */
        return PR_OK;
    case PR_FIELD_PAIR:
    case PR_FIELD_PAD:
    case PR_FIELD_SIDES:
        break;
    }
    return fill_layer_window(b, env, f, v, d);
}

/* ---- all of them */

static bool is_field_given(const struct pr_model_item *item, const char *field)
{
    for (unsigned i = 0; i < item->op->field_count; i++)
        if (strcmp(item->op->fields[i].name, field) == 0)
            return item->args[i];
    return false;
}

/* What follows from other values. */
static int finish_layer_fields(struct pr_model_builder *b,
                               const struct pr_model_item *item,
                               struct pr_model_draft *d)
{
    struct pr_layer *l = &d->l;
    bool is_pool = l->op == PR_LAYER_MAX_POOL || l->op == PR_LAYER_AVERAGE_POOL;

    if (is_pool && !is_field_given(item, "stride"))
        memcpy(l->stride, l->kernel, sizeof l->stride);
    if (l->op == PR_LAYER_AVERAGE_POOL && d->same &&
        !is_field_given(item, "count_pad"))
        l->count_pad = false;
    if (d->depthwise && is_field_given(item, "groups"))
        return PR_MODEL_FAIL(b, item,
                             "'depthwise' and 'groups' exclude each "
                             "other");
    for (int i = 0; is_pool && i < 4; i++)
        if (l->pad[i] > l->kernel[i % 2] / 2)
            return PR_MODEL_FAIL(b, item,
                                 "'pad' of '%s' is at most half of "
                                 "its kernel",
                                 item->key);
    if (l->op == PR_LAYER_LRN && l->size % 2 == 0)
        return PR_MODEL_FAIL(b, item, "'lrn' wants an odd size");
    return PR_OK;
}

int pr_model_fill(struct pr_model_builder *b, const struct pr_model_env *env,
                  const struct pr_model_item *item, struct pr_model_draft *d)
{
    int rc = PR_OK;

    d->l.op = item->op->op;
    d->line = d->l.line = item->line;
    d->col = item->col;
    set_layer_defaults(d);
    for (unsigned i = 0; i < item->op->field_count && !rc; i++)
        if (item->args[i])
            rc = fill_field(b, env, &item->op->fields[i], item->args[i], d);
    return rc ? rc : finish_layer_fields(b, item, d);
}

/* ---- where a layer takes its input: from the layer before, or by name */

/* 'from' is a list where the op wants one, and only there. */
int pr_model_check_from(struct pr_model_builder *b,
                        const struct pr_model_item *item)
{
    bool is_list = item->from && item->from->kind == PR_LIST;
    bool is_join = item->op && item->op->is_join;
    const char *froms = item->op ? item->op->froms : NULL;

    if (is_list && !is_join && !froms)
        return PR_MODEL_FAIL(b, item->from, "'%.64s' has one input, not a list",
                             item->key);
    if (is_list && froms && item->from->len != item->op->from_count)
        return PR_MODEL_FAIL(b, item->from, "'%s' wants 'from: %s'%s",
                             item->key, froms,
                             item->op->from_one ? " or one layer" : "");
    if (!is_list && froms && !item->op->from_one)
        return PR_MODEL_FAIL(b, item, "'%s' wants 'from: %s'", item->key,
                             froms);
    if (is_list && item->branches)
        return PR_MODEL_FAIL(b, item->from, "'%s' has branches already",
                             item->key);
    if (is_list && item->repeat)
        return PR_MODEL_FAIL(b, item->repeat,
                             "'%s' of a list cannot be repeated", item->key);
    if (item->from && !is_list && is_join && !item->branches)
        return pr_model_fail_wants(b, item->from, "from", "a list of names");
    return PR_OK;
}

/* The input that an option names; NULL: none. */
static const struct pr_value *find_extra_input(const struct pr_model_item *item,
                                               const char **ret_key)
{
    for (unsigned i = 0; i < item->op->field_count; i++)
        if (item->op->fields[i].kind == PR_FIELD_INPUT && item->args[i]) {
            *ret_key = item->op->fields[i].name;
            return item->args[i];
        }
    return NULL;
}

int pr_model_find_inputs(struct pr_model_builder *b,
                         const struct pr_model_item *item,
                         const struct pr_model_scope *s, unsigned at,
                         struct pr_layer *l)
{
    bool is_list = item->from && item->from->kind == PR_LIST;
    unsigned n = is_list ? item->from->len : 1;
    unsigned *inputs = PR_ARENA_ARRAY(b->out, unsigned, n + 1);
    const char *key = NULL;
    const struct pr_value *more = find_extra_input(item, &key);
    int rc = PR_OK;

    if (!inputs)
        return pr_fail_nomem(b->err);
    inputs[0] = at;
    for (unsigned i = 0; is_list && i < n && !rc; i++)
        rc =
            pr_model_find_name(b, &item->from->items[i], "from", s, &inputs[i]);
    if (!rc && more)
        rc = pr_model_find_name(b, more, key, s, &inputs[n++]);
    l->inputs = inputs;
    l->input_count = n;
    l->has_lengths = more;
    return rc;
}

int pr_model_check_join(struct pr_model_builder *b,
                        const struct pr_model_item *item,
                        const unsigned *inputs, unsigned count)
{
    struct pr_keyset seen = {0};
    int rc = PR_OK;

    if (count < 2)
        return PR_MODEL_FAIL(b, item, "'%s' wants two inputs or more",
                             item->key);
    for (unsigned i = 0; i < count && !rc; i++) {
        uint32_t old;

        rc = pr_keyset_put(&seen, (const char *)&inputs[i], sizeof *inputs, i,
                           &old);
        if (rc == 1)
            rc = PR_MODEL_FAIL(b, item, "'%s' gets '%.64s' twice", item->key,
                               b->m->layers[inputs[i]].name);
        else if (rc)
            rc = pr_fail_nomem(b->err);
    }
    pr_keyset_free(&seen);
    return rc;
}

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

/* NULL at the end. */
static const struct pr_model_op *model_op_at(size_t i)
{
    return i < sizeof ops / sizeof *ops ? &ops[i] : NULL;
}

/* NULL: none. */
static const struct pr_model_op *model_op_find(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(name, pr_layer_op_name(ops[i].op)) == 0)
            return &ops[i];
    return NULL;
}

/* ---- items: each becomes an op or a block with its options. That every name
 * means something is checked here, also in what an `if` leaves out later. */

static struct pr_model_block *model_block_find(struct pr_model_builder *b,
                                               const char *name)
{
    for (unsigned i = 0; i < b->block_count; i++)
        if (strcmp(b->blocks[i].name, name) == 0)
            return &b->blocks[i];
    return NULL;
}

static const char *const common[] = {"name", "if",   "repeat",
                                     "from", "like", "freeze"};

/* "name", "if", "repeat", "from" …: options of every layer. */
static bool model_is_common(const char *name)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(name, common[i]) == 0)
            return true;
    return false;
}

/* ---- items: which key is the op */

static int find_op_field(const struct pr_model_op *op, const char *name)
{
    for (unsigned i = op->has_main; i < op->field_count; i++)
        if (strcmp(op->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Whether the op or block called head has an option of that name. */
static bool item_takes_option(struct pr_model_builder *b, const char *head,
                              const char *option)
{
    const struct pr_model_op *op = model_op_find(head);
    const struct pr_model_block *block = op ? NULL : model_block_find(b, head);

    return model_is_common(option) || (op && find_op_field(op, option) >= 0) ||
           (block && pr_model_block_param(block, option) >= 0);
}

static bool is_op_or_block(struct pr_model_builder *b, const char *key)
{
    return model_op_find(key) || model_block_find(b, key);
}

/* Whether member i is the op: all others that could be are options of it, as
 * scale is one of batch_norm. */
static bool is_item_head(struct pr_model_builder *b, const struct pr_value *map,
                         uint32_t i)
{
    const char *head = map->members[i].key;

    if (!is_op_or_block(b, head))
        return false;
    for (uint32_t k = 0; k < map->len; k++)
        if (k != i && is_op_or_block(b, map->members[k].key) &&
            !item_takes_option(b, head, map->members[k].key))
            return false;
    return true;
}

static int model_fail_unknown_op(struct pr_model_builder *b, const char *key,
                                 uint32_t line, uint32_t col)
{
    struct pr_value at = {.line = line, .col = col};
    struct pr_nearest near;
    int rc = PR_MODEL_FAIL(b, &at, "'%.64s' is neither an op nor a block", key);
    const struct pr_model_op *op;

    pr_nearest_init(&near, key);
    for (size_t i = 0; (op = model_op_at(i)); i++)
        pr_nearest_offer(&near, pr_layer_op_name(op->op));
    for (unsigned i = 0; i < b->block_count; i++)
        pr_nearest_offer(&near, b->blocks[i].name);
    return near.best ? pr_model_suggest(b, &near) : rc;
}

/* A key that no op has as an option, or else the first one. */
static const struct pr_member *find_strange_key(const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const char *key = map->members[i].key;
        bool known = model_is_common(key);
        const struct pr_model_op *op;

        for (size_t k = 0; !known && (op = model_op_at(k)); k++)
            known = find_op_field(op, key) >= 0;
        if (!known)
            return &map->members[i];
    }
    return &map->members[0];
}

static int model_find_head(struct pr_model_builder *b,
                           const struct pr_value *map, uint32_t *ret)
{
    uint32_t found = 0, first = map->len, second = map->len;

    for (uint32_t i = 0; i < map->len; i++) {
        if (is_item_head(b, map, i)) {
            *ret = i;
            found++;
        }
        if (is_op_or_block(b, map->members[i].key)) {
            second = first < map->len && second == map->len ? i : second;
            first = first == map->len ? i : first;
        }
    }
    if (found == 1)
        return PR_OK;
    if (!map->len)
        return PR_MODEL_FAIL(b, map, "a layer without an op");
    if (first == map->len) {
        const struct pr_member *m = find_strange_key(map);

        return model_fail_unknown_op(b, m->key, m->line, m->col);
    }
    return PR_MODEL_FAIL(b, &map->members[second],
                         "one layer with two ops, '%.64s' and '%.64s'",
                         map->members[first].key, map->members[second].key);
}

/* ---- items: options */

static int fail_unknown_layer_option(struct pr_model_builder *b,
                                     const struct pr_model_item *item,
                                     const struct pr_member *m)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "'%.64s' has no option '%.64s'", item->key, m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        pr_nearest_offer(&near, common[i]);
    for (unsigned i = item->op ? item->op->has_main : 0;
         item->op && i < item->op->field_count; i++)
        pr_nearest_offer(&near, item->op->fields[i].name);
    for (uint32_t i = 0;
         item->block && item->block->given && i < item->block->given->len; i++)
        pr_nearest_offer(&near, item->block->given->members[i].key);
    return pr_model_suggest(b, &near);
}

static bool item_put_common(struct pr_model_item *item,
                            const struct pr_member *m)
{
    const struct pr_value **slots[] = {&item->name,   &item->only_if,
                                       &item->repeat, &item->from,
                                       &item->like,   &item->freeze};

    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(m->key, common[i]) == 0) {
            *slots[i] = &m->value;
            return true;
        }
    return false;
}

static int item_put_option(struct pr_model_builder *b,
                           struct pr_model_item *item,
                           const struct pr_member *m)
{
    int i;

    if (item_put_common(item, m))
        return PR_OK;
    i = item->op ? find_op_field(item->op, m->key)
                 : pr_model_block_param(item->block, m->key);
    if (i < 0)
        return fail_unknown_layer_option(b, item, m);
    item->args[i] = &m->value;
    return PR_OK;
}

static int check_item_name(struct pr_model_builder *b,
                           const struct pr_model_item *item)
{
    if (!item->name)
        return PR_OK;
    if (!pr_model_is_name(item->name)) {
        int rc = pr_model_fail_wants(b, item->name, "name", "text");

        return item->name->kind == PR_STR
                   ? PR_MODEL_FAIL(b, item->name,
                                   "'%.64s' cannot be a name: letters, digits, "
                                   "'_', '.' and '-' make one",
                                   item->name->s)
                   : rc;
    }
    if (strcmp(item->name->s, "input") == 0)
        return PR_MODEL_FAIL(b, item->name,
                             "no layer can be called 'input', which is what "
                             "comes in");
    return PR_OK;
}

/* ---- items: the op's own value */

static int read_item_branches(struct pr_model_builder *b,
                              struct pr_model_item *item)
{
    const struct pr_value *v = item->value;
    int rc = PR_OK;

    if (v->kind != PR_LIST)
        return pr_model_fail_wants(b, v, item->key, "a list of branches");
    item->branches = PR_ARENA_ARRAY(b->work, struct pr_model_list, v->len + 1);
    if (!item->branches)
        return pr_fail_nomem(b->err);
    item->branch_count = v->len;
    if (++b->depth > PR_MODEL_DEPTH)
        return PR_MODEL_FAIL(b, v, "more than %d branches inside each other",
                             PR_MODEL_DEPTH);
    for (uint32_t i = 0; i < v->len && !rc; i++)
        rc = pr_model_read_items(b, &v->items[i], "a branch",
                                 &item->branches[i]);
    b->depth--;
    return rc;
}

static int fail_missing_value(struct pr_model_builder *b,
                              const struct pr_model_item *item)
{
    const char *what = item->op->fields[0].name;

    if (item->op->is_join) {
        PR_MODEL_FAIL(b, item, "'%s' of what?", item->key);
        return pr_hint(b->err, "give it a list of branches, or "
                               "'from: [a, b]'");
    }
    PR_MODEL_FAIL(b, item, "'%s' wants its %s", item->key, what);
    return pr_hint(b->err, "{%s: %s}", item->key, what);
}

static int read_item_value(struct pr_model_builder *b,
                           struct pr_model_item *item)
{
    bool has = item->value && item->value->kind != PR_NULL;

    if (item->op && item->op->is_join && has)
        return read_item_branches(b, item);
    if (item->op && item->op->is_join)
        return item->from ? PR_OK : fail_missing_value(b, item);
    if (item->op && item->op->has_main) {
        item->args[0] = has ? item->value : NULL;
        return has ? PR_OK : fail_missing_value(b, item);
    }
    if (!has)
        return PR_OK;
    PR_MODEL_FAIL(b, item->value, "'%.64s' takes no value", item->key);
    return item->op ? PR_E_CONF
                    : pr_hint(b->err,
                              "a block's parameters are given by name: "
                              "{%.64s: , NAME: VALUE}",
                              item->key);
}

/* ---- items: all of a list */

static int find_item_head(struct pr_model_builder *b, const struct pr_value *v,
                          struct pr_model_item *item, uint32_t *ret)
{
    int rc;

    *ret = UINT32_MAX;
    item->line = v->line;
    item->col = v->col;
    if (v->kind == PR_STR) {
        item->key = v->s;
    } else if (v->kind == PR_MAP) {
        rc = model_find_head(b, v, ret);
        if (rc)
            return rc;
        item->key = v->members[*ret].key;
        item->line = v->members[*ret].line;
        item->col = v->members[*ret].col;
        item->value = &v->members[*ret].value;
    } else {
        return PR_MODEL_FAIL(b, v,
                             "a layer is the name of an op or a map, "
                             "not %s",
                             pr_kind_name(v->kind));
    }
    item->op = model_op_find(item->key);
    item->block = item->op ? NULL : model_block_find(b, item->key);
    return item->op || item->block
               ? PR_OK
               : model_fail_unknown_op(b, item->key, item->line, item->col);
}

static int read_layer_item(struct pr_model_builder *b, const struct pr_value *v,
                           struct pr_model_item *item)
{
    uint32_t head;
    int rc = find_item_head(b, v, item, &head);

    if (rc)
        return rc;
    item->args =
        PR_ARENA_ARRAY(b->work, const struct pr_value *,
                       item->op ? (size_t)PR_FIELDS : (size_t)PR_MODEL_GIVEN);
    if (!item->args)
        return pr_fail_nomem(b->err);
    for (uint32_t i = 0; v->kind == PR_MAP && i < v->len && !rc; i++)
        if (i != head)
            rc = item_put_option(b, item, &v->members[i]);
    if (!rc)
        rc = check_item_name(b, item);
    return rc ? rc : read_item_value(b, item);
}

int pr_model_read_items(struct pr_model_builder *b, const struct pr_value *list,
                        const char *what, struct pr_model_list *ret)
{
    int rc = PR_OK;

    if (list->kind != PR_LIST) {
        PR_MODEL_FAIL(b, list, "%s is a list of layers, not %s", what,
                      pr_kind_name(list->kind));
        return pr_hint(b->err, "[] is a list without any");
    }
    b->item_count += list->len + 1;
    if (list->len >= PR_MODEL_ITEMS || b->item_count > PR_MODEL_ITEMS)
        return PR_MODEL_FAIL(b, list, "more than %d layers are written",
                             PR_MODEL_ITEMS);
    ret->items = PR_ARENA_ARRAY(b->work, struct pr_model_item, list->len + 1);
    if (!ret->items)
        return pr_fail_nomem(b->err);
    ret->count = list->len;
    for (uint32_t i = 0; i < list->len && !rc; i++)
        rc = read_layer_item(b, &list->items[i], &ret->items[i]);
    return rc;
}

/* ---- blocks: their parameters and layers */

int pr_model_block_param(const struct pr_model_block *block, const char *name)
{
    for (uint32_t i = 0; block->given && i < block->given->len; i++)
        if (strcmp(block->given->members[i].key, name) == 0)
            return (int)i;
    return -1;
}

/* ---- blocks: what one says */

static bool is_block_word(const char *s, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return len && strlen(s) == len && strspn(s, letters) &&
           strspn(s, more) == len;
}

int pr_model_check_param(struct pr_model_builder *b, const struct pr_member *m)
{
    if (!is_block_word(m->key, m->key_len))
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be a parameter: letters, digits "
                             "and '_' make one",
                             m->key);
    if (model_is_common(m->key) || strcmp(m->key, "classes") == 0)
        return PR_MODEL_FAIL(b, m,
                             "a parameter cannot be called '%s', which "
                             "has a meaning already",
                             m->key);
    return PR_OK;
}

static int read_block_given(struct pr_model_builder *b,
                            struct pr_model_block *block,
                            const struct pr_value *given)
{
    int rc = PR_OK;

    if (given->kind == PR_NULL)
        return PR_OK;
    if (given->kind != PR_MAP)
        return pr_model_fail_wants(
            b, given, "given", "parameters and their defaults: {width: null}");
    if (given->len > PR_MODEL_GIVEN)
        return PR_MODEL_FAIL(b, given, "a block has at most %d parameters",
                             PR_MODEL_GIVEN);
    block->given = given;
    for (uint32_t i = 0; i < given->len && !rc; i++)
        rc = pr_model_check_param(b, &given->members[i]);
    return rc;
}

static int fail_unknown_block_key(struct pr_model_builder *b,
                                  const struct pr_member *m)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "a block has 'given' and 'layers', and no '%.64s'",
                  m->key);
    pr_nearest_init(&near, m->key);
    pr_nearest_offer(&near, "given");
    pr_nearest_offer(&near, "layers");
    return pr_model_suggest(b, &near);
}

/* Its name and parameters; its layers are read when all blocks are known. */
static int declare_block(struct pr_model_builder *b, const struct pr_member *m)
{
    struct pr_model_block *block = &b->blocks[b->block_count];
    int rc = PR_OK;

    if (b->block_count == PR_MODEL_BLOCKS)
        return PR_MODEL_FAIL(b, m, "more than %d blocks", PR_MODEL_BLOCKS);
    if (!is_block_word(m->key, m->key_len) || m->key_len > PR_MODEL_NAME)
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be a block: letters, digits and "
                             "'_' make a name",
                             m->key);
    if (model_op_find(m->key) || model_is_common(m->key) ||
        strcmp(m->key, "input") == 0)
        return PR_MODEL_FAIL(b, m,
                             "a block cannot be called '%s', which has "
                             "a meaning already",
                             m->key);
    if (m->value.kind != PR_MAP || !pr_get(&m->value, "layers"))
        return PR_MODEL_FAIL(b, m, "block '%s' has no 'layers'", m->key);
    *block =
        (struct pr_model_block){.name = m->key, .line = m->line, .col = m->col};
    for (uint32_t i = 0; i < m->value.len && !rc; i++) {
        const struct pr_member *k = &m->value.members[i];

        if (strcmp(k->key, "given") == 0)
            rc = read_block_given(b, block, &k->value);
        else if (strcmp(k->key, "layers") != 0)
            rc = fail_unknown_block_key(b, k);
    }
    b->block_count += !rc;
    return rc;
}

/* ---- blocks: none is inside of itself */

static int visit_block(struct pr_model_builder *b,
                       struct pr_model_block *block);

static int visit_block_list(struct pr_model_builder *b,
                            const struct pr_model_list *list,
                            const struct pr_model_block *in)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < list->count && !rc; i++) {
        const struct pr_model_item *item = &list->items[i];

        for (unsigned k = 0; k < item->branch_count && !rc; k++)
            rc = visit_block_list(b, &item->branches[k], in);
        if (rc || !item->block)
            continue;
        if (item->block == in)
            return PR_MODEL_FAIL(b, item, "block '%s' uses itself", in->name);
        if (item->block->state == PR_BLOCK_OPEN)
            return PR_MODEL_FAIL(b, item,
                                 "block '%s' uses itself, by way of "
                                 "'%s'",
                                 item->block->name, in->name);
        rc = visit_block(b, item->block);
    }
    return rc;
}

static int visit_block(struct pr_model_builder *b, struct pr_model_block *block)
{
    int rc;

    if (block->state == PR_BLOCK_DONE)
        return PR_OK;
    block->state = PR_BLOCK_OPEN;
    rc = visit_block_list(b, &block->body, block);
    block->state = PR_BLOCK_DONE;
    return rc;
}

int pr_model_read_blocks(struct pr_model_builder *b, const struct pr_value *map)
{
    int rc = PR_OK;

    if (!map || map->kind == PR_NULL)
        return PR_OK;
    if (map->kind != PR_MAP)
        return pr_model_fail_wants(b, map, "blocks", "a map of blocks");
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = declare_block(b, &map->members[i]);
    for (uint32_t i = 0; i < b->block_count && !rc; i++)
        rc = pr_model_read_items(b, pr_get(&map->members[i].value, "layers"),
                                 "'layers'", &b->blocks[i].body);
    for (uint32_t i = 0; i < b->block_count && !rc; i++)
        rc = visit_block(b, &b->blocks[i]);
    return rc;
}
