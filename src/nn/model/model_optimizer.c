/* The optimiser that a definition proposes. */
#include "nn/model/model_impl.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct pr_optimizer_opts, member)
#define NUMBER(name, member, min, max, no_min, no_max)              \
    {                                                               \
        name, PR_FIELD_NUMBER, AT(member), min, max, no_min, no_max \
    }

enum { EACH = 6 };

/* Each ends with its last option, or where no name is. */
static const struct pr_model_field sgd[EACH] = {
    NUMBER("learning_rate", learning_rate, 0, 1e9, true, false),
    NUMBER("weight_decay", weight_decay, 0, 1e9, false, false),
    NUMBER("clip", clip, 0, 1e9, false, false),
    NUMBER("momentum", momentum, 0, 1, false, true),
};
static const struct pr_model_field adam[EACH] = {
    NUMBER("learning_rate", learning_rate, 0, 1e9, true, false),
    NUMBER("weight_decay", weight_decay, 0, 1e9, false, false),
    NUMBER("clip", clip, 0, 1e9, false, false),
    NUMBER("beta1", beta1, 0, 1, false, true),
    NUMBER("beta2", beta2, 0, 1, false, true),
    NUMBER("epsilon", epsilon, 0, 1, true, false),
};

static int read_optimizer_kind(struct pr_model_builder *b,
                               const struct pr_value *map,
                               enum pr_optimizer *ret)
{
    const struct pr_value *name = pr_get(map, "name");

    if (!name)
        return PR_MODEL_FAIL(b, map, "'optimizer' has no 'name'");
    if (name->kind == PR_STR && strcmp(name->s, "sgd") == 0)
        *ret = PR_SGD;
    else if (name->kind == PR_STR && strcmp(name->s, "adam") == 0)
        *ret = PR_ADAM;
    else
        return pr_model_fail_wants(b, name, "name", "sgd or adam");
    return PR_OK;
}

static int read_optimizer_option(struct pr_model_builder *b,
                                 const struct pr_member *m,
                                 const struct pr_model_field *fields)
{
    struct pr_optimizer_opts *o = &b->m->optimizer;
    struct pr_model_env env = {.block = NULL};
    struct pr_nearest near;

    if (strcmp(m->key, "name") == 0)
        return PR_OK;
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < EACH && fields[i].name; i++) {
        void *at = (char *)o + fields[i].offset;

        if (strcmp(m->key, fields[i].name) == 0)
            return pr_model_eval_number(b, &env, &m->value, &fields[i], at);
        pr_nearest_offer(&near, fields[i].name);
    }
    PR_MODEL_FAIL(b, m, "'%s' has no option '%.64s'",
                  o->kind == PR_ADAM ? "adam" : "sgd", m->key);
    return pr_model_suggest(b, &near);
}

int pr_model_read_optimizer(struct pr_model_builder *b,
                            const struct pr_value *map)
{
    struct pr_optimizer_opts *o = &b->m->optimizer;
    int rc;

    if (map->kind != PR_MAP)
        return pr_model_fail_wants(b, map, "optimizer",
                                   "{name: sgd, learning_rate: 0.1}");
    rc = read_optimizer_kind(b, map, &o->kind);
    if (o->kind == PR_ADAM) {
        o->learning_rate = 1e-3;
        o->momentum = 0;
    }
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = read_optimizer_option(b, &map->members[i],
                                   o->kind == PR_ADAM ? adam : sgd);
    return rc;
}
