/* Attributes, calls and indices at evaluation, and who has which method. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

struct methods {
    uint8_t kind;
    const struct pr_ex_table *table;
};

static const struct methods methods[] = {
    {EV_STR, &pr_ex_str_methods},         {EV_STR, &pr_ex_str_finders},
    {EV_STR, &pr_ex_str_cases},           {EV_LIST, &pr_ex_list_methods},
    {EV_TUPLE, &pr_ex_list_methods},      {EV_DICT, &pr_ex_dict_methods},
    {EV_MATCH, &pr_ex_match_methods},     {EV_UUID, &pr_ex_uuid_methods},
    {EV_ENVIRON, &pr_ex_environ_methods},
};

static const struct pr_ex_def *find_method(const struct pr_ev *v,
                                           const struct pr_ex_node *attr)
{
    const struct pr_ex_def *def = NULL;

    if (v->kind == EV_MODULE)
        return pr_ex_find(&v->module->table, attr->name, attr->len);
    for (size_t i = 0; !def && i < sizeof methods / sizeof *methods; i++)
        if (methods[i].kind == v->kind)
            def = pr_ex_find(methods[i].table, attr->name, attr->len);
    return def;
}

/* x.__str__() and x.__len__(), of anything. */
static const char *dunder(const struct pr_ex_node *attr)
{
    if (pr_ex_name_is(attr->name, attr->len, "__str__"))
        return "str";
    if (pr_ex_name_is(attr->name, attr->len, "__len__"))
        return "len";
    return NULL;
}

static bool module_refuses(struct pr_ex *x, const struct pr_ev *v,
                           const struct pr_ex_node *attr)
{
    for (const char *const *r = v->module->refused; r && *r; r++)
        if (pr_ex_name_is(attr->name, attr->len, *r)) {
            pr_ex_record(x, "'%s.%s' is not supported: %s", v->module->name, *r,
                         v->module->refusal);
            return true;
        }
    return false;
}

