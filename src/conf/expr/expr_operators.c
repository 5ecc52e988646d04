/* The operators between values: comparisons, arithmetic, and all others. */
#include "conf/expr/expr_tree.h"

#include <math.h>
#include <string.h>

/* ---- comparisons: equality, order, 'in', 'is', and sorting by them */

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

/* ---- arithmetic: whole numbers of 64 bits that never wrap, and doubles */

static bool expr_fail_operands(struct pr_expr *x, int op,
                               const struct pr_expr_value *a,
                               const struct pr_expr_value *b)
{
    if (op == ET_PLUS && (a->kind == EV_STR || b->kind == EV_STR)) {
        pr_expr_record_error(x, "'+' cannot add %s and %s",
                             pr_expr_value_name(a), pr_expr_value_name(b));
        if (x->err)
            pr_hint(x->err, "use str(...) to make text of it");
        return false;
    }
    return pr_expr_fail(x, "'%s' does not work on %s and %s",
                        pr_expr_op_text(op), pr_expr_value_name(a),
                        pr_expr_value_name(b));
}

static bool zero_division(struct pr_expr *x)
{
    return pr_expr_fail(x, "division by zero");
}

/* Rounds down, as Python's // does; b is neither 0 nor -1. */
static int64_t divide_floor(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* What that leaves, as Python's %. Not a - floor_div(a, b) * b: that product
 * may be below the least number. */
static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t rest = a % b;

    return rest && (a < 0) != (b < 0) ? rest + b : rest;
}

/* Doubles hold these exactly. */
static bool fits_double(int64_t i)
{
    return i >= -(1LL << 53) && i <= 1LL << 53;
}

static bool int_div(struct pr_expr *x, int op, int64_t a, int64_t b,
                    struct pr_expr_value *ret)
{
    if (b == 0)
        return zero_division(x);
    if (op == ET_SLASH) {
        /* A long double holds all. */
        *ret =
            pr_expr_new_float(fits_double(a) && fits_double(b)
                                  ? (double)a / (double)b
                                  : (double)((long double)a / (long double)b));
        return true;
    }
    if (b == -1) { /* INT64_MIN / -1 would trap */
        if (op == ET_FLOOR && a == INT64_MIN)
            return pr_expr_fail_too_big(x);
        *ret = pr_expr_new_int(op == ET_FLOOR ? -a : 0);
        return true;
    }
    *ret =
        pr_expr_new_int(op == ET_FLOOR ? divide_floor(a, b) : floor_mod(a, b));
    return true;
}

static bool shift_int(struct pr_expr *x, int op, int64_t a, int64_t by,
                      struct pr_expr_value *ret)
{
    if (by < 0)
        return pr_expr_fail(x, "negative shift count");
    if (op == ET_SHR) {
        *ret = pr_expr_new_int(by > 63 ? (a < 0 ? -1 : 0) : a >> by);
        return true;
    }
    if (a == 0 || by == 0) {
        *ret = pr_expr_new_int(a);
        return true;
    }
    if (by > 62 || a > INT64_MAX >> by || a < INT64_MIN >> by)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(a * ((int64_t)1 << by));
    return true;
}

static bool combine_bits(int op, const struct pr_expr_value *a,
                         const struct pr_expr_value *b,
                         struct pr_expr_value *ret)
{
    int64_t i = pr_expr_value_int(a), j = pr_expr_value_int(b);
    int64_t r = op == ET_AMP ? i & j : op == ET_BAR ? i | j : i ^ j;

    *ret = a->kind == EV_BOOL && b->kind == EV_BOOL ? pr_expr_new_bool(r)
                                                    : pr_expr_new_int(r);
    return true;
}

static bool int_arith(struct pr_expr *x, int op, const struct pr_expr_value *a,
                      const struct pr_expr_value *b, struct pr_expr_value *ret)
{
    int64_t i = pr_expr_value_int(a), j = pr_expr_value_int(b), r;
    bool over;

    switch (op) {
    case ET_PLUS:
        over = __builtin_add_overflow(i, j, &r);
        break;
    case ET_MINUS:
        over = __builtin_sub_overflow(i, j, &r);
        break;
    case ET_STAR:
        over = __builtin_mul_overflow(i, j, &r);
        break;
    case ET_SHL:
    case ET_SHR:
        return shift_int(x, op, i, j, ret);
    case ET_SLASH:
    case ET_FLOOR:
    case ET_PERCENT:
        return int_div(x, op, i, j, ret);
    default:
        return combine_bits(op, a, b, ret);
    }
    if (over)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(r);
    return true;
}

