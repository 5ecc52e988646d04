/* Trees of values with a place changed: values never change, so every map on
 * the way is copied. */
#include "compat/dlio/dlio.h"

#include <string.h>

static const struct pr_member *hydra_tree_find(const struct pr_value *map,
                                               const char *key, size_t len)
{
    for (uint32_t i = 0; map->kind == PR_MAP && i < map->len; i++)
        if (map->members[i].key_len == len &&
            memcmp(map->members[i].key, key, len) == 0)
            return &map->members[i];
    return NULL;
}

const struct pr_value *hydra_tree_get(const struct pr_value *tree,
                                      const char *path)
{
    while (tree) {
        size_t len = strcspn(path, ".");
        const struct pr_member *m = hydra_tree_find(tree, path, len);

        tree = m ? &m->value : NULL;
        if (!path[len])
            break;
        path += len + 1;
    }
    return tree;
}

/* A copy with room for one more, which is not there yet. */
static struct pr_member *hydra_tree_copy_map(struct pr_arena *a,
                                             const struct pr_value *map)
{
    uint32_t n = map->kind == PR_MAP ? map->len : 0;
    struct pr_member *members = PR_ARENA_ARRAY(a, struct pr_member, n + 1);

    if (members && n)
        memcpy(members, map->members, n * sizeof *members);
    return members;
}

/* A copy of map with a key set. */
static int hydra_tree_set_member(struct pr_arena *a, const struct pr_value *map,
                                 const char *key, size_t len,
                                 const struct pr_value *v, struct pr_value *ret,
                                 struct pr_err *err)
{
    uint32_t n = map->kind == PR_MAP ? map->len : 0;
    struct pr_member *members = hydra_tree_copy_map(a, map);
    const struct pr_member *old = hydra_tree_find(map, key, len);
    size_t at = old ? (size_t)(old - map->members) : n;

    if (!members)
        return pr_fail_nomem(err);
    if (!old) {
        const char *copy = pr_arena_copy(a, key, len);
        if (!copy)
            return pr_fail_nomem(err);
        members[n] = (struct pr_member){.key = copy, .key_len = (uint32_t)len};
        n++;
    }
    members[at].value = *v;
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return PR_OK;
}

static int hydra_tree_merge(struct pr_arena *a, const struct pr_value *under,
                            const struct pr_value *over, struct pr_value *ret,
                            struct pr_err *err)
{
    struct pr_value all = *under, merged;
    int rc = PR_OK;

    if (under->kind != PR_MAP || over->kind != PR_MAP) {
        *ret = *over;
        return PR_OK;
    }
    for (uint32_t i = 0; i < over->len && !rc; i++) {
        const struct pr_member *m = &over->members[i];
        const struct pr_member *old = hydra_tree_find(&all, m->key, m->key_len);
        struct pr_value next;

        merged = m->value;
        if (old)
            rc = hydra_tree_merge(a, &old->value, &m->value, &merged, err);
        if (!rc)
            rc = hydra_tree_set_member(a, &all, m->key, m->key_len, &merged,
                                       &next, err);
        if (!rc)
            all = next;
    }
    *ret = all;
    return rc;
}

int hydra_tree_set(struct pr_arena *a, const struct pr_value *tree,
                   const char *path, const struct pr_value *v,
                   struct pr_value *ret, struct pr_err *err)
{
    size_t len = strcspn(path, ".");
    const struct pr_member *m = hydra_tree_find(tree, path, len);
    struct pr_value below = {.kind = PR_MAP};
    int rc;

    if (m)
        below = m->value;
    if (path[len])
        rc = hydra_tree_set(a, &below, path + len + 1, v, &below, err);
    else
        rc = hydra_tree_merge(a, m ? &m->value : v, v, &below, err);
    return rc ? rc
              : hydra_tree_set_member(a, tree, path, len, &below, ret, err);
}

int hydra_tree_delete(struct pr_arena *a, const struct pr_value *tree,
                      const char *path, struct pr_value *ret,
                      struct pr_err *err)
{
    size_t len = strcspn(path, ".");
    const struct pr_member *m = hydra_tree_find(tree, path, len);
    struct pr_member *members;
    struct pr_value below;
    size_t at;
    int rc;

    if (!m) {
        *ret = *tree;
        return PR_OK;
    }
    if (path[len]) {
        rc = hydra_tree_delete(a, &m->value, path + len + 1, &below, err);
        return rc ? rc
                  : hydra_tree_set_member(a, tree, path, len, &below, ret, err);
    }
    members = hydra_tree_copy_map(a, tree);
    if (!members)
        return pr_fail_nomem(err);
    at = (size_t)(m - tree->members);
    memmove(members + at, members + at + 1,
            (tree->len - at - 1) * sizeof *members);
    *ret = (struct pr_value){
        .kind = PR_MAP, .len = tree->len - 1, .members = members};
    return PR_OK;
}
