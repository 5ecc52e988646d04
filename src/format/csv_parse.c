/*
 * Text as elements, one field at a time. A field is a number with blanks
 * around it; a comma, the end of the line or the end of the text ends it.
 */
#include "base/number.h"
#include "format/csv.h"

#include <endian.h>
#include <math.h>
#include <string.h>

static bool csv_is_digit(uint8_t c)
{
    return (unsigned)c - '0' < 10;
}

static bool csv_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static const uint8_t *csv_skip_blanks(const uint8_t *p, const uint8_t *end)
{
    while (p < end && csv_is_blank(*p))
        p++;
    return p;
}

/* ---- whole numbers */

/* The value of the digits that a word of eight characters starts with. A byte
 * that is none shows above its lower half, at once or after adding six; what
 * that carries goes only to bytes behind it. */
static inline uint64_t read_eight(uint64_t word, unsigned *ret_len)
{
    uint64_t x = word ^ 0x3030303030303030u;
    uint64_t other = (x | (x + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
    unsigned len = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;

    *ret_len = len;
    if (!len)
        return 0;
    x <<= 64 - 8 * len; /* zeros in front; the last digit is the top byte */
    x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ffu;
    x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffffu;
    return (x * 10000 + (x >> 32)) & 0xffffffffu;
}

static inline uint64_t load_eight(const uint8_t *p, const uint8_t *end)
{
    uint64_t word = 0;

    if (end - p >= 8)
        memcpy(&word, p, 8);
    else
        memcpy(&word, p, (size_t)(end - p));
    return le64toh(word);
}

/* The digits at p; false when there is none. *ret_over: more than 64 bits. */
static inline bool take_digits(const uint8_t **pp, const uint8_t *end,
                               uint64_t *ret, bool *ret_over)
{
    static const uint32_t powers[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned len;
    uint64_t v = read_eight(load_eight(*pp, end), &len);

    *ret_over = false;
    if (!len)
        return false;
    *pp += len;
    while (len == 8) {
        uint64_t part = read_eight(load_eight(*pp, end), &len);
        *ret_over |= __builtin_mul_overflow(v, powers[len], &v) ||
                     __builtin_add_overflow(v, part, &v);
        *pp += len;
    }
    *ret = v;
    return true;
}

struct range {
    uint64_t above, below; /* the largest, and the smallest without its sign */
};

static inline bool csv_parse_integer(const uint8_t **pp, const uint8_t *end,
                                     struct range range, uint64_t *ret,
                                     enum pr_csv_why *why)
{
    bool negative = **pp == '-', over;
    uint64_t v;

    *pp += negative | (**pp == '+');
    if (!take_digits(pp, end, &v, &over)) {
        *why = PR_CSV_NO_NUMBER;
        return false;
    }
    *why = PR_CSV_RANGE;
    *ret = negative ? -v : v;
    return !over && v <= (negative ? range.below : range.above);
}

/* Elements of all byte orders: through a value of their own type. */
#define WHOLE(name, ctype, most, least)                                        \
    static inline bool name(const uint8_t **pp, const uint8_t *end,            \
                            uint8_t *out, enum pr_csv_why *why)                \
    {                                                                          \
        uint64_t v;                                                            \
        ctype e;                                                               \
        if (!csv_parse_integer(pp, end, (struct range){most, least}, &v, why)) \
            return false;                                                      \
        e = (ctype)v;                                                          \
        memcpy(out, &e, sizeof e);                                             \
        return true;                                                           \
    }

WHOLE(take_u8, uint8_t, UINT8_MAX, 0)
WHOLE(take_i8, int8_t, INT8_MAX, (uint64_t)INT8_MAX + 1)
WHOLE(take_u16, uint16_t, UINT16_MAX, 0)
WHOLE(take_i16, int16_t, INT16_MAX, (uint64_t)INT16_MAX + 1)
WHOLE(take_u32, uint32_t, UINT32_MAX, 0)
WHOLE(take_i32, int32_t, INT32_MAX, (uint64_t)INT32_MAX + 1)
WHOLE(take_u64, uint64_t, UINT64_MAX, 0)
WHOLE(take_i64, int64_t, INT64_MAX, (uint64_t)INT64_MAX + 1)

/* ---- other elements */

static bool csv_parse_word(const uint8_t **pp, const uint8_t *end,
                           const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(end - *pp) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (((*pp)[i] | 32) != word[i])
            return false;
    *pp += n;
    return true;
}

/* True, true, 1 and so on. */
static bool take_b8(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                    enum pr_csv_why *why)
{
    const uint8_t *p = *pp;

    *why = PR_CSV_NO_NUMBER;
    if (*p == '0' || *p == '1') {
        *out = *p == '1';
        *pp = p + 1;
        return true;
    }
    *out = csv_parse_word(pp, end, "true");
    return *out || csv_parse_word(pp, end, "false");
}

static const uint8_t *csv_skip_digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && csv_is_digit(*p))
        p++;
    return p;
}

/* The end of the number at p, its sign left out; NULL: it is none. */
static const uint8_t *number_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p, *e;
    ptrdiff_t digits;

    p = csv_skip_digits(p, end);
    digits = p - start;
    if (p < end && *p == '.') {
        start = p + 1;
        p = csv_skip_digits(start, end);
        digits += p - start;
    }
    if (!digits)
        return NULL;
    if (p == end || (*p | 32) != 'e')
        return p;
    e = p + 1;
    e += e < end && (*e == '-' || *e == '+');
    p = csv_skip_digits(e, end);
    return p > e ? p : NULL;
}