/* The remainder has the sign of the divisor; the quotient goes with it. */
static void float_divmod(double a, double b, double *ret_div, double *ret_mod)
{
    double mod = fmod(a, b), div = (a - mod) / b, whole;

    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1;
        }
    } else {
        mod = copysign(0, b);
    }
    if (div == 0) {
        *ret_div = copysign(0, a / b);
        *ret_mod = mod;
        return;
    }
    whole = floor(div);
    if (div - whole > 0.5)
        whole += 1;
    *ret_div = whole;
    *ret_mod = mod;
}

static bool float_arith(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    double f = pr_expr_value_float(a), g = pr_expr_value_float(b), div, mod;

    switch (op) {
    case ET_PLUS:
        *ret = pr_expr_new_float(f + g);
        return true;
    case ET_MINUS:
        *ret = pr_expr_new_float(f - g);
        return true;
    case ET_STAR:
        *ret = pr_expr_new_float(f * g);
        return true;
    case ET_SLASH:
    case ET_FLOOR:
    case ET_PERCENT:
        if (g == 0)
            return zero_division(x);
        if (op == ET_SLASH) {
            *ret = pr_expr_new_float(f / g);
            return true;
        }
        float_divmod(f, g, &div, &mod);
        *ret = pr_expr_new_float(op == ET_FLOOR ? div : mod);
        return true;
    default:
        return expr_fail_operands(x, op, a, b);
    }
}

bool pr_expr_eval_arith(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    if (a->kind != EV_FLOAT && b->kind != EV_FLOAT)
        return int_arith(x, op, a, b, ret);
    return float_arith(x, op, a, b, ret);
}

static bool int_power(struct pr_expr *x, int64_t base, int64_t by,
                      struct pr_expr_value *ret)
{
    int64_t r = 1;

    while (by) {
        if (by & 1 && __builtin_mul_overflow(r, base, &r))
            return pr_expr_fail_too_big(x);
        by >>= 1;
        if (by && __builtin_mul_overflow(base, base, &base))
            return pr_expr_fail_too_big(x);
    }
    *ret = pr_expr_new_int(r);
    return true;
}

bool pr_expr_eval_power(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    double f, g, r;

    if (!pr_expr_is_number(a) || !pr_expr_is_number(b))
        return expr_fail_operands(x, ET_POWER, a, b);
    if (pr_expr_is_int(a) && pr_expr_is_int(b) && pr_expr_value_int(b) >= 0)
        return int_power(x, pr_expr_value_int(a), pr_expr_value_int(b), ret);
    f = pr_expr_value_float(a);
    g = pr_expr_value_float(b);
    if (f == 0 && g < 0)
        return pr_expr_fail(x, "zero cannot be raised to a negative power");
    if (f < 0 && isfinite(f) && isfinite(g) && g != floor(g))
        return pr_expr_fail(x, "a fractional power of a negative number is "
                               "complex: not supported");
    r = pow(f, g);
    if (isinf(r) && isfinite(f) && isfinite(g))
        return pr_expr_fail(x, "the result of '**' is too large");
    *ret = pr_expr_new_float(r);
    return true;
}

bool pr_expr_eval_unary(struct pr_expr *x, int op,
                        const struct pr_expr_value *a,
                        struct pr_expr_value *ret)
{
    if (a->kind == EV_FLOAT && op != ET_TILDE) {
        *ret = pr_expr_new_float(op == ET_MINUS ? -a->f : a->f);
        return true;
    }
    if (!pr_expr_is_int(a))
        return pr_expr_fail(x, "'%s' does not work on %s", pr_expr_op_text(op),
                            pr_expr_value_name(a));
    if (op == ET_MINUS && pr_expr_value_int(a) == INT64_MIN)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(op == ET_MINUS   ? -pr_expr_value_int(a)
                           : op == ET_TILDE ? ~pr_expr_value_int(a)
                                            : pr_expr_value_int(a));
    return true;
}

/* ---- texts, lists, sets and dicts */

