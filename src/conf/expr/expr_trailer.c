/* What follows a value in the parser: .name, (arguments), [index], [slice]. */
#include "conf/expr/expr_tree.h"

static bool attribute(struct pr_ex_lex *l, struct pr_ex_node **ret)
{
    if (!pr_ex_next(l))
        return false;
    if (l->kind != ET_NAME)
        return pr_ex_syntax(l);
    *ret = pr_ex_node(l, EN_ATTR);
    if (!*ret)
        return false;
    (*ret)->name = l->s;
    (*ret)->len = l->len;
    return pr_ex_next(l);
}

/* name=value; *ret is the name, already parsed. */
static bool keyword_argument(struct pr_ex_lex *l, struct pr_ex_node **ret)
{
    struct pr_ex_node *n = *ret;

    if (n->kind != EN_NAME)
        return pr_ex_syntax(l);
    n->kind = EN_KWARG;
    return pr_ex_next(l) && pr_ex_parse_test(l, &n->b);
}

static bool argument(struct pr_ex_lex *l, bool after_keyword,
                     struct pr_ex_node **ret)
{
    if (l->kind == ET_POWER)
        return pr_ex_fail(l->x, "'**' before an argument is not supported");
    if (!pr_ex_parse_item(l, ret))
        return false;
    if (l->kind == ET_ASSIGN)
        return keyword_argument(l, ret);
    if (after_keyword && (*ret)->kind != EN_STAR)
        return pr_ex_fail(l->x, "an argument without a name follows one with "
                                "a name");
    return true;
}

static bool call(struct pr_ex_lex *l, struct pr_ex_node **ret)
{
    struct pr_ex_node *n = pr_ex_node(l, EN_CALL), **tail;
    bool keyword = false;

    if (!n || !pr_ex_next(l))
        return false;
    *ret = n;
    tail = &n->a;
    while (l->kind != ET_CLOSE) {
        if (!argument(l, keyword, tail))
            return false;
        keyword |= (*tail)->kind == EN_KWARG;
        if (l->kind == ET_FOR) {
            /* f(x for x in y): only as the one argument. */
            if (tail != &n->a || !pr_ex_parse_comp(l, *tail, EV_ITER, tail))
                return !l->x->rc ? pr_ex_syntax(l) : false;
            break;
        }
        tail = &(*tail)->next;
        if (l->kind != ET_COMMA)
            break;
        if (!pr_ex_next(l))
            return false;
    }
    return pr_ex_expect(l, ET_CLOSE);
}

static bool at_slice_part(const struct pr_ex_lex *l)
{
    return l->kind != ET_COLON && l->kind != ET_SQUARE_CLOSE;
}

static bool subscript(struct pr_ex_lex *l, struct pr_ex_node **ret)
{
    struct pr_ex_node *n = pr_ex_node(l, EN_INDEX);

    if (!n || !pr_ex_next(l))
        return false;
    *ret = n;
    if (l->kind == ET_SQUARE_CLOSE)
        return pr_ex_syntax(l);
    if (at_slice_part(l) && !pr_ex_parse_test(l, &n->a))
        return false;
    if (l->kind == ET_COLON) {
        n->kind = EN_SLICE;
        if (!pr_ex_next(l) || (at_slice_part(l) && !pr_ex_parse_test(l, &n->b)))
            return false;
        if (l->kind == ET_COLON &&
            (!pr_ex_next(l) ||
             (at_slice_part(l) && !pr_ex_parse_test(l, &n->c))))
            return false;
    }
    if (l->kind == ET_COMMA)
        return pr_ex_fail(l->x, "an index of several parts is not supported");
    return pr_ex_expect(l, ET_SQUARE_CLOSE);
}

bool pr_ex_parse_trailers(struct pr_ex_lex *l, struct pr_ex_node *first,
                          struct pr_ex_node **ret)
{
    struct pr_ex_node *n = pr_ex_node(l, EN_POSTFIX), **tail;

    if (!n)
        return false;
    n->a = first;
    tail = &first->next;
    for (; l->kind == ET_DOT || l->kind == ET_OPEN || l->kind == ET_SQUARE;
         tail = &(*tail)->next) {
        bool ok = l->kind == ET_DOT    ? attribute(l, tail)
                  : l->kind == ET_OPEN ? call(l, tail)
                                       : subscript(l, tail);
        if (!ok)
            return false;
    }
    *ret = n;
    return true;
}
