/*
 * Elements as decimal text: whole numbers by tables, floating-point numbers as
 * the shortest text that reads back as the same number of their type.
 */
#include "base/value.h"
#include "format/csv.h"

#include <math.h>
#include <string.h>

void pr_csv_table_init(struct pr_csv_table *table)
{
    for (int i = 0; i < 256; i++) {
        char *p = table->text[i];

        if (i >= 100)
            *p++ = (char)('0' + i / 100);
        if (i >= 10)
            *p++ = (char)('0' + i / 10 % 10);
        *p++ = (char)('0' + i % 10);
        *p++ = ',';
        table->len[i] = (uint8_t)(p - table->text[i]);
    }
}

size_t pr_csv_widest(enum pr_dtype type)
{
    static const uint8_t widest[PR_DTYPE_COUNT] = {
        [PR_U8] = 4,   [PR_I8] = 5,   [PR_U16] = 6,  [PR_I16] = 7,
        [PR_U32] = 11, [PR_I32] = 12, [PR_U64] = 21, [PR_I64] = 21,
        [PR_F16] = 26, [PR_F32] = 26, [PR_F64] = 26, [PR_B8] = 6,
    };

    return widest[type];
}

/* ---- whole numbers */

/* Four bytes are always copied, only those of the number count. */
static char *put_u8(const struct pr_csv_table *table, uint8_t v, char *out)
{
    memcpy(out, table->text[v], 4);
    return out + table->len[v];
}

static char *put_i8(const struct pr_csv_table *table, int8_t v, char *out)
{
    *out = '-';
    return put_u8(table, (uint8_t)(v < 0 ? -v : v), out + (v < 0));
}

static char *put_u64(uint64_t v, char *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021"
                                "22232425262728293031323334353637383940414243"
                                "44454647484950515253545556575859606162636465"
                                "66676869707172737475767778798081828384858687"
                                "888990919293949596979899";
    char text[24], *end = text + sizeof text, *p = end;

    *--p = ',';
    for (; v >= 100; v /= 100) {
        p -= 2;
        memcpy(p, pairs + v % 100 * 2, 2);
    }
    if (v >= 10) {
        p -= 2;
        memcpy(p, pairs + v * 2, 2);
    } else {
        *--p = (char)('0' + v);
    }
    memcpy(out, p, (size_t)(end - p));
    return out + (end - p);
}

static char *put_i64(int64_t v, char *out)
{
    *out = '-';
    return put_u64(v < 0 ? -(uint64_t)v : (uint64_t)v, out + (v < 0));
}

static char *put_bool(bool v, char *out)
{
    memcpy(out, v ? "True, " : "False,", 6);
    return out + (v ? 5 : 6);
}

/* ---- floating-point numbers */

double pr_csv_half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double f = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);

    return half >> 15 ? -f : f;
}

uint16_t pr_csv_half_of(double f)
{
    unsigned sign = signbit(f) ? 0x8000u : 0, bits;
    double a = fabs(f);
    int exponent;

    if (isnan(f)) {
        bits = 0x7e00;
    } else if (a >= 65520) { /* halfway beyond the largest */
        bits = 0x7c00;
    } else if (a < 0x1p-14) {
        bits = (unsigned)rint(a * 0x1p24);
    } else { /* what rounds up to the next power of two carries over */
        unsigned mantissa = (unsigned)rint(frexp(a, &exponent) * 2048);
        bits = ((unsigned)(exponent + 14) << 10) + mantissa - 1024;
    }
    return (uint16_t)(sign | bits);
}

static bool is_same_f32(double a, double b)
{
    return (float)a == (float)b;
}

static bool is_same_f16(double a, double b)
{
    return pr_csv_half_of(a) == pr_csv_half_of(b);
}

/* Also for a reader that rounds the decimal itself and not its double, which
 * is off by half a bit at most. */
static bool csv_is_round_trip(double q, double f, bool (*same)(double, double))
{
    return same(q * (1 - 0x1p-52), f) && same(q * (1 + 0x1p-52), f);
}

/* The double nearest to the decimal with the fewest digits, from least to most,
 * that reads back as f; its own shortest text is that decimal. */
static double csv_shorten_float(double f, int least, int most,
                                bool (*same)(double, double))
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    int whole = 1; /* digits before the point; 0.01 has -1 */
    int binary;

    /* Outside, all of its digits are as good. */
    if (!(f >= 1e-11 && f < 1e15))
        return f;
    while (f >= powers[whole])
        whole++;
    for (; whole <= 1 && f * powers[1 - whole] < 1; whole--)
        ;
    for (int n = least; n <= most; n++) {
        double scale = powers[n > whole ? n - whole : whole - n];
        double digits = rint(n > whole ? f * scale : f / scale);

        /* The nearest, or the next: a power of two has its neighbour below at
         * half the distance of the one above. */
        for (int next = 0; next <= (frexp(f, &binary) == 0.5 ? 1 : 0); next++) {
            double d = digits + next, q = n > whole ? d / scale : d * scale;
            if (csv_is_round_trip(q, f, same))
                return q;
        }
    }
    return f;
}

static char *csv_put_float(double f, char *out)
{
    char text[32];
    size_t len = pr_float_repr(text, f);

    memcpy(out, text, len);
    out[len] = ',';
    return out + len + 1;
}

static char *put_f32(float f, char *out)
{
    double q = csv_shorten_float(fabs((double)f), 6, 9, is_same_f32);

    return csv_put_float(signbit(f) ? -q : q, out);
}

static char *put_f16(uint16_t half, char *out)
{
    double f = pr_csv_half_value(half);
    double q = csv_shorten_float(fabs(f), 3, 5, is_same_f16);

    return csv_put_float(signbit(f) ? -q : q, out);
}

/* ---- */

#define EACH(ctype, put)                        \
    for (size_t i = 0; i < n; i++) {            \
        ctype v;                                \
        memcpy(&v, p + i * sizeof v, sizeof v); \
        out = put;                              \
    }                                           \
    return out

char *pr_csv_text(const struct pr_csv_table *table, enum pr_dtype type,
                  const void *data, size_t n, char *out)
{
    const uint8_t *p = data;

    switch (type) {
    case PR_U8:
        EACH(uint8_t, put_u8(table, v, out));
    case PR_I8:
        EACH(int8_t, put_i8(table, v, out));
    case PR_U16:
        EACH(uint16_t, put_u64(v, out));
    case PR_I16:
        EACH(int16_t, put_i64(v, out));
    case PR_U32:
        EACH(uint32_t, put_u64(v, out));
    case PR_I32:
        EACH(int32_t, put_i64(v, out));
    case PR_U64:
        EACH(uint64_t, put_u64(v, out));
    case PR_I64:
        EACH(int64_t, put_i64(v, out));
    case PR_F16:
        EACH(uint16_t, put_f16(v, out));
    case PR_F32:
        EACH(float, put_f32(v, out));
    case PR_F64:
        EACH(double, csv_put_float(v, out));
    case PR_B8:
        EACH(uint8_t, put_bool(v, out));
    default:
        return out;
    }
}
