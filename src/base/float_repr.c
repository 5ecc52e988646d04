/*
 * Doubles as Python's repr() writes them: the fewest digits that read back as
 * the same double and, among those, the nearest. Three ways, fastest first:
 * one division for up to 15 digits, exact 128-bit integers for the magnitudes
 * people measure, and printf for the rest.
 */
#include "base/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 u128;
#endif

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

static const double float_repr_powers[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* Of 1e-11 <= f < 1e17. */
static int exponent_of(double f)
{
    int e = 0;

    if (f >= 1) {
        while (f >= float_repr_powers[e + 1])
            e++;
        return e;
    }
    /* The quotients are rounded, so this may be one off just below a power of
     * ten; the callers check what they make of it. */
    while (f * float_repr_powers[-e] < 1)
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
    digits = rint(f * float_repr_powers[scale]);
    if (digits >= 1e15 || digits < 1e14 ||
        digits / float_repr_powers[scale] != f)
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
