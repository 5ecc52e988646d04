/* The inputs of a model: its first layers. 'input' and 'classes' are short for
 * two of them, an image or vector and its class. */
#include "nn/model/model_impl.h"

#include <string.h>

static int add_input_layer(struct pr_model_builder *b, const char *name,
                           const struct pr_layer_shape *shape, int64_t ids,
                           const struct pr_member *at)
{
    struct pr_model_item item = {
        .key = "input", .line = at ? at->line : 0, .col = at ? at->col : 0};
    unsigned i = b->m->layer_count;
    struct pr_model_draft d = {.l = {.name = name,
                                     .op = PR_LAYER_INPUT,
                                     .line = item.line,
                                     .shape = *shape,
                                     .like = i,
                                     .ids = ids,
                                     .kernel = {1, 1},
                                     .stride = {1, 1},
                                     .dilation = {1, 1},
                                     .groups = 1},
                               .line = item.line,
                               .col = item.col};
    int rc = pr_model_append(b, &d);

    if (!rc)
        rc = pr_model_put_name(b, &item, name, i);
    b->m->input_count = b->m->layer_count;
    return rc;
}

/* ---- one of 'inputs' */

static int read_shape_of_input(struct pr_model_builder *b,
                               const struct pr_member *m,
                               const struct pr_value *v,
                               struct pr_layer_shape *ret)
{
    static const struct pr_model_env no_env;
    struct pr_value is;
    int rc;

    if (!v)
        return PR_MODEL_FAIL(b, m, "input '%.64s' has no 'shape'", m->key);
    rc = pr_model_eval(b, &no_env, v, &is);
    if (rc || pr_shape_read(&is, ret))
        return rc;
    return pr_model_fail_wants(b, v, "shape",
                               "[channels, rows, columns], [rows, features] or "
                               "[features]");
}

static int check_input(struct pr_model_builder *b, const struct pr_member *m)
{
    static const char *const keys[] = {"shape", "ids"};
    struct pr_value name = pr_strn(m->key, m->key_len);

    if (!pr_model_is_name(&name) || strchr(m->key, '.') ||
        m->key_len > PR_MODEL_NAME)
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be an input: letters, "
                             "digits, '_' and '-' make a name",
                             m->key);
    if (b->m->layer_count && strcmp(m->key, "input") == 0)
        return PR_MODEL_FAIL(b, m,
                             "only the first input can be called "
                             "'input', which is what comes in");
    if (m->value.kind != PR_MAP)
        return pr_model_fail_wants(
            b, &m->value, m->key,
            "{shape: [3, 64, 64]} or {shape: [1], ids: 10}");
    for (uint32_t i = 0; i < m->value.len; i++)
        if (strcmp(m->value.members[i].key, "shape") != 0 &&
            strcmp(m->value.members[i].key, "ids") != 0)
            return pr_model_fail_unknown(b, &m->value.members[i], "an input",
                                         keys, 2);
    return PR_OK;
}

static int add_named_input(struct pr_model_builder *b,
                           const struct pr_member *m)
{
    static const struct pr_model_env no_env;
    const struct pr_value *ids = pr_get(&m->value, "ids");
    const struct pr_value *shape = pr_get(&m->value, "shape");
    struct pr_layer_shape s = {0};
    int64_t count = 0;
    const char *name;
    int rc = check_input(b, m);

    if (!rc)
        rc = read_shape_of_input(b, m, shape, &s);
    if (!rc && ids)
        rc = pr_model_eval_int(b, &no_env, ids, "ids", 1, PR_MODEL_DIM, &count);
    if (!rc && count && s.dims != 1)
        rc = PR_MODEL_FAIL(b, shape, "'shape' of ids is [count]");
    if (rc)
        return rc;
    name = pr_arena_str(b->out, m->key);
    return name ? add_input_layer(b, name, &s, count, m)
                : pr_fail_nomem(b->err);
}

/* ---- all of them */

int pr_model_input(const struct pr_model *m, const char *name)
{
    for (unsigned i = 0; i < m->input_count; i++)
        if (strcmp(m->layers[i].name, name) == 0)
            return (int)i;
    return -1;
}

int pr_model_add_inputs(struct pr_model_builder *b)
{
    static const struct pr_layer_shape one = {1, {1}};
    const struct pr_value *map = pr_get(b->root, "inputs");
    int rc = PR_OK;

    if (!map) {
        rc = add_input_layer(b, "input", &b->input, 0, NULL);
        return rc || !b->m->classes
                   ? rc
                   : add_input_layer(b, "labels", &one, b->m->classes, NULL);
    }
    if (map->kind != PR_MAP || !map->len)
        return pr_model_fail_wants(
            b, map, "inputs", "a map such as {image: {shape: [3, 64, 64]}}");
    if (map->len > PR_MODEL_INPUTS)
        return PR_MODEL_FAIL(b, map, "more than %d inputs", PR_MODEL_INPUTS);
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = add_named_input(b, &map->members[i]);
    return rc;
}
