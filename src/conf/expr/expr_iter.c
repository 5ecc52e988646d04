/* Built-in functions that walk over items, and the methods of lists and
 * dicts. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

static bool collect_argument(struct pr_expr *x, const struct pr_expr_call *c,
                             int kind, struct pr_expr_value *ret)
{
    struct pr_expr_value items = {.kind = EV_LIST, .len = 0, .items = NULL};

    if (c->a[0].kind != EV_MISSING && !pr_expr_list_items(x, &c->a[0], &items))
        return false;
    *ret = items;
    ret->kind = (uint8_t)kind;
    return true;
}

static bool fn_list(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    return collect_argument(x, c, EV_LIST, ret);
}

static bool fn_tuple(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    return collect_argument(x, c, EV_TUPLE, ret);
}

static bool fn_set(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_value items;

    if (!collect_argument(x, c, EV_LIST, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (!pr_expr_set_add(&out, &items.items[i]))
            return false;
    *ret = pr_expr_vec_value(&out, EV_SET);
    return true;
}

static bool pairs_into(struct pr_expr_vec *out, const struct pr_expr_value *v)
{
    struct pr_expr_value items, pair;

    if (v->kind == EV_DICT) {
        for (uint32_t i = 0; i < v->len; i++)
            if (!pr_expr_dict_set(out, &v->items[2 * i], &v->items[2 * i + 1]))
                return false;
        return true;
    }
    if (!pr_expr_list_items(out->x, v, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        if (!pr_expr_list_items(out->x, &items.items[i], &pair))
            return false;
        if (pair.len != 2)
            return pr_expr_fail(out->x, "dict() wants pairs of key and value");
        if (!pr_expr_dict_set(out, &pair.items[0], &pair.items[1]))
            return false;
    }
    return true;
}

static bool fn_dict(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};

    if (c->n > 1)
        return pr_expr_fail(x, "'dict' wants at most 1 argument, got %u", c->n);
    if (c->n && !pairs_into(&out, &c->a[0]))
        return false;
    for (uint32_t i = 0; i < c->nkw; i++) {
        struct pr_expr_value key = pr_expr_new_str(c->kw[i].name, c->kw[i].len);
        if (!pr_expr_dict_set(&out, &key, &c->kw[i].value))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_DICT);
    ret->len /= 2;
    return true;
}

/* Items of start, start + step, ... before stop. */
static uint64_t range_len(int64_t start, int64_t stop, int64_t step)
{
    uint64_t gap, by;

    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    gap = step > 0 ? (uint64_t)stop - (uint64_t)start
                   : (uint64_t)start - (uint64_t)stop;
    by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (gap - 1) / by + 1;
}

static bool fn_range(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_range *r;
    uint64_t len;

    for (uint32_t i = 0; i < 3; i++)
        if (c->a[i].kind != EV_MISSING && !pr_expr_want_int(x, c, i))
            return false;
    r = pr_expr_alloc(x, sizeof *r);
    if (!r)
        return false;
    r->start = c->a[1].kind == EV_MISSING ? 0 : pr_expr_value_int(&c->a[0]);
    r->stop = pr_expr_value_int(&c->a[c->a[1].kind != EV_MISSING]);
    r->step = c->a[2].kind == EV_MISSING ? 1 : pr_expr_value_int(&c->a[2]);
    if (r->step == 0)
        return pr_expr_fail(x, "the step of range() cannot be zero");
    len = range_len(r->start, r->stop, r->step);
    if (len > INT64_MAX)
        return pr_expr_fail_too_big(x);
    r->len = (int64_t)len;
    *ret = (struct pr_expr_value){.kind = EV_RANGE, .range = r};
    return true;
}

/* The keyword of that name, or NULL. */
static const struct pr_expr_value *kw_find(const struct pr_expr_call *c,
                                           const char *name)
{
    for (uint32_t i = 0; i < c->nkw; i++)
        if (pr_expr_is_name(c->kw[i].name, c->kw[i].len, name))
            return &c->kw[i].value;
    return NULL;
}

