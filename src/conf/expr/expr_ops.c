/* The operators between two values, other than comparisons. */
#include "conf/expr/expr_tree.h"

#include <string.h>

bool pr_expr_fail_operands(struct pr_expr *x, int op,
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
    return pr_expr_fail_operands(x, op, a, b);
}
