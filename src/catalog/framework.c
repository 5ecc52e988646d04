/*
 * Frameworks: frameworks/NAME.yaml read key by key, found by name, listed, and
 * kept once they were read.
 */
#include "catalog/framework.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/option/option.h"
#include "conf/option/parameters.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values: their kinds, and maps by a table of keys */

enum {
    MAX_BYTES = 1 << 20, /* of a file */
    MAX_PARAMS = 1000,
};

struct framework_reader {
    const char *path; /* for errors */
    struct pr_arena *arena;
    struct pr_framework *f;
    struct pr_err *err;
};

/* What one key of a map means; place is where in the struct it goes. */
struct framework_key {
    const char *name;
    int (*read)(struct framework_reader *r, const struct pr_value *v,
                const char *key, void *place);
    size_t offset;
};

#define FRAMEWORK_FAIL(r, v, ...) \
    pr_fail_at((r)->err, PR_E_CONF, (r)->path, (v)->line, (v)->col, __VA_ARGS__)

static int framework_fail_wants(struct framework_reader *r,
                                const struct pr_value *v, const char *key,
                                const char *what)
{
    return FRAMEWORK_FAIL(r, v, "'%.64s' wants %s, got %s", key, what,
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

static int framework_read_text(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    if (!is_line(v) || !v->len)
        return framework_fail_wants(r, v, key, "text on one line");
    *(const char **)place = v->s;
    return PR_OK;
}

/* Whether it could be a part of a parameter's name. */
static bool framework_is_name(const char *s, size_t len)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789_";

    return len && len < 64 && strspn(s, letters) == len;
}

static int framework_read_name(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    if (v->kind != PR_STR || !framework_is_name(v->s, v->len))
        return framework_fail_wants(r, v, key,
                                    "a name of letters, digits and '_'");
    *(const char **)place = v->s;
    return PR_OK;
}

static int framework_read_bool(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    if (v->kind != PR_BOOL)
        return framework_fail_wants(r, v, key, "true or false");
    *(bool *)place = v->b;
    return PR_OK;
}

/* Kinds of values: text on one line; a name of letters, digits and '_'; true
 * or false; a list of text, which becomes NULL-terminated. */
static int framework_read_list(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    const char **items;

    if (v->kind != PR_LIST)
        return framework_fail_wants(r, v, key, "a list of text");
    items = PR_ARENA_ARRAY(r->arena, const char *, (size_t)v->len + 1);
    if (!items)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len; i++) {
        PR_TRY(framework_read_text(r, &v->items[i], key, &items[i]));
    }
    *(const char ***)place = items;
    return PR_OK;
}

static int framework_fail_unknown_key(struct framework_reader *r,
                                      const struct pr_member *m,
                                      const char *what,
                                      const struct framework_key *keys,
                                      size_t count)
{
    struct pr_nearest near;

    FRAMEWORK_FAIL(r, m, "%s has no '%.64s'", what, m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < count; i++)
        pr_nearest_offer(&near, keys[i].name);
    return near.best
               ? pr_hint(r->err, "did you mean '%s'?", near.best)
               : pr_hint(r->err, "docs/frameworks.md lists what it may have");
}

/* Reads every member of a map by the table into the struct at base; a key that
 * is not there is an error with the nearest one. what: "a framework". */
