/* Comprehensions: [x for x in L if c], and the same in other brackets. */
#include "conf/expr/expr_tree.h"

#include <string.h>

static bool eval_clauses(struct pr_expr *x, const struct pr_expr_node *c,
                         const struct pr_expr_node *item,
                         struct pr_expr_vec *out);

static bool eval_comp_item(struct pr_expr *x, const struct pr_expr_node *item,
                           struct pr_expr_vec *out)
{
    struct pr_expr_value v;

    return pr_expr_eval_node(x, item, &v) && pr_expr_push(out, &v);
}

/* Binds the names to the parts of value, one scope each, and goes on. */
static bool eval_bind_names(struct pr_expr *x, const struct pr_expr_node *names,
                            const struct pr_expr_value *parts,
                            const struct pr_expr_node *next,
                            const struct pr_expr_node *item,
                            struct pr_expr_vec *out)
{
    const struct pr_expr_scope *outer = x->scope;
    struct pr_expr_scope scopes[8];
    unsigned n = 0;
    bool ok;

    for (; names; names = names->next, n++) {
        scopes[n].name = names->name;
        scopes[n].len = names->len;
        scopes[n].value = parts[n];
        scopes[n].up = x->scope;
        x->scope = &scopes[n];
    }
    ok = eval_clauses(x, next, item, out);
    x->scope = outer;
    return ok;
}

static uint32_t count_comp_names(const struct pr_expr_node *names)
{
    uint32_t n = 0;

    for (; names; names = names->next)
        n++;
    return n;
}

static bool eval_for_clause(struct pr_expr *x, const struct pr_expr_node *c,
                            const struct pr_expr_node *item,
                            struct pr_expr_vec *out)
{
    uint32_t names = count_comp_names(c->a);
    struct pr_expr_value over, items;

    if (names > 8)
        return pr_expr_fail(x, "more than 8 names after 'for'");
    if (!pr_expr_eval_node(x, c->b, &over) ||
        !pr_expr_list_items(x, &over, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        struct pr_expr_value parts = items.items[i];

        if (--x->steps < 0)
            return pr_expr_fail(x, "the expression takes more than %d steps",
                                PR_EXPR_STEPS);
        if (c->sub && !pr_expr_list_items(x, &items.items[i], &parts))
            return false;
        if (c->sub && parts.len != names)
            return pr_expr_fail(x, "cannot unpack %u values into %u names",
                                parts.len, names);
        if (!eval_bind_names(x, c->a, c->sub ? parts.items : &parts, c->next,
                             item, out))
            return false;
    }
    return true;
}

static bool eval_clauses(struct pr_expr *x, const struct pr_expr_node *c,
                         const struct pr_expr_node *item,
                         struct pr_expr_vec *out)
{
    struct pr_expr_value v;

    for (; c && c->kind == EN_FILTER; c = c->next) {
        if (!pr_expr_eval_node(x, c->a, &v))
            return false;
        if (!pr_expr_is_true(&v))
            return true;
    }
    return c ? eval_for_clause(x, c, item, out) : eval_comp_item(x, item, out);
}

bool pr_expr_eval_comp(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x}, set = {.x = x};

    if (!eval_clauses(x, n->b, n->a, &v))
        return false;
    if (n->sub == EV_SET) {
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_expr_set_add(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_expr_vec_value(&v, n->sub);
    return true;
}
