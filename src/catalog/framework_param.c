/* Parameters of frameworks/NAME.yaml. */
#include "base/json/json.h"
#include "catalog/framework_impl.h"
#include "conf/option/opt.h"
#include "conf/option/params.h"

#include <stdio.h>
#include <string.h>

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

static int framework_read_type(struct pr_framework_reader *r,
                               const struct pr_value *v, const char *key,
                               void *place)
{
    if (v->kind != PR_STR || !type_row(v->s))
        return pr_framework_fail_wants(r, v, key,
                                       "bool, int, float, str, list or any");
    *(const char **)place = v->s;
    return PR_OK;
}

static int read_default(struct pr_framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    (void)r;
    (void)key;
    *(struct pr_value *)place = *v;
    return PR_OK;
}

/* A list becomes "a|b". */
static int read_choices(struct pr_framework_reader *r, const struct pr_value *v,
                        const char *key, void *place)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(4096);
    const char **items, *text;
    int rc = pr_framework_read_list(r, v, key, &items);

    if (rc)
        return rc;
    if (!*items)
        return PR_FRAMEWORK_FAIL(r, v, "'%s' lists nothing", key);
    for (const char **i = items; *i; i++) {
        if (strchr(*i, '|'))
            return PR_FRAMEWORK_FAIL(r, v, "a choice must not hold '|'");
        pr_buf_printf(&all, "%s%s", i == items ? "" : "|", *i);
    }
    if (!pr_buf_ok(&all) && all.len > 4000)
        return PR_FRAMEWORK_FAIL(r, v, "'%s' is too long", key);
    text = pr_buf_ok(&all) ? pr_arena_copy(r->arena, all.data, all.len) : NULL;
    if (!text)
        return pr_fail_nomem(r->err);
    *(const char **)place = text;
    return PR_OK;
}

static const struct pr_framework_key framework_param_keys[] = {
    {"default", read_default, PARAM(def)},
    {"type", framework_read_type, PARAM(type)},
    {"choices", read_choices, PARAM(choices)},
    {"help", pr_framework_read_text, PARAM(help)},
    {"launcher", pr_framework_read_bool, PARAM(contract)},
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
static int check_default(struct pr_framework_reader *r,
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
    return rc ? PR_FRAMEWORK_FAIL(r, p, "the default of %s", wrong.msg) : PR_OK;
}

int pr_framework_add_param(struct pr_framework_reader *r, const char *key,
                           const struct pr_value *v,
                           struct pr_framework_param *p)
{
    struct pr_framework *f = r->f;

    if (f->param_count == PR_FRAMEWORK_PARAMS)
        return PR_FRAMEWORK_FAIL(r, v, "more than %d parameters",
                                 PR_FRAMEWORK_PARAMS);
    p->name = strchr(key, '.')
                  ? pr_arena_str(r->arena, key)
                  : pr_arena_printf(r->arena, "%s.%s", f->family, key);
    if (!p->name)
        return pr_fail_nomem(r->err);
    for (size_t i = 0; i < f->param_count; i++)
        if (strcmp(f->params[i].name, p->name) == 0)
            return PR_FRAMEWORK_FAIL(r, v, "'%s' is there twice", p->name);
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
        return pr_framework_is_name(key, strlen(key));
    return pr_framework_is_name(dot + 1, strlen(dot + 1)) &&
           ((strncmp(key, f->name, head) == 0 && !f->name[head]) ||
            (strncmp(key, f->family, head) == 0 && !f->family[head]));
}

static int read_param(struct pr_framework_reader *r, const struct pr_member *m)
{
    struct pr_framework_param p = {.type = NULL};
    struct pr_value at = m->value;
    int rc = PR_OK;

    at.line = m->line;
    at.col = m->col;
    if (!is_own_name(r->f, m->key)) {
        PR_FRAMEWORK_FAIL(r, m, "'%.64s' is not a name of a parameter", m->key);
        return pr_hint(r->err, "NAME, which becomes %s.NAME", r->f->family);
    }
    if (m->value.kind == PR_MAP)
        rc = pr_framework_read_map(
            r, &m->value, "a parameter", framework_param_keys,
            sizeof framework_param_keys / sizeof *framework_param_keys, &p);
    else
        p.def = m->value;
    return rc ? rc : pr_framework_add_param(r, m->key, &at, &p);
}

int pr_framework_read_params(struct pr_framework_reader *r,
                             const struct pr_value *v)
{
    if (v->kind != PR_MAP)
        return pr_framework_fail_wants(r, v, "parameters", "a map");
    for (uint32_t i = 0; i < v->len; i++) {
        int rc = read_param(r, &v->members[i]);

        if (rc)
            return rc;
    }
    return PR_OK;
}
