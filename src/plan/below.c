/* Keys of maps, laid over the map that is there. */
#include "plan/below.h"

#include <string.h>

/* Room for one more member than the map has; *ret_count are taken over: all
 * but the one named. NULL when out of memory. */
static struct pr_member *map_copy_without_key(struct pr_arena *a,
                                              const struct pr_value *map,
                                              const char *key, size_t len,
                                              const struct pr_value **ret_found,
                                              uint32_t *ret_count)
{
    uint32_t have = map && map->kind == PR_MAP ? map->len : 0, n = 0;
    struct pr_member *members =
        PR_ARENA_ARRAY(a, struct pr_member, (size_t)have + 1);

    *ret_found = NULL;
    for (uint32_t i = 0; members && i < have; i++) {
        const struct pr_member *m = &map->members[i];

        if (m->key_len == len && memcmp(m->key, key, len) == 0)
            *ret_found = &m->value;
        else
            members[n++] = *m;
    }
    *ret_count = n;
    return members;
}

/* path is "type", or "a.b" for a map in the map. v is NULL to remove. */
static bool map_set_key(struct pr_arena *a, const struct pr_value *map,
                        const char *path, const struct pr_value *v,
                        const struct pr_origin *at, struct pr_value *ret)
{
    size_t len = strcspn(path, ".");
    const struct pr_value *found;
    uint32_t n;
    struct pr_member *members =
        map_copy_without_key(a, map, path, len, &found, &n);
    struct pr_member new = {
        .key_len = (uint32_t)len, .line = at->line, .col = at->col};

    if (!members || !(new.key = pr_arena_copy(a, path, len)))
        return false;
    if (path[len] && (v || found)) {
        if (!map_set_key(a, found, path + len + 1, v, at, &new.value))
            return false;
        members[n++] = new;
    } else if (v) {
        new.value = *v;
        members[n++] = new;
    }
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = members};
    return true;
}

static int too_many(const char *name, const struct pr_setting *set,
                    struct pr_err *err)
{
    char where[256];

    pr_fail(err, PR_E_CONF, pr_origin_text(&set->origin, where),
            "more than %d keys of '%s' are set one by one", PR_SETTING_KEYS_MAX,
            name);
    return pr_hint(err, "give it as a map: %s={...}", name);
}

int pr_setting_merge_key(struct pr_arena *a, struct pr_names *names,
                         const struct pr_setting *present,
                         const struct pr_setting *set, bool remove,
                         const struct pr_setting **ret, struct pr_err *err)
{
    const char *name = pr_names_text(names, set->name);
    const struct pr_value *map = present ? &present->value : NULL;
    struct pr_setting *new;
    struct pr_value v;

    *ret = present;
    if (remove && (!map || map->kind != PR_MAP))
        return PR_OK; /* there is no such key */
    if (!remove && present && present->laid >= PR_SETTING_KEYS_MAX)
        return too_many(name, set, err);
    if (!map_set_key(a, map, set->below, remove ? NULL : &set->value,
                     &set->origin, &v))
        return pr_fail_nomem(err);
    new = pr_setting_new(a, names, name, strlen(name), &v, &set->origin);
    if (!new)
        return pr_fail_nomem(err);
    new->laid = present ? present->laid + 1 : 1;
    *ret = new;
    return PR_OK;
}