static int framework_read_map(struct framework_reader *r,
                              const struct pr_value *v, const char *what,
                              const struct framework_key *keys, size_t count,
                              void *base)
{
    if (v->kind != PR_MAP)
        return FRAMEWORK_FAIL(r, v, "%s is a map, got %s", what,
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

/* ---- parameters */

#define PARAM(member) offsetof(struct pr_framework_param, member)

/* The types, with the row that casts to each. */
static const struct {
    const char *name;
    struct pr_opt opt;
} types[] = {
    {"bool", {.kind = PR_OPT_BOOL}},   {"int", {.kind = PR_OPT_INT}},
    {"float", {.kind = PR_OPT_FLOAT}}, {"str", {.kind = PR_OPT_STR}},
    {"list", {.kind = PR_OPT_LIST}},   {"any", {.kind = PR_OPT_ANY}},
};

static const struct pr_opt *type_row(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i].opt;
    return NULL;
}

static int framework_read_type(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    if (v->kind != PR_STR || !type_row(v->s))
        return framework_fail_wants(r, v, key,
                                    "bool, int, float, str, list or any");
    *(const char **)place = v->s;
    return PR_OK;
}

static int read_default(struct framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    (void)r;
    (void)key;
    *(struct pr_value *)place = *v;
    return PR_OK;
}

/* A list becomes "a|b". */
static int read_choices(struct framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(4096);
    const char **items, *text;

    PR_TRY(framework_read_list(r, v, key, &items));
    if (!*items)
        return FRAMEWORK_FAIL(r, v, "'%s' lists nothing", key);
    for (const char **i = items; *i; i++) {
        if (strchr(*i, '|'))
            return FRAMEWORK_FAIL(r, v, "a choice must not hold '|'");
        pr_buf_printf(&all, "%s%s", i == items ? "" : "|", *i);
    }
    if (!pr_buf_ok(&all) && all.len > 4000)
        return FRAMEWORK_FAIL(r, v, "'%s' is too long", key);
    text = pr_buf_ok(&all) ? pr_arena_copy(r->arena, all.data, all.len) : NULL;
    if (!text)
        return pr_fail_nomem(r->err);
    *(const char **)place = text;
    return PR_OK;
}

static const struct framework_key param_keys[] = {
    {"default", read_default, PARAM(def)},
    {"type", framework_read_type, PARAM(type)},
    {"choices", read_choices, PARAM(choices)},
    {"help", framework_read_text, PARAM(help)},
    {"launcher", framework_read_bool, PARAM(contract)},
};

/* The type that follows from a default. */
static const char *framework_type_of_default(const struct pr_value *v)
{
    switch (v->kind) {
    case PR_BOOL:
        return "bool";
    case PR_INT:
        return "int";
    case PR_FLOAT:
        return "float";
    case PR_LIST:
        return "list";
    case PR_STR:
        return "str";
    case PR_NULL:
    case PR_MAP:
        break;
    }
    return "any";
}

/* A default that has to be computed is checked when it has been. */
static int check_default(struct framework_reader *r,
                         struct pr_framework_param *p)
{
    struct pr_opt row = *type_row(p->type);
    struct pr_err wrong;
    int rc;

    if (p->def.kind == PR_NULL || pr_is_dynamic(&p->def))
        return PR_OK;
    row.name = p->name;
    row.choices = p->choices;
    rc = pr_opt_cast(&row, &p->def, r->arena, &p->def, &wrong);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(r->err);
    return rc ? FRAMEWORK_FAIL(r, p, "the default of %s", wrong.msg) : PR_OK;
}

/* One parameter of the family more; it gets a place in line and col. */
static int framework_add_param(struct framework_reader *r, const char *key,
                               const struct pr_value *v,
                               struct pr_framework_param *p)
{
    struct pr_framework *f = r->f;

    if (f->param_count == MAX_PARAMS)
        return FRAMEWORK_FAIL(r, v, "more than %d parameters", MAX_PARAMS);
    p->name = strchr(key, '.')
                  ? pr_arena_str(r->arena, key)
                  : pr_arena_printf(r->arena, "%s.%s", f->family, key);
    if (!p->name)
        return pr_fail_nomem(r->err);
    for (size_t i = 0; i < f->param_count; i++)
        if (strcmp(f->params[i].name, p->name) == 0)
            return FRAMEWORK_FAIL(r, v, "'%s' is there twice", p->name);
    p->line = v->line;
    p->col = v->col;
    if (!p->type)
        p->type = framework_type_of_default(&p->def);
    if (!p->help)
        p->help = "";
    f->params[f->param_count++] = *p;
    return check_default(r, &f->params[f->param_count - 1]);
}

/* NAME of the family, or a whole name of the family or the framework. */
static bool is_own_name(const struct pr_framework *f, const char *key)
{
    const char *dot = strchr(key, '.');
    size_t head = dot ? (size_t)(dot - key) : 0;

    if (!dot)
        return framework_is_name(key, strlen(key));
    return framework_is_name(dot + 1, strlen(dot + 1)) &&
           ((strncmp(key, f->name, head) == 0 && !f->name[head]) ||
            (strncmp(key, f->family, head) == 0 && !f->family[head]));
}

static int read_param(struct framework_reader *r, const struct pr_member *m)
{
    struct pr_framework_param p = {.type = NULL};
    struct pr_value at = m->value;
    int rc = PR_OK;

    at.line = m->line;
    at.col = m->col;
    if (!is_own_name(r->f, m->key)) {
        FRAMEWORK_FAIL(r, m, "'%.64s' is not a name of a parameter", m->key);
        return pr_hint(r->err, "NAME, which becomes %s.NAME", r->f->family);
    }
    if (m->value.kind == PR_MAP)
        rc = framework_read_map(r, &m->value, "a parameter", param_keys,
                                sizeof param_keys / sizeof *param_keys, &p);
    else
        p.def = m->value;
    return rc ? rc : framework_add_param(r, m->key, &at, &p);
}

/* The map of parameters; the name and the family are known. */
static int framework_read_params(struct framework_reader *r,
                                 const struct pr_value *v)
{
    if (v->kind != PR_MAP)
        return framework_fail_wants(r, v, "parameters", "a map");
    for (uint32_t i = 0; i < v->len; i++) {
        PR_TRY(read_param(r, &v->members[i]));
    }
    return PR_OK;
}

/* ---- the file: what it says of a framework, key by key */

#define FRAMEWORK(member) offsetof(struct pr_framework, member)

static const char *const kinds[] = {
    [PR_FRAMEWORK_NATIVE] = "native",
    [PR_FRAMEWORK_PYTHON] = "python",
    [PR_FRAMEWORK_SCRIPT] = "script",
};

const char *pr_framework_kind_name(enum pr_framework_kind kind)
{
    return kinds[kind];
}

static int framework_read_kind(struct framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    for (size_t i = 0; v->kind == PR_STR && i < sizeof kinds / sizeof *kinds;
         i++)
        if (strcmp(v->s, kinds[i]) == 0) {
            *(enum pr_framework_kind *)place = (enum pr_framework_kind)i;
            return PR_OK;
        }
    return framework_fail_wants(r, v, key, "native, python or script");
}

/* A list of some of two words, which become two flags. */
static int framework_read_flags(struct framework_reader *r,
                                const struct pr_value *v, const char *key,
                                const char *const words[2], bool flags[2])
{
    const char **items;
    int rc = framework_read_list(r, v, key, &items);

    flags[0] = flags[1] = false;
    for (; !rc && *items; items++) {
        unsigned i = strcmp(*items, words[0]) != 0;

        if (i && strcmp(*items, words[1]) != 0)
            return FRAMEWORK_FAIL(r, v, "'%s' lists %s and %s, not '%.64s'",
                                  key, words[0], words[1], *items);
        flags[i] = true;
    }
    if (!rc && !flags[0] && !flags[1])
        return FRAMEWORK_FAIL(r, v, "'%s' lists nothing", key);
    return rc;
}

static int framework_read_phases(struct framework_reader *r,
                                 const struct pr_value *v, const char *key,
                                 void *place)
{
    static const char *const words[] = {"training", "inference"};
    bool flags[2];
    int rc = framework_read_flags(r, v, key, words, flags);

    (void)place;
    r->f->trains = flags[0];
    r->f->infers = flags[1];
    return rc;
}

static int read_places(struct framework_reader *r, const struct pr_value *v,
                       const char *key, void *place)
{
    static const char *const words[] = {"host", "container"};
    bool flags[2];
    int rc = framework_read_flags(r, v, key, words, flags);

    (void)place;
    r->f->bare = flags[0];
    r->f->contained = flags[1];
    return rc;
}

static int read_find(struct framework_reader *r, const struct pr_value *v,
                     const char *key, void *place)
{
    static const struct framework_key keys[] = {
        {"program", framework_read_text, FRAMEWORK(find_program)},
        {"module", framework_read_name, FRAMEWORK(find_module)},
    };

    (void)key;
    (void)place;
    return framework_read_map(r, v, "find", keys, 2, r->f);
}

/* "./NAME" is beside the file. */
static int read_program(struct framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    const char *slash = strrchr(r->path, '/');
    int rc = framework_read_text(r, v, key, place);

    if (rc || !pr_text_starts_with(v->s, "./") || !slash)
        return rc;
    *(const char **)place = pr_arena_printf(
        r->arena, "%.*s/%s", (int)(slash - r->path), r->path, v->s + 2);
    return *(const char **)place ? PR_OK : pr_fail_nomem(r->err);
}

/* The values of an entry as "a|b". */
static int read_values(struct framework_reader *r, const struct pr_value *v,
                       struct pr_honour *h)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (v->kind == PR_STR && strcmp(v->s, "any") == 0)
        return PR_OK;
    if (v->kind == PR_STR && strcmp(v->s, "none") == 0) {
        h->none = true;
        return PR_OK;
    }
    if (v->kind != PR_LIST)
        return framework_fail_wants(r, v, h->name, "any, none, or a list");
    for (uint32_t i = 0; i < v->len; i++) {
        pr_buf_str(&text, i ? "|" : "");
        pr_value_write_text(&text, &v->items[i]);
    }
    h->values = pr_arena_copy(r->arena, text.data ? text.data : "", text.len);
    return pr_buf_ok(&text) && h->values ? PR_OK : pr_fail_nomem(r->err);
}

