/* What % and .format share: digits of a number, and padding around them. */
#include "conf/expr/expr_value.h"

#include "base/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pr_ex_format_number(const char **p, const char *end)
{
    int n = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        if (n <= PR_EX_BYTES)
            n = n * 10 + (**p - '0');
    return n > PR_EX_BYTES ? -1 : n;
}

static bool is_upper(char type)
{
    return type >= 'A' && type <= 'Z';
}

/* Type none with a precision: as %g, but never without a fraction. */
static size_t short_form(char *out, size_t size, double f, int precision)
{
    char *e;
    size_t n;
    int exponent;

    if (precision < 1)
        precision = 1;
    snprintf(out, size, "%.*e", precision - 1, f);
    e = strchr(out, 'e');
    exponent = atoi(e + 1);
    if (exponent >= -4 && exponent < precision - 1) {
        n = (size_t)snprintf(out, size, "%.*g", precision, f);
        return strchr(out, '.') ? n
                                : n + (size_t)snprintf(out + n, size - n, ".0");
    }
    if (strchr(out, '.')) {
        char *last = e - 1;
        while (*last == '0')
            last--;
        if (*last != '.')
            last++;
        memmove(last, e, strlen(e) + 1);
    }
    return strlen(out);
}

/* Room for any double with this many digits after the point. */
static size_t float_room(int precision)
{
    return (size_t)(precision < 0 ? 6 : precision) + 350;
}

