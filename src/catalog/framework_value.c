/* Values of frameworks/NAME.yaml: their kinds, and maps by a table of keys. */
#include "base/text.h"
#include "catalog/framework_impl.h"

#include <string.h>

int pr_framework_fail_wants(struct pr_framework_reader *r,
                            const struct pr_value *v, const char *key,
                            const char *what)
{
    return PR_FRAMEWORK_FAIL(r, v, "'%.64s' wants %s, got %s", key, what,
                             pr_kind_name(v->kind));
}

static bool is_line(const struct pr_value *v)
{
    if (v->kind != PR_STR)
        return false;
    for (uint32_t i = 0; i < v->len; i++)
        if ((unsigned char)v->s[i] < ' ' || v->s[i] == 0x7f)
            return false;
    return true;
}

int pr_framework_read_text(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place)
{
    if (!is_line(v) || !v->len)
        return pr_framework_fail_wants(r, v, key, "text on one line");
    *(const char **)place = v->s;
    return PR_OK;
}

bool pr_framework_is_name(const char *s, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789_";

    return len && len < 64 && strspn(s, letters) == len;
}

int pr_framework_read_name(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place)
{
    if (v->kind != PR_STR || !pr_framework_is_name(v->s, v->len))
        return pr_framework_fail_wants(r, v, key,
                                       "a name of letters, digits and '_'");
    *(const char **)place = v->s;
    return PR_OK;
}

int pr_framework_read_bool(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place)
{
    if (v->kind != PR_BOOL)
        return pr_framework_fail_wants(r, v, key, "true or false");
    *(bool *)place = v->b;
    return PR_OK;
}

int pr_framework_read_list(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place)
{
    const char **items;

    if (v->kind != PR_LIST)
        return pr_framework_fail_wants(r, v, key, "a list of text");
    items = PR_ARENA_ARRAY(r->arena, const char *, (size_t)v->len + 1);
    if (!items)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len; i++) {
        int rc = pr_framework_read_text(r, &v->items[i], key, &items[i]);

        if (rc)
            return rc;
    }
    *(const char ***)place = items;
    return PR_OK;
}

static int framework_fail_unknown_key(struct pr_framework_reader *r,
                                      const struct pr_member *m,
                                      const char *what,
                                      const struct pr_framework_key *keys,
                                      size_t count)
{
    struct pr_nearest near;

    PR_FRAMEWORK_FAIL(r, m, "%s has no '%.64s'", what, m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < count; i++)
        pr_nearest_offer(&near, keys[i].name);
    return near.best
               ? pr_hint(r->err, "did you mean '%s'?", near.best)
               : pr_hint(r->err, "docs/frameworks.md lists what it may have");
}

int pr_framework_read_map(struct pr_framework_reader *r,
                          const struct pr_value *v, const char *what,
                          const struct pr_framework_key *keys, size_t count,
                          void *base)
{
    if (v->kind != PR_MAP)
        return PR_FRAMEWORK_FAIL(r, v, "%s is a map, got %s", what,
                                 pr_kind_name(v->kind));
    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *m = &v->members[i];
        size_t k = 0;
        int rc;

        while (k < count && strcmp(keys[k].name, m->key) != 0)
            k++;
        if (k == count)
            return framework_fail_unknown_key(r, m, what, keys, count);
        rc = keys[k].read(r, &m->value, m->key, (char *)base + keys[k].offset);
        if (rc)
            return rc;
    }
    return PR_OK;
}
