/* Values of the evaluator: their names, truth, items, and making new ones. */
#include "conf/expr/expr_value.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

const char *pr_ev_name(const struct pr_ev *v)
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

bool pr_ev_true(const struct pr_ev *v)
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

bool pr_ex_push(struct pr_ex_vec *v, const struct pr_ev *item)
{
    if (v->len >= PR_EX_ITEMS)
        return pr_ex_too_long(v->x);
    if (v->len == v->cap) {
        uint32_t cap = v->cap ? v->cap * 2 : 4;
        struct pr_ev *items;

        items = pr_ex_alloc(v->x, cap * sizeof *items);
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

bool pr_ex_push_all(struct pr_ex_vec *v, const struct pr_ev *iterable)
{
    struct pr_ev list;

    if (!pr_ex_items(v->x, iterable, &list))
        return false;
    for (uint32_t i = 0; i < list.len; i++)
        if (!pr_ex_push(v, &list.items[i]))
            return false;
    return true;
}

struct pr_ev pr_ex_vec_value(const struct pr_ex_vec *v, int kind)
{
    return (struct pr_ev){
        .kind = (uint8_t)kind, .len = v->len, .items = v->items};
}

static bool chars(struct pr_ex *x, const struct pr_ev *v, struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};

    for (uint32_t i = 0; i < v->len;) {
        size_t n = pr_ex_cp_len(v->s + i, v->len - i);
        struct pr_ev c = pr_ev_of_str(v->s + i, n);
        if (!pr_ex_push(&out, &c))
            return false;
        i += (uint32_t)n;
    }
    *ret = pr_ex_vec_value(&out, EV_LIST);
    return true;
}

static bool counted(struct pr_ex *x, const struct pr_ev_range *r,
                    struct pr_ev *ret)
{
    struct pr_ev *items;

    if (r->len > PR_EX_ITEMS)
        return pr_ex_too_long(x);
    items = pr_ex_alloc(x, (size_t)r->len * sizeof *items);
    if (!items)
        return false;
    for (int64_t i = 0; i < r->len; i++)
        items[i] = pr_ev_range_at(r, i);
    *ret = (struct pr_ev){
        .kind = EV_LIST, .len = (uint32_t)r->len, .items = items};
    return true;
}

static bool keys(struct pr_ex *x, const struct pr_ev *dict, struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};

    for (uint32_t i = 0; i < dict->len; i++)
        if (!pr_ex_push(&out, &dict->items[2 * i]))
            return false;
    *ret = pr_ex_vec_value(&out, EV_LIST);
    return true;
}

bool pr_ex_items(struct pr_ex *x, const struct pr_ev *v, struct pr_ev *ret_list)
{
    switch (v->kind) {
    case EV_STR:
        return chars(x, v, ret_list);
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_ITER:
    case EV_VIEW:
        *ret_list = *v;
        ret_list->kind = EV_LIST;
        return true;
    case EV_DICT:
        return keys(x, v, ret_list);
    case EV_RANGE:
        return counted(x, v->range, ret_list);
    default:
        return pr_ex_fail(x, "%s has no items to walk over", pr_ev_name(v));
    }
}

static bool hashable(struct pr_ex *x, const struct pr_ev *key)
{
    if (key->kind == EV_LIST || key->kind == EV_DICT || key->kind == EV_SET)
        return pr_ex_fail(x,
                          "%s cannot be a key of a dict or an item of a "
                          "set",
                          pr_ev_name(key));
    if (key->kind == EV_TUPLE)
        for (uint32_t i = 0; i < key->len; i++)
            if (!hashable(x, &key->items[i]))
                return false;
    return true;
}

const struct pr_ev *pr_ex_dict_get(struct pr_ex *x, const struct pr_ev *dict,
                                   const struct pr_ev *key)
{
    if (!hashable(x, key))
        return NULL;
    for (uint32_t i = 0; i < dict->len; i++) {
        bool same;
        if (!pr_ex_equal(x, &dict->items[2 * i], key, &same))
            return NULL;
        if (same)
            return &dict->items[2 * i + 1];
    }
    return NULL;
}

bool pr_ex_dict_put(struct pr_ex_vec *dict, const struct pr_ev *key,
                    const struct pr_ev *value)
{
    struct pr_ev d = pr_ex_vec_value(dict, EV_DICT);
    const struct pr_ev *old;

    d.len /= 2;
    old = pr_ex_dict_get(dict->x, &d, key);
    if (old) {
        dict->items[old - dict->items] = *value;
        return true;
    }
    if (dict->x->rc)
        return false;
    return pr_ex_push(dict, key) && pr_ex_push(dict, value);
}

bool pr_ex_set_put(struct pr_ex_vec *set, const struct pr_ev *item)
{
    if (!hashable(set->x, item))
        return false;
    for (uint32_t i = 0; i < set->len; i++) {
        bool same;
        if (!pr_ex_equal(set->x, &set->items[i], item, &same))
            return false;
        if (same)
            return true;
    }
    return pr_ex_push(set, item);
}

void pr_ex_add(struct pr_ex_sb *b, const char *s, size_t len)
{
    pr_ex_fill(b, s, len, 1);
}

void pr_ex_str(struct pr_ex_sb *b, const char *s)
{
    pr_ex_add(b, s, strlen(s));
}

static bool grow(struct pr_ex_sb *b, size_t need)
{
    size_t cap = b->cap ? b->cap : 48;
    char *p;

    while (cap < need)
        cap *= 2;
    p = pr_ex_alloc(b->x, cap);
    if (!p)
        return false;
    if (b->len)
        memcpy(p, b->p, b->len);
    b->p = p;
    b->cap = cap;
    return true;
}

void pr_ex_fill(struct pr_ex_sb *b, const char *s, size_t len, size_t times)
{
    if (b->x->rc || !len || !times)
        return;
    if (times > (PR_EX_BYTES - b->len) / len) {
        pr_ex_record_too_long(b->x);
        return;
    }
    if (b->cap - b->len < len * times && !grow(b, b->len + len * times))
        return;
    for (; times; times--, b->len += len)
        memcpy(b->p + b->len, s, len);
}

void pr_ex_int(struct pr_ex_sb *b, int64_t i)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (i < 0)
        *--p = '-';
    pr_ex_add(b, p, (size_t)(digits + sizeof digits - p));
}

bool pr_ex_sb_value(const struct pr_ex_sb *b, struct pr_ev *ret)
{
    if (b->x->rc)
        return false;
    *ret = pr_ev_of_str(b->p ? b->p : "", b->len);
    return true;
}