static int read_honours(struct framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    struct pr_honour *list;
    int rc = PR_OK;

    if (v->kind != PR_MAP)
        return framework_fail_wants(r, v, key, "a map of parameters");
    list = PR_ARENA_ARRAY(r->arena, struct pr_honour, (size_t)v->len + 1);
    if (!list)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        const char *name = v->members[i].key;

        list[i].name = name;
        if (!strchr(name, '*') && !pr_opt_find(name, NULL))
            rc = FRAMEWORK_FAIL(r, &v->members[i],
                                "'%s': '%.64s' is not a parameter of "
                                "Prony's",
                                key, name);
        else
            rc = read_values(r, &v->members[i].value, &list[i]);
    }
    *(const struct pr_honour **)place = list;
    return rc;
}

/* Read once the family is known. */
static int read_later(struct framework_reader *r, const struct pr_value *v,
                      const char *key, void *place)
{
    (void)r;
    (void)v;
    (void)key;
    (void)place;
    return PR_OK;
}

static const struct framework_key framework_keys[] = {
    {"framework", read_later, 0},
    {"title", framework_read_text, FRAMEWORK(title)},
    {"about", framework_read_text, FRAMEWORK(desc)},
    {"family", framework_read_name, FRAMEWORK(family)},
    {"kind", framework_read_kind, FRAMEWORK(kind)},
    {"program", read_program, FRAMEWORK(program)},
    {"module", framework_read_name, FRAMEWORK(module)},
    {"python", framework_read_name, FRAMEWORK(python_var)},
    {"launcher", read_later, 0},
    {"find", read_find, 0},
    {"remedy", framework_read_text, FRAMEWORK(remedy)},
    {"image", framework_read_text, FRAMEWORK(image)},
    {"phases", framework_read_phases, 0},
    {"places", read_places, 0},
    {"models", framework_read_list, FRAMEWORK(models)},
    {"results", framework_read_list, FRAMEWORK(results)},
    {"honours", read_honours, FRAMEWORK(honours)},
    {"parameters", read_later, 0},
};

