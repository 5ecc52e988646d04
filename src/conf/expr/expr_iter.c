/* Built-in functions that walk over items, and the methods of lists and
 * dicts. */
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <string.h>

static bool collect(struct pr_ex *x, const struct pr_ex_call *c, int kind,
                    struct pr_ev *ret)
{
    struct pr_ev items = {.kind = EV_LIST, .len = 0, .items = NULL};

    if (c->a[0].kind != EV_MISSING && !pr_ex_items(x, &c->a[0], &items))
        return false;
    *ret = items;
    ret->kind = (uint8_t)kind;
    return true;
}

static bool fn_list(struct pr_ex *x, const struct pr_ex_call *c,
                    struct pr_ev *ret)
{
    return collect(x, c, EV_LIST, ret);
}

static bool fn_tuple(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    return collect(x, c, EV_TUPLE, ret);
}

static bool fn_set(struct pr_ex *x, const struct pr_ex_call *c,
                   struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};
    struct pr_ev items;

    if (!collect(x, c, EV_LIST, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (!pr_ex_set_put(&out, &items.items[i]))
            return false;
    *ret = pr_ex_vec_value(&out, EV_SET);
    return true;
}

static bool pairs_into(struct pr_ex_vec *out, const struct pr_ev *v)
{
    struct pr_ev items, pair;

    if (v->kind == EV_DICT) {
        for (uint32_t i = 0; i < v->len; i++)
            if (!pr_ex_dict_put(out, &v->items[2 * i], &v->items[2 * i + 1]))
                return false;
        return true;
    }
    if (!pr_ex_items(out->x, v, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        if (!pr_ex_items(out->x, &items.items[i], &pair))
            return false;
        if (pair.len != 2)
            return pr_ex_fail(out->x, "dict() wants pairs of key and value");
        if (!pr_ex_dict_put(out, &pair.items[0], &pair.items[1]))
            return false;
    }
    return true;
}

static bool fn_dict(struct pr_ex *x, const struct pr_ex_call *c,
                    struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};

    if (c->n > 1)
        return pr_ex_fail(x, "'dict' wants at most 1 argument, got %u", c->n);
    if (c->n && !pairs_into(&out, &c->a[0]))
        return false;
    for (uint32_t i = 0; i < c->nkw; i++) {
        struct pr_ev key = pr_ev_of_str(c->kw[i].name, c->kw[i].len);
        if (!pr_ex_dict_put(&out, &key, &c->kw[i].value))
            return false;
    }
    *ret = pr_ex_vec_value(&out, EV_DICT);
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

static bool fn_range(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    struct pr_ev_range *r;
    uint64_t len;

    for (uint32_t i = 0; i < 3; i++)
        if (c->a[i].kind != EV_MISSING && !pr_ex_want_int(x, c, i))
            return false;
    r = pr_ex_alloc(x, sizeof *r);
    if (!r)
        return false;
    r->start = c->a[1].kind == EV_MISSING ? 0 : pr_ev_int(&c->a[0]);
    r->stop = pr_ev_int(&c->a[c->a[1].kind != EV_MISSING]);
    r->step = c->a[2].kind == EV_MISSING ? 1 : pr_ev_int(&c->a[2]);
    if (r->step == 0)
        return pr_ex_fail(x, "the step of range() cannot be zero");
    len = range_len(r->start, r->stop, r->step);
    if (len > INT64_MAX)
        return pr_ex_too_big(x);
    r->len = (int64_t)len;
    *ret = (struct pr_ev){.kind = EV_RANGE, .range = r};
    return true;
}

/* The keyword of that name, or NULL. */
static const struct pr_ev *kw_find(const struct pr_ex_call *c, const char *name)
{
    for (uint32_t i = 0; i < c->nkw; i++)
        if (pr_ex_name_is(c->kw[i].name, c->kw[i].len, name))
            return &c->kw[i].value;
    return NULL;
}

static bool only_keywords(struct pr_ex *x, const struct pr_ex_call *c,
                          const char *one, const char *other)
{
    for (uint32_t i = 0; i < c->nkw; i++)
        if (!pr_ex_name_is(c->kw[i].name, c->kw[i].len, one) &&
            !pr_ex_name_is(c->kw[i].name, c->kw[i].len, other))
            return pr_ex_fail(
                x, "'%s' has no argument named '%.*s'", c->def->name,
                c->kw[i].len < 60 ? (int)c->kw[i].len : 60, c->kw[i].name);
    return true;
}

static bool key_of(struct pr_ex *x, const struct pr_ev *func,
                   const struct pr_ev *item, struct pr_ev *ret)
{
    if (func && func->kind != EV_NONE)
        return pr_ex_call_one(x, func, item, ret);
    *ret = *item;
    return true;
}

static bool extreme(struct pr_ex *x, const struct pr_ex_call *c, int op,
                    struct pr_ev *ret)
{
    const struct pr_ev *key = kw_find(c, "key");
    const struct pr_ev *fallback = kw_find(c, "default");
    struct pr_ev list = {.kind = EV_LIST, .len = c->n, .items = c->a};
    struct pr_ev best, next;
    bool better;

    if (!only_keywords(x, c, "key", "default"))
        return false;
    if (c->n == 1 && !pr_ex_items(x, &c->a[0], &list))
        return false;
    if (c->n > 1 && fallback)
        return pr_ex_fail(x, "'%s' takes a default only with one list",
                          c->def->name);
    if (!list.len) {
        if (!fallback)
            return pr_ex_fail(x, "'%s' of nothing", c->def->name);
        *ret = *fallback;
        return true;
    }
    *ret = list.items[0];
    if (!key_of(x, key, &list.items[0], &best))
        return false;
    for (uint32_t i = 1; i < list.len; i++) {
        if (!key_of(x, key, &list.items[i], &next) ||
            !pr_ex_compare(x, op, &next, &best, &better))
            return false;
        if (better) {
            *ret = list.items[i];
            best = next;
        }
    }
    return true;
}

static bool fn_max(struct pr_ex *x, const struct pr_ex_call *c,
                   struct pr_ev *ret)
{
    return extreme(x, c, ET_GT, ret);
}

static bool fn_min(struct pr_ex *x, const struct pr_ex_call *c,
                   struct pr_ev *ret)
{
    return extreme(x, c, ET_LT, ret);
}

static bool fn_sum(struct pr_ex *x, const struct pr_ex_call *c,
                   struct pr_ev *ret)
{
    struct pr_ev items, total = pr_ev_of_int(0);

    if (c->a[1].kind != EV_MISSING)
        total = c->a[1];
    if (total.kind == EV_STR)
        return pr_ex_fail(x, "sum() does not add text: use ''.join()");
    if (!pr_ex_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (!pr_ex_binary(x, ET_PLUS, &total, &items.items[i], &total))
            return false;
    *ret = total;
    return true;
}

static bool fn_sorted(struct pr_ex *x, const struct pr_ex_call *c,
                      struct pr_ev *ret)
{
    const struct pr_ev *key = kw_find(c, "key");
    const struct pr_ev *reverse = kw_find(c, "reverse");
    struct pr_ev list, *items, *keys;

    if (c->n > 1)
        return pr_ex_fail(x, "'sorted' wants 1 argument, got %u", c->n);
    if (!only_keywords(x, c, "key", "reverse") ||
        !pr_ex_items(x, &c->a[0], &list))
        return false;
    items = pr_ex_alloc(x, list.len * sizeof *items);
    keys = pr_ex_alloc(x, list.len * sizeof *keys);
    if (!items || !keys)
        return false;
    for (uint32_t i = 0; i < list.len; i++) {
        items[i] = list.items[i];
        if (!key_of(x, key, &items[i], &keys[i]))
            return false;
    }
    if (!pr_ex_sort(x, keys, items, list.len, reverse && pr_ev_true(reverse)))
        return false;
    *ret = (struct pr_ev){.kind = EV_LIST, .len = list.len, .items = items};
    return true;
}

/* any() stops at the first true one, all() at the first false one. */
static bool fn_any_all(struct pr_ex *x, const struct pr_ex_call *c,
                       struct pr_ev *ret)
{
    bool stop_at = strcmp(c->def->name, "any") == 0;
    struct pr_ev items;

    if (!pr_ex_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++)
        if (pr_ev_true(&items.items[i]) == stop_at) {
            *ret = pr_ev_of_bool(stop_at);
            return true;
        }
    *ret = pr_ev_of_bool(!stop_at);
    return true;
}

static bool push_tuple(struct pr_ex_vec *out, const struct pr_ev *parts,
                       uint32_t n)
{
    struct pr_ev *copy = pr_ex_alloc(out->x, n * sizeof *copy);
    struct pr_ev tuple = {.kind = EV_TUPLE, .len = n, .items = copy};

    if (!copy)
        return false;
    memcpy(copy, parts, n * sizeof *copy);
    return pr_ex_push(out, &tuple);
}

static bool fn_enumerate(struct pr_ex *x, const struct pr_ex_call *c,
                         struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};
    int64_t start = 0;
    struct pr_ev items;

    if (c->a[1].kind != EV_MISSING) {
        if (!pr_ex_want_int(x, c, 1))
            return false;
        start = pr_ev_int(&c->a[1]);
    }
    if (!pr_ex_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        int64_t n;
        if (__builtin_add_overflow(start, (int64_t)i, &n))
            return pr_ex_too_big(x);
        struct pr_ev pair[2] = {pr_ev_of_int(n), items.items[i]};
        if (!push_tuple(&out, pair, 2))
            return false;
    }
    *ret = pr_ex_vec_value(&out, EV_ITER);
    return true;
}

static bool fn_zip(struct pr_ex *x, const struct pr_ex_call *c,
                   struct pr_ev *ret)
{
    struct pr_ex_vec out = {.x = x};
    struct pr_ev *lists = pr_ex_alloc(x, c->n * sizeof *lists);
    struct pr_ev *row = pr_ex_alloc(x, c->n * sizeof *row);
    uint32_t shortest = UINT32_MAX;

    if (!lists || !row)
        return false;
    if (c->nkw)
        return pr_ex_fail(x, "'zip' takes no named argument");
    for (uint32_t i = 0; i < c->n; i++) {
        if (!pr_ex_items(x, &c->a[i], &lists[i]))
            return false;
        if (lists[i].len < shortest)
            shortest = lists[i].len;
    }
    for (uint32_t i = 0; c->n && i < shortest; i++) {
        for (uint32_t k = 0; k < c->n; k++)
            row[k] = lists[k].items[i];
        if (!push_tuple(&out, row, c->n))
            return false;
    }
    *ret = pr_ex_vec_value(&out, EV_ITER);
    return true;
}

/* map() keeps what the function gives, filter() the items it is true for. */
static bool fn_map_filter(struct pr_ex *x, const struct pr_ex_call *c,
                          struct pr_ev *ret)
{
    bool map = strcmp(c->def->name, "map") == 0;
    struct pr_ex_vec out = {.x = x};
    struct pr_ev items, v;

    if (!pr_ex_items(x, &c->a[1], &items))
        return false;
    if (map && c->a[0].kind != EV_FUNC)
        return pr_ex_fail(x, "'map' wants a function, got %s",
                          pr_ev_name(&c->a[0]));
    for (uint32_t i = 0; i < items.len; i++) {
        if (!key_of(x, &c->a[0], &items.items[i], &v))
            return false;
        if (map ? !pr_ex_push(&out, &v)
                : pr_ev_true(&v) && !pr_ex_push(&out, &items.items[i]))
            return false;
    }
    *ret = pr_ex_vec_value(&out, EV_ITER);
    return true;
}

static bool fn_reversed(struct pr_ex *x, const struct pr_ex_call *c,
                        struct pr_ev *ret)
{
    struct pr_ev *items, list;

    if (c->a[0].kind == EV_SET || c->a[0].kind == EV_ITER)
        return pr_ex_fail(x, "%s cannot be reversed", pr_ev_name(&c->a[0]));
    if (!pr_ex_items(x, &c->a[0], &list))
        return false;
    items = pr_ex_alloc(x, list.len * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < list.len; i++)
        items[i] = list.items[list.len - 1 - i];
    *ret = (struct pr_ev){.kind = EV_ITER, .len = list.len, .items = items};
    return true;
}

static const struct pr_ex_def defs[] = {
    {"max", fn_max, 1, PR_EX_MANY, NULL},
    {"min", fn_min, 1, PR_EX_MANY, NULL},
    {"sum", fn_sum, 1, 2, "(iterable),start"},
    {"sorted", fn_sorted, 1, PR_EX_MANY, NULL},
    {"list", fn_list, 0, 1, NULL},
    {"tuple", fn_tuple, 0, 1, NULL},
    {"set", fn_set, 0, 1, NULL},
    {"dict", fn_dict, 0, PR_EX_MANY, NULL},
    {"range", fn_range, 1, 3, NULL},
    {"any", fn_any_all, 1, 1, NULL},
    {"all", fn_any_all, 1, 1, NULL},
    {"enumerate", fn_enumerate, 1, 2, "iterable,start"},
    {"zip", fn_zip, 0, PR_EX_MANY, NULL},
    {"map", fn_map_filter, 2, 2, NULL},
    {"filter", fn_map_filter, 2, 2, NULL},
    {"reversed", fn_reversed, 1, 1, NULL},
};

const struct pr_ex_table pr_ex_builtins_more = PR_EX_TABLE(defs);
