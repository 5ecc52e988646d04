/* Whose config a file is, told from its content alone; and Prony's own. */
#include "plan/source.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "conf/option/alias.h"
#include "conf/read/toml.h"
#include "conf/read/yaml.h"

#include <string.h>

/* ---- Prony's own configs */

/*
 * Either flat or nested parameters,
 *     exp.command: [sleep, "0.1"]        exp: {command: [sleep, "0.1"]}
 * or groups of experiments,
 *     parameters: {…}                    shared by all groups; optional, as
 *     experiments:                       are variables and extensions
 *       - name: warm
 *         parameters: {…}
 *         variables: {exp.replica_batch: [16, 32]}
 *         extensions: [{condition: {…}, parameters: {…}, cases: […]}]
 * A map inside parameters or variables nests names; unknown keys are errors.
 */
struct reader {
    struct pr_plan_scope *scope;
    const char *path;
    enum pr_origin_kind origin;
    struct pr_err *err;
};

static struct pr_origin from_prony_origin(const struct reader *r,
                                          enum pr_origin_kind kind,
                                          const struct pr_member *m)
{
    return (struct pr_origin){kind, r->path, m->line, m->col};
}

/* A parameter whose value may itself be a map. */
static bool from_prony_can_be_map(const char *name)
{
    struct pr_alias_found found;
    const struct pr_opt *opt;

    if (!pr_alias_find(name, strlen(name), &found))
        return false;
    opt = found.below ? NULL : pr_opt_find(found.name, NULL);
    return opt && opt->kind == PR_OPT_ANY && !(opt->flags & PR_OPT_PREFIX);
}

/* NULL when out of memory. */
static const char *full_name(struct reader *r, const char *prefix,
                             const struct pr_member *m)
{
    return *prefix ? pr_arena_printf(r->scope->arena, "%s.%s", prefix, m->key)
                   : m->key;
}

