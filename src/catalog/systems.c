/* Reading lists of systems. */
#include "catalog/systems.h"

#include "base/file.h"
#include "conf/read/share.h"
#include "conf/read/yaml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEMS_MAX_LIST = 4 << 20, MAX_GPUS = 100000 };

struct row {
    const char *name; /* of the file */
    const struct pr_value *map;
    struct pr_err *err;
};

static int system_fail_key(const struct row *r, const struct pr_value *at,
                           const char *key, const char *wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->name, at->line, at->col,
                      "'%s' of a system must be %s", key, wanted);
}

/* A number may be a name: 3090. */
static int system_read_text(const struct row *r, const char *key,
                            struct pr_arena *a, const char **ret)
{
    const struct pr_value *v = pr_get(r->map, key);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (!v || (v->kind != PR_STR && v->kind != PR_INT))
        return system_fail_key(r, v ? v : r->map, key, "text");
    pr_value_write_text(&text, v);
    *ret =
        pr_buf_ok(&text) ? pr_arena_str(a, text.data ? text.data : "") : NULL;
    return *ret ? PR_OK : pr_fail_nomem(r->err);
}

static int system_read_number(const struct row *r, const char *key,
                              struct pr_value *ret)
{
    const struct pr_value *v = pr_get(r->map, key);

    if (v && (!pr_value_is_number(v) || !(pr_value_number(v) >= 0)))
        return system_fail_key(r, v, key, "a number");
    *ret = v ? *v : pr_null();
    return PR_OK;
}

/* One of a few words; *ret is left alone without the key. */
static int system_read_word(const struct row *r, const char *key,
                            const char *const *words, const char *wanted,
                            int *ret)
{
    const struct pr_value *v = pr_get(r->map, key);

    if (!v)
        return PR_OK;
    for (int i = 0; v->kind == PR_STR && words[i]; i++)
        if (strcmp(words[i], v->s) == 0) {
            *ret = i;
            return PR_OK;
        }
    return system_fail_key(r, v, key, wanted);
}

static int read_row(const struct row *r, struct pr_arena *a,
                    struct pr_system *s)
{
    static const char *const dialects[] = {"g1", "v1", "v2", NULL};
    static const char *const ages[] = {"old", "mid", "new", NULL};
    const struct pr_value *gpus = pr_get(r->map, "gpus");
    int dialect = PR_GPU_TASK_V1, rc;

    *s = (struct pr_system){.age = -1};
    if (r->map->kind != PR_MAP)
        return system_fail_key(r, r->map, "folder", "in a map");
    rc = system_read_text(r, "folder", a, &s->folder);
    s->name = s->folder;
    if (!rc && pr_get(r->map, "name"))
        rc = system_read_text(r, "name", a, &s->name);
    if (!rc && gpus &&
        (gpus->kind != PR_INT || gpus->i < 1 || gpus->i > MAX_GPUS))
        rc = system_fail_key(r, gpus, "gpus", "a whole number from 1");
    if (!rc)
        s->gpus = gpus ? (int)gpus->i : pr_system_gpus(s->folder);
    if (!rc)
        rc = system_read_number(r, "watt", &s->watt);
    if (!rc)
        rc = system_read_number(r, "price", &s->price);
    if (!rc)
        rc = system_read_word(r, "dialect", dialects, "g1, v1 or v2", &dialect);
    s->dialect = (enum pr_gpu_task_dialect_kind)dialect;
    return rc ? rc
              : system_read_word(r, "rules", ages, "old, mid or new", &s->age);
}

static int systems_set_row(struct pr_systems *s, const struct pr_system *row,
                           struct pr_arena *a, struct pr_err *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].folder, row->folder) == 0) {
            s->items[i] = *row;
            return PR_OK;
        }
    s->items = pr_arena_grow(a, s->items, s->count, &s->cap, sizeof *s->items);
    if (!s->items) {
        s->count = s->cap = 0;
        return pr_fail_nomem(err);
    }
    s->items[s->count++] = *row;
    return PR_OK;
}

int pr_systems_read(struct pr_systems *s, const char *path, struct pr_arena *a,
                    struct pr_err *err)
{
    const struct pr_value *list;
    struct pr_value root;
    struct pr_system row;
    const char *text;
    size_t len;
    int rc = pr_file_read(path, SYSTEMS_MAX_LIST, a, &text, &len, err);

    if (!rc)
        rc = pr_yaml_read(text, len, path, a, &root, err);
    if (rc)
        return rc;
    list = pr_get(&root, "systems");
    if (!list || list->kind != PR_LIST) {
        pr_fail(err, PR_E_CONF, path, "has no list 'systems'");
        return pr_hint(err, "systems: [{folder: MINE, name: My system, gpus: "
                            "8, watt: 700, price: 36000}]");
    }
    for (uint32_t i = 0; i < list->len && !rc; i++) {
        struct row r = {path, &list->items[i], err};
        rc = read_row(&r, a, &row);
        if (!rc)
            rc = systems_set_row(s, &row, a, err);
    }
    return rc;
}

int pr_systems_load(struct pr_systems *s, struct pr_arena *a,
                    struct pr_err *err)
{
    const char *path = pr_bundled_find(a, "systems", "lambda-systems");

    /* Without the list there are no names, watts and prices; figures stay. */
    return path ? pr_systems_read(s, path, a, err) : PR_OK;
}

const struct pr_system *pr_system_find(const struct pr_systems *s,
                                       const char *folder)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->items[i].folder, folder) == 0)
            return &s->items[i];
    return NULL;
}

/* "8x" with nothing but a sign before it; p3.2xlarge has other words. */
int pr_system_gpus(const char *name)
{
    for (const char *p = name; *p; p++) {
        char *end;
        long n;

        if (!isdigit((unsigned char)*p) ||
            (p > name && isalnum((unsigned char)p[-1])))
            continue;
        n = strtol(p, &end, 10);
        if (*end == 'x' && isalnum((unsigned char)end[1]) &&
            !islower((unsigned char)end[1]) && n >= 1 && n <= MAX_GPUS)
            return (int)n;
    }
    return 1;
}
