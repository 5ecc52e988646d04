/* Built-in functions, the methods of lists and dicts, and the module math. */
#include "base/text.h"
#include "conf/expr/expr_eval.h"
#include "conf/expr/expr_tree.h"

#include <math.h>
#include <string.h>

/* ---- functions on single values */

static bool fn_len(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    switch (v->kind) {
    case EV_STR:
        *ret = pr_expr_new_int((int64_t)pr_expr_codepoint_count(v->s, v->len));
        return pr_expr_charge_work(x, c->a[0].len);
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_VIEW:
    case EV_DICT:
        *ret = pr_expr_new_int(v->len);
        return true;
    case EV_RANGE:
        *ret = pr_expr_new_int(v->range->len);
        return true;
    default:
        return pr_expr_fail(x, "%s has no length", pr_expr_value_name(v));
    }
}

static bool fn_str(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    if (c->a[0].kind == EV_MISSING) {
        *ret = pr_expr_new_str("", 0);
        return true;
    }
    return pr_expr_to_str(x, &c->a[0], ret);
}

static bool fn_repr(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    pr_expr_write_repr(&b, &c->a[0]);
    return pr_expr_buf_value(&b, ret);
}

static bool fn_bool(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    (void)x;
    *ret = pr_expr_new_bool(c->a[0].kind != EV_MISSING &&
                            pr_expr_is_true(&c->a[0]));
    return true;
}

static bool fn_abs(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (v->kind == EV_FLOAT) {
        *ret = pr_expr_new_float(fabs(v->f));
        return true;
    }
    if (pr_expr_value_int(v) < 0)
        return pr_expr_eval_unary(x, ET_MINUS, v, ret);
    *ret = pr_expr_new_int(pr_expr_value_int(v));
    return true;
}

static bool fn_chr(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    int64_t code;
    char *s;

    if (!pr_expr_want_int(x, c, 0))
        return false;
    code = pr_expr_value_int(&c->a[0]);
    if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return pr_expr_fail(x, "chr() wants a code point, got %lld",
                            (long long)code);
    s = pr_expr_alloc(x, 4);
    if (!s)
        return false;
    *ret = pr_expr_new_str(s, pr_utf8_put(s, (unsigned)code));
    return true;
}

static bool fn_ord(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_str(x, c, 0))
        return false;
    if (!v->len || pr_expr_codepoint_len(v->s, v->len) != v->len)
        return pr_expr_fail(x, "ord() wants one character");
    *ret = pr_expr_new_int(pr_expr_codepoint_at(v->s, v->len));
    return true;
}

static bool fn_divmod(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value *pair;

    if (!pr_expr_want_number(x, c, 0) || !pr_expr_want_number(x, c, 1))
        return false;
    pair = pr_expr_alloc(x, 2 * sizeof *pair);
    if (!pair ||
        !pr_expr_eval_arith(x, ET_FLOOR, &c->a[0], &c->a[1], &pair[0]) ||
        !pr_expr_eval_arith(x, ET_PERCENT, &c->a[0], &c->a[1], &pair[1]))
        return false;
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 2, .items = pair};
    return true;
}

/* a * b % m without 128 bits; a and b are below m, m below 2**63. */
static uint64_t times_modulo(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t r = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            r = (r + a) % m;
        a = a * 2 % m;
    }
    return r;
}

static bool power_modulo(struct pr_expr *x, int64_t base, int64_t by,
                         int64_t mod, struct pr_expr_value *ret)
{
    uint64_t m, b, r;

    if (mod == 0)
        return pr_expr_fail(x, "pow() with a third argument of zero");
    if (by < 0)
        return pr_expr_fail(x, "pow() modulo a number wants no negative power");
    if (mod < -INT64_MAX)
        return pr_expr_fail_too_big(x);
    m = (uint64_t)(mod < 0 ? -mod : mod);
    b = base < 0 ? m - (0 - (uint64_t)base) % m : (uint64_t)base % m;
    b %= m;
    r = 1 % m;
    for (; by; by >>= 1) {
        if (by & 1)
            r = times_modulo(r, b, m);
        b = times_modulo(b, b, m);
    }
    *ret = pr_expr_new_int((int64_t)r + (mod < 0 && r ? mod : 0));
    return true;
}