static bool take_double(const uint8_t **pp, const uint8_t *end, double *ret,
                        enum pr_csv_why *why)
{
    const uint8_t *p = *pp, *number_stop;
    bool negative = *p == '-';

    p += negative | (*p == '+');
    *why = PR_CSV_NO_NUMBER;
    number_stop = number_end(p, end);
    if (number_stop) {
        double f = pr_decimal_read((const char *)p, (size_t)(number_stop - p));
        *ret = negative ? -f : f;
        *pp = number_stop;
        *why = PR_CSV_RANGE;
        return !isinf(f);
    }
    *pp = p;
    if (csv_parse_word(pp, end, "infinity") || csv_parse_word(pp, end, "inf"))
        *ret = negative ? -INFINITY : INFINITY;
    else if (csv_parse_word(pp, end, "nan"))
        *ret = NAN;
    else
        return false;
    return true;
}

static bool take_f64(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;

    if (!take_double(pp, end, &f, why))
        return false;
    memcpy(out, &f, sizeof f);
    return true;
}

static bool take_f32(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;
    float e;

    if (!take_double(pp, end, &f, why))
        return false;
    e = (float)f;
    memcpy(out, &e, sizeof e);
    *why = PR_CSV_RANGE;
    return isinf(f) || !isinf(e);
}

static bool take_f16(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;
    uint16_t e;

    if (!take_double(pp, end, &f, why))
        return false;
    e = pr_csv_half_of(f);
    memcpy(out, &e, sizeof e);
    *why = PR_CSV_RANGE;
    return isinf(f) || (e & 0x7fff) != 0x7c00;
}

/* ---- rows */

static bool csv_is_field_end(const uint8_t *p, const uint8_t *end)
{
    return p == end || *p == ',' || *p == '\n' || *p == '\r';
}

/* Past what ends a field: a comma, or the end of the row. False: neither. */
static bool take_end(const uint8_t **pp, const uint8_t *end, bool *ret_row)
{
    const uint8_t *p = *pp;

    *ret_row = true;
    if (p == end)
        return true;
    if (*p == '\r' && (p + 1 == end || p[1] == '\n'))
        p += p + 1 < end;
    else if (*p == ',')
        *ret_row = false;
    else if (*p != '\n')
        return false;
    *pp = p + 1;
    return true;
}

static enum pr_csv_end csv_fail_field(struct pr_csv_scan *s,
                                      enum pr_csv_why why)
{
    s->why = why;
    return PR_CSV_BAD;
}

/* Made anew for each type, so that take is no call. */
static inline __attribute__((always_inline)) enum pr_csv_end
csv_parse_row(struct pr_csv_scan *s, size_t bytes,
              bool (*take)(const uint8_t **, const uint8_t *, uint8_t *,
                           enum pr_csv_why *))
{
    for (;;) {
        const uint8_t *p;
        bool row;

        if (s->p == s->end && !s->last)
            return PR_CSV_MORE;
        p = csv_skip_blanks(s->p, s->end);
        if (csv_is_field_end(p, s->end))
            return csv_fail_field(s, PR_CSV_EMPTY);
        if ((size_t)(s->out_end - s->out) < bytes)
            return PR_CSV_FULL;
        if (!take(&p, s->end, s->out, &s->why))
            return PR_CSV_BAD;
        p = csv_skip_blanks(p, s->end);
        if (!take_end(&p, s->end, &row))
            return csv_fail_field(s, PR_CSV_NO_NUMBER);
        s->p = p;
        s->out += bytes;
        if (row)
            return PR_CSV_ROW;
    }
}

enum pr_csv_end pr_csv_parse_plainly(enum pr_dtype type, struct pr_csv_scan *s)
{
    switch (type) {
    case PR_U8:
        return csv_parse_row(s, 1, take_u8);
    case PR_I8:
        return csv_parse_row(s, 1, take_i8);
    case PR_U16:
        return csv_parse_row(s, 2, take_u16);
    case PR_I16:
        return csv_parse_row(s, 2, take_i16);
    case PR_U32:
        return csv_parse_row(s, 4, take_u32);
    case PR_I32:
        return csv_parse_row(s, 4, take_i32);
    case PR_U64:
        return csv_parse_row(s, 8, take_u64);
    case PR_I64:
        return csv_parse_row(s, 8, take_i64);
    case PR_F16:
        return csv_parse_row(s, 2, take_f16);
    case PR_F32:
        return csv_parse_row(s, 4, take_f32);
    case PR_F64:
        return csv_parse_row(s, 8, take_f64);
    case PR_B8:
        return csv_parse_row(s, 1, take_b8);
    default:
        return csv_fail_field(s, PR_CSV_NO_NUMBER);
    }
}

enum pr_csv_end pr_csv_parse(enum pr_dtype type, struct pr_csv_scan *s)
{
    if (type == PR_U8 && pr_csv_parse_u8(s))
        return PR_CSV_ROW;
    return pr_csv_parse_plainly(type, s);
}
