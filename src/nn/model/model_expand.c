/*
 * The tree to a list of layers: blocks are put in where they are used, with
 * their parameters; repetitions and branches are written out; each layer gets
 * its name and its inputs.
 */
#include "nn/model/model_impl.h"

static int expand_list(struct pr_model_builder *b,
                       const struct pr_model_list *list,
                       struct pr_model_scope *s, unsigned *at);

/* ---- layers */

int pr_model_append(struct pr_model_builder *b, const struct pr_model_draft *d)
{
    struct pr_model *m = b->m;
    struct pr_layer *layers;
    uint32_t *cols;

    if (m->layer_count - m->input_count >= PR_MODEL_LAYERS)
        return PR_MODEL_FAIL(b, d, "more than %d layers", PR_MODEL_LAYERS);
    layers = pr_arena_grow(b->out, m->layers, m->layer_count, &b->layer_cap,
                           sizeof *layers);
    if (!layers)
        return pr_fail_nomem(b->err);
    m->layers = layers;
    cols = pr_arena_grow(b->work, b->cols, m->layer_count, &b->col_cap,
                         sizeof *cols);
    if (!cols)
        return pr_fail_nomem(b->err);
    b->cols = cols;
    cols[m->layer_count] = d->col;
    layers[m->layer_count++] = d->l;
    return PR_OK;
}

static int add_layer(struct pr_model_builder *b,
                     const struct pr_model_item *item, struct pr_model_scope *s,
                     int64_t round, const struct pr_layer *from)
{
    struct pr_model_draft d = {.l = *from};
    int rc = pr_model_make_name(b, item, s, round, &d.l.name);

    if (!rc)
        rc = pr_model_fill(b, s->env, item, &d);
    if (!rc)
        rc = pr_model_shape(b, &d);
    if (!rc)
        rc = pr_model_like_layer(b, item, s, &d);
    if (!rc)
        rc = pr_model_append(b, &d);
    return rc ? rc
              : pr_model_put_name(b, item, d.l.name, b->m->layer_count - 1);
}

static int add_plain(struct pr_model_builder *b,
                     const struct pr_model_item *item, struct pr_model_scope *s,
                     int64_t round, unsigned *at)
{
    struct pr_layer from = {0};
    int rc = pr_model_find_inputs(b, item, s, *at, &from);

    if (!rc)
        rc = add_layer(b, item, s, round, &from);
    *at = b->m->layer_count - 1;
    return rc;
}

/* ---- joins */

/* The inputs of a join: by name, or the ends of its branches. */
static int join_inputs(struct pr_model_builder *b,
                       const struct pr_model_item *item,
                       struct pr_model_scope *s, unsigned at, unsigned *inputs)
{
    int rc = PR_OK;

    if (!item->branches)
        for (uint32_t i = 0; i < item->from->len && !rc; i++)
            rc = pr_model_find_name(b, &item->from->items[i], "from", s,
                                    &inputs[i]);
    if (item->branch_count && ++b->depth > PR_MODEL_DEPTH)
        return PR_MODEL_FAIL(b, item,
                             "more than %d blocks and branches inside "
                             "each other",
                             PR_MODEL_DEPTH);
    for (unsigned i = 0; i < item->branch_count && !rc; i++) {
        inputs[i] = at;
        rc = expand_list(b, &item->branches[i], s, &inputs[i]);
    }
    b->depth -= item->branch_count > 0;
    return rc;
}

static int add_join(struct pr_model_builder *b,
                    const struct pr_model_item *item, struct pr_model_scope *s,
                    int64_t round, unsigned *at)
{
    unsigned count = item->branches ? item->branch_count : item->from->len;
    unsigned *inputs = PR_ARENA_ARRAY(b->out, unsigned, count + 1);
    struct pr_layer from;
    int rc;

    if (!inputs)
        return pr_fail_nomem(b->err);
    from = (struct pr_layer){.inputs = inputs, .input_count = count};
    rc = join_inputs(b, item, s, *at, inputs);
    if (!rc)
        rc = pr_model_check_join(b, item, inputs, count);
    if (!rc)
        rc = add_layer(b, item, s, round, &from);
    *at = b->m->layer_count - 1;
    return rc;
}

/* ---- blocks */

static int set_block_param(struct pr_model_builder *b,
                           const struct pr_model_item *item,
                           const struct pr_model_scope *s,
                           struct pr_model_env *env, uint32_t i, bool defaults)
{
    const struct pr_member *m = &item->block->given->members[i];
    const struct pr_value *arg = item->args[i];

