/*
 * Composing a config as hydra does: a primary config, the workload that it or
 * the command line names, then the overrides with hydra's strict rules. A
 * bundled workload comes before one of the same name in --config-dir, as
 * DLIO's own do.
 */
#include "base/file.h"
#include "compat/dlio/dlio.h"
#include "conf/option/option.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"
#include "plan/source.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- trees with a place changed */

/* Values never change, so every map on the way is copied. */

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

/* Copies with a value set, made or merged; or removed. PR_E_NOMEM. */
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
        struct pr_value next = {.kind = PR_NULL};

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

static int hydra_tree_set(struct pr_arena *a, const struct pr_value *tree,
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

static int hydra_tree_delete(struct pr_arena *a, const struct pr_value *tree,
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

/* ---- references in text */

/* OmegaConf's ${a.b}, ${oc.env:NAME,default} and hydra's ${now:FORMAT}. */

enum { MAX_DEPTH = 16, MAX_TEXT = 1 << 20 };

struct resolver {
    struct pr_arena *arena;
    const struct pr_value *root;
    struct tm now;
    unsigned depth;
    struct pr_err *err;
};

static int hydra_resolve_value(struct resolver *r, const struct pr_value *v,
                               struct pr_value *ret);

static int hydra_copy_text(struct resolver *r, const char *s, size_t len,
                           struct pr_value *ret)
{
    const char *copy = pr_arena_copy(r->arena, s, len);

    if (!copy)
        return pr_fail_nomem(r->err);
    *ret = pr_strn(copy, len);
    return PR_OK;
}

/* NAME or NAME,default. */
static int hydra_resolve_env(struct resolver *r, const char *name,
                             struct pr_value *ret)
{
    const char *comma = strchr(name, ',');
    size_t n = comma ? (size_t)(comma - name) : strlen(name);
    const char *only = pr_arena_copy(r->arena, name, n), *value;

    if (!only)
        return pr_fail_nomem(r->err);
    value = getenv(only);
    if (!value && !comma)
        return pr_fail(r->err, PR_E_CONF, "",
                       "environment variable '%s' is not set", only);
    if (!value)
        value = comma + 1 + strspn(comma + 1, " ");
    return hydra_copy_text(r, value, strlen(value), ret);
}

/* What stands between ${ and }. *ret_found false: it is not for us. */
static int hydra_resolve_reference(struct resolver *r, const char *name,
                                   struct pr_value *ret, bool *ret_found)
{
    const struct pr_value *v;
    char text[256];

    *ret_found = true;
    if (strncmp(name, "oc.env:", 7) == 0)
        return hydra_resolve_env(r, name + 7, ret);
    if (strncmp(name, "now:", 4) == 0)
        return hydra_copy_text(
            r, text, strftime(text, sizeof text, name + 4, &r->now), ret);
    v = hydra_tree_get(r->root, name);
    *ret_found = v != NULL;
    return v ? hydra_resolve_value(r, v, ret) : PR_OK;
}

/* The '}' that belongs to the "${" at p; NULL: none. */
static const char *hydra_find_closing_brace(const char *p)
{
    unsigned depth = 0;

    for (p++; *p; p++) {
        depth += *p == '{';
        if (*p == '}' && !--depth)
            return p;
    }
    return NULL;
}

static int hydra_resolve_text(struct resolver *r, const char *s,
                              struct pr_value *ret)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_TEXT);
    const char *p = s, *at, *end;
    struct pr_value v;
    bool found = false;

    while ((at = strstr(p, "${")) && (end = hydra_find_closing_brace(at))) {
        const char *name =
            pr_arena_copy(r->arena, at + 2, (size_t)(end - at) - 2);
        int rc = name ? hydra_resolve_reference(r, name, &v, &found)
                      : pr_fail_nomem(r->err);

        if (rc)
            return rc;
        if (found && at == s && !end[1]) { /* all of it: the kind stays */
            *ret = v;
            return PR_OK;
        }
        pr_buf_add(&out, p, (size_t)(at - p));
        if (found)
            pr_value_write_text(&out, &v);
        else
            pr_buf_add(&out, at, (size_t)(end - at) + 1);
        p = end + 1;
    }
    pr_buf_str(&out, p);
    if (!pr_buf_ok(&out))
        return pr_fail(r->err, PR_E_CONF, "", "'%.60s' becomes too long", s);
    return hydra_copy_text(r, out.data ? out.data : "", out.len, ret);
}

