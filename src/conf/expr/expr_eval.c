/* Evaluates the tree. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

static const struct pr_expr_module *const modules[] = {
    &pr_expr_module_os,   &pr_expr_module_sys,  &pr_expr_module_re,
    &pr_expr_module_uuid, &pr_expr_module_json, &pr_expr_module_math,
};

static bool find_name(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_def *def;

    for (const struct pr_expr_scope *s = x->scope; s; s = s->up)
        if (s->len == len && memcmp(s->name, name, len) == 0) {
            *ret = s->value;
            return true;
        }
    def = pr_expr_find_def(&pr_expr_builtins, name, len);
    if (!def)
        def = pr_expr_find_def(&pr_expr_builtins_more, name, len);
    if (def) {
        *ret = (struct pr_expr_value){.kind = EV_FUNC, .func = def};
        return true;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (pr_expr_is_name(name, len, modules[i]->name)) {
            *ret =
                (struct pr_expr_value){.kind = EV_MODULE, .module = modules[i]};
            return true;
        }
    return false;
}

static bool eval_name(struct pr_expr *x, const struct pr_expr_node *n,
                      struct pr_expr_value *ret)
{
    static const char *const more[] = {"os",   "sys",  "re",    "uuid", "json",
                                       "math", "True", "False", "None", NULL};
    static const char *const refused[] = {
        "open",    "eval",   "exec",    "__import__", "compile", "input",
        "globals", "locals", "vars",    "getattr",    "setattr", "print",
        "type",    "dir",    "logging", "exit",       "quit"};

    static const struct pr_expr_table *const tables[] = {
        &pr_expr_builtins, &pr_expr_builtins_more, NULL};

    if (find_name(x, n->name, n->len, ret))
        return true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (pr_expr_is_name(n->name, n->len, refused[i]))
            return pr_expr_fail(x, "'%s' is not supported in an expression",
                                refused[i]);
    return pr_expr_fail_unknown(x, NULL, n->name, n->len, tables, more);
}

static bool eval_chain(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value right;

    n = n->a;
    if (!pr_expr_eval_node(x, n, ret))
        return false;
    for (n = n->next; n; n = n->next)
        if (!pr_expr_eval_node(x, n, &right) ||
            !pr_expr_eval_binary(x, n->op, ret, &right, ret))
            return false;
    return true;
}

static bool eval_compare(struct pr_expr *x, const struct pr_expr_node *n,
                         struct pr_expr_value *ret)
{
    struct pr_expr_value left, right;
    bool holds = true;

    n = n->a;
    if (!pr_expr_eval_node(x, n, &left))
        return false;
    for (n = n->next; n && holds; n = n->next) {
        if (!pr_expr_eval_node(x, n, &right) ||
            !pr_expr_compare(x, n->op, &left, &right, &holds))
            return false;
        left = right;
    }
    *ret = pr_expr_new_bool(holds);
    return true;
}

/* The value of the operand that decides. */
static bool eval_and_or(struct pr_expr *x, const struct pr_expr_node *n,
                        struct pr_expr_value *ret)
{
    bool stop_at = n->kind == EN_OR;

    for (n = n->a; n; n = n->next) {
        if (!pr_expr_eval_node(x, n, ret))
            return false;
        if (pr_expr_is_true(ret) == stop_at)
            break;
    }
    return true;
}

static bool eval_items(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x};
    struct pr_expr_value item;
    int kind = n->kind == EN_LIST    ? EV_LIST
               : n->kind == EN_TUPLE ? EV_TUPLE
                                     : EV_SET;

    for (const struct pr_expr_node *i = n->a; i; i = i->next) {
        bool star = i->kind == EN_STAR;

        if (!pr_expr_eval_node(x, star ? i->a : i, &item))
            return false;
        if (star ? !pr_expr_push_all(&v, &item) : !pr_expr_push(&v, &item))
            return false;
    }
    if (kind == EV_SET) {
        struct pr_expr_vec set = {.x = x};
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_expr_set_add(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_expr_vec_value(&v, kind);
    return true;
}

static bool eval_dict(struct pr_expr *x, const struct pr_expr_node *n,
                      struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x};

    for (const struct pr_expr_node *k = n->a; k; k = k->next->next) {
        struct pr_expr_value key, value;

        if (!pr_expr_eval_node(x, k, &key) ||
            !pr_expr_eval_node(x, k->next, &value) ||
            !pr_expr_dict_set(&v, &key, &value))
            return false;
    }
    *ret = pr_expr_vec_value(&v, EV_DICT);
    ret->len /= 2;
    return true;
}

static bool eval_other(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value a, b;

    switch (n->kind) {
    case EN_NOT:
        if (!pr_expr_eval_node(x, n->a, &a))
            return false;
        *ret = pr_expr_new_bool(!pr_expr_is_true(&a));
        return true;
    case EN_UNARY:
        return pr_expr_eval_node(x, n->a, &a) &&
               pr_expr_eval_unary(x, n->sub, &a, ret);
    case EN_POWER:
        return pr_expr_eval_node(x, n->a, &a) &&
               pr_expr_eval_node(x, n->b, &b) &&
               pr_expr_eval_power(x, &a, &b, ret);
    case EN_LIST:
    case EN_TUPLE:
    case EN_SET:
        return eval_items(x, n, ret);
    case EN_DICT:
        return eval_dict(x, n, ret);
    case EN_COMP:
        return pr_expr_eval_comp(x, n, ret);
    default:
        return pr_expr_fail(x, "invalid syntax: '*' is out of place");
    }
}

bool pr_expr_eval_node(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value condition;

    if (--x->steps < 0)
        return pr_expr_fail(x, "the expression takes more than %d steps",
                            PR_EXPR_STEPS);
    while (n->kind == EN_IF) {
        if (!pr_expr_eval_node(x, n->a, &condition))
            return false;
        n = pr_expr_is_true(&condition) ? n->b : n->c;
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
        return pr_expr_eval_postfix(x, n, ret);
    default:
        return eval_other(x, n, ret);
    }
}