static bool fn_pow(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    if (c->a[2].kind == EV_MISSING || c->a[2].kind == EV_NONE)
        return pr_expr_eval_power(x, &c->a[0], &c->a[1], ret);
    for (uint32_t i = 0; i < 3; i++)
        if (!pr_expr_want_int(x, c, i))
            return false;
    return power_modulo(x, pr_expr_value_int(&c->a[0]),
                        pr_expr_value_int(&c->a[1]),
                        pr_expr_value_int(&c->a[2]), ret);
}

/* hex(), oct(), bin(): told apart by their first letter. */
static bool fn_base(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    char first = c->def->name[0];
    struct pr_expr_spec spec = {
        .alt = true,
        .precision = -1,
        .type = first == 'h'   ? 'x'
                : first == 'o' ? 'o'
                               : 'b',
    };
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value digits;

    return pr_expr_want_int(x, c, 0) &&
           pr_expr_int_digits(x, pr_expr_value_int(&c->a[0]), &spec, &digits) &&
           pr_expr_write_number(&b, &spec, pr_expr_value_int(&c->a[0]) < 0,
                                &digits) &&
           pr_expr_buf_value(&b, ret);
}

static bool fn_format(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    bool given = c->a[1].kind != EV_MISSING;

    if (given && !pr_expr_want_str(x, c, 1))
        return false;
    return pr_expr_format_value(&b, &c->a[0], given ? c->a[1].s : "",
                                given ? c->a[1].len : 0) &&
           pr_expr_buf_value(&b, ret);
}

static bool isinstance_one(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_value *type, bool *ret)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } types[] = {{"str", EV_STR},   {"int", EV_INT},   {"float", EV_FLOAT},
                 {"bool", EV_BOOL}, {"list", EV_LIST}, {"tuple", EV_TUPLE},
                 {"dict", EV_DICT}, {"set", EV_SET}};

    for (size_t i = 0; type->kind == EV_FUNC && i < 8; i++)
        if (strcmp(type->func->name, types[i].name) == 0) {
            *ret = v->kind == types[i].kind ||
                   (types[i].kind == EV_INT && v->kind == EV_BOOL);
            return true;
        }
    return pr_expr_fail(x, "isinstance() wants a type such as str or int");
}

static bool fn_isinstance(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    const struct pr_expr_value *types = &c->a[1];
    bool is = false;
    uint32_t n = types->kind == EV_TUPLE ? types->len : 1;

    for (uint32_t i = 0; !is && i < n; i++)
        if (!isinstance_one(x, &c->a[0],
                            types->kind == EV_TUPLE ? &types->items[i] : types,
                            &is))
            return false;
    *ret = pr_expr_new_bool(is);
    return true;
}

static const struct pr_expr_def builtin_defs[] = {
    {"len", fn_len, 1, 1, NULL},
    {"str", fn_str, 0, 1, "object"},
    {"int", pr_expr_to_int, 0, 2, "(x),base"},
    {"float", pr_expr_to_float, 0, 1, NULL},
    {"bool", fn_bool, 0, 1, NULL},
    {"abs", fn_abs, 1, 1, NULL},
    {"round", pr_expr_round, 1, 2, "number,ndigits"},
    {"repr", fn_repr, 1, 1, NULL},
    {"chr", fn_chr, 1, 1, NULL},
    {"ord", fn_ord, 1, 1, NULL},
    {"divmod", fn_divmod, 2, 2, NULL},
    {"pow", fn_pow, 2, 3, "base,exp,mod"},
    {"hex", fn_base, 1, 1, NULL},
    {"oct", fn_base, 1, 1, NULL},
    {"bin", fn_base, 1, 1, NULL},
    {"format", fn_format, 1, 2, NULL},
    {"isinstance", fn_isinstance, 2, 2, NULL},
};

