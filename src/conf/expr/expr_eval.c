/* Evaluates the tree. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

static const struct pr_ex_module *const modules[] = {
    &pr_ex_module_os,   &pr_ex_module_sys,  &pr_ex_module_re,
    &pr_ex_module_uuid, &pr_ex_module_json, &pr_ex_module_math,
};

static bool find_name(struct pr_ex *x, const char *name, size_t len,
                      struct pr_ev *ret)
{
    const struct pr_ex_def *def;

    for (const struct pr_ex_scope *s = x->scope; s; s = s->up)
        if (s->len == len && memcmp(s->name, name, len) == 0) {
            *ret = s->value;
            return true;
        }
    def = pr_ex_find(&pr_ex_builtins, name, len);
    if (!def)
        def = pr_ex_find(&pr_ex_builtins_more, name, len);
    if (def) {
        *ret = (struct pr_ev){.kind = EV_FUNC, .func = def};
        return true;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (pr_ex_name_is(name, len, modules[i]->name)) {
            *ret = (struct pr_ev){.kind = EV_MODULE, .module = modules[i]};
            return true;
        }
    return false;
}

static bool eval_name(struct pr_ex *x, const struct pr_ex_node *n,
                      struct pr_ev *ret)
{
    static const char *const more[] = {"os",   "sys",  "re",    "uuid", "json",
                                       "math", "True", "False", "None", NULL};
    static const char *const refused[] = {
        "open",    "eval",   "exec",    "__import__", "compile", "input",
        "globals", "locals", "vars",    "getattr",    "setattr", "print",
        "type",    "dir",    "logging", "exit",       "quit"};

    static const struct pr_ex_table *const tables[] = {
        &pr_ex_builtins, &pr_ex_builtins_more, NULL};

    if (find_name(x, n->name, n->len, ret))
        return true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (pr_ex_name_is(n->name, n->len, refused[i]))
            return pr_ex_fail(x, "'%s' is not supported in an expression",
                              refused[i]);
    return pr_ex_unknown(x, NULL, n->name, n->len, tables, more);
}

static bool eval_chain(struct pr_ex *x, const struct pr_ex_node *n,
                       struct pr_ev *ret)
{
    struct pr_ev right;

    n = n->a;
    if (!pr_ex_eval(x, n, ret))
        return false;
    for (n = n->next; n; n = n->next)
        if (!pr_ex_eval(x, n, &right) ||
            !pr_ex_binary(x, n->op, ret, &right, ret))
            return false;
    return true;
}

static bool eval_compare(struct pr_ex *x, const struct pr_ex_node *n,
                         struct pr_ev *ret)
{
    struct pr_ev left, right;
    bool holds = true;

    n = n->a;
    if (!pr_ex_eval(x, n, &left))
        return false;
    for (n = n->next; n && holds; n = n->next) {
        if (!pr_ex_eval(x, n, &right) ||
            !pr_ex_compare(x, n->op, &left, &right, &holds))
            return false;
        left = right;
    }
    *ret = pr_ev_of_bool(holds);
    return true;
}

/* The value of the operand that decides. */
static bool eval_and_or(struct pr_ex *x, const struct pr_ex_node *n,
                        struct pr_ev *ret)
{
    bool stop_at = n->kind == EN_OR;

    for (n = n->a; n; n = n->next) {
        if (!pr_ex_eval(x, n, ret))
            return false;
        if (pr_ev_true(ret) == stop_at)
            break;
    }
    return true;
}

static bool eval_items(struct pr_ex *x, const struct pr_ex_node *n,
                       struct pr_ev *ret)
{
    struct pr_ex_vec v = {.x = x};
    struct pr_ev item;
    int kind = n->kind == EN_LIST    ? EV_LIST
               : n->kind == EN_TUPLE ? EV_TUPLE
                                     : EV_SET;

    for (const struct pr_ex_node *i = n->a; i; i = i->next) {
        bool star = i->kind == EN_STAR;

        if (!pr_ex_eval(x, star ? i->a : i, &item))
            return false;
        if (star ? !pr_ex_push_all(&v, &item) : !pr_ex_push(&v, &item))
            return false;
    }
    if (kind == EV_SET) {
        struct pr_ex_vec set = {.x = x};
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_ex_set_put(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_ex_vec_value(&v, kind);
    return true;
}

static bool eval_dict(struct pr_ex *x, const struct pr_ex_node *n,
                      struct pr_ev *ret)
{
    struct pr_ex_vec v = {.x = x};

    for (const struct pr_ex_node *k = n->a; k; k = k->next->next) {
        struct pr_ev key, value;

        if (!pr_ex_eval(x, k, &key) || !pr_ex_eval(x, k->next, &value) ||
            !pr_ex_dict_put(&v, &key, &value))
            return false;
    }
    *ret = pr_ex_vec_value(&v, EV_DICT);
    ret->len /= 2;
    return true;
}

static bool eval_other(struct pr_ex *x, const struct pr_ex_node *n,
                       struct pr_ev *ret)
{
    struct pr_ev a, b;

    switch (n->kind) {
    case EN_NOT:
        if (!pr_ex_eval(x, n->a, &a))
            return false;
        *ret = pr_ev_of_bool(!pr_ev_true(&a));
        return true;
    case EN_UNARY:
        return pr_ex_eval(x, n->a, &a) && pr_ex_unary(x, n->sub, &a, ret);
    case EN_POWER:
        return pr_ex_eval(x, n->a, &a) && pr_ex_eval(x, n->b, &b) &&
               pr_ex_power(x, &a, &b, ret);
    case EN_LIST:
    case EN_TUPLE:
    case EN_SET:
        return eval_items(x, n, ret);
    case EN_DICT:
        return eval_dict(x, n, ret);
    case EN_COMP:
        return pr_ex_eval_comp(x, n, ret);
    default:
        return pr_ex_fail(x, "invalid syntax: '*' is out of place");
    }
}

bool pr_ex_eval(struct pr_ex *x, const struct pr_ex_node *n, struct pr_ev *ret)
{
    struct pr_ev condition;

    if (--x->steps < 0)
        return pr_ex_fail(x, "the expression takes more than %d steps",
                          PR_EX_STEPS);
    while (n->kind == EN_IF) {
        if (!pr_ex_eval(x, n->a, &condition))
            return false;
        n = pr_ev_true(&condition) ? n->b : n->c;
    }
    switch (n->kind) {
    case EN_CONST:
        *ret = n->value;
        return true;
    case EN_NAME:
        return eval_name(x, n, ret);
    case EN_CHAIN:
        return eval_chain(x, n, ret);
    case EN_COMPARE:
        return eval_compare(x, n, ret);
    case EN_AND:
    case EN_OR:
        return eval_and_or(x, n, ret);
    case EN_POSTFIX:
        return pr_ex_eval_postfix(x, n, ret);
    default:
        return eval_other(x, n, ret);
    }
}