static bool join_text(struct pr_expr *x, const struct pr_expr_value *a,
                      const struct pr_expr_value *b, struct pr_expr_value *ret)
{
    size_t len = (size_t)a->len + b->len;
    char *p;

    if (len > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    p = pr_expr_alloc(x, len);
    if (!p)
        return false;
    memcpy(p, a->s, a->len);
    memcpy(p + a->len, b->s, b->len);
    *ret = pr_expr_new_str(p, len);
    return true;
}

static bool join_lists(struct pr_expr *x, const struct pr_expr_value *a,
                       const struct pr_expr_value *b, struct pr_expr_value *ret)
{
    size_t len = (size_t)a->len + b->len;
    struct pr_expr_value *items;

    if (len > PR_EXPR_ITEMS)
        return pr_expr_fail_too_long(x);
    items = pr_expr_alloc(x, len * sizeof *items);
    if (!items)
        return false;
    if (a->len)
        memcpy(items, a->items, a->len * sizeof *items);
    if (b->len)
        memcpy(items + a->len, b->items, b->len * sizeof *items);
    *ret = (struct pr_expr_value){
        .kind = a->kind, .len = (uint32_t)len, .items = items};
    return true;
}

static bool is_sequence(const struct pr_expr_value *v)
{
    return v->kind == EV_STR || v->kind == EV_LIST || v->kind == EV_TUPLE;
}

static bool repeat_sequence(struct pr_expr *x, const struct pr_expr_value *seq,
                            int64_t times, struct pr_expr_value *ret)
{
    struct pr_expr_value *items;
    uint32_t len = seq->len;

    if (times <= 0 || !len) {
        *ret = *seq;
        ret->len = 0;
        return true;
    }
    if (seq->kind == EV_STR) {
        struct pr_expr_buf b = {.x = x};
        pr_expr_buf_fill(&b, seq->s, len,
                         times > PR_EXPR_BYTES ? PR_EXPR_BYTES + 1
                                               : (size_t)times);
        return pr_expr_buf_value(&b, ret);
    }
    if (times > PR_EXPR_ITEMS / len)
        return pr_expr_fail_too_long(x);
    items = pr_expr_alloc(x, len * (size_t)times * sizeof *items);
    if (!items)
        return false;
    for (int64_t i = 0; i < times; i++)
        memcpy(items + i * len, seq->items, len * sizeof *items);
    *ret = (struct pr_expr_value){
        .kind = seq->kind, .len = len * (uint32_t)times, .items = items};
    return true;
}

/* | & - ^ of two sets. */
static bool combine_sets(struct pr_expr *x, int op,
                         const struct pr_expr_value *a,
                         const struct pr_expr_value *b,
                         struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};

    for (int side = 0; side < 2; side++) {
        const struct pr_expr_value *from = side ? b : a, *other = side ? a : b;

        if (side && (op == ET_AMP || op == ET_MINUS))
            break;
        for (uint32_t i = 0; i < from->len; i++) {
            bool in;
            if (!pr_expr_compare(x, ET_IN, &from->items[i], other, &in))
                return false;
            if ((op == ET_AMP   ? in
                 : op == ET_BAR ? !(side && in)
                                : !in) &&
                !pr_expr_push(&out, &from->items[i]))
                return false;
        }
    }
    *ret = pr_expr_vec_value(&out, EV_SET);
    return true;
}

/* a | b: the values of b win. */
static bool merge_dicts(struct pr_expr *x, const struct pr_expr_value *a,
                        const struct pr_expr_value *b,
                        struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};

    for (int side = 0; side < 2; side++) {
        const struct pr_expr_value *d = side ? b : a;
        for (uint32_t i = 0; i < d->len; i++)
            if (!pr_expr_dict_set(&out, &d->items[2 * i], &d->items[2 * i + 1]))
                return false;
    }
    *ret = pr_expr_vec_value(&out, EV_DICT);
    ret->len /= 2;
    return true;
}

bool pr_expr_eval_binary(struct pr_expr *x, int op,
                         const struct pr_expr_value *a,
                         const struct pr_expr_value *b,
                         struct pr_expr_value *ret)
{
    if (pr_expr_is_number(a) && pr_expr_is_number(b))
        return pr_expr_eval_arith(x, op, a, b, ret);
    if (op == ET_PLUS && a->kind == b->kind) {
        if (a->kind == EV_STR)
            return join_text(x, a, b, ret);
        if (a->kind == EV_LIST || a->kind == EV_TUPLE)
            return join_lists(x, a, b, ret);
    }
    if (op == ET_STAR && is_sequence(a) && pr_expr_is_int(b))
        return repeat_sequence(x, a, pr_expr_value_int(b), ret);
    if (op == ET_STAR && pr_expr_is_int(a) && is_sequence(b))
        return repeat_sequence(x, b, pr_expr_value_int(a), ret);
    if (op == ET_PERCENT && a->kind == EV_STR)
        return pr_expr_format_percent(x, a, b, ret);
    if (a->kind == EV_SET && b->kind == EV_SET &&
        (op == ET_BAR || op == ET_AMP || op == ET_MINUS || op == ET_CARET))
        return combine_sets(x, op, a, b, ret);
    if (op == ET_BAR && a->kind == EV_DICT && b->kind == EV_DICT)
        return merge_dicts(x, a, b, ret);
    return expr_fail_operands(x, op, a, b);
}
