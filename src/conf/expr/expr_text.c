/* str() and repr() of values, as Python writes them. */
#include "base/text.h"
#include "base/value.h"
#include "conf/expr/expr_value.h"

#include <stdio.h>
#include <string.h>

static void repr_float(struct pr_expr_buf *b, double f)
{
    char text[32];
    size_t n = pr_float_repr(text, f);

    pr_expr_buf_add(b, text, n);
}

/* What Python's repr() shows as an escape above ASCII: controls, blanks other
 * than the plain one, and characters that only steer the layout. */
static bool is_unprintable(unsigned c)
{
    return c < 0xa1 || c == 0xad || c == 0x1680 || c == 0x180e ||
           (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
           (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff ||
           (c >= 0xd800 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xfffb) ||
           c >= 0xe0000;
}

static void repr_wide(struct pr_expr_buf *b, const char *s, size_t len)
{
    unsigned c = pr_expr_codepoint_at(s, len);
    char text[16];

    if (!is_unprintable(c)) {
        pr_expr_buf_add(b, s, len);
        return;
    }
    snprintf(text, sizeof text,
             c < 0x100     ? "\\x%02x"
             : c < 0x10000 ? "\\u%04x"
                           : "\\U%08x",
             c);
    pr_expr_buf_str(b, text);
}

static void repr_ascii(struct pr_expr_buf *b, char c, char quote)
{
    char text[8] = {'\\', c, '\0'};

    if (c == '\n')
        text[1] = 'n';
    else if (c == '\r')
        text[1] = 'r';
    else if (c == '\t')
        text[1] = 't';
    else if ((unsigned char)c < 0x20 || c == 0x7f)
        snprintf(text, sizeof text, "\\x%02x", (unsigned)c);
    else if (c != '\\' && c != quote)
        memmove(text, text + 1, 2);
    pr_expr_buf_str(b, text);
}

static void repr_str(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    char quote =
        v->len && memchr(v->s, '\'', v->len) && !memchr(v->s, '"', v->len)
            ? '"'
            : '\'';

    pr_expr_buf_add(b, &quote, 1);
    for (uint32_t i = 0; i < v->len && !b->x->rc;) {
        size_t n = pr_expr_codepoint_len(v->s + i, v->len - i);
        if ((unsigned char)v->s[i] < 0x80)
            repr_ascii(b, v->s[i], quote);
        else
            repr_wide(b, v->s + i, n);
        i += (uint32_t)n;
    }
    pr_expr_buf_add(b, &quote, 1);
}

static void repr_items(struct pr_expr_buf *b, const struct pr_expr_value *v,
                       const char *open, const char *close)
{
    pr_expr_buf_str(b, open);
    for (uint32_t i = 0; i < v->len && !b->x->rc; i++) {
        if (i)
            pr_expr_buf_add(b, ", ", 2);
        pr_expr_write_repr(b, &v->items[i]);
    }
    if (v->kind == EV_TUPLE && v->len == 1)
        pr_expr_buf_add(b, ",", 1);
    pr_expr_buf_str(b, close);
}

static void repr_dict(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    pr_expr_buf_add(b, "{", 1);
    for (uint32_t i = 0; i < v->len && !b->x->rc; i++) {
        if (i)
            pr_expr_buf_add(b, ", ", 2);
        pr_expr_write_repr(b, &v->items[2 * i]);
        pr_expr_buf_add(b, ": ", 2);
        pr_expr_write_repr(b, &v->items[2 * i + 1]);
    }
    pr_expr_buf_add(b, "}", 1);
}

static void repr_range(struct pr_expr_buf *b, const struct pr_expr_range *r)
{
    pr_expr_buf_str(b, "range(");
    pr_expr_buf_int(b, r->start);
    pr_expr_buf_str(b, ", ");
    pr_expr_buf_int(b, r->stop);
    if (r->step != 1) {
        pr_expr_buf_str(b, ", ");
        pr_expr_buf_int(b, r->step);
    }
    pr_expr_buf_str(b, ")");
}

static void repr_uuid(struct pr_expr_buf *b, const unsigned char *bytes)
{
    static const char hex[] = "0123456789abcdef";
    char text[36], *p = text;

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    pr_expr_buf_add(b, text, sizeof text);
}

static void repr_set(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    if (!v->len)
        pr_expr_buf_str(b, "set()");
    else if (v->len == 1)
        repr_items(b, v, "{", "}");
    else
        pr_expr_record_error(b->x,
                             "the items of a set have no order: use sorted()");
}

static void repr_dict_view(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    pr_expr_buf_str(b, v->view == 'k'   ? "dict_keys("
                       : v->view == 'v' ? "dict_values("
                                        : "dict_items(");
    repr_items(b, v, "[", "])");
}

void pr_expr_write_repr(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    if (v->kind == EV_STR) {
        repr_str(b, v);
    } else if (v->kind == EV_UUID) {
        pr_expr_buf_str(b, "UUID('");
        repr_uuid(b, v->uuid);
        pr_expr_buf_str(b, "')");
    } else {
        pr_expr_write_text(b, v);
    }
}

void pr_expr_write_text(struct pr_expr_buf *b, const struct pr_expr_value *v)
{
    switch (v->kind) {
    case EV_NONE:
        pr_expr_buf_str(b, "None");
        break;
    case EV_BOOL:
        pr_expr_buf_str(b, v->b ? "True" : "False");
        break;
    case EV_INT:
        pr_expr_buf_int(b, v->i);
        break;
    case EV_FLOAT:
        repr_float(b, v->f);
        break;
    case EV_STR:
        pr_expr_buf_add(b, v->s, v->len);
        break;
    case EV_LIST:
        repr_items(b, v, "[", "]");
        break;
    case EV_TUPLE:
        repr_items(b, v, "(", ")");
        break;
    case EV_SET:
        repr_set(b, v);
        break;
    case EV_VIEW:
        repr_dict_view(b, v);
        break;
    case EV_DICT:
        repr_dict(b, v);
        break;
    case EV_RANGE:
        repr_range(b, v->range);
        break;
    case EV_UUID:
        repr_uuid(b, v->uuid);
        break;
    default:
        pr_expr_record_error(b->x, "%s cannot be written as text%s",
                             pr_expr_value_name(v),
                             v->kind == EV_FUNC ? ": is () missing?" : "");
    }
}

bool pr_expr_to_str(struct pr_expr *x, const struct pr_expr_value *v,
                    struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    if (v->kind == EV_STR) {
        *ret = *v;
        return true;
    }
    pr_expr_write_text(&b, v);
    return pr_expr_buf_value(&b, ret);
}