static bool only_keywords(struct pr_expr *x, const struct pr_expr_call *c,
                          const char *one, const char *other)
{
    for (uint32_t i = 0; i < c->nkw; i++)
        if (!pr_expr_is_name(c->kw[i].name, c->kw[i].len, one) &&
            !pr_expr_is_name(c->kw[i].name, c->kw[i].len, other))
            return pr_expr_fail(
                x, "'%s' has no argument named '%.*s'", c->def->name,
                c->kw[i].len < 60 ? (int)c->kw[i].len : 60, c->kw[i].name);
    return true;
}

static bool apply_key_function(struct pr_expr *x,
                               const struct pr_expr_value *func,
                               const struct pr_expr_value *item,
                               struct pr_expr_value *ret)
{
    if (func && func->kind != EV_NONE)
        return pr_expr_call_one(x, func, item, ret);
    *ret = *item;
    return true;
}

static bool find_extreme(struct pr_expr *x, const struct pr_expr_call *c,
                         int op, struct pr_expr_value *ret)
{
    const struct pr_expr_value *key = kw_find(c, "key");
    const struct pr_expr_value *fallback = kw_find(c, "default");
    struct pr_expr_value list = {.kind = EV_LIST, .len = c->n, .items = c->a};
    struct pr_expr_value best, next;
    bool better;

    if (!only_keywords(x, c, "key", "default"))
        return false;
    if (c->n == 1 && !pr_expr_list_items(x, &c->a[0], &list))
        return false;
    if (c->n > 1 && fallback)
        return pr_expr_fail(x, "'%s' takes a default only with one list",
                            c->def->name);
    if (!list.len) {
        if (!fallback)
            return pr_expr_fail(x, "'%s' of nothing", c->def->name);
        *ret = *fallback;
        return true;
    }
    *ret = list.items[0];
    if (!apply_key_function(x, key, &list.items[0], &best))
        return false;
    for (uint32_t i = 1; i < list.len; i++) {
        if (!apply_key_function(x, key, &list.items[i], &next) ||
            !pr_expr_compare(x, op, &next, &best, &better))
            return false;
        if (better) {
            *ret = list.items[i];
            best = next;
        }
    }
    return true;
}

static bool fn_max(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    return find_extreme(x, c, ET_GT, ret);
}

static bool fn_min(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    return find_extreme(x, c, ET_LT, ret);
}

static bool fn_sum(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    struct pr_expr_value items, total = pr_expr_new_int(0);

    if (c->a[1].kind != EV_MISSING)
        total = c->a[1];
    if (total.kind == EV_STR)
        return pr_expr_fail(x, "sum() does not add text: use ''.join()");
    if (!pr_expr_list_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (!pr_expr_eval_binary(x, ET_PLUS, &total, &items.items[i], &total))
            return false;
    *ret = total;
    return true;
}

static bool fn_sorted(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_value *key = kw_find(c, "key");
    const struct pr_expr_value *reverse = kw_find(c, "reverse");
    struct pr_expr_value list, *items, *keys;

    if (c->n > 1)
        return pr_expr_fail(x, "'sorted' wants 1 argument, got %u", c->n);
    if (!only_keywords(x, c, "key", "reverse") ||
        !pr_expr_list_items(x, &c->a[0], &list))
        return false;
    items = pr_expr_alloc(x, list.len * sizeof *items);
    keys = pr_expr_alloc(x, list.len * sizeof *keys);
    if (!items || !keys)
        return false;
    for (uint32_t i = 0; i < list.len; i++) {
        items[i] = list.items[i];
        if (!apply_key_function(x, key, &items[i], &keys[i]))
            return false;
    }
    if (!pr_expr_sort(x, keys, items, list.len,
                      reverse && pr_expr_is_true(reverse)))
        return false;
    *ret = (struct pr_expr_value){
        .kind = EV_LIST, .len = list.len, .items = items};
    return true;
}

/* any() stops at the first true one, all() at the first false one. */
static bool fn_any_all(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    bool stop_at = strcmp(c->def->name, "any") == 0;
    struct pr_expr_value items;

    if (!pr_expr_list_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (pr_expr_is_true(&items.items[i]) == stop_at) {
            *ret = pr_expr_new_bool(stop_at);
            return true;
        }
    *ret = pr_expr_new_bool(!stop_at);
    return true;
}

static bool expr_push_tuple(struct pr_expr_vec *out,
                            const struct pr_expr_value *parts, uint32_t n)
{
    struct pr_expr_value *copy = pr_expr_alloc(out->x, n * sizeof *copy);
    struct pr_expr_value tuple = {.kind = EV_TUPLE, .len = n, .items = copy};

    if (!copy)
        return false;
    memcpy(copy, parts, n * sizeof *copy);
    return pr_expr_push(out, &tuple);
}

static bool fn_enumerate(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    int64_t start = 0;
    struct pr_expr_value items;

    if (c->a[1].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 1))
            return false;
        start = pr_expr_value_int(&c->a[1]);
    }
    if (!pr_expr_list_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        int64_t n;
        if (__builtin_add_overflow(start, (int64_t)i, &n))
            return pr_expr_fail_too_big(x);
        struct pr_expr_value pair[2] = {pr_expr_new_int(n), items.items[i]};
        if (!expr_push_tuple(&out, pair, 2))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_ITER);
    return true;
}

