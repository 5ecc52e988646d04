/*
 * Layers that have the tensors of an earlier one, and layers that do not
 * learn. A block that is like another hands this on to the layers inside: each
 * is like the one whose name behind the prefix is the same.
 */
#include "nn/model/model_impl.h"

#include <string.h>

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

    if (!pr_model_has_name(b, prefix, name, ret))
        return false;
    is = b->m->layers[*ret].name;
    return strncmp(is, prefix, n) == 0 && strcmp(is + n, name) == 0;
}

/* ---- blocks */

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
    if (!pr_model_has_name(b, s->prefix, v->s, &layer) ||
        find_layer(b, s->prefix, v->s, &layer))
        return PR_MODEL_FAIL(b, v,
                             "there is no block '%.64s' before this one "
                             "here",
                             v->s);
    return PR_OK;
}

int pr_model_like_block(struct pr_model_builder *b,
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

/* ---- layers */

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

int pr_model_like_layer(struct pr_model_builder *b,
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
