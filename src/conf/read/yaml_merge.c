/*
 * Merge keys: <<: *a or <<: [*a, *b]. As in PyYAML, what is merged comes first
 * in the order of the map, the first map of a list wins over the next, a later
 * << over an earlier one, and the map's own keys over all.
 */
#include "conf/read/yaml_load.h"

#include <string.h>

/* A map that is being put together; keys may come again. */
struct sum {
    struct pr_member *members;
    size_t n;
    struct pr_keyset keys;
};

static int yaml_push_merge(struct pr_yaml_loader *l, const struct pr_value *map)
{
    void *p = pr_yaml_grow(l->merges, sizeof *l->merges, l->merge_count,
                           &l->merge_cap);

    if (!p)
        return pr_fail_nomem(l->err);
    l->merges = p;
    l->merges[l->merge_count++] = *map;
    return PR_OK;
}

int pr_yaml_add_merge(struct pr_yaml_loader *l, const yaml_mark_t *at,
                      const struct pr_value *source)
{
    bool list = source->kind == PR_LIST;

    if (source->kind == PR_MAP)
        return yaml_push_merge(l, source);
    for (uint32_t i = 0; list && i < source->len; i++)
        list = source->items[i].kind == PR_MAP;
    if (!list)
        return pr_yaml_fail(l, at,
                            "'<<' wants a map or a list of maps to merge");
    for (uint32_t i = source->len; i-- > 0;) {
        int rc = yaml_push_merge(l, &source->items[i]);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int yaml_merge_members(struct sum *s, const struct pr_member *members,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t place = s->n;
        int found =
            pr_keyset_member(&s->keys, s->members, s->n, &members[i], &place);

        if (found < 0)
            return PR_E_NOMEM;
        s->members[place] = members[i];
        s->n += !found;
    }
    return PR_OK;
}

int pr_yaml_merge_map(struct pr_yaml_loader *l, size_t first_merge,
                      const struct pr_member *own, size_t n,
                      struct pr_value *ret_map)
{
    size_t most = n;
    struct sum s = {0};
    int rc = PR_OK;

    for (size_t i = first_merge; i < l->merge_count; i++)
        most += l->merges[i].len;
    s.members = pr_arena_alloc(l->arena, most * sizeof *s.members);
    if (!s.members)
        return pr_fail_nomem(l->err);
    for (size_t i = first_merge; rc == PR_OK && i < l->merge_count; i++)
        rc = yaml_merge_members(&s, l->merges[i].members, l->merges[i].len);
    if (rc == PR_OK && s.n) {
        rc = yaml_merge_members(&s, own, n);
    } else if (rc == PR_OK && n) {
        memcpy(s.members, own, n * sizeof *own);
        s.n = n;
    }
    pr_keyset_free(&s.keys);
    if (rc)
        return pr_fail_nomem(l->err);
    ret_map->kind = PR_MAP;
    ret_map->len = (uint32_t)s.n;
    ret_map->members = s.members;
    return PR_OK;
}