static bool fn_zip(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_value *lists = pr_expr_alloc(x, c->n * sizeof *lists);
    struct pr_expr_value *row = pr_expr_alloc(x, c->n * sizeof *row);
    uint32_t shortest = UINT32_MAX;

    if (!lists || !row)
        return false;
    if (c->nkw)
        return pr_expr_fail(x, "'zip' takes no named argument");
    for (uint32_t i = 0; i < c->n; i++) {
        if (!pr_expr_list_items(x, &c->a[i], &lists[i]))
            return false;
        if (lists[i].len < shortest)
            shortest = lists[i].len;
    }
    for (uint32_t i = 0; c->n && i < shortest; i++) {
        for (uint32_t k = 0; k < c->n; k++)
            row[k] = lists[k].items[i];
        if (!expr_push_tuple(&out, row, c->n))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_ITER);
    return true;
}

/* map() keeps what the function gives, filter() the items it is true for. */
static bool fn_map_filter(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    bool map = strcmp(c->def->name, "map") == 0;
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_value items, v;

    if (!pr_expr_list_items(x, &c->a[1], &items))
        return false;
    if (map && c->a[0].kind != EV_FUNC)
        return pr_expr_fail(x, "'map' wants a function, got %s",
                            pr_expr_value_name(&c->a[0]));
    for (uint32_t i = 0; i < items.len; i++) {
        if (!apply_key_function(x, &c->a[0], &items.items[i], &v))
            return false;
        if (map ? !pr_expr_push(&out, &v)
                : pr_expr_is_true(&v) && !pr_expr_push(&out, &items.items[i]))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_ITER);
    return true;
}

static bool fn_reversed(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    struct pr_expr_value *items, list;

    if (c->a[0].kind == EV_SET || c->a[0].kind == EV_ITER)
        return pr_expr_fail(x, "%s cannot be reversed",
                            pr_expr_value_name(&c->a[0]));
    if (!pr_expr_list_items(x, &c->a[0], &list))
        return false;
    items = pr_expr_alloc(x, list.len * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < list.len; i++)
        items[i] = list.items[list.len - 1 - i];
    *ret = (struct pr_expr_value){
        .kind = EV_ITER, .len = list.len, .items = items};
    return true;
}

static const struct pr_expr_def expr_iter_defs[] = {
    {"max", fn_max, 1, PR_EXPR_MANY, NULL},
    {"min", fn_min, 1, PR_EXPR_MANY, NULL},
    {"sum", fn_sum, 1, 2, "(iterable),start"},
    {"sorted", fn_sorted, 1, PR_EXPR_MANY, NULL},
    {"list", fn_list, 0, 1, NULL},
    {"tuple", fn_tuple, 0, 1, NULL},
    {"set", fn_set, 0, 1, NULL},
    {"dict", fn_dict, 0, PR_EXPR_MANY, NULL},
    {"range", fn_range, 1, 3, NULL},
    {"any", fn_any_all, 1, 1, NULL},
    {"all", fn_any_all, 1, 1, NULL},
    {"enumerate", fn_enumerate, 1, 2, "iterable,start"},
    {"zip", fn_zip, 0, PR_EXPR_MANY, NULL},
    {"map", fn_map_filter, 2, 2, NULL},
    {"filter", fn_map_filter, 2, 2, NULL},
    {"reversed", fn_reversed, 1, 1, NULL},
};

const struct pr_expr_table pr_expr_builtins_more =
    PR_EXPR_TABLE(expr_iter_defs);
