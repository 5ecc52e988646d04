/* The blocks of a definition: their parameters and layers, and that none is
 * inside of itself. */
#include "nn/model/model_impl.h"

#include <string.h>

struct pr_model_block *pr_model_block_find(struct pr_model_builder *b,
                                           const char *name)
{
    for (unsigned i = 0; i < b->block_count; i++)
        if (strcmp(b->blocks[i].name, name) == 0)
            return &b->blocks[i];
    return NULL;
}

int pr_model_block_param(const struct pr_model_block *block, const char *name)
{
    for (uint32_t i = 0; block->given && i < block->given->len; i++)
        if (strcmp(block->given->members[i].key, name) == 0)
            return (int)i;
    return -1;
}

/* ---- what a block says */

static bool is_block_word(const char *s, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return len && strlen(s) == len && strspn(s, letters) &&
           strspn(s, more) == len;
}

int pr_model_check_param(struct pr_model_builder *b, const struct pr_member *m)
{
    if (!is_block_word(m->key, m->key_len))
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be a parameter: letters, digits "
                             "and '_' make one",
                             m->key);
    if (pr_model_is_common(m->key) || strcmp(m->key, "classes") == 0)
        return PR_MODEL_FAIL(b, m,
                             "a parameter cannot be called '%s', which "
                             "has a meaning already",
                             m->key);
    return PR_OK;
}

static int read_block_given(struct pr_model_builder *b,
                            struct pr_model_block *block,
                            const struct pr_value *given)
{
    int rc = PR_OK;

    if (given->kind == PR_NULL)
        return PR_OK;
    if (given->kind != PR_MAP)
        return pr_model_fail_wants(
            b, given, "given", "parameters and their defaults: {width: null}");
    if (given->len > PR_MODEL_GIVEN)
        return PR_MODEL_FAIL(b, given, "a block has at most %d parameters",
                             PR_MODEL_GIVEN);
    block->given = given;
    for (uint32_t i = 0; i < given->len && !rc; i++)
        rc = pr_model_check_param(b, &given->members[i]);
    return rc;
}

static int fail_unknown_block_key(struct pr_model_builder *b,
                                  const struct pr_member *m)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "a block has 'given' and 'layers', and no '%.64s'",
                  m->key);
    pr_nearest_init(&near, m->key);
    pr_nearest_offer(&near, "given");
    pr_nearest_offer(&near, "layers");
    return pr_model_suggest(b, &near);
}

/* Its name and parameters; its layers are read when all blocks are known. */
static int declare_block(struct pr_model_builder *b, const struct pr_member *m)
{
    struct pr_model_block *block = &b->blocks[b->block_count];
    int rc = PR_OK;

    if (b->block_count == PR_MODEL_BLOCKS)
        return PR_MODEL_FAIL(b, m, "more than %d blocks", PR_MODEL_BLOCKS);
    if (!is_block_word(m->key, m->key_len) || m->key_len > PR_MODEL_NAME)
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be a block: letters, digits and "
                             "'_' make a name",
                             m->key);
    if (pr_model_op_find(m->key) || pr_model_is_common(m->key) ||
        strcmp(m->key, "input") == 0)
        return PR_MODEL_FAIL(b, m,
                             "a block cannot be called '%s', which has "
                             "a meaning already",
                             m->key);
    if (m->value.kind != PR_MAP || !pr_get(&m->value, "layers"))
        return PR_MODEL_FAIL(b, m, "block '%s' has no 'layers'", m->key);
    *block =
        (struct pr_model_block){.name = m->key, .line = m->line, .col = m->col};
    for (uint32_t i = 0; i < m->value.len && !rc; i++) {
        const struct pr_member *k = &m->value.members[i];

        if (strcmp(k->key, "given") == 0)
            rc = read_block_given(b, block, &k->value);
        else if (strcmp(k->key, "layers") != 0)
            rc = fail_unknown_block_key(b, k);
    }
    b->block_count += !rc;
    return rc;
}

/* ---- none inside of itself */

static int visit_block(struct pr_model_builder *b,
                       struct pr_model_block *block);

static int visit_block_list(struct pr_model_builder *b,
                            const struct pr_model_list *list,
                            const struct pr_model_block *in)
{
    int rc = PR_OK;

    for (unsigned i = 0; i < list->count && !rc; i++) {
        const struct pr_model_item *item = &list->items[i];

        for (unsigned k = 0; k < item->branch_count && !rc; k++)
            rc = visit_block_list(b, &item->branches[k], in);
        if (rc || !item->block)
            continue;
        if (item->block == in)
            return PR_MODEL_FAIL(b, item, "block '%s' uses itself", in->name);
        if (item->block->state == PR_BLOCK_OPEN)
            return PR_MODEL_FAIL(b, item,
                                 "block '%s' uses itself, by way of "
                                 "'%s'",
                                 item->block->name, in->name);
        rc = visit_block(b, item->block);
    }
    return rc;
}

static int visit_block(struct pr_model_builder *b, struct pr_model_block *block)
{
    int rc;

    if (block->state == PR_BLOCK_DONE)
        return PR_OK;
    block->state = PR_BLOCK_OPEN;
    rc = visit_block_list(b, &block->body, block);
    block->state = PR_BLOCK_DONE;
    return rc;
}

int pr_model_read_blocks(struct pr_model_builder *b, const struct pr_value *map)
{
    int rc = PR_OK;

    if (!map || map->kind == PR_NULL)
        return PR_OK;
    if (map->kind != PR_MAP)
        return pr_model_fail_wants(b, map, "blocks", "a map of blocks");
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = declare_block(b, &map->members[i]);
    for (uint32_t i = 0; i < b->block_count && !rc; i++)
        rc = pr_model_read_items(b, pr_get(&map->members[i].value, "layers"),
                                 "'layers'", &b->blocks[i].body);
    for (uint32_t i = 0; i < b->block_count && !rc; i++)
        rc = visit_block(b, &b->blocks[i]);
    return rc;
}
