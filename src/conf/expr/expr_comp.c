/* Comprehensions: [x for x in L if c], and the same in other brackets. */
#include "conf/expr/expr_tree.h"

#include <string.h>

static bool clause(struct pr_ex *x, const struct pr_ex_node *c,
                   const struct pr_ex_node *item, struct pr_ex_vec *out);

static bool produce(struct pr_ex *x, const struct pr_ex_node *item,
                    struct pr_ex_vec *out)
{
    struct pr_ev v;

    return pr_ex_eval(x, item, &v) && pr_ex_push(out, &v);
}

/* Binds the names to the parts of value, one scope each, and goes on. */
static bool bind(struct pr_ex *x, const struct pr_ex_node *names,
                 const struct pr_ev *parts, const struct pr_ex_node *next,
                 const struct pr_ex_node *item, struct pr_ex_vec *out)
{
    const struct pr_ex_scope *outer = x->scope;
    struct pr_ex_scope scopes[8];
    unsigned n = 0;
    bool ok;

    for (; names; names = names->next, n++) {
        scopes[n].name = names->name;
        scopes[n].len = names->len;
        scopes[n].value = parts[n];
        scopes[n].up = x->scope;
        x->scope = &scopes[n];
    }
    ok = clause(x, next, item, out);
    x->scope = outer;
    return ok;
}

static uint32_t count(const struct pr_ex_node *names)
{
    uint32_t n = 0;

    for (; names; names = names->next)
        n++;
    return n;
}

static bool loop(struct pr_ex *x, const struct pr_ex_node *c,
                 const struct pr_ex_node *item, struct pr_ex_vec *out)
{
    uint32_t names = count(c->a);
    struct pr_ev over, items;

    if (names > 8)
        return pr_ex_fail(x, "more than 8 names after 'for'");
    if (!pr_ex_eval(x, c->b, &over) || !pr_ex_items(x, &over, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        struct pr_ev parts = items.items[i];

        if (--x->steps < 0)
            return pr_ex_fail(x, "the expression takes more than %d steps",
                              PR_EX_STEPS);
        if (c->sub && !pr_ex_items(x, &items.items[i], &parts))
            return false;
        if (c->sub && parts.len != names)
            return pr_ex_fail(x, "cannot unpack %u values into %u names",
                              parts.len, names);
        if (!bind(x, c->a, c->sub ? parts.items : &parts, c->next, item, out))
            return false;
    }
    return true;
}

static bool clause(struct pr_ex *x, const struct pr_ex_node *c,
                   const struct pr_ex_node *item, struct pr_ex_vec *out)
{
    struct pr_ev v;

    for (; c && c->kind == EN_FILTER; c = c->next) {
        if (!pr_ex_eval(x, c->a, &v))
            return false;
        if (!pr_ev_true(&v))
            return true;
    }
    return c ? loop(x, c, item, out) : produce(x, item, out);
}

bool pr_ex_eval_comp(struct pr_ex *x, const struct pr_ex_node *n,
                     struct pr_ev *ret)
{
    struct pr_ex_vec v = {.x = x}, set = {.x = x};

    if (!clause(x, n->b, n->a, &v))
        return false;
    if (n->sub == EV_SET) {
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_ex_set_put(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_ex_vec_value(&v, n->sub);
    return true;
}
