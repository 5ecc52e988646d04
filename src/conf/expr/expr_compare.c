/* Comparisons: equality, order, 'in', 'is', and sorting by them. */
#include "conf/expr/expr_tree.h"

#include <math.h>
#include <string.h>

/* A whole number against a float, exactly: a double does not hold every whole
 * number of 64 bits. 2 when f is not a number. */
static int order_mixed(int64_t i, double f)
{
    double whole;

    if (isnan(f))
        return 2;
    if (f >= 0x1p63)
        return -1;
    if (f < -0x1p63)
        return 1;
    whole = trunc(f);
    if (i != (int64_t)whole)
        return i > (int64_t)whole ? 1 : -1;
    return (f < whole) - (f > whole);
}

/* -1, 0, 1; 2 when one is not a number. */
static int order_numbers(const struct pr_expr_value *a,
                         const struct pr_expr_value *b)
{
    int r;

    if (a->kind == EV_FLOAT && b->kind == EV_FLOAT)
        return isnan(a->f) || isnan(b->f) ? 2 : (a->f > b->f) - (a->f < b->f);
    if (b->kind == EV_FLOAT)
        return order_mixed(pr_expr_value_int(a), b->f);
    if (a->kind == EV_FLOAT) {
        r = order_mixed(pr_expr_value_int(b), a->f);
        return r == 2 ? 2 : -r;
    }
    return (pr_expr_value_int(a) > pr_expr_value_int(b)) -
           (pr_expr_value_int(a) < pr_expr_value_int(b));
}

static int order_text(const struct pr_expr_value *a,
                      const struct pr_expr_value *b)
{
    size_t n = a->len < b->len ? a->len : b->len;
    int r = n ? memcmp(a->s, b->s, n) : 0;

    return r ? (r > 0) - (r < 0) : (a->len > b->len) - (a->len < b->len);
}

static bool equal_items(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b, bool *ret)
{
    *ret = a->len == b->len;
    for (uint32_t i = 0; *ret && i < a->len; i++)
        if (!pr_expr_equal(x, &a->items[i], &b->items[i], ret))
            return false;
    return true;
}

static bool equal_dicts(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b, bool *ret)
{
    *ret = a->len == b->len;
    for (uint32_t i = 0; *ret && i < a->len; i++) {
        const struct pr_expr_value *other =
            pr_expr_dict_get(x, b, &a->items[2 * i]);
        if (!other) {
            *ret = false;
            return !x->rc;
        }
        if (!pr_expr_equal(x, &a->items[2 * i + 1], other, ret))
            return false;
    }
    return true;
}

static bool equal_sets(struct pr_expr *x, const struct pr_expr_value *a,
                       const struct pr_expr_value *b, bool *ret)
{
    *ret = a->len == b->len;
    for (uint32_t i = 0; *ret && i < a->len; i++)
        if (!pr_expr_compare(x, ET_IN, &a->items[i], b, ret))
            return false;
    return true;
}

static bool equal_ranges(const struct pr_expr_range *a,
                         const struct pr_expr_range *b)
{
    return a->len == b->len &&
           (!a->len ||
            (a->start == b->start && (a->len == 1 || a->step == b->step)));
}

static bool equal_same_kind(struct pr_expr *x, const struct pr_expr_value *a,
                            const struct pr_expr_value *b, bool *ret)
{
    switch (a->kind) {
    case EV_NONE:
        *ret = true;
        return true;
    case EV_STR:
        *ret = a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
        return pr_expr_charge_work(x, a->len);
    case EV_LIST:
    case EV_TUPLE:
        return equal_items(x, a, b, ret);
    case EV_DICT:
        return equal_dicts(x, a, b, ret);
    case EV_SET:
        return equal_sets(x, a, b, ret);
    case EV_RANGE:
        *ret = equal_ranges(a->range, b->range);
        return true;
    default:
        *ret = a->items == b->items;
        return true;
    }
}

bool pr_expr_equal(struct pr_expr *x, const struct pr_expr_value *a,
                   const struct pr_expr_value *b, bool *ret)
{
    if (!pr_expr_charge_work(x, 8))
        return false;
    if (pr_expr_is_number(a) && pr_expr_is_number(b)) {
        *ret = order_numbers(a, b) == 0;
        return true;
    }
    if (a->kind != b->kind) {
        *ret = false;
        return true;
    }
    return equal_same_kind(x, a, b, ret);
}