static size_t float_text(char *out, size_t size, double f,
                         const struct pr_ex_spec *spec)
{
    char type = spec->type == '%' || spec->type == 'F' ? 'f' : spec->type;
    int precision = spec->precision < 0 ? 6 : spec->precision;
    char fmt[8];
    size_t n;

    if (!type)
        return spec->precision < 0 ? pr_float_repr(out, f)
                                   : short_form(out, size, f, precision);
    snprintf(fmt, sizeof fmt, "%%%s.*%c", spec->alt ? "#" : "", type);
    /* The format is one of a handful made here. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    n = (size_t)snprintf(out, size, fmt, precision, f);
#pragma GCC diagnostic pop
    if (spec->type == '%')
        out[n++] = '%';
    return n;
}

bool pr_ex_float_digits(struct pr_ex *x, double f,
                        const struct pr_ex_spec *spec, struct pr_ev *ret)
{
    size_t room = float_room(spec->precision);
    char *out;

    if (spec->precision > PR_EX_BYTES)
        return pr_ex_too_long(x);
    out = pr_ex_alloc(x, room);
    if (!out)
        return false;
    f = fabs(f);
    if (spec->type == '%')
        f *= 100;
    if (!isfinite(f)) {
        const char *name = isnan(f) ? "nan" : "inf";
        if (is_upper(spec->type))
            name = isnan(f) ? "NAN" : "INF";
        snprintf(out, 8, "%s%s", name, spec->type == '%' ? "%" : "");
        *ret = pr_ev_of_str(out, strlen(out));
        return true;
    }
    *ret = pr_ev_of_str(out, float_text(out, room, f, spec));
    return true;
}

bool pr_ex_int_digits(struct pr_ex *x, int64_t i, const struct pr_ex_spec *spec,
                      struct pr_ev *ret)
{
    const char *letters =
        spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = spec->type == 'b'                        ? 2
                    : spec->type == 'o'                      ? 8
                    : spec->type == 'x' || spec->type == 'X' ? 16
                                                             : 10;
    char text[64], *p = text + sizeof text;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    struct pr_ex_sb b = {.x = x};
    size_t len;

    do
        *--p = letters[n % base];
    while (n /= base);
    len = (size_t)(text + sizeof text - p);
    if (spec->precision > (int)len)
        pr_ex_fill(&b, "0", 1, (size_t)spec->precision - len);
    pr_ex_add(&b, p, len);
    return pr_ex_sb_value(&b, ret);
}

/* The whole part of digits with a separator every so often, at least width
 * characters long by zeros in front. */
static void grouped(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                    const char *s, size_t n, size_t width)
{
    size_t every = strchr("boxX", spec->type) && spec->type ? 4 : 3;
    size_t total = n;

    if (!spec->group) {
        if (width > n)
            pr_ex_fill(b, "0", 1, width - n);
        pr_ex_add(b, s, n);
        return;
    }
    while (total + (total - 1) / every < width)
        total++;
    for (size_t left = total; left && !b->x->rc; left--) {
        if (left != total && left % every == 0)
            pr_ex_add(b, &spec->group, 1);
        pr_ex_add(b, left > n ? "0" : s + n - left, 1);
    }
}

static const char *prefix_of(const struct pr_ex_spec *spec)
{
    if (!spec->alt)
        return "";
    switch (spec->type) {
    case 'b':
        return "0b";
    case 'o':
        return "0o";
    case 'x':
        return "0x";
    case 'X':
        return "0X";
    default:
        return "";
    }
}

static void pad(struct pr_ex_sb *b, const struct pr_ex_spec *spec, size_t n)
{
    pr_ex_fill(b, spec->fill_len ? spec->fill : " ",
               spec->fill_len ? spec->fill_len : 1, n);
}

/* text between its padding; width counted in code points. */
static bool padded(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                   char align, const struct pr_ev *text)
{
    size_t len = pr_ex_cp_count(text->s, text->len);
    size_t width = (size_t)spec->width;
    size_t room = width > len ? width - len : 0;
    size_t before = align == '<' ? 0 : align == '^' ? room / 2 : room;

    pad(b, spec, before);
    pr_ex_add(b, text->s, text->len);
    pad(b, spec, room - before);
    return !b->x->rc;
}

/* How many of the characters are digits that may be grouped. */
static size_t whole_digits(const struct pr_ex_spec *spec,
                           const struct pr_ev *digits)
{
    size_t n = 0;

    if (spec->type == 'x' || spec->type == 'X')
        return digits->len;
    while (n < digits->len && digits->s[n] >= '0' && digits->s[n] <= '9')
        n++;
    return n;
}

static size_t missing(size_t width, size_t len)
{
    return width > len ? width - len : 0;
}

bool pr_ex_put_number(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                      bool negative, const struct pr_ev *digits)
{
    struct pr_ex_sb number = {.x = b->x};
    struct pr_ev text;
    char sign = negative ? '-' : spec->sign == '-' ? '\0' : spec->sign;
    bool inside = spec->align == '='; /* padding after the sign */
    bool zeros = inside && spec->fill_len == 1 && spec->fill[0] == '0';
    size_t n = whole_digits(spec, digits), width = (size_t)spec->width;

    pr_ex_add(&number, &sign, sign != '\0');
    pr_ex_str(&number, prefix_of(spec));
    if (inside && !zeros)
        pad(&number, spec, missing(width, number.len + digits->len));
    width = zeros ? missing(width, number.len + digits->len - n) : 0;
    if (n)
        grouped(&number, spec, digits->s, n, width);
    else
        pr_ex_fill(&number, "0", 1, width); /* inf and nan */
    pr_ex_add(&number, digits->s + n, digits->len - n);
    return pr_ex_sb_value(&number, &text) &&
           padded(b, spec, inside || !spec->align ? '>' : spec->align, &text);
}

bool pr_ex_put_text(struct pr_ex_sb *b, const struct pr_ex_spec *spec,
                    const struct pr_ev *text)
{
    struct pr_ev cut = *text;

    if (!pr_ex_work(b->x, text->len))
        return false;
    if (spec->precision >= 0)
        cut.len = (uint32_t)pr_ex_cp_offset(text->s, text->len,
                                            (size_t)spec->precision);
    return padded(b, spec, spec->align ? spec->align : '<', &cut);
}
