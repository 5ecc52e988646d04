/*
 * Doubles to text and back. What people write and measure is computed here,
 * exactly, in integers; the rest goes to printf and strtod.
 */
#include "base/number.h"

#include "base/value.h"

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

/* Those that are exact doubles. */
static const double powers[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* ---- doubles to text
 * As Python's repr() writes them: the fewest digits that read back as the same
 * double and, among those, the nearest. Three ways, fastest first: one division
 * for up to 15 digits, exact 128-bit integers for the magnitudes people
 * measure, and printf for the rest. */

/* digits[0].digits[1…] times 10^exponent */
struct shortest {
    char digits[24];
    int n, exponent;
};

static void set_digits(struct shortest *s, uint64_t digits, int exponent)
{
    char text[24];
    int n = 0;

    while (digits % 10 == 0)
        digits /= 10;
    for (; digits; digits /= 10)
        text[n++] = (char)('0' + digits % 10);
    for (int i = 0; i < n; i++)
        s->digits[i] = text[n - 1 - i];
    s->n = n;
    s->exponent = exponent;
}

/* Of 1e-11 <= f < 1e17. */
static int exponent_of(double f)
{
    int e = 0;

    if (f >= 1) {
        while (f >= powers[e + 1])
            e++;
        return e;
    }
    /* The quotients are rounded, so this may be one off just below a power of
     * ten; the callers check what they make of it. */
    while (f * powers[-e] < 1)
        e--;
    return e;
}

/* Two decimals of up to 15 digits never share a double, so if the nearest such
 * decimal reads back (the division is exact enough to tell: both sides are
 * exact doubles), it is the one with the fewest digits. */
static bool short_digits(double f, int exponent, struct shortest *s)
{
    int scale = 14 - exponent;
    double digits;

    if (FLT_EVAL_METHOD != 0 || scale < 0 || scale > 22)
        return false;
    digits = rint(f * powers[scale]);
    if (digits >= 1e15 || digits < 1e14 || digits / powers[scale] != f)
        return false;
    set_digits(s, (uint64_t)digits, exponent);
    return true;
}

#ifdef __SIZEOF_INT128__
/* Everything times 10^(17 - digits before the point), in units of 2^-shift, so
 * that all of it is exact: f and the points halfway to its neighbours. */
struct exact {
    u128 value, low, high; /* low and high still read back as f */
    int shift;
};

static bool scale_exactly(double f, int exponent, struct exact *x)
{
    int k = 16 - exponent, binary;
    uint64_t mantissa = (uint64_t)ldexp(frexp(f, &binary), 53);
    u128 unit = 1;

    if (k < 0 || k > 27)
        return false;
    for (int i = 0; i < k; i++)
        unit *= 5;
    /* Quarters of the last bit: at a power of two the lower half is half. */
    x->shift = 2 - (binary - 53 + k);
    if (x->shift < 0) {
        unit <<= -x->shift;
        x->shift = 0;
    }
    x->value = unit * mantissa * 4;
    x->high = x->value + unit * 2;
    x->low = x->value - (mantissa == (uint64_t)1 << 52 ? unit : unit * 2);
    if (mantissa & 1) { /* a tie reads as the even neighbour, not as f */
        x->low++;
        x->high--;
    }
    return true;
}

/* The multiple of step nearest to the value that still reads back; 0: none. */
static uint64_t nearest_multiple(const struct exact *x, unsigned step)
{
    u128 wide = (u128)step << x->shift;
    u128 count = x->value / wide;
    u128 down = count * wide, up = down + wide;
    bool down_ok = down >= x->low, up_ok = up <= x->high;

    if (down_ok && up_ok) {
        u128 below = x->value - down, above = up - x->value;
        down_ok = below < above || (below == above && count % 2 == 0);
    } else if (!down_ok && !up_ok) {
        return 0;
    }
    return (uint64_t)((down_ok ? down : up) >> x->shift);
}

/* 15 digits if those were not tried before, then 16; 17 always suffice. */
static bool float_find_exact_digits(double f, int exponent, struct shortest *s)
{
    bool tried = exponent <= 14 && exponent >= -8;
    uint64_t digits = 0;
    struct exact x;

    if (!scale_exactly(f, exponent, &x))
        return false;
    for (unsigned step = tried ? 10 : 100; step && !digits; step /= 10)
        digits = nearest_multiple(&x, step);
    if (digits < (uint64_t)1e16 || digits > (uint64_t)1e17)
        return false;
    set_digits(s, digits, exponent + (digits == (uint64_t)1e17));
    return true;
}
#else
static bool float_find_exact_digits(double f, int exponent, struct shortest *s)
{
    (void)f;
    (void)exponent;
    (void)s;
    return false;
}
#endif

/* "d.ddde±xx" one step up in its last digit. */
static void next_up(char *text)
{
    char *p = strchr(text, 'e');

    while (--p >= text) {
        if (*p < '0' || *p > '9')
            continue;
        if (*p != '9') {
            ++*p;
            return;
        }
        *p = '0';
    }
}

/* The nearest decimal of a length may fail to read back while the next one
 * does: above a power of two doubles are twice as far apart as below. */
static bool float_reads_back(char *text, double f)
{
    int binary;

    if (strtod(text, NULL) == f)
        return true;
    if (frexp(f, &binary) != 0.5)
        return false;
    next_up(text);
    return strtod(text, NULL) == f;
}

static void printed_digits(double f, struct shortest *s)
{
    char text[40];
    const char *e;

    /* 15 digits always survive; fewer are tried only for subnormals, which
     * have fewer. */
    for (int precision = f < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, f);
        if (float_reads_back(text, f))
            break;
    }
    e = strchr(text, 'e');
    s->exponent = atoi(e + 1);
    s->n = 0;
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            s->digits[s->n++] = *p;
    while (s->n > 1 && s->digits[s->n - 1] == '0')
        s->n--;
}

