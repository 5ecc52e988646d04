/* What follows a value in the parser: .name, (arguments), [index], [slice]. */
#include "conf/expr/expr_tree.h"

static bool parse_attribute(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    if (!pr_expr_next_token(l))
        return false;
    if (l->kind != ET_NAME)
        return pr_expr_fail_syntax(l);
    *ret = pr_expr_new_node(l, EN_ATTR);
    if (!*ret)
        return false;
    (*ret)->name = l->s;
    (*ret)->len = l->len;
    return pr_expr_next_token(l);
}

/* name=value; *ret is the name, already parsed. */
static bool keyword_argument(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = *ret;

    if (n->kind != EN_NAME)
        return pr_expr_fail_syntax(l);
    n->kind = EN_KWARG;
    return pr_expr_next_token(l) && pr_expr_parse_test(l, &n->b);
}

static bool parse_argument(struct pr_expr_lexer *l, bool after_keyword,
                           struct pr_expr_node **ret)
{
    if (l->kind == ET_POWER)
        return pr_expr_fail(l->x, "'**' before an argument is not supported");
    if (!pr_expr_parse_item(l, ret))
        return false;
    if (l->kind == ET_ASSIGN)
        return keyword_argument(l, ret);
    if (after_keyword && (*ret)->kind != EN_STAR)
        return pr_expr_fail(l->x, "an argument without a name follows one with "
                                  "a name");
    return true;
}

static bool parse_call(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = pr_expr_new_node(l, EN_CALL), **tail;
    bool keyword = false;

    if (!n || !pr_expr_next_token(l))
        return false;
    *ret = n;
    tail = &n->a;
    while (l->kind != ET_CLOSE) {
        if (!parse_argument(l, keyword, tail))
            return false;
        keyword |= (*tail)->kind == EN_KWARG;
        if (l->kind == ET_FOR) {
            /* f(x for x in y): only as the one argument. */
            if (tail != &n->a || !pr_expr_parse_comp(l, *tail, EV_ITER, tail))
                return !l->x->rc ? pr_expr_fail_syntax(l) : false;
            break;
        }
        tail = &(*tail)->next;
        if (l->kind != ET_COMMA)
            break;
        if (!pr_expr_next_token(l))
            return false;
    }
    return pr_expr_expect(l, ET_CLOSE);
}

static bool at_slice_part(const struct pr_expr_lexer *l)
{
    return l->kind != ET_COLON && l->kind != ET_SQUARE_CLOSE;
}

static bool parse_subscript(struct pr_expr_lexer *l, struct pr_expr_node **ret)
{
    struct pr_expr_node *n = pr_expr_new_node(l, EN_INDEX);

    if (!n || !pr_expr_next_token(l))
        return false;
    *ret = n;
    if (l->kind == ET_SQUARE_CLOSE)
        return pr_expr_fail_syntax(l);
    if (at_slice_part(l) && !pr_expr_parse_test(l, &n->a))
        return false;
    if (l->kind == ET_COLON) {
        n->kind = EN_SLICE;
        if (!pr_expr_next_token(l) ||
            (at_slice_part(l) && !pr_expr_parse_test(l, &n->b)))
            return false;
        if (l->kind == ET_COLON &&
            (!pr_expr_next_token(l) ||
             (at_slice_part(l) && !pr_expr_parse_test(l, &n->c))))
            return false;
    }
    if (l->kind == ET_COMMA)
        return pr_expr_fail(l->x, "an index of several parts is not supported");
    return pr_expr_expect(l, ET_SQUARE_CLOSE);
}

bool pr_expr_parse_trailers(struct pr_expr_lexer *l, struct pr_expr_node *first,
                            struct pr_expr_node **ret)
{
    struct pr_expr_node *n = pr_expr_new_node(l, EN_POSTFIX), **tail;

    if (!n)
        return false;
    n->a = first;
    tail = &first->next;
    for (; l->kind == ET_DOT || l->kind == ET_OPEN || l->kind == ET_SQUARE;
         tail = &(*tail)->next) {
        bool ok = l->kind == ET_DOT    ? parse_attribute(l, tail)
                  : l->kind == ET_OPEN ? parse_call(l, tail)
                                       : parse_subscript(l, tail);
        if (!ok)
            return false;
    }
    *ret = n;
    return true;
}