/* The file names itself: one that was copied and not changed is noticed. */
static int framework_check_name(struct framework_reader *r,
                                const struct pr_value *v)
{
    const struct pr_value *own = pr_get(v, "framework");

    if (!own)
        return FRAMEWORK_FAIL(r, v,
                              "a framework lacks 'framework', its "
                              "name");
    if (own->kind != PR_STR || strcmp(own->s, r->f->name) != 0)
        return FRAMEWORK_FAIL(r, own,
                              "'framework' is not '%s', as the file is named",
                              r->f->name);
    return PR_OK;
}

/* Its parameters would be taken for ours. */
static int check_section(struct framework_reader *r, const struct pr_value *v,
                         const char *name)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    for (; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return FRAMEWORK_FAIL(r, v, "'%s' is a section of Prony's own",
                                  name);
    return PR_OK;
}

static int framework_check_kind(struct framework_reader *r,
                                const struct pr_value *v)
{
    const struct pr_framework *f = r->f;
    bool python = f->kind == PR_FRAMEWORK_PYTHON;

    if (python && (!f->program || !f->module))
        return FRAMEWORK_FAIL(
            r, v, "a framework of the kind python has 'program' and 'module'");
    if (!python && (f->program || f->module || f->python_var))
        return FRAMEWORK_FAIL(
            r, v, "'program', 'module' and 'python' are for the kind python");
    return PR_OK;
}

