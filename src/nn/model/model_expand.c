/*
 * The tree to a list of layers: blocks are put in where they are used, with
 * their parameters; repetitions and branches are written out; each layer gets
 * its name and its inputs.
 */
#include "nn/model/model_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- names of layers: given ones, those made of op and number, and which
 * layer a name means */

/* The name of the next layer or block: its own, or op and number. round: of a
 * repetition, from 1. In b->out. */
static int model_make_name(struct pr_model_builder *b,
                           const struct pr_model_item *item,
                           struct pr_model_scope *s, int64_t round,
                           const char **ret)
{
    char name[2 * PR_MODEL_NAME + 2];
    unsigned *count =
        item->op ? &s->ops[item->op->op] : &s->blocks[item->block - b->blocks];
    int n;

    ++*count;
    if (!item->name)
        n = snprintf(name, sizeof name, "%s%s%u", s->prefix, item->key, *count);
    else if (item->repeat)
        n = snprintf(name, sizeof name, "%s%s.%d", s->prefix, item->name->s,
                     (int)round);
    else
        n = snprintf(name, sizeof name, "%s%s", s->prefix, item->name->s);
    if (n > PR_MODEL_NAME)
        return PR_MODEL_FAIL(b, item,
                             "the name '%.40s…' has more than %d "
                             "characters",
                             name, PR_MODEL_NAME);
    *ret = pr_arena_copy(b->out, name, (size_t)n);
    return *ret ? PR_OK : pr_fail_nomem(b->err);
}

int pr_model_put_name(struct pr_model_builder *b,
                      const struct pr_model_item *item, const char *name,
                      unsigned layer)
{
    uint32_t old;
    int rc =
        pr_keyset_put(&b->names, name, (uint32_t)strlen(name), layer, &old);

    if (rc < 0)
        return pr_fail_nomem(b->err);
    if (!rc)
        return PR_OK;
    PR_MODEL_FAIL(b, item, "the name '%s' is used twice", name);
    return b->m->layers[old].line
               ? pr_hint(b->err, "see line %u", b->m->layers[old].line)
               : PR_E_CONF;
}

static int unknown_name(struct pr_model_builder *b, const struct pr_value *v,
                        const char *key, const struct pr_model_scope *s)
{
    bool is_from = strcmp(key, "from") == 0;
    size_t n = strlen(s->prefix);
    struct pr_nearest near;

    PR_MODEL_FAIL(b, v, "there is no layer '%.64s'%s", v->s,
                  is_from ? " before this one here" : "");
    pr_nearest_init(&near, v->s);
    pr_nearest_offer(&near, "input");
    for (unsigned i = 0; i < b->m->layer_count && i < 2000; i++) {
        const struct pr_layer *l = &b->m->layers[i];

        if (l->op == PR_LAYER_INPUT)
            pr_nearest_offer(&near, l->name);
        else if (strncmp(l->name, s->prefix, n) == 0)
            pr_nearest_offer(&near, l->name + n);
    }
    return pr_model_suggest(b, &near);
}

static bool model_has_name(const struct pr_model_builder *b, const char *prefix,
                           const char *name, unsigned *ret)
{
    char whole[2 * PR_MODEL_NAME + 2];
    uint32_t layer;
    int n = snprintf(whole, sizeof whole, "%s%s", prefix, name);

    if ((size_t)n >= sizeof whole ||
        !pr_keyset_find(&b->names, whole, (uint32_t)n, &layer))
        return false;
    *ret = layer;
    return true;
}

/* The names of inputs are known in every block. */
static bool find_input(const struct pr_model_builder *b, const char *name,
                       unsigned *ret)
{
    return model_has_name(b, "", name, ret) &&
           b->m->layers[*ret].op == PR_LAYER_INPUT &&
           strcmp(b->m->layers[*ret].name, name) == 0;
}

static bool find_in(const struct pr_model_builder *b,
                    const struct pr_model_scope *s, const char *name,
                    unsigned *ret)
{
    if (strcmp(name, "input") != 0)
        return model_has_name(b, s->prefix, name, ret);
    *ret = s->input;
    return true;
}

