/* Values of the evaluator: names, truth, items, making new ones, str(), repr().
 */
#include "conf/expr/expr_value.h"

#include "base/text.h"
#include "base/value.h"

#include <stdio.h>
#include <string.h>

const char *pr_expr_value_name(const struct pr_expr_value *v)
{
    static const char *const names[] = {
        [EV_MISSING] = "nothing",
        [EV_NONE] = "None",
        [EV_BOOL] = "True or False",
        [EV_INT] = "a whole number",
        [EV_FLOAT] = "a number",
        [EV_STR] = "text",
        [EV_LIST] = "a list",
        [EV_TUPLE] = "a tuple",
        [EV_SET] = "a set",
        [EV_ITER] = "an iterator",
        [EV_VIEW] = "a view of a dict",
        [EV_DICT] = "a dict",
        [EV_RANGE] = "a range",
        [EV_MATCH] = "a match",
        [EV_UUID] = "a UUID",
        [EV_ENVIRON] = "os.environ",
        [EV_MODULE] = "a module",
        [EV_FUNC] = "a function",
    };
    return names[v->kind];
}

bool pr_expr_is_true(const struct pr_expr_value *v)
{
    switch (v->kind) {
    case EV_NONE:
        return false;
    case EV_BOOL:
        return v->b;
    case EV_INT:
        return v->i != 0;
    case EV_FLOAT:
        return v->f != 0;
    case EV_STR:
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_VIEW:
    case EV_DICT:
        return v->len != 0;
    case EV_RANGE:
        return v->range->len != 0;
    default:
        return true;
    }
}

bool pr_expr_push(struct pr_expr_vec *v, const struct pr_expr_value *item)
{
    if (v->len >= PR_EXPR_ITEMS)
        return pr_expr_fail_too_long(v->x);
    if (v->len == v->cap) {
        uint32_t cap = v->cap ? v->cap * 2 : 4;
        struct pr_expr_value *items;

        items = pr_expr_alloc(v->x, cap * sizeof *items);
        if (!items)
            return false;
        if (v->len)
            memcpy(items, v->items, v->len * sizeof *items);
        v->items = items;
        v->cap = cap;
    }
    v->items[v->len++] = *item;
    return true;
}

bool pr_expr_push_all(struct pr_expr_vec *v,
                      const struct pr_expr_value *iterable)
{
    struct pr_expr_value list;

    if (!pr_expr_list_items(v->x, iterable, &list))
        return false;
    for (uint32_t i = 0; i < list.len; i++)
        if (!pr_expr_push(v, &list.items[i]))
            return false;
    return true;
}

struct pr_expr_value pr_expr_vec_value(const struct pr_expr_vec *v, int kind)
{
    return (struct pr_expr_value){
        .kind = (uint8_t)kind, .len = v->len, .items = v->items};
}

static bool list_characters(struct pr_expr *x, const struct pr_expr_value *v,
                            struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};

    for (uint32_t i = 0; i < v->len;) {
        size_t n = pr_expr_codepoint_len(v->s + i, v->len - i);
        struct pr_expr_value c = pr_expr_new_str(v->s + i, n);
        if (!pr_expr_push(&out, &c))
            return false;
        i += (uint32_t)n;
    }
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

static bool list_range(struct pr_expr *x, const struct pr_expr_range *r,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value *items;

    if (r->len > PR_EXPR_ITEMS)
        return pr_expr_fail_too_long(x);
    items = pr_expr_alloc(x, (size_t)r->len * sizeof *items);
    if (!items)
        return false;
    for (int64_t i = 0; i < r->len; i++)
        items[i] = pr_expr_range_at(r, i);
    *ret = (struct pr_expr_value){
        .kind = EV_LIST, .len = (uint32_t)r->len, .items = items};
    return true;
}

static bool list_dict_keys(struct pr_expr *x, const struct pr_expr_value *dict,
                           struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};

    for (uint32_t i = 0; i < dict->len; i++)
        if (!pr_expr_push(&out, &dict->items[2 * i]))
            return false;
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

