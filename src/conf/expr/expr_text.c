/* str() and repr() of values, as Python writes them. */
#include "conf/expr/expr_value.h"

#include "base/utf8.h"
#include "base/value.h"

#include <stdio.h>
#include <string.h>

static void float_text(struct pr_ex_sb *b, double f)
{
    char text[32];
    size_t n = pr_float_repr(text, f);

    pr_ex_add(b, text, n);
}

/* What Python's repr() shows as an escape above ASCII: controls, blanks other
 * than the plain one, and characters that only steer the layout. */
static bool unprintable(unsigned c)
{
    return c < 0xa1 || c == 0xad || c == 0x1680 || c == 0x180e ||
           (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
           (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff ||
           (c >= 0xd800 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xfffb) ||
           c >= 0xe0000;
}

static void repr_wide(struct pr_ex_sb *b, const char *s, size_t len)
{
    unsigned c = pr_ex_cp(s, len);
    char text[16];

    if (!unprintable(c)) {
        pr_ex_add(b, s, len);
        return;
    }
    snprintf(text, sizeof text,
             c < 0x100     ? "\\x%02x"
             : c < 0x10000 ? "\\u%04x"
                           : "\\U%08x",
             c);
    pr_ex_str(b, text);
}

static void repr_ascii(struct pr_ex_sb *b, char c, char quote)
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
    pr_ex_str(b, text);
}

static void repr_str(struct pr_ex_sb *b, const struct pr_ev *v)
{
    char quote =
        v->len && memchr(v->s, '\'', v->len) && !memchr(v->s, '"', v->len)
            ? '"'
            : '\'';

    pr_ex_add(b, &quote, 1);
    for (uint32_t i = 0; i < v->len && !b->x->rc;) {
        size_t n = pr_ex_cp_len(v->s + i, v->len - i);
        if ((unsigned char)v->s[i] < 0x80)
            repr_ascii(b, v->s[i], quote);
        else
            repr_wide(b, v->s + i, n);
        i += (uint32_t)n;
    }
    pr_ex_add(b, &quote, 1);
}

static void items(struct pr_ex_sb *b, const struct pr_ev *v, const char *open,
                  const char *close)
{
    pr_ex_str(b, open);
    for (uint32_t i = 0; i < v->len && !b->x->rc; i++) {
        if (i)
            pr_ex_add(b, ", ", 2);
        pr_ex_repr(b, &v->items[i]);
    }
    if (v->kind == EV_TUPLE && v->len == 1)
        pr_ex_add(b, ",", 1);
    pr_ex_str(b, close);
}

static void dict(struct pr_ex_sb *b, const struct pr_ev *v)
{
    pr_ex_add(b, "{", 1);
    for (uint32_t i = 0; i < v->len && !b->x->rc; i++) {
        if (i)
            pr_ex_add(b, ", ", 2);
        pr_ex_repr(b, &v->items[2 * i]);
        pr_ex_add(b, ": ", 2);
        pr_ex_repr(b, &v->items[2 * i + 1]);
    }
    pr_ex_add(b, "}", 1);
}

static void range(struct pr_ex_sb *b, const struct pr_ev_range *r)
{
    pr_ex_str(b, "range(");
    pr_ex_int(b, r->start);
    pr_ex_str(b, ", ");
    pr_ex_int(b, r->stop);
    if (r->step != 1) {
        pr_ex_str(b, ", ");
        pr_ex_int(b, r->step);
    }
    pr_ex_str(b, ")");
}

static void uuid(struct pr_ex_sb *b, const unsigned char *bytes)
{
    static const char hex[] = "0123456789abcdef";
    char text[36], *p = text;

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    pr_ex_add(b, text, sizeof text);
}

static void set(struct pr_ex_sb *b, const struct pr_ev *v)
{
    if (!v->len)
        pr_ex_str(b, "set()");
    else if (v->len == 1)
        items(b, v, "{", "}");
    else
        pr_ex_record(b->x, "the items of a set have no order: use sorted()");
}

static void view(struct pr_ex_sb *b, const struct pr_ev *v)
{
    pr_ex_str(b, v->view == 'k'   ? "dict_keys("
                 : v->view == 'v' ? "dict_values("
                                  : "dict_items(");
    items(b, v, "[", "])");
}

void pr_ex_repr(struct pr_ex_sb *b, const struct pr_ev *v)
{
    if (v->kind == EV_STR) {
        repr_str(b, v);
    } else if (v->kind == EV_UUID) {
        pr_ex_str(b, "UUID('");
        uuid(b, v->uuid);
        pr_ex_str(b, "')");
    } else {
        pr_ex_text(b, v);
    }
}

void pr_ex_text(struct pr_ex_sb *b, const struct pr_ev *v)
{
    switch (v->kind) {
    case EV_NONE:
        pr_ex_str(b, "None");
        break;
    case EV_BOOL:
        pr_ex_str(b, v->b ? "True" : "False");
        break;
    case EV_INT:
        pr_ex_int(b, v->i);
        break;
    case EV_FLOAT:
        float_text(b, v->f);
        break;
    case EV_STR:
        pr_ex_add(b, v->s, v->len);
        break;
    case EV_LIST:
        items(b, v, "[", "]");
        break;
    case EV_TUPLE:
        items(b, v, "(", ")");
        break;
    case EV_SET:
        set(b, v);
        break;
    case EV_VIEW:
        view(b, v);
        break;
    case EV_DICT:
        dict(b, v);
        break;
    case EV_RANGE:
        range(b, v->range);
        break;
    case EV_UUID:
        uuid(b, v->uuid);
        break;
    default:
        pr_ex_record(b->x, "%s cannot be written as text%s", pr_ev_name(v),
                     v->kind == EV_FUNC ? ": is () missing?" : "");
    }
}

bool pr_ex_to_str(struct pr_ex *x, const struct pr_ev *v, struct pr_ev *ret)
{
    struct pr_ex_sb b = {.x = x};

    if (v->kind == EV_STR) {
        *ret = *v;
        return true;
    }
    pr_ex_text(&b, v);
    return pr_ex_sb_value(&b, ret);
}
