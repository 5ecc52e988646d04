/*
 * Decimal text to doubles. What people write (up to 19 digits, a moderate
 * exponent) is computed here, exactly, in integers; the rest goes to strtod.
 */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 u128;
#endif

struct decimal {
    uint64_t digits;
    long exponent; /* the value is digits * 10^exponent */
    bool negative;
    bool exact; /* digits holds all of them */
};

/* Far beyond any text whose digits could make up for it. */
enum { MAX_EXPONENT = 100000000 };

static long decimal_read_exponent(const char *s, const char *end)
{
    bool negative = *s == '-';
    long n = 0;

    for (s += *s == '-' || *s == '+'; s < end; s++)
        if (*s != '_' && n <= MAX_EXPONENT)
            n = n * 10 + (*s - '0');
    return negative ? -n : n;
}

/* Past the digits at s, eight at a time where that is certain to fit. */
static const char *decimal_read_digits(const char *s, const char *end,
                                       struct decimal *d)
{
    uint32_t eight;

    while (end - s >= 8 && d->digits < 100000000000u &&
           pr_decimal_read_eight(s, &eight) == 8) {
        d->digits = d->digits * 100000000 + eight;
        s += 8;
    }
    for (; s < end && *s >= '0' && *s <= '9'; s++) {
        d->exact &= d->digits < UINT64_MAX / 10;
        d->digits = d->digits * 10 + (uint64_t)(*s - '0');
    }
    return s;
}

static struct decimal decimal_split_text(const char *s, const char *end)
{
    struct decimal d = {.negative = *s == '-', .exact = true};
    bool point = false;

    s += *s == '-' || *s == '+';
    while (s < end && (*s | 32) != 'e') {
        const char *after = decimal_read_digits(s, end, &d);

        d.exponent -= point ? after - s : 0;
        s = after;
        if (s < end && (*s | 32) != 'e')
            point |= *s++ == '.';
    }
    if (s < end)
        d.exponent += decimal_read_exponent(s + 1, end);
    return d;
}

/* Both factors are exact doubles, so the one rounding is the right one. */
static bool by_doubles(const struct decimal *d, double *ret)
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };

    if (FLT_EVAL_METHOD != 0 || d->digits > (uint64_t)1 << 53 ||
        d->exponent < -22 || d->exponent > 22)
        return false;
    *ret = d->exponent < 0 ? (double)d->digits / powers[-d->exponent]
                           : (double)d->digits * powers[d->exponent];
    return true;
}

#ifdef __SIZEOF_INT128__
static int count_u128_bits(u128 n)
{
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n;

    return high  ? 128 - __builtin_clzll(high)
           : low ? 64 - __builtin_clzll(low)
                 : 0;
}

/* digits / 10^n as a quotient of integers: more than 64 bits of it are kept,
 * and what is cut off sets the lowest bit, so that the conversion rounds as if
 * it saw everything. 5^27 is the last that fits 64 bits. */
static bool decimal_divide_exact(const struct decimal *d, double *ret)
{
    int n = (int)-d->exponent;
    uint64_t five = 1, kept;
    u128 top, quotient;
    int shift, cut;

    if (d->exponent >= 0 || d->exponent < -27 || !d->digits)
        return false;
    for (int i = 0; i < n; i++)
        five *= 5;
    shift = 128 - count_u128_bits(d->digits);
    top = (u128)d->digits << shift;
    quotient = top / five;
    if (quotient * five != top)
        quotient |= 1;
    cut = count_u128_bits(quotient) - 64; /* never below 0: five has 63 bits */
    kept = (uint64_t)(quotient >> cut);
    if ((u128)kept << cut != quotient)
        kept |= 1;
    *ret = ldexp((double)kept, cut - shift - n);
    return true;
}
#else
static bool decimal_divide_exact(const struct decimal *d, double *ret)
{
    (void)d;
    (void)ret;
    return false;
}
#endif

/* Written as digits and exponent without a point, since strtod wants the
 * locale's own. No double needs more than 768 digits to be told from its
 * neighbours; what comes after is either nothing or a trace. */
static double by_library(const char *s, const char *end, long exponent)
{
    enum { KEPT = 800 };
    char text[KEPT + 32];
    bool trace = false;
    int used = 0;

    for (s += *s == '-' || *s == '+'; s < end && (*s | 32) != 'e'; s++) {
        if (*s == '_' || *s == '.' || (*s == '0' && !used))
            continue;
        if (used < KEPT) {
            text[used++] = *s;
        } else {
            trace |= *s != '0';
            exponent++;
        }
    }
    if (!used)
        return 0.0;
    if (trace) {
        text[used++] = '1';
        exponent--;
    }
    snprintf(text + used, sizeof text - (size_t)used, "e%ld", exponent);
    return strtod(text, NULL);
}

double pr_decimal_read(const char *s, size_t len)
{
    struct decimal d = decimal_split_text(s, s + len);
    double f;

    if (!d.exact || (!by_doubles(&d, &f) && !decimal_divide_exact(&d, &f)))
        f = by_library(s, s + len, d.exponent);
    return d.negative ? -f : f;
}

static bool decimal_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *decimal_skip_digits(const char *s, const char *end)
{
    const char *from = s;

    while (s < end &&
           (decimal_is_digit(*s) ||
            (*s == '_' && s > from && s + 1 < end && decimal_is_digit(s[1]))))
        s++;
    return s;
}

size_t pr_decimal_length(const char *s, size_t len)
{
    const char *from = s, *end = s + len, *more;
    bool any;

    s += s < end && (*s == '-' || *s == '+');
    more = decimal_skip_digits(s, end);
    any = more > s;
    s = more;
    if (s < end && *s == '.') {
        more = decimal_skip_digits(s + 1, end);
        any |= more > s + 1;
        s = more;
    }
    if (!any)
        return 0;
    if (s < end && (*s | 32) == 'e') {
        const char *e = s + 1;

        e += e < end && (*e == '-' || *e == '+');
        more = decimal_skip_digits(e, end);
        s = more > e ? more : s;
    }
    return (size_t)(s - from);
}

/* |f| times 10^digits as a whole number, rounded to even as printf does. The
 * product of the mantissa (53 bits) and a thousand fits, and what is shifted
 * out of it decides. */
static uint64_t scale_to_whole(double f, unsigned digits)
{
    static const uint64_t tens[] = {1, 10, 100, 1000};
    uint64_t top, kept, rest, half;
    int exponent, shift;

    memcpy(&top, &f, sizeof top);
    exponent = (int)(top >> 52 & 0x7ff);
    top &= (UINT64_C(1) << 52) - 1;
    shift = 1075 - exponent;
    if (exponent)
        top |= UINT64_C(1) << 52;
    top *= tens[digits];
    if (shift > 63)
        return 0; /* less than a half */
    kept = top >> shift;
    rest = top & ((UINT64_C(1) << shift) - 1);
    half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && kept & 1));
}

size_t pr_decimal_fixed(double f, unsigned digits,
                        char out[static PR_DECIMAL_FIXED_MAX])
{
    char text[PR_DECIMAL_FIXED_MAX];
    size_t at = sizeof text, n;
    uint64_t whole;

    if (digits > 3 || !(fabs(f) < 1e15))
        return 0;
    whole = scale_to_whole(f, digits);
    for (unsigned i = 0; i < digits; i++, whole /= 10)
        text[--at] = (char)('0' + whole % 10);
    if (digits)
        text[--at] = '.';
    do {
        text[--at] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole);
    if (signbit(f))
        text[--at] = '-';
    n = sizeof text - at;
    memcpy(out, text + at, n);
    return n;
}
