/* Attributes, calls and indices at evaluation, and who has which method. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

struct methods {
    uint8_t kind;
    const struct pr_expr_table *table;
};

static const struct methods methods[] = {
    {EV_STR, &pr_expr_str_methods},         {EV_STR, &pr_expr_str_finders},
    {EV_STR, &pr_expr_str_cases},           {EV_LIST, &pr_expr_list_methods},
    {EV_TUPLE, &pr_expr_list_methods},      {EV_DICT, &pr_expr_dict_methods},
    {EV_MATCH, &pr_expr_match_methods},     {EV_UUID, &pr_expr_uuid_methods},
    {EV_ENVIRON, &pr_expr_environ_methods},
};

static const struct pr_expr_def *find_method(const struct pr_expr_value *v,
                                             const struct pr_expr_node *attr)
{
    const struct pr_expr_def *def = NULL;

    if (v->kind == EV_MODULE)
        return pr_expr_find_def(&v->module->table, attr->name, attr->len);
    for (size_t i = 0; !def && i < sizeof methods / sizeof *methods; i++)
        if (methods[i].kind == v->kind)
            def = pr_expr_find_def(methods[i].table, attr->name, attr->len);
    return def;
}

/* x.__str__() and x.__len__(), of anything. */
static const char *find_dunder_function(const struct pr_expr_node *attr)
{
    if (pr_expr_is_name(attr->name, attr->len, "__str__"))
        return "str";
    if (pr_expr_is_name(attr->name, attr->len, "__len__"))
        return "len";
    return NULL;
}

static bool module_refuses(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_node *attr)
{
    for (const char *const *r = v->module->refused; r && *r; r++)
        if (pr_expr_is_name(attr->name, attr->len, *r)) {
            pr_expr_record_error(x, "'%s.%s' is not supported: %s",
                                 v->module->name, *r, v->module->refusal);
            return true;
        }
    return false;
}

static bool no_attr(struct pr_expr *x, const struct pr_expr_value *v,
                    const struct pr_expr_node *attr)
{
    const struct pr_expr_table *tables[4];
    size_t n = 0;

    if (attr->len > 1 && attr->name[0] == '_')
        return pr_expr_fail(x, "attribute '%.*s' is not allowed",
                            attr->len < 60 ? (int)attr->len : 60, attr->name);
    if (v->kind == EV_MODULE) {
        if (module_refuses(x, v, attr))
            return false;
        tables[n++] = &v->module->table;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods && n < 3; i++)
        if (methods[i].kind == v->kind)
            tables[n++] = methods[i].table;
    tables[n] = NULL;
    return pr_expr_fail_unknown(
        x, v->kind == EV_MODULE ? v->module->name : pr_expr_value_name(v),
        attr->name, attr->len, tables,
        v->kind == EV_MODULE ? v->module->attrs : NULL);
}

static bool uuid_hex(struct pr_expr *x, const struct pr_expr_value *v,
                     struct pr_expr_value *ret)
{
    struct pr_expr_value text;
    char *hex = pr_expr_alloc(x, 32);
    uint32_t n = 0;

    if (!hex || !pr_expr_to_str(x, v, &text))
        return false;
    for (uint32_t i = 0; i < text.len; i++)
        if (text.s[i] != '-')
            hex[n++] = text.s[i];
    *ret = pr_expr_new_str(hex, n);
    return true;
}

/* An attribute that is not called. */
static bool eval_attribute(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_node *attr,
                           struct pr_expr_value *ret)
{
    const struct pr_expr_def *def;
    bool found = false;

    if (v->kind == EV_MODULE && v->module->attr) {
        if (!v->module->attr(x, attr->name, attr->len, ret, &found))
            return false;
        if (found)
            return true;
    }
    if (v->kind == EV_UUID && pr_expr_is_name(attr->name, attr->len, "hex"))
        return uuid_hex(x, v, ret);
    def = find_method(v, attr);
    if (def && v->kind == EV_MODULE) {
        *ret = (struct pr_expr_value){.kind = EV_FUNC, .func = def};
        return true;
    }
    if (def || find_dunder_function(attr))
        return pr_expr_fail(x, "'%.*s' is a method: call it with ()",
                            (int)attr->len, attr->name);
    return no_attr(x, v, attr);
}

