/* Names of layers: given ones, those made of op and number, and which layer a
 * name means. */
#include "nn/model_impl.h"

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
                        const struct pr_model_scope *s)
{
    size_t n = strlen(s->prefix);
    struct pr_nearest near;

    PR_MODEL_FAIL(b, v, "there is no layer '%.64s' before this one here", v->s);
    pr_nearest_init(&near, v->s);
    pr_nearest_offer(&near, "input");
    for (unsigned i = 1; i < b->m->layer_count && i < 2000; i++)
        if (strncmp(b->m->layers[i].name, s->prefix, n) == 0)
            pr_nearest_offer(&near, b->m->layers[i].name + n);
    return pr_model_suggest(b, &near);
}

/* The layer that a name in from: means. */
int pr_model_find_name(struct pr_model_builder *b, const struct pr_value *v,
                       const struct pr_model_scope *s, unsigned *ret)
{
    char name[2 * PR_MODEL_NAME + 2];
    uint32_t layer;
    int n, rc = pr_model_step(b, v);

    if (rc)
        return rc;
    if (!pr_model_is_name(v))
        return pr_model_wants(b, v, "from", "the name of a layer");
    if (strcmp(v->s, "input") == 0) {
        *ret = s->input;
        return PR_OK;
    }
    n = snprintf(name, sizeof name, "%s%s", s->prefix, v->s);
    if ((size_t)n >= sizeof name ||
        !pr_keyset_find(&b->names, name, (uint32_t)n, &layer))
        return unknown_name(b, v, s);
    *ret = layer;
    return PR_OK;
}