/* A name that the user of a block gave it: it means a layer out there. */
static int find_given(struct pr_model_builder *b, const struct pr_value *v,
                      const char *key, const struct pr_model_scope *s,
                      unsigned *ret)
{
    const struct pr_model_scope *where = s->outer ? s->outer : s;
    struct pr_value name;
    int rc = pr_model_eval(b, s->env, v, &name);

    if (rc)
        return rc;
    if (!pr_model_is_name(&name))
        return pr_model_fail_wants(b, &name, key, "the name of a layer");
    for (const struct pr_model_scope *o = where; o; o = o->outer)
        if (find_in(b, o, name.s, ret))
            return PR_OK;
    return find_input(b, name.s, ret) ? PR_OK
                                      : unknown_name(b, &name, key, where);
}

int pr_model_find_name(struct pr_model_builder *b, const struct pr_value *v,
                       const char *key, const struct pr_model_scope *s,
                       unsigned *ret)
{
    unsigned layer;
    int rc = pr_model_count_step(b, v);

    if (rc)
        return rc;
    if (v->kind == PR_STR && v->s[0] == '$')
        return find_given(b, v, key, s, ret);
    if (!pr_model_is_name(v))
        return pr_model_fail_wants(b, v, key, "the name of a layer");
    if (!find_in(b, s, v->s, &layer) && !find_input(b, v->s, &layer))
        return unknown_name(b, v, key, s);
    *ret = layer;
    return PR_OK;
}

/* ---- layers that have the tensors of an earlier one, and layers that do not
 * learn. A block that is like another hands this on to the layers inside: each
 * is like the one whose name behind the prefix is the same. */

static int read_is_frozen(struct pr_model_builder *b,
                          const struct pr_model_item *item,
                          const struct pr_model_scope *s, bool *ret)
{
    bool own = false;
    int rc = item->freeze
                 ? pr_model_eval_bool(b, s->env, item->freeze, "freeze", &own)
                 : PR_OK;

    *ret = s->is_frozen || own;
    return rc;
}

static int check_like_name(struct pr_model_builder *b, const struct pr_value *v)
{
    int rc = pr_model_count_step(b, v);

    if (rc || pr_model_is_name(v))
        return rc;
    return pr_model_fail_wants(b, v, "like", "the name of an earlier use");
}

/* The layer that is called so itself; a block has the name of its last. */
static bool find_layer(const struct pr_model_builder *b, const char *prefix,
                       const char *name, unsigned *ret)
{
    size_t n = strlen(prefix);
    const char *is;

    if (!model_has_name(b, prefix, name, ret))
        return false;
    is = b->m->layers[*ret].name;
    return strncmp(is, prefix, n) == 0 && strcmp(is + n, name) == 0;
}

/* ---- like and freeze: blocks */

static int like_earlier(struct pr_model_builder *b,
                        const struct pr_model_item *item,
                        const struct pr_model_scope *s, const char **ret)
{
    const struct pr_value *v = item->like;
    unsigned layer;
    int rc = check_like_name(b, v);

    if (rc)
        return rc;
    *ret = pr_arena_printf(b->work, "%s%s.", s->prefix, v->s);
    if (!*ret)
        return pr_fail_nomem(b->err);
    if (!model_has_name(b, s->prefix, v->s, &layer) ||
        find_layer(b, s->prefix, v->s, &layer))
        return PR_MODEL_FAIL(b, v,
                             "there is no block '%.64s' before this one "
                             "here",
                             v->s);
    return PR_OK;
}

static int model_like_block(struct pr_model_builder *b,
                            const struct pr_model_item *item,
                            const struct pr_model_scope *s, const char *name,
                            struct pr_model_scope *inner)
{
    int rc = read_is_frozen(b, item, s, &inner->is_frozen);

    if (rc)
        return rc;
    if (item->like)
        return like_earlier(b, item, s, &inner->like);
    if (!s->like)
        return PR_OK;
    inner->like =
        pr_arena_printf(b->work, "%s%s.", s->like, name + strlen(s->prefix));
    return inner->like ? PR_OK : pr_fail_nomem(b->err);
}

/* ---- like and freeze: layers */