static bool order_says(int op, int order)
{
    switch (op) {
    case ET_LT:
        return order == -1;
    case ET_LE:
        return order == -1 || order == 0;
    case ET_GT:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

static bool compare_ordered(struct pr_expr *x, int op,
                            const struct pr_expr_value *a,
                            const struct pr_expr_value *b, bool *ret)
{
    if (!pr_expr_charge_work(x, 8))
        return false;
    if (pr_expr_is_number(a) && pr_expr_is_number(b)) {
        *ret = order_says(op, order_numbers(a, b));
        return true;
    }
    if (a->kind == b->kind && a->kind == EV_STR) {
        *ret = order_says(op, order_text(a, b));
        return pr_expr_charge_work(x, a->len);
    }
    if (a->kind != b->kind || (a->kind != EV_LIST && a->kind != EV_TUPLE))
        return pr_expr_fail(x, "'%s' cannot compare %s and %s",
                            pr_expr_op_text(op), pr_expr_value_name(a),
                            pr_expr_value_name(b));
    /* The first items that differ decide. */
    for (uint32_t i = 0; i < a->len && i < b->len; i++) {
        bool same;
        if (!pr_expr_equal(x, &a->items[i], &b->items[i], &same))
            return false;
        if (!same)
            return compare_ordered(x, op, &a->items[i], &b->items[i], ret);
    }
    *ret = order_says(op, (a->len > b->len) - (a->len < b->len));
    return true;
}

static bool find_in_list(struct pr_expr *x, const struct pr_expr_value *item,
                         const struct pr_expr_value *list, bool *ret)
{
    *ret = false;
    for (uint32_t i = 0; !*ret && i < list->len; i++)
        if (!pr_expr_equal(x, item, &list->items[i], ret))
            return false;
    return true;
}

static bool in_range(struct pr_expr *x, const struct pr_expr_value *item,
                     const struct pr_expr_range *r, bool *ret)
{
    struct pr_expr_value first = pr_expr_new_int(r->start), last;
    int64_t i;

    *ret = false;
    if (!r->len || !pr_expr_is_number(item))
        return true;
    if (item->kind == EV_FLOAT &&
        (item->f != floor(item->f) || fabs(item->f) > 9e18))
        return true;
    i = item->kind == EV_FLOAT ? (int64_t)item->f : pr_expr_value_int(item);
    last = pr_expr_range_at(r, r->len - 1);
    if (r->step > 0 ? i < first.i || i > last.i : i > first.i || i < last.i)
        return true;
    /* Unsigned: the distance may be over 63 bits. */
    *ret =
        r->step > 0
            ? ((uint64_t)i - (uint64_t)r->start) % (uint64_t)r->step == 0
            : ((uint64_t)r->start - (uint64_t)i) % (0 - (uint64_t)r->step) == 0;
    return pr_expr_charge_work(x, 8);
}

static bool eval_contains(struct pr_expr *x, const struct pr_expr_value *item,
                          const struct pr_expr_value *in, bool *ret)
{
    struct pr_expr_value ignored;

    switch (in->kind) {
    case EV_STR:
        if (item->kind != EV_STR)
            return pr_expr_fail(x, "'in' cannot look for %s in text",
                                pr_expr_value_name(item));
        *ret = !item->len || memmem(in->s, in->len, item->s, item->len);
        return pr_expr_charge_work(x, in->len);
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_ITER:
    case EV_VIEW:
        return find_in_list(x, item, in, ret);
    case EV_DICT:
        *ret = pr_expr_dict_get(x, in, item) != NULL;
        return !x->rc;
    case EV_RANGE:
        return in_range(x, item, in->range, ret);
    case EV_ENVIRON:
        return pr_expr_getenv(x, item, &ignored, ret);
    default:
        return pr_expr_fail(x, "'in' cannot look into %s",
                            pr_expr_value_name(in));
    }
}

static bool eval_identical(struct pr_expr *x, const struct pr_expr_value *a,
                           const struct pr_expr_value *b, bool *ret)
{
    *ret = false;
    if (a->kind != b->kind)
        return true;
    if (a->kind == EV_FLOAT && isnan(a->f))
        return true;
    if (a->kind <= EV_STR || (a->kind == EV_TUPLE && !a->len && !b->len))
        return pr_expr_equal(x, a, b, ret);
    *ret = a->items && a->items == b->items && a->len == b->len;
    return true;
}

bool pr_expr_compare(struct pr_expr *x, int op, const struct pr_expr_value *a,
                     const struct pr_expr_value *b, bool *ret)
{
    bool ok, flip = op == ET_NE || op == ET_NOT_IN || op == ET_IS_NOT;

    if (op == ET_EQ || op == ET_NE)
        ok = pr_expr_equal(x, a, b, ret);
    else if (op == ET_IN || op == ET_NOT_IN)
        ok = eval_contains(x, a, b, ret);
    else if (op == ET_IS || op == ET_IS_NOT)
        ok = eval_identical(x, a, b, ret);
    else
        return compare_ordered(x, op, a, b, ret);
    *ret ^= flip;
    return ok;
}

struct sorting {
    struct pr_expr *x;
    struct pr_expr_value *keys, *items;
    struct pr_expr_value *spare_keys, *spare_items;
    bool reverse;
};

static bool merge_sorted_runs(struct sorting *s, size_t from, size_t middle,
                              size_t to)
{
    size_t i = from, j = middle;

    for (size_t k = from; k < to; k++) {
        bool right = i == middle;

        /* Equal items stay as they stood, in reverse order too. */
        if (i < middle && j < to &&
            !compare_ordered(s->x, ET_LT, &s->keys[s->reverse ? i : j],
                             &s->keys[s->reverse ? j : i], &right))
            return false;
        s->spare_keys[k] = s->keys[right ? j : i];
        s->spare_items[k] = s->items[right ? j++ : i++];
    }
    memcpy(s->keys + from, s->spare_keys + from, (to - from) * sizeof *s->keys);
    memcpy(s->items + from, s->spare_items + from,
           (to - from) * sizeof *s->items);
    return true;
}

bool pr_expr_sort(struct pr_expr *x, struct pr_expr_value *keys,
                  struct pr_expr_value *items, size_t n, bool reverse)
{
    struct sorting s = {
        .x = x, .keys = keys, .items = items, .reverse = reverse};

    if (n < 2)
        return true;
    s.spare_keys = pr_expr_alloc(x, n * sizeof *keys);
    s.spare_items = pr_expr_alloc(x, n * sizeof *items);
    if (!s.spare_keys || !s.spare_items)
        return false;
    for (size_t run = 1; run < n; run *= 2)
        for (size_t from = 0; from + run < n; from += 2 * run)
            if (!merge_sorted_runs(&s, from, from + run,
                                   from + 2 * run < n ? from + 2 * run : n))
                return false;
    return true;
}
