/* Where a layer takes its input: from the layer before, or by name. */
#include "nn/model/model_impl.h"

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