static bool no_attr(struct pr_ex *x, const struct pr_ev *v,
                    const struct pr_ex_node *attr)
{
    const struct pr_ex_table *tables[4];
    size_t n = 0;

    if (attr->len > 1 && attr->name[0] == '_')
        return pr_ex_fail(x, "attribute '%.*s' is not allowed",
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
    return pr_ex_unknown(
        x, v->kind == EV_MODULE ? v->module->name : pr_ev_name(v), attr->name,
        attr->len, tables, v->kind == EV_MODULE ? v->module->attrs : NULL);
}

static bool uuid_hex(struct pr_ex *x, const struct pr_ev *v, struct pr_ev *ret)
{
    struct pr_ev text;
    char *hex = pr_ex_alloc(x, 32);
    uint32_t n = 0;

    if (!hex || !pr_ex_to_str(x, v, &text))
        return false;
    for (uint32_t i = 0; i < text.len; i++)
        if (text.s[i] != '-')
            hex[n++] = text.s[i];
    *ret = pr_ev_of_str(hex, n);
    return true;
}

/* An attribute that is not called. */
static bool attribute(struct pr_ex *x, const struct pr_ev *v,
                      const struct pr_ex_node *attr, struct pr_ev *ret)
{
    const struct pr_ex_def *def;
    bool found = false;

    if (v->kind == EV_MODULE && v->module->attr) {
        if (!v->module->attr(x, attr->name, attr->len, ret, &found))
            return false;
        if (found)
            return true;
    }
    if (v->kind == EV_UUID && pr_ex_name_is(attr->name, attr->len, "hex"))
        return uuid_hex(x, v, ret);
    def = find_method(v, attr);
    if (def && v->kind == EV_MODULE) {
        *ret = (struct pr_ev){.kind = EV_FUNC, .func = def};
        return true;
    }
    if (def || dunder(attr))
        return pr_ex_fail(x, "'%.*s' is a method: call it with ()",
                          (int)attr->len, attr->name);
    return no_attr(x, v, attr);
}

static bool collect(struct pr_ex *x, const struct pr_ex_node *call,
                    struct pr_ex_vec *args, struct pr_ex_kw *kw)
{
    for (const struct pr_ex_node *n = call->a; n; n = n->next) {
        struct pr_ev v;

        if (n->kind == EN_KWARG) {
            kw->name = n->name;
            kw->len = n->len;
            if (!pr_ex_eval(x, n->b, &kw->value))
                return false;
            kw++;
        } else if (n->kind == EN_STAR) {
            if (!pr_ex_eval(x, n->a, &v) || !pr_ex_push_all(args, &v))
                return false;
        } else if (!pr_ex_eval(x, n, &v) || !pr_ex_push(args, &v)) {
            return false;
        }
    }
    return true;
}

static bool call(struct pr_ex *x, const struct pr_ex_def *def,
                 const struct pr_ev *self, const struct pr_ex_node *n,
                 struct pr_ev *ret)
{
    struct pr_ev few[4];
    struct pr_ex_vec args = {.x = x, .items = few, .cap = 4};
    struct pr_ex_kw *kw = NULL;
    uint32_t nkw = 0;

    for (const struct pr_ex_node *i = n->a; i; i = i->next)
        nkw += i->kind == EN_KWARG;
    if (nkw && !(kw = pr_ex_alloc(x, nkw * sizeof *kw)))
        return false;
    return collect(x, n, &args, kw) &&
           pr_ex_call_def(x, def, self, &args, kw, nkw, ret);
}

static bool call_method(struct pr_ex *x, const struct pr_ev *v,
                        const struct pr_ex_node *attr, struct pr_ev *ret)
{
    const struct pr_ex_def *def = find_method(v, attr);
    const char *builtin = dunder(attr);
    struct pr_ev self = *v, callee;

    if (def)
        return call(x, def, &self, attr->next, ret);
    if (builtin && v->kind != EV_MODULE) {
        struct pr_ex_vec args = {.x = x, .items = &self, .len = 1, .cap = 1};
        if (attr->next->a)
            return pr_ex_fail(x, "'%.*s' wants no argument", (int)attr->len,
                              attr->name);
        return pr_ex_call_def(
            x, pr_ex_find(&pr_ex_builtins, builtin, strlen(builtin)), NULL,
            &args, NULL, 0, ret);
    }
    if (!attribute(x, v, attr, &callee))
        return false;
    return pr_ex_fail(x, "%s cannot be called", pr_ev_name(&callee));
}

static bool slice(struct pr_ex *x, const struct pr_ev *v,
                  const struct pr_ex_node *n, struct pr_ev *ret)
{
    const struct pr_ex_node *parts[3] = {n->a, n->b, n->c};
    struct pr_ev at[3];

    for (int i = 0; i < 3; i++) {
        at[i].kind = EV_MISSING;
        if (parts[i] && !pr_ex_eval(x, parts[i], &at[i]))
            return false;
        if (at[i].kind == EV_NONE)
            at[i].kind = EV_MISSING;
    }
    return pr_ex_slice(x, v, at, ret);
}

static bool trailer(struct pr_ex *x, const struct pr_ex_node *n,
                    const struct pr_ev *v, struct pr_ev *ret)
{
    struct pr_ev at;

    if (n->kind == EN_ATTR)
        return attribute(x, v, n, ret);
    if (n->kind == EN_INDEX)
        return pr_ex_eval(x, n->a, &at) && pr_ex_index(x, v, &at, ret);
    if (n->kind == EN_SLICE)
        return slice(x, v, n, ret);
    if (v->kind != EV_FUNC)
        return pr_ex_fail(x, "%s cannot be called", pr_ev_name(v));
    return call(x, v->func, NULL, n, ret);
}

bool pr_ex_eval_postfix(struct pr_ex *x, const struct pr_ex_node *n,
                        struct pr_ev *ret)
{
    struct pr_ev v;

    n = n->a;
    if (!pr_ex_eval(x, n, &v))
        return false;
    for (n = n->next; n; n = n->next) {
        struct pr_ev next;
        bool method = n->kind == EN_ATTR && n->next && n->next->kind == EN_CALL;

        if (--x->steps < 0)
            return pr_ex_fail(x, "the expression takes more than %d steps",
                              PR_EX_STEPS);
        if (!(method ? call_method(x, &v, n, &next) : trailer(x, n, &v, &next)))
            return false;
        if (method)
            n = n->next;
        v = next;
    }
    *ret = v;
    return true;
}