    if (arg && !defaults) {
        int rc = pr_model_eval(b, s->env, arg, &env->values[i]);

        return !rc && env->values[i].kind == PR_NULL
                   ? pr_model_fail_wants(b, arg, m->key, "a value")
                   : rc;
    }
    if (arg || !defaults)
        return PR_OK;
    if (m->value.kind != PR_NULL)
        return pr_model_eval(b, env, &m->value, &env->values[i]);
    PR_MODEL_FAIL(b, item, "block '%s' wants '%s'", item->key, m->key);
    return pr_hint(b->err, "{%s: , %s: VALUE}", item->key, m->key);
}

/* What is given first, so that defaults may refer to it. */
static int set_block_params(struct pr_model_builder *b,
                            const struct pr_model_item *item,
                            const struct pr_model_scope *s,
                            struct pr_model_env *env)
{
    uint32_t n = item->block->given ? item->block->given->len : 0;
    int rc = PR_OK;

    for (uint32_t i = 0; i < n && !rc; i++)
        rc = set_block_param(b, item, s, env, i, false);
    for (uint32_t i = 0; i < n && !rc; i++)
        rc = set_block_param(b, item, s, env, i, true);
    return rc;
}

static int add_block(struct pr_model_builder *b,
                     const struct pr_model_item *item, struct pr_model_scope *s,
                     int64_t round, unsigned *at)
{
    struct pr_model_env env = {.block = item->block};
    struct pr_model_scope inner = {.outer = s, .env = &env, .input = *at};
    const char *name;
    int rc = set_block_params(b, item, s, &env);

    if (!rc)
        rc = pr_model_make_name(b, item, s, round, &name);
    if (!rc)
        rc = pr_model_like_block(b, item, s, name, &inner);
    if (rc)
        return rc;
    if (++b->depth > PR_MODEL_DEPTH)
        return PR_MODEL_FAIL(b, item,
                             "more than %d blocks and branches inside "
                             "each other",
                             PR_MODEL_DEPTH);
    inner.prefix = pr_arena_printf(b->work, "%s.", name);
    rc = inner.prefix ? expand_list(b, &item->block->body, &inner, at)
                      : pr_fail_nomem(b->err);
    b->depth--;
    return rc ? rc : pr_model_put_name(b, item, name, *at);
}

/* ---- items */

/* The name of all rounds together means the last. */
static int name_rounds(struct pr_model_builder *b,
                       const struct pr_model_item *item,
                       const struct pr_model_scope *s, unsigned at)
{
    const char *name =
        pr_arena_printf(b->work, "%s%s", s->prefix, item->name->s);

    return name ? pr_model_put_name(b, item, name, at) : pr_fail_nomem(b->err);
}

static int expand_rounds(struct pr_model_builder *b,
                         const struct pr_model_item *item,
                         struct pr_model_scope *s, int64_t rounds, unsigned *at)
{
    int rc = pr_model_check_from(b, item);

    if (!rc && item->from && item->from->kind != PR_LIST && rounds)
        rc = pr_model_find_name(b, item->from, "from", s, at);
    for (int64_t i = 1; i <= rounds && !rc; i++) {
        rc = i > 1 ? pr_model_count_step(b, item->repeat) : PR_OK;
        if (rc)
            return rc;
        rc = item->block         ? add_block(b, item, s, i, at)
             : item->op->is_join ? add_join(b, item, s, i, at)
                                 : add_plain(b, item, s, i, at);
    }
    return !rc && rounds && item->name && item->repeat
               ? name_rounds(b, item, s, *at)
               : rc;
}

static int expand_item(struct pr_model_builder *b,
                       const struct pr_model_item *item,
                       struct pr_model_scope *s, unsigned *at)
{
    struct pr_value place = {.line = item->line, .col = item->col};
    int64_t rounds = 1;
    bool wanted = true;
    int rc = pr_model_count_step(b, &place);

    if (!rc && item->only_if)
        rc = pr_model_eval_bool(b, s->env, item->only_if, "if", &wanted);
    if (!rc && wanted && item->repeat)
        rc = pr_model_eval_int(b, s->env, item->repeat, "repeat", 0,
                               PR_MODEL_LAYERS, &rounds);
    return rc || !wanted ? rc : expand_rounds(b, item, s, rounds, at);
}

static int expand_list(struct pr_model_builder *b,
                       const struct pr_model_list *list,
                       struct pr_model_scope *s, unsigned *at)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < list->count && !rc; i++)
        rc = expand_item(b, &list->items[i], s, at);
    return rc;
}

int pr_model_expand(struct pr_model_builder *b)
{
    struct pr_model_env env = {.block = NULL};
    struct pr_model_scope s = {.prefix = "", .env = &env};
    unsigned at = 0;
    int rc = pr_model_add_inputs(b);

    b->depth = 0;
    if (!rc)
        rc = expand_list(b, &b->body, &s, &at);
    b->m->output = at;
    return rc;
}
