/* int(), float() and round(): where text and numbers meet. */
#include "base/number.h"
#include "conf/expr/expr_call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool pr_expr_float_to_int(struct pr_expr *x, double f,
                          struct pr_expr_value *ret)
{
    if (isnan(f) || isinf(f))
        return pr_expr_fail(x, "%s has no whole number",
                            isnan(f) ? "nan" : "infinity");
    if (f >= 9223372036854775808.0 || f < -9223372036854775808.0)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int((int64_t)f);
    return true;
}

static bool bad_text(struct pr_expr *x, const char *what,
                     const struct pr_expr_value *v)
{
    struct pr_expr_buf b = {.x = x};

    pr_expr_write_repr(&b, v);
    return x->rc ? false
                 : pr_expr_fail(x, "%s cannot be read from %.*s", what,
                                b.len < 60 ? (int)b.len : 60, b.p);
}

static int convert_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* 0x, 0o, 0b before the digits; may set a base that was left open. */
static bool take_base(const char **p, const char *end, int *base)
{
    int named = 0;

    if (end - *p > 1 && **p == '0') {
        char c = (char)((*p)[1] | 0x20);
        named = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    }
    if (named && (*base == 0 || *base == named)) {
        *p += 2;
        *base = named;
        if (*p < end && **p == '_')
            ++*p;
        return true;
    }
    if (*base == 0) {
        *base = 10;
        for (const char *q = *p; q < end && **p == '0'; q++)
            if (*q != '0' && *q != '_')
                return false; /* '010' without a base */
    }
    return true;
}

/* The digits; false: misplaced, or *ret_big for over 64 bits. */
static bool convert_read_digits(const char *p, const char *end, int base,
                                uint64_t *ret, bool *ret_big)
{
    bool after_digit = false;
    uint64_t n = 0;

    for (; p < end; p++) {
        uint64_t d;

        if (*p == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        if (convert_digit_value(*p) >= base)
            return false;
        d = (uint64_t)convert_digit_value(*p);
        after_digit = true;
        *ret_big |= n > (((uint64_t)1 << 63) - d) / (uint64_t)base;
        if (!*ret_big)
            n = n * (uint64_t)base + d;
    }
    *ret = n;
    return after_digit;
}

static bool int_from_text(struct pr_expr *x, const struct pr_expr_value *v,
                          int base, struct pr_expr_value *ret)
{
    const char *p = v->s, *end;
    size_t len = v->len;
    bool negative, big = false;
    uint64_t n;

    pr_expr_trim(&p, &len);
    end = p + len;
    negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!take_base(&p, end, &base) ||
        !convert_read_digits(p, end, base, &n, &big))
        return bad_text(x, "a whole number", v);
    if (big || n > (uint64_t)INT64_MAX + negative)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(negative ? (int64_t)(0 - n) : (int64_t)n);
    return true;
}

bool pr_expr_to_int(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];
    int64_t base = 10;

    if (c->a[1].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 1))
            return false;
        base = pr_expr_value_int(&c->a[1]);
        if (base < 0 || base == 1 || base > 36)
            return pr_expr_fail(x, "the base of int() must be 0 or 2 to 36");
        if (v->kind != EV_STR)
            return pr_expr_fail(x, "int() with a base wants text");
    }
    if (v->kind == EV_MISSING) {
        *ret = pr_expr_new_int(0);
        return true;
    }
    if (v->kind == EV_STR)
        return int_from_text(x, v, (int)base, ret);
    if (v->kind == EV_FLOAT)
        return pr_expr_float_to_int(x, v->f, ret);
    if (!pr_expr_want_number(x, c, 0))
        return false;
    *ret = pr_expr_new_int(pr_expr_value_int(v));
    return true;
}

/* Digits with single underscores between them; returns where they end. */
static const char *convert_skip_digits(const char *p, const char *end)
{
    while (p < end && ((*p >= '0' && *p <= '9') ||
                       (*p == '_' && p[-1] >= '0' && p[-1] <= '9' &&
                        p + 1 < end && p[1] >= '0' && p[1] <= '9')))
        p++;
    return p;
}

static bool convert_is_decimal(const char *p, const char *end)
{
    const char *whole = p;

    /* skip_digits looks one back: an underscore cannot be first. */
    if (p == end || *p == '_')
        return false;
    p = convert_skip_digits(p, end);
    if (p < end && *p == '.')
        p = convert_skip_digits(p + 1, end);
    if (p == whole || (p == whole + 1 && *whole == '.'))
        return false;
    if (p < end && (*p | 0x20) == 'e') {
        const char *digits;
        p++;
        p += p < end && (*p == '+' || *p == '-');
        digits = p;
        p = convert_skip_digits(p, end);
        if (p == digits)
            return false;
    }
    return p == end;
}

