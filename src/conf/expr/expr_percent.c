/* 'text' % values, as Python's old way of formatting has it. */
#include "base/text.h"
#include "conf/expr/expr_value.h"

#include <math.h>
#include <string.h>

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
static bool take_key(struct percent *f)
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
static bool take_size(struct percent *f, int *ret)
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
    *ret = pr_expr_read_spec_number(&f->p, f->end);
    return *ret >= 0 || pr_expr_fail_too_long(f->x);
}

static bool take_spec(struct percent *f, struct pr_expr_spec *s)
{
    *s = (struct pr_expr_spec){.precision = -1};
    f->key_value = NULL;
    if (f->p < f->end && *f->p == '(' && !take_key(f))
        return false;
    percent_read_flags(f, s);
    if (!take_size(f, &s->width))
        return false;
    if (s->width < 0) {
        s->width = -s->width;
        s->align = '<';
    }
    if (f->p < f->end && *f->p == '.') {
        f->p++;
        if (!take_size(f, &s->precision))
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
    return pr_expr_float_digits(f->x, d, s, &digits) &&
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
    return pr_expr_write_padded(b, s, &text);
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
    return pr_expr_buf_value(&text, &str) && pr_expr_write_padded(b, s, &str);
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
        if (!take_spec(&f, &spec) || !percent_write_conversion(&f, &spec, &b))
            return false;
    }
    if (args->kind == EV_TUPLE
            ? f.used < args->len
            : !f.single_used && args->kind != EV_DICT && args->kind != EV_LIST)
        return pr_expr_fail(x, "more values for '%%' than places in the text");
    return pr_expr_buf_value(&b, ret);
}