static void find_shortest(double f, struct shortest *s)
{
    if (f == 0) {
        *s = (struct shortest){.digits = "0", .n = 1};
        return;
    }
    if (f >= 1e-11 && f < 1e17) {
        int exponent = exponent_of(f);
        if (short_digits(f, exponent, s) ||
            float_find_exact_digits(f, exponent, s))
            return;
    }
    printed_digits(f, s);
}

static char *copy_digits(char *p, const char *digits, int n)
{
    memcpy(p, digits, (size_t)n);
    return p + n;
}

static char *put_exponent(char *p, int exponent)
{
    int n = abs(exponent);

    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (n >= 100)
        *p++ = (char)('0' + n / 100);
    *p++ = (char)('0' + n / 10 % 10);
    *p++ = (char)('0' + n % 10);
    return p;
}

static char *float_write_digits(char *p, const struct shortest *s)
{
    int whole = s->exponent + 1; /* digits before the point */

    if (s->exponent < -4 || s->exponent >= 16) {
        *p++ = s->digits[0];
        if (s->n > 1) {
            *p++ = '.';
            p = copy_digits(p, s->digits + 1, s->n - 1);
        }
        return put_exponent(p, s->exponent);
    }
    if (whole <= 0) {
        p = copy_digits(p, "0.000", 2 - whole);
        return copy_digits(p, s->digits, s->n);
    }
    if (s->n <= whole) {
        p = copy_digits(p, s->digits, s->n);
        memset(p, '0', (size_t)(whole - s->n));
        return copy_digits(p + (whole - s->n), ".0", 2);
    }
    p = copy_digits(p, s->digits, whole);
    *p++ = '.';
    return copy_digits(p, s->digits + whole, s->n - whole);
}

size_t pr_float_repr(char out[static 32], double f)
{
    struct shortest s;
    char *p = out;

    if (signbit(f) && !isnan(f))
        *p++ = '-';
    if (isnan(f)) {
        p = copy_digits(p, "nan", 3);
    } else if (isinf(f)) {
        p = copy_digits(p, "inf", 3);
    } else {
        find_shortest(fabs(f), &s);
        p = float_write_digits(p, &s);
    }
    *p = '\0';
    return (size_t)(p - out);
}

void pr_float_write_repr(struct pr_buf *out, double f)
{
    char text[32];

    pr_buf_add(out, text, pr_float_repr(text, f));
}

/* ---- text to doubles
 * Up to 19 digits and a moderate exponent are computed, the rest is strtod's.
 */

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