static bool float_from_text(struct pr_expr *x, const struct pr_expr_value *v,
                            struct pr_expr_value *ret)
{
    static const struct {
        const char *name;
        double f;
    } words[] = {{"inf", INFINITY}, {"infinity", INFINITY}, {"nan", NAN}};
    const char *p = v->s;
    size_t len = v->len, sign;

    pr_expr_trim(&p, &len);
    sign = len && (*p == '-' || *p == '+');
    for (size_t i = 0; i < 3; i++)
        if (strlen(words[i].name) == len - sign &&
            strncasecmp(p + sign, words[i].name, len - sign) == 0) {
            *ret = pr_expr_new_float(*p == '-' ? -words[i].f : words[i].f);
            return true;
        }
    if (!convert_is_decimal(p + sign, p + len))
        return bad_text(x, "a number", v);
    *ret = pr_expr_new_float(pr_decimal_read(p, len));
    return true;
}

bool pr_expr_to_float(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (v->kind == EV_STR)
        return float_from_text(x, v, ret);
    if (v->kind != EV_MISSING && !pr_expr_want_number(x, c, 0))
        return false;
    *ret =
        pr_expr_new_float(v->kind == EV_MISSING ? 0 : pr_expr_value_float(v));
    return true;
}

/* To a multiple of ten, half to even. */
static bool round_int(struct pr_expr *x, int64_t i, int64_t digits,
                      struct pr_expr_value *ret)
{
    int64_t unit = 1, rest, half, down;

    if (digits >= 0) {
        *ret = pr_expr_new_int(i);
        return true;
    }
    if (digits < -18) { /* half of 10**19 is more than any of ours but a few */
        *ret = pr_expr_new_int(0);
        return digits < -19 ||
               (i < 5000000000000000001 && i > -5000000000000000001) ||
               pr_expr_fail_too_big(x);
    }
    for (; digits; digits++)
        unit *= 10;
    rest = i % unit;
    down = i - rest;
    half = unit / 2;
    if (rest < 0)
        rest = -rest;
    if (rest < half || (rest == half && down / unit % 2 == 0)) {
        *ret = pr_expr_new_int(down);
        return true;
    }
    if (__builtin_add_overflow(down, i < 0 ? -unit : unit, &down))
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(down);
    return true;
}

/* Left of the point: by way of the digits, which printf rounds exactly. */
static double round_left(double f, int digits)
{
    char text[48];
    double shown;
    int exponent;

    snprintf(text, sizeof text, "%.0e", f);
    exponent = atoi(strchr(text, 'e') + 1);
    /* %.0e may have rounded up to the next power. */
    snprintf(text, sizeof text, "1e%d", exponent);
    if (fabs(f) < strtod(text, NULL))
        exponent--;
    if (exponent + digits >= 0) {
        snprintf(text, sizeof text, "%.*e", exponent + digits, f);
        return strtod(text, NULL);
    }
    snprintf(text, sizeof text, "5e%d", -digits - 1);
    shown = strtod(text, NULL);
    if (fabs(f) <= shown)
        return copysign(0, f);
    snprintf(text, sizeof text, "1e%d", -digits);
    return copysign(strtod(text, NULL), f);
}

static bool round_float(struct pr_expr *x, double f, int64_t digits,
                        struct pr_expr_value *ret)
{
    char text[700];

    if (!isfinite(f) || f == 0 || digits > 323) {
        *ret = pr_expr_new_float(f);
        return true;
    }
    if (digits < -308) {
        *ret = pr_expr_new_float(copysign(0, f));
        return true;
    }
    if (digits < 0) {
        *ret = pr_expr_new_float(round_left(f, (int)digits));
        return isfinite(ret->f) ||
               pr_expr_fail(x, "the rounded number is too large");
    }
    snprintf(text, sizeof text, "%.*f", (int)digits, f);
    *ret = pr_expr_new_float(strtod(text, NULL));
    return true;
}

bool pr_expr_round(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    bool given = c->a[1].kind != EV_MISSING && c->a[1].kind != EV_NONE;
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_number(x, c, 0) || (given && !pr_expr_want_int(x, c, 1)))
        return false;
    if (v->kind != EV_FLOAT)
        return round_int(x, pr_expr_value_int(v),
                         given ? pr_expr_value_int(&c->a[1]) : 0, ret);
    if (given)
        return round_float(x, v->f, pr_expr_value_int(&c->a[1]), ret);
    return pr_expr_float_to_int(x, rint(v->f), ret); /* half to even */
}
