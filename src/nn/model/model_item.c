/*
 * The layers of a definition as written: each item of a list becomes an op or
 * a block with its options. Nothing is computed yet; that every name means
 * something is checked here, also in what an `if` leaves out later.
 */
#include "nn/model/model_impl.h"

#include <string.h>

static const char *const common[] = {"name", "if",   "repeat",
                                     "from", "like", "freeze"};

bool pr_model_is_common(const char *name)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(name, common[i]) == 0)
            return true;
    return false;
}

/* ---- which key is the op */

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
    const struct pr_model_op *op = pr_model_op_find(head);
    const struct pr_model_block *block =
        op ? NULL : pr_model_block_find(b, head);

    return pr_model_is_common(option) ||
           (op && find_op_field(op, option) >= 0) ||
           (block && pr_model_block_param(block, option) >= 0);
}

static bool is_op_or_block(struct pr_model_builder *b, const char *key)
{
    return pr_model_op_find(key) || pr_model_block_find(b, key);
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
    for (size_t i = 0; (op = pr_model_op_at(i)); i++)
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
        bool known = pr_model_is_common(key);
        const struct pr_model_op *op;

        for (size_t k = 0; !known && (op = pr_model_op_at(k)); k++)
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

/* ---- options */

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

/* ---- the op's own value */

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

/* ---- items */

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
    item->op = pr_model_op_find(item->key);
    item->block = item->op ? NULL : pr_model_block_find(b, item->key);
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