const struct pr_expr_table pr_expr_builtins = PR_EXPR_TABLE(builtin_defs);

/* ---- functions that walk over items */

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

static const struct pr_expr_def iterating_defs[] = {
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
    PR_EXPR_TABLE(iterating_defs);

/* ---- methods of lists, tuples and dicts; none of them changes its object */

static bool list_count(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < c->self->len; i++) {
        bool same;
        if (!pr_expr_equal(x, &c->self->items[i], &c->a[0], &same))
            return false;
        n += same;
    }
    *ret = pr_expr_new_int(n);
    return true;
}

static bool list_index(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    for (uint32_t i = 0; i < c->self->len; i++) {
        bool same;
        if (!pr_expr_equal(x, &c->self->items[i], &c->a[0], &same))
            return false;
        if (same) {
            *ret = pr_expr_new_int(i);
            return true;
        }
    }
    return pr_expr_fail(x, "'index': the item is not in the list");
}

static const struct pr_expr_def list_defs[] = {
    {"index", list_index, 1, 1, NULL},
    {"count", list_count, 1, 1, NULL},
};
const struct pr_expr_table pr_expr_list_methods = PR_EXPR_TABLE(list_defs);

static bool dict_get(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = pr_expr_dict_get(x, c->self, &c->a[0]);

    if (x->rc)
        return false;
    if (v)
        *ret = *v;
    else if (c->a[1].kind != EV_MISSING)
        *ret = c->a[1];
    else
        *ret = (struct pr_expr_value){.kind = EV_NONE};
    return true;
}

/* keys(), values(), items(): told apart by their first letter. */
static bool dict_view(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    const struct pr_expr_value *d = c->self;
    char which = c->def->name[0];

    for (uint32_t i = 0; i < d->len; i++) {
        struct pr_expr_value pair = {
            .kind = EV_TUPLE, .len = 2, .items = &d->items[2 * i]};
        const struct pr_expr_value *item = which == 'i' ? &pair
                                           : which == 'k'
                                               ? &d->items[2 * i]
                                               : &d->items[2 * i + 1];
        if (!pr_expr_push(&out, item))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_VIEW);
    ret->view = (uint8_t)which;
    return true;
}

static const struct pr_expr_def dict_defs[] = {
    {"get", dict_get, 1, 2, NULL},
    {"keys", dict_view, 0, 0, NULL},
    {"values", dict_view, 0, 0, NULL},
    {"items", dict_view, 0, 0, NULL},
};
const struct pr_expr_table pr_expr_dict_methods = PR_EXPR_TABLE(dict_defs);

/* ceil, floor, trunc: to a whole number. */
static bool math_round(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];
    char how = c->def->name[0];

    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (v->kind != EV_FLOAT) {
        *ret = pr_expr_new_int(pr_expr_value_int(v));
        return true;
    }
    return pr_expr_float_to_int(x,
                                how == 'c'   ? ceil(v->f)
                                : how == 'f' ? floor(v->f)
                                             : trunc(v->f),
                                ret);
}

static bool math_fail_domain(struct pr_expr *x, const struct pr_expr_call *c)
{
    return pr_expr_fail(x, "math.%s of this number does not exist",
                        c->def->name);
}

static bool math_sqrt(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (pr_expr_value_float(&c->a[0]) < 0)
        return math_fail_domain(x, c);
    *ret = pr_expr_new_float(sqrt(pr_expr_value_float(&c->a[0])));
    return true;
}

