/* What % and .format share: digits of a number, and padding around them. */
#include "base/value.h"
#include "conf/expr/expr_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pr_expr_read_spec_number(const char **p, const char *end)
{
    int n = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        if (n <= PR_EXPR_BYTES)
            n = n * 10 + (**p - '0');
    return n > PR_EXPR_BYTES ? -1 : n;
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

static size_t spec_print_float(char *out, size_t size, double f,
                               const struct pr_expr_spec *spec)
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

bool pr_expr_float_digits(struct pr_expr *x, double f,
                          const struct pr_expr_spec *spec,
                          struct pr_expr_value *ret)
{
    size_t room = float_room(spec->precision);
    char *out;

    if (spec->precision > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    out = pr_expr_alloc(x, room);
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
        *ret = pr_expr_new_str(out, strlen(out));
        return true;
    }
    *ret = pr_expr_new_str(out, spec_print_float(out, room, f, spec));
    return true;
}

bool pr_expr_int_digits(struct pr_expr *x, int64_t i,
                        const struct pr_expr_spec *spec,
                        struct pr_expr_value *ret)
{
    const char *letters =
        spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = spec->type == 'b'                        ? 2
                    : spec->type == 'o'                      ? 8
                    : spec->type == 'x' || spec->type == 'X' ? 16
                                                             : 10;
    char text[64], *p = text + sizeof text;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    struct pr_expr_buf b = {.x = x};
    size_t len;

    do
        *--p = letters[n % base];
    while (n /= base);
    len = (size_t)(text + sizeof text - p);
    if (spec->precision > (int)len)
        pr_expr_buf_fill(&b, "0", 1, (size_t)spec->precision - len);
    pr_expr_buf_add(&b, p, len);
    return pr_expr_buf_value(&b, ret);
}

/* The whole part of digits with a separator every so often, at least width
 * characters long by zeros in front. */
static void spec_write_grouped(struct pr_expr_buf *b,
                               const struct pr_expr_spec *spec, const char *s,
                               size_t n, size_t width)
{
    size_t every = strchr("boxX", spec->type) && spec->type ? 4 : 3;
    size_t total = n;

    if (!spec->group) {
        if (width > n)
            pr_expr_buf_fill(b, "0", 1, width - n);
        pr_expr_buf_add(b, s, n);
        return;
    }
    while (total + (total - 1) / every < width)
        total++;
    for (size_t left = total; left && !b->x->rc; left--) {
        if (left != total && left % every == 0)
            pr_expr_buf_add(b, &spec->group, 1);
        pr_expr_buf_add(b, left > n ? "0" : s + n - left, 1);
    }
}

static const char *prefix_of(const struct pr_expr_spec *spec)
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

static void spec_write_padding(struct pr_expr_buf *b,
                               const struct pr_expr_spec *spec, size_t n)
{
    pr_expr_buf_fill(b, spec->fill_len ? spec->fill : " ",
                     spec->fill_len ? spec->fill_len : 1, n);
}

/* text between its padding; width counted in code points. */
static bool spec_write_padded(struct pr_expr_buf *b,
                              const struct pr_expr_spec *spec, char align,
                              const struct pr_expr_value *text)
{
    size_t len = pr_expr_codepoint_count(text->s, text->len);
    size_t width = (size_t)spec->width;
    size_t room = width > len ? width - len : 0;
    size_t before = align == '<' ? 0 : align == '^' ? room / 2 : room;

    spec_write_padding(b, spec, before);
    pr_expr_buf_add(b, text->s, text->len);
    spec_write_padding(b, spec, room - before);
    return !b->x->rc;
}

/* How many of the characters are digits that may be grouped. */
static size_t whole_digits(const struct pr_expr_spec *spec,
                           const struct pr_expr_value *digits)
{
    size_t n = 0;

    if (spec->type == 'x' || spec->type == 'X')
        return digits->len;
    while (n < digits->len && digits->s[n] >= '0' && digits->s[n] <= '9')
        n++;
    return n;
}

static size_t spec_missing_width(size_t width, size_t len)
{
    return width > len ? width - len : 0;
}

bool pr_expr_write_number(struct pr_expr_buf *b,
                          const struct pr_expr_spec *spec, bool negative,
                          const struct pr_expr_value *digits)
{
    struct pr_expr_buf number = {.x = b->x};
    struct pr_expr_value text;
    char sign = negative ? '-' : spec->sign == '-' ? '\0' : spec->sign;
    bool inside = spec->align == '='; /* padding after the sign */
    bool zeros = inside && spec->fill_len == 1 && spec->fill[0] == '0';
    size_t n = whole_digits(spec, digits), width = (size_t)spec->width;

    pr_expr_buf_add(&number, &sign, sign != '\0');
    pr_expr_buf_str(&number, prefix_of(spec));
    if (inside && !zeros)
        spec_write_padding(&number, spec,
                           spec_missing_width(width, number.len + digits->len));
    width = zeros ? spec_missing_width(width, number.len + digits->len - n) : 0;
    if (n)
        spec_write_grouped(&number, spec, digits->s, n, width);
    else
        pr_expr_buf_fill(&number, "0", 1, width); /* inf and nan */
    pr_expr_buf_add(&number, digits->s + n, digits->len - n);
    return pr_expr_buf_value(&number, &text) &&
           spec_write_padded(b, spec,
                             inside || !spec->align ? '>' : spec->align, &text);
}

bool pr_expr_write_padded(struct pr_expr_buf *b,
                          const struct pr_expr_spec *spec,
                          const struct pr_expr_value *text)
{
    struct pr_expr_value cut = *text;

    if (!pr_expr_charge_work(b->x, text->len))
        return false;
    if (spec->precision >= 0)
        cut.len = (uint32_t)pr_expr_codepoint_offset(text->s, text->len,
                                                     (size_t)spec->precision);
    return spec_write_padded(b, spec, spec->align ? spec->align : '<', &cut);
}
