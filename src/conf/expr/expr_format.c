/* 'text'.format(...) and format(): fields, and the rules of their specs. */
#include "conf/expr/expr_call.h"

#include <math.h>
#include <string.h>

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static void take_align(const char **p, const char *end, struct pr_expr_spec *s)
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
    take_align(&p, end, s);
    format_accept_char(&p, end, "+- ", &s->sign);
    s->alt = format_accept_char(&p, end, "#", &c);
    s->zero = format_accept_char(&p, end, "0", &c);
    s->width = pr_expr_read_spec_number(&p, end);
    if (s->width < 0)
        return pr_expr_fail_too_long(x);
    format_accept_char(&p, end, ",_", &s->group);
    if (format_accept_char(&p, end, ".", &c)) {
        if (p == end || *p < '0' || *p > '9')
            return pr_expr_fail(x, "a number is missing after '.' in a format");
        s->precision = pr_expr_read_spec_number(&p, end);
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
    return pr_expr_write_padded(b, s, v);
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
    return pr_expr_float_digits(b->x, f, s, &digits) &&
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
           pr_expr_write_padded(b, s, &text);
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
    n = pr_expr_read_spec_number(&p, name + len);
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
        n = pr_expr_read_spec_number(&digits, close);
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