static bool is_tied(enum pr_layer_op a, enum pr_layer_op b)
{
    return a == b || (a == PR_LAYER_LINEAR && b == PR_LAYER_EMBEDDING) ||
           (a == PR_LAYER_EMBEDDING && b == PR_LAYER_LINEAR);
}

static bool same_tensors(const struct pr_model *m, const struct pr_layer *one,
                         const struct pr_layer *two)
{
    struct pr_layer_tensor a[PR_LAYER_TENSORS], b[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(m, one, a);

    if (!is_tied(one->op, two->op) || one->groups != two->groups ||
        pr_layer_tensors(m, two, b) != n)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (strcmp(a[i].suffix, b[i].suffix) != 0 || a[i].dims != b[i].dims ||
            memcmp(a[i].at, b[i].at, a[i].dims * sizeof a[i].at[0]) != 0)
            return false;
    return true;
}

/* Index of the layer that it is like. */
static int find_like(struct pr_model_builder *b,
                     const struct pr_model_item *item,
                     const struct pr_model_scope *s, struct pr_model_draft *d,
                     unsigned *ret)
{
    const char *prefix = item->like ? s->prefix : s->like;
    const char *name =
        item->like ? item->like->s : d->l.name + strlen(s->prefix);

    if (find_layer(b, prefix, name, ret))
        return PR_OK;
    if (item->like)
        return PR_MODEL_FAIL(b, item->like,
                             "there is no layer '%.64s' before "
                             "this one here",
                             name);
    return PR_MODEL_FAIL(b, d,
                         "'%s' should be like '%.64s%.64s', which there "
                         "is not",
                         d->l.name, prefix, name);
}

static int take_layer_tensors(struct pr_model_builder *b,
                              struct pr_model_draft *d, unsigned layer)
{
    const struct pr_layer *other = &b->m->layers[layer];
    const struct pr_layer *owner = &b->m->layers[other->like];

    if (!same_tensors(b->m, &d->l, other))
        return PR_MODEL_FAIL(b, d,
                             "'%s' cannot be like '%s': their tensors "
                             "differ",
                             d->l.name, other->name);
    if (d->l.learns == PR_FROZEN && owner->learns != PR_FROZEN)
        return PR_MODEL_FAIL(b, d,
                             "'%s' has the tensors of '%s', which are "
                             "not frozen",
                             d->l.name, owner->name);
    d->l.like = other->like;
    d->l.learns = owner->learns;
    d->l.params = 0;
    return PR_OK;
}

/* Sets like, learns and params of a layer that is about to be appended. */
static int model_like_layer(struct pr_model_builder *b,
                            const struct pr_model_item *item,
                            const struct pr_model_scope *s,
                            struct pr_model_draft *d)
{
    struct pr_layer_tensor t[PR_LAYER_TENSORS];
    bool frozen, has = pr_layer_tensors(b->m, &d->l, t) > 0;
    unsigned layer;
    int rc = read_is_frozen(b, item, s, &frozen);

    d->l.like = b->m->layer_count;
    d->l.learns = frozen && has ? PR_FROZEN : 0;
    if (!rc && item->like)
        rc = check_like_name(b, item->like);
    if (rc || !(item->like || (s->like && has)))
        return rc;
    if (!has)
        return PR_MODEL_FAIL(b, item->like,
                             "'%s' has no tensors that could be "
                             "like others",
                             item->key);
    rc = find_like(b, item, s, d, &layer);
    return rc ? rc : take_layer_tensors(b, d, layer);
}

static int expand_list(struct pr_model_builder *b,
                       const struct pr_model_list *list,
                       struct pr_model_scope *s, unsigned *at);

/* ---- expanding: layers */

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
    int rc = model_make_name(b, item, s, round, &d.l.name);

    if (!rc)
        rc = pr_model_fill(b, s->env, item, &d);
    if (!rc)
        rc = pr_model_shape(b, &d);
    if (!rc)
        rc = model_like_layer(b, item, s, &d);
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

/* ---- expanding: joins */

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

/* ---- expanding: blocks */

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
        rc = model_make_name(b, item, s, round, &name);
    if (!rc)
        rc = model_like_block(b, item, s, name, &inner);
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

/* ---- expanding: items */

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