/* A launcher that comes with the file is the default of the parameter. */
static int read_launcher(struct framework_reader *r, const struct pr_value *v)
{
    struct pr_framework_param p = {
        .type = "str", .help = "The script that runs an experiment."};
    const char *path;
    int rc;

    if (!v)
        return PR_OK;
    if (r->f->kind != PR_FRAMEWORK_SCRIPT)
        return FRAMEWORK_FAIL(r, v, "'launcher' is for the kind script");
    rc = read_program(r, v, "launcher", &path);
    if (rc)
        return rc;
    p.def = pr_str(path);
    return framework_add_param(r, "launcher", v, &p);
}

static int framework_read_keys(struct framework_reader *r,
                               const struct pr_value *v)
{
    struct pr_framework *f = r->f;
    const struct pr_value *params = pr_get(v, "parameters");
    int rc =
        framework_read_map(r, v, "a framework", framework_keys,
                           sizeof framework_keys / sizeof *framework_keys, f);

    if (!rc)
        rc = framework_check_name(r, v);
    if (!rc)
        rc = check_section(r, v, f->name);
    if (!rc)
        rc = check_section(r, v, f->family);
    if (!rc)
        rc = framework_check_kind(r, v);
    if (rc)
        return rc;
    f->params = PR_ARENA_ARRAY(
        r->arena, struct pr_framework_param,
        (params && params->kind == PR_MAP ? params->len : 0) + 1);
    if (!f->params)
        return pr_fail_nomem(r->err);
    rc = read_launcher(r, pr_get(v, "launcher"));
    return !rc && params ? framework_read_params(r, params) : rc;
}

int pr_framework_parse(const char *text, size_t len, const char *name,
                       const char *path, struct pr_arena *a,
                       struct pr_framework **ret, struct pr_err *err)
{
    struct pr_framework *f = PR_ARENA_NEW(a, struct pr_framework);
    struct framework_reader r = {path, a, f, err};
    struct pr_value v;
    int rc;

    if (!f || !(f->name = pr_arena_str(a, name)) ||
        !(f->path = pr_arena_str(a, path)))
        return pr_fail_nomem(err);
    f->family = f->title = f->name;
    f->desc = "";
    f->kind = PR_FRAMEWORK_SCRIPT;
    f->trains = f->infers = f->bare = f->contained = true;
    rc = pr_yaml_read(text, len, path, a, &v, err);
    if (!rc)
        rc = framework_read_keys(&r, &v);
    if (!rc)
        *ret = f;
    return rc;
}

/* ---- by name */

#define ENDING ".yaml"

enum { FOLDERS = 2 };

/* The folders that are looked at, in turn; NULL: that one is not there. What
 * is beside a file is found from anywhere, so paths are whole. */
static bool framework_find_folders(struct pr_arena *a,
                                   const char *ret[static FOLDERS])
{
    const char *own = getenv("PRONY_FRAMEWORKS"), *share = pr_bundled_dir(a);
    char whole[PATH_MAX];
    bool there = own && *own && realpath(own, whole);

    ret[0] = there ? pr_arena_str(a, whole) : NULL;
    ret[1] = share ? pr_arena_printf(a, "%s/frameworks", share) : NULL;
    return (!there || ret[0]) && (!share || ret[1]);
}

/* The file of that name: in $PRONY_FRAMEWORKS, else in the share folder. In the
 * arena. 1: there; 0: in neither. */