static int hydra_resolve_map(struct resolver *r, const struct pr_value *v,
                             struct pr_value *ret)
{
    struct pr_member *members =
        PR_ARENA_ARRAY(r->arena, struct pr_member, v->len + 1);
    int rc = PR_OK;

    if (!members)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        members[i] = v->members[i];
        rc = hydra_resolve_value(r, &v->members[i].value, &members[i].value);
    }
    *ret = *v;
    ret->members = members;
    return rc;
}

static int hydra_resolve_list(struct resolver *r, const struct pr_value *v,
                              struct pr_value *ret)
{
    struct pr_value *items =
        PR_ARENA_ARRAY(r->arena, struct pr_value, v->len + 1);
    int rc = PR_OK;

    if (!items)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++)
        rc = hydra_resolve_value(r, &v->items[i], &items[i]);
    *ret = *v;
    ret->items = items;
    return rc;
}

static int hydra_resolve_value(struct resolver *r, const struct pr_value *v,
                               struct pr_value *ret)
{
    int rc = PR_OK;

    if (++r->depth > MAX_DEPTH)
        return pr_fail(r->err, PR_E_CONF, "",
                       "references in the config go round in a circle, or "
                       "it is nested too deep");
    if (v->kind == PR_MAP)
        rc = hydra_resolve_map(r, v, ret);
    else if (v->kind == PR_LIST)
        rc = hydra_resolve_list(r, v, ret);
    else if (v->kind == PR_STR && strlen(v->s) == v->len && strstr(v->s, "${"))
        rc = hydra_resolve_text(r, v->s, ret);
    else
        *ret = *v;
    r->depth--;
    return rc;
}

int hydra_resolve(struct pr_arena *a, const struct pr_value *root,
                  const struct pr_value *v, struct pr_value *ret,
                  struct pr_err *err)
{
    struct resolver r = {.arena = a, .root = root, .err = err};
    time_t now = time(NULL);

    localtime_r(&now, &r.now);
    return hydra_resolve_value(&r, v, ret);
}

/* ---- where configs are */

enum { MAX_CONFIG = 16 << 20 };

static int hydra_read_map(struct pr_arena *a, const char *path,
                          struct pr_value *ret, struct pr_err *err)
{
    const char *text;
    size_t len;
    int rc = pr_file_read(path, MAX_CONFIG, a, &text, &len, err);

    if (!rc)
        rc = pr_yaml_read(text, len, path, a, ret, err);
    if (!rc && ret->kind == PR_NULL)
        *ret = (struct pr_value){.kind = PR_MAP};
    if (!rc && ret->kind != PR_MAP)
        rc = pr_fail(err, PR_E_CONF, path, "expected a map of sections");
    return rc;
}

/* Bundled files of other kinds are no workloads of DLIO's. */
static const char *hydra_find_bundled(struct pr_arena *a, const char *name)
{
    const char *path =
        strchr(name, '/') ? NULL : pr_bundled_find(a, "workloads", name);
    struct pr_config_source src;

    if (!path || pr_config_source_read(path, a, &src, NULL) ||
        src.kind != PR_SOURCE_DLIO)
        return NULL;
    return path;
}

struct names {
    struct pr_arena *arena;
    const char **items;
    size_t count, cap;
};

static bool hydra_add_name(struct names *n, const char *name, size_t len)
{
    const char **items =
        pr_arena_grow(n->arena, n->items, n->count, &n->cap, sizeof *items);

    if (!items)
        return false;
    n->items = items;
    items[n->count] = pr_arena_copy(n->arena, name, len);
    n->count += items[n->count] != NULL;
    return true;
}

static int each_bundled(void *ctx, const char *name, const char *path)
{
    struct names *n = ctx;

    (void)path;
    if (hydra_find_bundled(n->arena, name))
        (void)hydra_add_name(n, name, strlen(name));
    return PR_OK;
}

