/* The module math: what benchmark configs compute with. */
#include "conf/expr/expr_call.h"

#include <math.h>
#include <string.h>

/* ceil, floor, trunc: to a whole number. */
static bool math_round(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];
    char how = c->def->name[0];

    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (v->kind != EV_FLOAT) {
        *ret = pr_expr_new_int(pr_expr_value_int(v));
        return true;
    }
    return pr_expr_float_to_int(x,
                                how == 'c'   ? ceil(v->f)
                                : how == 'f' ? floor(v->f)
                                             : trunc(v->f),
                                ret);
}

static bool math_fail_domain(struct pr_expr *x, const struct pr_expr_call *c)
{
    return pr_expr_fail(x, "math.%s of this number does not exist",
                        c->def->name);
}

static bool math_sqrt(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (pr_expr_value_float(&c->a[0]) < 0)
        return math_fail_domain(x, c);
    *ret = pr_expr_new_float(sqrt(pr_expr_value_float(&c->a[0])));
    return true;
}

/* log (of any base), log2, log10. */
static bool math_log(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    bool based = c->def->max > 1 && c->a[1].kind != EV_MISSING;
    double f, base = 0;

    if (!pr_expr_want_number(x, c, 0) ||
        (based && !pr_expr_want_number(x, c, 1)))
        return false;
    f = pr_expr_value_float(&c->a[0]);
    if (based)
        base = pr_expr_value_float(&c->a[1]);
    if (f <= 0 || (based && base <= 0))
        return math_fail_domain(x, c);
    if (based && log(base) == 0)
        return pr_expr_fail(x, "division by zero");
    *ret = pr_expr_new_float(strcmp(c->def->name, "log2") == 0    ? log2(f)
                             : strcmp(c->def->name, "log10") == 0 ? log10(f)
                             : based ? log(f) / log(base)
                                     : log(f));
    return true;
}

static bool math_exp(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    double r;

    if (!pr_expr_want_number(x, c, 0))
        return false;
    r = exp(pr_expr_value_float(&c->a[0]));
    if (isinf(r) && !isinf(pr_expr_value_float(&c->a[0])))
        return pr_expr_fail(x, "the result of math.exp is too large");
    *ret = pr_expr_new_float(r);
    return true;
}

static bool math_pow(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_value a, b;

    if (!pr_expr_want_number(x, c, 0) || !pr_expr_want_number(x, c, 1))
        return false;
    a = pr_expr_new_float(pr_expr_value_float(&c->a[0]));
    b = pr_expr_new_float(pr_expr_value_float(&c->a[1]));
    return pr_expr_eval_power(x, &a, &b, ret);
}

static bool math_fabs(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    if (!pr_expr_want_number(x, c, 0))
        return false;
    *ret = pr_expr_new_float(fabs(pr_expr_value_float(&c->a[0])));
    return true;
}

/* isnan, isinf */
static bool math_is(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    double f;

    if (!pr_expr_want_number(x, c, 0))
        return false;
    f = pr_expr_value_float(&c->a[0]);
    *ret = pr_expr_new_bool(c->def->name[2] == 'n' ? isnan(f) : isinf(f));
    return true;
}

static int64_t compute_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return (int64_t)a;
}

static bool math_gcd(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    int64_t a, b;

    if (!pr_expr_want_int(x, c, 0) || !pr_expr_want_int(x, c, 1))
        return false;
    a = pr_expr_value_int(&c->a[0]);
    b = pr_expr_value_int(&c->a[1]);
    if (a == INT64_MIN || b == INT64_MIN)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(
        compute_gcd((uint64_t)(a < 0 ? -a : a), (uint64_t)(b < 0 ? -b : b)));
    return true;
}

static bool math_attr(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = true;
    if (pr_expr_is_name(name, len, "pi"))
        *ret = pr_expr_new_float(3.141592653589793);
    else if (pr_expr_is_name(name, len, "e"))
        *ret = pr_expr_new_float(2.718281828459045);
    else if (pr_expr_is_name(name, len, "inf"))
        *ret = pr_expr_new_float(INFINITY);
    else if (pr_expr_is_name(name, len, "nan"))
        *ret = pr_expr_new_float(NAN);
    else
        *ret_found = false;
    return true;
}

static const struct pr_expr_def defs[] = {
    {"ceil", math_round, 1, 1, NULL},  {"floor", math_round, 1, 1, NULL},
    {"trunc", math_round, 1, 1, NULL}, {"sqrt", math_sqrt, 1, 1, NULL},
    {"log", math_log, 1, 2, NULL},     {"log2", math_log, 1, 1, NULL},
    {"log10", math_log, 1, 1, NULL},   {"exp", math_exp, 1, 1, NULL},
    {"pow", math_pow, 2, 2, NULL},     {"fabs", math_fabs, 1, 1, NULL},
    {"isnan", math_is, 1, 1, NULL},    {"isinf", math_is, 1, 1, NULL},
    {"gcd", math_gcd, 2, 2, NULL},
};
static const char *const attrs[] = {"pi", "e", "inf", "nan", NULL};
const struct pr_expr_module pr_expr_module_math = {
    .name = "math",
    .table = PR_EXPR_TABLE(defs),
    .attr = math_attr,
    .attrs = attrs,
};
