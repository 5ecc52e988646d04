/* Names of layers: given ones, those made of op and number, and which layer a
 * name means. */
#include "nn/model/model_impl.h"

#include <stdio.h>
#include <string.h>

/* The name of the next layer or block: its own, or op and number. */
int pr_model_make_name(struct pr_model_builder *b,
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

bool pr_model_has_name(const struct pr_model_builder *b, const char *prefix,
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
    return pr_model_has_name(b, "", name, ret) &&
           b->m->layers[*ret].op == PR_LAYER_INPUT &&
           strcmp(b->m->layers[*ret].name, name) == 0;
}

static bool find_in(const struct pr_model_builder *b,
                    const struct pr_model_scope *s, const char *name,
                    unsigned *ret)
{
    if (strcmp(name, "input") != 0)
        return pr_model_has_name(b, s->prefix, name, ret);
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