bool pr_expr_list_items(struct pr_expr *x, const struct pr_expr_value *v,
                        struct pr_expr_value *ret_list)
{
    switch (v->kind) {
    case EV_STR:
        return list_characters(x, v, ret_list);
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_ITER:
    case EV_VIEW:
        *ret_list = *v;
        ret_list->kind = EV_LIST;
        return true;
    case EV_DICT:
        return list_dict_keys(x, v, ret_list);
    case EV_RANGE:
        return list_range(x, v->range, ret_list);
    default:
        return pr_expr_fail(x, "%s has no items to walk over",
                            pr_expr_value_name(v));
    }
}

static bool expr_check_hashable(struct pr_expr *x,
                                const struct pr_expr_value *key)
{
    if (key->kind == EV_LIST || key->kind == EV_DICT || key->kind == EV_SET)
        return pr_expr_fail(x,
                            "%s cannot be a key of a dict or an item of a "
                            "set",
                            pr_expr_value_name(key));
    if (key->kind == EV_TUPLE)
        for (uint32_t i = 0; i < key->len; i++)
            if (!expr_check_hashable(x, &key->items[i]))
                return false;
    return true;
}

const struct pr_expr_value *pr_expr_dict_get(struct pr_expr *x,
                                             const struct pr_expr_value *dict,
                                             const struct pr_expr_value *key)
{
    if (!expr_check_hashable(x, key))
        return NULL;
    for (uint32_t i = 0; i < dict->len; i++) {
        bool same;
        if (!pr_expr_equal(x, &dict->items[2 * i], key, &same))
            return NULL;
        if (same)
            return &dict->items[2 * i + 1];
    }
    return NULL;
}

bool pr_expr_dict_set(struct pr_expr_vec *dict, const struct pr_expr_value *key,
                      const struct pr_expr_value *value)
{
    struct pr_expr_value d = pr_expr_vec_value(dict, EV_DICT);
    const struct pr_expr_value *old;

    d.len /= 2;
    old = pr_expr_dict_get(dict->x, &d, key);
    if (old) {
        dict->items[old - dict->items] = *value;
        return true;
    }
    if (dict->x->rc)
        return false;
    return pr_expr_push(dict, key) && pr_expr_push(dict, value);
}

bool pr_expr_set_add(struct pr_expr_vec *set, const struct pr_expr_value *item)
{
    if (!expr_check_hashable(set->x, item))
        return false;
    for (uint32_t i = 0; i < set->len; i++) {
        bool same;
        if (!pr_expr_equal(set->x, &set->items[i], item, &same))
            return false;
        if (same)
            return true;
    }
    return pr_expr_push(set, item);
}

void pr_expr_buf_add(struct pr_expr_buf *b, const char *s, size_t len)
{
    pr_expr_buf_fill(b, s, len, 1);
}

void pr_expr_buf_str(struct pr_expr_buf *b, const char *s)
{
    pr_expr_buf_add(b, s, strlen(s));
}

static bool expr_buf_grow(struct pr_expr_buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : 48;
    char *p;

    while (cap < need)
        cap *= 2;
    p = pr_expr_alloc(b->x, cap);
    if (!p)
        return false;
    if (b->len)
        memcpy(p, b->p, b->len);
    b->p = p;
    b->cap = cap;
    return true;
}

void pr_expr_buf_fill(struct pr_expr_buf *b, const char *s, size_t len,
                      size_t times)
{
    if (b->x->rc || !len || !times)
        return;
    if (times > (PR_EXPR_BYTES - b->len) / len) {
        pr_expr_record_too_long(b->x);
        return;
    }
    if (b->cap - b->len < len * times &&
        !expr_buf_grow(b, b->len + len * times))
        return;
    for (; times; times--, b->len += len)
        memcpy(b->p + b->len, s, len);
}

static void expr_buf_int(struct pr_expr_buf *b, int64_t i)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (i < 0)
        *--p = '-';
    pr_expr_buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

bool pr_expr_buf_value(const struct pr_expr_buf *b, struct pr_expr_value *ret)
{
    if (b->x->rc)
        return false;
    *ret = pr_expr_new_str(b->p ? b->p : "", b->len);
    return true;
}

/* ---- str() and repr(), as Python writes them */

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
    expr_buf_int(b, r->start);
    pr_expr_buf_str(b, ", ");
    expr_buf_int(b, r->stop);
    if (r->step != 1) {
        pr_expr_buf_str(b, ", ");
        expr_buf_int(b, r->step);
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
        expr_buf_int(b, v->i);
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
