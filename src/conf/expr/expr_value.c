/* Values of the evaluator: their names, truth, items, and making new ones. */
#include "conf/expr/expr_value.h"

#include "base/text.h"

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

void pr_expr_buf_int(struct pr_expr_buf *b, int64_t i)
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
