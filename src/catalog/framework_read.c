/* frameworks/NAME.yaml, read: what it says of a framework, key by key. */
#include "catalog/framework_impl.h"
#include "conf/option/opt.h"
#include "conf/read/yaml.h"

#include <string.h>

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

static int framework_read_kind(struct pr_framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    for (size_t i = 0; v->kind == PR_STR && i < sizeof kinds / sizeof *kinds;
         i++)
        if (strcmp(v->s, kinds[i]) == 0) {
            *(enum pr_framework_kind *)place = (enum pr_framework_kind)i;
            return PR_OK;
        }
    return pr_framework_fail_wants(r, v, key, "native, python or script");
}

/* A list of some of two words, which become two flags. */
static int framework_read_flags(struct pr_framework_reader *r,
                                const struct pr_value *v, const char *key,
                                const char *const words[2], bool flags[2])
{
    const char **items;
    int rc = pr_framework_read_list(r, v, key, &items);

    flags[0] = flags[1] = false;
    for (; !rc && *items; items++) {
        unsigned i = strcmp(*items, words[0]) != 0;

        if (i && strcmp(*items, words[1]) != 0)
            return PR_FRAMEWORK_FAIL(r, v, "'%s' lists %s and %s, not '%.64s'",
                                     key, words[0], words[1], *items);
        flags[i] = true;
    }
    if (!rc && !flags[0] && !flags[1])
        return PR_FRAMEWORK_FAIL(r, v, "'%s' lists nothing", key);
    return rc;
}

