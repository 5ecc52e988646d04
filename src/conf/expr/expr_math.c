/* The module math: what benchmark configs compute with. */
#include "conf/expr/expr_call.h"

#include <math.h>
#include <string.h>

/* ceil, floor, trunc: to a whole number. */
static bool math_round(struct pr_ex *x, const struct pr_ex_call *c,
                       struct pr_ev *ret)
{
    const struct pr_ev *v = &c->a[0];
    char how = c->def->name[0];

    if (!pr_ex_want_number(x, c, 0))
        return false;
    if (v->kind != EV_FLOAT) {
        *ret = pr_ev_of_int(pr_ev_int(v));
        return true;
    }
    return pr_ex_float_to_int(x,
                              how == 'c'   ? ceil(v->f)
                              : how == 'f' ? floor(v->f)
                                           : trunc(v->f),
                              ret);
}

static bool domain(struct pr_ex *x, const struct pr_ex_call *c)
{
    return pr_ex_fail(x, "math.%s of this number does not exist", c->def->name);
}

static bool math_sqrt(struct pr_ex *x, const struct pr_ex_call *c,
                      struct pr_ev *ret)
{
    if (!pr_ex_want_number(x, c, 0))
        return false;
    if (pr_ev_float(&c->a[0]) < 0)
        return domain(x, c);
    *ret = pr_ev_of_float(sqrt(pr_ev_float(&c->a[0])));
    return true;
}

/* log (of any base), log2, log10. */
static bool math_log(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    bool based = c->def->max > 1 && c->a[1].kind != EV_MISSING;
    double f, base = 0;

    if (!pr_ex_want_number(x, c, 0) || (based && !pr_ex_want_number(x, c, 1)))
        return false;
    f = pr_ev_float(&c->a[0]);
    if (based)
        base = pr_ev_float(&c->a[1]);
    if (f <= 0 || (based && base <= 0))
        return domain(x, c);
    if (based && log(base) == 0)
        return pr_ex_fail(x, "division by zero");
    *ret = pr_ev_of_float(strcmp(c->def->name, "log2") == 0    ? log2(f)
                          : strcmp(c->def->name, "log10") == 0 ? log10(f)
                          : based ? log(f) / log(base)
                                  : log(f));
    return true;
}

static bool math_exp(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    double r;

    if (!pr_ex_want_number(x, c, 0))
        return false;
    r = exp(pr_ev_float(&c->a[0]));
    if (isinf(r) && !isinf(pr_ev_float(&c->a[0])))
        return pr_ex_fail(x, "the result of math.exp is too large");
    *ret = pr_ev_of_float(r);
    return true;
}

static bool math_pow(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    struct pr_ev a, b;

    if (!pr_ex_want_number(x, c, 0) || !pr_ex_want_number(x, c, 1))
        return false;
    a = pr_ev_of_float(pr_ev_float(&c->a[0]));
    b = pr_ev_of_float(pr_ev_float(&c->a[1]));
    return pr_ex_power(x, &a, &b, ret);
}

static bool math_fabs(struct pr_ex *x, const struct pr_ex_call *c,
                      struct pr_ev *ret)
{
    if (!pr_ex_want_number(x, c, 0))
        return false;
    *ret = pr_ev_of_float(fabs(pr_ev_float(&c->a[0])));
    return true;
}

/* isnan, isinf */
static bool math_is(struct pr_ex *x, const struct pr_ex_call *c,
                    struct pr_ev *ret)
{
    double f;

    if (!pr_ex_want_number(x, c, 0))
        return false;
    f = pr_ev_float(&c->a[0]);
    *ret = pr_ev_of_bool(c->def->name[2] == 'n' ? isnan(f) : isinf(f));
    return true;
}

static int64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return (int64_t)a;
}

static bool math_gcd(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    int64_t a, b;

    if (!pr_ex_want_int(x, c, 0) || !pr_ex_want_int(x, c, 1))
        return false;
    a = pr_ev_int(&c->a[0]);
    b = pr_ev_int(&c->a[1]);
    if (a == INT64_MIN || b == INT64_MIN)
        return pr_ex_too_big(x);
    *ret = pr_ev_of_int(
        gcd((uint64_t)(a < 0 ? -a : a), (uint64_t)(b < 0 ? -b : b)));
    return true;
}

static bool math_attr(struct pr_ex *x, const char *name, size_t len,
                      struct pr_ev *ret, bool *ret_found)
{
    (void)x;
    *ret_found = true;
    if (pr_ex_name_is(name, len, "pi"))
        *ret = pr_ev_of_float(3.141592653589793);
    else if (pr_ex_name_is(name, len, "e"))
        *ret = pr_ev_of_float(2.718281828459045);
    else if (pr_ex_name_is(name, len, "inf"))
        *ret = pr_ev_of_float(INFINITY);
    else if (pr_ex_name_is(name, len, "nan"))
        *ret = pr_ev_of_float(NAN);
    else
        *ret_found = false;
    return true;
}

static const struct pr_ex_def defs[] = {
    {"ceil", math_round, 1, 1, NULL},  {"floor", math_round, 1, 1, NULL},
    {"trunc", math_round, 1, 1, NULL}, {"sqrt", math_sqrt, 1, 1, NULL},
    {"log", math_log, 1, 2, NULL},     {"log2", math_log, 1, 1, NULL},
    {"log10", math_log, 1, 1, NULL},   {"exp", math_exp, 1, 1, NULL},
    {"pow", math_pow, 2, 2, NULL},     {"fabs", math_fabs, 1, 1, NULL},
    {"isnan", math_is, 1, 1, NULL},    {"isinf", math_is, 1, 1, NULL},
    {"gcd", math_gcd, 2, 2, NULL},
};
static const char *const attrs[] = {"pi", "e", "inf", "nan", NULL};
const struct pr_ex_module pr_ex_module_math = {
    .name = "math",
    .table = PR_EX_TABLE(defs),
    .attr = math_attr,
    .attrs = attrs,
};
