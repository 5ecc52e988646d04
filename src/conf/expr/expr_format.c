/* The three ways of formatting: %, format() and 'text'.format(...). */
#include "base/text.h"
#include "base/value.h"
#include "conf/expr/expr_eval.h"
#include "conf/expr/expr_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what all share: digits of a number, and padding around them */

/* A number from *p on; -1: over 1 MiB, which is refused. 0: none there. */
static int expr_read_spec_number(const char **p, const char *end)
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

static bool expr_float_digits(struct pr_expr *x, double f,
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

static bool expr_write_padded(struct pr_expr_buf *b,
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

/* ---- 'text' % values, Python's old way */

struct percent {
    struct pr_expr *x;
    const char *p, *end;
    const struct pr_expr_value *args;      /* one value, or a tuple of them */
    const struct pr_expr_value *key_value; /* of %(key)s, else NULL */
    uint32_t used;
    bool single_used;
};

static bool next_arg(struct percent *f, struct pr_expr_value *ret)
{
    if (f->key_value) {
        *ret = *f->key_value;
        return true;
    }
    if (f->args->kind == EV_TUPLE) {
        if (f->used == f->args->len)
            return pr_expr_fail(f->x, "not enough values for '%%'");
        *ret = f->args->items[f->used++];
        return true;
    }
    if (f->single_used)
        return pr_expr_fail(f->x, "not enough values for '%%'");
    f->single_used = true;
    *ret = *f->args;
    return true;
}

/* (key) after the %. */
static bool percent_read_key(struct percent *f)
{
    const char *close = f->p + 1;
    struct pr_expr_value key;
    int depth = 1;

    for (; close < f->end; close++) {
        depth += (*close == '(') - (*close == ')');
        if (!depth)
            break;
    }
    if (close == f->end)
        return pr_expr_fail(f->x, "'%%(' without its ')'");
    if (f->args->kind != EV_DICT)
        return pr_expr_fail(f->x, "'%%(...)' wants a dict, got %s",
                            pr_expr_value_name(f->args));
    key = pr_expr_new_str(f->p + 1, (size_t)(close - f->p - 1));
    f->key_value = pr_expr_dict_get(f->x, f->args, &key);
    if (!f->key_value)
        return f->x->rc ? false
                        : pr_expr_fail(f->x, "the dict has no key '%.*s'",
                                       key.len < 60 ? (int)key.len : 60, key.s);
    f->p = close + 1;
    return true;
}

static void percent_read_flags(struct percent *f, struct pr_expr_spec *s)
{
    for (; f->p < f->end && strchr("-+ #0", *f->p) && *f->p; f->p++) {
        if (*f->p == '-')
            s->align = '<';
        else if (*f->p == '+' || (*f->p == ' ' && s->sign != '+'))
            s->sign = *f->p;
        else if (*f->p == '#')
            s->alt = true;
        else if (*f->p == '0')
            s->zero = true;
    }
}

/* Digits or a star. */
static bool percent_read_size(struct percent *f, int *ret)
{
    struct pr_expr_value v;

    if (f->p < f->end && *f->p == '*') {
        f->p++;
        if (!next_arg(f, &v))
            return false;
        if (!pr_expr_is_int(&v))
            return pr_expr_fail(f->x, "'*' wants a whole number, got %s",
                                pr_expr_value_name(&v));
        if (pr_expr_value_int(&v) > PR_EXPR_BYTES ||
            pr_expr_value_int(&v) < -PR_EXPR_BYTES)
            return pr_expr_fail_too_long(f->x);
        *ret = (int)pr_expr_value_int(&v);
        return true;
    }
    *ret = expr_read_spec_number(&f->p, f->end);
    return *ret >= 0 || pr_expr_fail_too_long(f->x);
}

static bool percent_read_spec(struct percent *f, struct pr_expr_spec *s)
{
    *s = (struct pr_expr_spec){.precision = -1};
    f->key_value = NULL;
    if (f->p < f->end && *f->p == '(' && !percent_read_key(f))
        return false;
    percent_read_flags(f, s);
    if (!percent_read_size(f, &s->width))
        return false;
    if (s->width < 0) {
        s->width = -s->width;
        s->align = '<';
    }
    if (f->p < f->end && *f->p == '.') {
        f->p++;
        if (!percent_read_size(f, &s->precision))
            return false;
        if (s->precision < 0)
            s->precision = 0;
    }
    while (f->p < f->end && strchr("hlL", *f->p) && *f->p)
        f->p++; /* accepted and of no meaning */
    if (f->p == f->end)
        return pr_expr_fail(f->x, "'%%' at the end of the format");
    s->type = *f->p++;
    return true;
}

static bool bad_arg(struct percent *f, char type, const struct pr_expr_value *v)
{
    return pr_expr_fail(f->x, "'%%%c' wants a number, got %s", type,
                        pr_expr_value_name(v));
}

static void percent_set_zero_fill(struct pr_expr_spec *s)
{
    if (!s->zero || s->align)
        return;
    s->align = '=';
    s->fill[0] = '0';
    s->fill_len = 1;
}

static bool percent_write_int(struct percent *f, struct pr_expr_spec *s,
                              const struct pr_expr_value *v,
                              struct pr_expr_buf *b)
{
    struct pr_expr_value digits, n = *v;

    if (s->type == 'i' || s->type == 'u')
        s->type = 'd';
    if (v->kind == EV_FLOAT && s->type == 'd') {
        if (!pr_expr_float_to_int(f->x, v->f, &n))
            return false;
    } else if (!pr_expr_is_int(v)) {
        return bad_arg(f, s->type, v);
    }
    percent_set_zero_fill(s);
    return pr_expr_int_digits(f->x, pr_expr_value_int(&n), s, &digits) &&
           pr_expr_write_number(b, s, pr_expr_value_int(&n) < 0, &digits);
}

static bool percent_write_float(struct percent *f, struct pr_expr_spec *s,
                                const struct pr_expr_value *v,
                                struct pr_expr_buf *b)
{
    struct pr_expr_value digits;
    double d;

    if (!pr_expr_is_number(v))
        return bad_arg(f, s->type, v);
    percent_set_zero_fill(s);
    d = pr_expr_value_float(v);
    return expr_float_digits(f->x, d, s, &digits) &&
           pr_expr_write_number(b, s, signbit(d) && !isnan(d), &digits);
}

static bool put_char(struct percent *f, struct pr_expr_spec *s,
                     const struct pr_expr_value *v, struct pr_expr_buf *b)
{
    struct pr_expr_value text = *v;
    char utf8[4];

    if (pr_expr_is_int(v)) {
        int64_t c = pr_expr_value_int(v);
        if (c < 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            return pr_expr_fail(f->x, "'%%c' wants a code point");
        text = pr_expr_new_str(utf8, pr_utf8_put(utf8, (unsigned)c));
    } else if (v->kind != EV_STR ||
               pr_expr_codepoint_count(v->s, v->len) != 1) {
        return pr_expr_fail(f->x, "'%%c' wants one character");
    }
    s->precision = -1;
    return expr_write_padded(b, s, &text);
}

static bool percent_write_conversion(struct percent *f, struct pr_expr_spec *s,
                                     struct pr_expr_buf *b)
{
    struct pr_expr_buf text = {.x = f->x};
    struct pr_expr_value v, str;

    if (s->type == '%') {
        pr_expr_buf_add(b, "%", 1);
        return true;
    }
    if (!strchr("sradiuoxXeEfFgGc", s->type) || !s->type)
        return pr_expr_fail(f->x, "unknown format '%%%c'",
                            s->type >= 0x20 && s->type < 0x7f ? s->type : '?');
    if (!next_arg(f, &v))
        return false;
    if (!s->align && strchr("srac", s->type))
        s->align = '>';
    if (strchr("diuoxX", s->type))
        return percent_write_int(f, s, &v, b);
    if (strchr("eEfFgG", s->type))
        return percent_write_float(f, s, &v, b);
    if (s->type == 'c')
        return put_char(f, s, &v, b);
    if (s->type == 's')
        pr_expr_write_text(&text, &v);
    else
        pr_expr_write_repr(&text, &v);
    return pr_expr_buf_value(&text, &str) && expr_write_padded(b, s, &str);
}

bool pr_expr_format_percent(struct pr_expr *x, const struct pr_expr_value *fmt,
                            const struct pr_expr_value *args,
                            struct pr_expr_value *ret)
{
    struct percent f = {
        .x = x, .p = fmt->s, .end = fmt->s + fmt->len, .args = args};
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_spec spec;

    while (f.p < f.end && !x->rc) {
        const char *at = memchr(f.p, '%', (size_t)(f.end - f.p));

        pr_expr_buf_add(&b, f.p, (size_t)((at ? at : f.end) - f.p));
        if (!at)
            break;
        f.p = at + 1;
        if (!percent_read_spec(&f, &spec) ||
            !percent_write_conversion(&f, &spec, &b))
            return false;
    }
    if (args->kind == EV_TUPLE
            ? f.used < args->len
            : !f.single_used && args->kind != EV_DICT && args->kind != EV_LIST)
        return pr_expr_fail(x, "more values for '%%' than places in the text");
    return pr_expr_buf_value(&b, ret);
}

/* ---- format() and 'text'.format(...): fields, and the rules of their specs */

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static void format_read_align(const char **p, const char *end,
                              struct pr_expr_spec *s)
{
    size_t n = *p < end ? pr_expr_codepoint_len(*p, (size_t)(end - *p)) : 0;

    if (n && *p + n < end && is_align((*p)[n])) {
        memcpy(s->fill, *p, n);
        s->fill_len = (uint8_t)n;
        s->align = (*p)[n];
        *p += n + 1;
    } else if (n && is_align(**p)) {
        s->align = *(*p)++;
    }
}

static bool format_accept_char(const char **p, const char *end, const char *any,
                               char *ret)
{
    if (*p == end || !**p || !strchr(any, **p))
        return false;
    *ret = *(*p)++;
    return true;
}

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static bool parse_spec(struct pr_expr *x, const char *p, size_t len,
                       struct pr_expr_spec *s)
{
    const char *end = p + len;
    char c;

    *s = (struct pr_expr_spec){.precision = -1};
    format_read_align(&p, end, s);
    format_accept_char(&p, end, "+- ", &s->sign);
    s->alt = format_accept_char(&p, end, "#", &c);
    s->zero = format_accept_char(&p, end, "0", &c);
    s->width = expr_read_spec_number(&p, end);
    if (s->width < 0)
        return pr_expr_fail_too_long(x);
    format_accept_char(&p, end, ",_", &s->group);
    if (format_accept_char(&p, end, ".", &c)) {
        if (p == end || *p < '0' || *p > '9')
            return pr_expr_fail(x, "a number is missing after '.' in a format");
        s->precision = expr_read_spec_number(&p, end);
        if (s->precision < 0)
            return pr_expr_fail_too_long(x);
    }
    format_accept_char(&p, end, "sdbcoxXneEfFgG%", &s->type);
    if (p != end)
        return pr_expr_fail(x, "invalid format '%.*s'",
                            len < 40 ? (int)len : 40, end - len);
    return true;
}

static bool format_fail_type(struct pr_expr *x, const struct pr_expr_spec *s,
                             const struct pr_expr_value *v)
{
    return pr_expr_fail(x, "format '%c' does not work on %s", s->type,
                        pr_expr_value_name(v));
}

static void format_set_zero_fill(struct pr_expr_spec *s, bool number)
{
    if (!s->zero)
        return;
    if (!s->fill_len) {
        s->fill[0] = '0';
        s->fill_len = 1;
    }
    if (!s->align && number)
        s->align = '=';
}

static bool format_text(struct pr_expr_buf *b, struct pr_expr_spec *s,
                        const struct pr_expr_value *v)
{
    if (s->type && s->type != 's')
        return format_fail_type(b->x, s, v);
    if (s->sign || s->alt || s->group || s->align == '=')
        return pr_expr_fail(b->x, "a format of text has no sign, '#', '=' or "
                                  "','");
    format_set_zero_fill(s, false);
    return expr_write_padded(b, s, v);
}

static bool format_float(struct pr_expr_buf *b, struct pr_expr_spec *s,
                         const struct pr_expr_value *v)
{
    double f = pr_expr_value_float(v);
    struct pr_expr_value digits;

    if (s->type && !strchr("neEfFgG%", s->type))
        return format_fail_type(b->x, s, v);
    if (s->type == 'n') {
        s->type = 'g';
        if (s->group)
            return pr_expr_fail(b->x, "',' cannot be used with format 'n'");
    }
    format_set_zero_fill(s, true);
    return expr_float_digits(b->x, f, s, &digits) &&
           pr_expr_write_number(b, s, signbit(f) && !isnan(f), &digits);
}

static bool format_char(struct pr_expr_buf *b, struct pr_expr_spec *s,
                        const struct pr_expr_value *v)
{
    struct pr_expr_value one = *v, text;
    const struct pr_expr_def *chr =
        pr_expr_find_def(&pr_expr_builtins, "chr", 3);
    struct pr_expr_vec args = {.x = b->x, .items = &one, .len = 1, .cap = 1};

    if (s->sign || s->alt || s->group || s->precision >= 0)
        return pr_expr_fail(b->x, "format 'c' has only a width");
    format_set_zero_fill(s, false);
    if (!s->align || s->align == '=')
        s->align = '>';
    return pr_expr_call_def(b->x, chr, NULL, &args, NULL, 0, &text) &&
           expr_write_padded(b, s, &text);
}

static bool format_int(struct pr_expr_buf *b, struct pr_expr_spec *s,
                       const struct pr_expr_value *v)
{
    int64_t i = pr_expr_value_int(v);
    struct pr_expr_value digits;

    if (s->type && strchr("eEfFgG%", s->type))
        return format_float(b, s, v);
    if (s->type == 's')
        return format_fail_type(b->x, s, v);
    if (s->type == 'c')
        return format_char(b, s, v);
    if (s->precision >= 0)
        return pr_expr_fail(b->x, "a format of a whole number has no "
                                  "precision");
    if ((s->group == ',' && s->type && s->type != 'd') ||
        (s->group && s->type == 'n'))
        return pr_expr_fail(b->x, "'%c' cannot be used with format '%c'",
                            s->group, s->type);
    format_set_zero_fill(s, true);
    return pr_expr_int_digits(b->x, i, s, &digits) &&
           pr_expr_write_number(b, s, i < 0, &digits);
}

bool pr_expr_format_value(struct pr_expr_buf *b, const struct pr_expr_value *v,
                          const char *spec, size_t len)
{
    struct pr_expr_spec s;

    if (!len) {
        pr_expr_write_text(b, v);
        return !b->x->rc;
    }
    if (v->kind != EV_STR && !pr_expr_is_number(v))
        return pr_expr_fail(b->x, "%s has no format other than {}",
                            pr_expr_value_name(v));
    if (!parse_spec(b->x, spec, len, &s))
        return false;
    if (v->kind == EV_STR)
        return format_text(b, &s, v);
    return v->kind == EV_FLOAT ? format_float(b, &s, v) : format_int(b, &s, v);
}

struct format {
    struct pr_expr *x;
    const struct pr_expr_call *c;
    const char *p, *end;
    uint32_t next; /* of {} */
    bool automatic, manual;
};

static bool format_get_positional(struct format *f, int64_t at,
                                  struct pr_expr_value *ret)
{
    if (at >= (int64_t)f->c->n)
        return pr_expr_fail(f->x, "'format' has %u values, the text wants more",
                            f->c->n);
    *ret = f->c->a[at];
    return true;
}

static bool format_get_keyword(struct format *f, const char *name, size_t len,
                               struct pr_expr_value *ret)
{
    for (uint32_t i = 0; i < f->c->nkw; i++)
        if (f->c->kw[i].len == len &&
            memcmp(f->c->kw[i].name, name, len) == 0) {
            *ret = f->c->kw[i].value;
            return true;
        }
    return pr_expr_fail(f->x, "'format' is not given '%.*s'",
                        len < 60 ? (int)len : 60, name);
}

static bool format_check_numbering(struct format *f, bool manual)
{
    *(manual ? &f->manual : &f->automatic) = true;
    if (f->automatic && f->manual)
        return pr_expr_fail(f->x, "'format' cannot mix {} and {0}");
    return true;
}

/* The part of a field name before the first [ or . */
static bool first_part(struct format *f, const char *name, size_t len,
                       struct pr_expr_value *ret)
{
    const char *p = name;
    int n;

    if (!len)
        return format_check_numbering(f, false) &&
               format_get_positional(f, f->next++, ret);
    n = expr_read_spec_number(&p, name + len);
    if (p != name + len)
        return format_get_keyword(f, name, len, ret);
    return format_check_numbering(f, true) &&
           format_get_positional(f, n < 0 ? INT64_MAX : n, ret);
}

/* {0[1]}, {d[key]}: the indices after the first part. */
static bool format_apply_indices(struct format *f, const char *p,
                                 const char *end, struct pr_expr_value *v)
{
    while (p < end) {
        const char *close, *digits = p + 1;
        struct pr_expr_value at, next;
        int n;

        if (*p != '[')
            return pr_expr_fail(f->x, "attributes in {} are not supported");
        close = memchr(p, ']', (size_t)(end - p));
        if (!close || close == p + 1)
            return pr_expr_fail(f->x, "'[' without its ']' in {}");
        n = expr_read_spec_number(&digits, close);
        at = digits == close ? pr_expr_new_int(n < 0 ? INT64_MAX : n)
                             : pr_expr_new_str(p + 1, (size_t)(close - p - 1));
        if (!pr_expr_index(f->x, v, &at, &next))
            return false;
        *v = next;
        p = close + 1;
    }
    return true;
}

static bool format_read_field(struct format *f, const char *name,
                              const char *end, struct pr_expr_value *ret)
{
    const char *p = name;

    while (p < end && *p != '[' && *p != '.')
        p++;
    return first_part(f, name, (size_t)(p - name), ret) &&
           format_apply_indices(f, p, end, ret);
}

static bool format_write_text(struct format *f, struct pr_expr_buf *b,
                              int depth);

/* What is after the ':', with {} in it replaced. */
static bool expand_spec(struct format *f, const char *s, const char *end,
                        int depth, struct pr_expr_value *ret)
{
    struct format inner = *f;
    struct pr_expr_buf b = {.x = f->x};

    *ret = pr_expr_new_str(s, (size_t)(end - s));
    if (!memchr(s, '{', (size_t)(end - s)))
        return true;
    if (depth)
        return pr_expr_fail(f->x, "{} inside {} inside {} is not allowed");
    inner.p = s;
    inner.end = end;
    if (!format_write_text(&inner, &b, depth + 1))
        return false;
    f->next = inner.next;
    f->automatic = inner.automatic;
    f->manual = inner.manual;
    return pr_expr_buf_value(&b, ret);
}

static bool format_apply_conversion(struct format *f, char how,
                                    struct pr_expr_value *v)
{
    struct pr_expr_buf b = {.x = f->x};

    if (how == 'r' || how == 'a')
        pr_expr_write_repr(&b, v);
    else if (how == 's')
        pr_expr_write_text(&b, v);
    else
        return pr_expr_fail(f->x, "unknown conversion after '!' in {}");
    return pr_expr_buf_value(&b, v);
}

/* Between the braces: name [!conversion] [:spec] */
static bool format_write_field(struct format *f, const char *s, const char *end,
                               struct pr_expr_buf *b, int depth)
{
    const char *p = s;
    struct pr_expr_value v, spec;
    char how = '\0';

    while (p < end && *p != '!' && *p != ':') {
        if (*p == '[') { /* a key may hold either */
            const char *close = memchr(p, ']', (size_t)(end - p));
            p = close ? close : end - 1;
        }
        p++;
    }
    if (!format_read_field(f, s, p, &v))
        return false;
    if (p < end && *p == '!') {
        if (end - p < 2 || (end - p > 2 && p[2] != ':'))
            return pr_expr_fail(f->x, "bad conversion after '!' in {}");
        how = p[1];
        p += 2;
    }
    if (how && !format_apply_conversion(f, how, &v))
        return false;
    p += p < end;
    return expand_spec(f, p, end, depth, &spec) &&
           pr_expr_format_value(b, &v, spec.s, spec.len);
}

/* The brace that closes the one before s, or NULL. */
static const char *format_find_brace(const char *s, const char *end)
{
    int depth = 1;

    for (; s < end; s++) {
        depth += (*s == '{') - (*s == '}');
        if (!depth)
            return s;
    }
    return NULL;
}

static bool format_write_text(struct format *f, struct pr_expr_buf *b,
                              int depth)
{
    while (f->p < f->end && !f->x->rc) {
        const char *p = f->p, *close;

        while (p < f->end && *p != '{' && *p != '}')
            p++;
        pr_expr_buf_add(b, f->p, (size_t)(p - f->p));
        if (p == f->end)
            break;
        if (p + 1 < f->end && p[1] == *p && !depth) {
            pr_expr_buf_add(b, p, 1);
            f->p = p + 2;
            continue;
        }
        close = *p == '{' ? format_find_brace(p + 1, f->end) : NULL;
        if (!close)
            return pr_expr_fail(f->x, "a single '%c' in the text of 'format'",
                                *p);
        f->p = close + 1;
        if (!format_write_field(f, p + 1, close, b, depth))
            return false;
    }
    return !f->x->rc;
}

bool pr_expr_format_method(struct pr_expr *x, const struct pr_expr_call *c,
                           struct pr_expr_value *ret)
{
    struct format f = {
        .x = x, .c = c, .p = c->self->s, .end = c->self->s + c->self->len};
    struct pr_expr_buf b = {.x = x};

    return format_write_text(&f, &b, 0) && pr_expr_buf_value(&b, ret);
}