static int from_prony_read_params(struct reader *r, struct pr_config_part *f,
                                  const char *prefix,
                                  const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_origin at = from_prony_origin(r, r->origin, m);
        const char *name = full_name(r, prefix, m);
        int rc;

        if (!name)
            return pr_fail_nomem(r->err);
        if (m->value.kind == PR_MAP && !from_prony_can_be_map(name))
            rc = from_prony_read_params(r, f, name, &m->value);
        else
            rc = pr_config_part_add_param(r->scope, f, name, strlen(name),
                                          &m->value, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_prony_read_variables(struct reader *r, struct pr_config_part *f,
                                     const char *prefix,
                                     const struct pr_value *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_origin at = from_prony_origin(r, PR_FROM_VARIABLE, m);
        const char *name = full_name(r, prefix, m);
        int rc;

        if (!name)
            return pr_fail_nomem(r->err);
        if (m->value.kind == PR_MAP)
            rc = from_prony_read_variables(r, f, name, &m->value);
        else
            rc = pr_config_part_add_variable(r->scope, f, name, strlen(name),
                                             &m->value, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int from_prony_read_extensions(struct reader *r,
                                      struct pr_config_part *f,
                                      const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pr_value *v = &list->items[i];
        struct pr_origin at = {PR_FROM_EXTENSION, r->path, v->line, v->col};
        int rc = pr_config_part_add_extension(r->scope, f, v, &at, r->err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int wrong_kind(struct reader *r, const struct pr_member *m,
                      enum pr_kind wanted)
{
    return pr_fail_at(r->err, PR_E_CONF, r->path, m->value.line, m->value.col,
                      "'%s' must be %s, got %s", m->key, pr_kind_name(wanted),
                      pr_kind_name(m->value.kind));
}

static int from_prony_fail_unknown(struct reader *r, const struct pr_member *m,
                                   const char *const *known)
{
    struct pr_nearest near;

    pr_fail_at(r->err, PR_E_CONF, r->path, m->line, m->col, "unknown key '%s'",
               m->key);
    pr_nearest_init(&near, m->key);
    for (; *known; known++)
        pr_nearest_offer(&near, *known);
    if (near.best)
        return pr_hint(r->err, "did you mean '%s'?", near.best);
    return pr_hint(r->err, "a group of experiments has the keys name, "
                           "parameters, variables and extensions");
}

/* One key of a group, or of the top where it is shared by all groups. */
static int from_prony_read_key(struct reader *r, struct pr_config_part *f,
                               const struct pr_member *m, bool top)
{
    static const char *const in_group[] = {"name", "parameters", "variables",
                                           "extensions", NULL};
    static const char *const at_top[] = {"experiments", "parameters",
                                         "variables", "extensions", NULL};
    bool exts = strcmp(m->key, "extensions") == 0;
    bool params = strcmp(m->key, "parameters") == 0;
    bool vars = strcmp(m->key, "variables") == 0;

    if (!top && strcmp(m->key, "name") == 0) {
        if (m->value.kind != PR_STR)
            return wrong_kind(r, m, PR_STR);
        f->name = m->value.s;
        return PR_OK;
    }
    if (!exts && !params && !vars)
        return from_prony_fail_unknown(r, m, top ? at_top : in_group);
    if (m->value.kind != (exts ? PR_LIST : PR_MAP))
        return wrong_kind(r, m, exts ? PR_LIST : PR_MAP);
    if (params)
        return from_prony_read_params(r, f, "", &m->value);
    return vars ? from_prony_read_variables(r, f, "", &m->value)
                : from_prony_read_extensions(r, f, &m->value);
}

static int from_prony_read_group(struct reader *r, const struct pr_value *root,
                                 const struct pr_value *group,
                                 struct pr_config_part *f)
{
    int rc = PR_OK;

    if (group->kind != PR_MAP)
        return pr_fail_at(r->err, PR_E_CONF, r->path, group->line, group->col,
                          "a group of experiments must be a map, got %s",
                          pr_kind_name(group->kind));
    f->file = r->path;
    for (uint32_t i = 0; i < root->len && !rc; i++)
        if (strcmp(root->members[i].key, "experiments") != 0)
            rc = from_prony_read_key(r, f, &root->members[i], true);
    for (uint32_t i = 0; i < group->len && !rc; i++)
        rc = from_prony_read_key(r, f, &group->members[i], false);
    return rc;
}

static int read_groups(struct reader *r, const struct pr_value *root,
                       const struct pr_value *groups,
                       struct pr_config_part **ret, size_t *ret_count)
{
    struct pr_config_part *f;

    if (groups->kind != PR_LIST || !groups->len)
        return pr_fail_at(r->err, PR_E_CONF, r->path, groups->line, groups->col,
                          "'experiments' must be a list of groups");
    f = PR_ARENA_ARRAY(r->scope->arena, struct pr_config_part, groups->len);
    if (!f)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < groups->len; i++) {
        int rc = from_prony_read_group(r, root, &groups->items[i], &f[i]);
        if (rc)
            return rc;
    }
    *ret = f;
    *ret_count = groups->len;
    return PR_OK;
}

static int from_prony(struct pr_plan_scope *s,
                      const struct pr_config_source *src,
                      enum pr_origin_kind origin, struct pr_config_part **ret,
                      size_t *ret_count, struct pr_err *err)
{
    struct reader r = {s, src->path, origin, err};
    const struct pr_value *groups = pr_get(&src->root, "experiments");
    struct pr_config_part *f;
    int rc;

    if (groups)
        return read_groups(&r, &src->root, groups, ret, ret_count);
    f = PR_ARENA_NEW(s->arena, struct pr_config_part);
    if (!f)
        return pr_fail_nomem(err);
    f->file = src->path;
    rc = from_prony_read_params(&r, f, "", &src->root);
    if (rc)
        return rc;
    *ret = f;
    *ret_count = 1;
    return PR_OK;
}

/* ---- whose it is */

enum { MAX_CONFIG = 64 << 20 };

const char *pr_config_source_kind_words(enum pr_config_source_kind kind)
{
    static const char *const words[] = {
#define X(name, text) text,
        PR_SOURCE_KINDS(X)
#undef X
    };
    return words[kind];
}

static bool config_source_has_key(const struct pr_value *map,
                                  const char *const *keys)
{
    for (; *keys; keys++)
        if (pr_get(map, *keys))
            return true;
    return false;
}

static bool has_map(const struct pr_value *map, const char *const *keys)
{
    for (; *keys; keys++) {
        const struct pr_value *v = pr_get(map, *keys);
        if (v && v->kind == PR_MAP)
            return true;
    }
    return false;
}

static bool like_plan(const struct pr_value *root)
{
    const struct pr_value *schema = pr_get(root, "schema");

    return schema && schema->kind == PR_STR &&
           strncmp(schema->s, "prony.plan/", 11) == 0;
}

static bool like_dlbs(const struct pr_value *root)
{
    static const char *const keys[] = {"parameters", "variables", "extensions",
                                       NULL};

    return config_source_has_key(root, keys) && !pr_get(root, "experiments");
}

/* "exp", or "sys" of "sys.plan_builder"; but what DLIO has, too, tells
 * nothing. */
static bool config_source_is_section(const char *key)
{
    static const char *const shared[] = {
        "dataset", "storage", "reader",    "train", "evaluation", "workflow",
        "output",  "metric",  "profiling", "model", "checkpoint"};
    const struct pr_opt_section *const *s = pr_opt_sections();
    size_t n = strlen(key);

    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(key, shared[i]) == 0)
            return false;

    while (*s && (strncmp((*s)->name, key, n) != 0 ||
                  ((*s)->name[n] != '\0' && (*s)->name[n] != '.')))
        s++;
    return *s != NULL;
}

/* A section of our own tables, or a dotted name. */
static bool has_own_names(const struct pr_value *root)
{
    for (uint32_t i = 0; root->kind == PR_MAP && i < root->len; i++)
        if (config_source_is_section(root->members[i].key) ||
            strchr(root->members[i].key, '.'))
            return true;
    return false;
}

static bool like_dlio(const struct pr_value *root)
{
    static const char *const keys[] = {
        "dataset",     "reader",     "workflow", "data_loader",
        "data_reader", "checkpoint", NULL};
    const struct pr_value *tree = pr_get(root, "workload");

    return (has_map(root, keys) || (tree && has_map(tree, keys))) &&
           !has_own_names(root);
}

static bool is_job(const struct pr_value *v)
{
    const struct pr_value *what = pr_get(v, "experiment");

    return what && what->kind == PR_STR;
}

static bool like_milarun(const struct pr_value *root)
{
    for (uint32_t i = 0; root->kind == PR_MAP && i < root->len; i++)
        if (is_job(&root->members[i].value))
            return true;
    return false;
}

/* Jobs and nothing else: their names may be those of sections. */
static bool is_profile(const struct pr_value *root)
{
    const struct pr_value *all = pr_get(root, "*");
    bool shared = all && is_job(all);

    for (uint32_t i = 0; root->kind == PR_MAP && i < root->len; i++)
        if (&root->members[i].value != all &&
            root->members[i].value.kind != PR_MAP)
            return false;
        else if (&root->members[i].value != all && !shared &&
                 !is_job(&root->members[i].value))
            return false;
    return like_milarun(root);
}

static bool like_prony(const struct pr_value *root)
{
    return pr_get(root, "experiments") || has_own_names(root);
}

/* "declare -A BATCH_SIZE_FIX=(", "source config/x.sh": a config may be nothing
 * but changes to another one. */
static bool like_change(const char *line)
{
    size_t n = strcspn(line, "\n");

    if (strncmp(line, "declare -A ", 11) == 0)
        return memmem(line, n, "_FIX=(", 6) != NULL;
    return strncmp(line, "source ", 7) == 0 && n > 10 &&
           memmem(line, n, ".sh", 3);
}

/* A shell file is never parsed as YAML: look for its assignments. */
static bool like_lambda(const char *text)
{
    static const char words[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_";

    for (const char *line = text; line; line = strchr(line, '\n')) {
        size_t n;

        line += *line == '\n';
        n = strspn(line, words);
        if (strncmp(line, "NUM_GPU=", 8) == 0 || like_change(line) ||
            (n > 7 && strncmp(line + n - 7, "_PARAMS=(", 9) == 0))
            return true;
    }
    return false;
}

static int config_source_find_kind(struct pr_config_source *src,
                                   struct pr_err *err)
{
    static const struct {
        bool (*like)(const struct pr_value *root);
        enum pr_config_source_kind kind;
    } rows[] = {
        {like_plan, PR_SOURCE_PLAN},       {like_dlbs, PR_SOURCE_DLBS},
        {like_prony, PR_SOURCE_PRONY},     {like_dlio, PR_SOURCE_DLIO},
        {like_milarun, PR_SOURCE_MILARUN},
    };

    int found = 0;

    if (is_profile(&src->root)) {
        src->kind = PR_SOURCE_MILARUN;
        return PR_OK;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].like(&src->root))
            continue;
        if (found++)
            return pr_fail(err, PR_E_CONF, src->path,
                           "could be %s as well as %s",
                           pr_config_source_kind_words(src->kind),
                           pr_config_source_kind_words(rows[i].kind));
        src->kind = rows[i].kind;
        if (src->kind == PR_SOURCE_PLAN)
            break; /* it says so itself */
    }
    if (found)
        return PR_OK;
    pr_fail(err, PR_E_CONF, src->path,
            "cannot tell what kind of config this is");
    return pr_hint(
        err, "looked for 'experiments' or dotted names (Prony), 'parameters', "
             "'variables' or 'extensions' (DLBS), 'dataset', 'reader' or "
             "'workflow' (DLIO), jobs with 'experiment' and 'arguments' "
             "(milarun), NUM_GPU= (Lambda)");
}

int pr_config_source_parse(const char *text, size_t len, const char *name,
                           struct pr_arena *a, struct pr_config_source *ret,
                           struct pr_err *err)
{
    const char *first = text + strspn(text, " \t\r\n");
    struct pr_config_source src = {.path = name};
    int rc;

    if (like_lambda(text)) {
        src.kind = PR_SOURCE_LAMBDA;
        *ret = src;
        return PR_OK;
    }
    if (pr_toml_is_likely(text)) {
        rc = pr_toml_read(text, len, name, a, &src.root, err);
    } else if (*first == '{' || *first == '[') {
        struct pr_json_in in = {.text = text, .len = len, .name = name};
        struct pr_err json_err;

        rc = pr_json_read(&in, a, &src.root, NULL, &json_err);
        /* YAML's flow style starts the same way; JSON's error is the one to
         * show when both refuse. */
        if (rc == PR_E_FORMAT)
            rc = pr_yaml_read(text, len, name, a, &src.root, NULL);
        if (rc == PR_E_NOMEM)
            pr_fail_nomem(&json_err);
        if (rc && err)
            *err = json_err;
    } else {
        rc = pr_yaml_read(text, len, name, a, &src.root, err);
    }
    if (rc == PR_E_FORMAT) {
        /* Malformed text of a config is a bad configuration, not bad data. */
        if (err)
            err->code = PR_E_CONF;
        return PR_E_CONF;
    }
    if (!rc)
        rc = config_source_find_kind(&src, err);
    if (!rc)
        *ret = src;
    return rc;
}

int pr_config_source_read(const char *path, struct pr_arena *a,
                          struct pr_config_source *ret, struct pr_err *err)
{
    const char *text;
    size_t len;
    int rc = pr_file_read(path, MAX_CONFIG, a, &text, &len, err);

    return rc ? rc : pr_config_source_parse(text, len, path, a, ret, err);
}

int pr_config_source_read_parts(struct pr_plan_scope *s,
                                const struct pr_config_source *src,
                                enum pr_origin_kind origin,
                                struct pr_config_part **ret, size_t *ret_count,
                                struct pr_err *err)
{
    switch (src->kind) {
    case PR_SOURCE_DLBS:
        return pr_from_dlbs(s, src, origin, ret, ret_count, err);
    case PR_SOURCE_PRONY:
        return from_prony(s, src, origin, ret, ret_count, err);
    case PR_SOURCE_DLIO:
        return pr_from_dlio(s, src, origin, ret, ret_count, err);
    case PR_SOURCE_MILARUN:
        return pr_from_milarun(s, src, origin, ret, ret_count, err);
    case PR_SOURCE_LAMBDA:
        return pr_from_lambda(s, src, origin, ret, ret_count, err);
    case PR_SOURCE_PLAN:
        pr_fail(err, PR_E_CONF, src->path,
                "is a finished plan, not a config to build one from");
        return pr_hint(err, "give it to 'prony run' alone, without parameters");
    }
    return pr_fail(err, PR_E_BUG, src->path, "a kind of config without reader");
}