/* log (of any base), log2, log10. */
static bool math_log(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    bool based = c->def->max > 1 && c->a[1].kind != EV_MISSING;
    double f, base = 0;

    if (!pr_expr_want_number(x, c, 0) ||
        (based && !pr_expr_want_number(x, c, 1)))
        return false;
    f = pr_expr_value_float(&c->a[0]);
    if (based)
        base = pr_expr_value_float(&c->a[1]);
    if (f <= 0 || (based && base <= 0))
        return math_fail_domain(x, c);
    if (based && log(base) == 0)
        return pr_expr_fail(x, "division by zero");
    *ret = pr_expr_new_float(strcmp(c->def->name, "log2") == 0    ? log2(f)
                             : strcmp(c->def->name, "log10") == 0 ? log10(f)
                             : based ? log(f) / log(base)
                                     : log(f));
    return true;
}

static bool math_exp(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    double r;

    if (!pr_expr_want_number(x, c, 0))
        return false;
    r = exp(pr_expr_value_float(&c->a[0]));
    if (isinf(r) && !isinf(pr_expr_value_float(&c->a[0])))
        return pr_expr_fail(x, "the result of math.exp is too large");
    *ret = pr_expr_new_float(r);
    return true;
}

static bool math_pow(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_value a, b;

    if (!pr_expr_want_number(x, c, 0) || !pr_expr_want_number(x, c, 1))
        return false;
    a = pr_expr_new_float(pr_expr_value_float(&c->a[0]));
    b = pr_expr_new_float(pr_expr_value_float(&c->a[1]));
    return pr_expr_eval_power(x, &a, &b, ret);
}

static bool math_fabs(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    if (!pr_expr_want_number(x, c, 0))
        return false;
    *ret = pr_expr_new_float(fabs(pr_expr_value_float(&c->a[0])));
    return true;
}

/* isnan, isinf */
static bool math_is(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    double f;

    if (!pr_expr_want_number(x, c, 0))
        return false;
    f = pr_expr_value_float(&c->a[0]);
    *ret = pr_expr_new_bool(c->def->name[2] == 'n' ? isnan(f) : isinf(f));
    return true;
}

static int64_t compute_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return (int64_t)a;
}

static bool math_gcd(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    int64_t a, b;

    if (!pr_expr_want_int(x, c, 0) || !pr_expr_want_int(x, c, 1))
        return false;
    a = pr_expr_value_int(&c->a[0]);
    b = pr_expr_value_int(&c->a[1]);
    if (a == INT64_MIN || b == INT64_MIN)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(
        compute_gcd((uint64_t)(a < 0 ? -a : a), (uint64_t)(b < 0 ? -b : b)));
    return true;
}

static bool math_attr(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = true;
    if (pr_expr_is_name(name, len, "pi"))
        *ret = pr_expr_new_float(3.141592653589793);
    else if (pr_expr_is_name(name, len, "e"))
        *ret = pr_expr_new_float(2.718281828459045);
    else if (pr_expr_is_name(name, len, "inf"))
        *ret = pr_expr_new_float(INFINITY);
    else if (pr_expr_is_name(name, len, "nan"))
        *ret = pr_expr_new_float(NAN);
    else
        *ret_found = false;
    return true;
}

static const struct pr_expr_def math_defs[] = {
    {"ceil", math_round, 1, 1, NULL},  {"floor", math_round, 1, 1, NULL},
    {"trunc", math_round, 1, 1, NULL}, {"sqrt", math_sqrt, 1, 1, NULL},
    {"log", math_log, 1, 2, NULL},     {"log2", math_log, 1, 1, NULL},
    {"log10", math_log, 1, 1, NULL},   {"exp", math_exp, 1, 1, NULL},
    {"pow", math_pow, 2, 2, NULL},     {"fabs", math_fabs, 1, 1, NULL},
    {"isnan", math_is, 1, 1, NULL},    {"isinf", math_is, 1, 1, NULL},
    {"gcd", math_gcd, 2, 2, NULL},
};
static const char *const attrs[] = {"pi", "e", "inf", "nan", NULL};
const struct pr_expr_module pr_expr_module_math = {
    .name = "math",
    .table = PR_EXPR_TABLE(math_defs),
    .attr = math_attr,
    .attrs = attrs,
};