static int framework_path(const char *name, struct pr_arena *a,
                          const char **ret, struct pr_err *err)
{
    const char *dirs[FOLDERS];

    if (!framework_is_name(name, strlen(name)))
        return 0;
    if (!framework_find_folders(a, dirs))
        return pr_fail_nomem(err);
    for (size_t i = 0; i < FOLDERS; i++) {
        const char *path;

        if (!dirs[i])
            continue;
        path = pr_arena_printf(a, "%s/%s" ENDING, dirs[i], name);
        if (!path)
            return pr_fail_nomem(err);
        if (access(path, F_OK) == 0) {
            *ret = path;
            return 1;
        }
    }
    return 0;
}

int pr_framework_find(const char *name, struct pr_arena *a,
                      const struct pr_framework **ret, struct pr_err *err)
{
    const char *path = NULL, *text;
    struct pr_framework *f;
    size_t len;
    int rc = framework_path(name, a, &path, err);

    if (rc != 1)
        return rc;
    rc = pr_file_read(path, MAX_BYTES, a, &text, &len, err);
    if (!rc)
        rc = pr_framework_parse(text, len, name, path, a, &f, err);
    if (rc)
        return rc;
    *ret = f;
    return 1;
}

/* ---- all of them */

struct names {
    struct pr_arena *arena;
    const char **items;
    size_t count, cap;
};

/* The name of a file without its ending; what cannot be one is passed over. */
static bool framework_add_name(struct names *n, const char *file)
{
    size_t len = strlen(file), end = sizeof ENDING - 1;
    const char *name, **item;

    if (len == end || !pr_text_ends_with(file, ENDING))
        return true;
    name = pr_arena_copy(n->arena, file, len - end);
    if (!name || !framework_is_name(name, len - end))
        return name != NULL;
    item = PR_PUSH(n->arena, n);
    if (!item)
        return false;
    *item = name;
    return true;
}

static bool add_folder(struct names *n, const char *dir)
{
    DIR *d = dir ? opendir(dir) : NULL;
    struct dirent *e;
    bool ok = true;

    if (!d)
        return true;
    while (ok && (e = readdir(d)))
        ok = framework_add_name(n, e->d_name);
    closedir(d);
    return ok;
}

static int framework_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. False: out of memory. */
static bool all_names(struct names *n)
{
    const char *dirs[FOLDERS];
    size_t kept = 0;

    if (!framework_find_folders(n->arena, dirs))
        return false;
    for (size_t i = 0; i < FOLDERS; i++)
        if (!add_folder(n, dirs[i]))
            return false;
    if (n->count)
        qsort(n->items, n->count, sizeof *n->items, framework_compare_names);
    for (size_t i = 0; i < n->count; i++)
        if (!i || strcmp(n->items[i], n->items[kept - 1]) != 0)
            n->items[kept++] = n->items[i];
    n->count = kept;
    return true;
}

int pr_framework_each(struct pr_arena *a,
                      int (*each)(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err),
                      void *ctx, struct pr_err *err)
{
    struct names n = {.arena = a};

    if (!all_names(&n))
        return pr_fail_nomem(err);
    for (size_t i = 0; i < n.count; i++) {
        const struct pr_framework *f;
        int rc = pr_framework_find(n.items[i], a, &f, err);

        if (rc == 1)
            rc = each(ctx, f, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

int pr_framework_hint(const char *name, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *own = getenv("PRONY_FRAMEWORKS");
    struct names n = {.arena = a};
    struct pr_nearest near;

    if (own && *own && access(own, R_OK | X_OK) < 0)
        return pr_hint(err, "$PRONY_FRAMEWORKS, '%.200s', cannot be read: %s",
                       own, strerror(errno));
    pr_nearest_init(&near, name);
    if (a && all_names(&n))
        for (size_t i = 0; i < n.count; i++)
            pr_nearest_offer(&near, n.items[i]);
    if (near.best)
        return pr_hint(err,
                       "did you mean '%s'? 'prony help --frameworks' "
                       "lists them",
                       near.best);
    return pr_hint(err,
                   "'prony help --frameworks' lists them; a file NAME" ENDING
                   " in the folder $PRONY_FRAMEWORKS adds one; "
                   "exp.command runs any program");
}

/* ---- those that were read once and are kept */

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
    const char *copy = pr_arena_str(fs->arena, name);
    struct kept *item = copy ? PR_PUSH(fs->arena, fs) : NULL;

    if (!item)
        return pr_fail_nomem(err);
    *item = (struct kept){copy, f};
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
