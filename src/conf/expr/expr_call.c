/* Finding functions and methods, matching arguments, suggesting names. */
#include "conf/expr/expr_call.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

bool pr_ex_name_is(const char *name, size_t len, const char *want)
{
    return strncmp(name, want, len) == 0 && want[len] == '\0';
}

const struct pr_ex_def *pr_ex_find(const struct pr_ex_table *t,
                                   const char *name, size_t len)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *want = t->defs[i].name;
        if (want[0] == name[0] && pr_ex_name_is(name, len, want))
            return &t->defs[i];
    }
    return NULL;
}

static void suggest(struct pr_ex *x, const char *typed,
                    const struct pr_ex_table *const *tables,
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

bool pr_ex_unknown(struct pr_ex *x, const char *what, const char *name,
                   size_t len, const struct pr_ex_table *const *tables,
                   const char *const *more)
{
    char typed[61];

    snprintf(typed, sizeof typed, "%.*s", len < 60 ? (int)len : 60, name);
    if (what)
        pr_ex_record(x, "%s has no '%s'", what, typed);
    else
        pr_ex_record(x, "name '%s' is not defined", typed);
    suggest(x, typed, tables, more);
    return false;
}

/* Which parameter a keyword names, or -1. */
static int param_index(const char *params, const struct pr_ex_kw *kw)
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

static bool place_keywords(struct pr_ex *x, const struct pr_ex_def *def,
                           const struct pr_ex_kw *kw, uint32_t nkw,
                           struct pr_ev *slots)
{
    for (uint32_t i = 0; i < nkw; i++) {
        int at = param_index(def->params, &kw[i]);
        int shown = kw[i].len < 60 ? (int)kw[i].len : 60;

        if (at < 0)
            return pr_ex_fail(x, "'%s' has no argument named '%.*s'", def->name,
                              shown, kw[i].name);
        if (slots[at].kind != EV_MISSING)
            return pr_ex_fail(x, "'%s' is given '%.*s' twice", def->name, shown,
                              kw[i].name);
        slots[at] = kw[i].value;
    }
    return true;
}

static bool wrong_count(struct pr_ex *x, const struct pr_ex_def *def,
                        uint32_t given)
{
    if (def->max == PR_EX_MANY)
        return pr_ex_fail(x, "'%s' wants at least %u argument%s, got %u",
                          def->name, def->min, def->min == 1 ? "" : "s", given);
    if (def->min == def->max)
        return pr_ex_fail(x, "'%s' wants %u argument%s, got %u", def->name,
                          def->min, def->min == 1 ? "" : "s", given);
    return pr_ex_fail(x, "'%s' wants %u to %u arguments, got %u", def->name,
                      def->min, def->max, given);
}

enum { SLOTS = 8 }; /* no function with a maximum has more parameters */

bool pr_ex_call_def(struct pr_ex *x, const struct pr_ex_def *def,
                    const struct pr_ev *self, const struct pr_ex_vec *args,
                    const struct pr_ex_kw *kw, uint32_t nkw, struct pr_ev *ret)
{
    struct pr_ev slots[SLOTS];
    struct pr_ex_call c = {
        .def = def, .self = self, .a = args->items, .n = args->len};

    /* Most methods of text look at all of it. */
    if (self && self->kind == EV_STR && !pr_ex_work(x, self->len))
        return false;
    if (def->max == PR_EX_MANY) {
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

bool pr_ex_call_one(struct pr_ex *x, const struct pr_ev *func,
                    const struct pr_ev *arg, struct pr_ev *ret)
{
    struct pr_ev copy = *arg;
    struct pr_ex_vec args = {.x = x, .items = &copy, .len = 1, .cap = 1};

    if (func->kind != EV_FUNC)
        return pr_ex_fail(x, "%s cannot be called", pr_ev_name(func));
    if (--x->steps < 0)
        return pr_ex_fail(x, "the expression takes more than %d steps",
                          PR_EX_STEPS);
    return pr_ex_call_def(x, func->func, NULL, &args, NULL, 0, ret);
}

static bool wants(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i,
                  const char *what)
{
    return pr_ex_fail(x, "'%s' wants %s, got %s", c->def->name, what,
                      pr_ev_name(&c->a[i]));
}

bool pr_ex_want_str(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i)
{
    return c->a[i].kind == EV_STR || wants(x, c, i, "text");
}

bool pr_ex_want_int(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i)
{
    return pr_ev_is_int(&c->a[i]) || wants(x, c, i, "a whole number");
}

bool pr_ex_want_number(struct pr_ex *x, const struct pr_ex_call *c, uint32_t i)
{
    return pr_ev_is_number(&c->a[i]) || wants(x, c, i, "a number");
}