static void each_in_dir(struct names *n, const char *dir)
{
    const char *path = pr_arena_printf(n->arena, "%s/workload", dir);
    DIR *d = path ? opendir(path) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        size_t len = strlen(e->d_name);
        if (len > 5 && strcmp(e->d_name + len - 5, ".yaml") == 0)
            (void)hydra_add_name(n, e->d_name, len - 5);
    }
    if (d)
        closedir(d);
}

static int hydra_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void hydra_list_workloads(const struct dlio_args *args, const char *indent,
                          struct pr_buf *out)
{
    struct names n = {.arena = args->arena};

    if (pr_bundled_each("workloads", each_bundled, &n, NULL) == PR_OK &&
        args->config_dir)
        each_in_dir(&n, args->config_dir);
    if (n.count)
        qsort(n.items, n.count, sizeof *n.items, hydra_compare_names);
    for (size_t i = 0; i < n.count; i++)
        if (!i || strcmp(n.items[i - 1], n.items[i]) != 0)
            pr_buf_printf(out, "%s%s\n", indent, n.items[i]);
}

/* The list may be longer than an error can hold: it is said before. */
static int no_workload(const struct dlio_args *args, const char *name,
                       struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf list = PR_BUF_INIT(1 << 16);

    hydra_list_workloads(args, "  ", &list);
    message_print(SAY_CRITICAL, "available options in 'workload':\n%s",
                  list.data ? list.data : "");
    pr_fail(err, PR_E_CONF, "config", "could not find 'workload/%s'", name);
    return pr_hint(err, "searched the bundled workloads%s%s",
                   args->config_dir ? " and " : "; --config-dir adds a folder",
                   args->config_dir ? args->config_dir : "");
}

/* Whether DLIO has no such file, so that hydra would look in --config-dir. */
static bool is_ours_alone(const char *name)
{
    return strncmp(name, "llama3_", 7) == 0 || strcmp(name, "demo") == 0 ||
           strcmp(name, "null") == 0;
}

static int read_workload(const struct dlio_args *args, const char *name,
                         struct pr_value *ret, struct pr_err *err)
{
    const char *path = hydra_find_bundled(args->arena, name), *own = NULL;
    const struct pr_value *tree;
    int rc;

    if (args->config_dir)
        own = pr_arena_printf(args->arena, "%s/workload/%s.yaml",
                              args->config_dir, name);
    if (path && own && access(own, R_OK) == 0 && is_ours_alone(name))
        path = NULL;
    else if (path && own && access(own, R_OK) == 0) /* as with hydra */
        message_print_warning(own,
                              "what is bundled under this name is used instead",
                              "give the file another name");
    if (!path)
        path = own;
    if (!path || access(path, R_OK) < 0)
        return no_workload(args, name, err);
    rc = hydra_read_map(args->arena, path, ret, err);
    if (rc)
        return rc;
    if (pr_get(ret, "defaults"))
        return pr_fail(err, PR_E_CONF, path,
                       "hydra's 'defaults' in a workload are not read");
    tree = pr_get(ret, "workload"); /* a config that hydra wrote itself */
    if (tree && tree->kind == PR_MAP && ret->len == 1)
        *ret = *tree;
    return PR_OK;
}

/* The workload that a primary config names in its defaults. */
static const char *default_workload(const struct pr_value *primary)
{
    const struct pr_value *list = pr_get(primary, "defaults"), *v;

    for (uint32_t i = 0; list && list->kind == PR_LIST && i < list->len; i++) {
        v = pr_get(&list->items[i], "workload");
        if (v && v->kind == PR_STR)
            return v->s;
    }
    return NULL;
}

static int read_primary(const struct dlio_args *args, struct pr_value *ret,
                        struct pr_err *err)
{
    const char *path;

    *ret = (struct pr_value){.kind = PR_MAP};
    if (args->config_dir && access(args->config_dir, R_OK | X_OK) < 0)
        return pr_fail(err, PR_E_CONF, "",
                       "additional config directory '%s' not found",
                       args->config_dir);
    if (!args->config_name || strcmp(args->config_name, "config") == 0)
        return PR_OK;
    path = pr_arena_printf(args->arena, "%s/%s.yaml",
                           args->config_dir ? args->config_dir : ".",
                           args->config_name);
    if (!path)
        return pr_fail_nomem(err);
    if (access(path, R_OK) < 0)
        return pr_fail(err, PR_E_CONF, "",
                       "cannot find primary config '%s' (looked for '%s')",
                       args->config_name, path);
    return hydra_read_map(args->arena, path, ret, err);
}

