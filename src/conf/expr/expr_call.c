/* Finding functions and methods, matching arguments, suggesting names. */
#include "conf/expr/expr_call.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool pr_expr_is_name(const char *name, size_t len, const char *want)
{
    return strncmp(name, want, len) == 0 && want[len] == '\0';
}

const struct pr_expr_def *pr_expr_find_def(const struct pr_expr_table *t,
                                           const char *name, size_t len)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *want = t->defs[i].name;
        if (want[0] == name[0] && pr_expr_is_name(name, len, want))
            return &t->defs[i];
    }
    return NULL;
}

static void expr_hint_nearest(struct pr_expr *x, const char *typed,
                              const struct pr_expr_table *const *tables,
                              const char *const *more)
{
    struct pr_nearest n;

    pr_nearest_init(&n, typed);
    for (; *tables; tables++)
        for (size_t i = 0; i < (*tables)->n; i++)
            pr_nearest_offer(&n, (*tables)->defs[i].name);
    for (; more && *more; more++)
        pr_nearest_offer(&n, *more);
    if (n.best && x->err)
        pr_hint(x->err, "did you mean '%s'?", n.best);
}

bool pr_expr_fail_unknown(struct pr_expr *x, const char *what, const char *name,
                          size_t len, const struct pr_expr_table *const *tables,
                          const char *const *more)
{
    char typed[61];

    snprintf(typed, sizeof typed, "%.*s", len < 60 ? (int)len : 60, name);
    if (what)
        pr_expr_record_error(x, "%s has no '%s'", what, typed);
    else
        pr_expr_record_error(x, "name '%s' is not defined", typed);
    expr_hint_nearest(x, typed, tables, more);
    return false;
}

/* Which parameter a keyword names, or -1. */
static int param_index(const char *params, const struct pr_expr_keyword *kw)
{
    int i = 0;

    while (params && *params) {
        size_t n = strcspn(params, ",");
        if (n == kw->len && memcmp(params, kw->name, n) == 0)
            return i;
        params += n + (params[n] == ',');
        i++;
    }
    return -1;
}

static bool place_keywords(struct pr_expr *x, const struct pr_expr_def *def,
                           const struct pr_expr_keyword *kw, uint32_t nkw,
                           struct pr_expr_value *slots)
{
    for (uint32_t i = 0; i < nkw; i++) {
        int at = param_index(def->params, &kw[i]);
        int shown = kw[i].len < 60 ? (int)kw[i].len : 60;

        if (at < 0)
            return pr_expr_fail(x, "'%s' has no argument named '%.*s'",
                                def->name, shown, kw[i].name);
        if (slots[at].kind != EV_MISSING)
            return pr_expr_fail(x, "'%s' is given '%.*s' twice", def->name,
                                shown, kw[i].name);
        slots[at] = kw[i].value;
    }
    return true;
}

static bool wrong_count(struct pr_expr *x, const struct pr_expr_def *def,
                        uint32_t given)
{
    if (def->max == PR_EXPR_MANY)
        return pr_expr_fail(x, "'%s' wants at least %u argument%s, got %u",
                            def->name, def->min, def->min == 1 ? "" : "s",
                            given);
    if (def->min == def->max)
        return pr_expr_fail(x, "'%s' wants %u argument%s, got %u", def->name,
                            def->min, def->min == 1 ? "" : "s", given);
    return pr_expr_fail(x, "'%s' wants %u to %u arguments, got %u", def->name,
                        def->min, def->max, given);
}

enum { SLOTS = 8 }; /* no function with a maximum has more parameters */

bool pr_expr_call_def(struct pr_expr *x, const struct pr_expr_def *def,
                      const struct pr_expr_value *self,
                      const struct pr_expr_vec *args,
                      const struct pr_expr_keyword *kw, uint32_t nkw,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value slots[SLOTS];
    struct pr_expr_call c = {
        .def = def, .self = self, .a = args->items, .n = args->len};

    /* Most methods of text look at all of it. */
    if (self && self->kind == EV_STR && !pr_expr_charge_work(x, self->len))
        return false;
    if (def->max == PR_EXPR_MANY) {
        c.kw = kw;
        c.nkw = nkw;
        return c.n < def->min ? wrong_count(x, def, c.n) : def->fn(x, &c, ret);
    }
    if (c.n > def->max)
        return wrong_count(x, def, c.n);
    for (uint32_t i = 0; i < def->max; i++)
        if (i < c.n)
            slots[i] = args->items[i];
        else
            slots[i].kind = EV_MISSING;
    if (nkw && !place_keywords(x, def, kw, nkw, slots))
        return false;
    for (uint32_t i = 0; i < def->min; i++)
        if (slots[i].kind == EV_MISSING)
            return wrong_count(x, def, c.n);
    c.a = slots;
    return def->fn(x, &c, ret);
}

bool pr_expr_call_one(struct pr_expr *x, const struct pr_expr_value *func,
                      const struct pr_expr_value *arg,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value copy = *arg;
    struct pr_expr_vec args = {.x = x, .items = &copy, .len = 1, .cap = 1};

    if (func->kind != EV_FUNC)
        return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(func));
    if (--x->steps < 0)
        return pr_expr_fail(x, "the expression takes more than %d steps",
                            PR_EXPR_STEPS);
    return pr_expr_call_def(x, func->func, NULL, &args, NULL, 0, ret);
}

static bool expr_fail_wants(struct pr_expr *x, const struct pr_expr_call *c,
                            uint32_t i, const char *what)
{
    return pr_expr_fail(x, "'%s' wants %s, got %s", c->def->name, what,
                        pr_expr_value_name(&c->a[i]));
}

bool pr_expr_want_str(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i)
{
    return c->a[i].kind == EV_STR || expr_fail_wants(x, c, i, "text");
}

bool pr_expr_want_int(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i)
{
    return pr_expr_is_int(&c->a[i]) ||
           expr_fail_wants(x, c, i, "a whole number");
}

bool pr_expr_want_number(struct pr_expr *x, const struct pr_expr_call *c,
                         uint32_t i)
{
    return pr_expr_is_number(&c->a[i]) || expr_fail_wants(x, c, i, "a number");
}
