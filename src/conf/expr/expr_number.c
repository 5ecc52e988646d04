/* Arithmetic: whole numbers of 64 bits that never wrap, and doubles. */
#include "conf/expr/expr_tree.h"

#include <math.h>

static bool zero_division(struct pr_expr *x)
{
    return pr_expr_fail(x, "division by zero");
}

/* Rounds down, as Python's // does; b is neither 0 nor -1. */
static int64_t divide_floor(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* What that leaves, as Python's %. Not a - floor_div(a, b) * b: that product
 * may be below the least number. */
static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t rest = a % b;

    return rest && (a < 0) != (b < 0) ? rest + b : rest;
}

/* Doubles hold these exactly. */
static bool fits_double(int64_t i)
{
    return i >= -(1LL << 53) && i <= 1LL << 53;
}

static bool int_div(struct pr_expr *x, int op, int64_t a, int64_t b,
                    struct pr_expr_value *ret)
{
    if (b == 0)
        return zero_division(x);
    if (op == ET_SLASH) {
        /* A long double holds all. */
        *ret =
            pr_expr_new_float(fits_double(a) && fits_double(b)
                                  ? (double)a / (double)b
                                  : (double)((long double)a / (long double)b));
        return true;
    }
    if (b == -1) { /* INT64_MIN / -1 would trap */
        if (op == ET_FLOOR && a == INT64_MIN)
            return pr_expr_fail_too_big(x);
        *ret = pr_expr_new_int(op == ET_FLOOR ? -a : 0);
        return true;
    }
    *ret =
        pr_expr_new_int(op == ET_FLOOR ? divide_floor(a, b) : floor_mod(a, b));
    return true;
}

static bool shift_int(struct pr_expr *x, int op, int64_t a, int64_t by,
                      struct pr_expr_value *ret)
{
    if (by < 0)
        return pr_expr_fail(x, "negative shift count");
    if (op == ET_SHR) {
        *ret = pr_expr_new_int(by > 63 ? (a < 0 ? -1 : 0) : a >> by);
        return true;
    }
    if (a == 0 || by == 0) {
        *ret = pr_expr_new_int(a);
        return true;
    }
    if (by > 62 || a > INT64_MAX >> by || a < INT64_MIN >> by)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(a * ((int64_t)1 << by));
    return true;
}

static bool combine_bits(int op, const struct pr_expr_value *a,
                         const struct pr_expr_value *b,
                         struct pr_expr_value *ret)
{
    int64_t i = pr_expr_value_int(a), j = pr_expr_value_int(b);
    int64_t r = op == ET_AMP ? i & j : op == ET_BAR ? i | j : i ^ j;

    *ret = a->kind == EV_BOOL && b->kind == EV_BOOL ? pr_expr_new_bool(r)
                                                    : pr_expr_new_int(r);
    return true;
}

static bool int_arith(struct pr_expr *x, int op, const struct pr_expr_value *a,
                      const struct pr_expr_value *b, struct pr_expr_value *ret)
{
    int64_t i = pr_expr_value_int(a), j = pr_expr_value_int(b), r;
    bool over;

    switch (op) {
    case ET_PLUS:
        over = __builtin_add_overflow(i, j, &r);
        break;
    case ET_MINUS:
        over = __builtin_sub_overflow(i, j, &r);
        break;
    case ET_STAR:
        over = __builtin_mul_overflow(i, j, &r);
        break;
    case ET_SHL:
    case ET_SHR:
        return shift_int(x, op, i, j, ret);
    case ET_SLASH:
    case ET_FLOOR:
    case ET_PERCENT:
        return int_div(x, op, i, j, ret);
    default:
        return combine_bits(op, a, b, ret);
    }
    if (over)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(r);
    return true;
}

/* The remainder has the sign of the divisor; the quotient goes with it. */
static void float_divmod(double a, double b, double *ret_div, double *ret_mod)
{
    double mod = fmod(a, b), div = (a - mod) / b, whole;

    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1;
        }
    } else {
        mod = copysign(0, b);
    }
    if (div == 0) {
        *ret_div = copysign(0, a / b);
        *ret_mod = mod;
        return;
    }
    whole = floor(div);
    if (div - whole > 0.5)
        whole += 1;
    *ret_div = whole;
    *ret_mod = mod;
}

static bool float_arith(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    double f = pr_expr_value_float(a), g = pr_expr_value_float(b), div, mod;

    switch (op) {
    case ET_PLUS:
        *ret = pr_expr_new_float(f + g);
        return true;
    case ET_MINUS:
        *ret = pr_expr_new_float(f - g);
        return true;
    case ET_STAR:
        *ret = pr_expr_new_float(f * g);
        return true;
    case ET_SLASH:
    case ET_FLOOR:
    case ET_PERCENT:
        if (g == 0)
            return zero_division(x);
        if (op == ET_SLASH) {
            *ret = pr_expr_new_float(f / g);
            return true;
        }
        float_divmod(f, g, &div, &mod);
        *ret = pr_expr_new_float(op == ET_FLOOR ? div : mod);
        return true;
    default:
        return pr_expr_fail_operands(x, op, a, b);
    }
}

bool pr_expr_eval_arith(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    if (a->kind != EV_FLOAT && b->kind != EV_FLOAT)
        return int_arith(x, op, a, b, ret);
    return float_arith(x, op, a, b, ret);
}

static bool int_power(struct pr_expr *x, int64_t base, int64_t by,
                      struct pr_expr_value *ret)
{
    int64_t r = 1;

    while (by) {
        if (by & 1 && __builtin_mul_overflow(r, base, &r))
            return pr_expr_fail_too_big(x);
        by >>= 1;
        if (by && __builtin_mul_overflow(base, base, &base))
            return pr_expr_fail_too_big(x);
    }
    *ret = pr_expr_new_int(r);
    return true;
}

bool pr_expr_eval_power(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    double f, g, r;

    if (!pr_expr_is_number(a) || !pr_expr_is_number(b))
        return pr_expr_fail_operands(x, ET_POWER, a, b);
    if (pr_expr_is_int(a) && pr_expr_is_int(b) && pr_expr_value_int(b) >= 0)
        return int_power(x, pr_expr_value_int(a), pr_expr_value_int(b), ret);
    f = pr_expr_value_float(a);
    g = pr_expr_value_float(b);
    if (f == 0 && g < 0)
        return pr_expr_fail(x, "zero cannot be raised to a negative power");
    if (f < 0 && isfinite(f) && isfinite(g) && g != floor(g))
        return pr_expr_fail(x, "a fractional power of a negative number is "
                               "complex: not supported");
    r = pow(f, g);
    if (isinf(r) && isfinite(f) && isfinite(g))
        return pr_expr_fail(x, "the result of '**' is too large");
    *ret = pr_expr_new_float(r);
    return true;
}

bool pr_expr_eval_unary(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        struct pr_expr_value *ret)
{
    if (a->kind == EV_FLOAT && op != ET_TILDE) {
        *ret = pr_expr_new_float(op == ET_MINUS ? -a->f : a->f);
        return true;
    }
    if (!pr_expr_is_int(a))
        return pr_expr_fail(x, "'%s' does not work on %s", pr_expr_op_text(op),
                            pr_expr_value_name(a));
    if (op == ET_MINUS && pr_expr_value_int(a) == INT64_MIN)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(op == ET_MINUS   ? -pr_expr_value_int(a)
                           : op == ET_TILDE ? ~pr_expr_value_int(a)
                                            : pr_expr_value_int(a));
    return true;
}
