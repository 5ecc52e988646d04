/* Frameworks that were read once and are kept. */
#include "base/mem.h"
#include "catalog/framework.h"

#include <string.h>

struct kept {
    const char *name;
    const struct pr_framework *f; /* NULL: there is no such file */
};

struct pr_frameworks {
    struct pr_arena *arena;
    struct kept *items;
    size_t count, cap;
};

struct pr_frameworks *pr_frameworks_new(void)
{
    struct pr_frameworks *fs = pr_alloc_zeroed(sizeof *fs);

    if (!fs)
        return NULL;
    fs->arena = pr_arena_new(16384);
    if (!fs->arena) {
        pr_free(fs);
        return NULL;
    }
    return fs;
}

void pr_frameworks_free(struct pr_frameworks *fs)
{
    if (!fs)
        return;
    pr_arena_free(fs->arena);
    pr_free(fs);
}

static int frameworks_store(struct pr_frameworks *fs, const char *name,
                            const struct pr_framework *f, struct pr_err *err)
{
    struct kept *items =
        pr_arena_grow(fs->arena, fs->items, fs->count, &fs->cap, sizeof *items);
    const char *copy = items ? pr_arena_str(fs->arena, name) : NULL;

    if (!copy)
        return pr_fail_nomem(err);
    fs->items = items;
    items[fs->count++] = (struct kept){copy, f};
    return PR_OK;
}

int pr_frameworks_get(struct pr_frameworks *fs, const char *name,
                      const struct pr_framework **ret, struct pr_err *err)
{
    const struct pr_framework *f = NULL;
    size_t i = 0;
    int rc;

    while (i < fs->count && strcmp(fs->items[i].name, name) != 0)
        i++;
    if (i == fs->count) {
        rc = pr_framework_find(name, fs->arena, &f, err);
        if (rc >= 0)
            rc = frameworks_store(fs, name, rc ? f : NULL, err);
        if (rc < 0)
            return rc;
    }
    if (!fs->items[i].f)
        return 0;
    *ret = fs->items[i].f;
    return 1;
}
