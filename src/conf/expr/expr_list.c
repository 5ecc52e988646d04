/* The methods of lists, tuples and dicts; none of them changes its object. */
#include "conf/expr/expr_call.h"

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