static int framework_read_phases(struct pr_framework_reader *r,
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

static int read_places(struct pr_framework_reader *r, const struct pr_value *v,
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

static int read_find(struct pr_framework_reader *r, const struct pr_value *v,
                     const char *key, void *place)
{
    static const struct pr_framework_key keys[] = {
        {"program", pr_framework_read_text, FRAMEWORK(find_program)},
        {"module", pr_framework_read_name, FRAMEWORK(find_module)},
    };

    (void)key;
    (void)place;
    return pr_framework_read_map(r, v, "find", keys, 2, r->f);
}

/* "./NAME" is beside the file. */
static int read_program(struct pr_framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    const char *slash = strrchr(r->path, '/');
    int rc = pr_framework_read_text(r, v, key, place);

    if (rc || strncmp(v->s, "./", 2) != 0 || !slash)
        return rc;
    *(const char **)place = pr_arena_printf(
        r->arena, "%.*s/%s", (int)(slash - r->path), r->path, v->s + 2);
    return *(const char **)place ? PR_OK : pr_fail_nomem(r->err);
}

/* The values of an entry as "a|b". */
static int read_values(struct pr_framework_reader *r, const struct pr_value *v,
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
        return pr_framework_fail_wants(r, v, h->name, "any, none, or a list");
    for (uint32_t i = 0; i < v->len; i++) {
        pr_buf_str(&text, i ? "|" : "");
        pr_value_write_text(&text, &v->items[i]);
    }
    h->values = pr_arena_copy(r->arena, text.data ? text.data : "", text.len);
    return pr_buf_ok(&text) && h->values ? PR_OK : pr_fail_nomem(r->err);
}

static int read_honours(struct pr_framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    struct pr_honour *list;
    int rc = PR_OK;

    if (v->kind != PR_MAP)
        return pr_framework_fail_wants(r, v, key, "a map of parameters");
    list = PR_ARENA_ARRAY(r->arena, struct pr_honour, (size_t)v->len + 1);
    if (!list)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        const char *name = v->members[i].key;

        list[i].name = name;
        if (!strchr(name, '*') && !pr_opt_find(name, NULL))
            rc = PR_FRAMEWORK_FAIL(r, &v->members[i],
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
static int read_later(struct pr_framework_reader *r, const struct pr_value *v,
                      const char *key, void *place)
{
    (void)r;
    (void)v;
    (void)key;
    (void)place;
    return PR_OK;
}

static const struct pr_framework_key framework_read_keys_table[] = {
    {"framework", read_later, 0},
    {"title", pr_framework_read_text, FRAMEWORK(title)},
    {"about", pr_framework_read_text, FRAMEWORK(desc)},
    {"family", pr_framework_read_name, FRAMEWORK(family)},
    {"kind", framework_read_kind, FRAMEWORK(kind)},
    {"program", read_program, FRAMEWORK(program)},
    {"module", pr_framework_read_name, FRAMEWORK(module)},
    {"python", pr_framework_read_name, FRAMEWORK(python_var)},
    {"launcher", read_later, 0},
    {"find", read_find, 0},
    {"remedy", pr_framework_read_text, FRAMEWORK(remedy)},
    {"image", pr_framework_read_text, FRAMEWORK(image)},
    {"phases", framework_read_phases, 0},
    {"places", read_places, 0},
    {"models", pr_framework_read_list, FRAMEWORK(models)},
    {"results", pr_framework_read_list, FRAMEWORK(results)},
    {"honours", read_honours, FRAMEWORK(honours)},
    {"parameters", read_later, 0},
};

/* The file names itself: one that was copied and not changed is noticed. */
static int framework_check_name(struct pr_framework_reader *r,
                                const struct pr_value *v)
{
    const struct pr_value *own = pr_get(v, "framework");

    if (!own)
        return PR_FRAMEWORK_FAIL(r, v,
                                 "a framework lacks 'framework', its "
                                 "name");
    if (own->kind != PR_STR || strcmp(own->s, r->f->name) != 0)
        return PR_FRAMEWORK_FAIL(
            r, own, "'framework' is not '%s', as the file is named",
            r->f->name);
    return PR_OK;
}

/* Its parameters would be taken for ours. */
static int check_section(struct pr_framework_reader *r,
                         const struct pr_value *v, const char *name)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    for (; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return PR_FRAMEWORK_FAIL(r, v, "'%s' is a section of Prony's own",
                                     name);
    return PR_OK;
}

static int framework_check_kind(struct pr_framework_reader *r,
                                const struct pr_value *v)
{
    const struct pr_framework *f = r->f;
    bool python = f->kind == PR_FRAMEWORK_PYTHON;

    if (python && (!f->program || !f->module))
        return PR_FRAMEWORK_FAIL(
            r, v, "a framework of the kind python has 'program' and 'module'");
    if (!python && (f->program || f->module || f->python_var))
        return PR_FRAMEWORK_FAIL(
            r, v, "'program', 'module' and 'python' are for the kind python");
    return PR_OK;
}

/* A launcher that comes with the file is the default of the parameter. */
static int read_launcher(struct pr_framework_reader *r,
                         const struct pr_value *v)
{
    struct pr_framework_param p = {
        .type = "str", .help = "The script that runs an experiment."};
    const char *path;
    int rc;

    if (!v)
        return PR_OK;
    if (r->f->kind != PR_FRAMEWORK_SCRIPT)
        return PR_FRAMEWORK_FAIL(r, v, "'launcher' is for the kind script");
    rc = read_program(r, v, "launcher", &path);
    if (rc)
        return rc;
    p.def = pr_str(path);
    return pr_framework_add_param(r, "launcher", v, &p);
}

static int framework_read_keys(struct pr_framework_reader *r,
                               const struct pr_value *v)
{
    struct pr_framework *f = r->f;
    const struct pr_value *params = pr_get(v, "parameters");
    int rc = pr_framework_read_map(
        r, v, "a framework", framework_read_keys_table,
        sizeof framework_read_keys_table / sizeof *framework_read_keys_table,
        f);

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
    return !rc && params ? pr_framework_read_params(r, params) : rc;
}

int pr_framework_parse(const char *text, size_t len, const char *name,
                       const char *path, struct pr_arena *a,
                       struct pr_framework **ret, struct pr_err *err)
{
    struct pr_framework *f = PR_ARENA_NEW(a, struct pr_framework);
    struct pr_framework_reader r = {path, a, f, err};
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