/* The primary config with its workload; hydra's own parts are left out. */
static int hydra_compose_base(const struct dlio_args *args,
                              struct pr_value *ret, struct pr_err *err)
{
    struct pr_arena *a = args->arena;
    struct pr_value root, workload;
    const char *name = args->workload;
    int rc = read_primary(args, &root, err);

    if (rc)
        return rc;
    if (!name)
        name = default_workload(&root);
    rc = read_workload(args, name ? name : "default", &workload, err);
    if (!rc)
        rc = hydra_tree_delete(a, &root, "defaults", &root, err);
    if (!rc)
        rc = hydra_tree_delete(a, &root, "hydra", &root, err);
    return rc ? rc : hydra_tree_set(a, &root, "workload", &workload, ret, err);
}

static int cannot_set(const struct hydra_override *o, struct pr_err *err)
{
    const struct pr_opt_section *section = NULL;
    const char *text = o->text + strspn(o->text, "+");

    pr_fail(err, PR_E_CONF, "command line",
            "could not override '%s': there is no such key", o->key);
    (void)pr_opt_find(o->key, &section);
    if (section)
        return pr_hint(err, "did you mean 'workload.%s'?", text);
    return pr_hint(err, "to append to your config use +%s", text);
}

/* Hydra takes such a key, and DLIO never looks at it. */
static void warn_outside(const struct hydra_override *o)
{
    const struct pr_opt_section *section = NULL;

    if (strncmp(o->key, "workload.", 9) == 0)
        return;
    (void)pr_opt_find(o->key, &section);
    message_print_warning(o->text, "a key outside 'workload' changes nothing",
                          section ? "did you mean 'workload.' in front of it?"
                                  : "");
}

static int remove_key(struct dlio_args *args, const struct hydra_override *o,
                      const struct pr_value *old, struct pr_value *root,
                      struct pr_err *err)
{
    if (!old)
        return pr_fail(err, PR_E_CONF, "command line",
                       "could not delete from config: there is no '%s'",
                       o->key);
    if (strchr(o->text, '=') && !pr_value_equal(old, &o->read.value))
        return pr_fail(err, PR_E_CONF, "command line",
                       "could not delete from config: '%s' has another value",
                       o->key);
    return hydra_tree_delete(args->arena, root, o->key, root, err);
}

static int hydra_apply_override(struct dlio_args *args,
                                const struct hydra_override *o,
                                struct pr_value *root, struct pr_err *err)
{
    const struct pr_value *old = hydra_tree_get(root, o->key);
    const char *text = o->text + strspn(o->text, "+");

    switch (o->read.op) {
    case PR_OVERRIDE_DELETE:
        return remove_key(args, o, old, root, err);
    case PR_OVERRIDE_SET:
        if (!old)
            return cannot_set(o, err);
        break;
    case PR_OVERRIDE_ADD:
        if (!old)
            break;
        pr_fail(err, PR_E_CONF, "command line",
                "could not append to config: an item is already at '%s'",
                o->key);
        return pr_hint(err,
                       "either remove the + prefix: '%s', or add a second "
                       "one to add or override: '++%s'",
                       text, text);
    default:
        break;
    }
    warn_outside(o);
    return hydra_tree_set(args->arena, root, o->key, &o->read.value, root, err);
}

int hydra_compose(struct dlio_args *args, struct pr_value *ret,
                  struct pr_err *err)
{
    struct pr_value root;
    int rc = hydra_compose_base(args, &root, err);

    for (size_t i = 0; i < args->task_count && !rc; i++) {
        const struct hydra_override *o = &args->task[i];
        if (!o->own && strcmp(o->key, "workload") != 0)
            rc = hydra_apply_override(args, o, &root, err);
    }
    if (!rc) {
        *ret = root;
        args->composed = true;
    }
    return rc;
}