static bool eval_arguments(struct pr_expr *x, const struct pr_expr_node *call,
                           struct pr_expr_vec *args, struct pr_expr_keyword *kw)
{
    for (const struct pr_expr_node *n = call->a; n; n = n->next) {
        struct pr_expr_value v;

        if (n->kind == EN_KWARG) {
            kw->name = n->name;
            kw->len = n->len;
            if (!pr_expr_eval_node(x, n->b, &kw->value))
                return false;
            kw++;
        } else if (n->kind == EN_STAR) {
            if (!pr_expr_eval_node(x, n->a, &v) || !pr_expr_push_all(args, &v))
                return false;
        } else if (!pr_expr_eval_node(x, n, &v) || !pr_expr_push(args, &v)) {
            return false;
        }
    }
    return true;
}

static bool eval_call(struct pr_expr *x, const struct pr_expr_def *def,
                      const struct pr_expr_value *self,
                      const struct pr_expr_node *n, struct pr_expr_value *ret)
{
    struct pr_expr_value few[4];
    struct pr_expr_vec args = {.x = x, .items = few, .cap = 4};
    struct pr_expr_keyword *kw = NULL;
    uint32_t nkw = 0;

    for (const struct pr_expr_node *i = n->a; i; i = i->next)
        nkw += i->kind == EN_KWARG;
    if (nkw && !(kw = pr_expr_alloc(x, nkw * sizeof *kw)))
        return false;
    return eval_arguments(x, n, &args, kw) &&
           pr_expr_call_def(x, def, self, &args, kw, nkw, ret);
}

static bool call_method(struct pr_expr *x, const struct pr_expr_value *v,
                        const struct pr_expr_node *attr,
                        struct pr_expr_value *ret)
{
    const struct pr_expr_def *def = find_method(v, attr);
    const char *builtin = find_dunder_function(attr);
    struct pr_expr_value self = *v, callee;

    if (def)
        return eval_call(x, def, &self, attr->next, ret);
    if (builtin && v->kind != EV_MODULE) {
        struct pr_expr_vec args = {.x = x, .items = &self, .len = 1, .cap = 1};
        if (attr->next->a)
            return pr_expr_fail(x, "'%.*s' wants no argument", (int)attr->len,
                                attr->name);
        return pr_expr_call_def(
            x, pr_expr_find_def(&pr_expr_builtins, builtin, strlen(builtin)),
            NULL, &args, NULL, 0, ret);
    }
    if (!eval_attribute(x, v, attr, &callee))
        return false;
    return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(&callee));
}

static bool eval_slice(struct pr_expr *x, const struct pr_expr_value *v,
                       const struct pr_expr_node *n, struct pr_expr_value *ret)
{
    const struct pr_expr_node *parts[3] = {n->a, n->b, n->c};
    struct pr_expr_value at[3];

    for (int i = 0; i < 3; i++) {
        at[i].kind = EV_MISSING;
        if (parts[i] && !pr_expr_eval_node(x, parts[i], &at[i]))
            return false;
        if (at[i].kind == EV_NONE)
            at[i].kind = EV_MISSING;
    }
    return pr_expr_slice(x, v, at, ret);
}

static bool eval_trailer(struct pr_expr *x, const struct pr_expr_node *n,
                         const struct pr_expr_value *v,
                         struct pr_expr_value *ret)
{
    struct pr_expr_value at;

    if (n->kind == EN_ATTR)
        return eval_attribute(x, v, n, ret);
    if (n->kind == EN_INDEX)
        return pr_expr_eval_node(x, n->a, &at) && pr_expr_index(x, v, &at, ret);
    if (n->kind == EN_SLICE)
        return eval_slice(x, v, n, ret);
    if (v->kind != EV_FUNC)
        return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(v));
    return eval_call(x, v->func, NULL, n, ret);
}

bool pr_expr_eval_postfix(struct pr_expr *x, const struct pr_expr_node *n,
                          struct pr_expr_value *ret)
{
    struct pr_expr_value v;

    n = n->a;
    if (!pr_expr_eval_node(x, n, &v))
        return false;
    for (n = n->next; n; n = n->next) {
        struct pr_expr_value next;
        bool method = n->kind == EN_ATTR && n->next && n->next->kind == EN_CALL;

        if (--x->steps < 0)
            return pr_expr_fail(x, "the expression takes more than %d steps",
                                PR_EXPR_STEPS);
        if (!(method ? call_method(x, &v, n, &next)
                     : eval_trailer(x, n, &v, &next)))
            return false;
        if (method)
            n = n->next;
        v = next;
    }
    *ret = v;
    return true;
}
