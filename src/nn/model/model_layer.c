/* One layer: the defaults of its op, and over them what its item gives. */
#include "nn/model/model_impl.h"

#include <string.h>

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
