/* 'text' % values, as Python's old way of formatting has it. */
#include "conf/expr/expr_value.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

struct percent {
    struct pr_ex *x;
    const char *p, *end;
    const struct pr_ev *args;      /* one value, or a tuple of them */
    const struct pr_ev *key_value; /* of %(key)s, else NULL */
    uint32_t used;
    bool single_used;
};

static bool next_arg(struct percent *f, struct pr_ev *ret)
{
    if (f->key_value) {
        *ret = *f->key_value;
        return true;
    }
    if (f->args->kind == EV_TUPLE) {
        if (f->used == f->args->len)
            return pr_ex_fail(f->x, "not enough values for '%%'");
        *ret = f->args->items[f->used++];
        return true;
    }
    if (f->single_used)
        return pr_ex_fail(f->x, "not enough values for '%%'");
    f->single_used = true;
    *ret = *f->args;
    return true;
}

/* (key) after the %. */
static bool take_key(struct percent *f)
{
    const char *close = f->p + 1;
    struct pr_ev key;
    int depth = 1;

    for (; close < f->end; close++) {
        depth += (*close == '(') - (*close == ')');
        if (!depth)
            break;
    }
    if (close == f->end)
        return pr_ex_fail(f->x, "'%%(' without its ')'");
    if (f->args->kind != EV_DICT)
        return pr_ex_fail(f->x, "'%%(...)' wants a dict, got %s",
                          pr_ev_name(f->args));
    key = pr_ev_of_str(f->p + 1, (size_t)(close - f->p - 1));
    f->key_value = pr_ex_dict_get(f->x, f->args, &key);
    if (!f->key_value)
        return f->x->rc ? false
                        : pr_ex_fail(f->x, "the dict has no key '%.*s'",
                                     key.len < 60 ? (int)key.len : 60, key.s);
    f->p = close + 1;
    return true;
}

static void take_flags(struct percent *f, struct pr_ex_spec *s)
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
    struct pr_ev v;

    if (f->p < f->end && *f->p == '*') {
        f->p++;
        if (!next_arg(f, &v))
            return false;
        if (!pr_ev_is_int(&v))
            return pr_ex_fail(f->x, "'*' wants a whole number, got %s",
                              pr_ev_name(&v));
        if (pr_ev_int(&v) > PR_EX_BYTES || pr_ev_int(&v) < -PR_EX_BYTES)
            return pr_ex_too_long(f->x);
        *ret = (int)pr_ev_int(&v);
        return true;
    }
    *ret = pr_ex_format_number(&f->p, f->end);
    return *ret >= 0 || pr_ex_too_long(f->x);
}

static bool take_spec(struct percent *f, struct pr_ex_spec *s)
{
    *s = (struct pr_ex_spec){.precision = -1};
    f->key_value = NULL;
    if (f->p < f->end && *f->p == '(' && !take_key(f))
        return false;
    take_flags(f, s);
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
        return pr_ex_fail(f->x, "'%%' at the end of the format");
    s->type = *f->p++;
    return true;
}

static bool bad_arg(struct percent *f, char type, const struct pr_ev *v)
{
    return pr_ex_fail(f->x, "'%%%c' wants a number, got %s", type,
                      pr_ev_name(v));
}

static void zero_fill(struct pr_ex_spec *s)
{
    if (!s->zero || s->align)
        return;
    s->align = '=';
    s->fill[0] = '0';
    s->fill_len = 1;
}

static bool put_int(struct percent *f, struct pr_ex_spec *s,
                    const struct pr_ev *v, struct pr_ex_sb *b)
{
    struct pr_ev digits, n = *v;

    if (s->type == 'i' || s->type == 'u')
        s->type = 'd';
    if (v->kind == EV_FLOAT && s->type == 'd') {
        if (!pr_ex_float_to_int(f->x, v->f, &n))
            return false;
    } else if (!pr_ev_is_int(v)) {
        return bad_arg(f, s->type, v);
    }
    zero_fill(s);
    return pr_ex_int_digits(f->x, pr_ev_int(&n), s, &digits) &&
           pr_ex_put_number(b, s, pr_ev_int(&n) < 0, &digits);
}

static bool put_float(struct percent *f, struct pr_ex_spec *s,
                      const struct pr_ev *v, struct pr_ex_sb *b)
{
    struct pr_ev digits;
    double d;

    if (!pr_ev_is_number(v))
        return bad_arg(f, s->type, v);
    zero_fill(s);
    d = pr_ev_float(v);
    return pr_ex_float_digits(f->x, d, s, &digits) &&
           pr_ex_put_number(b, s, signbit(d) && !isnan(d), &digits);
}

static bool put_char(struct percent *f, struct pr_ex_spec *s,
                     const struct pr_ev *v, struct pr_ex_sb *b)
{
    struct pr_ev text = *v;
    char utf8[4];

    if (pr_ev_is_int(v)) {
        int64_t c = pr_ev_int(v);
        if (c < 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            return pr_ex_fail(f->x, "'%%c' wants a code point");
        text = pr_ev_of_str(utf8, pr_utf8_put(utf8, (unsigned)c));
    } else if (v->kind != EV_STR || pr_ex_cp_count(v->s, v->len) != 1) {
        return pr_ex_fail(f->x, "'%%c' wants one character");
    }
    s->precision = -1;
    return pr_ex_put_text(b, s, &text);
}

static bool put_one(struct percent *f, struct pr_ex_spec *s, struct pr_ex_sb *b)
{
    struct pr_ex_sb text = {.x = f->x};
    struct pr_ev v, str;

    if (s->type == '%') {
        pr_ex_add(b, "%", 1);
        return true;
    }
    if (!strchr("sradiuoxXeEfFgGc", s->type) || !s->type)
        return pr_ex_fail(f->x, "unknown format '%%%c'",
                          s->type >= 0x20 && s->type < 0x7f ? s->type : '?');
    if (!next_arg(f, &v))
        return false;
    if (!s->align && strchr("srac", s->type))
        s->align = '>';
    if (strchr("diuoxX", s->type))
        return put_int(f, s, &v, b);
    if (strchr("eEfFgG", s->type))
        return put_float(f, s, &v, b);
    if (s->type == 'c')
        return put_char(f, s, &v, b);
    if (s->type == 's')
        pr_ex_text(&text, &v);
    else
        pr_ex_repr(&text, &v);
    return pr_ex_sb_value(&text, &str) && pr_ex_put_text(b, s, &str);
}

bool pr_ex_percent(struct pr_ex *x, const struct pr_ev *fmt,
                   const struct pr_ev *args, struct pr_ev *ret)
{
    struct percent f = {
        .x = x, .p = fmt->s, .end = fmt->s + fmt->len, .args = args};
    struct pr_ex_sb b = {.x = x};
    struct pr_ex_spec spec;

    while (f.p < f.end && !x->rc) {
        const char *at = memchr(f.p, '%', (size_t)(f.end - f.p));

        pr_ex_add(&b, f.p, (size_t)((at ? at : f.end) - f.p));
        if (!at)
            break;
        f.p = at + 1;
        if (!take_spec(&f, &spec) || !put_one(&f, &spec, &b))
            return false;
    }
    if (args->kind == EV_TUPLE
            ? f.used < args->len
            : !f.single_used && args->kind != EV_DICT && args->kind != EV_LIST)
        return pr_ex_fail(x, "more values for '%%' than places in the text");
    return pr_ex_sb_value(&b, ret);
}
